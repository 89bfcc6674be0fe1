"""One time step: Algorithm 1 of the paper, one line an arrow.

Departures. Contacts are those that may close within the step; if a body turns out to move further
than was searched, the search is widened, and the step solved again if that finds contacts that
would close. Bodies that rebound do so in the step in which they would meet. Step 2 takes only
contacts that are closed at the end of the step: a contact that stays open may not carry load,
although it could help to balance F~. Its balance leaves out what closed contacts hardly push along,
as a roller along two races that are opposite but for 1e-10 (``forces/tilts.py``). Spinning bodies
with unequal inertias precess (``bodies/motion.py``).
"""

from dataclasses import dataclass, replace

import numpy as np

from .bodies import Bodies, State
from .bodies.mass import mass_matrix
from .bodies.motion import move
from .collision.contacts import Contacts
from .collision.search import find_contacts
from .constraints import gap_gradient
from .display import Displayed
from .dynamics import ContactDynamicsResult, contact_dynamics
from .forces import CompatibleForces, compatible_forces
from .forces.closed import CLOSED, closing_gap
from .forces.law import contact_stiffness
from .forces.tilts import felt_together, known_balance
from .network.handover import Handover
from .status import Status
from .submatrix import submatrix
from .words import counted


@dataclass(frozen=True)
class StepSettings:
    """What a step needs besides the bodies and their state.

    dt [s]. exponent: p of the contact law. pair_stiffness: {(i, j): k}. restitution: e_n.
    solver, solver_options: for step 1. tolerance: of both steps. closed: gap up to which a contact
    counts as closed, over the scene's reference length ``bodies.length``; None: told from the step,
    at most 1e-6 (``forces/closed.py``).
    """

    dt: float
    exponent: float = 2.0
    pair_stiffness: dict | None = None
    restitution: float = 0.0
    solver: str = "newton"
    solver_options: dict | None = None
    tolerance: float = 1e-10
    closed: float | None = None


@dataclass(frozen=True)
class WarmStart:
    """What one step hands to the next: forces by contact, displacement by degree of freedom."""

    contacts: Contacts
    force: np.ndarray
    displacement: np.ndarray


@dataclass(frozen=True, repr=False)
class StepResult(Displayed):
    """One step. m contacts; forces [N] push contacts.body[:, 1] along +normal.

    state: at the end of the step; contacts: as found at its start. classic: step 1. compatible:
    step 2 on the ``closed`` contacts, or None where not asked for; its residual and imbalance are
    of ``balance``. load (6 n,): F~, eq. 37.
    bodies: whose contacts these are, for pictures. together: whether step 2 left out motions of all
    bodies together.
    """

    state: State
    contacts: Contacts
    B: object
    load: np.ndarray
    stiffness: np.ndarray
    closed: np.ndarray
    classic: ContactDynamicsResult
    compatible: CompatibleForces | None
    dt: float
    bodies: Bodies | None = None
    together: bool = False

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def force(self) -> np.ndarray:
        """Contact forces (m,) [N]: compatible ones if computed, else the classic ones."""
        if self.compatible is None:
            return self.classic.force
        force = np.zeros(len(self.contacts))
        force[self.closed] = self.compatible.force
        return force

    @property
    def balance(self) -> tuple:
        """(B, load) of the closed contacts as step 2 is asked for them: F~, less what hardly tells
        (``forces/tilts.py``)."""
        chosen = np.flatnonzero(self.closed)
        B = submatrix(self.B, rows=chosen)
        if self.bodies is None:
            return B, self.load
        asked = felt_together if self.together else known_balance
        return asked(self.bodies, B, self.load, self.classic.force[chosen])

    @property
    def impulse(self) -> np.ndarray:
        """Contact impulses f dt of the step, (m,) [N s]."""
        return self.force * self.dt

    @property
    def end_gap(self) -> np.ndarray:
        """Gap at the end of the step to first order, (m,) [m], eq. 15."""
        return self.contacts.gap + self.dt * (self.B @ self.classic.velocity)

    @property
    def converged(self) -> bool:
        return self.classic.converged and (self.compatible is None or self.compatible.converged)

    @property
    def residual(self) -> float:
        """The larger residual of the two steps."""
        second = 0.0 if self.compatible is None else self.compatible.residual
        return max(self.classic.residual, second)

    @property
    def summary(self) -> str:
        """One line for a progress display."""
        return (
            f"t = {self.time:.4g} s, {counted(len(self.contacts), 'contact')}, "
            f"{counted(self.classic.iterations, 'iteration')}, residual {self.residual:.0e}"
        )

    @property
    def message(self) -> str:
        parts = [self.classic.message]
        if self.compatible is not None:
            parts.append(self.compatible.message)
        return "; ".join(parts)


def step(
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    settings: StepSettings,
    warm: WarmStart | None = None,
    compatible: bool = True,
) -> StepResult:
    """Algorithm 1: from the state at t to the state and the contact forces at t + dt."""
    dt = settings.dt
    F_ext = external_force
    M = mass_matrix(bodies, state)

    # Step 1: classic contact dynamics
    reach = _first_reach(bodies, state, external_force, dt)
    contacts = find_contacts(bodies, state, reach)  # Phi(q)
    before = None if warm is None else contacts.carry_over(warm.contacts, warm.force)
    while True:
        handover = Handover()
        B = gap_gradient(bodies, state, contacts)  # B = dPhi/dq
        kept = handover if compatible else None
        classic = _solved(M, B, contacts, state, F_ext, settings, bodies, before, kept)  # eqs 20-22
        moved = _travel(bodies, classic.velocity.reshape(-1, 6), dt)
        if (moved <= reach * (1 + 1e-9)).all():
            break
        reach = np.maximum(reach, 1.2 * moved)
        wider = find_contacts(bodies, state, reach)
        if not _closes_more(bodies, state, wider, contacts, classic.velocity, dt):
            break
        contacts, before = wider, wider.carry_over(contacts, classic.force)
    v_new = classic.velocity
    new_state = move(bodies, state, v_new.reshape(-1, 6), dt)  # eq. 13

    # Step 2: compatible forces
    stiffness = contact_stiffness(bodies, contacts, settings.exponent, settings.pair_stiffness)
    gap = classic.slack * dt
    if settings.closed is None:
        closed = gap <= closing_gap(gap, classic.force, bodies.length)
    else:
        closed = gap <= settings.closed * bodies.length
    # F~ = M (v+ - v)/dt - F_ext, eq. 37, written as the B^T f it equals: no cancellation
    load = np.where(bodies.free.ravel(), B.T @ np.where(closed, classic.force, 0.0), 0.0)
    found = StepResult(new_state, contacts, B, load, stiffness, closed, classic, None, dt, bodies)
    return with_compatible(found, settings, warm, handover) if compatible else found


def with_compatible(
    found: StepResult,
    settings: StepSettings,
    warm: WarmStart | None = None,
    handover: Handover | None = None,
) -> StepResult:
    """Step 2 of a step of which step 1 is found: the same with compatible forces."""
    bodies, chosen = found.bodies, np.flatnonzero(found.closed)
    B, force = submatrix(found.B, rows=chosen), found.classic.force[chosen]
    given = None if handover is None else handover.among(rows=chosen)

    def solve(balance):
        return compatible_forces(  # eq. 36
            *balance,
            stiffness=found.stiffness[chosen],
            exponent=settings.exponent,
            fixed=~bodies.free.ravel(),
            tolerance=settings.tolerance,
            warm_start=None if warm is None else warm.displacement,
            admissible=force,
            blocks=bodies.blocks,
            handover=given,
        )

    forces, together = solve(known_balance(bodies, B, found.load, force)), False
    if not forces.converged:
        wider = felt_together(bodies, B, found.load, force)
        other = forces if wider[0] is B else solve(wider)
        together = other.converged
        forces = other if together else forces
    return replace(found, compatible=forces, together=together)


def _solved(M, B, contacts, state, F_ext, settings, bodies, before, handover):
    """Classic contact dynamics. A jam by overlaps no larger than the gaps that count as closed, as
    of coordinates that were rounded when they were written down, is none: all that are as slight
    count as zero, also those that a motion could undo."""
    v, dt = state.velocity.ravel(), settings.dt

    def solve(gap):
        return contact_dynamics(
            M,
            B,
            gap,
            v,
            F_ext,
            dt,
            restitution=settings.restitution,
            exists=_formed(contacts, B, v, dt, settings, bodies),
            fixed=~bodies.free.ravel(),
            solver=settings.solver,
            tolerance=settings.tolerance,
            warm_start=before,
            handover=handover,
            **(settings.solver_options or {}),
        )

    gap, slight = contacts.gap, (settings.closed or CLOSED) * bodies.length
    classic = solve(gap)
    if classic.status is not Status.JAMMED or gap.min(initial=0.0) < -slight:
        return classic
    forgiven = solve(np.maximum(gap, 0.0))
    return forgiven if forgiven.converged else classic


def _formed(contacts, B, v, dt, settings, bodies):
    """Which contacts exist for the law of restitution, (m,) bool: those that are closed, and those
    that the step would close at its first velocity. Else these would be braked to the surface now,
    and rebound in the next step from what speed is left, which depends on where the step began."""
    closed = contacts.gap <= (settings.closed or CLOSED) * bodies.length
    return closed | (contacts.gap + dt * (B @ v) < 0) if settings.restitution > 0 else closed


def _travel(bodies: Bodies, velocity: np.ndarray, dt: float) -> np.ndarray:
    """Upper bound on how far any point of each body moves in dt, (n,) [m]."""
    spin = np.linalg.norm(velocity[:, 3:], axis=1)
    return dt * (np.linalg.norm(velocity[:, :3], axis=1) + spin * bodies.turning_arm[:, 3])


def _closes_more(bodies, state, wider, contacts, velocity, dt):
    """Whether a contact of ``wider`` that is not among ``contacts`` would close at ``velocity``."""
    new = np.flatnonzero(wider.carry_over(contacts, np.ones(len(contacts))) == 0.0)
    approach = gap_gradient(bodies, state, wider)[new] @ velocity
    return bool((wider.gap[new] + dt * approach < 0.0).any())


def _first_reach(bodies, state, external_force, dt):
    """Distance to search around each body: its travel at v + dt M^-1 F_ext, and a little more."""
    acceleration = np.zeros_like(state.velocity)
    mass = np.where(bodies.mass > 0, bodies.mass, np.inf)
    acceleration[:, :3] = external_force.reshape(-1, 6)[:, :3] / mass[:, None]
    moving = np.where(bodies.free, state.velocity + dt * acceleration, state.velocity)
    reach = 1.2 * _travel(bodies, moving, dt)
    return reach + np.where(np.isfinite(bodies.bounding_radius), 1e-3 * bodies.length, 0.0)
