"""One time step: Algorithm 1 of the paper, one line an arrow.

Departures. Contacts are those that may close within the step; if a body turns out to move further
than was searched, the search is widened, and the step solved again if that finds contacts that
would close. Bodies that rebound do so in the step in which they would meet. Step 1 gets its last
digits where contacts hardly feel how a body moves (``conditioning/last_digits.py``). Step 2 takes
only contacts that are closed at the end of the step: a contact that stays open may not carry load,
although it could help to balance F~. Its balance leaves out what closed contacts push along next to
nothing, as a roller along two races that are opposite but for 1e-10 (``conditioning/one_body.py``).
Spinning bodies with unequal inertias precess (``bodies/motion.py``).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from . import rough_step
from ._support.display import Displayed
from ._support.products import transposed_product
from ._support.submatrix import submatrix
from ._support.words import counted, listed
from .bodies import Bodies, State
from .bodies.cell import volume_of
from .bodies.mass import mass_matrix
from .bodies.motion import move
from .collision.contacts import Contacts
from .collision.search import find_contacts
from .conditioning.closed_contacts import WARNED
from .conditioning.input_rounding import GAP, TILT, Rounded, rounding_tells
from .conditioning.last_digits import Known, refined
from .conditioning.light_bodies import light_bodies_balanced
from .conditioning.one_body import reduced_balance
from .conditioning.reduction import reduced_forces
from .conditioning.screening import WEAK
from .conditioning.several_bodies import HELD
from .conditioning.step_data import StepData
from .constraints import gap_gradient, in_world
from .diagnostics.degree import Degree, degree
from .doubtful import left_unbalanced
from .dynamics import ContactDynamicsResult, contact_dynamics
from .dynamics.driver import contact_bias
from .forces import CompatibleForces, compatible_forces
from .forces.bearing import bearing
from .forces.closed import CLOSED, closing_gap
from .forces.law import contact_stiffness
from .rough_step import Friction, Memory
from .status import Status
from .unrest import motion

SQUEEZED, EASED = 1e2, 1e-2
"""Largest force of step 1 over all loads and changes of momentum together, from which on it is seen
whether slight overlaps make it; and part of it that is left if they do."""

SELF_STRESS = 10.0
"""Largest force of step 1 over that of step 2 from which on the least multiplier is taken."""

PLACED = 1e-13
"""Overlap over the reference length that is rounding of places."""

LARGEST_STRAIN = 0.5
"""Strain of a periodic cell in a step, less 1, from which on the reach of its bodies is no longer
enough: the search is widened."""

SLENDER, SHALLOW = 20.0, 0.01
"""Second order of an overlap d, over d^2 and one over a body's radius: of a brick three times as
long as wide; and the part of it that stays at most."""

TIGHT = 1e-3
"""Part of the tolerance to which step 1 is solved where motions that contacts hardly resist leave
forces open at the tolerance: near rounding."""

FEW = 300
"""Closed contacts up to which ``StepResult.message`` computes the degree of indeterminacy: two
ranks, of some milliseconds."""


@dataclass(frozen=True)
class StepSettings:
    """What a step needs besides the bodies and their state.

    dt [s]. exponent: p of the contact law. pair_stiffness: {(i, j): k}. restitution: e_n. solver,
    solver_options: for step 1. tolerance: of both steps. closed: gap up to which a contact counts
    as closed, over the scene's reference length ``bodies.length``; None: told from the step, at
    most 1e-6 (``forces/closed.py``). friction: how contacts rub beside what materials say.
    """

    dt: float
    exponent: float = 2.0
    pair_stiffness: dict | None = None
    restitution: float = 0.0
    solver: str = "newton"
    solver_options: dict | None = None
    tolerance: float = 1e-10
    closed: float | None = None
    friction: Friction = field(default_factory=Friction)


@dataclass(frozen=True)
class WarmStart:
    """What one step hands to the next: forces by contact, displacement by degree of freedom.

    memory: what rough contacts remember, None without friction.
    """

    contacts: Contacts
    force: np.ndarray
    displacement: np.ndarray
    memory: Memory | None = None


@dataclass(frozen=True, repr=False)
class StepResult(Displayed):
    """One step. m contacts; forces [N] push contacts.body[:, 1] along +normal.

    state: at the end of the step; contacts: as found at its start. classic: step 1. compatible:
    step 2 on the ``closed`` contacts, or None where not asked for; its residual and imbalance are
    of ``balance``. load (6 n,): F~, eq. 37. bodies: whose contacts these are, for pictures. begun:
    the pose that the simulation began with. overlapping: that the forces undo overlaps which bodies
    had (``doubtful.py``), or "". together: how step 2 left out motions of all bodies together
    (``conditioning/several_bodies.py``), "" if it did not; settled: whether the forces are known to
    be those with them all the same. open (n,) [N]: how far last digits of
    data leave the forces on each body open where contacts hardly resist a motion; 0 where that is
    next to nothing (``conditioning/last_digits.py``). left_out (m,) bool: contacts that are closed
    and cannot bear, not among ``closed``; hangs (n,) bool: bodies whose forces hang on tilts next
    to nothing all the same (``conditioning/idle_contacts.py``). rounded: how far forces hang on
    what coordinates do not tell that were rounded when they were written down
    (``conditioning/input_rounding.py``), None if they were not. reduced: ``balance`` as step 2 was
    asked for it, None before. T: rows of the tangential motion ((d - 1) m, 6 n) where contacts rub,
    else None; friction (m,): mu of these contacts. memory: what rough contacts remembered when the
    step began.
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
    together: str = ""
    settled: bool = False
    open: np.ndarray | None = None
    left_out: np.ndarray | None = None
    hangs: np.ndarray | None = None
    rounded: Rounded | None = None
    begun: State | None = None
    reduced: tuple | None = None
    overlapping: str = ""
    T: object | None = None
    friction: np.ndarray | None = None
    memory: Memory | None = None

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
    def tangential_force(self) -> np.ndarray:
        """Tangential forces (m, d - 1) [N] on contacts.body[:, 1], along ``contacts.tangents``;
        zero without friction."""
        if self.T is None:
            dim = 3 if self.bodies is None else self.bodies.dim
            return np.zeros((len(self.contacts), dim - 1))
        if self.compatible is None:
            return self.classic.tangential_force
        force = np.zeros(self.classic.tangential_force.shape)
        if self.closed.any():
            force[self.closed] = self.compatible.tangential_force
        return force

    @property
    def force_vectors(self) -> np.ndarray:
        """Contact forces (m, 3) [N] on contacts.body[:, 1], in the world frame."""
        normal = self.force[:, None] * self.contacts.normal
        if self.T is None:
            return normal
        return normal + in_world(self.contacts, self.tangential_force)

    @property
    def pushed(self) -> np.ndarray:
        """Generalized forces of all contacts, B^T f_n + T^T f_t, (6 n,) [N, N m]."""
        pushed = transposed_product(self.B, self.force)
        if self.T is not None:
            pushed = pushed + transposed_product(self.T, self.tangential_force.ravel())
        return pushed

    @property
    def sliding(self) -> np.ndarray:
        """Contacts that bear mu f_n along their tangents, (m,) bool; none without friction."""
        sliding = np.zeros(len(self.contacts), bool)
        if self.T is not None and self.compatible is not None:
            sliding[self.closed] = self.compatible.sliding
        elif self.T is not None:
            sliding = self.classic.sliding
        return sliding

    @property
    def balance(self) -> tuple:
        """(B, load) of the closed contacts as step 2 is asked for them: F~, less what hardly tells
        (``conditioning/one_body.py``)."""
        if self.reduced is not None:
            return self.reduced
        chosen = np.flatnonzero(self.closed)
        B = submatrix(self.B, rows=chosen)
        if self.bodies is None or self.T is not None:
            return B, self.load
        return reduced_balance(self.bodies, B, self.load, self.classic.force[chosen])

    @property
    def stress(self) -> np.ndarray | None:
        """Stress of the contacts on the periodic cell, (dim, dim) [Pa; N/m in 2D], pressure
        positive: sum of d f^T over the volume where the step began; None without a cell."""
        branch = self.contacts.branch
        if branch is None:
            return None
        strain = self.dt * self.bodies.velocity_gradient(self.classic.velocity.reshape(-1, 6))
        volume = volume_of(self.state.cell) / np.linalg.det(np.eye(3) + strain)
        dim = self.bodies.dim
        return np.einsum("mi,mj->ij", branch, self.force_vectors)[:dim, :dim] / volume

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
        moving = ""
        if self.bodies is not None and (told := self.motion):
            moving = f"not at rest: {told}"
        return "; ".join(filter(None, [*parts, moving, self.indeterminacy(), self.doubt]))

    @property
    def motion(self) -> str:
        """Who moves at the end of the step, how fast, and how far from the pose ``begun``; ""."""
        return motion(self.bodies, self.begun, self.state, self.dt)

    def indeterminacy(self, most: int = FEW) -> str:
        """What is said of the ``degree``, which is not computed beyond ``most`` contacts."""
        if self.bodies is None or not (self.converged and self.force.any()):
            return ""
        count = int(self.closed.sum())
        if count > most:
            what = counted(count, "closed contact")
            return f"degree of indeterminacy not computed for {what} (rigidlimit.determinacy does)"
        return str(self.degree)

    @cached_property
    def degree(self) -> Degree:
        """Degree of indeterminacy of the closed contacts, computed when first asked for; with
        friction that of all components, contacts that slide in step 1 known to slide."""
        if self.T is not None:
            return rough_step.degree(self)
        loaded = bearing(self.force) | bearing(self.classic.force)
        return degree(
            self.balance[0],
            loaded[self.closed],
            free=self.bodies.free.ravel(),
            blocks=self.bodies.blocks,
        )

    @property
    def open_forces(self) -> bool:
        """Whether forces are ``open`` by a thousandth of the largest or more, by what step 1 leaves
        at its tolerance or by last digits."""
        return self.open is not None and bool(self.open.max(initial=0.0) > self._least_told)

    @property
    def _least_told(self) -> float:
        return WARNED * max(self.force.max(initial=0.0), self.classic.force.max(initial=0.0))

    @property
    def doubt(self) -> str:
        """Which forces are open though solved, by a thousandth of the largest or more; or ""."""
        if self.open is None or self.bodies is None:
            return self.overlapping
        names = self.bodies.names
        least = self._least_told
        worst = np.flatnonzero((self.open > least) & self.bodies.free.any(axis=1))
        parts = [told for told in (self.overlapping, left_unbalanced(self.bodies, self)) if told]
        if len(worst):
            worst = worst[np.argsort(-self.open[worst], kind="stable")]
            parts.append(
                f"forces on {listed([names[i] for i in worst])} are open by some "
                f"{self.open[worst[0]]:.2g} N: their contacts push from opposite sides but for a "
                "slight tilt, and last digits of places and loads decide how hard"
            )
        # tilts of places that were never written down are known to their last digits: see above
        known = self.hangs is None or self.bodies.written is None
        hanging = () if known else np.flatnonzero(self.hangs)
        if len(hanging):
            parts.append(
                f"forces on {listed([names[i] for i in hanging])} hang on tilts of their contacts "
                f"below {WEAK:g}, as rounded coordinates have: write down more digits, or leave "
                "out contacts that touch by chance"
            )
        if self.rounded is not None:
            parts += _of_rounding(self.rounded, least, self.bodies)
        if self.together == HELD and not self.settled:
            parts.append(
                "motions of several bodies together that their contacts push along by less than "
                f"{WEAK:g} of their forces are left out, as of bricks that lean on one another: "
                "forces there may change with the last digits of places"
            )
        return "; ".join(parts)


def _of_rounding(rounded: Rounded, least: float, bodies: Bodies) -> list[str]:
    """What is told of forces that change by more than ``least`` [N] with rounding of places."""
    change, hangs, digit = rounded
    changed = np.flatnonzero((change > least) | hangs)
    if not len(changed):
        return []
    changed = changed[np.argsort(-change[changed], kind="stable")]
    much = f"by {change.max():.2g} N " if change.max() > least else ""
    return [
        f"forces on {listed([bodies.names[i] for i in changed])} change {much}if coordinates, all "
        f"multiples of {digit:.0e} m, were rounded: gaps up to {GAP * digit:.0e} m and tilts up to "
        f"{TILT * digit / bodies.length:.0e} tell nothing then; write down more digits, or give "
        "closed=, the gap over the scene's length up to which contacts may bear"
    ]


def step(
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    settings: StepSettings,
    warm: WarmStart | None = None,
    compatible: bool = True,
    watch: Callable[[Contacts, np.ndarray], object] | None = None,
) -> StepResult:
    """Algorithm 1: from the state at t to the state and the contact forces at t + dt.

    watch(contacts, way (n,) [m]): sees the contacts before they are solved, and at the end of the
    step, with how far each body goes in it, as far as that is known.

    Motions that contacts hardly resist make much of what the tolerance of step 1 leaves. Where that
    leaves forces open, the step is made again with step 1 solved further.
    """
    found = _step(bodies, state, external_force, settings, warm, compatible, watch)
    further = TIGHT * settings.tolerance
    if not (found.converged and found.open_forces and found.classic.residual > further):
        return found
    displacement = np.zeros(6 * len(bodies))
    if found.compatible is not None:
        displacement = found.compatible.displacement
    again = WarmStart(found.contacts, found.classic.force, displacement)
    newton = replace(settings, solver="newton", solver_options=None)
    tight = _step(bodies, state, external_force, newton, again, compatible, tolerance=further)
    steps = found.classic.iterations + tight.classic.iterations
    stands = tight.classic.residual <= settings.tolerance
    stands &= tight.compatible is None or tight.compatible.converged
    if not stands or tight.open.max() >= found.open.max():
        return found
    told = dict(tolerance=settings.tolerance, status=Status.CONVERGED, iterations=steps)
    return replace(tight, classic=replace(tight.classic, solver=settings.solver, **told))


def _step(
    bodies, state, external_force, settings, warm, compatible, watch=None, tolerance=None
) -> StepResult:
    """``step`` with step 1 solved to ``tolerance``, by default that of both steps."""
    dt = settings.dt
    F_ext = external_force
    M = mass_matrix(bodies, state)

    # Step 1: classic contact dynamics
    reach = _first_reach(bodies, state, external_force, dt)
    rough = settings.friction.acts_on(bodies)
    memory = None if warm is None else warm.memory
    contacts = find_contacts(bodies, state, reach)  # Phi(q)
    before = None if warm is None else contacts.carry_over(warm.contacts, warm.force)
    moved = _travel(bodies, state.velocity, dt)
    while True:
        if watch is not None:
            watch(contacts, moved)
        B = gap_gradient(bodies, state, contacts)  # B = dPhi/dq
        # eqs 20-22
        known, T, mu = None, None, None
        if rough:
            contacts, carried = rough_step.rough_contacts(contacts, bodies, state, memory, dt)
            exists = _formed(contacts, B, state.velocity.ravel(), dt, settings, bodies)
            data = M, B, contacts, state, F_ext, settings, bodies, carried, exists
            classic, T, mu = rough_step.dynamics(*data)
            closed = _closed(classic, dt, settings, bodies)
        else:
            data = M, B, contacts, state, F_ext, settings, bodies
            known, closed = _solved(*data, before, tolerance)
            classic = known.classic
        moved = _travel(bodies, classic.velocity.reshape(-1, 6), dt)
        if (moved <= reach * (1 + 1e-9)).all():
            break
        reach = np.maximum(reach, 1.2 * moved)
        wider = find_contacts(bodies, state, reach)
        if not _closes_more(bodies, state, wider, contacts, classic.velocity, dt):
            break
        contacts, before = wider, wider.carry_over(contacts, classic.force)
    if watch is not None:
        watch(contacts, moved)
    v_new = classic.velocity
    new_state = move(bodies, state, v_new.reshape(-1, 6), dt)  # eq. 13

    # Step 2: compatible forces
    stiffness = contact_stiffness(bodies, contacts, settings.exponent, settings.pair_stiffness)
    # F~ = M (v+ - v)/dt - F_ext, eq. 37, written as the B^T f it equals: no cancellation
    if rough:
        load = rough_step.load_of(B, T, closed, classic, bodies)
        found = StepResult(
            new_state, contacts, B, load, stiffness, closed, classic, None, dt, bodies, T=T
        )
        found = replace(found, friction=mu, memory=carried)
        return with_compatible(found, settings) if compatible else found
    load = np.where(
        bodies.free.ravel(), transposed_product(B, np.where(closed, classic.force, 0.0)), 0.0
    )
    found = StepResult(
        new_state, contacts, B, load, stiffness, closed, classic, None, dt, bodies, open=known.open
    )
    return with_compatible(found, settings, warm, known) if compatible else found


def with_compatible(
    found: StepResult,
    settings: StepSettings,
    warm: WarmStart | None = None,
    known: Known | None = None,
) -> StepResult:
    """Step 2 of a step of which step 1 is found: the same with compatible forces.

    known: of step 1 (``conditioning/last_digits.py``).
    """
    if found.T is not None:
        return replace(found, compatible=rough_step.compatible(found, settings, found.memory))
    done = _of_least_size(_compatible(found, settings, warm, known), settings)
    if settings.closed is not None or found.bodies.written is None or not done.converged:
        return done
    return replace(done, rounded=_rounded(found, done, settings))


def _of_least_size(done, settings):
    """Step 1 with the multiplier of least size, where its own is beyond what the balance needs.

    Bodies that just fit between others, as a row of balls from wall to wall, may press on one
    another with any force, and a solver keeps what it began with. v+ and B^T f stay as they are.
    """
    force, needed = done.classic.force, done.force.max(initial=0.0)
    if not done.converged or not 0.0 < SELF_STRESS * needed < force.max(initial=0.0):
        return done
    chosen = np.flatnonzero(done.closed)
    even = replace(done, stiffness=np.ones(len(force)))
    least = _forces(even, replace(settings, exponent=2.0), chosen, done.balance)
    if not least.converged:
        return done
    size = np.zeros(len(force))
    size[chosen] = least.force
    return replace(done, classic=replace(done.classic, force=size))


def _compatible(found, settings, warm, known):
    """``found`` with the compatible forces of its closed contacts."""
    bodies, chosen = found.bodies, np.flatnonzero(found.closed)
    B, force = submatrix(found.B, rows=chosen), found.classic.force[chosen]

    def solve(balance):
        start = None if warm is None else warm.displacement
        forces = _forces(found, settings, chosen, balance, warm_start=start)
        law = found.stiffness[chosen], settings.exponent, settings.tolerance
        return light_bodies_balanced(balance, forces, bodies.free.ravel(), law)

    balance = None if known is None else known.balance(chosen)
    answer = reduced_forces(solve, bodies, B, found.load, force, balance)
    forces, resting = answer.forces, answer.resting
    kept, left_out = np.flatnonzero(~resting), np.zeros(len(found.closed), bool)
    left_out[chosen] = resting
    leaves_open = found.open
    if known is not None and answer.far.any():
        leaves_open = known.opened(chosen[kept], np.flatnonzero(answer.far))
    return replace(
        found,
        closed=found.closed & ~left_out,
        reduced=(submatrix(answer.balance[0], rows=kept), answer.balance[1]),
        compatible=replace(forces, force=forces.force[~resting]) if resting.any() else forces,
        together=answer.together,
        settled=answer.settled,
        left_out=left_out,
        hangs=answer.hangs,
        open=leaves_open,
    )


def _rounded(found, done, settings):
    """What rounding of written coordinates tells of the forces of ``done``."""

    return rounding_tells(
        found.bodies,
        found.state,
        found.contacts,
        found.end_gap,
        found.B,
        found.closed,
        found.classic.force,
        (done.force, done.compatible.displacement),
        done.balance,
        partial(_forces, found, settings),
    )


def _forces(found, settings, rows, balance, **known):
    """Compatible forces of the contacts ``rows`` (k,), which bear the ``balance`` (B, load)."""
    return compatible_forces(  # eq. 36
        *balance,
        stiffness=found.stiffness[rows],
        exponent=settings.exponent,
        fixed=~found.bodies.free.ravel(),
        tolerance=settings.tolerance,
        admissible=found.classic.force[rows],
        blocks=found.bodies.blocks,
        **known,
    )


def _solved(M, B, contacts, state, F_ext, settings, bodies, before, tolerance=None):
    """(classic contact dynamics to its last digits, which contacts are closed by it)."""
    v, dt = state.velocity.ravel(), settings.dt
    free = bodies.free.ravel()
    law = settings.restitution, _formed(contacts, B, v, dt, settings, bodies)

    def solve(gap):
        return contact_dynamics(
            M,
            B,
            gap,
            v,
            F_ext,
            dt,
            restitution=law[0],
            exists=law[1],
            fixed=~free,
            solver=settings.solver,
            tolerance=tolerance or settings.tolerance,
            warm_start=before,
            **(settings.solver_options or {}),
        )

    classic, gap = _forgiving(solve, M, contacts, v, F_ext, settings, bodies)
    bias = contact_bias(B, gap, v, dt, *law)
    # places are known to their last digit, gaps of zero are meant (``collision/search.py``)
    away = np.abs(contacts.point).max(axis=1, initial=0.0)
    closed = _closed(classic, dt, settings, bodies)
    blur = np.where(gap == 0.0, 0.0, np.finfo(float).eps * away / dt)
    data = StepData(M, B, bias, v, F_ext, dt, bodies, blur)
    known = refined(data, classic, closed)
    if known.classic is not classic:  # last digits may close a contact, or open one
        closed = _closed(known.classic, dt, settings, bodies)
    return known, closed


def _forgiving(solve, M, contacts, v, F_ext, settings, bodies):
    """(answer, gaps (m,) [m] it was asked for) of ``solve``, a function of gaps. Where overlaps
    cannot all be undone, so much of them stays as a step does not know anyway (``_unknown``): those
    as of coordinates that were rounded when they were written down count as zero, also where a
    motion could undo them."""
    gap, dt = contacts.gap, settings.dt
    classic = solve(gap)
    deepest, slight = -gap.min(initial=0.0), (settings.closed or CLOSED) * bodies.length
    # overlaps of rounded places, as in a wall that just fits between two abutments
    squeezed = 0.0 < deepest <= slight and bool(
        classic.force.max() > SQUEEZED * _pushes(M, bodies, v, F_ext, dt, deepest / dt)
    )
    jammed = squeezed or classic.status is Status.JAMMED
    if jammed or (classic.status is Status.STALLED and deepest > 0.0):
        unknown = _unknown(contacts, bodies, settings, jammed)
        allowed = np.maximum(gap, np.minimum(gap + unknown, 0.0))
        forgiven = solve(allowed)
        eased = forgiven.force.max(initial=0.0) < EASED * classic.force.max(initial=0.0)
        if forgiven.converged and (eased or not squeezed):
            return forgiven, allowed
    return classic, gap


def _pushes(M, bodies, v, F_ext, dt, opening) -> float:
    """Forces [N] that loads, motions v (6 n,) and an ``opening`` of contacts [m/s] ask for in one
    step, all together: of what may move and moves contacts, moments as forces on the farthest
    points."""
    arm = np.where(bodies.free, bodies.turning_arm, 0.0).ravel()
    per_arm = np.divide(1.0, arm, where=arm > 0.0, out=np.zeros(len(arm)))
    pushed = np.abs(F_ext) + np.abs(M @ (np.abs(v) + opening * per_arm)) / dt
    return float(pushed @ per_arm)


def _unknown(contacts, bodies, settings, jammed):
    """Overlap of each contact that may stay where not all can be undone, (m,) [m]: in a jam the
    gaps that count as closed, and second order of the overlaps of its bodies, some d^2 over the
    smaller one's radius, which gaps along a motion are known to. A brick that leans between two
    walls as far apart as it is long has to shorten by that before it can turn back."""
    overlap = np.maximum(-contacts.gap, 0.0)
    deepest = np.zeros(len(bodies))
    np.maximum.at(deepest, contacts.body, overlap[:, None])
    depth = deepest[contacts.body].max(axis=1)
    radius = bodies.bounding_radius[contacts.body].min(axis=1)
    part = np.minimum(SLENDER * depth / radius, SHALLOW)
    least = (settings.closed or CLOSED) if jammed else PLACED
    return np.maximum(least * bodies.length, part * depth)


def _closed(classic, dt, settings, bodies):
    """Which contacts are closed at the end of the step, (m,) bool."""
    gap = classic.slack * dt
    if settings.closed is None:
        return gap <= closing_gap(gap, classic.force, bodies.length)
    return gap <= settings.closed * bodies.length


def _formed(contacts, B, v, dt, settings, bodies):
    """Which contacts exist for the law of restitution, (m,) bool: those that are closed, and those
    that the step would close at its first velocity. Else these would be braked to the surface now,
    and rebound in the next step from what speed is left, which depends on where the step began."""
    closed = contacts.gap <= (settings.closed or CLOSED) * bodies.length
    return closed | (contacts.gap + dt * (B @ v) < 0) if settings.restitution > 0 else closed


def _travel(bodies: Bodies, velocity: np.ndarray, dt: float) -> np.ndarray:
    """Upper bound on how far any point of each body moves in dt, (n,) [m]; in a periodic cell
    towards others, the affine motion of bodies that may touch among it."""
    spin = np.linalg.norm(velocity[:, 3:], axis=1)
    way = dt * (np.linalg.norm(velocity[:, :3], axis=1) + spin * bodies.turning_arm[:, 3])
    if bodies.cell is None:
        return way
    strain = dt * float(np.linalg.norm(bodies.velocity_gradient(velocity)))
    radius = np.where(np.isfinite(bodies.bounding_radius), bodies.bounding_radius, 0.0)
    # way + strain (gap + radii) >= gap, the distance at which two bodies may still meet
    way = (way + strain * radius) / max(1.0 - strain, LARGEST_STRAIN)
    way[-1] = 0.0
    return way


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
    if bodies.cell is not None:  # contacts hold its stress: over a long step it falls much further
        moving[-1] = state.velocity[-1]
    reach = 1.2 * _travel(bodies, moving, dt)
    return reach + np.where(np.isfinite(bodies.bounding_radius), 1e-3 * bodies.length, 0.0)
