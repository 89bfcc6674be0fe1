"""Compatible forces of one huge network of contacts on many processes, by PETSc.

Each process (rank) holds its part of the bodies and contacts only: ``part.py``. Needs petsc4py,
which is imported when a computation begins, and mpiexec for more than one process.
"""

from .copies import images_of, write_copies
from .dump import network_of_dump
from .forces import forces_of_file
from .network import ContactNetwork
from .ranks import OtherRankError
from .result import DistributedForces, RubbingForces

__all__ = [
    "ContactNetwork",
    "DistributedForces",
    "OtherRankError",
    "RubbingForces",
    "forces_of_file",
    "images_of",
    "network_of_dump",
    "write_copies",
]
