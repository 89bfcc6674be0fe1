"""Rest of rigid bodies, for scenes that contact dynamics alone does not bring there.

Smooth bodies may slide and spin for ever, and a random packing creeps to rest over thousands of
steps, as every contact that opens or closes sets it moving again. ``settle`` ends such motion: by
kinetic damping (all bodies are stopped whenever the kinetic energy no longer rises), and balls by
their pose of locally least potential energy (``least_energy.py``). Neither can end anywhere but at
rest, and contact dynamics has the last word: ``Simulation.at_rest``, from zero velocities.

Balls are round, so that contacts curve away from each other and the least energy lies in a corner
of the set of poses, where as many contacts bear as there are degrees of freedom. A packing that is
still loose has far to go there, in short steps; the DEM, whose steps are cheap, brings it near:
soft at first, then stiffer, and its forces are those that the rounds of least energy begin with.
Shapes that can roll to the foot of a valley rest elsewhere; they are left to damping.

Only contacts that the rest closes may bear. The least energy closes them to 1e-9 of the scene's
length and contact dynamics closes the rest of the way, but in a packing of thousands of balls
others come within a millionth of it, the distance up to which contact dynamics counts a contact as
closed by default. One such contact makes a just determinate packing indeterminate, and the forces,
shared out, are no longer those of the limit: ``settle`` asks for ``CLOSED`` instead.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import arrays
from ..bodies import Bodies, Disk, Sphere, State
from ..errors import InputError, NoRest
from ..interrupts import patient
from ..network.felt import finite_reach
from ..simulation import Simulation
from ..status import Status
from ..words import counted
from .ball_engine import serves
from .least_energy import least_energy
from .simulation import PenaltySimulation, TooSoft, largest_pull

CLOSED = 1e-9
"""Gap over the scene's length up to which a contact counts as closed in a least-energy pose."""

MANY = 300
"""Balls of unequal size from which on the DEM goes first, if it is not said who does: it takes a
third of the time of contact dynamics by 500."""

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

BEGIN = (1e-4, 1e-5)
"""mu to begin with from there, by tries, where contacts usually bear as much as the heaviest load;
less where that is a lid, or few balls are far heavier than most: with more, contacts of the others
would be pushed apart first."""

LEAST = 1e-4
"""Least part of that, so that mu begins well above its end."""

CALM, BOUNCE = 0.3, 0.7
"""In the DEM of balls: the rate of background damping over sqrt(g/l), of a fall by the scene's
length l, and the restitution. Slides of a whole packing end where their own inertia takes them:
stops of all bodies, or stronger damping, leave it between two slides, where rounds of least energy
set it off again. Weaker dampers of the contacts also allow longer steps."""

DEM_STEPS = 300_000
"""Most steps of the DEM in one try."""

ROUNDS, FEW, STANDS = 400, 100, 80
"""Most rounds of least energy; from where contact dynamics left balls, which may be far; and at one
mu, after the DEM: a packing that slides then needs hundreds, and the DEM does it in less time."""

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
    step leave open, over the heaviest load. overlap: deepest, over the scene's length. seconds:
    wall clock.
    """

    simulation: Simulation
    alone: bool
    how: str
    steps: int = 0
    rounds: int = 0
    unbalanced: float = 0.0
    overlap: float = 0.0
    seconds: float = 0.0

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
        )


def settle(
    scene,
    *,
    by: str | None = None,
    max_steps: int = 5000,
    max_seconds: float | None = None,
    callback: Callable[[str], object] | None = None,
) -> Rest:
    """Bring a scene to rest, also where smooth bodies would slide, spin or creep for ever.

    scene: a ``Scene``, the name of one in the gallery, a TOML file, or a ``Simulation``, which goes
    on from its state, with the loads and gravity that were set, and is at rest afterwards. by:
    "dynamics", contact dynamics for the scene's duration; or "dem", a soft DEM, quicker for random
    packings; None: "dem" for 300 balls or more of unequal size, between half-spaces, fixed balls
    and boxes that do not turn, of which one may shift, else "dynamics". What still moves then is
    stopped, see the head of this file. max_steps: of contact dynamics. max_seconds: of the wall
    clock; it is looked at between steps and rounds. callback(text): how it goes.

    Driven bodies stay driven; what they keep in motion does not come to rest.

    Raises NoRest where the scene is not at rest when steps or time are over, where bodies fall for
    ever, and where they overlap without room to part. A ``Simulation`` is then where it got.

    >>> import rigidlimit
    >>> rest = rigidlimit.settle("pile-2d")
    >>> rest.simulation.at_rest
    True
    >>> forces = rest.simulation.step(compatible=True).force
    """
    if by not in (None, "dynamics", "dem"):
        raise InputError(f"by is {by!r}; expected 'dynamics' or 'dem', or None, which chooses")
    if not (1 <= arrays.number(max_steps) < np.inf):
        raise InputError(f"max_steps is {max_steps!r}; expected a number of steps, 1 or more")
    if max_seconds is not None:
        arrays.positive("max_seconds", max_seconds)
    given = isinstance(scene, Simulation)
    simulation = scene if given else Simulation(scene, compatible="never")
    with patient():
        return _Settling(simulation, by, int(max_steps), max_seconds, callback).run()


class _Settling:
    """One call of ``settle``: what was asked for, and how far it came."""

    def __init__(self, simulation, by, max_steps, max_seconds, callback):
        self.simulation, self.max_steps, self.callback = simulation, max_steps, callback
        self.max_seconds = np.inf if max_seconds is None else max_seconds
        self.began, self.first, self.rounds = time.monotonic(), simulation.steps, 0
        self.dem, self.borne = None, None
        bodies = simulation.bodies
        external = np.where(bodies.free.ravel(), simulation.external_force, 0.0)
        self.balls = serves(bodies, external, simulation.state.velocity[:, 3:])
        self.by = by or ("dem" if self.balls and _many_sizes(bodies) else "dynamics")
        self.how = "DEM" if self.by == "dem" else "contact dynamics"

    def run(self) -> Rest:
        simulation = self.simulation
        if self.by == "dynamics":
            self._by_dynamics()
            if simulation.stands_still:
                return self._rest(alone=True)
        elif not self.balls:
            # other shapes are left to damping from there
            self._by_dem(SETTLED[-1])
        if _turns_nothing(simulation.bodies):
            self.how += ", then least potential energy"
            simulation.settings = replace(simulation.settings, closed=CLOSED)
            self._by_least_energy()
        else:
            self.how += ", then contact dynamics with kinetic damping"
        self._stop_all()
        return self._rest(alone=False)

    def tell(self, text):
        """Of how it goes, between steps; ends it when time is over."""
        if self.callback is not None:
            self.callback(text)
        if time.monotonic() - self.began > self.max_seconds:
            raise NoRest(
                f"scene {self.simulation.scene.name!r} is not at rest after {self.max_seconds:g} s "
                f"of the wall clock: {text}; expected more time (max_seconds), or a scene that "
                "comes to rest sooner" + _driven(self.simulation)
            )

    def _by_dynamics(self):
        simulation = self.simulation
        free_steps = int(np.ceil(simulation.scene.duration / simulation.dt)) + 50
        last = simulation.steps + min(free_steps, self.max_steps)
        while simulation.steps < last and not simulation.stands_still:
            self.tell(f"{self.how}, {simulation.step(compatible=False).summary}")

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
            if dem.stiffness_scale == SOFT[-1] and not self.balls:
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
            pull = largest_pull(simulation.bodies, simulation.external_force)
            calm = float(CALM * np.sqrt(pull / simulation.bodies.length))
            damping = {"restitution": BOUNCE, "background": calm, "quenches": False}
        return PenaltySimulation(
            simulation.scene,
            state=simulation.state,
            external_force=simulation.external_force,
            stiffness_scale=scale,
            **damping,
        )

    def _by_least_energy(self):
        """The pose of least energy; of balls after more of the DEM where it is too far to go."""
        simulation = self.simulation
        if not simulation.external_force[simulation.bodies.free.ravel()].any():
            raise NoRest(
                f"scene {simulation.scene.name!r} cannot come to rest: nothing presses its "
                "bodies together, and they move for ever; expected gravity, or loads"
            )
        if not self.balls:
            self._rounds(max_rounds=ROUNDS)
            return
        if self.by == "dynamics" and self._rounds(max_rounds=FEW):
            return
        for tolerance in SETTLED:
            self._by_dem(tolerance)
            at, borne, part = simulation.state, self.borne, self._part_of_heaviest()
            for begin in BEGIN:
                simulation.state = at
                if self._rounds(
                    start=borne, begin=part * begin, patience=STANDS, max_rounds=ROUNDS
                ):
                    return

    def _part_of_heaviest(self) -> float:
        """The usual contact force, as the DEM has it, over the heaviest load; 1 at most."""
        if self.borne is None or not self.borne[1].any():
            return 1.0
        force, free = self.borne[1], self.simulation.bodies.free.ravel()
        heaviest = np.abs(self.simulation.external_force[free]).max()
        return float(np.clip(np.median(force[force > 0.0]) / heaviest, LEAST, 1.0))

    def _rounds(self, **how) -> bool:
        """Whether rounds of least energy led from the present pose to rest."""
        simulation = self.simulation
        found = least_energy(
            simulation.bodies,
            simulation.state,
            simulation.external_force,
            callback=lambda text: self.tell(f"least potential energy, {text}"),
            **how,
        )
        self.rounds += found.rounds
        driven = _stopped(simulation.state, simulation.bodies).velocity
        simulation.start_from(found.state.moved(velocity=driven), found.contacts, found.force)
        return found.converged

    def _stop_all(self):
        """Contact dynamics in which all bodies stop whenever the kinetic energy no longer rises."""
        simulation, bodies = self.simulation, self.simulation.bodies
        mass = bodies.mass[:, None] * bodies.turning_arm**2 * bodies.free
        before, first, begun = 0.0, simulation.steps, simulation.state.position
        least, waited, stood = np.inf, 0, 0
        for _ in range(self.max_steps):
            result = simulation.step(compatible=False)
            self.tell(f"{self.how}, {result.summary}")
            if simulation.stands_still:
                stood += 1
                if stood > LAST or _deepest(simulation) <= CLOSED:
                    return
                continue
            way = np.linalg.norm(simulation.state.position - begun, axis=1)
            body = int(way.argmax())
            if way[body] > GONE * bodies.length and body not in result.contacts.body:
                break
            v = simulation.state.velocity
            energy = float((mass * v * v).sum())
            if energy <= before * (1 + RISES):
                least, waited = (before, 0) if before < least else (least, waited + 1)
                if waited > STOPS:
                    break
                simulation.state, energy = _stopped(simulation.state, bodies), 0.0
            before = energy
        raise NoRest(
            f"scene {simulation.scene.name!r} is not at rest after "
            f"{counted(simulation.steps - first, 'damped step')} of {simulation.dt:g} s, and "
            f"{bodies.names[body]!r} has gone {way[body]:.3g} m"
            + (f"; the last {STOPS} stops brought no less motion" if waited > STOPS else "")
            + "; expected a scene that comes to rest: bodies that rest on something, walls or a "
            "floor that hold them" + _driven(simulation)
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
            seconds=time.monotonic() - self.began,
        )


def _left_open(simulation: Simulation) -> tuple[float, float]:
    """(largest force on a body that contacts do not balance, over the heaviest load; deepest
    overlap over the scene's length), of the last step of a scene at rest."""
    result, bodies = simulation.last, simulation.bodies
    free, external = bodies.free.ravel(), simulation.external_force
    # moments over arms are forces
    arm = finite_reach(bodies.turning_arm.ravel())
    # of rotating bodies the gyroscopic moments are nothing at rest
    open_ = np.where(free, external + result.B.T @ result.force, 0.0) / arm
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


def _many_sizes(bodies: Bodies) -> bool:
    """Whether these are many balls of unequal size, as a random packing is of. Equal ones may be
    stacked in order, which contact dynamics keeps, and a soft DEM could shake down."""
    radius = bodies.bounding_radius[bodies.free.any(axis=1) & bodies.are(Sphere, Disk)]
    return len(radius) >= MANY and bool(np.ptp(radius) > 1e-3 * radius.max())


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
    turns = bodies.free[:, 3:].any(axis=1)
    return bool((~turns | bodies.are(Sphere, Disk)).all())


def _stopped(state: State, bodies: Bodies) -> State:
    """Without the velocities of what is free to move; what is driven goes on."""
    return state.moved(velocity=np.where(bodies.free, 0.0, state.velocity))
