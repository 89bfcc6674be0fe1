"""Network files solved one after the other by one start of some processes.

    mpiexec -n 2 python many.py JOBS.json

JOBS.json is a list of arguments of ``forces_of_file``. What is raised for a job on a rank is
written beside its ``out``: OUT.RANK.txt, with the type first.
"""

import json
import sys
from pathlib import Path

from rigidlimit.distributed import forces_of_file
from rigidlimit.distributed.ranks import launched
from rigidlimit.errors import RigidlimitError

if __name__ == "__main__":
    for job in json.loads(Path(sys.argv[1]).read_text()):
        try:
            forces_of_file(**job)
        except RigidlimitError as error:
            said = f"{type(error).__name__}: {error}"
            Path(f"{job['out']}.{launched()[0]}.txt").write_text(said)
