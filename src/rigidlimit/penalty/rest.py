"""Rest of rigid bodies, for scenes that contact dynamics alone does not bring there.

Smooth bodies may slide and spin for ever, and a random packing creeps to rest over thousands of
steps, as every contact that opens or closes sets it moving again. ``settle`` ends such motion: by
kinetic damping (all bodies are stopped whenever the kinetic energy no longer rises), and balls by
their pose of locally least potential energy (``least_energy.py``). Neither can end anywhere but at
rest, and contact dynamics has the last word: ``Simulation.at_rest``, from zero velocities.

Balls are round, so that contacts curve away from each other and the least energy lies in a corner
of the set of poses, where as many contacts bear as there are degrees of freedom. A packing that is
still loose has far to go there, in short steps: contact dynamics brings it near, until contacts
carry the loads and all that is left is creeping. What stands still is not touched, and a packing
at rest that got another load goes on from its pose and the contact forces of one step, whatever
its size. Shapes that can roll to the foot of a valley rest elsewhere; they are left to damping.

Rough bodies come to rest by themselves, where their history puts them. Contact dynamics takes them
there, or a DEM with friction: hard enough to leave overlaps below ``NEAR``, up to which contacts
count as closed then. They go on with the forces and tangential springs that they came to rest with.

Balls that are poured loosely have no contacts to lose. There a DEM goes first, whose steps are
cheaper: soft at first, then stiffer. It takes no notice of contacts that were there, so that the
state decides, not the number of balls: the DEM is taken where contacts bear next to nothing in the
first step, and fewer are near than there are balls to hold. Balls that a stress presses together
are poured as loosely: the cell shrinks about them, and is stretched again by what undoes overlaps
before the least energy is sought.

Only contacts that the rest closes may bear. The least energy closes them to 1e-9 of the scene's
length and contact dynamics closes the rest of the way, but in a packing of thousands of balls
others come within a millionth of it, the distance up to which contact dynamics counts a contact as
closed by default. One such contact makes a just determinate packing indeterminate, and the forces,
shared out, are no longer those of the limit: ``settle`` asks for ``CLOSED`` instead.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .._support import arrays
from .._support.words import counted
from ..bodies import Bodies, Disk, Sphere, State
from ..collision.search import find_contacts
from ..conditioning.screening import finite_reach
from ..errors import InputError, NoRest
from ..scenes.scene import Scene
from ..simulation import STILL, Simulation
from ..status import Status
from ..step.motion import farthest, flies_off, motion, ways
from .ball_engine import serves
from .least_energy import force_scale, least_energy
from .simulation import PenaltySimulation, TooSoft, largest_loads
from .squeezed import is_squeezed, parting_strain, softness, stretched

STATE, DYNAMICS, DEM = "state", "dynamics", "dem"
"""Who goes first."""

CLOSED = 1e-9
"""Gap over the scene's length up to which a contact counts as closed in a least-energy pose."""

CARRIED = 0.1
"""Part of the loads, summed over bodies, that contacts leave open at most where they carry them: a
packing that creeps leaves a tenth and less, one that slides a half, one that falls all of it."""

CLOSE = 1e-2
"""Gap over the smaller one's radius up to which bodies count as near, and not as poured loosely."""

CREEPS = 50
"""Steps of contact dynamics in which contacts carry the loads, less those in which they do not,
after which what is left of motion is creeping and the least energy is searched for."""

SOFT = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Stiffness scales of the DEM: the softest is the quickest. The next one where bodies sink too far
into each other, as those that fall from high, or lie under many others."""

SUNK = 1e-2
"""Overlap over the smaller one's radius, at rest, that is too far."""

NEAR, STIFFER = 5e-4, 10.0
"""Overlap over that, at rest, from which rounds of least energy still find the rest
of rigid balls nearby, and the factor by which a DEM of balls that sink further becomes stiffer: to
part them moves others a hundred times as far, and a packing that is moved so far slides anew."""

SETTLED = (1e-2, 1e-3, 1e-4)
"""Unbalanced force over the heaviest load at which the DEM ends, by tries: the next one where the
packing had not come to rest yet, and only looked so between two slides."""

BALANCED = 1e-8
"""The same where rough bodies go on with the forces of the DEM: speeds at rest are a millionth of
a free fall's at most, and balls that roll freely gather them step by step."""

BEGIN = 1e-4
"""mu to begin with from there, where contacts usually bear as much as the heaviest load;
less where that is a lid, or few balls are far heavier than most: with more, contacts of the others
would be pushed apart first."""

LOOSENED, ROOMY = 1e-2, 0.1
"""Strain by which a cell is stretched before rounds under its stress begin, and mu then, which
keeps as much room between bodies: what follows the path from there seldom slides."""

PARTED, NEAR_STRESS = 1e-3, 3e-3
"""mu where it is stretched by the overlaps of a DEM alone, which has slid already, and overlap over
the smaller one's radius up to which that is tried."""

ROUGHLY, HARDER, SLIDING = 0.1, 6, 80
"""Unbalanced force at which a DEM of a stress ends that is to be made stiffer, how often it may be,
and rounds of least energy in which a packing that does not slide is at rest: 40 to 70."""

LEAST = 1e-4
"""Least part of that, so that mu begins well above its end."""

CALM, BOUNCE = 0.3, 0.7
"""In the DEM of balls: the rate of background damping over sqrt(g/l), of a fall by the scene's
length l, and the restitution. Slides of a whole packing end where their own inertia takes them:
stops of all bodies, or stronger damping, leave it between two slides, where rounds of least energy
set it off again. Weaker dampers of the contacts also allow longer steps."""

DEM_STEPS = 300_000
"""Most steps of the DEM in one try."""

ROUNDS = 1000
"""Most rounds of least energy in a search; a hundred are the rule, several where packings slide."""

STOPS = 60
"""Stops of all bodies without a lower kinetic energy after which damping is given up: bodies that
come to rest take one or two at most."""

LAST = 5
"""Most steps for overlaps that a scene which stands still has left: large loads press them into
small bodies, and each step leaves a hundredth."""

RISES = 1e-6
"""Part by which the kinetic energy must grow in a step, or all bodies are stopped. Bodies in free
fall gain more; a smooth box that spins on the floor keeps what it has, for ever."""

GONE = 30.0
"""Way of a body that touches nothing, over the scene's length, from which on it falls for ever."""


@dataclass(frozen=True)
class Rest:
    """A scene at rest.

    simulation: contact dynamics that has just made a step without moving, from zero velocities
    unless ``alone``. alone: it came to rest by itself. how: in words. steps: of contact dynamics;
    rounds: of least energy. unbalanced: largest force on a body that contact forces of the last
    step leave open, over the heaviest load. overlap: deepest, over the scene's length. farthest:
    which body went farthest on the way, and how far, in words; "" where none moved. seconds: wall
    clock. stopped: who still moved in a scene with friction when damping began, in words, else "":
    balls that would roll on for ever lie where they were stopped.
    """

    simulation: Simulation
    alone: bool
    how: str
    steps: int = 0
    rounds: int = 0
    unbalanced: float = 0.0
    overlap: float = 0.0
    farthest: str = ""
    seconds: float = 0.0
    stopped: str = ""

    @property
    def state(self) -> State:
        """The pose, without what is left of velocities; driven bodies keep theirs."""
        return _stopped(self.simulation.state, self.simulation.bodies)

    @property
    def message(self) -> str:
        rounds = f", {counted(self.rounds, 'round')} of least energy" if self.rounds else ""
        return (
            f"at rest by {self.how} after {self.seconds:.3g} s: {counted(self.steps, 'step')}"
            f"{rounds}; unbalanced force {self.unbalanced:.1e} of the heaviest load, deepest "
            f"overlap {self.overlap:.1e} of the scene's length"
            + (f"; {self.farthest}" if self.farthest else "")
            + (f"; stopped while moving: {self.stopped}" if self.stopped else "")
        )


def settle(
    scene: Scene | str | Path,
    *,
    by: str = STATE,
    max_steps: int = 5000,
    max_seconds: float | None = None,
    callback: Callable[[str], object] | None = None,
) -> Rest:
    """Bring a scene to rest, also where smooth bodies would slide, spin or creep for ever.

    scene: a ``Scene``, the name of one in the gallery, a TOML file, or a ``Simulation``, which goes
    on from its state, with the loads and gravity that were set, and is at rest afterwards; one that
    is at rest stays as it is. by: "dynamics", contact dynamics for the scene's duration, or until
    all that balls do is creep; "dem", a soft DEM that pours the scene anew; or "state": the DEM for
    balls that are poured loosely, whose first step is borne by next to no contacts and of which
    fewer pairs are within a hundredth of a radius than there are balls, else contact dynamics. What
    still moves then is stopped, see the head of this file.
    max_steps: of contact dynamics. max_seconds: of the wall clock; it is looked at between steps
    and rounds. callback(text): how it goes.

    Driven bodies stay driven; what they keep in motion does not come to rest. Of scenes with
    friction, whose rest depends on the way there, contacts remember what they bore; what still
    rolls or slides in the end is stopped. The least energy has no part in them.

    Raises NoRest where the scene is not at rest when steps or time are over, where bodies fall for
    ever, and where they overlap without room to part. A ``Simulation`` is then where it got.

    >>> import rigidlimit
    >>> rest = rigidlimit.settle("pile-2d")
    >>> rest.simulation.at_rest
    True
    >>> forces = rest.simulation.step(compatible=True).force
    """
    if by not in (STATE, DYNAMICS, DEM):
        raise InputError(f"by is {by!r}; expected {STATE!r}, {DYNAMICS!r} or {DEM!r}")
    if not (1 <= arrays.number(max_steps) < np.inf):
        raise InputError(f"max_steps is {max_steps!r}; expected a number of steps, 1 or more")
    if max_seconds is not None:
        arrays.positive("max_seconds", max_seconds)
    given = isinstance(scene, Simulation)
    simulation = scene if given else Simulation(scene, compatible="never")
    if simulation.rough and not given:
        simulation = Simulation(scene)  # what contacts remember is made step by step
    return _Settling(simulation, by, int(max_steps), max_seconds, callback).run()


class _Settling:
    """One call of ``settle``: what was asked for, and how far it came."""

    def __init__(self, simulation, by, max_steps, max_seconds, callback):
        self.simulation, self.max_steps, self.callback = simulation, max_steps, callback
        self.max_seconds = np.inf if max_seconds is None else max_seconds
        self.began, self.first, self.rounds = time.monotonic(), simulation.steps, 0
        self.begun = simulation.state
        self.dem, self.borne, self.energy, self.stopped = None, None, 0.0, ""
        bodies = simulation.bodies
        external = np.where(bodies.free.ravel(), simulation.external_force, 0.0)
        self.rough = simulation.rough
        self.round = serves(bodies, external, simulation.state.velocity[:, 3:])
        self.balls = self.round and not self.rough
        self.by, self.how = by, "DEM" if by == DEM else "contact dynamics"

    def run(self) -> Rest:
        simulation = self.simulation
        if simulation.at_rest:
            return self._rest(alone=True)
        if self.by == DEM:
            found = self._by_poured()
        else:
            found = self._by_dynamics()
            if simulation.stands_still:
                return self._rest(alone=True)
        if not found:
            self.how += ", then contact dynamics with kinetic damping"
        if self.rough:
            self.stopped = motion(simulation.bodies, None, simulation.state, simulation.dt)
        self._stop_all()
        return self._rest(alone=False)

    def tell(self, text: str):
        """Of how it goes, between steps; ends it when time is over."""
        if self.callback is not None:
            self.callback(text)
        if time.monotonic() - self.began > self.max_seconds:
            raise NoRest(
                f"scene {self.simulation.scene.name!r} is not at rest after {self.max_seconds:g} s "
                f"of the wall clock: {text}; expected more time (max_seconds), or a scene that "
                "comes to rest sooner" + _driven(self.simulation)
            )

    def _by_dynamics(self) -> bool:
        """For the scene's duration; where least energy goes on, until bodies only creep and that
        leads to a pose of rest. Whether it did."""
        simulation = self.simulation
        turns_nothing = _turns_nothing(simulation.bodies) and not self.rough
        loaded = self._is_loaded()
        steps = self.max_steps
        if not (turns_nothing and loaded) or _driven(simulation):
            steps = min(steps, int(np.ceil(simulation.scene.duration / simulation.dt)) + 50)
        # under another load most packings stand still again within a few steps
        carried, wait, last = 0, LAST if self._stands() else self._creeps, simulation.steps + steps
        while simulation.steps < last and not simulation.stands_still:
            self.tell(f"{self.how}, {simulation.step(compatible=self.rough).summary}")
            if self.by == STATE and simulation.steps == self.first + 1 and self._is_loose():
                self.how = "DEM"
                return self._by_poured()
            carried = max(0, carried + (1 if self._carries() else -1))
            if turns_nothing and loaded and carried > wait:
                if self._by_present_contacts():
                    return True
                carried = 0
            elif self._flies_off():
                return False
            wait = self._creeps if not carried else wait
        if turns_nothing and not simulation.stands_still:
            self._check_loaded()
        return False

    @property
    def _creeps(self) -> int:
        """``CREEPS``; a cell, which is loosened first, need not be near its rest."""
        return LAST if is_squeezed(self.simulation.bodies) else CREEPS

    def _stands(self) -> bool:
        """Whether nothing moves before the first step, as after rest under other loads: then there
        is no slide to wait for."""
        simulation, bodies = self.simulation, self.simulation.bodies
        fall = largest_loads(bodies, simulation.external_force)[1] * simulation.dt
        way = np.where(bodies.free, simulation.state.velocity * bodies.turning_arm, 0.0)
        return bool(np.abs(way).max() <= STILL * fall)

    def _is_loaded(self) -> bool:
        simulation = self.simulation
        return bool(simulation.external_force[simulation.bodies.free.ravel()].any())

    def _carries(self) -> bool:
        """Whether contacts carried the loads in the last step, all but ``CARRIED``."""
        load, pushed = self._loads()
        return bool(np.abs(load + pushed).sum() <= CARRIED * np.abs(load).sum())

    def _loads(self):
        """Loads on what is free to shift, and what contacts pushed in the last step [N]."""
        at = np.flatnonzero(self.simulation.bodies.shifts)
        return self.simulation.external_force[at], self.simulation.last.pushed[at]

    def _is_loose(self) -> bool:
        """Whether balls are poured loosely, as the first step has it: contacts bear next to
        nothing, and fewer are near than there are balls to hold."""
        simulation, bodies = self.simulation, self.simulation.bodies
        if not (self.round and self._is_loaded()) or _driven(simulation):
            return False
        load, pushed = self._loads()
        if np.abs(pushed).sum() > CARRIED * np.abs(load).sum():
            return False
        radius = np.where(np.isfinite(bodies.bounding_radius), bodies.bounding_radius, 0.0)
        near = find_contacts(bodies, self.begun, CLOSE * radius)
        least = bodies.bounding_radius[near.body].min(axis=1, initial=np.inf)
        close = np.count_nonzero(near.gap <= CLOSE * least)
        return bool(close < np.count_nonzero(bodies.free[:, :3].any(axis=1)))

    def _by_dem(self, tolerance: float):
        """The pose in which a DEM rests that is as soft as the scene allows; of balls, which go on
        by least energy, one that is near that of rigid balls. Goes on where it was left."""
        sunk = self._by_softest(tolerance) if self.dem is None else self._run_dem(tolerance)
        if self.balls and NEAR < sunk < np.inf:
            self.dem = self._new_dem(STIFFER * self.dem.stiffness_scale)
            self._run_dem(tolerance)

    def _by_softest(self, tolerance: float) -> float:
        """How far bodies sink at rest in the softest DEM that serves, as ``_run_dem`` tells."""
        simulation, scales = self.simulation, SOFT
        while True:
            self.dem, scales = self._new_dem(scales[0]), scales[1:]
            scale, sunk = self.dem.stiffness_scale, self._run_dem(tolerance)
            if sunk <= SUNK or not scales:
                return sunk
            if sunk < np.inf:
                # c = (f/k)^(1/(p-1)): passing over scales that would not do
                enough = scale * (sunk / SUNK) ** (simulation.settings.exponent - 1.0)
                scales = tuple(each for each in scales if each >= enough) or scales[-1:]

    def _run_dem(self, tolerance: float) -> float:
        """``_sunk`` where the DEM comes to rest; inf, and no DEM is left, if it was too soft."""
        simulation, dem = self.simulation, self.dem
        dem.rest_tolerance = tolerance
        try:
            ran = dem.run(
                max_steps=DEM_STEPS if self.balls else 50_000_000,
                callback=lambda p: self.tell(f"DEM, stiffness x {dem.stiffness_scale:g}, {p.text}"),
            )
        except TooSoft:
            if dem.stiffness_scale == SOFT[-1] and not (self.balls or self.rough):
                raise
            self.dem = None
            return np.inf
        simulation.state = _stopped(ran.state, simulation.bodies)
        self.borne = ran.contacts, np.maximum(ran.force, 0.0)
        return _sunk(ran.contacts, simulation.bodies)

    def _new_dem(self, scale: float) -> PenaltySimulation:
        simulation = self.simulation
        damping = {"restitution": 0.3}
        if self.balls:
            _, pull = largest_loads(simulation.bodies, simulation.external_force)
            calm = float(CALM * np.sqrt(pull / simulation.bodies.length))
            damping = {"restitution": BOUNCE, "background": calm, "quenches": False}
        given = {"external_force": simulation.external_force}
        if simulation.bodies.cell is not None:  # it may be prescribed another stress by now
            scene, given = simulation.scene_now(), {}
        else:
            scene = simulation.scene
        return PenaltySimulation(
            scene, state=simulation.state, stiffness_scale=scale, **given, **damping
        )

    def _by_poured(self) -> bool:
        """The pose of least energy from that of the DEM, after more of it where that is too far to
        go; other bodies than balls are left to damping from there. Whether it was found."""
        self._check_loaded()
        bodies = self.simulation.bodies
        if self.rough:
            return self._by_rough_dem()
        if not self.balls:
            self._by_dem(SETTLED[-1])
            return _turns_nothing(bodies) and self._rounds(BEGIN)
        if is_squeezed(bodies):
            return self._by_squeezed()
        for tolerance in SETTLED:
            self._by_dem(tolerance)
            if self._rounds(self._part_of_heaviest() * BEGIN):
                return True
        return False

    def _by_squeezed(self) -> bool:
        """The same of balls under the stress of a cell, by a DEM that is soft at first, and stiffer
        where rounds from its rest slide: a DEM is at the end of a slide sooner."""
        bodies, scale, begin = self.simulation.bodies, self._softness(SUNK), PARTED
        tolerance = ROUGHLY
        for _ in range(HARDER):
            self.dem = self._new_dem(scale)
            if self._run_dem(tolerance) <= NEAR_STRESS:
                parted = parting_strain(bodies, self.borne[0])
                if self._by_loosened(parted, begin, SLIDING):
                    return True
                begin /= STIFFER
            scale, tolerance = STIFFER * scale, SETTLED[0]
        return False

    def _softness(self, sunk: float) -> float:
        """Stiffness scale of a DEM to begin with; of balls under a stress, which sink by ``sunk``
        of their radius."""
        simulation = self.simulation
        if not (self.round and is_squeezed(simulation.bodies)):
            return SOFT[0]
        pairs, exponent = simulation.scene.pair_stiffness, simulation.settings.exponent
        return softness(simulation.bodies, exponent, pairs, sunk)

    def _by_rough_dem(self) -> bool:
        """The pose in which a DEM with friction rests, poured again where it was too soft, its
        contacts with their forces and springs. True: nothing better is to be found."""
        simulation, begun, scale = self.simulation, self.simulation.state, self._softness(NEAR)
        while True:
            simulation.state = begun
            self.dem = self._new_dem(scale)
            sunk = self._run_dem(BALANCED)
            if sunk <= NEAR:
                break
            # c = (f/k)^(1/(p-1)), and a little more than enough
            deeper = 2.0 * sunk / NEAR if sunk < np.inf else STIFFER
            scale *= deeper ** (simulation.settings.exponent - 1.0)
        deepest = -float(self.borne[0].gap.min(initial=0.0))
        closed = max(1.01 * deepest / simulation.bodies.length, CLOSED)
        simulation.settings = replace(simulation.settings, closed=closed)
        # with contacts that are open by as little, which remember that
        ran = self.dem.run(self.dem.time, closed=closed)
        simulation.start_from(simulation.state, ran.contacts, ran.force, history=ran.history)
        return True

    def _by_present_contacts(self) -> bool:
        """The pose of least energy from that of the last step and its forces; else all stays as it
        was, to go on from there."""
        simulation = self.simulation
        before, last = simulation.checkpoint(), simulation.last
        if is_squeezed(self.simulation.bodies):
            found = self._by_loosened(LOOSENED, ROOMY, ROUNDS)
        else:
            self.borne = last.contacts, last.classic.force
            found = self._rounds(self._part_of_heaviest() * BEGIN)
        if not found:
            simulation.restore(before)
        return found

    def _by_loosened(self, strain: float, begin: float, rounds: int) -> bool:
        """The pose of least energy of bodies under a stress, from where they have room: the cell is
        stretched a little, which undoes overlaps at once."""
        simulation = self.simulation
        simulation.state = stretched(simulation.bodies, simulation.state, strain)
        self.borne = None
        return self._rounds(begin, rounds)

    def _check_loaded(self):
        if not self._is_loaded():
            raise NoRest(
                f"scene {self.simulation.scene.name!r} cannot come to rest: nothing presses its "
                "bodies together, and they move for ever; expected gravity, or loads"
            )

    def _part_of_heaviest(self) -> float:
        """The usual contact force, as the DEM has it, over the heaviest load; 1 at most."""
        if self.borne is None or not self.borne[1].any():
            return 1.0
        force, simulation = self.borne[1], self.simulation
        heaviest = force_scale(simulation.bodies, simulation.state, simulation.external_force)
        return float(np.clip(np.median(force[force > 0.0]) / heaviest, LEAST, 1.0))

    def _rounds(self, begin: float, most: int = ROUNDS) -> bool:
        """Whether rounds of least energy led from the present pose to rest; mu begins there."""
        simulation = self.simulation
        found = least_energy(
            simulation.bodies,
            simulation.state,
            simulation.external_force,
            start=self.borne,
            begin=begin,
            max_rounds=most,
            callback=lambda text: self.tell(f"least potential energy, {text}"),
        )
        self.rounds += found.rounds
        if found.converged:
            self.how += ", then least potential energy"
            # others come within what else counts as closed, see the head of this file
            simulation.settings = replace(simulation.settings, closed=CLOSED)
        driven = _stopped(simulation.state, simulation.bodies).velocity
        simulation.start_from(found.state.moved(velocity=driven), found.contacts, found.force)
        return found.converged

    def _damped_step(self) -> bool:
        """A step of contact dynamics, after which all bodies are stopped if the kinetic energy no
        longer rises; whether they were."""
        simulation, bodies = self.simulation, self.simulation.bodies
        self.tell(f"{self.how}, {simulation.step(compatible=self.rough).summary}")
        mass = bodies.mass[:, None] * bodies.turning_arm**2 * bodies.free
        energy = float((mass * simulation.state.velocity**2).sum())
        stop = energy <= self.energy * (1 + RISES)
        if stop and not simulation.stands_still:
            simulation.state = _stopped(simulation.state, bodies)
        self.energy = 0.0 if stop else energy
        return stop

    def _stop_all(self):
        """Contact dynamics in which all bodies stop whenever the kinetic energy no longer rises."""
        simulation, bodies = self.simulation, self.simulation.bodies
        self.energy, first = 0.0, simulation.steps
        least, waited, stood = np.inf, 0, 0
        for _ in range(self.max_steps):
            before = self.energy
            stopped = self._damped_step()
            if simulation.stands_still:
                stood += 1
                if stood > LAST or _deepest(simulation) <= (simulation.settings.closed or CLOSED):
                    return
                continue
            if self._flies_off():
                break
            if stopped:
                least, waited = (before, 0) if before < least else (least, waited + 1)
                if waited > STOPS:
                    break
        raise NoRest(
            f"scene {simulation.scene.name!r} is not at rest after "
            f"{counted(simulation.steps - first, 'damped step')} of {simulation.dt:g} s: "
            # velocities of the last step, before bodies were stopped
            + (motion(bodies, self.begun, simulation.last.state, simulation.dt) or "bodies creep")
            + (f"; the last {STOPS} stops brought no less motion" if waited > STOPS else "")
            + f"; expected {self._expected()}"
            + _driven(simulation)
        )

    def _flies_off(self) -> str:
        """The body that has gone farthest, if that is far and nothing lies ahead of it, or ""."""
        simulation, bodies = self.simulation, self.simulation.bodies
        state = simulation.last.state
        way = ways(bodies, self.begun, state)
        body = int(way.argmax())
        gone = way[body] > GONE * bodies.length and body not in simulation.last.contacts.body
        return bodies.names[body] if gone and flies_off(bodies, state, body) else ""

    def _expected(self) -> str:
        if name := self._flies_off():
            return f"walls or a floor in the way of {name!r}, ahead of which nothing lies"
        if self.rough:
            return (
                "a scene that comes to rest, or more steps (max_steps): whether friction can hold "
                "it, rigidlimit collapse or rl.statics(scene).least_friction() tell"
            )
        return (
            "a scene that comes to rest, or more steps (max_steps): without friction, what leans "
            "or stands on a slope slides until something holds it"
        )

    def _rest(self, alone: bool) -> Rest:
        simulation = self.simulation
        solved = simulation.last.classic
        if not solved.converged:
            jammed = solved.status is Status.JAMMED
            why = _no_room(simulation) if jammed else f"its forces are open: {solved.message}"
            raise NoRest(f"scene {simulation.scene.name!r} is not at rest: {why}")
        unbalanced, overlap = _left_open(simulation)
        return Rest(
            simulation=simulation,
            alone=alone,
            how=self.how,
            steps=simulation.steps - self.first,
            rounds=self.rounds,
            unbalanced=unbalanced,
            overlap=overlap,
            farthest=farthest(simulation.bodies, self.begun, simulation.state),
            seconds=time.monotonic() - self.began,
            stopped=self.stopped,
        )


def _left_open(simulation: Simulation) -> tuple[float, float]:
    """(largest force on a body that contacts do not balance, over the heaviest load; deepest
    overlap over the scene's length), of the last step of a scene at rest."""
    result, bodies = simulation.last, simulation.bodies
    free, external = bodies.free.ravel(), simulation.external_force
    # moments over arms are forces
    arm = finite_reach(bodies.turning_arm.ravel())
    # of rotating bodies the gyroscopic moments are nothing at rest
    open_ = np.where(free, external + result.pushed, 0.0) / arm
    load = np.abs(np.where(free, external, 0.0)).reshape(-1, 6)[:, :3].max(initial=0.0)
    scale = load or float(result.force.max(initial=0.0)) or 1.0
    return float(np.abs(open_).max(initial=0.0)) / scale, _deepest(simulation)


def _deepest(simulation: Simulation) -> float:
    """Deepest overlap over the scene's length, of the last step."""
    gap = simulation.last.contacts.gap
    return max(0.0, -float(gap.min(initial=0.0))) / simulation.bodies.length


def _sunk(contacts, bodies: Bodies) -> float:
    """Deepest overlap over the smaller one's radius: large bodies sink further, and may."""
    radius = bodies.bounding_radius[contacts.body].min(axis=1, initial=np.inf)
    return float((-contacts.gap / radius).max(initial=0.0))


def _no_room(simulation: Simulation) -> str:
    """Which bodies overlap most in a step that stood still because they cannot part."""
    contacts, bodies = simulation.last.contacts, simulation.bodies
    a, b = (bodies.names[i] for i in contacts.body[int(contacts.gap.argmin())])
    return (
        f"bodies {a!r} and {b!r} overlap by {-contacts.gap.min():.3g} m and have no room to part: "
        "they stand still, but no contact forces balance; expected bodies that do not overlap, or "
        "room for them: check positions and sizes, move walls or bodies apart"
    )


def _driven(simulation: Simulation) -> str:
    """Which body is driven, as part of why nothing rests; "" where none is."""
    bodies, velocity = simulation.bodies, simulation.state.velocity
    driven = np.flatnonzero(np.where(bodies.free, 0.0, velocity).any(axis=1))
    if not len(driven):
        return ""
    name = bodies.names[driven[0]]
    more = f", and {len(driven) - 1} more," if len(driven) > 1 else ""
    return f"; {name!r}{more} is driven, and keeps in motion what it meets: stop it first"


def _turns_nothing(bodies: Bodies) -> bool:
    """Whether turning moves no contact: of balls, and of others that are held against it."""
    turns = (bodies.free & ~bodies.shifts).any(axis=1)
    return bool((~turns | bodies.are(Sphere, Disk)).all())


def _stopped(state: State, bodies: Bodies) -> State:
    """Without the velocities of what is free to move; what is driven goes on."""
    return state.moved(velocity=np.where(bodies.free, 0.0, state.velocity))
