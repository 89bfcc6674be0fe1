"""Ctrl-C: one line, exit code 130, nothing half written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rigidlimit as rl
from rigidlimit.cli import main, stepping
from rigidlimit.output import parts
from rigidlimit.output.hdf5 import RunWriter, read_run
from rigidlimit.paths.follow import _Following
from tests.cli.program import forked


def interrupted(capsys, *arguments):
    """(what was printed, what was said on stderr) of a command in which Ctrl-C strikes."""
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in arguments])
    assert end.value.code == 130
    return capsys.readouterr()


def strike(*_, **__):
    raise KeyboardInterrupt


def test_compare_is_interrupted(tmp_path):
    """Property: a real SIGINT in the middle of a comparison of half a minute."""
    command = [sys.executable, "-m", "rigidlimit", "compare", "packing", "--quiet"]
    out = tmp_path / "c.h5"
    process = subprocess.Popen(
        [*command, "--out", str(out)],
        stderr=subprocess.PIPE,
        text=True,
        # a shell's background jobs are deaf to it, and their children with them
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(3)  # Python and the imports take one second
    process.send_signal(signal.SIGINT)  # where nothing is in the cache: as a kernel is compiled
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "stopped; nothing was written" and "Traceback" not in said
    assert not list(tmp_path.iterdir())


def test_interrupt_before_a_command(monkeypatch, capsys):
    """Property: it may strike while the arguments are read."""
    monkeypatch.setattr("rigidlimit.cli.app.app.registered_callback.callback", lambda: strike())
    assert interrupted(capsys, "scenes").err == "stopped; nothing was written\n"


def test_demo_is_interrupted(tmp_path, monkeypatch, capsys):
    """Property: what was printed stays, and the line says that there is no picture."""
    monkeypatch.setattr("rigidlimit.output.plots.comparison", strike)
    printed, said = interrupted(capsys, "demo", "--base", 3, "--out", tmp_path / "demo")
    assert "A beam of weight 10" in printed
    assert said.splitlines()[-1] == "stopped; nothing was written"
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize("rows", [0, 1])
def test_path_is_interrupted(tmp_path, monkeypatch, capsys, rows):
    """Property: --resume is advised where there is something to go on with. (In the first stage
    nothing is, and the command that was advised ended in an error.)"""
    (tmp_path / "p.toml").write_text(
        'gallery = "periodic-packing"\nparameters = { count = 16, dim = 2, friction = 0.0 }\n'
        'path = [{ kind = "isotropic", pressures = [1.0, 2.0] }]\n'
    )
    command = ("path", tmp_path / "p.toml", "-q", "--out", tmp_path / "p.csv")
    stage = _Following._stage
    monkeypatch.setattr(
        _Following, "_stage", lambda self, *a: stage(self, *a) if self.leg < rows else strike()
    )
    said = interrupted(capsys, *command).err.splitlines()[-1]
    advice = "the same command with --resume continues" if rows else "nothing was kept"
    assert said == f"stopped; {advice}"
    assert (tmp_path / "p.csv.unfinished").exists() == bool(rows)


def test_plot_is_interrupted(tmp_path, monkeypatch, capsys):
    """Property: more than three files are counted; the parts of the run itself are none of them."""
    out = tmp_path / "b.h5"
    monkeypatch.setattr("rigidlimit.output.vtk.write_paraview", strike)
    said = interrupted(capsys, "run", "beam", "-q", "--out", out, "--vtk", tmp_path / "v").err
    assert said.splitlines()[-1] == f"stopped; written before that: {out}; nothing else"
    monkeypatch.setattr("rigidlimit.output.plots.comparison", strike)
    monkeypatch.setitem(sys.modules, "pyvista", None)  # drawings in the plane are quicker
    options = ("--kind", "all", "--out", tmp_path, "--format", "svg")
    said = interrupted(capsys, "plot", out, *options).err.splitlines()[-1]
    assert f"written before that: 4 files, the last of them {tmp_path}/b-floor.svg" in said


@pytest.mark.parametrize("ignored", [False, True])
def test_closed_terminal_stops_a_run_unless_ignored(tmp_path, monkeypatch, ignored):
    """Property: SIGHUP leaves a run that goes on, as Ctrl-C does; under nohup it is ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    add = RunWriter.add

    def hang_up(writer, result):
        add(writer, result)
        if writer.simulation.steps == 3:
            signal.raise_signal(signal.SIGHUP)

    monkeypatch.setattr(RunWriter, "add", hang_up)
    try:
        with pytest.raises(SystemExit) as end:
            main(["run", "beam", "-q", "--out", str(tmp_path / "b.h5")])
    finally:
        signal.signal(signal.SIGHUP, before)
    assert end.value.code == (0 if ignored else 130)
    assert (tmp_path / "b.h5").exists() == ignored != (tmp_path / "b.h5.parts").exists()


def stopped(monkeypatch, capsys, *options, at, times=1, apart=0.0, where="step", code=130):
    """What is said when so many signals come in a step, or in the writing of the file."""
    happened = []
    owner, name = {
        "step": (rl.Simulation, "step"),
        "finish": (RunWriter, "finish"),
        "join": (parts, "remove"),
    }[where]
    real = getattr(owner, name)

    def struck(self, *arguments, **keywords):
        if (where != "step" or self.steps + 1 == at) and not happened:
            for _ in range(times):
                happened.append(signal.raise_signal(signal.SIGTERM))
                time.sleep(apart)
        return real(self, *arguments, **keywords)

    monkeypatch.setattr(owner, name, struck)
    monkeypatch.setattr(stepping, "TOGETHER", 0.05)
    with pytest.raises(SystemExit) as end:
        main(["run", "beam", "-q", "--until", "0.004", *map(str, options)])
    monkeypatch.undo()
    assert end.value.code == code and happened
    return capsys.readouterr().err


@pytest.mark.parametrize(("where", "at"), [("step", 4), ("finish", None), ("join", None)])
def test_signal_at_the_end_is_heeded(tmp_path, monkeypatch, capsys, where, at):
    """Property: one that comes in the last step, or while the file is made, lets the file become
    whole and is the end: neither --vtk nor --picture is begun, and that is said."""
    out = tmp_path / "b.h5"
    more = ("--vtk", tmp_path / "v", "--picture", tmp_path / "b.png")
    said = stopped(monkeypatch, capsys, "--out", out, *more, at=at, where=where)
    assert said == (f"stopped at t = 0.004 s; the run is complete, written: {out}; nothing else\n")
    assert len(read_run(out)) == 4 and list(tmp_path.iterdir()) == [out]
    if where == "step":
        said = stopped(monkeypatch, capsys, at=at)
        assert said == "stopped at t = 0.004 s; nothing was kept\n"


def test_second_signal_strikes_at_once(tmp_path, monkeypatch, capsys):
    """Property: in the middle of a step; the run goes on from its last checkpoint. Two signals at
    a time, as from a closed terminal, are one, and the step is ended first."""
    out = tmp_path / "b.h5"
    said = stopped(monkeypatch, capsys, "--out", out, at=3, times=2)
    assert said == "stopped at t = 0.003 s; the same command with --resume continues\n"
    options = ("--out", out, "--resume")
    # more than TOGETHER, as the test has it
    said = stopped(monkeypatch, capsys, *options, at=4, times=2, apart=0.06)
    assert said.startswith("stopped at once;") and "checkpoint, at t = 0.003 s" in said
    # while the file is made: before it has its name, and after
    said = stopped(monkeypatch, capsys, *options, at=None, times=2, apart=0.06, where="finish")
    assert "checkpoint, at t = 0.003 s" in said and not out.exists()
    said = stopped(monkeypatch, capsys, *options, at=None, times=2, apart=0.06, where="join")
    assert said == f"stopped; written before that: {out}; nothing else\n"
    assert read_run(out).finished and len(read_run(out)) == 4
    said = stopped(monkeypatch, capsys, at=3, times=2, apart=0.06)
    assert said == "stopped; nothing was written\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_full_disk_is_one_line():
    """An output that takes nothing: one line, no traceback."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "rigidlimit", "scenes"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr == "rigidlimit: No space left on device\n"


def test_step_longer_than_the_run_is_told(capsys):
    """A user's mistake: the run ends later than asked, and that is said."""
    with pytest.raises(SystemExit):
        main(["run", "beam", "-q", "--dt", "0.1"])
    assert "a step of 0.1 s is longer than the run of 0.02 s" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are POSIX")
def test_full_disk_is_resumed(tmp_path):
    """Property: a run that its disk has no room for ends with one line that tells how to go on,
    and goes on."""
    limited = (
        "import resource, sys; from rigidlimit.cli import main, stepping\n"
        "inner = stepping._steps\n"
        "def steps(*arguments):\n"
        "    made = inner(*arguments)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))\n"
        "    return made\n"
        "stepping._steps = steps\n"
        "main(sys.argv[1:])\n"
    )
    command = ["run", "pile-2d", "--until", "0.1", "-q", "--out", "pile.h5"]
    full = subprocess.run(
        [sys.executable, "-c", limited, *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert full.returncode == 2
    assert len(full.stderr.splitlines()) == 1
    assert "cannot be written: File too large; after fixing that" in full.stderr
    # from the last checkpoint: one comes each 10 s, which compiling may take
    assert "--resume continues from t = " in full.stderr
    again = forked(*command, "--resume", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["pile.h5"]
