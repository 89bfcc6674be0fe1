"""Network files solved, and commands run, one after the other by one start of some processes.

    mpiexec -n 2 python many.py JOBS.json

JOBS.json is a list of arguments of ``forces_of_file``, or of a command's words and a name ``out``,
or of arguments of ``network_of_dump`` with the friction of each type.
What is raised for a job on a rank is written beside its ``out``: OUT.RANK.txt, with the type first;
of a command its exit code and streams: OUT.RANK.json.
"""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from rigidlimit import Material
from rigidlimit.cli import main
from rigidlimit.distributed import forces_of_file, network_of_dump
from rigidlimit.distributed.ranks import launched
from rigidlimit.errors import RigidlimitError


def run(command: list[str]) -> list:
    """[exit code, stdout, stderr] of this rank."""
    code, out, err = 0, io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(command)
        except SystemExit as end:
            code = end.code
    return [code, out.getvalue(), err.getvalue()]


def network(dump: str, friction: dict[str, float], **options) -> None:
    material = {int(kind): Material(friction=mu) for kind, mu in friction.items()}
    network_of_dump(dump, material=material, **options)


if __name__ == "__main__":
    for job in json.loads(Path(sys.argv[1]).read_text()):
        beside = f"{job['out']}.{launched()[0]}"
        if "command" in job:
            Path(f"{beside}.json").write_text(json.dumps(run(job["command"])))
            continue
        try:
            if "dump" in job:
                network(**job)
            else:
                forces_of_file(**job)
        except RigidlimitError as error:
            said = f"{type(error).__name__}: {error}"
            Path(f"{beside}.txt").write_text(said)
