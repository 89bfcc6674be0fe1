"""Step 1 of the method, classic contact dynamics: one driver for all solvers of eqs 21-22."""

import inspect
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .._support import arrays
from .._support.products import transposed_product
from ..errors import InputError, nearest
from ..linear import column_arms
from ..status import Status
from . import apgd, newton, pgs
from .inertia import check_symmetry
from .problem import ROUNDING, ContactDynamicsResult
from .reduced import Reduced
from .rough import SWEEPS, rough_dynamics

DIVERGED = 10.0
"""Forces over those that leave overlaps as they are, beyond which these are taken: undoing overlaps
in a step may well cost more, but then it converges."""

UNDONE = 1e-6
"""Residual over that with overlaps as they are, up to which they count as undone all the same:
where only one velocity undoes them, forces have no bounds either."""

CANCELLED, MEANT = 1e-13, 1e-9
"""Part of the pushes on bodies that is left of their sum, at which forces hold one another but for
rounding of B; and part of f . |p| from which on -f . p is more than rounding."""

NO_WORSE = 1.5
"""Residual with overlaps as they are over that of the attempt to undo them, up to which nothing is
lost."""

SOLVERS = {"newton": newton.solve, "pgs": pgs.solve, "apgd": apgd.solve}


def contact_dynamics(
    M,
    B,
    gap,
    velocity,
    external_force,
    dt,
    *,
    restitution=0.0,
    exists=None,
    fixed=None,
    solver: str = "newton",
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    warm_start=None,
    tangential=None,
    friction=0.0,
    **options,
) -> ContactDynamicsResult:
    """End-of-step velocity and (not unique) contact forces of rigid bodies, eqs 13-22.

    M (n, n): mass matrix, sparse, dense, or its diagonal (n,). B (m, n): gap gradient, sparse or
    dense; B v > 0 opens. gap (m,) [m]: Phi at the start. velocity (n,) [m/s, rad/s].
    external_force (n,) [N, N m]. dt [s].
    restitution: Newton's e_n, a number or (m,), in [0, 1]; where it is positive and the contact
    exists, e_n B v replaces Phi/dt. exists (m,) bool: which contacts have formed; gap <= 0 by
    default. fixed (n,) bool: the held degrees of freedom Gamma_D.
    solver: "newton", "pgs" (order="natural", "reverse", "symmetric", "random" or indices) or
    "apgd"; further keywords go to it. warm_start (m,) [N]: forces to start from, left out if
    they are further from the answer than no forces.

    Rough contacts: tangential ((d-1) m, n): rows T of the tangential motion, contact by contact,
    one in the plane (d = 2) or two in space (d = 3). friction: mu >= 0, a number or (m,). Coulomb's
    law is exact (no convex relaxation). warm_start may then be (m, d), and decides which motion is
    taken where rigid friction leaves several open. "newton" is the method of multipliers, "pgs"
    plain sweeps (order, seed, max_iterations, callback), "apgd" solves the convex relaxation, with
    the residual of Coulomb's law and the status RELAXED where that is another. Returns
    ``RoughDynamicsResult`` with tangential_force, tangential_velocity (m, d-1) and sliding (m,).

    Returns ContactDynamicsResult with velocity (n,), force (m,), status, residual; contacts between
    held bodies alone, which no force can part, get none. Raises
    InputError for wrong shapes, values that are not finite, or a mass matrix that is not
    positive on the free degrees of freedom.
    """
    check_solver(solver, options, others=KEYWORDS, rough=tangential is not None)
    B = arrays.sparse("B", B)
    m, n = B.shape
    M = sp.diags_array(np.asarray(M, float)).tocsr() if np.ndim(M) == 1 else M
    M = arrays.sparse("M", M, columns=n, square=True)
    check_symmetry(M)
    gap = arrays.vector("gap", gap, m, what="contact (row of B)")
    velocity = arrays.vector("velocity", velocity, n, what="degree of freedom (column of B)")
    external_force = arrays.vector("external_force", external_force, n, what="degree of freedom")
    dt = arrays.positive("dt", dt)
    tolerance = arrays.positive("tolerance", tolerance)
    if tangential is not None:
        if max_iterations is not None and solver != "newton":
            options["max_iterations"] = max_iterations
        return rough_dynamics(
            M,
            B,
            tangential,
            contact_bias(B, gap, velocity, dt, restitution, exists),
            velocity,
            external_force,
            dt,
            friction=friction,
            free=arrays.free_columns(fixed, n),
            tolerance=tolerance,
            warm_start=warm_start,
            solver=solver,
            options=options,
        )
    if np.any(friction):
        raise InputError("friction is given without tangential; expected the rows T")
    if warm_start is not None:
        warm_start = arrays.vector("warm_start", warm_start, m, what="contact (row of B)")
    bias = contact_bias(B, gap, velocity, dt, restitution, exists)
    if max_iterations is not None:
        options["max_iterations"] = max_iterations

    free = arrays.free_columns(fixed, n)
    reduced = Reduced(M, B, bias, velocity, external_force, dt, free=free)
    problem = reduced.problem
    if problem.scale == 0.0:
        return reduced.answered(_no_force_needed(problem, solver, tolerance))
    if warm_start is not None:
        warm_start = _scaled_to_fit(problem, problem.project(reduced.among(warm_start)))
    if solver in ("newton", "apgd"):
        options["blocks"] = reduced.starts(options.get("blocks"))
    if "order" in options and not isinstance(options["order"], str):
        options["order"] = reduced.numbers(pgs.permutation(options["order"], m))
    answer = SOLVERS[solver](problem, tolerance=tolerance, warm_start=warm_start, **options)
    kept = None
    overlapping = (problem.bias < 0.0).any()
    if answer.converged and overlapping and _by_rounding(problem, answer.force):
        answer = replace(answer, status=Status.JAMMED)
    if not answer.converged and overlapping:
        # overlaps as they are, with what is driven and what rebounds; or nothing that pushes at all
        closed = contact_bias(B, np.maximum(gap, 0.0), velocity, dt, restitution, exists)
        let_be = problem.bias + reduced.among(closed - bias)
        still = np.maximum(problem.bias, 0.0)
        kept = _without_opening(problem, let_be, answer, solver, tolerance, options)
        if kept is None and (let_be != still).any():
            kept = _without_opening(problem, still, answer, solver, tolerance, options)
        answer = answer if kept is None else kept
    if answer.status is Status.JAMMED and kept is None:
        answer = replace(answer, status=Status.STALLED)  # its forces are none to go by
    return reduced.answered(answer)


def _by_rounding(problem, force) -> bool:
    """Whether overlaps are undone by no more than rounding of B, and so not at all.

    Between two walls that press on it from opposite sides a disk leaves along both, at 1e16 times
    the speed at which it overlaps: their normals are opposite to 1e-16. Such forces cancel on every
    body, and yet f . p < 0 says that no velocity opens what they close (Farkas' lemma).
    """
    B, arm = problem.B, column_arms(problem.B)[0]
    left = float((np.abs(transposed_product(B, force)) / arm).sum())
    if left > CANCELLED * float(force @ np.diff(B.indptr)):  # no entry is larger than its arm
        return False
    pushes = float((transposed_product(abs(B), force) / arm).sum())
    missing = -float(force @ problem.p)
    return left <= CANCELLED * pushes and missing > MEANT * float(force @ np.abs(problem.p))


def _without_opening(problem, bias, answer, solver, tolerance, options):
    """Where overlaps cannot all be undone, the answer with another bias that lets them be; or None.

    Held bodies that overlap, or a jammed packing, leave no velocity with B v >= -Phi/dt, and forces
    grow without end; those that only keep overlaps from growing are there, and stay in bounds.
    Overlaps by rounding alone may be solved for so; then there was no jam.
    """
    found = SOLVERS[solver](replace(problem, bias=bias), tolerance=tolerance, **options)
    diverged = answer.force.max() > DIVERGED * max(found.force.max(), problem.scale)
    left = problem.residual(found.force)
    diverged = diverged and answer.residual > UNDONE * left
    jammed = diverged or answer.status is Status.JAMMED
    if not (found.converged and (jammed or left <= NO_WORSE * answer.residual)):
        return None
    return replace(
        answer,
        force=found.force,
        velocity=found.velocity,
        slack=problem.slack(found.force),
        residual=left,
        status=Status.CONVERGED if left <= tolerance else Status.JAMMED,
        iterations=answer.iterations + found.iterations,
        linear_iterations=answer.linear_iterations + found.linear_iterations,
        factorizations=answer.factorizations + found.factorizations,
        routes=(*answer.routes, "overlaps kept", *found.routes),
    )


def _scaled_to_fit(problem, force):
    """a f with a >= 0 of least 1/2 f^T N f + p^T f, or None if no a is better than no force."""
    gain = -float(problem.p @ force)
    curvature = float(force @ (problem.slack(force) - problem.p))
    # forces that hold one another, of bodies that are jammed, move nothing at any size
    jammed = curvature <= ROUNDING * float(force @ (problem.diagonal * force))
    return None if jammed or not gain > 0.0 else gain / curvature * force


KEYWORDS = tuple(
    name
    for name, parameter in inspect.signature(contact_dynamics).parameters.items()
    if parameter.kind is inspect.Parameter.KEYWORD_ONLY
)
"""Options of ``contact_dynamics`` itself."""


def check_solver(solver: str, options=(), *, others=(), rough: bool = False) -> None:
    """Raises InputError for an unknown solver, or for one of ``options`` that it does not have.

    others: keywords that may have been meant instead. rough: for contacts with friction.
    """
    if solver not in SOLVERS:
        raise InputError(
            f"solver is {solver!r}; {nearest(solver, SOLVERS)} (solvers: {', '.join(SOLVERS)})"
        )
    known = _options_of(solver, rough) if options else ()
    for name in options:
        if name not in known:
            meant = nearest(name, sorted(known.union(others)))
            kind = " for contacts with friction" if rough else ""
            raise InputError(f"solver {solver!r} has no option {name!r}{kind}; {meant}")


def _options_of(solver, rough) -> set[str]:
    taken = {"problem", "tolerance", "warm_start", "force"}
    if rough and solver == "newton":
        return set()
    function = (SWEEPS if rough else SOLVERS)[solver]
    return set(inspect.signature(function).parameters) - taken


def contact_bias(B, gap, velocity, dt, restitution, exists):
    """Phi/dt (eq. 16), or e_n B v at existing contacts that rebound (section 4.3), less where they
    overlap: what overlaps comes apart in the step, as without restitution.

    Else not less than e_n B v either: with f . (B v+ + bias) = 0 the kinetic energy changes by
    |v+ - v|_M^2 / 2 + dt f . B v, at most 0 if f . bias >= e_n f . B v. Bodies that have just
    parted and are pushed together again may then overlap by less than their way in the step.
    """
    m = len(gap)
    e = arrays.vector("restitution", restitution, m, what="contact (row of B)")
    if ((e < 0) | (e > 1)).any():
        worst = int(np.flatnonzero((e < 0) | (e > 1))[0])
        raise InputError(f"restitution at contact {worst} is {e[worst]}; expected 0 <= e_n <= 1")
    bias = gap / dt
    if e.any():
        formed = gap <= 0 if exists is None else np.asarray(exists, bool)
        if formed.shape != (m,):
            raise InputError(f"exists has shape {formed.shape}; expected ({m},), one per contact")
        rebound = e * (B @ velocity)
        rebound = np.where(gap < 0, np.minimum(rebound, bias), rebound)
        open_yet = np.maximum(bias, rebound)  # below e_n B v it would give the bodies energy
        bias = np.where(e > 0, np.where(formed, rebound, open_yet), bias)
    return bias


def _no_force_needed(problem, solver, tolerance):
    """Nothing closes: f = 0 is the answer."""
    force = np.zeros(problem.B.shape[0])
    return ContactDynamicsResult(
        force=force,
        velocity=problem.free_velocity.copy(),
        slack=problem.p.copy(),
        status=Status.CONVERGED,
        residual=0.0,
        iterations=0,
        solver=solver,
        tolerance=tolerance,
        history=np.zeros(1),
    )
