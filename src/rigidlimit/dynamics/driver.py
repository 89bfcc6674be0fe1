"""Step 1 of the method, classic contact dynamics: one driver for all solvers of eqs 21-22."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from ..errors import InputError, nearest
from ..status import Status
from . import apgd, newton, pgs
from .given import Given
from .jams import settle_overlaps
from .problem import ROUNDING, ContactDynamicsResult, ContactProblem
from .reduced import Reduced
from .rough import SWEEPS, rough_dynamics

SOLVERS = {"newton": newton.solve, "pgs": pgs.solve, "apgd": apgd.solve}


def contact_dynamics(
    M: MatrixLike,
    B: MatrixLike,
    gap: ArrayLike,
    velocity: ArrayLike,
    external_force: ArrayLike,
    dt: float,
    *,
    restitution: ArrayLike = 0.0,
    exists: ArrayLike | None = None,
    fixed: ArrayLike | None = None,
    solver: str = "newton",
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    warm_start: ArrayLike | None = None,
    tangential: MatrixLike | None = None,
    friction: ArrayLike = 0.0,
    **options,
) -> ContactDynamicsResult:
    """End-of-step velocity and (not unique) contact forces of rigid bodies, eqs 13-22.

    Parameters
    ----------
    M : (n, n) or (n,)
        Mass matrix, sparse, dense, or its diagonal.
    B : (m, n), sparse or dense
        Gap gradient; B v > 0 opens.
    gap : (m,) [m]
        Phi at the start.
    velocity : (n,) [m/s, rad/s]
    external_force : (n,) [N, N m]
    dt : float [s]
    restitution : float or (m,), in [0, 1]
        Newton's e_n; where it is positive and the contact exists, e_n B v replaces Phi/dt, at most
        Phi/dt where bodies overlap. Contacts that do not exist have the larger of both.
    exists : (m,) bool, optional
        Which contacts have formed; gap <= 0 by default.
    fixed : (n,) bool, optional
        The held degrees of freedom Gamma_D.
    solver : {"newton", "pgs", "apgd"}
        "pgs" takes order="natural", "reverse", "symmetric", "random" or indices.
    tolerance : float
        On the residual.
    max_iterations : int, optional
        Of the solver, which has its own default; "newton" with friction takes none.
    warm_start : (m,) [N], optional
        Forces to start from, left out if they are further from the answer than no forces. Of rough
        contacts (m, d) too; it then decides which motion is taken where rigid friction leaves
        several open.
    tangential : ((d-1) m, n), optional
        Rows T of the tangential motion of rough contacts, contact by contact, one in the plane (d =
        2) or two in space (d = 3).
    friction : float or (m,)
        mu >= 0. Coulomb's law is exact: "newton" takes turns of sweeps, Newton's method on the
        natural map, the method of multipliers and interior paths, "pgs" makes plain sweeps (order,
        seed, max_iterations, callback). "apgd" solves the convex relaxation, with the residual of
        Coulomb's law and the status RELAXED where that is another.
    **options
        Of the solver.

    Returns
    -------
    ContactDynamicsResult
        velocity (n,), force (m,), status, residual; of rough contacts ``RoughDynamicsResult``, with
        tangential_force, tangential_velocity (m, d-1) and sliding (m,). Contacts between held
        bodies alone, which no force can part, get none.

    Raises
    ------
    InputError
        For wrong shapes, values that are not finite, options that the solver does not have, or a
        mass matrix that is not positive on the free degrees of freedom.

    Examples
    --------
    A ball of 2 kg that falls on a floor for 0.1 s, from a gap that it would cross:

    >>> import rigidlimit as rl
    >>> found = rl.contact_dynamics([2.0], [[1.0]], [0.01], [0.0], [-20.0], 0.1)
    >>> found.velocity, found.force
    (array([-0.1]), array([18.]))
    """
    check_solver(solver, options, others=KEYWORDS, rough=tangential is not None)
    step = Given(M, B, gap, velocity, external_force, dt, restitution, exists, fixed).checked()
    tolerance = arrays.positive("tolerance", tolerance)
    if max_iterations is not None:
        max_iterations = arrays.whole("max_iterations", max_iterations)
    if max_iterations is not None and (tangential is None or solver != "newton"):
        options["max_iterations"] = max_iterations
    if tangential is not None:
        if warm_start is not None:
            warm_start = _rough_start(warm_start, len(step.gap), tangential)
        return rough_dynamics(
            step,
            tangential,
            friction=friction,
            tolerance=tolerance,
            warm_start=warm_start,
            solver=solver,
            options=options,
        )
    if np.any(friction):
        raise InputError("friction is given without tangential; expected the rows T")
    if warm_start is not None:
        m = len(step.gap)
        warm_start = arrays.vector("warm_start", warm_start, m, what="contact (row of B)")
    return _solved(step, solver, tolerance, warm_start, options)


def _rough_start(given, m: int, tangential) -> np.ndarray:
    """Forces (m, d) to start from; normal forces (m,) go without tangential ones."""
    rows = tangential.shape[0] if sp.issparse(tangential) else len(tangential)
    d = 1 + rows // max(m, 1)
    force = np.asarray(given, float)
    if m == 0 and force.ndim == 2:  # of no contacts, which say nothing of d
        d = force.shape[1]
    if force.shape == (m,):
        force = np.column_stack([force, np.zeros((m, d - 1))])
    if force.shape != (m, d) or not np.isfinite(force).all():
        raise InputError(
            f"warm_start has shape {force.shape}; expected finite forces ({m}, {d}), normal first, "
            f"or ({m},), normal ones alone"
        )
    return force


def _solved(step: Given, solver, tolerance, warm_start, options) -> ContactDynamicsResult:
    """The answer for smooth contacts."""
    bias = step.bias()
    data = step.M, step.B, bias, step.velocity, step.external_force, step.dt
    reduced = Reduced(*data, free=step.free)
    problem = reduced.problem
    if problem.scale == 0.0:
        return reduced.answered(_no_force_needed(problem, solver, tolerance))
    if warm_start is not None:
        warm_start = _scaled_to_fit(problem, problem.project(reduced.among(warm_start)))
    if solver in ("newton", "apgd"):
        options["blocks"] = reduced.starts(options.get("blocks"))
    solve = partial(SOLVERS[solver], tolerance=tolerance, **reduced.ordered(options))
    answer = solve(problem, warm_start=warm_start)
    if (problem.bias < 0.0).any():
        closed = problem.bias + reduced.among(step.bias(np.maximum(step.gap, 0.0)) - bias)
        answer = settle_overlaps(problem, answer, solve, closed)
    elif answer.status is Status.JAMMED:
        answer = replace(answer, status=Status.STALLED)  # its forces are none to go by
    return reduced.answered(answer)


def _scaled_to_fit(problem: ContactProblem, force: np.ndarray) -> np.ndarray | None:
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


def check_solver(solver: str, options: Any = (), *, others: Any = (), rough: bool = False) -> None:
    """Raises InputError for an unknown solver, or for one of ``options`` that it does not have.

    others: keywords that may have been meant instead. rough: for contacts with friction.
    """
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise InputError(
            f"solver is {solver!r}; {nearest(solver, SOLVERS)} (solvers: {', '.join(SOLVERS)})"
        )
    if not isinstance(options, Mapping | tuple):
        raise InputError(f"the options are {arrays.short(options)}; expected a dict by name")
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
