"""Compatible forces of one huge network of contacts on many processes, by PETSc.

Each process (rank) holds its part of the bodies and contacts only: ``part.py``. Needs petsc4py,
which is imported when a computation begins, and mpiexec for more than one process.
"""

from .._support.lazy import attach

# ranks that solve need neither scenes nor readers of packings, which take as long to import as all
# that they need
__getattr__, __dir__, __all__ = attach(__name__)
