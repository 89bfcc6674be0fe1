"""The step of rough bodies: motion and compatible forces together, by one implicit increment.

``increments/problem.py`` has the equations. Contacts remember their trial force, the normal one
too, turned with them; a contact whose gap grows beyond ``slop`` of what it remembers has moved
away, and follows its geometry.
"""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies
from ..collision.contacts import Contacts
from ..compatibility import ContactHistory, RoughForces
from ..compatibility.closed import closing_gap
from ..compatibility.friction import contact_friction, contact_tangential_stiffness
from ..compatibility.law import contact_stiffness
from ..compatibility.rough_result import AT_BOUND, HISTORY, UNLOADED
from ..dynamics.given import Given
from ..dynamics.rough import SLIDES
from ..equilibrium.rows import contact_rows
from ..increments import IncrementResult
from ..increments.problem import ContactSprings, Increment, prepare
from ..increments.solve import Solution, solve
from ..kinematics import in_frame, tangential_gradient
from .friction import Memory, rough_contacts
from .settings import Problem, StepSettings
from .velocities import Velocities, formed

if TYPE_CHECKING:
    from .result import StepResult

SPREAD = np.array([0.5773502691896258, 0.2113248654051871, 0.7886751345948129])
"""Sweeps go over contacts along this direction, which no lattice has: an order that does not depend
on the numbers of bodies."""


UNLIKE = 1e5
"""Ratio of weights above which one stiffness for all contacts, in parts of inertia, is lost in
rounding: steps are solved one after the other then, motion and forces."""


def applies(settings: StepSettings, bodies: Bodies) -> bool:
    """Whether bodies are rough, and motion and forces are found together: not by other solvers,
    in several increments of step 2, or where weights differ by more than ``UNLIKE``."""
    if not settings.friction.acts_on(bodies):
        return False
    mass = bodies.mass[bodies.free.any(axis=1)]
    alike = not len(mass) or mass.max() <= UNLIKE * mass.min()
    return settings.solver == "newton" and settings.friction.increments == 1 and bool(alike)


def advance(
    problem: Problem, contacts: Contacts, B: sp.csr_array, memory: Memory | None
) -> Velocities:
    """Motion and forces of the contacts. memory: of those of the step before."""
    bodies, settings = problem.bodies, problem.settings
    contacts, memory = rough_contacts(contacts, bodies, problem.state, memory, problem.dt)
    increment, rows, T, mu = prepared(problem, contacts, B, memory)
    s = 0.0 if memory is None else memory.stiffness
    found = solve(increment, s, settings.tolerance, settings.increment)
    apart = None
    if found.separation is not None:
        apart = of_all(increment, found.separation, len(problem.velocity))
    motion = _motion(problem, increment, found, rows, mu, memory, apart)
    closed = _closed(motion, settings, bodies)
    return Velocities(contacts, motion, closed, T=T, friction=mu, memory=memory, separation=apart)


def prepared(
    problem: Problem, contacts: Contacts, B: sp.csr_array, memory: Memory | None
) -> tuple[Increment, sp.csr_array, sp.csr_array, np.ndarray]:
    """(the increment, normal and tangential rows (m d, 6 n), the tangential ones, friction (m,)) of
    contacts with their memory."""
    bodies, settings = problem.bodies, problem.settings
    options = settings.friction
    T = tangential_gradient(bodies, problem.state, contacts)
    mu = contact_friction(bodies, contacts, options.pair_friction)
    k_n = contact_stiffness(bodies, contacts, settings.exponent, settings.pair_stiffness)
    k_t = contact_tangential_stiffness(bodies, contacts, k_n, settings.exponent, options.pair_ratio)
    history = None
    if memory is not None:
        history = ContactHistory(memory.normal, in_frame(contacts, memory.tangential))
    gap = _without_rounding(contacts, history, bodies, settings.closed)
    step = Given(
        problem.M,
        B,
        gap,
        problem.velocity,
        problem.external_force,
        problem.dt,
        settings.restitution,
        formed(problem, contacts, B),
        ~problem.free,
    )
    rows, d = contact_rows(B, T)
    increment = prepare(
        step,
        rows,
        d,
        ContactSprings(k_n, k_t, mu, settings.exponent, options.tangential_law),
        history,
        remembered=0.0 if memory is None else memory.spring_scale,
        overlap=settings.increment.overlap,
        size=_size(contacts, bodies),
        order=np.argsort(contacts.point @ SPREAD, kind="stable"),
    )
    return increment, rows, T, mu


def forces(found: "StepResult") -> RoughForces:
    """Compatible forces of the closed contacts: those that the increment found with the motion.
    They balance it exactly; the residual is that of the contact law."""
    motion, closed, memory = found.classic, found.closed, found.memory
    known = memory is not None and bool(memory.normal.any())
    n = len(motion.velocity)
    return RoughForces(
        force=motion.force[closed],
        displacement=np.zeros(n),
        status=motion.status,
        residual=motion.residual,
        iterations=motion.iterations,
        imbalance=np.zeros(n),
        worst_dof=0,
        duality_gap=float("nan"),
        force_error=float("nan"),
        tolerance=motion.tolerance,
        method="increment",
        factorizations=motion.factorizations,
        routes=motion.routes,
        tangential_force=motion.tangential_force[closed],
        sliding=motion.at_bound[closed],
        state=HISTORY if known else UNLOADED,
        history=ContactHistory(motion.trial[closed], motion.tangential_force[closed]),
        several=motion.several,
    )


def _without_rounding(contacts, history, bodies: Bodies, closed: float | None) -> np.ndarray:
    """Gaps (m,) [m], those that count as closed zero."""
    bore = np.zeros(len(contacts)) if history is None else np.maximum(history.normal, 0.0)
    slight = closing_gap(contacts.gap, bore, bodies.length)
    if closed is not None:
        slight = closed * bodies.length
    return np.where(np.abs(contacts.gap) <= slight, 0.0, contacts.gap)


def _size(contacts: Contacts, bodies: Bodies) -> np.ndarray:
    """Radius (m,) [m] of the smaller body of each contact."""
    return bodies.bounding_radius[contacts.body].min(axis=1)


def of_all(increment: Increment, free: np.ndarray, n: int) -> np.ndarray:
    """(n / 6, 6) of all n degrees of freedom: these of the free ones, zero of others."""
    out = np.zeros(n)
    out[increment.dofs] = free
    return out.reshape(-1, 6)


def _motion(
    problem: Problem,
    increment: Increment,
    found: Solution,
    rows: sp.csr_array,
    mu: np.ndarray,
    memory: Memory | None,
    apart: np.ndarray | None,
) -> IncrementResult:
    m, d = rows.shape[0] // increment.shape[1], increment.shape[1]
    force, trial, velocity = np.zeros((m, d)), np.zeros(m), problem.velocity.copy()
    moved = increment.moved
    force[moved], trial[moved], velocity[increment.dofs] = found.force, found.normal, found.velocity
    raised = 0.0 if apart is None else -float(problem.external_force @ apart.ravel())
    softer = found.begun - (0.0 if memory is None else memory.energy)
    u = (rows @ velocity).reshape(m, d)
    rebounds = 0.0
    if np.any(increment.step.restitution):
        before = (rows @ problem.velocity).reshape(m, d)
        by_contacts = 0.5 * problem.settings.dt * float((force * (u + before)).sum())
        rebounds = by_contacts + found.energy - found.begun
    bound = mu * force[:, 0]
    at_bound = np.linalg.norm(force[:, 1:], axis=1) >= (1.0 - AT_BOUND) * bound
    known = max(SLIDES, found.residual) * increment.scale  # a slip below the residual may be none
    slips = np.linalg.norm(u[:, 1:], axis=1) > known
    return IncrementResult(
        force=force[:, 0],
        velocity=velocity,
        slack=u[:, 0] + increment.step.bias(),
        status=found.status,
        residual=found.residual,
        iterations=found.sweeps + found.systems,
        solver=problem.settings.solver,
        tolerance=found.tolerance,
        factorizations=found.systems,
        routes=found.routes,
        tangential_force=force[:, 1:],
        tangential_velocity=u[:, 1:],
        sliding=(force[:, 0] > 0.0) & at_bound & slips,
        worst=int(moved[found.worst]) if len(moved) else 0,
        locked=None if found.locked is None else moved[found.locked],
        trial=trial,
        at_bound=(force[:, 0] > 0.0) & at_bound & (bound > 0.0),
        stiffness=found.s,
        spring_scale=found.spring_scale,
        sweeps=found.sweeps,
        elastic_energy=found.energy,
        several=found.several,
        energy_made=max(softer, 0.0) + max(raised, 0.0) + max(rebounds, 0.0),
    )


def _closed(motion: IncrementResult, settings: StepSettings, bodies: Bodies) -> np.ndarray:
    """Contacts that are active or closed at the end of the step, (m,) bool."""
    gap = motion.slack * settings.dt
    if settings.closed is None:
        limit = closing_gap(np.maximum(gap, 0.0), motion.force, bodies.length)
    else:
        limit = settings.closed * bodies.length
    return (gap <= limit) | (motion.force > 0.0)
