"""Step 1 of a time step: contact dynamics of the contacts found, and which are closed by it.

Without friction it is refined along weakly constrained motions
(``conditioning/last_digits.py``). Overlaps that cannot all be undone stay as far as a step does not
know them anyway: see ``_with_overlaps``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from .._support.products import transposed_product
from ..bodies import Bodies
from ..collision.contacts import Contacts
from ..compatibility.closed import CLOSED, closing_gap
from ..conditioning.last_digits import RefinedStep, refined
from ..conditioning.step_data import StepData
from ..dynamics import ContactDynamicsResult, contact_dynamics
from ..dynamics.given import contact_bias
from ..status import Status
from . import friction
from .friction import Memory
from .settings import Problem, StepSettings


@dataclass(frozen=True)
class Settings:
    """When overlaps of bodies are left as they are.

    squeezed: largest force over all loads and changes of momentum together, above which it is
    checked whether slight overlaps cause it. eased: remaining part of that force if they do.
    rounding: overlap over the reference length that is rounding of positions. second_order: that
    part of an overlap d, over d^2 and one over a body's radius, of a brick three times as long as
    wide; largest_part: the largest part of d that stays for it.
    """

    squeezed: float = 1e2
    eased: float = 1e-2
    rounding: float = 1e-13
    second_order: float = 20.0
    largest_part: float = 0.01


SETTINGS = Settings()


@dataclass(frozen=True)
class Velocities:
    """Step 1 of m contacts: its answer, and which contacts are closed by it (m,) bool.

    refined: its refinement, without friction. With friction T ((d-1) m, 6 n): the
    tangential gradient, friction (m,): mu, memory: history of the contacts. separation (n, 6) [m]:
    displacements that move bodies apart, beside those of the velocities, or None.
    """

    contacts: Contacts
    classic: ContactDynamicsResult
    closed: np.ndarray
    refined: RefinedStep | None = None
    T: sp.csr_array | None = None
    friction: np.ndarray | None = None
    memory: Memory | None = None
    separation: np.ndarray | None = None


def solve_rough(
    problem: Problem,
    contacts: Contacts,
    B: sp.csr_array,
    memory: Memory | None,
    fewer: Velocities | None = None,
) -> Velocities:
    """Step 1 with friction. B (m, 6 n). memory: of the contacts of the step before. fewer: the
    answer for the contacts of a search that fell short."""
    bodies, state = problem.bodies, problem.state
    contacts, own = friction.rough_contacts(contacts, bodies, state, memory, problem.dt)
    exists = formed(problem, contacts, B)
    start = None if fewer is None else (fewer.contacts, fewer.classic)
    classic, T, mu = friction.dynamics(problem, contacts, B, own, exists, start)
    closed = _closed(classic, problem.settings, bodies)
    return Velocities(contacts, classic, closed, T=T, friction=mu, memory=own)


def solve(
    problem: Problem, contacts: Contacts, B: sp.csr_array, start: np.ndarray | None
) -> Velocities:
    """Step 1 without friction, refined. B (m, 6 n). start (m,) [N]: forces of the step
    before."""
    bodies, settings, v, dt = problem.bodies, problem.settings, problem.velocity, problem.dt
    exists = formed(problem, contacts, B)

    def dynamics(gap: np.ndarray) -> ContactDynamicsResult:
        return contact_dynamics(
            problem.M,
            B,
            gap,
            v,
            problem.external_force,
            dt,
            restitution=settings.restitution,
            exists=exists,
            fixed=~problem.free,
            solver=settings.solver,
            tolerance=problem.first_tolerance,
            warm_start=start,
            **(settings.solver_options or {}),
        )

    classic, gap = _with_overlaps(dynamics, problem, contacts)
    bias = contact_bias(B, gap, v, dt, settings.restitution, exists)
    # positions are known to rounding, gaps of zero are intended (``collision/search.py``)
    away = np.abs(contacts.point).max(axis=1, initial=0.0)
    blur = np.where(gap == 0.0, 0.0, np.finfo(float).eps * away / dt)
    data = StepData(problem.M, B, bias, v, problem.external_force, dt, bodies, blur)
    is_closed = partial(_closed, settings=settings, bodies=bodies)
    closed = is_closed(classic)
    known = refined(data, classic, closed)
    if known.classic is not classic:  # the refinement may close a contact, or open one
        closed = is_closed(known.classic)
    return Velocities(contacts, known.classic, closed, refined=known)


def load(problem: Problem, B: sp.csr_array, first: Velocities) -> np.ndarray:
    """F~ = M (v+ - v)/dt - F_ext, eq. 37, (6 n,) [N, N m]: written as the forces of the closed
    contacts that it equals, without cancellation."""
    closed, classic = first.closed, first.classic
    pushed = transposed_product(B, np.where(closed, classic.force, 0.0))
    if first.T is not None:
        tangential = np.where(closed[:, None], classic.tangential_force, 0.0).ravel()
        pushed = pushed + transposed_product(first.T, tangential)
    return np.where(problem.free, pushed, 0.0)


def _with_overlaps(
    dynamics: Callable[[np.ndarray], ContactDynamicsResult], problem: Problem, contacts: Contacts
) -> tuple[ContactDynamicsResult, np.ndarray]:
    """(answer, gaps (m,) [m] it was computed for) of ``dynamics``, a function of gaps.

    Where overlaps cannot all be undone, so much of them stays as a step does not know anyway
    (``_unknown``). Those as of coordinates that were rounded when they were written down count as
    zero, also where a motion could undo them.
    """
    bodies, settings, gap = problem.bodies, problem.settings, contacts.gap
    classic = dynamics(gap)
    deepest, slight = -gap.min(initial=0.0), (settings.closed or CLOSED) * bodies.length
    # overlaps of rounded positions, as in a wall that just fits between two abutments
    squeezed = 0.0 < deepest <= slight and bool(
        classic.force.max() > SETTINGS.squeezed * _largest_push(problem, deepest / problem.dt)
    )
    jammed = squeezed or classic.status is Status.JAMMED
    if jammed or (classic.status is Status.STALLED and deepest > 0.0):
        unknown = _unknown(contacts, bodies, settings, jammed)
        allowed = np.maximum(gap, np.minimum(gap + unknown, 0.0))
        forgiven = dynamics(allowed)
        largest = classic.force.max(initial=0.0)
        eased = forgiven.force.max(initial=0.0) < SETTINGS.eased * largest
        if forgiven.converged and (eased or not squeezed):
            return forgiven, allowed
    return classic, gap


def _largest_push(problem: Problem, opening: float) -> float:
    """Forces [N] that loads, motions and an ``opening`` of contacts [m/s] need in one step, all
    together: of what may move and moves contacts, moments as forces on the farthest points."""
    bodies = problem.bodies
    arm = np.where(bodies.free, bodies.turning_arm, 0.0).ravel()
    per_arm = np.divide(1.0, arm, where=arm > 0.0, out=np.zeros(len(arm)))
    momentum = np.abs(problem.M @ (np.abs(problem.velocity) + opening * per_arm))
    return float((np.abs(problem.external_force) + momentum / problem.dt) @ per_arm)


def _unknown(
    contacts: Contacts, bodies: Bodies, settings: StepSettings, jammed: bool
) -> np.ndarray:
    """Overlap of each contact that may stay where not all can be undone, (m,) [m].

    In a jam the gaps that count as closed; and second order of the overlaps of its bodies, some
    d^2 over the smaller one's radius, which gaps along a motion are known to. A brick that leans
    between two walls as far apart as it is long has to shorten by that before it can turn back.
    """
    overlap = np.maximum(-contacts.gap, 0.0)
    deepest = np.zeros(len(bodies))
    np.maximum.at(deepest, contacts.body, overlap[:, None])
    depth = deepest[contacts.body].max(axis=1)
    radius = bodies.bounding_radius[contacts.body].min(axis=1)
    part = np.minimum(SETTINGS.second_order * depth / radius, SETTINGS.largest_part)
    least = (settings.closed or CLOSED) if jammed else SETTINGS.rounding
    return np.maximum(least * bodies.length, part * depth)


def _closed(classic: ContactDynamicsResult, settings: StepSettings, bodies: Bodies) -> np.ndarray:
    """Which contacts are closed at the end of the step, (m,) bool."""
    gap = classic.slack * settings.dt
    if settings.closed is None:
        return gap <= closing_gap(gap, classic.force, bodies.length)
    return gap <= settings.closed * bodies.length


def formed(problem: Problem, contacts: Contacts, B: sp.csr_array) -> np.ndarray:
    """Which contacts exist for the law of restitution, (m,) bool.

    Those that are closed, and those that the step would close at its first velocity. Else these
    would be braked to the surface now, and rebound in the next step from what speed is left, which
    depends on where the step began.
    """
    settings = problem.settings
    closed = contacts.gap <= (settings.closed or CLOSED) * problem.bodies.length
    if settings.restitution <= 0:
        return closed
    return closed | (contacts.gap + problem.dt * (B @ problem.velocity) < 0)
