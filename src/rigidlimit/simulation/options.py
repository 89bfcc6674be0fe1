"""Checks of the options of a simulation."""

import numpy as np

from .._support import arrays
from ..bodies.materials import TANGENTIAL_LAWS
from ..errors import InputError
from ..scenes.scene import Scene
from ..step.friction import Friction

SHORTEST = 1e-150
"""Least time step [s] whose square still has full precision."""


def steps_between(time: float, until: float, dt: float) -> int:
    """Steps of ``dt`` from ``time`` to ``until`` [s]. Raises InputError for steps so short that
    time, a number of 16 digits, would stand still."""
    if dt < np.spacing(until):
        usual = np.spacing(until) < 1e-3
        advice = "a longer step, like 1e-3" if usual else "an earlier end of the run"
        raise InputError(
            f"dt is {dt:g} s, below the rounding of a time of {until:g} s, which would not "
            f"advance; expected {advice}"
        )
    return int(np.ceil((until - time) / dt - 1e-9))


def time_step(dt: float) -> float:
    """The time step [s]. Raises InputError for one that no step can take."""
    dt = arrays.positive("dt", dt)
    if dt < SHORTEST:
        raise InputError(
            f"dt is {dt:g} s, whose square is zero to a computer; expected a time step in "
            "seconds, like 1e-3"
        )
    return dt


def relative(tolerance: float) -> float:
    """A tolerance on relative residuals, of which that of no forces is 1."""
    if not 0.0 < arrays.number(tolerance) < 1.0:
        raise InputError(f"tolerance is {tolerance!r}; expected a positive number below 1")
    return float(tolerance)


def rebound(restitution: float) -> float:
    """e_n, as given. Raises InputError if it is not within 0 and 1."""
    if not 0 <= arrays.number(restitution) <= 1:
        raise InputError(f"restitution is {restitution!r}; expected 0 <= e_n <= 1")
    return restitution


def scene_friction(scene: Scene, law: str | None, increments: int | None) -> Friction:
    """Friction of a scene, with the tangential law and the increments of step 2; those that are
    None are the scene's. Raises InputError for others than there are."""
    law = scene.tangential_law if law is None else law
    increments = scene.increments if increments is None else increments
    if law not in TANGENTIAL_LAWS:
        raise InputError(f"tangential_law is {law!r}; expected {' or '.join(TANGENTIAL_LAWS)}")
    increments = arrays.whole("increments", increments)
    return Friction(scene.pair_friction, scene.pair_tangential_stiffness, law, increments)
