"""Exact contacts of polygons, all pairs in one kernel.

Separation of two convex polygons: the largest distance of one's corners beyond an edge line of the
other (the reference edge). Where the nearest corner lies above the reference edge, or the polygons
overlap, it is the signed distance; the corners of the other polygon's edge that faces the
reference edge (the incident edge), cut to the reference edge's width, are the contacts, each with
its own gap along the reference normal. Of two edges that separate equally the longer is the
reference; of equally long ones it is the line midway between them (``_between``), so that it does
not matter which body comes first. Else the polygons meet corner to corner, and the gap and
normal are those of the closest points. Polygons that touch at a corner with no width have no
contact (``widthless``).

Symbols: k corners of a polygon, counter-clockwise; edge i goes from corner i to i + 1 and has the
outward unit normal i. Coordinates are relative to the centre of the pair's first body, so that
rounding does not grow with the distance from the origin.
"""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.structs import StructType, define
from .polygon_table import PolygonTable
from .separation import midway
from .tolerances import TOLERANCES
from .widthless import touches_without_width


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


@njit(cache=True)
def _side(largest):
    return Side(
        np.empty((largest, 2)), np.empty((largest, 2)), np.empty(largest), 0, 0.0, 0, 0
    )  # fmt: skip


@njit(cache=True)
def _place(side, shape, turn, x, y, table):
    """Makes ``side`` a shape that is turned and moved by (x, y)."""
    lo, hi = table.start[shape], table.start[shape + 1]
    v, n, vertices, normals = side.corners, side.normals, table.vertices, table.normals
    for i in range(lo, hi):
        v[i - lo, 0] = turn[0, 0] * vertices[i, 0] + turn[0, 1] * vertices[i, 1] + x
        v[i - lo, 1] = turn[1, 0] * vertices[i, 0] + turn[1, 1] * vertices[i, 1] + y
        n[i - lo, 0] = turn[0, 0] * normals[i, 0] + turn[0, 1] * normals[i, 1]
        n[i - lo, 1] = turn[1, 0] * normals[i, 0] + turn[1, 1] * normals[i, 1]
    side.count = hi - lo


@njit(cache=True)
def _separate(side, other, level):
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


@njit(cache=True)
def _without_width(a, b, same, ties):
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
def _clip(side, other, out):
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


@njit(cache=True)
def _length(side):
    """Length of the edge that separates most."""
    v, i = side.corners, side.edge
    j = (i + 1) % side.count
    return np.sqrt((v[j, 0] - v[i, 0]) ** 2 + (v[j, 1] - v[i, 1]) ** 2)


@njit(cache=True)
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


@njit(cache=True)
def _midway_ends(a, b, size, mid, ends):
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


@njit(cache=True)
def _a_is_reference(a, b, size):
    """Whether the edge of a goes first: it separates more, or as much and is no shorter."""
    if abs(a.separation - b.separation) <= TOLERANCES.equal * size:
        return not _length(b) > (1 + TOLERANCES.equal) * _length(a)
    return a.separation >= b.separation


@njit(cache=True)
def _write_ends(rows, p, number, found, ends, nx, ny, limit):
    """Contacts of pair p at the ends (2, 3) within ``limit`` into rows (.., 7); how many. Of two
    ends in one place the nearer one."""
    nearer, count = 0 if ends[0, 2] <= ends[1, 2] else 1, 0
    for c in range(2):
        if ends[c, 2] > limit or (found == 1 and c != nearer):
            continue
        row = rows[count]
        row[0], row[1], row[2] = p, number + c, ends[c, 2]
        row[3], row[4], row[5], row[6] = nx, ny, ends[c, 0], ends[c, 1]
        count += 1
    return count


@njit(cache=True)
def _closest(v, k, w, m, best, sign, out):
    """Closest corner of w to an edge of v, if nearer than the square ``best``.

    out: square distance, point on v, corner of w, their difference times ``sign``; corners' numbers
    """
    for i in range(k):
        j = (i + 1) % k
        ux, uy = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1]
        for q in range(m):
            dx, dy = w[q, 0] - v[i, 0], w[q, 1] - v[i, 1]
            t = (dx * ux + dy * uy) / (ux * ux + uy * uy)
            t = min(max(t, 0.0), 1.0)
            dx, dy = dx - t * ux, dy - t * uy
            square = dx * dx + dy * dy
            if square < best:
                best = square
                out[0], out[1] = w[q, 0] - 0.5 * dx, w[q, 1] - 0.5 * dy
                out[2], out[3] = sign * dx, sign * dy
                out[4], out[5] = (i if t < 0.5 else j), q
    return best


@njit(cache=True)
def _write_corners(row, p, a, b, own, sign, size, near):
    """The contact of pair p at its closest points into row (7,). Where bodies overlap by rounding,
    the normal and separation are those of the edge of ``own``, a (sign 1) or b (sign -1)."""
    square = _closest(a.corners, a.count, b.corners, b.count, np.inf, 1.0, near)
    i_at, j_at = near[4], near[5]
    other = _closest(b.corners, b.count, a.corners, a.count, square, -1.0, near)
    if other < square:
        square, i_at, j_at = other, near[5], near[4]
    distance = np.sqrt(square)
    if own.separation <= 0 or distance <= TOLERANCES.rounding * size:
        distance = own.separation
        row[3], row[4] = sign * own.normals[own.edge, 0], sign * own.normals[own.edge, 1]
    else:
        row[3], row[4] = near[2] / distance, near[3] / distance
    row[0], row[1], row[2] = p, int(i_at * b.count + j_at) % 32768, distance
    row[5], row[6] = near[0], near[1]


@njit(cache=True)
def polygon_contacts(
    a: np.ndarray,
    b: np.ndarray,
    reach: np.ndarray,
    radius: np.ndarray,
    shape_of: np.ndarray,
    position: np.ndarray,
    turn: np.ndarray,
    table: PolygonTable,
):
    """Rows (pair, feature, gap, normal, point) of all contacts, (.., 7)."""
    out, count = np.empty((2 * len(a), 7)), 0
    one, two, ties = _side(table.largest), _side(table.largest), np.empty((2 * table.largest, 2))
    ends, near, mid = np.empty((2, 3)), np.empty(6), np.empty(2)
    for p in range(len(a)):
        i, j, limit = a[p], b[p], reach[p]
        x, y = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1]
        size, same = radius[i] + radius[j], TOLERANCES.equal * min(radius[i], radius[j])
        _place(one, shape_of[i], turn[i], 0.0, 0.0, table)
        _place(two, shape_of[j], turn[j], x, y, table)
        _separate(one, two, -2 * same)
        if one.separation > limit:
            continue
        _separate(two, one, -2 * same)
        if two.separation > limit or _without_width(one, two, same, ties):
            continue
        found = _midway_ends(one, two, size, mid, ends)
        if found > 0:
            number = ((one.edge % 128) * 128 + two.edge % 128) * 4
            count += _write_ends(out[count:], p, number, found, ends, mid[0], mid[1], limit)
            continue
        first, slack = _a_is_reference(one, two, size), TOLERANCES.rounding * size
        own, other = (one, two) if first else (two, one)
        found, e, tx, ty, lowest = _clip(own, other, ends)
        if lowest > own.separation + slack and other.separation > own.separation:
            # preferred, but its nearest corner lies beside it
            first, own, other = not first, other, own
            found, e, tx, ty, lowest = _clip(own, other, ends)
        s, edge, sign = own.separation, own.edge, 1.0 if first else -1.0
        # the nearest corner is not above the reference edge: overlapping bodies only by rounding
        if lowest > s + slack:
            _write_corners(out[count], p, one, two, own, sign, size, near)
            count += 1 if out[count, 2] <= limit else 0
            continue
        nx, ny, corner = own.normals[edge, 0], own.normals[edge, 1], own.corners[edge]
        for c in range(2):
            along, g = ends[c, 0], ends[c, 2]
            ends[c, 0] = corner[0] + along * tx + 0.5 * g * nx
            ends[c, 1] = corner[1] + along * ty + 0.5 * g * ny
        number = ((edge % 128) * 128 + e % 128) * 4 + (0 if first else 2)
        count += _write_ends(out[count:], p, number, found, ends, sign * nx, sign * ny, limit)
    return out[:count]
