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
    residual; history of residuals, one a system of Newton's method. size [N]: largest load over its
    arm, or without a load what overlaps press with from the start. solver: None where there was
    nothing to solve."""

    force: np.ndarray
    u: np.ndarray
    status: Status
    residual: float
    history: np.ndarray
    size: float
    solver: Solver | None


def smooth_part(
    part: Part,
    ranks: Ranks,
    p: float,
    make_solver: Callable[[], Solver],
    tolerance: float,
    begun: np.ndarray | None,
    max_iterations: int,
) -> SmoothFound:
    """Smooth contacts of a part with exponent p. make_solver() makes the linear solver, once there
    is something to solve. begun (o, w): displacements times arms to begin with, or None; the path
    of p < 2 takes no start."""
    sums = RankSums(ranks, part)
    stiffest = sums.most(part.stiffness) or 1.0
    size = max(sums.largest(part.load), part.loose)
    if size == 0.0 and part.gap is not None:
        size = stiffest * sums.most(-part.gap) ** (p - 1)
    if size == 0.0:
        nothing = np.zeros((len(part.body), 1)), np.zeros((part.own, part.width))
        return SmoothFound(*nothing, Status.CONVERGED, 0.0, np.zeros(1), size, None)
    length = (size / stiffest) ** (1 / (p - 1))
    solver = ranks.together(make_solver)
    stiffness = part.stiffness / stiffest
    network = PartNetwork(part, ranks, solver, unlike_springs=unlike(stiffness, p, sums))
    offset = None if part.gap is None else -part.gap / length
    problem = SmoothNetwork(network, stiffness, p, part.load.ravel() / size, offset, sums)
    # scaling back rounds
    search = PartSearch(problem, 0.5 * tolerance, max_iterations, LinearStats(), PATIENT)
    status = search.run(None if begun is None else begun.ravel() / length, None)
    if status is Status.MAX_ITERATIONS and not search.spent:
        status = Status.STALLED  # a start's patience is over, which more iterations do not mend
    force, residual = search.force * size, problem.imbalance(search.force)
    if part.gap is not None:
        # max_j (|B|^T f)_j / a_j: what overlaps press with, whose last digits balance has
        pressed = load_of(part.body, np.abs(part.rows), np.abs(force)[:, None], part.own)
        residual *= min(1.0, size / (sums.largest(pressed) or size))
    lawful = search.gap(search.u, search.force) <= PATIENT.gap * tolerance
    if status is Status.STALLED and residual <= tolerance and lawful:
        status = Status.CONVERGED  # last digits are those of what overlaps press with
    u = search.u.reshape(part.load.shape) * length
    history = np.asarray(search.history)
    return SmoothFound(force[:, None], u, status, residual, history, size, solver)


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
