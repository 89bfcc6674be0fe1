"""Edges of two convex polygons that face each other: how far they separate, what they share.

See ``planar`` for symbols. Kernels take the polygons of a scene as flat arrays.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define
from ..bodies import Bodies, Polygon
from .separation import midway
from .tolerances import TOLERANCES
from .widthless import touches_without_width


class PolygonTable(NamedTuple):
    """Corners and outward edge normals of all polygons (sum of k, 2); start (shapes + 1,)."""

    start: np.ndarray
    vertices: np.ndarray
    normals: np.ndarray
    largest: int


def polygon_table(bodies: Bodies) -> PolygonTable:
    """The table of a scene; other shapes have no rows. Use ``bodies.of_shapes``."""
    polygons = [s if isinstance(s, Polygon) else None for s in bodies.shapes]
    sizes = [0 if s is None else len(s.vertices) for s in polygons]
    none = np.zeros((0, 2))
    return PolygonTable(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([none, *(s.vertices for s in polygons if s is not None)]),
        np.concatenate([none, *(s.normals for s in polygons if s is not None)]),
        max(sizes),
    )


@structref.register
class _SideType(StructType):
    pass


class Side:
    """One polygon of a pair, relative to the centre of the first.

    corners, normals (.., 2), of which it has ``count``; apart (..,): scratch, separations by each
    edge. separation: the largest [m]; edge: whose it is; equal: how many edges separate about as
    much.
    """

    corners: np.ndarray
    normals: np.ndarray
    apart: np.ndarray
    count: int
    separation: float
    edge: int
    equal: int


define(Side, _SideType)


@njit(**INNER)
def new_side(largest: int):
    """A ``Side`` of up to ``largest`` corners."""
    return Side(
        np.empty((largest, 2)), np.empty((largest, 2)), np.empty(largest), 0, 0.0, 0, 0
    )  # fmt: skip


@njit(cache=True)
def place(side: Side, shape: int, turn: np.ndarray, x: float, y: float, table: PolygonTable):
    """Makes ``side`` a shape that is turned and moved by (x, y)."""
    lo, hi = table.start[shape], table.start[shape + 1]
    v, n, vertices, normals = side.corners, side.normals, table.vertices, table.normals
    for i in range(lo, hi):
        v[i - lo, 0] = turn[0, 0] * vertices[i, 0] + turn[0, 1] * vertices[i, 1] + x
        v[i - lo, 1] = turn[1, 0] * vertices[i, 0] + turn[1, 1] * vertices[i, 1] + y
        n[i - lo, 0] = turn[0, 0] * normals[i, 0] + turn[0, 1] * normals[i, 1]
        n[i - lo, 1] = turn[1, 0] * normals[i, 0] + turn[1, 1] * normals[i, 1]
    side.count = hi - lo


@njit(**INNER)
def separate(side: Side, other: Side, level: float):
    """Separation of the other polygon by each edge line of ``side``: the largest, its edge, and how
    many are above ``level``."""
    v, n, apart, w, m = side.corners, side.normals, side.apart, other.corners, other.count
    best, edge, count = -np.inf, 0, 0
    for i in range(side.count):
        least = np.inf
        for j in range(m):
            h = (w[j, 0] - v[i, 0]) * n[i, 0] + (w[j, 1] - v[i, 1]) * n[i, 1]
            least = min(least, h)
        apart[i] = least
        if least >= level:
            count += 1
        if least > best:
            best, edge = least, i
    side.separation, side.edge, side.equal = best, edge, count


@njit(**INNER)
def without_width(a: Side, b: Side, same: float, ties: np.ndarray):
    """Whether polygons whose separation is zero up to ``same`` [m] touch with no width."""
    best = max(a.separation, b.separation)
    if abs(best) > same:
        return False
    na, nb = a.normals[: a.count], b.normals[: b.count]
    # the common case: one edge of each body, facing each other
    cosine = na[a.edge, 0] * nb[b.edge, 0] + na[a.edge, 1] * nb[b.edge, 1]
    if a.equal <= 1 and b.equal <= 1 and cosine < -TOLERANCES.wide:
        return False
    return touches_without_width(na, a.apart, nb, b.apart, best, same, ties)


@njit(cache=True)
def clip(side: Side, other: Side, out: np.ndarray):
    """Ends of the incident edge of ``other``, cut to the width of the reference edge of ``side``.

    out (2, 3): position along the reference edge and gap of either end. Returns (how many ends,
    number of the incident edge, reference tangent x, y, least gap).
    """
    ref, k, edge = side.corners, side.count, side.edge
    inc, inc_normals, m = other.corners, other.normals, other.count
    nx, ny = side.normals[edge, 0], side.normals[edge, 1]
    j = (edge + 1) % k
    tx, ty = ref[j, 0] - ref[edge, 0], ref[j, 1] - ref[edge, 1]
    length = np.sqrt(tx * tx + ty * ty)
    tx, ty = tx / length, ty / length
    e, least = 0, np.inf
    for i in range(m):
        against = inc_normals[i, 0] * nx + inc_normals[i, 1] * ny
        if against < least:
            e, least = i, against
    f = (e + 1) % m  # from f to e the incident edge runs along the reference edge
    x0, y0 = inc[f, 0] - ref[edge, 0], inc[f, 1] - ref[edge, 1]
    x1, y1 = inc[e, 0] - ref[edge, 0], inc[e, 1] - ref[edge, 1]
    s0, h0 = x0 * tx + y0 * ty, x0 * nx + y0 * ny
    s1, h1 = x1 * tx + y1 * ty, x1 * nx + y1 * ny
    if s1 < 0 or s0 > length:
        return 0, e, tx, ty, np.inf
    slope = 0.0 if s1 - s0 <= 1e-12 * length else (h1 - h0) / (s1 - s0)
    c0, c1 = min(max(s0, 0.0), length), min(max(s1, 0.0), length)
    out[0, 0], out[0, 2] = c0, h0 + (c0 - s0) * slope
    out[1, 0], out[1, 2] = c1, h1 + (c1 - s1) * slope
    return 1 if c1 - c0 < 1e-9 * length else 2, e, tx, ty, min(out[0, 2], out[1, 2])


@njit(**INNER)
def _length(side):
    """Length of the edge that separates most."""
    v, i = side.corners, side.edge
    j = (i + 1) % side.count
    return np.sqrt((v[j, 0] - v[i, 0]) ** 2 + (v[j, 1] - v[i, 1]) ** 2)


@njit(**INNER)
def _between(a, b, mid, out):
    """Ends of the common stretch of the edges of a and b, seen along the direction ``mid`` (2,)
    midway between their normals, from a to b. out (2, 3): place of either end on the line midway
    between the edges, and its gap. Returns how many ends."""
    v, w, ea, eb = a.corners, b.corners, a.edge, b.edge
    f, g = (ea + 1) % a.count, (eb + 1) % b.count  # the edge of b runs back
    tx, ty = -mid[1], mid[0]
    s0, s1 = v[ea, 0] * tx + v[ea, 1] * ty, v[f, 0] * tx + v[f, 1] * ty
    h0, h1 = v[ea, 0] * mid[0] + v[ea, 1] * mid[1], v[f, 0] * mid[0] + v[f, 1] * mid[1]
    r0, r1 = w[g, 0] * tx + w[g, 1] * ty, w[eb, 0] * tx + w[eb, 1] * ty
    l0, l1 = w[g, 0] * mid[0] + w[g, 1] * mid[1], w[eb, 0] * mid[0] + w[eb, 1] * mid[1]
    low, high = max(s0, r0), min(s1, r1)
    if high < low:
        return 0
    for c in range(2):
        at = low if c == 0 else high
        below = h0 + (at - s0) / (s1 - s0) * (h1 - h0)
        above = l0 + (at - r0) / (r1 - r0) * (l1 - l0)
        middle = 0.5 * (below + above)
        out[c, 0], out[c, 1] = at * tx + middle * mid[0], at * ty + middle * mid[1]
        out[c, 2] = above - below
    return 1 if high - low < 1e-9 * (s1 - s0) else 2


@njit(**INNER)
def midway_ends(a: Side, b: Side, size: float, mid: np.ndarray, ends: np.ndarray):
    """How many ends the edges have on the line midway between them; 0 where one of them is the
    reference: they do not separate equally, one is longer, or they are parallel."""
    if abs(a.separation - b.separation) > TOLERANCES.equal * size:
        return 0
    long_a, long_b = _length(a), _length(b)
    if long_b > (1 + TOLERANCES.equal) * long_a or long_a > (1 + TOLERANCES.equal) * long_b:
        return 0
    askew, half = midway(a.normals[a.edge], b.normals[b.edge], mid)
    if not (askew > TOLERANCES.rounding and half > TOLERANCES.wide):
        return 0
    found = _between(a, b, mid, ends)
    if found == 0:
        return 0
    lowest, best = min(ends[0, 2], ends[1, 2]), max(a.separation, b.separation)
    return found if abs(lowest - best) <= TOLERANCES.equal * size else 0


@njit(**INNER)
def a_is_reference(a: Side, b: Side, size: float):
    """Whether the edge of a goes first: it separates more, or as much and is no shorter."""
    if abs(a.separation - b.separation) <= TOLERANCES.equal * size:
        return not _length(b) > (1 + TOLERANCES.equal) * _length(a)
    return a.separation >= b.separation
