"""Commands of ``rigidlimit``, each in a process of its own."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PLAIN = {"COLUMNS": "120", "NO_COLOR": "1"}
"""What output looks like: wide enough for a line, without colours."""

# what commands import once they are called
STAGES = ("penalty", "output.hdf5", "output.plots", "output.view", "diagnostics", "simulation")
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
if FORKS:
    _context = multiprocessing.get_context("forkserver")
    _stages = (f"rigidlimit.{stage}" for stage in STAGES)
    _context.set_forkserver_preload(["rigidlimit.cli.app", *_stages, f"{__package__}.warmed_up"])


def rigidlimit(*arguments, **options) -> subprocess.CompletedProcess:
    """The command in an interpreter of its own, as a user calls it."""
    return subprocess.run(
        [sys.executable, "-m", "rigidlimit", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | PLAIN,
        **options,
    )


def forked(*arguments, cwd=None) -> subprocess.CompletedProcess:
    """The same in a process that has the program loaded, which takes longer than most commands;
    with its own exit code and streams all the same."""
    if not FORKS:
        return rigidlimit(*arguments, cwd=cwd)
    arguments = [str(word) for word in arguments]
    with tempfile.TemporaryDirectory() as folder:
        process = _context.Process(target=_run, args=(arguments, cwd, folder))
        process.start()
        process.join()
        out, err = (Path(folder, name).read_text() for name in ("out", "err"))
    return subprocess.CompletedProcess(arguments, process.exitcode, out, err)


def _run(arguments, cwd, folder):
    from rigidlimit.cli import main

    os.environ.update(PLAIN)
    os.chdir(cwd or os.getcwd())
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT), number)
    main(arguments)
