"""Eq. 36 with loads, stiffness and arms of order one, on the degrees of freedom that contacts move.

Dividing column j by its largest arm a_j, measuring forces by the largest load and stiffness by the
largest stiffness changes no ratio of forces.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..equilibrium.smooth_law import SmoothNetwork
from ..linear import LinearStats, Network, body_starts, column_arms, kept_starts
from ..status import Status
from . import augmented_lagrangian, newton
from .attempts import SETTINGS, Found
from .energy import both_gaps
from .nearest_load import INFEASIBLE, nearest_load

GAP = SETTINGS.gap
"""Largest duality gap over the tolerance at which balanced forces are accepted."""


@dataclass(frozen=True)
class Data:
    """The problem as it was given, checked. B (m, n); load (n,), zero where held; stiffness (m,);
    exponent; free (n,) bool; blocks: first dof of each body or None; gap_error (m,) or None."""

    B: sp.csr_array
    load: np.ndarray
    stiffness: np.ndarray
    exponent: float
    free: np.ndarray
    blocks: np.ndarray | None = None
    gap_error: np.ndarray | None = None


@dataclass(frozen=True)
class Options:
    """How it is to be solved: see ``compatible_forces``."""

    method: str
    tolerance: float
    max_iterations: int | None = None
    warm_start: np.ndarray | None = None
    admissible: np.ndarray | None = None
    unresolved: float = 0.0


@dataclass(frozen=True)
class Solved:
    """What was found, in the units of the data.

    load (n,): the one that the forces are to balance, the nearest where the given one is not
    carried. gap, whole: ``both_gaps``, nearest_status: see ``CompatibleForces``. open: part of the
    largest force that is uncertain along weak motions due to rounding. asked (n,): the given load
    where motions were excluded from the balance, else None.
    """

    u: np.ndarray
    force: np.ndarray
    status: Status
    iterations: int
    history: Sequence[float]
    stats: LinearStats
    load: np.ndarray
    gap: float
    whole: float
    nearest_status: Status | None = None
    open: float = 0.0
    asked: np.ndarray | None = None

    @property
    def stopped_short(self) -> bool:
        """Whether the solver stopped short of its tolerance at a load that can be carried."""
        return self.status in (Status.STALLED, Status.MAX_ITERATIONS) and not self.nearest_status


class Scaled:
    """The scaled problem; ``solve`` answers in the units of the data."""

    def __init__(self, data: Data):
        self.data, gap_error = data, data.gap_error
        arm, moved = column_arms(data.B)
        self.touched = data.free & moved
        self.arm_full = np.where(self.touched, arm, 1.0)
        self.dofs = np.flatnonzero(self.touched)
        self.arm = arm[self.dofs]
        self.stiffness_size = float(data.stiffness.max(initial=0.0)) or 1.0
        stiffness = data.stiffness / self.stiffness_size
        self.force_size = float((np.abs(data.load) / self.arm_full).max(initial=0.0))
        if self.force_size == 0.0 and gap_error is not None:
            # without a load, contacts that overlap from the start press on one another
            overlap = max(0.0, -float(gap_error.min()))
            self.force_size = self.stiffness_size * overlap ** (data.exponent - 1)
        offset = None
        if gap_error is not None and self.force_size > 0.0:
            offset = -gap_error / self.displacement_size
        network = Network(
            submatrix(data.B, columns=self.dofs, scale=1 / self.arm),
            blocks=kept_starts(body_starts(len(arm), data.blocks), self.dofs),
            unlike_springs=newton.unlike(stiffness, data.exponent),
        )
        load = data.load[self.dofs] / self.arm / (self.force_size or 1.0)
        self.problem = SmoothNetwork(network, stiffness, data.exponent, load, offset)

    @property
    def displacement_size(self) -> float:
        """Displacement that goes with unit scaled displacement."""
        return (self.force_size / self.stiffness_size) ** (1 / (self.data.exponent - 1))

    def imbalance_of(self, missing: np.ndarray, size: float) -> np.ndarray:
        """|missing| (n,) [N, N m] as forces on the longest arms, over ``size`` [N]."""
        return np.abs(missing) / self.arm_full / size

    def nothing(self) -> Solved:
        """Without load and overlaps, no forces."""
        m, n = self.data.B.shape
        found = np.zeros(n), np.zeros(m), Status.CONVERGED, 0, [], LinearStats()
        return Solved(*found, self.data.load, 0.0, 0.0)

    def solve(self, options: Options) -> Solved:
        """The answer; where no forces balance the load, those of the nearest that some do."""
        tolerance, stats, start = options.tolerance, LinearStats(), options.warm_start
        if start is not None:
            start = start[self.dofs] * self.arm / self.displacement_size
        admissible = options.admissible
        untouched = np.abs(np.where(self.touched, 0.0, self.data.load)).max(initial=0.0)
        uncarried = bool(untouched > tolerance * self.force_size)
        if admissible is not None:
            admissible = admissible / self.force_size
        found = self._run(options, self.problem, stats, start, admissible)
        return self._judged(found, options, stats, uncarried)

    def _judged(self, found: Found, options, stats, uncarried) -> Solved:
        """The answer, or that of the nearest load where this one is not carried. uncarried: whether
        it drives degrees of freedom that no contact moves."""
        load, status = self.problem.load, found.status
        if uncarried and status is Status.CONVERGED:
            # what contacts are moved by is carried, and nothing comes nearer than that
            found.status = Status.LOAD_NOT_CARRIED
            return self._given_back(found, stats, load, Status.CONVERGED)
        if status in (Status.CONVERGED, Status.OUT_OF_MEMORY):
            return self._given_back(found, stats, load, None)
        if not uncarried and self.problem.imbalance(found.force) <= INFEASIBLE:
            found.status = Status.STALLED  # a load as near as that counts as carried
            return self._given_back(found, stats, load, None)
        nearest = nearest_load(self.problem.network, load)
        # nearer than this the load counts as carried: Newton merely stopped short of it
        apart = nearest.distance > max(options.tolerance, INFEASIBLE)
        if uncarried or (apart and nearest.settled):
            return self._of_nearest(nearest, found.iterations, options, stats)
        if status is Status.LOAD_NOT_CARRIED:
            found.status = Status.STALLED
        # whether it can be carried remains open
        return self._given_back(found, stats, load, nearest.status if apart else None)

    def _of_nearest(self, nearest, iterations, options, stats) -> Solved:
        stats.took("nearest load")
        found = self._run(options, self._with(nearest.load), stats)
        status = found.status
        if nearest.status is not Status.CONVERGED:
            status = nearest.status
        elif status is Status.LOAD_NOT_CARRIED:
            status = Status.STALLED  # it is, by the forces of the projection
        found.status, found.iterations = Status.LOAD_NOT_CARRIED, found.iterations + iterations
        return self._given_back(found, stats, nearest.load, status)

    def _with(self, load) -> SmoothNetwork:
        problem = self.problem
        law = problem.stiffness, problem.exponent
        return SmoothNetwork(problem.network, *law, load, problem.offset)

    def _run(self, options, problem, stats, start=None, admissible=None) -> Found:
        # the balance is solved a little tighter than required: scaling back rounds
        limits = dict(tolerance=0.5 * options.tolerance)
        if options.max_iterations is not None:
            limits["max_iterations"] = options.max_iterations
        if options.method == "newton":
            limits.setdefault("max_iterations", 300)
            given = dict(warm_start=start, admissible=admissible, unresolved=options.unresolved)
            return newton.solve(problem, **limits, **given, stats=stats)
        stats.took(options.method)
        law = problem.stiffness, problem.exponent
        found = augmented_lagrangian.solve(problem.network.B, problem.load, *law, **limits)
        stats.products += 2 * found.iterations
        return Found(found.u, found.force, found.status, found.iterations, found.history[:, 0])

    def _given_back(self, found: Found, stats, load, nearest_status) -> Solved:
        """In the units of the data."""
        load = load if found.load is None else found.load
        problem, B, of_problem = self.problem, self.problem.network.B, load
        if found.weak is not None:
            B, of_problem = found.weak.extended(B, load)
        law = problem.stiffness, problem.exponent, of_problem, problem.offset
        gap, whole = both_gaps(B, found.u, found.force, *law)
        u, of_load = np.zeros(len(self.arm_full)), np.zeros(len(self.arm_full))
        u[self.dofs] = found.displacement / self.arm * self.displacement_size
        of_load[self.dofs] = load * self.arm * self.force_size
        return Solved(
            u,
            found.force * self.force_size,
            found.status,
            found.iterations,
            found.history,
            stats,
            of_load,
            gap,
            whole,
            nearest_status,
            found.open if found.weak is None else found.weak.open,
            None if found.load is None else of_load,
        )
