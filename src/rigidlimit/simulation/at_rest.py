"""Whether a simulation has come to rest."""

import numpy as np

from ..bodies import Bodies, State

STILL = 1e-6
"""Part of what a load does in a step that counts as nothing."""


def stand_still(
    bodies: Bodies, velocities: tuple[np.ndarray, ...], external_force: np.ndarray, dt: float
) -> bool:
    """Whether all speeds and changes of momentum of a step are ``STILL`` parts of what loads do.

    velocities: before and after the step, (n, 6) each. external_force (6 n,) [N, N m].
    """
    moving = bodies.free.any(axis=1)
    mass = np.where(bodies.mass > 0, bodies.mass, np.inf)[moving]
    force = np.abs(external_force.reshape(-1, 6)[moving, :3]).max(axis=1)
    speed = largest_speed(bodies, velocities)[moving]
    # a light body under a large load falls fast: what it gains is no measure for the others
    fall, push = (force / mass).max() * dt, force.max() * dt
    return bool(speed.max() <= STILL * fall and (mass * speed).max() <= STILL * push)


def largest_speed(bodies: Bodies, velocities: tuple[np.ndarray, ...]) -> np.ndarray:
    """Largest speed of each body's farthest point among several ``velocities`` (n, 6), (n,) [m/s]:
    the spin of balls moves nothing."""
    return np.max([np.abs(v * bodies.turning_arm).max(axis=1) for v in velocities], axis=0)


def same_state(now: State, then: State) -> bool:
    """Whether two states have the same velocities and poses."""
    return now is then or (
        np.array_equal(now.velocity, then.velocity)
        and np.array_equal(now.position, then.position)
        and np.array_equal(now.quaternion, then.quaternion)
    )
