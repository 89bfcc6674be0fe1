"""Checks of a scene that comes to rest: unbalanced forces, overlaps, driven bodies."""

import numpy as np

from ..bodies import Bodies, Disk, Sphere, State
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..conditioning.screening import finite_reach
from ..simulation import STILL, Simulation
from ..step.motion import flies_off, ways
from .rest_settings import SETTINGS
from .squeezed import is_squeezed, largest_loads


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


def flies_away(simulation: Simulation, begun: State) -> str:
    """The body that has gone farthest since ``begun``, if that is far and nothing lies ahead of it,
    or ""."""
    bodies, state = simulation.bodies, simulation.last.state
    way = ways(bodies, begun, state)
    body = int(way.argmax())
    far = way[body] > SETTINGS.gone * bodies.length
    gone = far and body not in simulation.last.contacts.body
    return bodies.names[body] if gone and flies_off(bodies, state, body) else ""


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
