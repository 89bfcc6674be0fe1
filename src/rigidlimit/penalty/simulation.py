"""The penalty method (DEM): the same scene with contacts of finite stiffness, in small time steps.

The reference that compatible forces are the limit of: as stiffness grows at fixed ratios, the rest
forces of this simulation tend to those of ``compatible_forces``, contact by contact.

Rest is reached when both hold, with the tolerance t of ``rest_tolerance``:
  unbalanced force: max_j |B^T f + F_ext|_j <= t max_A |F_ext,A|   (the heaviest load of a body)
  kinetic energy <= t^2 (elastic energy of all contacts)
The second is the first in terms of motion: an oscillation that changes forces by a fraction t holds
t^2 of the elastic energy. A scene without external forces is scaled by its largest contact force.

Smooth bodies that are not balls may slide or spin for ever under forces far below the tolerance,
ever faster. Where the first has held for ``DRIFT`` steps and the second has not, they are stopped:
if the forces of that pose balance without any motion, it is one of rest. (Balls are not: packings
of them creep in the same way before they rearrange.)

Background damping brings rest sooner and moves it nowhere, since it vanishes with the velocity:
"quench" stops all bodies whenever the total kinetic energy passes a maximum (dynamic relaxation
with kinetic damping), but only while no body moves fast enough to rise by QUENCH_HEIGHT of the
scene's length, so that it cannot change which bodies meet. A number adds to that the rate alpha
[1/s] of M dv/dt = ... - alpha M v, which smooth bodies need that would spin or slide for ever;
with ``quenches=False`` it acts alone: elastic waves make the total kinetic energy pass maxima
all the time, and a packing that slides as a whole is stopped each time. None is neither.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._support import arrays
from .._support.display import Brief
from .._support.progress import progress as bar
from .._support.words import counted
from ..bodies import State
from ..collision.contacts import Contacts
from ..constraints import framed, in_frame
from ..doubtful import largest_pull
from ..errors import InputError
from ..forces.friction import has_friction
from ..forces.rough import ContactHistory
from ..scenes.load import as_scene
from ..scenes.scene import law_exponent
from ..status import Status
from . import ball_engine, rough_engine
from .engine import Engine, Law, Measures
from .friction import contact_history, friction_law
from .law import check_exponent, damping_of
from .network_engine import NetworkEngine

SAFETY = 0.8
"""Time step chosen over the critical one."""

QUENCH_HEIGHT = 1e-3

TOO_DEEP = 0.2
"""Overlap over the scene's length at which contacts are too soft to go on."""

EARLY_LOOKS, LATE_LOOKS = 10, 50
"""Overlaps are looked at in the first checks, and then in one of so many."""

CHECK_EVERY = 200
"""Steps between two looks at the energies, the critical step and the rest criterion."""

DRIFT = 10_000
"""Steps of balanced forces in motion after which all bodies are stopped."""

BAR = 1000
"""Length of the progress bar in its own units."""

PATIENCE = {"balls": 500_000, "convex": 100_000}
"""Steps without a lower unbalanced force after which a slow scene counts as stalled, by engine;
packings of balls with as many contacts as degrees of freedom rearrange many times on their way,
200,000 steps apart, and their steps are quick."""


class TooSoft(InputError):
    """Bodies sink so far into each other that they are no longer those of the scene."""


@dataclass(frozen=True)
class PenaltyProgress:
    """What a callback sees. fraction: of the way to ``until``, or to rest (by the logarithm of the
    unbalanced force, or of the motion), in [0, 1]. seconds: wall clock so far; seconds_left: at
    this pace."""

    time: float
    dt: float
    steps: int
    fraction: float
    seconds: float
    seconds_left: float
    unbalanced: float
    measures: Measures

    @property
    def text(self) -> str:
        """One line for a progress display, with the time to go."""
        left = f", about {self.seconds_left:.0f} s to go" if self.seconds_left < 1e6 else ""
        return f"{self.state}, {100 * self.fraction:.0f} %{left}"

    @property
    def state(self) -> str:
        """How the run goes, without the share that is done."""
        steps = counted(self.steps, "step")
        return f"t = {self.time:.4g} s, {steps}, unbalanced force {self.unbalanced:.1e}"


@dataclass(frozen=True, repr=False)
class PenaltyResult(Brief):
    """Where a penalty simulation ended. m contacts; forces [N] push contacts.body[:, 1] along +n.

    contacts: all with gap <= the closed tolerance, in the order of every other ``Contacts``; force
    (m,): elastic and damping force. tangential (m, 3): the tangential part of the force on
    contacts.body[:, 1], world frame, zero where bodies are smooth. history: what
    ``compatible_forces`` goes on from; of springs at rest, as it takes damping for elastic force.
    kinetic_energy, elastic_energy [J]. unbalanced: largest force out of balance over the largest
    external force on one body. steps, dt: time steps made, the last size [s]. status: CONVERGED at
    rest or at ``until``; seconds: wall clock of the run.
    """

    state: State
    contacts: Contacts
    force: np.ndarray
    tangential: np.ndarray
    history: ContactHistory
    kinetic_energy: float
    elastic_energy: float
    unbalanced: float
    steps: int
    dt: float
    status: Status
    at_rest: bool
    seconds: float
    rest_tolerance: float

    @property
    def tangential_force(self) -> np.ndarray:
        """Components (m, d - 1) [N] of ``tangential`` along ``contacts.tangents``."""
        return in_frame(self.contacts, self.tangential)

    @property
    def force_vectors(self) -> np.ndarray:
        """Whole contact forces (m, 3) [N] on contacts.body[:, 1], world frame."""
        return self.force[:, None] * self.contacts.normal + self.tangential

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        where = "at rest" if self.at_rest else "moving"
        return (
            f"penalty: {self.status}, {where} at t = {self.time:.6g} s after "
            f"{counted(self.steps, 'step')} (last {self.dt:.2e} s); unbalanced "
            f"force {self.unbalanced:.1e} of the largest load (tolerance "
            f"{self.rest_tolerance:.1e}), kinetic energy {self.kinetic_energy:.1e} J of "
            f"{self.elastic_energy:.1e} J elastic"
        )


class PenaltySimulation:
    """A scene under visco-elastic contact (Hooke, Hertz or any p >= 2), by velocity Verlet.

    scene: a ``Scene``, the name of one in the gallery, or a TOML file. dt [s]: None takes 0.8 of
    the critical step and follows it; a number above the critical step is refused. restitution: e_n
    (default: the scene's; 0 is the critical damping 2 sqrt(k m_eff)). damping: fraction of
    critical, instead of restitution. tensile: damping may pull while surfaces part (False: f >= 0).
    stiffness_scale: factor on all stiffnesses [-]. law: as the scene's. rest_tolerance: see the
    head of this file. background: "quench", a rate [1/s] or None; acts in runs to rest only.
    quenches: whether all bodies are stopped at maxima of the kinetic energy beside a rate.
    threads: for scenes of balls. engine: "balls" (compiled: spheres, disks, half-spaces, and boxes
    that cannot turn, of which one may shift), "convex" (any shape, through the contact search) or
    None, the first that serves. state: to begin with; external_force (6 n,) [N]: loads and weights;
    both are the scene's by default. tangential_law ("mindlin" or "mindlin/force", the
    scene's by default) and
    tangential_damping (over the normal one): of scenes with friction, see ``friction.py``.

    >>> import rigidlimit
    >>> sim = rigidlimit.PenaltySimulation(rigidlimit.scenes.beam(), stiffness_scale=1e8)
    >>> sim.run().force.round(4)
    array([3.3333, 3.3333, 3.3333])
    """

    def __init__(
        self,
        scene,
        *,
        dt: float | None = None,
        restitution: float | None = None,
        damping: float | None = None,
        tensile: bool = True,
        stiffness_scale: float = 1.0,
        law=None,
        rest_tolerance: float = 1e-8,
        background="quench",
        quenches: bool = True,
        threads: int = 1,
        engine: str | None = None,
        state: State | None = None,
        external_force: np.ndarray | None = None,
        tangential_law: str | None = None,
        tangential_damping: float = 1.0,
    ):
        scene = as_scene(scene)
        if damping is not None and restitution is not None:
            raise InputError("both damping and restitution are given; expected one of them")
        if damping is None:
            e = scene.restitution if restitution is None else restitution
            damping = damping_of(e, tensile=tensile)
        if not (np.isfinite(damping) and damping >= 0):
            raise InputError(f"damping is {damping!r}; expected a fraction of critical, >= 0")
        if not (background in ("quench", None) or np.isreal(background)):
            raise InputError(f"background is {background!r}; expected 'quench', a rate or None")
        self.scene, self.bodies = scene, scene.bodies
        self.exponent = check_exponent(scene.exponent if law is None else law_exponent(law))
        self.damping = float(damping)
        self.stiffness_scale = arrays.positive("stiffness_scale", stiffness_scale)
        self.law = Law(
            exponent=self.exponent,
            damping=self.damping,
            tensile=bool(tensile),
            scale=self.stiffness_scale,
            pair_stiffness=scene.pair_stiffness,
            friction=friction_law(scene, tangential_law or scene.tangential_law, tangential_damping)
            if has_friction(self.bodies, scene.pair_friction)
            else None,
        )
        self.rest_tolerance = arrays.positive("rest_tolerance", rest_tolerance)
        self.background, self.quenches = background, bool(quenches)
        external = self._loads(scene.external_force() if external_force is None else external_force)
        self.external_force = external
        start = scene.state if state is None else state
        rough = self.law.friction is not None
        balls = (rough_engine if rough else ball_engine).serves(
            self.bodies, external, start.velocity[:, 3:]
        )
        if engine not in (None, "balls", "convex") or (engine == "balls" and not balls):
            raise InputError(
                f"engine is {engine!r} for a scene that is {'' if balls else 'not '}of balls, "
                "half-spaces and boxes that cannot turn only; expected None, 'convex', or 'balls' "
                "where it serves"
            )
        of_balls = rough_engine.RoughBallEngine if rough else ball_engine.BallEngine
        make = of_balls if balls and engine != "convex" else NetworkEngine
        self.engine: Engine = make(self.bodies, start, external, self.law, threads)
        self.steps = 0
        self.load_size = _largest(external)
        self.pull = largest_pull(self.bodies, external)
        self.fixed_dt = None if dt is None else arrays.positive("dt", dt)
        if self.fixed_dt is not None:
            self.engine.keep_step()
        self.dt = self._step_size(self.engine.measures().speed)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.engine.time

    @property
    def state(self) -> State:
        return self.engine.state

    @property
    def critical_dt(self) -> float:
        """Largest stable time step [s] at present, with every near contact closed."""
        return self.engine.limit()

    def run(
        self,
        until: float | None = None,
        *,
        callback: Callable[[PenaltyProgress], object] | None = None,
        progress: bool = False,
        max_steps: int = 50_000_000,
        closed: float = 1e-6,
    ) -> PenaltyResult:
        """Advance to time ``until`` [s], or to rest where it is None.

        callback(PenaltyProgress) now and then; True stops. progress: show a bar on the terminal or
        in the notebook. max_steps: of this run. closed: gap over the scene's length up to which a
        contact is listed in the result.
        """
        if progress:
            with bar(self.scene.name, BAR) as update:

                def both(seen):
                    update(int(BAR * seen.fraction), seen.state)
                    return callback is not None and callback(seen)

                return self.run(until, callback=both, max_steps=max_steps, closed=closed)
        if until is not None and not until >= self.time:
            raise InputError(f"until is {until}; expected a time from {self.time} on")
        rest = until is None
        began, first, first_time = time.perf_counter(), self.steps, self.time
        status, at_rest, first_unrest = Status.MAX_ITERATIONS, False, None
        best, best_at, uneven_at, looks = np.inf, self.steps, self.steps, 0
        while True:
            measured = self.engine.measures()
            if rest and (looks < EARLY_LOOKS or looks % LATE_LOOKS == 0):
                self._check_overlap()
            looks += 1
            unbalanced = self._relative(measured)
            at_rest = self._is_at_rest(measured)
            if unbalanced > self.rest_tolerance or not self._slow(measured):
                uneven_at = self.steps
            balanced = self.steps - uneven_at >= DRIFT and self.engine.kind != "balls"
            if rest and balanced and not at_rest and self.background is not None:
                self.engine.stop()
                measured = self.engine.measures()
                unbalanced, at_rest = self._relative(measured), self._is_at_rest(measured)
                uneven_at = self.steps
            unrest = max(unbalanced, np.sqrt(self._motion(measured)), self.rest_tolerance)
            first_unrest = first_unrest or unrest
            if rest and at_rest and self.engine.settled():
                status = Status.CONVERGED
                break
            if not rest and self.time >= until - 1e-9 * self.dt:
                status = Status.CONVERGED
                break
            if unbalanced < 0.9 * best or not self._slow(measured):
                best, best_at = unbalanced, self.steps
            if rest and self.steps - best_at > PATIENCE[self.engine.kind]:
                status = Status.STALLED
                break
            if self.steps - first >= max_steps:
                break
            self.dt = self._step_size(measured.speed)
            steps, dt = min(CHECK_EVERY, max_steps - (self.steps - first)), self.dt
            if not rest:
                left = until - self.time
                # with a free step the last ones end at ``until``; with a given one, just past it
                whole = int(np.ceil(left / dt - 1e-9))
                steps = max(1, min(steps, whole))
                dt = dt if self.fixed_dt else left / max(whole, 1)
            quench = rest and self.quenches and self.background is not None
            quench = quench and self._slow(measured)
            rate = 0.0 if not rest or self.background in ("quench", None) else self.background
            self.steps += self.engine.advance(steps, dt, float(rate), quench)
            if callback is not None:
                seconds = time.perf_counter() - began
                if rest:
                    fraction = self._calmed(first_unrest, unrest)
                else:
                    fraction = (self.time - first_time) / (until - first_time)
                left = seconds * (1 - fraction) / fraction if fraction > 0 else np.inf
                seen = PenaltyProgress(
                    self.time, dt, self.steps, fraction, seconds, left, unbalanced, measured
                )
                if callback(seen):
                    break
        contacts, force = self.engine.contact_forces(closed * self.bodies.length)
        contacts = framed(contacts, self.bodies.dim)
        tangential = self.engine.tangential_forces(contacts)
        return PenaltyResult(
            state=self.state,
            contacts=contacts,
            force=force,
            tangential=tangential,
            history=contact_history(self.bodies, self.law, contacts, tangential),
            kinetic_energy=measured.kinetic_energy,
            elastic_energy=measured.elastic_energy,
            unbalanced=unbalanced,
            steps=self.steps,
            dt=self.dt,
            status=status,
            at_rest=at_rest,
            seconds=time.perf_counter() - began,
            rest_tolerance=self.rest_tolerance,
        )

    def load(self, external_force: np.ndarray, *, over: float, **options) -> PenaltyResult:
        """Run for a time ``over`` [s], in which the external forces go over evenly to other ones,
        (6 n,) [N, N m], weights among them; they stay. Forces at rest between rough bodies depend
        on how they were loaded. options: as of ``run``.
        """
        over = arrays.positive("over", over)
        now, later = self.external_force, self._loads(external_force)
        both = np.maximum(np.abs(now), np.abs(later))
        self.load_size, self.pull = _largest(both), largest_pull(self.bodies, both)
        self.engine.set_external(now, later, over)
        result = self.run(self.time + over, **options)
        self.engine.set_external(later)
        self.external_force = later
        self.load_size, self.pull = _largest(later), largest_pull(self.bodies, later)
        return result

    def _loads(self, external_force) -> np.ndarray:
        """External forces (6 n,), without those on held degrees of freedom."""
        loads = arrays.vector(
            "external_force", external_force, 6 * len(self.bodies), what="degree of freedom"
        )
        return np.where(self.bodies.free.ravel(), loads, 0.0)

    def _calmed(self, first: float, unrest: float) -> float:
        """Part of the way to rest that is made, by the logarithm of what is out of balance."""
        span = np.log(first / self.rest_tolerance)
        return float(np.clip(np.log(first / unrest) / max(span, 1e-3), 0, 1))

    def _step_size(self, speed: float) -> float:
        limit = self.engine.limit()
        if self.fixed_dt is not None:
            if self.fixed_dt > limit:
                raise InputError(
                    f"dt is {self.fixed_dt:.4g} s; expected at most {limit:.4g} s, the critical "
                    f"step of these masses, stiffnesses (scale {self.law.scale:g}) and damping; "
                    "take dt=None, a smaller dt or a smaller stiffness_scale"
                )
            return self.fixed_dt
        return SAFETY * min(limit, self._travel_step(speed))

    def _travel_step(self, speed: float) -> float:
        """Time [s] in which a free body moves by a hundredth of the scene's length."""
        small = 1e-2 * self.bodies.length
        fall = np.sqrt(2 * small / self.pull) if self.pull > 0 else np.inf
        return min(fall, small / speed if speed > 0 else np.inf, self.scene.dt)

    def _check_overlap(self) -> None:
        """Bodies that sink far into each other are no longer those of the scene."""
        contacts, _ = self.engine.contact_forces(0.0)
        deepest = -float(contacts.gap.min(initial=0.0))
        if deepest > TOO_DEEP * self.bodies.length:
            a, b = contacts.body[int(contacts.gap.argmin())]
            names = self.bodies.names
            raise TooSoft(
                f"{names[a]!r} and {names[b]!r} overlap by {deepest:.2g} m at t = "
                f"{self.time:.3g} s, bodies measure {self.bodies.length:.2g} m: the contacts are "
                "too soft for these loads; raise the stiffness (Material, pair stiffness in N/m) "
                "or stiffness_scale"
            )

    def _relative(self, measured: Measures) -> float:
        scale = self.load_size or measured.largest_force
        return measured.unbalanced / scale if scale > 0 else 0.0

    def _is_at_rest(self, measured: Measures) -> bool:
        tolerance = self.rest_tolerance
        return self._relative(measured) <= tolerance and self._motion(measured) <= tolerance**2

    @staticmethod
    def _motion(measured: Measures) -> float:
        """Kinetic over elastic energy; 1 for bodies that move and touch nothing."""
        if measured.kinetic_energy == 0.0:
            return 0.0
        return measured.kinetic_energy / max(measured.elastic_energy, measured.kinetic_energy)

    def _slow(self, measured: Measures) -> bool:
        return measured.speed**2 < 2 * self.pull * QUENCH_HEIGHT * self.bodies.length


def _largest(external):
    """Largest size of the force on a body [N]."""
    return float(_sizes(external).max(initial=0.0))


def _sizes(external):
    """Size of the force on each body, (n,) [N]."""
    return np.linalg.norm(external.reshape(-1, 6)[:, :3], axis=1)
