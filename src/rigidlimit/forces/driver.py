"""Step 2 of the method, compatible forces: checks, scaling, solver, verdict (eqs 36-37)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._support import arrays
from .._support.products import transposed_product
from .._support.submatrix import submatrix
from ..bodies.materials import MINDLIN
from ..equilibrium.smooth_law import SmoothNetwork
from ..errors import InputError
from ..linear import LinearStats, Network, body_starts, column_arms, kept_starts
from ..status import Status
from . import augmented_lagrangian, newton
from .carried import NOT_CARRIED, nearest_carried
from .noise import harmless, noise
from .problem import (
    TOLD,
    CompatibleForces,
    both_gaps,
    checked_law,
    force_bound,
    pressing,
)
from .rough import ContactHistory, rough_forces

METHODS = ("newton", "augmented_lagrangian")


def compatible_forces(
    B,
    load,
    *,
    stiffness=1.0,
    exponent: float = 2.0,
    fixed=None,
    gap_error=None,
    method: str = "newton",
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    warm_start=None,
    admissible=None,
    blocks=None,
    tangential=None,
    tangential_stiffness=1.0,
    friction=0.0,
    history: ContactHistory | None = None,
    sliding_direction=None,
    increments: int = 1,
    tangential_law: str = MINDLIN,
) -> CompatibleForces:
    """The unique contact forces of stiff elastic bodies under a given load, eqs 36-37.

    B (m, n): gap gradient, sparse or dense; B v > 0 opens a contact. load (n,) [N, N m]: F~ = M (v+
    - v)/dt - F_ext, what the contacts must deliver; at rest minus the external force. stiffness:
    relative k, a number or (m,); only ratios matter. exponent: p > 1 of the law f = k c^(p-1): 2
    Hooke, 5/2 Hertz. fixed (n,) bool: held degrees of freedom (Gamma_D), whose load is ignored.
    gap_error (m,) [m]: initial gaps g where the rigid geometry has none, overlaps if negative: c =
    -B u - g; forces change once g compares with the elastic overlaps, so here the size of the
    stiffness matters too. method: "newton" (semismooth Newton on the dual) or
    "augmented_lagrangian" (the paper's, without gap_error). tolerance: on ``residual``. warm_start
    (n,): displacement of an earlier answer. admissible (m,) [N]: some forces f >= 0 that balance
    the load, as from contact dynamics; where hardly more contacts bear than the load determines
    they are a good start, no more. blocks: first dof of each body, ending with n; speeds up the
    linear solves, no more.

    Rough contacts: tangential ((d-1) m, n): rows T of the tangential motion, contact by contact,
    one in the plane (d = 2) or two in space (d = 3). tangential_stiffness: k_t in the unit of
    stiffness, a number or (m,). friction: mu >= 0, a number or (m,). history: ``.history`` of the
    answer that this is the next increment of; None: from the state without forces.
    sliding_direction (m, d-1): direction of the tangential force of contacts known to slide, zero
    elsewhere. increments: into how many the way from the history's load and gaps is divided; the
    error falls in proportion. tangential_law: "mindlin" or "mindlin/force" (as in LAMMPS; alike for
    exponent 2). gap_error is that of the pose without displacements also with a history, which
    keeps the gaps it was made with; None: these go on. These take method "newton" and no
    admissible, and return ``RoughForces``, with tangential_force (m, d-1), sliding (m,) bool,
    state and history. Its least energy knows neither history nor gaps.

    Returns CompatibleForces. A load that no f >= 0 can balance gives status LOAD_NOT_CARRIED, the
    forces of the nearest load that can, whether these were solved to the tolerance
    (``nearest_status``), and the imbalance. Raises InputError for wrong shapes or signs and values
    that are not finite.

    >>> import numpy as np, rigidlimit
    >>> beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn
    >>> rigidlimit.compatible_forces(beam, [10.0, 0.0], stiffness=[1, 3, 1]).force.round(9)
    array([2., 6., 2.])
    """
    if method not in METHODS:
        raise InputError(f"method is {method!r}; expected one of {', '.join(METHODS)}")
    if tangential is not None:
        if admissible is not None:
            raise InputError("admissible is given with tangential; expected one of the two")
        if method != "newton":
            raise InputError(f"method is {method!r} with tangential; expected 'newton'")
        return rough_forces(
            B,
            load,
            tangential=tangential,
            tangential_stiffness=tangential_stiffness,
            friction=friction,
            stiffness=stiffness,
            exponent=exponent,
            history=history,
            sliding_direction=sliding_direction,
            increments=increments,
            tangential_law=tangential_law,
            fixed=fixed,
            gap_error=gap_error,
            tolerance=tolerance,
            warm_start=warm_start,
        )
    B = arrays.sparse("B", B)
    m, n = B.shape
    load = arrays.vector("load", load, n, what="degree of freedom (column of B)")
    if np.any(friction) or history is not None:
        raise InputError("friction or history is given without tangential; expected the rows T")
    stiffness, exponent = checked_law(stiffness, exponent, m)
    tolerance = arrays.positive("tolerance", tolerance)
    if warm_start is not None:
        warm_start = arrays.vector("warm_start", warm_start, n, what="degree of freedom")
    if admissible is not None:
        admissible = arrays.vector("admissible", admissible, m, what="contact (row of B)")
    free = arrays.free_columns(fixed, n)
    load = np.where(free, load, 0.0)
    if gap_error is not None:
        gap_error = arrays.vector("gap_error", gap_error, m, what="contact (row of B)")
        if method != "newton":
            raise InputError(
                f"method {method!r} takes no gap_error; expected method='newton' for initial gaps"
            )
        if not gap_error.any():
            gap_error = None

    scaled = _Scaled(B, load, stiffness, exponent, free, blocks, gap_error)
    if scaled.force_size == 0.0:
        nothing = np.zeros(n), np.zeros(m)
        solved = _Solved(*nothing, Status.CONVERGED, 0, [], LinearStats(), load, 0.0, 0.0)
    else:
        solved = scaled.solve(method, tolerance, max_iterations, warm_start, admissible)
    if not load.any() and solved.force.max(initial=0.0) <= tolerance * scaled.force_size:
        # nothing holds the overlaps: they come apart, to where no energy is left to judge by
        solved = replace(solved, force=np.zeros(m), status=Status.CONVERGED, gap=0.0, whole=0.0)
    u, force, status, nearest_status = solved.u, solved.force, solved.status, solved.nearest_status
    carried = np.where(free, transposed_product(B, force), 0.0)
    size = scaled.force_size or 1.0
    if gap_error is not None:
        # where initial overlaps press harder than the load, last digits are those of their forces
        size = max(size, pressing(B, force, free))

    def relative(missing):
        return np.abs(missing) / scaled.arm_full / size

    imbalance = carried - load
    residual = float(relative(imbalance).max(initial=0.0))
    if status is Status.CONVERGED and residual > tolerance:
        status = Status.STALLED
    if status is Status.LOAD_NOT_CARRIED and nearest_status is Status.CONVERGED:
        off = relative(np.where(scaled.touched, carried - solved.load, 0.0)).max(initial=0.0)
        nearest_status = Status.STALLED if off > tolerance else nearest_status
    fine = residual <= tolerance and solved.gap <= newton.GAP * tolerance
    if solved.stopped_short and fine:
        status = Status.CONVERGED  # solvers ask for a little more than was promised

    def off_by(gap):
        return _over_largest(force_bound(force, stiffness, exponent, gap), force)

    error = off_by(solved.whole)
    return CompatibleForces(
        force=force,
        displacement=u,
        status=status,
        residual=residual,
        iterations=solved.iterations,
        imbalance=imbalance,
        worst_dof=int(np.argmax(relative(imbalance))) if n else 0,
        duality_gap=solved.gap,
        force_error=error,
        forgiven=error > TOLD >= off_by(solved.gap),
        tolerance=tolerance,
        method=method,
        nearest_status=nearest_status,
        history=np.asarray(solved.history),
        linear_iterations=solved.stats.products,
        factorizations=solved.stats.factorizations,
        routes=tuple(solved.stats.routes),
    )


def _over_largest(part, force) -> float:
    largest = float(force.max(initial=0.0))
    return float(part.max(initial=0.0)) / largest if largest > 0.0 else 0.0


@dataclass(frozen=True)
class _Solved:
    """What ``_Scaled.solve`` found, in the units of the problem.

    load (n,): the one that the forces are to balance, the nearest where the given one is not
    carried. gap, whole: ``both_gaps``, nearest_status: see ``CompatibleForces``.
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

    @property
    def stopped_short(self) -> bool:
        """Whether the solver stopped short of its tolerance at a load that can be carried."""
        return self.status in (Status.STALLED, Status.MAX_ITERATIONS) and not self.nearest_status


class _Scaled:
    """The problem with loads, stiffness and arms of order one, on the dofs that contacts move.

    Dividing column j by its largest arm a_j and measuring forces by the largest load and
    stiffness by the largest stiffness changes no force ratio.
    """

    def __init__(self, B, load, stiffness, exponent, free, blocks, gap_error):
        n = B.shape[1]
        arm, felt = column_arms(B)
        touched = self.touched = free & felt
        self.arm_full = np.where(touched, arm, 1.0)
        self.dofs = np.flatnonzero(touched)
        self.arm = arm[self.dofs]
        self.B = submatrix(B, columns=self.dofs, scale=1 / self.arm)
        self.exponent = exponent
        self.stiffness_size = float(stiffness.max(initial=0.0)) or 1.0
        self.stiffness = stiffness / self.stiffness_size
        self.force_size = float((np.abs(load) / self.arm_full).max(initial=0.0))
        if self.force_size == 0.0 and gap_error is not None:
            # without a load, contacts that overlap from the start press on one another
            overlap = max(0.0, -float(gap_error.min()))
            self.force_size = self.stiffness_size * overlap ** (exponent - 1)
        self.untouched_load = np.where(touched, 0.0, load)
        self.load = load[self.dofs] / self.arm / (self.force_size or 1.0)
        self.offset = None
        if gap_error is not None and self.force_size > 0.0:
            self.offset = -gap_error / self.displacement_size
        self.n = n
        self.network = Network(
            self.B,
            blocks=kept_starts(body_starts(n, blocks), self.dofs),
            two_sorts=newton.unlike(self.stiffness, exponent),
        )

    @property
    def displacement_size(self) -> float:
        """Displacement that goes with unit scaled displacement."""
        return (self.force_size / self.stiffness_size) ** (1 / (self.exponent - 1))

    def solve(self, method, tolerance, max_iterations, warm_start, admissible):
        start, aside = None, np.zeros(self.B.shape[0])
        if admissible is not None:
            aside = noise(self.B, self.network.block_of, admissible, tolerance) / self.force_size
            admissible = admissible / self.force_size
        if warm_start is not None:
            start = warm_start[self.dofs] * self.arm / self.displacement_size
        uncarried = np.abs(self.untouched_load).max(initial=0.0) > tolerance * self.force_size
        load, nearest_status, stats = self.load, None, LinearStats()
        if aside.any() and not uncarried:
            wanted = load - self.network.carried(aside)
            u, force, *found = self._run(
                method, wanted, tolerance, max_iterations, stats, start, admissible - aside
            )
            solved = self._given_back(u, force + aside, *found, stats, load, None)
            limits = tolerance, newton.GAP * tolerance
            fine = harmless(self.B, aside, force, solved.gap, *limits)
            if solved.status is Status.CONVERGED and fine:
                return solved
            start = u
        u, force, status, iterations, history = self._run(
            method, load, tolerance, max_iterations, stats, start, admissible
        )
        if uncarried and status is Status.CONVERGED:
            # what contacts can feel of the load is carried, and nothing comes nearer than that
            status, nearest_status = Status.LOAD_NOT_CARRIED, Status.CONVERGED
        elif status in (Status.CONVERGED, Status.NO_ROOM):
            pass
        elif not uncarried and self._imbalance(force) <= NOT_CARRIED:
            status = Status.STALLED  # a load as near as that counts as carried
        else:
            found = nearest_carried(self.network, self.load)
            # nearer than this the load counts as carried: Newton merely stopped short of it
            apart = found.distance > max(tolerance, NOT_CARRIED)
            if uncarried or (apart and found.settled):
                load = found.load
                stats.took("nearest load")
                u, force, nearest_status, more, history = self._run(
                    method, load, tolerance, max_iterations, stats
                )
                if found.status is not Status.CONVERGED:
                    nearest_status = found.status
                elif nearest_status is Status.LOAD_NOT_CARRIED:
                    nearest_status = Status.STALLED  # it is, by the forces of the projection
                status, iterations = Status.LOAD_NOT_CARRIED, iterations + more
            else:
                if status is Status.LOAD_NOT_CARRIED:
                    status = Status.STALLED
                if apart:  # whether it can be carried remains open
                    nearest_status = found.status
        found = status, iterations, history, stats
        return self._given_back(u, force, *found, load, nearest_status)

    def _given_back(self, u, force, status, iterations, history, stats, load, nearest_status):
        """In the units of the problem."""
        balance = self.B, u, force, self.stiffness, self.exponent, load, self.offset
        gap, whole = both_gaps(*balance)
        full, of_load = np.zeros(self.n), np.zeros(self.n)
        full[self.dofs] = u / self.arm * self.displacement_size
        of_load[self.dofs] = load * self.arm * self.force_size
        force = force * self.force_size
        found = full, force, status, iterations, history, stats, of_load, gap, whole
        return _Solved(*found, nearest_status=nearest_status)

    def _imbalance(self, force):
        return float(np.abs(self.network.carried(force) - self.load).max(initial=0.0))

    def _run(self, method, load, tolerance, max_iterations, stats, start=None, admissible=None):
        """(u, force, status, iterations, history) by one method."""
        if method == "newton":
            return newton.solve(
                SmoothNetwork(self.network, self.stiffness, self.exponent, load, self.offset),
                # the balance is asked for a little tighter than promised: scaling back rounds
                tolerance=0.5 * tolerance,
                max_iterations=300 if max_iterations is None else max_iterations,
                warm_start=start,
                admissible=admissible,
                stats=stats,
            )
        stats.took(method)
        answer = augmented_lagrangian.solve(
            self.B,
            load,
            self.stiffness,
            self.exponent,
            tolerance=0.5 * tolerance,
            **({} if max_iterations is None else {"max_iterations": max_iterations}),
        )
        stats.products += 2 * answer.iterations
        return answer.u, answer.force, answer.status, answer.iterations, answer.history[:, 0]
