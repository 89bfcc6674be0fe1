"""Step 1 with exact Coulomb friction (not its convex relaxation).

    M (v+ - v) = dt F + dt (B^T f_n + T^T f_t)
    0 <= f_n  _|_  u_n = B v+ + bias >= 0
    |f_t| <= mu f_n,   f_t = -mu f_n u_t/|u_t| where u_t = T v+ is not zero

by sweeps, Newton's method on the natural map, interior paths and the method of multipliers, in turn
(``equilibrium.multipliers``). Where rigid friction leaves several motions open, the one found is
that of elastic bodies from the forces given, unless an interior path has found it. The residual is
that of ``equilibrium.multipliers``, over the fastest contact without contact forces. Sweeps and
gradient steps, as of engines, are in ``rough_sweeps``.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support.arrays import MatrixLike
from .._support.submatrix import submatrix
from .._support.words import counted
from ..equilibrium.dense import between_bodies
from ..equilibrium.mechanics import Inertia
from ..equilibrium.multipliers import rigid_contacts
from ..equilibrium.rows import checked_friction, contact_rows
from ..linear import column_arms
from ..status import Status
from .given import Given
from .problem import ContactDynamicsResult
from .reduced import Reduced
from .rough_sweeps import RoughProblem, Swept, apgd, pgs

SLIDES = 1e-9
"""Tangential velocity, over the fastest contact without contact forces, from which on a contact
counts as sliding."""

LOCKED = 0.01
"""Force over the largest, among those that lock contacts, from which on a contact is named."""

SWEEPS = {"pgs": pgs, "apgd": apgd}
"""Solvers beside "newton"."""


@dataclass(frozen=True, repr=False)
class RoughDynamicsResult(ContactDynamicsResult):
    """``ContactDynamicsResult`` of rough contacts. ``force`` (m,) [N] stays the normal force.

    Attributes
    ----------
    tangential_force : (m, d-1) ndarray [N]
    tangential_velocity : (m, d-1) ndarray [m/s]
        u_t = T v+.
    sliding : (m,) bool ndarray
        Contacts that bear and whose |u_t| is above 1e-9 of the velocity scale, and above the
        residual where that is larger.
    worst : int
        The contact of the largest residual.
    locked : int ndarray or None
        Contacts that friction locks, the hardest pressed first, where no motion was found
        (``equilibrium.locked``).

    Examples
    --------
    A block of 1 kg slides on a floor, for 0.1 s, with friction 0.5:

    >>> import rigidlimit as rl
    >>> given = [1.0, 1.0], [[1.0, 0.0]], [0.0], [0.0, 2.0], [-10.0, 0.0], 0.1
    >>> found = rl.contact_dynamics(*given, tangential=[[0.0, 1.0]], friction=0.5)
    >>> found.velocity[1].round(6), found.tangential_force.round(6), found.sliding
    (np.float64(1.5), array([[-5.]]), array([ True]))
    """

    tangential_force: np.ndarray | None = None
    tangential_velocity: np.ndarray | None = None
    sliding: np.ndarray | None = None
    worst: int = 0
    locked: np.ndarray | None = None

    @property
    def advice(self) -> str:
        if self.locked is not None:
            return _locked(self.locked, self.status is Status.JAMMED)
        if self.status is not Status.STALLED:
            return super().advice
        return (
            "no motion with exact Coulomb friction was found to this tolerance, forces and "
            f"velocities are the nearest (the worst is contact {self.worst}): take a smaller time "
            "step or a larger tolerance"
        )

    @property
    def message(self) -> str:
        slide = counted(int(self.sliding.sum()), "sliding contact")
        return f"{super().message}; {slide}"


def _locked(contacts: np.ndarray, jammed: bool) -> str:
    """Advice where friction locks contacts."""
    names = ", ".join(str(i) for i in contacts[:6]) + (", ..." if len(contacts) > 6 else "")
    forces = "keep overlaps from growing" if jammed else "come nearest"
    return (
        f"friction locks the contacts {names}: forces in their cones hold one another whatever the "
        "bodies do, and overlaps or driven bodies press on them, so that no motion with Coulomb "
        f"friction was found; the forces are those that {forces}; drive bodies by loads, not "
        "speeds, give less friction, or check where held bodies stand"
    )


def rough_dynamics(
    step: Given,
    tangential: MatrixLike,
    *,
    friction: ArrayLike,
    tolerance: float,
    warm_start: np.ndarray | None = None,
    solver: str = "newton",
    options: dict | None = None,
) -> RoughDynamicsResult:
    """See ``contact_dynamics``, of which this is the part with tangential rows. options: of the
    solver."""
    rows, d = contact_rows(step.B, tangential)
    friction = checked_friction(friction, len(step.gap))
    bias, normal = np.zeros((len(step.gap), d)), step.bias()
    bias[:, 0] = normal
    data = step.M, rows, bias, step.velocity, step.external_force, step.dt
    reduced = Reduced(*data, free=step.free)
    problem, moved = RoughProblem(reduced.problem, reduced.among(friction), d), reduced.rows
    scale, force, end = problem.scale, np.zeros_like(bias), reduced.velocity.copy()
    found, residual, worst = Swept(force, Status.CONVERGED, 0, np.zeros(0)), 0.0, 0
    if scale > 0.0 and (problem.data.p[::d] < 0.0).any():
        start = np.zeros((len(moved), d)) if warm_start is None else warm_start[moved]
        options = reduced.ordered(options or {})
        if solver == "newton":
            kept = None
            if (step.gap[moved] < 0.0).any():
                kept = problem.offset.copy()
                kept[:, 0] += (step.bias(np.maximum(step.gap, 0.0)) - normal)[moved]
            found = _by_multipliers(problem, start, tolerance, kept, **options)
            if found.locked is not None:
                found = replace(found, locked=moved[found.locked])
        else:
            found = SWEEPS[solver](problem, start, tolerance=tolerance, **options)
        force[moved] = found.force
        end[reduced.dofs] = problem.velocity(found.force)
        residual, worst = problem.residual(found.force, problem.contact_velocity(end[reduced.dofs]))
        worst = int(moved[worst])
    u = (rows @ end).reshape(bias.shape) + bias
    known = max(SLIDES, residual) * scale  # a slip below the residual may be none
    slides = (np.linalg.norm(u[:, 1:], axis=1) > known) & (force[:, 0] > 0.0)
    return RoughDynamicsResult(
        force=force[:, 0],
        velocity=end,
        slack=u[:, 0],
        status=found.status,
        residual=residual,
        iterations=found.iterations,
        solver=solver,
        tolerance=tolerance,
        history=found.history,
        factorizations=found.iterations if solver == "newton" else 0,
        routes=found.routes,
        tangential_force=force[:, 1:],
        tangential_velocity=u[:, 1:],
        sliding=slides,
        worst=worst,
        locked=found.locked,
    )


def _by_multipliers(problem: RoughProblem, start, tolerance, kept=None) -> Swept:
    """The method of multipliers from the forces ``start`` (m, d), and where contacts are locked
    that with overlaps as they are. kept (m, d) [m/s]: offset without their undoing, or None."""
    solve = partial(_rigid, problem, tolerance=tolerance)
    found = solve(problem.offset, start)
    status = Status.CONVERGED if found.converged else Status.STALLED
    answer = Swept(found.force, status, found.solves, found.history, found.routes)
    if found.locked is None:
        return answer
    pressed = found.locked[:, 0]
    hardest = np.argsort(-pressed, kind="stable")[: int((pressed > LOCKED).sum())]
    answer, still = replace(answer, locked=hardest), np.zeros_like(problem.offset)
    still[:, 0] = np.maximum(problem.offset[:, 0], 0.0)  # nothing is driven
    for offset in (still,) if kept is None else (kept, still):
        let_be, before = solve(offset, start), answer
        answer = replace(answer, iterations=answer.iterations + let_be.solves)
        if let_be.converged:
            routes = (*before.routes, "overlaps kept", *let_be.routes)
            return replace(answer, force=let_be.force, status=Status.JAMMED, routes=routes)
    return answer


def _rigid(problem: RoughProblem, offset, start, *, tolerance):
    """``rigid_contacts`` of the problem with that offset (m, d)."""
    data, dt = problem.data, problem.data.dt
    arm = np.maximum(column_arms(data.B)[0], np.finfo(float).tiny)
    columns, arms = sp.diags_array(1.0 / arm), sp.diags_array(arm)
    mass, inverse = data.mass, data.inverse_mass
    scaled_mass = sp.csr_array(columns @ mass @ columns / dt)
    mechanics = between_bodies(
        submatrix(data.B, scale=1.0 / arm),
        (mass @ data.free_velocity) / arm / dt,
        start.shape[1],
        inertia=Inertia(
            scaled_mass,
            sp.csr_array(arms @ inverse @ arms * dt),
            submatrix(data.response, scale=arm),
        ),
        offset=offset,
        unit=problem.scale / np.maximum(inverse.diagonal() * arm**2 * dt, np.finfo(float).tiny),
    )
    return rigid_contacts(
        mechanics,
        problem.friction,
        problem.rho,
        scale=problem.scale,
        tolerance=tolerance,
        force=start,
        M=lambda: scaled_mass,
    )
