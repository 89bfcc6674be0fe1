"""Step 2 of smooth contacts on all ranks: units of order one, the ways of one process, and back.

The ways are those of ``compatibility/newton.py``: Newton on the no-tension network, the interior
path, from which it goes on, and for p < 2 the path to its end. Not tried here are the active set
method, and Newton with two proximal terms. They work on the contacts and displacements of a part as
on whole arrays: its products with B go over ghosts, its linear systems are PETSc's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..compatibility.attempts import SETTINGS
from ..compatibility.energy import EPS
from ..compatibility.newton import Search, unlike
from ..equilibrium.smooth_law import SmoothNetwork
from ..linear import LinearStats
from ..status import Status
from .part import Part
from .rank_sums import RankSums
from .ranks import Ranks
from .solvers import Solver
from .stiffness import Openings, load_of

PATIENT = replace(SETTINGS, patience=60)
"""Newton's method goes on for longer than in one process, where a point of the path costs less."""


@dataclass(frozen=True)
class SmoothFound:
    """In the units of the file. force (m, 1) [N]; u (o, w): displacements times arms; status,
    residual; history of residuals, one a system of Newton's method."""

    force: np.ndarray
    u: np.ndarray
    status: Status
    residual: float
    history: np.ndarray


class SmoothProblem:
    """Smooth contacts of a part with exponent p. size [N]: largest load over its arm, or without a
    load what overlaps press with from the start. solver() makes the linear solver, once there is
    something to solve."""

    def __init__(
        self, part: Part, ranks: Ranks, p: float, solver: Callable[[], Solver], tolerance: float
    ):
        self.part, self.ranks, self.p, self.tolerance = part, ranks, p, tolerance
        self.sums = RankSums(ranks, part)
        self.stiffness = self.sums.most(part.stiffness) or 1.0
        self.size = max(self.sums.largest(part.load), part.loose)
        if self.size == 0.0 and part.gap is not None:
            self.size = self.stiffness * self.sums.most(-part.gap) ** (p - 1)
        self.make_solver, self.solver = solver, None

    def solve(self, begun: np.ndarray | None, max_iterations: int) -> SmoothFound:
        """begun (o, w): displacements times arms to begin with, or None; the path of p < 2 takes no
        start."""
        part = self.part
        if self.size == 0.0:
            nothing = np.zeros((len(part.body), 1)), np.zeros((part.own, part.width))
            return SmoothFound(*nothing, Status.CONVERGED, 0.0, np.zeros(1))
        length = (self.size / self.stiffness) ** (1 / (self.p - 1))
        self.solver = self.ranks.together(self.make_solver)
        stiffness = part.stiffness / self.stiffness
        different = unlike(stiffness, self.p, self.sums)
        network = PartNetwork(part, self.ranks, self.solver, unlike_springs=different)
        offset = None if part.gap is None else -part.gap / length
        problem = SmoothNetwork(
            network, stiffness, self.p, part.load.ravel() / self.size, offset, self.sums
        )  # fmt: skip
        # scaling back rounds
        search = PartSearch(problem, 0.5 * self.tolerance, max_iterations, LinearStats(), PATIENT)
        status = search.run(None if begun is None else begun.ravel() / length, None)
        if status is Status.MAX_ITERATIONS and not search.spent:
            status = Status.STALLED  # a start's patience is over, which more iterations do not mend
        force, residual = search.force * self.size, problem.imbalance(search.force)
        if part.gap is not None:
            residual *= min(1.0, self.size / (self._pressing(force) or self.size))
        lawful = search.gap(search.u, search.force) <= PATIENT.gap * self.tolerance
        if status is Status.STALLED and residual <= self.tolerance and lawful:
            status = Status.CONVERGED  # last digits are those of what overlaps press with
        u = search.u.reshape(part.load.shape) * length
        return SmoothFound(force[:, None], u, status, residual, np.asarray(search.history))

    def _pressing(self, force: np.ndarray) -> float:
        """max_j (|B|^T f)_j / a_j [N]: what overlaps press with, whose last digits balance has."""
        pressed = load_of(
            self.part.body, np.abs(self.part.rows), np.abs(force)[:, None], self.part.own
        )
        return self.sums.largest(pressed)


class PartSearch(Search):
    """The ways of one process without those that factorize in its own manner."""

    def by_active_set(self, admissible: np.ndarray | None) -> None:
        return None

    def directly(self) -> bool:
        return False

    @cached_property
    def stored_before(self) -> float:
        """Energy of the overlaps at the start, where there is no load; else 0."""
        problem = self.problem
        if problem.offset is None or self.sums.any(self.load):
            return 0.0
        p, overlap = problem.exponent, np.maximum(problem.offset, 0.0)
        return self.sums.total(float(self.sums.own(problem.stiffness / p * overlap**p).sum()))

    def rounded(self, u: np.ndarray) -> np.ndarray:
        return EPS * self.network.B.absolute(u)

    @np.errstate(over="ignore", invalid="ignore")  # forces of a path that lost its way
    def gap(self, u: np.ndarray, force: np.ndarray) -> float:
        """``duality_gap``, its sums those of all ranks. Without a load it is over the energy of the
        overlaps at the start, where that is more: they may relax to none."""
        problem, p, k, sums = self.problem, self.problem.exponent, self.problem.stiffness, self.sums
        overlap = problem.overlap(u)
        held = (1.0 - 1.0 / p) * (force / k) ** (1.0 / (p - 1.0)) * force
        stored = k / p * np.maximum(overlap, 0.0) ** p
        gap, energy = (
            sums.total(float(sums.own(values).sum()))
            for values in (held + stored - force * overlap, held)
        )
        work = sums.total(float(problem.gradient(force) @ u))
        rounding = EPS * sums.total(float(np.abs(problem.load) @ np.abs(u)))
        gap = abs(gap + np.sign(work) * max(abs(work) - rounding, 0.0))
        energy = max(energy, self.stored_before)
        return gap / energy if energy > 0.0 else np.inf


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
