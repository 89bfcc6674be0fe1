"""Checks of what a simulation is asked for."""

import numpy as np

from .._support import arrays
from ..bodies.materials import TANGENTIAL_LAWS
from ..dynamics.driver import check_solver
from ..errors import InputError
from ..forces.friction import has_friction
from ..scenes.scene import Scene, law_exponent
from ..step import StepSettings
from ..step.friction import Friction

SHORTEST = 1e-150
"""Time step [s] from which on its square is still a number of full precision."""


def steps_between(time: float, until: float, dt: float) -> int:
    """Steps of ``dt`` from ``time`` to ``until`` [s]. Raises InputError for steps so short that
    time, a number of 16 digits, would stand still."""
    if dt < np.spacing(until):
        raise InputError(
            f"dt is {dt:g} s, less than the last digit of a time of {until:g} s, which would stand "
            "still; expected a longer step, like 1e-3"
        )
    return int(np.ceil((until - time) / dt - 1e-9))


def step_settings(
    scene: Scene,
    *,
    dt: float | None,
    law: str | float | None,
    restitution: float | None,
    tangential_law: str | None,
    increments: int | None,
    closed: float | None,
    tolerance: float,
    solver: str,
    solver_options: dict | None,
) -> StepSettings:
    """The settings of ``Simulation``, checked; those that are None are the scene's.

    Raises InputError for values that no step can take.
    """
    check_solver(
        solver, solver_options or {}, rough=has_friction(scene.bodies, scene.pair_friction)
    )
    restitution = scene.restitution if restitution is None else restitution
    if not 0 <= arrays.number(restitution) <= 1:
        raise InputError(f"restitution is {restitution!r}; expected 0 <= e_n <= 1")
    dt = arrays.positive("dt", scene.dt if dt is None else dt)
    if dt < SHORTEST:
        raise InputError(
            f"dt is {dt:g} s, whose square is zero to a computer; expected a time step in "
            "seconds, like 1e-3"
        )
    return StepSettings(
        dt=dt,
        exponent=scene.exponent if law is None else law_exponent(law),
        pair_stiffness=scene.pair_stiffness,
        restitution=restitution,
        solver=solver,
        solver_options=solver_options,
        tolerance=arrays.positive("tolerance", tolerance),
        closed=None if closed is None else arrays.positive("closed", closed),
        friction=Friction(
            scene.pair_friction,
            scene.pair_tangential_stiffness,
            *_tangential(scene, tangential_law, increments),
        ),
    )


def _tangential(scene: Scene, law: str | None, increments: int | None) -> tuple[str, int]:
    """Tangential law and increments of step 2: those given, else the scene's."""
    law = scene.tangential_law if law is None else law
    increments = scene.increments if increments is None else increments
    if law not in TANGENTIAL_LAWS:
        raise InputError(f"tangential_law is {law!r}; expected {' or '.join(TANGENTIAL_LAWS)}")
    if not (arrays.is_positive(increments) and increments == int(increments)):
        raise InputError(f"increments is {increments!r}; expected a positive integer")
    return law, int(increments)
