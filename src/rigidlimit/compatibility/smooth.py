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
    unit, p, stats = problem.size or 1.0, problem.exponent, LinearStats()
    stiffness, length = problem.stiffness / problem.stiffest, problem.length(unit)
    scaled = SmoothNetwork(
        Network(problem.reduced, blocks=problem.starts, unlike_springs=newton.unlike(stiffness, p)),
        stiffness,
        p,
        problem.load[problem.dofs] / problem.arm[problem.dofs] / unit,
        None if problem.gap is None else -problem.gap / length,
    )
    load, nearest_status = scaled.load, None
    if problem.size == 0.0:
        found = Found(np.zeros(len(load)), np.zeros(len(stiffness)), Status.CONVERGED, 0)
    else:
        # the balance is solved a little tighter than required: scaling back rounds
        limits = dict(tolerance=0.5 * problem.tolerance)
        if max_iterations is not None:
            limits["max_iterations"] = max_iterations
        options = dict(limits=limits, unresolved=unresolved, stats=stats)
        run = partial(_run, method, **options)
        start = dict(warm_start=problem.begun(length))
        if admissible is not None:
            start["admissible"] = admissible / unit
        found, load, nearest_status = _carried(problem, scaled, run(scaled, **start), run, stats)
    return _answer(problem, scaled, found, load, nearest_status, method, stats)


def _run(
    method: str,
    network: SmoothNetwork,
    warm_start: np.ndarray | None = None,
    admissible: np.ndarray | None = None,
    *,
    limits: dict,
    unresolved: float,
    stats: LinearStats,
) -> Found:
    if method == "newton":
        given = dict(warm_start=warm_start, admissible=admissible, unresolved=unresolved)
        return newton.solve(network, **dict(max_iterations=300) | limits, **given, stats=stats)
    stats.took(method)
    law = network.stiffness, network.exponent
    found = augmented_lagrangian.solve(network.network.B, network.load, *law, **limits)
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
    untouched = np.abs(problem.untouched()).max(initial=0.0)
    uncarried = bool(untouched > problem.tolerance * problem.size)
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
    tolerance, dofs, status = problem.tolerance, problem.dofs, found.status
    unit = problem.size or 1.0
    force, length = found.force * unit, problem.length(unit)
    gap, whole = _gaps(scaled, found, load)
    open_by = found.open if found.weak is None else found.weak.open
    if not problem.load.any() and force.max(initial=0.0) <= tolerance * problem.size:
        # nothing holds the overlaps: they come apart, to where no energy is left to judge by
        force, status, gap, whole = np.zeros(len(force)), Status.CONVERGED, 0.0, 0.0
    balanced = np.zeros(len(problem.load))
    balanced[dofs] = (load if found.load is None else found.load) * problem.arm[dofs] * unit
    size = unit
    if problem.gap is not None:
        # where initial overlaps press harder than the load, rounding is that of their forces
        size = max(size, pressing(problem.rows, force, problem.free))
    carried = problem.carried(force)
    imbalance = carried - (problem.load if found.load is None else balanced)
    off = problem.off(imbalance) / size
    residual = float(off.max(initial=0.0))
    short = problem.off(carried - balanced)[dofs].max(initial=0.0) / size > tolerance
    stopped = status in (Status.STALLED, Status.MAX_ITERATIONS) and nearest_status is None
    if status is Status.CONVERGED and residual > tolerance:
        status = Status.STALLED
    elif stopped and residual <= tolerance and gap <= SETTINGS.gap * tolerance:
        status = Status.CONVERGED  # solvers aim for a little more than the tolerance
    elif status is Status.LOAD_NOT_CARRIED and nearest_status is Status.CONVERGED and short:
        nearest_status = Status.STALLED

    def off_by(gap: float) -> float:
        bound = force_bound(force, problem.stiffness, problem.exponent, gap)
        largest = float(force.max(initial=0.0))
        return float(bound.max(initial=0.0)) / largest if largest > 0.0 else 0.0

    error = max(off_by(whole), open_by)
    return CompatibleForces(
        force=force,
        displacement=problem.displacement(found.displacement, length),
        status=status,
        residual=residual,
        iterations=found.iterations,
        imbalance=imbalance,
        worst_dof=int(np.argmax(off)) if len(off) else 0,
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


def _gaps(scaled: SmoothNetwork, found: Found, load: np.ndarray) -> tuple[float, float]:
    """``both_gaps`` of the forces for the load (n',), or the one that they balance."""
    B, load = scaled.network.B, load if found.load is None else found.load
    if found.weak is not None:
        B, load = found.weak.extended(B, load)
    law = scaled.stiffness, scaled.exponent
    return both_gaps(B, found.u, found.force, *law, load, scaled.offset)
