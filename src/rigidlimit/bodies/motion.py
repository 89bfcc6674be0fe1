"""Moving bodies by their velocities, eq. 13, so that free flight keeps momentum and energy.

Positions and the poses of bodies with equal principal inertias follow eq. 13 with the exact
rotation. A body with unequal inertias precesses: its spin changes without torque. Its turn is the
implicit midpoint rule in the body frame,

    P+ - P = dt P_mid x w_mid,    P_mid = (P + P+)/2 = J w_mid,    R+ = R cay(dt w_mid),

which keeps the angular momentum R P and the energy P . J^-1 P / 2 exactly; eq. 13 with a spin held
in the world frame keeps neither. Both agree to first order in dt.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from . import rotations
from .bodies import Bodies, State


def move(
    bodies: Bodies,
    state: State,
    velocity: np.ndarray,
    dt: float,
    separation: np.ndarray | None = None,
) -> State:
    """The state after dt [s] at generalized velocity (n, 6): new poses, velocities and time.

    separation (n, 6) [m]: displacements beside, of no velocity. In a periodic cell
    x + dt (v + L x): images stay images.
    """
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
    way = dt * velocity
    if separation is not None:
        position = position + separation[:, :3]
        quaternion = rotations.turned(quaternion, separation[:, 3:])
        way = way + separation
    moved = State(position, quaternion, velocity, state.time + dt, state.cell)
    if state.cell is None:
        return moved
    quaternion[-1] = state.quaternion[-1]
    return _with_cell(bodies, state, moved, way)


def shifted(bodies: Bodies, state: State, way: np.ndarray) -> State:
    """The state after displacements (n, 6) [m] that turn no body, of the cell among them."""
    moved = state.moved(position=state.position + way[:, :3])
    return moved if state.cell is None else _with_cell(bodies, state, moved, way)


def _with_cell(bodies, state, moved, way):
    """``moved``, strained with the cell from ``state`` by the last row of ``way`` (n, 6) [m]."""
    strain = bodies.velocity_gradient(way)
    position = moved.position + state.position @ strain.T
    position[-1] = state.position[-1]
    return moved.moved(position=position, cell=state.cell @ (np.eye(3) + strain).T)


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
    inverse = np.linalg.inv(inertia)
    middle, after = _precess(inertia, inverse, rotations.matrix(quaternion), spin, dt)
    new = rotations.normalized(rotations.multiply(quaternion, rotations.from_cayley(dt * middle)))
    return new, np.einsum("kij,kj->ki", rotations.matrix(new), after)


@njit(cache=True)
def _precess(inertia, inverse, axes, spin, dt):
    """(w in the middle of the step, w at its end), both (k, 3) in body axes."""
    middles, afters = np.empty_like(spin), np.empty_like(spin)
    for k in range(len(spin)):
        V, way = inverse[k], 0.5 * dt
        start = _times(inertia[k], _times(axes[k].T, (spin[k, 0], spin[k, 1], spin[k, 2])))
        middle = start
        for _ in range(50):
            w = _times(V, middle)
            turned = _cross(middle, w)
            error = _plus(middle, -1.0, _plus(start, way, turned))
            # columns of I - dt/2 ([middle] V - [w])
            x = _cross(middle, (V[0, 0], V[1, 0], V[2, 0]))
            y = _cross(middle, (V[0, 1], V[1, 1], V[2, 1]))
            z = _cross(middle, (V[0, 2], V[1, 2], V[2, 2]))
            x = (1.0 - way * x[0], -way * (x[1] - w[2]), -way * (x[2] + w[1]))
            y = (-way * (y[0] + w[2]), 1.0 - way * y[1], -way * (y[2] - w[0]))
            z = (-way * (z[0] - w[1]), -way * (z[1] + w[0]), 1.0 - way * z[2])
            across = _cross(y, z)
            determinant = _dot(x, across)
            change = (
                _dot(across, error) / determinant,
                _dot(_cross(z, x), error) / determinant,
                _dot(_cross(x, y), error) / determinant,
            )
            middle = _plus(middle, -1.0, change)
            size = max(abs(change[0]), abs(change[1]), abs(change[2]))
            if size <= 1e-15 * max(abs(middle[0]), abs(middle[1]), abs(middle[2])):
                break
        w, after = _times(V, middle), _times(V, _plus(middle, 1.0, _plus(middle, -1.0, start)))
        for i in range(3):
            middles[k, i], afters[k, i] = w[i], after[i]
    return middles, afters


@njit(**INNER)
def _times(A, x):
    return (
        A[0, 0] * x[0] + A[0, 1] * x[1] + A[0, 2] * x[2],
        A[1, 0] * x[0] + A[1, 1] * x[1] + A[1, 2] * x[2],
        A[2, 0] * x[0] + A[2, 1] * x[1] + A[2, 2] * x[2],
    )


@njit(**INNER)
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(**INNER)
def _plus(a, s, b):
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@njit(**INNER)
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
