"""Step 2 with friction on all ranks, from the record of a part, by ``compatibility/rough.py``.

Its solver ``equilibrium.solve`` (Newton from secant steps, the interior path, relaxation) works on
the contacts and displacements of a part as on whole arrays: here are its products with B over
ghosts, its linear systems by PETSc, and its sums over all ranks.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from ..compatibility import ContactHistory
from ..compatibility.problem import ForceProblem
from ..compatibility.rough import rough_forces
from ..equilibrium.mechanics import TIGHT, Solve
from ..linear import MovedColumns
from ..status import Status
from .part import Part
from .rank_sums import RankSums
from .ranks import Ranks
from .solvers import Solver
from .stiffness import Openings, load_of


@dataclass(frozen=True)
class RoughFound:
    """In the units of the file. force (m, d) [N]; u (o, w): displacements times arms; kept:
    what the contacts remember; status; residual; history: residuals at each system, and the last
    one; size [N]: largest load over its arm, or what overlaps press with; solver: None where there
    was nothing to solve; state, routes, several: as of ``RoughForces``; merged: increments taken as
    one with another."""

    force: np.ndarray
    u: np.ndarray
    kept: ContactHistory
    status: Status
    residual: float
    history: np.ndarray
    size: float
    solver: Solver | None
    state: str
    routes: tuple[str, ...]
    merged: int = 0
    several: bool = False


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


@dataclass(frozen=True, kw_only=True)
class PartProblem(ForceProblem):
    """The record of a part: n' = n = o w, with arms in the rows. residuals: at each linear
    system."""

    part: Part
    ranks: Ranks
    solver: Solver | None
    residuals: list[float]

    def mechanics(self, offset: np.ndarray | None, shift: float) -> PartBodies:
        goal = self.goal.reshape(self.part.load.shape)
        options = dict(offset=offset, shift=shift, unit=self.residual_unit)
        bodies = PartBodies(self.part, self.ranks, self.solver, goal, **options)
        bodies.history = self.residuals
        return bodies

    def change(self, x: np.ndarray) -> np.ndarray:
        return Openings(self.part, self.ranks).of(x.reshape(self.part.load.shape))

    def carried(self, force: np.ndarray) -> np.ndarray:
        carried = load_of(self.part.body, self.part.rows, force, self.part.own)
        return np.where(self.free, carried.ravel(), 0.0)

    def untouched(self) -> tuple[np.ndarray, bool]:
        return np.zeros(len(self.load)), False  # judged by ``Part.loose``


def rough_part(
    part: Part,
    ranks: Ranks,
    p: float,
    make_solver: Callable[[], Solver],
    tolerance: float,
    history: ContactHistory | None,
    begun: np.ndarray | None,
    increments: int,
) -> RoughFound:
    """Rough contacts of a part with exponent p, from what they remember, in so many equal parts of
    the way from the load that they carry; from one that does not converge on the rest of the way is
    one. make_solver() makes the linear solver, once there is something to solve."""
    sums, gap, n = RankSums(ranks, part), part.gap, part.load.size
    size = max(sums.largest(part.load), part.loose)
    if gap is not None:
        # where overlaps press harder than the load, rounding is that of their forces
        size = max(size, sums.largest(part.stiffness * np.maximum(-gap, 0.0) ** (p - 1.0)))
    problem = PartProblem(
        rows=None,
        d=part.components,
        load=part.load.ravel(),
        free=part.moved.ravel(),
        stiffness=part.stiffness,
        exponent=p,
        gap=history.gap if gap is None and history is not None else gap,
        tolerance=tolerance,
        warm_start=None if begun is None else begun.ravel(),
        moved=MovedColumns(np.arange(n), np.ones(n), None, None, part.moved.ravel()),
        size=size,
        tangential=part.rubbing.stiffness,
        friction=part.rubbing.friction,
        history=history,
        tangential_law=part.rubbing.law,
        sums=sums,
        part=part,
        ranks=ranks,
        solver=None,
        residuals=[],
    )
    if problem.presses:
        problem = replace(problem, solver=ranks.together(make_solver))
    found = rough_forces(problem, increments)
    return RoughFound(
        force=np.column_stack([found.force, found.tangential_force]),
        u=found.displacement.reshape(part.load.shape),
        kept=found.history,
        status=found.status,
        residual=found.residual,
        history=np.array([*problem.residuals, found.residual]),
        size=size,
        solver=problem.solver,
        state=found.state,
        routes=found.routes,
        merged=found.merged,
        several=found.several,
    )
