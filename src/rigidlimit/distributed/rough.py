"""Rough contacts on the parts of all ranks: what the solver of one process needs to know of them.

``equilibrium.solve`` (Newton from secant steps, the interior path, relaxation) works on the
contacts and displacements of a part as on whole arrays: here are its products with B over ghosts,
its linear systems by PETSc, and its sums over all ranks.
"""

from copy import copy

import numpy as np

from ..equilibrium.mechanics import TIGHT, Solve
from .part import Part
from .rank_sums import RankSums
from .ranks import Ranks
from .solvers import Solver
from .stiffness import Openings, load_of


class PartBodies:
    """``equilibrium.mechanics.Bodies`` of a part, without inertia, for ``equilibrium.solve``.

    Unknowns x (o w,) are displacements of own bodies times their arms. load (o, w); offset (m, d)
    or None; shift: stiffness, far below all others, of motions that no contact resists; unit: of
    residuals. history: residuals at each linear system.
    """

    def __init__(
        self, part: Part, ranks: Ranks, solver: Solver, load: np.ndarray, *,
        offset: np.ndarray | None, shift: float, unit: float,
    ):  # fmt: skip
        self.part, self.solver, self.load = part, solver, load
        self.sums, self.openings = RankSums(ranks, part), Openings(part, ranks)
        self.shape = (len(part.body), part.components)
        self.offset = 0.0 if offset is None else offset
        self.shift, self.unit, self.damping, self.history = shift, unit, 0.0, []

    def damped(self, damping: float) -> "PartBodies":
        other = copy(self)
        other.damping = float(damping)
        return other

    def start(self, force: np.ndarray) -> np.ndarray:
        return np.zeros(self.load.size)

    def displacement(self, x: np.ndarray) -> np.ndarray:
        return self.change(x) + self.offset

    def change(self, dx: np.ndarray) -> np.ndarray:
        return self.openings.of(dx.reshape(self.load.shape))

    def residual(self, x: np.ndarray, force: np.ndarray) -> np.ndarray:
        return (self.load - self._load_of(force)).ravel()

    def size(self, r: np.ndarray) -> float:
        return self.sums.largest(r) / self.unit

    def factorize(self, D: np.ndarray) -> Solve:
        """As of ``Mechanics``; an answer holds until the next call."""
        self.solver.set(D, self.shift + self.damping)

        def solve(
            r: np.ndarray, b: np.ndarray | None = None, accuracy: float = TIGHT
        ) -> np.ndarray:
            self.history.append(self.size(r))
            rhs = -r.reshape(self.load.shape)
            if b is not None:
                rhs = rhs + self._load_of(b)
            rhs = np.where(self.part.moved, rhs, 0.0)
            x = self.solver.solve(rhs, accuracy * self.sums.norm(rhs.ravel()))
            if self.sums.any(~np.isfinite(x)):
                raise np.linalg.LinAlgError("singular matrix")
            return x.ravel()

        return solve

    def _load_of(self, force: np.ndarray) -> np.ndarray:
        return load_of(self.part.body, self.part.rows, force, self.part.own)
