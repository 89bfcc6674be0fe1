"""Moving bodies by their velocities, eq. 13, so that free flight keeps momentum and energy.

Positions and the poses of bodies with equal principal inertias follow eq. 13 with the exact
rotation. A body with unequal inertias precesses: its spin changes without torque. Its turn is the
implicit midpoint rule in the body frame,

    P+ - P = dt P_mid x w_mid,    P_mid = (P + P+)/2 = J w_mid,    R+ = R cay(dt w_mid),

which keeps the angular momentum R P and the energy P . J^-1 P / 2 exactly; eq. 13 with a spin held
in the world frame keeps neither. Both agree to first order in dt.
"""

import numpy as np

from . import rotations
from .bodies import Bodies, State


def move(bodies: Bodies, state: State, velocity: np.ndarray, dt: float) -> State:
    """The state after dt [s] at generalized velocity (n, 6): new poses, velocities and time."""
    velocity = np.where(bodies.free, velocity, state.velocity)
    position = state.position + dt * velocity[:, :3]
    quaternion = rotations.turned(state.quaternion, dt * velocity[:, 3:])
    precessing = bodies.derived(_precessing) & (velocity[:, 3:] != 0).any(axis=1)
    if precessing.any():
        which = np.flatnonzero(precessing)
        quaternion[which], spin = _midpoint(
            bodies.inertia[which], state.quaternion[which], velocity[which, 3:], dt
        )
        velocity = velocity.copy()
        velocity[which, 3:] = spin
    return State(position, quaternion, velocity, state.time + dt)


def _precessing(bodies: Bodies) -> np.ndarray:
    """Bodies free to turn about every axis whose principal inertias differ, (n,) bool."""
    spread = bodies.inertia - np.trace(bodies.inertia, axis1=1, axis2=2)[
        :, None, None
    ] / 3 * np.eye(3)
    size = np.abs(bodies.inertia).max(axis=(1, 2))
    unequal = np.abs(spread).max(axis=(1, 2)) > 1e-12 * size
    return unequal & bodies.free[:, 3:].all(axis=1)


def _midpoint(inertia, quaternion, spin, dt):
    """New quaternions and world spins of k precessing bodies; inertia (k, 3, 3) in body axes."""
    axes = rotations.matrix(quaternion)
    inverse = np.linalg.inv(inertia)
    momentum = np.einsum("kij,kj->ki", inertia, np.einsum("kji,kj->ki", axes, spin))
    middle = momentum.copy()
    for _ in range(50):
        w = np.einsum("kij,kj->ki", inverse, middle)
        error = middle - momentum - 0.5 * dt * np.cross(middle, w)
        slope = np.eye(3) - 0.5 * dt * (_cross(middle) @ inverse - _cross(w))
        change = np.linalg.solve(slope, error[:, :, None])[:, :, 0]
        middle -= change
        if (np.abs(change) <= 1e-15 * np.abs(middle).max(axis=1, keepdims=True)).all():
            break
    w = np.einsum("kij,kj->ki", inverse, middle)
    new = rotations.normalized(rotations.multiply(quaternion, rotations.from_cayley(dt * w)))
    after = np.einsum("kij,kj->ki", inverse, 2 * middle - momentum)
    return new, np.einsum("kij,kj->ki", rotations.matrix(new), after)


def _cross(a):
    """Matrices [a] with [a] b = a x b, (k, 3, 3)."""
    zero = np.zeros(len(a))
    x, y, z = a.T
    return np.stack(
        [np.stack(r, -1) for r in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], axis=-2
    )
