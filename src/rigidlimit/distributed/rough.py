"""Rough contacts on the parts of all ranks: what the solver of one process needs to know of them.

``equilibrium.solve`` (Newton from secant steps, the interior path, relaxation) works on the
contacts and displacements of a part as on whole arrays: here are its products with B over ghosts,
its linear systems by PETSc, and its sums over all ranks.
"""

from copy import copy
from functools import cached_property

import numpy as np

from ..equilibrium.mechanics import TIGHT, Solve
from ..equilibrium.sums import Sums
from .part import Part
from .ranks import Ranks
from .solvers import Solver
from .stiffness import Openings, load_of


class RankSums(Sums):
    """Over the own bodies of all ranks, and over the contacts that each answers for."""

    def __init__(self, ranks: Ranks, part: Part):
        self.ranks, self.part, self.mine = ranks, part, part.mine
        self.moved = part.moved.ravel()

    @cached_property
    def _places(self) -> np.ndarray:
        """Place of each own degree of freedom that moves among those of all ranks, in the order of
        the file: what is gathered is the same on any number of them."""
        number = self.part.origin[:, None] * self.part.width + np.arange(self.part.width)
        mine = number.ravel()[self.moved]
        return np.searchsorted(np.sort(self.ranks.joined(mine)), mine)

    def norm(self, r: np.ndarray) -> float:
        return float(np.sqrt(self.ranks.sum(float(r @ r))))

    def any(self, values: np.ndarray | bool) -> bool:
        return self.ranks.max(float(np.any(values))) > 0.0

    def largest(self, values: np.ndarray) -> float:
        # a maximum over ranks may miss what is no number
        largest = self.ranks.max(np.nan_to_num(np.abs(values), nan=np.inf).max(initial=0.0))
        return largest if largest < np.inf else np.nan

    def least(self, length: float) -> float:
        return self.ranks.min(length)

    def own(self, values: np.ndarray) -> np.ndarray:
        return values[self.mine]

    def total(self, value: float) -> float:
        return self.ranks.sum(value)

    def gathered(self, x: np.ndarray) -> np.ndarray:
        places = self.ranks.joined(self._places).astype(np.int64)
        whole = np.empty(len(places))
        whole[places] = self.ranks.joined(x[self.moved])
        return whole

    def dealt(self, x: np.ndarray) -> np.ndarray:
        part = np.zeros(len(self.moved))
        part[self.moved] = x[self._places]
        return part


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
