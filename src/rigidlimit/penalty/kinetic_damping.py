"""Contact dynamics with kinetic damping: all bodies stop whenever the kinetic energy no longer
rises.

It can end nowhere but at rest (P. A. Cundall, explicit finite-difference methods in geomechanics,
1976).
"""

from collections.abc import Callable

import numpy as np

from .._support.words import counted
from ..bodies import State
from ..errors import NoRest
from ..simulation import Simulation
from ..step.motion import motion
from .rest_checks import SETTINGS, deepest, driven, flies_away, stopped


def damp(
    simulation: Simulation, begun: State, step: Callable[[], object], *, max_steps: int
) -> None:
    """Damped steps until the scene has rested for some of them. begun: where it was once. step():
    makes one step.

    Raises NoRest where it does not come to rest.
    """
    first, closed = simulation.steps, simulation.settings.closed or SETTINGS.closed
    energy, least, waited, stood = 0.0, np.inf, 0, 0
    for _ in range(max_steps):
        before = energy
        energy = _damped(simulation, step, before)
        if simulation.stands_still:
            stood += 1
            if stood > SETTINGS.last or deepest(simulation) <= closed:
                return
            continue
        if flies_away(simulation, begun):
            break
        if energy == 0.0:
            least, waited = (before, 0) if before < least else (least, waited + 1)
            if waited > SETTINGS.stops:
                break
    raise NoRest(
        f"scene {simulation.scene.name!r} is not at rest after "
        f"{counted(simulation.steps - first, 'damped step')} of {simulation.dt:g} s: "
        # velocities of the last step, before bodies were stopped
        + (motion(simulation.bodies, begun, simulation.last.state, simulation.dt) or "bodies creep")
        + (
            f"; the last {SETTINGS.stops} stops brought no less motion"
            if waited > SETTINGS.stops
            else ""
        )
        + f"; expected {_expected(flies_away(simulation, begun), simulation.rough)}"
        + driven(simulation)
    )


def _damped(simulation, step, before) -> float:
    """The kinetic energy after a step; 0 where it is not above that of ``before``, and all bodies
    were stopped."""
    step()
    bodies = simulation.bodies
    mass = bodies.mass[:, None] * bodies.turning_arm**2 * bodies.free
    energy = float((mass * simulation.state.velocity**2).sum())
    if energy > before * (1 + SETTINGS.rises):
        return energy
    if not simulation.stands_still:
        simulation.state = stopped(simulation.state, bodies)
    return 0.0


def _expected(away: str, rough: bool) -> str:
    if away:
        return in_the_way(away)
    if rough:
        return (
            "a scene that comes to rest, or more steps (max_steps); rigidlimit collapse and "
            "rl.statics(scene).least_friction() compute whether friction can hold it"
        )
    return (
        "a scene that comes to rest, or more steps (max_steps): without friction, what leans or "
        "stands on a slope slides until something holds it"
    )


def in_the_way(away: str) -> str:
    """What a body that falls forever lacks."""
    return f"walls or a floor in the way of {away!r}, ahead of which nothing lies"
