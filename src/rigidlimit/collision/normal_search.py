"""Two rounded hulls looked at along a direction: where Newton's search for their normal stands.

See ``polish``: f, its slope and the points of both bodies that are furthest along the direction.
"""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define
from .kinks import Room, new_room
from .pairs import Pairs
from .rounded_hulls import RoundedHull, across, basis, furthest_points, new_hull, smooth_part
from .separation import place
from .solid_table import Solids, to_body


@structref.register
class _SearchType(StructType):
    pass


class Search:
    """Two rounded hulls and where Newton stands; in the axes of a about its centre.

    turn (3, 3), arm (3,): pose of b; size: of the coordinates; small: of the smaller body; slack:
    facing of the size. n (3,): unit direction looked along, value: the separation along it; inward
    (3,): -n in the axes of b. u, v (3,): axes across n, u_b, v_b: those in the axes of b; slope
    (2,): of the smooth parts; best (3,): the direction before the last step; turn_by (2,): that
    step, in u, v. on_a, on_b (3,): the points that are to face each other. zero (3,): no shift;
    room: for ``top_near``.
    """

    a: RoundedHull
    b: RoundedHull
    turn: np.ndarray
    arm: np.ndarray
    size: float
    small: float
    slack: float
    n: np.ndarray
    value: float
    inward: np.ndarray
    u: np.ndarray
    v: np.ndarray
    u_b: np.ndarray
    v_b: np.ndarray
    slope: np.ndarray
    best: np.ndarray
    turn_by: np.ndarray
    on_a: np.ndarray
    on_b: np.ndarray
    zero: np.ndarray
    room: Room


define(Search, _SearchType)


@njit(**INNER)
def new_search(pairs: Pairs, solids: Solids):
    """A ``Search`` that has no pair yet."""
    a = new_hull(solids.size[0], solids.vertices[:0])
    b = new_hull(solids.size[0], solids.vertices[:0])
    return Search(
        a, b, pairs.turn[0], pairs.arm[0], 0.0, 0.0, 0.0, np.empty(3), 0.0, np.empty(3),
        np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(2), np.empty(3), np.empty(2),
        np.empty(3), np.empty(3), np.zeros(3), new_room(),
    )  # fmt: skip


@njit(**INNER)
def _take_shape(hull, solids, s):
    start = solids.vertex_start
    hull.kind, hull.size = solids.kind[s], solids.size[s]
    hull.corners = solids.vertices[start[s] : start[s + 1]]


@njit(**INNER)
def take_pair(
    search: Search, pairs: Pairs, solids: Solids, p: int, normal: np.ndarray, facing: float
):
    """Makes the search that of pair p, from the direction normal (3,). facing: slack over size."""
    _take_shape(search.a, solids, pairs.shape_a[p])
    _take_shape(search.b, solids, pairs.shape_b[p])
    search.turn, search.arm = pairs.turn[p], pairs.arm[p]
    search.size = pairs.radius_a[p] + pairs.radius_b[p]
    search.small = min(pairs.radius_a[p], pairs.radius_b[p])
    search.slack = facing * search.size
    for k in range(3):
        search.n[k] = normal[k]


@njit(cache=True)
def look(search: Search):
    """The points of both bodies furthest along the direction, their smooth parts, ``value``."""
    a, b, n, inward = search.a, search.b, search.n, search.inward
    to_body(search.turn, n, -1.0, inward)
    a.count = furthest_points(a.kind, a.size[2], a.corners, n, a.points)
    b.count = furthest_points(b.kind, b.size[2], b.corners, inward, b.local)
    a.smooth = smooth_part(a.kind, a.size, n, a.smooth_point[0], a.bend)
    b.smooth = smooth_part(b.kind, b.size, inward, b.smooth_local[0], b.bend)
    place(b.local[: b.count], search.turn, search.arm, b.points)
    place(b.smooth_local, search.turn, search.zero, b.smooth_point)
    ca, ra, cb, rb = a.points, a.smooth_point, b.points, b.smooth_point
    value = 0.0
    for k in range(3):
        value += n[k] * (cb[0, k] + rb[0, k] - ca[0, k] - ra[0, k])
    search.value = value


@njit(**INNER)
def take_points(search: Search):
    """The points shared by each body's furthest ones, on the bodies; how far they are from facing
    each other, the largest component of x_b - x_a - value n."""
    a, b, n, on_a, on_b = search.a, search.b, search.n, search.on_a, search.on_b
    off = 0.0
    for k in range(3):
        on_a[k] = a.shared[k] + a.smooth_point[0, k]
        on_b[k] = b.shared[k] + b.smooth_point[0, k]
        off = max(off, abs(on_b[k] - on_a[k] - search.value * n[k]))
    return off


@njit(**INNER)
def look_across(search: Search):
    """Axes across the direction, where the points are in them, and the slope of f without them."""
    a, b, n, u, v, slope = search.a, search.b, search.n, search.u, search.v, search.slope
    basis(n, u, v)
    to_body(search.turn, u, 1.0, search.u_b)
    to_body(search.turn, v, 1.0, search.v_b)
    across(a, n, u, v, 1.0)
    across(b, n, u, v, -1.0)
    ra, rb = a.smooth_point, b.smooth_point
    slope[0] = slope[1] = 0.0
    for k in range(3):
        search.best[k] = n[k]
        slope[0] += u[k] * (rb[0, k] - ra[0, k])
        slope[1] += v[k] * (rb[0, k] - ra[0, k])


@njit(cache=True)
def share(hull: RoundedHull):
    """The point shared by the furthest ones, by their weights."""
    shared, weight, points = hull.shared, hull.weight, hull.points
    for k in range(3):
        shared[k] = 0.0
        for i in range(hull.count):
            shared[k] += weight[i] * points[i, k]


@njit(**INNER)
def within_ends(search: Search):
    """Moves the points into the ends of cylinders seen along their axes, and below each other."""
    a, b, n, xa, xb = search.a, search.b, search.n, search.on_a, search.on_b
    to_b = 1.0 if b.smooth else (0.0 if a.smooth else a.size[0] / (a.size[0] + b.size[0]))
    apart = n[0] * (xb[0] - xa[0]) + n[1] * (xb[1] - xa[1]) + n[2] * (xb[2] - xa[2])
    for k in range(3):
        xa[k] += to_b * (xb[k] - xa[k] - apart * n[k])
        xb[k] = xa[k] + search.value * n[k]
