"""When one way to bring a scene to rest ends and the next begins (``rest.py``): settings, and
checks of unbalanced forces, overlaps, driven bodies."""

from dataclasses import dataclass

import numpy as np

from ..bodies import Bodies, Disk, Sphere, State
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..conditioning.screening import finite_reach
from ..simulation import STILL, Simulation
from ..step.motion import flies_off, ways
from .squeezed import is_squeezed, largest_loads


@dataclass(frozen=True)
class Settings:
    """Steps of contact dynamics, rounds of least energy with their mu, tries of the DEM.

    closed: largest gap over the scene's length of a closed contact in a least-energy pose.
    carried: largest unbalanced part of the loads, summed over bodies, at which contacts carry
    them: a tenth and less in a packing that creeps, a half in one that slides, all of it in one
        that falls.
    close: largest gap over the smaller one's radius at which bodies count as near, and not as
        poured loosely.
    creeps: steps of contact dynamics in which contacts carry the loads, less those in which they do
        not, after which what is left of motion is creeping and the least energy is searched for.
    soft: stiffness scales of the DEM: the softest is the quickest. The next one where bodies sink
        too far into each other, as those that fall from high, or lie under many others.
    sunk: overlap over the smaller one's radius, at rest, that is too far.
    near: overlap over the smaller one's radius, at rest, from which rounds of least energy still
        find the rest of rigid balls nearby.
    stiffer: factor by which a DEM of balls that sink further becomes stiffer: to part them moves
        others a hundred times as far, and a packing that is moved so far slides anew.
    settled: unbalanced force over the heaviest load at which the DEM ends, by tries: the next one
        where the packing had not come to rest yet, and only looked so between two slides.
    balanced: the same where rough bodies go on with the forces of the DEM: speeds at rest are a
        millionth of a free fall's at most, and balls that roll freely gather them step by step.
    begin: initial mu from there, where contact forces usually are as large as the heaviest load;
        less where that is a lid, or few balls are far heavier than most: with more, contacts of the
        others would be pushed apart first.
    loosened: strain by which a cell is stretched before rounds under its stress begin.
    roomy: mu then, which keeps as much room between bodies: what follows the path from there seldom
        slides.
    parted: mu where it is stretched by the overlaps of a DEM alone, which has slid already.
    near_under_stress: largest overlap over the smaller one's radius at which that is tried.
    roughly: unbalanced force at which a DEM of a stress ends that is to be made stiffer.
    harder: how often it may be.
    sliding_rounds: rounds of least energy in which a packing that does not slide is at rest: 40 to
        70.
    least: least part of the heaviest load that mu begins with, well above its end.
    calm: rate of background damping of the DEM of balls over sqrt(g/l), of a fall by the scene's
        length l. Slides of a whole packing end where their own inertia takes them: stops of all
        bodies, or stronger damping, leave it between two slides, where rounds of least energy set
        it off again.
    bounce: restitution of that DEM: weaker dampers of the contacts also allow longer steps.
    dem_steps: most steps of the DEM in one try.
    rounds: most rounds of least energy in a search; a hundred are the rule, several where packings
        slide.
    stops: stops of all bodies without a lower kinetic energy after which damping is given up:
        bodies that come to rest take one or two at most.
    last: most steps for the remaining overlaps of a scene at rest: large loads press them into
        small bodies, and each step reduces them to a hundredth.
    rises: part by which the kinetic energy must grow in a step, or all bodies are stopped. Bodies
        in free fall gain more; a smooth box that spins on the floor keeps its energy forever.
    gone: displacement of a body that touches nothing, over the scene's length, above which it
        falls forever.
    """

    closed: float = 1e-9
    carried: float = 0.1
    close: float = 1e-2
    creeps: int = 50
    soft: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    sunk: float = 1e-2
    near: float = 5e-4
    stiffer: float = 10.0
    settled: tuple[float, ...] = (1e-2, 1e-3, 1e-4)
    balanced: float = 1e-8
    begin: float = 1e-4
    loosened: float = 1e-2
    roomy: float = 0.1
    parted: float = 1e-3
    near_under_stress: float = 3e-3
    roughly: float = 0.1
    harder: int = 6
    sliding_rounds: int = 80
    least: float = 1e-4
    calm: float = 0.3
    bounce: float = 0.7
    dem_steps: int = 300_000
    rounds: int = 1000
    stops: int = 60
    last: int = 5
    rises: float = 1e-6
    gone: float = 30.0


SETTINGS = Settings()


def left_open(simulation: Simulation) -> tuple[float, float]:
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
    return float(np.abs(open_).max(initial=0.0)) / scale, deepest(simulation)


def deepest(simulation: Simulation) -> float:
    """Deepest overlap over the scene's length, of the last step."""
    gap = simulation.last.contacts.gap
    return max(0.0, -float(gap.min(initial=0.0))) / simulation.bodies.length


def sunk_by(contacts: Contacts, bodies: Bodies) -> float:
    """Deepest overlap over the smaller one's radius: large bodies sink further, and may."""
    radius = bodies.bounding_radius[contacts.body].min(axis=1, initial=np.inf)
    return float((-contacts.gap / radius).max(initial=0.0))


def no_room(simulation: Simulation) -> str:
    """Which bodies overlap most in a step that stood still because they cannot part."""
    contacts, bodies = simulation.last.contacts, simulation.bodies
    a, b = (bodies.names[i] for i in contacts.body[int(contacts.gap.argmin())])
    return (
        f"bodies {a!r} and {b!r} overlap by {-contacts.gap.min():.3g} m and have no room to part: "
        "they stand still, but no contact forces balance; expected bodies that do not overlap, or "
        "room for them: check positions and sizes, move walls or bodies apart"
    )


def driven(simulation: Simulation) -> str:
    """Which body is driven, as part of why nothing rests; "" where none is."""
    bodies, velocity = simulation.bodies, simulation.state.velocity
    moved = np.flatnonzero(np.where(bodies.free, 0.0, velocity).any(axis=1))
    if not len(moved):
        return ""
    name = bodies.names[moved[0]]
    more = f", and {len(moved) - 1} more," if len(moved) > 1 else ""
    return f"; {name!r}{more} is driven, and keeps in motion what it meets: stop it first"


def turns_nothing(bodies: Bodies) -> bool:
    """Whether turning moves no contact: of balls, and of others that are held against it."""
    turns = (bodies.free & ~bodies.shifts).any(axis=1)
    return bool((~turns | bodies.are(Sphere, Disk)).all())


def stopped(state: State, bodies: Bodies) -> State:
    """Without the velocities of free bodies; driven ones keep theirs."""
    return state.moved(velocity=np.where(bodies.free, 0.0, state.velocity))


def flies_away(simulation: Simulation, begun: State, state: State | None = None) -> str:
    """The body that has gone farthest since ``begun``, if that is far, its load does not bring it
    back and nothing lies ahead of it, or "". state: of a DEM; by default that of the last step."""
    bodies = simulation.bodies
    now = simulation.last.state if state is None else state
    way = ways(bodies, begun, now)
    body = int(way.argmax())
    if way[body] <= SETTINGS.gone * bodies.length:
        return ""
    load = simulation.external_force.reshape(-1, 6)[body, :3]
    held = load @ now.velocity[body, :3] < 0.0
    held |= state is None and body in simulation.last.contacts.body
    return "" if held or not flies_off(bodies, now, body) else bodies.names[body]


def is_loaded(simulation: Simulation) -> bool:
    """Whether any load acts on what is free."""
    return bool(simulation.external_force[simulation.bodies.free.ravel()].any())


def stands(simulation: Simulation) -> bool:
    """Whether nothing moves before the first step, as after rest under other loads: then there is
    no slide to wait for."""
    bodies = simulation.bodies
    fall = largest_loads(bodies, simulation.external_force)[1] * simulation.dt
    way = np.where(bodies.free, simulation.state.velocity * bodies.turning_arm, 0.0)
    return bool(np.abs(way).max() <= STILL * fall)


def carries(simulation: Simulation) -> bool:
    """Whether contacts carried the loads in the last step, all but a part."""
    load, pushed = _loads(simulation)
    return bool(np.abs(load + pushed).sum() <= SETTINGS.carried * np.abs(load).sum())


def is_loose(simulation: Simulation, begun: State) -> bool:
    """Whether balls are poured loosely, by the first step from ``begun``: contacts carry hardly any
    force, and fewer are near than there are balls to hold."""
    bodies = simulation.bodies
    load, pushed = _loads(simulation)
    # collisions of a gas say nothing about the stress that it has to carry
    if not is_squeezed(bodies) and np.abs(pushed).sum() > SETTINGS.carried * np.abs(load).sum():
        return False
    radius = np.where(np.isfinite(bodies.bounding_radius), bodies.bounding_radius, 0.0)
    near = find_contacts(bodies, begun, SETTINGS.close * radius)
    least = bodies.bounding_radius[near.body].min(axis=1, initial=np.inf)
    close = np.count_nonzero(near.gap <= SETTINGS.close * least)
    return bool(close < np.count_nonzero(bodies.free[:, :3].any(axis=1)))


def _loads(simulation):
    """Loads on what is free to shift, and what contacts pushed in the last step [N]."""
    at = np.flatnonzero(simulation.bodies.shifts)
    return simulation.external_force[at], simulation.last.pushed[at]
