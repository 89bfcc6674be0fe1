"""Step 2 without friction, in units of order one: eq. 36 solved, and where no forces f >= 0 balance
the load, solved for the nearest load that some do."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ..equilibrium.smooth_law import SmoothNetwork
from ..linear import LinearStats, Network
from ..status import Status
from . import augmented_lagrangian, newton
from .attempts import SETTINGS, Found
from .energy import both_gaps
from .nearest_load import INFEASIBLE, nearest_load
from .problem import ForceProblem
from .result import WARNED, CompatibleForces, force_bound, pressing

METHODS = ("newton", "augmented_lagrangian")


def smooth_forces(
    problem: ForceProblem,
    *,
    method: str = "newton",
    max_iterations: int | None = None,
    admissible: np.ndarray | None = None,
    unresolved: float = 0.0,
) -> CompatibleForces:
    """The answer of ``compatible_forces``; where no forces balance the load, those of the nearest
    that some do."""
    p, stats = problem.exponent, LinearStats()
    stiffness, length = problem.stiffness / problem.stiffest, problem.length
    springs = newton.unlike(stiffness, p)
    scaled = SmoothNetwork(
        Network(problem.moved.B, blocks=problem.moved.starts, unlike_springs=springs),
        stiffness,
        p,
        problem.goal,
        None if problem.gap is None else -problem.gap / length,
    )
    if problem.size == 0.0:
        found = Found(np.zeros(len(scaled.load)), np.zeros(len(stiffness)), Status.CONVERGED, 0)
        return _answer(problem, scaled, found, scaled.load, None, method, stats)
    # the balance is solved a little tighter than required: scaling back rounds
    limits = dict(tolerance=0.5 * problem.tolerance)
    if max_iterations is not None:
        limits["max_iterations"] = max_iterations
    run = partial(_run, method, limits=limits, unresolved=unresolved, stats=stats)
    admissible = None if admissible is None else admissible / problem.unit
    found = run(scaled, warm_start=problem.begun, admissible=admissible)
    carried = _carried(problem, scaled, found, run, stats)
    return _answer(problem, scaled, *carried, method, stats)


def _run(
    method: str,
    scaled: SmoothNetwork,
    warm_start: np.ndarray | None = None,
    admissible: np.ndarray | None = None,
    *,
    limits: dict,
    unresolved: float,
    stats: LinearStats,
) -> Found:
    if method == "newton":
        given = dict(warm_start=warm_start, admissible=admissible, unresolved=unresolved)
        return newton.solve(scaled, **dict(max_iterations=300) | limits, **given, stats=stats)
    stats.took(method)
    law = scaled.stiffness, scaled.exponent
    found = augmented_lagrangian.solve(scaled.network.B, scaled.load, *law, **limits)
    stats.products += 2 * found.iterations
    return Found(found.u, found.force, found.status, found.iterations, found.history[:, 0])


def _carried(
    problem: ForceProblem,
    scaled: SmoothNetwork,
    found: Found,
    run: Callable[[SmoothNetwork], Found],
    stats: LinearStats,
) -> tuple[Found, np.ndarray, Status | None]:
    """(forces, the load that they are to balance, ``nearest_status``): as found, or of the nearest
    load where this one is not carried."""
    load, status = scaled.load, found.status
    _, uncarried = problem.untouched()
    if uncarried and status is Status.CONVERGED:
        # what contacts are moved by is carried, and nothing comes nearer than that
        return replace(found, status=Status.LOAD_NOT_CARRIED), load, Status.CONVERGED
    if status in (Status.CONVERGED, Status.OUT_OF_MEMORY):
        return found, load, None
    if not uncarried and scaled.imbalance(found.force) <= INFEASIBLE:
        return replace(found, status=Status.STALLED), load, None  # so near counts as carried
    nearest = nearest_load(scaled.network, load)
    # nearer than this the load counts as carried: Newton merely stopped short of it
    apart = nearest.distance > max(problem.tolerance, INFEASIBLE)
    if uncarried or (apart and nearest.settled):
        stats.took("nearest load")
        again = run(replace(scaled, load=nearest.load))
        how = again.status
        if nearest.status is not Status.CONVERGED:
            how = nearest.status
        elif how is Status.LOAD_NOT_CARRIED:
            how = Status.STALLED  # it is, by the forces of the projection
        spent = found.iterations + again.iterations
        again = replace(again, status=Status.LOAD_NOT_CARRIED, iterations=spent)
        return again, nearest.load, how
    if status is Status.LOAD_NOT_CARRIED:
        found = replace(found, status=Status.STALLED)
    # whether it can be carried remains open
    return found, load, nearest.status if apart else None


def _answer(
    problem: ForceProblem,
    scaled: SmoothNetwork,
    found: Found,
    load: np.ndarray,
    nearest_status: Status | None,
    method: str,
    stats: LinearStats,
) -> CompatibleForces:
    """The answer with what can be said of it: residual, status, how far forces may be off.
    load (n',): the one that the forces are to balance."""
    tolerance, status, unit = problem.tolerance, found.status, problem.unit
    dofs, arm = problem.moved.dofs, problem.moved.arm
    force = found.force * unit
    load = load if found.load is None else found.load
    gap, whole = both_gaps(replace(scaled, load=load), found.u, found.force, found.weak)
    if not problem.load.any() and force.max(initial=0.0) <= tolerance * problem.size:
        # nothing holds the overlaps: they come apart, to where no energy is left to judge by
        force, status, gap, whole = np.zeros(len(force)), Status.CONVERGED, 0.0, 0.0
    balanced = np.zeros(len(problem.load))
    balanced[dofs] = load * arm[dofs] * unit
    asked, size = problem.load if found.load is None else balanced, unit
    if problem.gap is not None:
        # where initial overlaps press harder than the load, rounding is that of their forces
        size = max(size, pressing(problem.rows, force, problem.free))
    common = problem.balance(force, asked, size)
    short = np.abs(common["imbalance"] + asked - balanced)[dofs] / arm[dofs]
    status, nearest_status = _statuses(
        status,
        nearest_status,
        met=common["residual"] <= tolerance,
        lawful=gap <= SETTINGS.gap * tolerance,
        short=short.max(initial=0.0) > tolerance * size,
    )
    largest = float(force.max(initial=0.0)) or 1.0

    def off_by(gap: float) -> float:
        bound = force_bound(force, problem.stiffness, problem.exponent, gap)
        return float(bound.max(initial=0.0)) / largest if force.any() else 0.0

    error = max(off_by(whole), found.open if found.weak is None else found.weak.open)
    return CompatibleForces(
        **common,
        force=force,
        displacement=problem.moved.motion(found.displacement) * problem.length,
        status=status,
        iterations=found.iterations,
        duality_gap=gap,
        force_error=error,
        forgiven=error > WARNED >= off_by(gap),
        tolerance=tolerance,
        method=method,
        nearest_status=nearest_status,
        history=np.asarray(found.history),
        linear_iterations=stats.products,
        factorizations=stats.factorizations,
        routes=tuple(stats.routes),
        load=None if found.load is None else balanced,
    )


def _statuses(
    status: Status, nearest: Status | None, *, met: bool, lawful: bool, short: bool
) -> tuple[Status, Status | None]:
    """(status, nearest_status) by the forces in the units that were given. met: whether they
    balance the load; lawful: whether they have the least energy; short: whether they miss the load
    that they are to balance."""
    stopped = status in (Status.STALLED, Status.MAX_ITERATIONS) and nearest is None
    if status is Status.CONVERGED and not met:
        return Status.STALLED, nearest
    if stopped and met and lawful:
        return Status.CONVERGED, nearest  # solvers aim for a little more than the tolerance
    if status is Status.LOAD_NOT_CARRIED and nearest is Status.CONVERGED and short:
        return status, Status.STALLED
    return status, nearest
