"""Unit quaternions (w, x, y, z), many at a time: arrays of shape (n, 4) and (n, 3)."""

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import number
from ..errors import SceneError


def identity(n: int) -> np.ndarray:
    """n unit quaternions that turn nothing, (n, 4)."""
    q = np.zeros((n, 4))
    q[:, 0] = 1.0
    return q


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton product a b, (n, 4): the rotation b followed by a."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    aw, ax, ay, az = (a[..., k] for k in range(4))
    bw, bx, by, bz = (b[..., k] for k in range(4))
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def normalized(q: np.ndarray) -> np.ndarray:
    """q scaled to unit length, (n, 4)."""
    q = np.asarray(q, float)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


UNIT = 1e-6
"""Largest difference of a quaternion's square from one at which it is accepted as a rotation:
allows for files of few digits and the drift of other programs, not for mistakes."""


ROUNDING = 1e-15
"""Difference of a quaternion's square from one that is rounding."""

DIGITS = 16
"""Last digits of an angle that are tried to meet those of its quaternion."""


def no_rotations(q: np.ndarray) -> np.ndarray:
    """Rows of quaternions (n, 4) that are not of unit length, as of zeros."""
    return np.flatnonzero(~(np.abs(np.einsum("ij,ij->i", q, q) - 1.0) <= UNIT))


def from_orientation(label: str, given: ArrayLike | None, dim: int) -> np.ndarray:
    """Unit quaternion (4,) of an orientation as users give it: None, a quaternion (w, x, y, z), or
    in 2D an angle [rad]. Raises SceneError, which begins with ``label``, for others."""
    if given is None:
        return identity(1)[0]
    if dim == 2:
        if np.ndim(given) != 0 or not np.isfinite(number(given)):
            raise SceneError(f"{label}: orientation is {given!r}; expected an angle")
        return about_z(number(given))
    try:
        q = arrays.floats(given)
    except (TypeError, ValueError):
        q = np.zeros(0)
    if q.shape != (4,) or not np.isfinite(q).all() or not np.abs(q).max() > 0.0:
        raise SceneError(f"{label}: orientation is {given!r}; expected a quaternion (w, x, y, z)")
    return unit(q)


def unit(q: np.ndarray) -> np.ndarray:
    """``normalized``, but quaternions that are of unit length to rounding stay as they are: what
    is written down of a rotation gives it again to the last digit."""
    off = np.abs(np.einsum("...i,...i->...", q, q) - 1.0)
    return np.where((off <= ROUNDING)[..., None], q, normalized(q))


def turned(q: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) of the rotations q followed by turns of |theta| radians about theta
    (n, 3)."""
    return _turned(np.ascontiguousarray(q, float), np.ascontiguousarray(theta, float))


@njit(cache=True)
def _turned(q, theta):
    out = np.empty_like(q)
    for i in range(len(q)):
        x, y, z = theta[i]
        half = 0.5 * np.sqrt(x * x + y * y + z * z)
        w, part = 1.0, 0.5
        if half != 0.0:
            w, part = np.cos(half), 0.5 * np.sin(half) / half
        x, y, z = part * x, part * y, part * z
        a, b, c, d = q[i]
        out[i, 0] = w * a - x * b - y * c - z * d
        out[i, 1] = w * b + x * a + y * d - z * c
        out[i, 2] = w * c - x * d + y * a + z * b
        out[i, 3] = w * d + x * c - y * b + z * a
        square = 0.0
        for k in range(4):
            square += out[i, k] * out[i, k]
        for k in range(4):
            out[i, k] /= np.sqrt(square)
    return out


def from_cayley(theta: np.ndarray) -> np.ndarray:
    """Quaternion of the Cayley rotation (1 - [theta]/2)^-1 (1 + [theta]/2); (n, 3) -> (n, 4).

    It turns about theta by 2 atan(|theta|/2), the step of the implicit midpoint rule.
    """
    theta = np.asarray(theta, float)
    return normalized(np.concatenate([np.ones(theta.shape[:-1] + (1,)), theta / 2], axis=-1))


def matrix(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) whose columns are the body axes in the world frame."""
    q = np.ascontiguousarray(q, float)
    return _matrix(q.reshape(-1, 4)).reshape(*q.shape[:-1], 3, 3)


@njit(cache=True)
def _matrix(q):
    out = np.empty((len(q), 3, 3))
    for i in range(len(q)):
        w, x, y, z = q[i]
        out[i, 0, 0] = 1 - 2 * (y * y + z * z)
        out[i, 0, 1] = 2 * (x * y - w * z)
        out[i, 0, 2] = 2 * (x * z + w * y)
        out[i, 1, 0] = 2 * (x * y + w * z)
        out[i, 1, 1] = 1 - 2 * (x * x + z * z)
        out[i, 1, 2] = 2 * (y * z - w * x)
        out[i, 2, 0] = 2 * (x * z - w * y)
        out[i, 2, 1] = 2 * (y * z + w * x)
        out[i, 2, 2] = 1 - 2 * (x * x + y * y)
    return out


def about_z(angle: np.ndarray) -> np.ndarray:
    """Quaternion of the planar rotation by angle [rad]; (n,) -> (n, 4)."""
    angle = np.asarray(angle, float)
    zero = np.zeros_like(angle)
    return np.stack([np.cos(angle / 2), zero, zero, np.sin(angle / 2)], axis=-1)


def angle_of(q: np.ndarray) -> float:
    """An angle [rad] of which ``about_z`` makes q (4,) again to the last digit, if there is one;
    else the nearest."""
    angle = float(2.0 * np.arctan2(q[3], q[0]))
    low = high = angle
    for _ in range(DIGITS):
        for near in (low, high):
            if np.array_equal(about_z(near), q):
                return near
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
    return angle


def angle_about_z(q: np.ndarray) -> np.ndarray:
    """The planar angle [rad] in (-pi, pi] of rotations about z; (n, 4) -> (n,)."""
    q = np.asarray(q, float)
    return np.arctan2(2 * q[..., 0] * q[..., 3], q[..., 0] ** 2 - q[..., 3] ** 2)


def aligning_z(normal: np.ndarray) -> np.ndarray:
    """A quaternion (4,) that turns the z axis onto ``normal`` (unit, (3,))."""
    x, y, z = normal
    if z < -1 + 1e-14:
        return np.array([0.0, 1.0, 0.0, 0.0])
    return normalized(np.array([1 + z, -y, x, 0.0]))
