"""Solids as the hull of a few points rounded by a smooth body, as kernels over ``solid_table``.

Points c_i: corners; the ends of an axis; the centre. Smooth body, about the origin: nothing; a
ball; a disk across the axis; an ellipsoid. The support function along unit d is
max_i c_i . d + r(d) . d with the support point r of the smooth body: all kinks but those of a disk
seen along its axis are in the maximum.
"""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define
from .kinds import BALL, CAPSULE, CYLINDER, ELLIPSOID, POLYTOPE
from .tolerances import TOLERANCES

POINTS = 3
"""Points of each body looked at; at most four of both can share a contact, three of one."""


@structref.register
class _HullType(StructType):
    pass


class RoundedHull:
    """One solid as it looks along a unit direction; all but local and smooth_local, which are in
    the solid's own axes, in those of the pair.

    kind, size (3,): as in ``Solids``; corners (.., 3) of a polytope. count: of the points local,
    points (POINTS, 3) furthest along the direction, the furthest first; high (POINTS,): their
    heights along it; flat (POINTS, 2): their places across it; weight (POINTS,): shares of the
    shared point (3,) among them; chosen (POINTS,): numbers of ``taken`` of
    them. smooth: whether the
    smooth part has a derivative; smooth_local, smooth_point (1, 3): its support point, and bend
    (3, 3): the second derivative, in own axes.
    """

    kind: int
    size: np.ndarray
    corners: np.ndarray
    count: int
    local: np.ndarray
    points: np.ndarray
    high: np.ndarray
    flat: np.ndarray
    weight: np.ndarray
    chosen: np.ndarray
    taken: int
    shared: np.ndarray
    smooth: bool
    smooth_local: np.ndarray
    smooth_point: np.ndarray
    bend: np.ndarray


define(RoundedHull, _HullType)


@njit(**INNER)
def new_hull(size: np.ndarray, corners: np.ndarray):
    """A ``RoundedHull`` yet to be looked at."""
    return RoundedHull(
        0, size, corners, 0, np.empty((POINTS, 3)), np.empty((POINTS, 3)), np.empty(POINTS),
        np.empty((POINTS, 2)), np.empty(POINTS), np.empty(POINTS, np.int64), 0, np.empty(3), True,
        np.empty((1, 3)), np.empty((1, 3)), np.empty((3, 3)),
    )  # fmt: skip


@njit(**INNER)
def furthest_points(kind: int, half: float, corners: np.ndarray, d: np.ndarray, chosen: np.ndarray):
    """Up to POINTS points of a solid furthest along unit d into chosen (POINTS, 3); their number.

    half: half length of a capsule or cylinder; corners (.., 3) of a polytope.

    The furthest first; others are those that a turn by less than near makes the furthest.
    """
    if kind == POLYTOPE:
        top, high = 0, -np.inf
        for i in range(len(corners)):
            h = corners[i, 0] * d[0] + corners[i, 1] * d[1] + corners[i, 2] * d[2]
            if h > high:
                high, top = h, i
        second, third, least, less = (
            -1,
            -1,
            TOLERANCES.near * TOLERANCES.near,
            TOLERANCES.near * TOLERANCES.near,
        )
        x, y, z = corners[top, 0], corners[top, 1], corners[top, 2]
        for i in range(len(corners)):
            u, v, w = corners[i, 0] - x, corners[i, 1] - y, corners[i, 2] - z
            drop = u * d[0] + v * d[1] + w * d[2]
            if i != top and drop * drop < less * (u * u + v * v + w * w):
                less = drop * drop / (u * u + v * v + w * w)
                third = i
                if less < least:
                    second, third, least, less = i, second, less, least
        count = 0
        for i in (top, second, third):
            if i >= 0:
                for k in range(3):
                    chosen[count, k] = corners[i, k]
                count += 1
        return count
    for k in range(3):
        chosen[0, k] = chosen[1, k] = 0.0
    if kind in (CAPSULE, CYLINDER):
        chosen[0, 2] = half if d[2] >= 0 else -half
        chosen[1, 2] = -chosen[0, 2]
        return 2 if abs(d[2]) < TOLERANCES.near else 1
    return 1


@njit(**INNER)
def smooth_part(kind: int, size: np.ndarray, d: np.ndarray, at: np.ndarray, bend: np.ndarray):
    """Support point at (3,) and second derivative bend (3, 3) of the smooth part of a solid.

    Returns whether there is one: not for the disk of a cylinder seen along its axis.
    """
    for i in range(3):
        at[i] = 0.0
        for j in range(3):
            bend[i, j] = 0.0
    if kind in (BALL, CAPSULE):
        for i in range(3):
            at[i] = size[0] * d[i]
            for j in range(3):
                bend[i, j] = size[0] * ((1.0 if i == j else 0.0) - d[i] * d[j])
    elif kind == ELLIPSOID:
        height = 0.0
        for i in range(3):
            height += (size[i] * d[i]) ** 2
        height = np.sqrt(height)
        for i in range(3):
            at[i] = size[i] ** 2 * d[i] / height
        for i in range(3):
            bend[i, i] = size[i] ** 2 / height
            for j in range(3):
                bend[i, j] -= at[i] * at[j] / height
    elif kind == CYLINDER:
        across = np.sqrt(d[0] * d[0] + d[1] * d[1])
        if across < TOLERANCES.rounding:
            return False
        x, y = d[0] / across, d[1] / across
        at[0], at[1] = size[0] * x, size[0] * y
        share = size[0] / across
        bend[0, 0], bend[1, 1] = share * y * y, share * x * x
        bend[0, 1] = bend[1, 0] = -share * x * y
    return True


@njit(cache=True)
def across(hull: RoundedHull, n: np.ndarray, u: np.ndarray, v: np.ndarray, sign: float):
    """Heights of the points of a hull along sign * n, and their places across n in axes u, v."""
    points, high, flat = hull.points, hull.high, hull.flat
    for i in range(hull.count):
        x, y, z = points[i]
        high[i] = sign * (x * n[0] + y * n[1] + z * n[2])
        flat[i, 0] = x * u[0] + y * u[1] + z * u[2]
        flat[i, 1] = x * v[0] + y * v[1] + z * v[2]


@njit(cache=True)
def basis(n: np.ndarray, u: np.ndarray, v: np.ndarray):
    """Two unit directions across unit n."""
    least = 0
    for k in range(1, 3):
        if abs(n[k]) < abs(n[least]):
            least = k
    square = 0.0
    for k in range(3):
        u[k] = (1.0 if k == least else 0.0) - n[least] * n[k]
        square += u[k] * u[k]
    for k in range(3):
        u[k] /= np.sqrt(square)
    v[0] = n[1] * u[2] - n[2] * u[1]
    v[1] = n[2] * u[0] - n[0] * u[2]
    v[2] = n[0] * u[1] - n[1] * u[0]
