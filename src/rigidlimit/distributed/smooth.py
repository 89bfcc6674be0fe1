"""Smooth contacts on the parts of all ranks: what the solvers of one process need to know of them.

``equilibrium/smooth_newton.py`` and ``smooth_path.py`` work on the contacts and displacements of a
part as on whole arrays: here are its products with B over ghosts and its linear systems by PETSc.
"""

import numpy as np

from ..linear import LinearStats
from .part import Part
from .ranks import Ranks
from .solvers import Solver
from .stiffness import Openings, load_of


class PartRows:
    """B (m, o w) of a part, as far as its product with displacements."""

    def __init__(self, part: Part, ranks: Ranks):
        self.part, self.openings = part, Openings(part, ranks)
        self.shape = (len(part.body), part.own * part.width)

    def __matmul__(self, u: np.ndarray) -> np.ndarray:
        """B u (m,) of own displacements times their arms (o w,)."""
        return self.openings.of(u.reshape(self.part.load.shape))[:, 0]

    def absolute(self, u: np.ndarray) -> np.ndarray:
        """|B| |u| (m,)."""
        return self.openings.of(np.abs(u.reshape(self.part.load.shape)), np.abs)[:, 0]


class PartNetwork:
    """``linear.Network`` of a part, without inertia. There is one linear system at a time: the next
    one takes its place. unlike_springs: whether stiffnesses are very unlike, so that the path goes
    first."""

    def __init__(self, part: Part, ranks: Ranks, solver: Solver, *, unlike_springs: bool):
        self.part, self.solver, self.B = part, solver, PartRows(part, ranks)
        self.unlike_springs = unlike_springs

    def load_of(self, force: np.ndarray) -> np.ndarray:
        """B^T f (o w,) on own bodies of forces (m,)."""
        part = self.part
        return load_of(part.body, part.rows, force[:, None], part.own).ravel()

    def system(self, tangent: np.ndarray, shift: float) -> "PartSystem":
        self.solver.set(tangent[:, None, None], shift)
        return PartSystem(self.solver, self.part)


class PartSystem:
    """``linear.protocol.LinearSystem``, as far as solving it."""

    def __init__(self, solver: Solver, part: Part):
        self.solver, self.part = solver, part

    def solve(self, rhs: np.ndarray, *, target: float, stats: LinearStats) -> np.ndarray:
        """x (o w,) with |K x - rhs| <= target in the 2-norm as far as rounding allows; not finite
        where K is singular. Raises OutOfMemory."""
        rhs = np.where(self.part.moved, rhs.reshape(self.part.load.shape), 0.0)
        return self.solver.solve(rhs, target).ravel()
