"""Exact contacts in the plane: disk with polygon, polygon with polygon, all pairs in one kernel.

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

from dataclasses import dataclass

import numpy as np
from numba import njit

from ..bodies import Bodies, Polygon, State, rotations
from .pieces import Pieces
from .separation import ASKEW, midway
from .widthless import SAME, WIDE, touches_without_width

EQUAL = 1e-9
"""Difference of separations, over the pair's size, up to which two edges separate equally: else
facing edges would take turns by rounding, and their contacts change numbers."""

LONGER = 1 + 1e-9
"""Ratio of the lengths of two edges from which on one is the longer."""

ROUNDING = 1e-12
"""Difference of gaps, over the pair's size, that counts as rounding."""


@dataclass(frozen=True)
class PolygonTable:
    """Corners and outward edge normals of all polygons (sum of k, 2); start (shapes + 1,)."""

    start: np.ndarray
    vertices: np.ndarray
    normals: np.ndarray
    largest: int


def _polygon_table(bodies: Bodies) -> PolygonTable:
    polygons = [s if isinstance(s, Polygon) else None for s in bodies.shapes]
    sizes = [0 if s is None else len(s.vertices) for s in polygons]
    none = np.zeros((0, 2))
    return PolygonTable(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([none, *(s.vertices for s in polygons if s is not None)]),
        np.concatenate([none, *(s.normals for s in polygons if s is not None)]),
        max(sizes),
    )


def _turns(state: State) -> np.ndarray:
    """Rotation matrices in the plane, (n, 2, 2)."""
    return np.ascontiguousarray(rotations.matrix(state.quaternion)[:, :2, :2])


def _pieces(a, b, feature, point, normal, gap, curvature, state: State) -> Pieces:
    """Contacts as Pieces; point and normal (k, 2), points relative to the centre of body a."""
    zero = np.zeros((len(gap), 1))
    return Pieces.of(
        a,
        b,
        feature=feature,
        point=np.hstack([point + state.position[a, :2], zero]),
        normal=np.hstack([normal, zero]),
        gap=gap,
        curvature=curvature,
    )


def disk_polygon(bodies: Bodies, state: State, disk: np.ndarray, polygon: np.ndarray) -> Pieces:
    """One contact for each pair; the normal points from the disk to the polygon."""
    table = bodies.derived(_polygon_table)
    radius = bodies.bounding_radius[disk]
    distance, outward = _point_polygon(
        state.position[disk, :2] - state.position[polygon, :2],
        bodies.shape_of[polygon],
        _turns(state)[polygon],
        table.start,
        table.vertices,
        table.normals,
    )
    gap = distance - radius
    return _pieces(
        disk,
        polygon,
        0,
        -outward * (radius + 0.5 * gap)[:, None],
        -outward,
        gap,
        1 / radius,
        state,
    )


def polygon_polygon(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of polygon pairs (a_k, b_k) with gap <= reach_k; normals point from a to b."""
    table = bodies.derived(_polygon_table)
    pair, feature, point, normal, gap = _polygon_pairs(
        a,
        b,
        reach,
        bodies.bounding_radius,
        bodies.shape_of,
        state.position,
        _turns(state),
        table.start,
        table.vertices,
        table.normals,
        table.largest,
    )
    return _pieces(a[pair], b[pair], feature, point, normal, gap, 0.0, state)


@njit(cache=True)
def _point_polygon(arm, shape_of, turn, start, vertices, normals):
    """Signed distance (k,) of points from polygons and the direction away from them, (k, 2)."""
    distance = np.empty(len(arm))
    outward = np.empty((len(arm), 2))
    for p in range(len(arm)):
        c, s = turn[p, 0, 0], turn[p, 1, 0]
        x = c * arm[p, 0] + s * arm[p, 1]
        y = -s * arm[p, 0] + c * arm[p, 1]
        lo, hi = start[shape_of[p]], start[shape_of[p] + 1]
        best, edge = -np.inf, lo
        for i in range(lo, hi):
            h = (x - vertices[i, 0]) * normals[i, 0] + (y - vertices[i, 1]) * normals[i, 1]
            if h > best:
                best, edge = h, i
        nx, ny = normals[edge, 0], normals[edge, 1]
        if best > 0:
            # beside the edge the closest point is a corner
            square = np.inf
            for i in range(lo, hi):
                j = i + 1 if i + 1 < hi else lo
                ux, uy = vertices[j, 0] - vertices[i, 0], vertices[j, 1] - vertices[i, 1]
                dx, dy = x - vertices[i, 0], y - vertices[i, 1]
                t = (dx * ux + dy * uy) / (ux * ux + uy * uy)
                if i == edge and 0 <= t <= 1:
                    square = -1.0
                    break
                t = min(max(t, 0.0), 1.0)
                dx, dy = dx - t * ux, dy - t * uy
                if dx * dx + dy * dy < square:
                    square = dx * dx + dy * dy
                    nx, ny = dx, dy
            if square > 0:
                best = np.sqrt(square)
                nx, ny = nx / best, ny / best
            else:
                nx, ny = normals[edge, 0], normals[edge, 1]
        distance[p] = best
        outward[p, 0] = c * nx - s * ny
        outward[p, 1] = s * nx + c * ny
    return distance, outward


@njit(cache=True)
def _placed(v, n, shape, turn, x, y, start, vertices, normals):
    """Writes one polygon's corners and normals, turned and moved by (x, y), into v and n."""
    lo, hi = start[shape], start[shape + 1]
    for i in range(lo, hi):
        v[i - lo, 0] = turn[0, 0] * vertices[i, 0] + turn[0, 1] * vertices[i, 1] + x
        v[i - lo, 1] = turn[1, 0] * vertices[i, 0] + turn[1, 1] * vertices[i, 1] + y
        n[i - lo, 0] = turn[0, 0] * normals[i, 0] + turn[0, 1] * normals[i, 1]
        n[i - lo, 1] = turn[1, 0] * normals[i, 0] + turn[1, 1] * normals[i, 1]
    return hi - lo


@njit(cache=True)
def _separation(v, n, k, w, m, level):
    """Largest distance of the corners w beyond one edge line of v, that edge, edges above level."""
    best, edge, count = -np.inf, 0, 0
    for i in range(k):
        least = np.inf
        for j in range(m):
            h = (w[j, 0] - v[i, 0]) * n[i, 0] + (w[j, 1] - v[i, 1]) * n[i, 1]
            least = min(least, h)
        if least >= level:
            count += 1
        if least > best:
            best, edge = least, i
    return best, edge, count


@njit(cache=True)
def _separations(v, n, k, w, m, apart):
    """Distances of the corners w beyond each edge line of v, into apart (k,)."""
    for i in range(k):
        apart[i] = np.inf
        for j in range(m):
            h = (w[j, 0] - v[i, 0]) * n[i, 0] + (w[j, 1] - v[i, 1]) * n[i, 1]
            apart[i] = min(apart[i], h)


@njit(cache=True)
def _clip(ref, normals, k, edge, inc, inc_normals, m, out):
    """Ends of the incident edge, cut to the reference edge's width.

    out (2, 3): position along the reference edge and gap of either end. Returns (how many ends,
    number of the incident edge, reference tangent x, y).
    """
    nx, ny = normals[edge, 0], normals[edge, 1]
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
        return 0, e, tx, ty
    slope = 0.0 if s1 - s0 <= 1e-12 * length else (h1 - h0) / (s1 - s0)
    c0, c1 = min(max(s0, 0.0), length), min(max(s1, 0.0), length)
    out[0, 0], out[0, 1] = c0, h0 + (c0 - s0) * slope
    out[1, 0], out[1, 1] = c1, h1 + (c1 - s1) * slope
    return 1 if c1 - c0 < 1e-9 * length else 2, e, tx, ty


@njit(cache=True)
def _length(v, k, edge):
    """Length of an edge of v."""
    j = (edge + 1) % k
    return np.sqrt((v[j, 0] - v[edge, 0]) ** 2 + (v[j, 1] - v[edge, 1]) ** 2)


@njit(cache=True)
def _between(v, k, ea, w, m, eb, mid, out):
    """Ends of the common stretch of two edges, seen along the direction ``mid`` (2,) midway between
    their normals, from v to w. out (2, 3): place of either end on the line midway between the
    edges, and its gap. Returns how many ends."""
    f, g = (ea + 1) % k, (eb + 1) % m  # the edge of w runs back
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
def _polygon_pairs(
    a, b, reach, radius, shape_of, position, turn, start, vertices, normals, largest
):
    """(pair, feature, point, normal, gap) of all contacts."""
    pair = np.empty(2 * len(a), np.int64)
    feature = np.empty(2 * len(a), np.int64)
    point = np.empty((2 * len(a), 2))
    normal = np.empty((2 * len(a), 2))
    gap = np.empty(2 * len(a))
    va, na = np.empty((largest, 2)), np.empty((largest, 2))
    vb, nb = np.empty((largest, 2)), np.empty((largest, 2))
    ends, near, shared, mid = np.empty((2, 2)), np.empty(6), np.empty((2, 3)), np.empty(2)
    ties, apart_a, apart_b = np.empty((2 * largest, 2)), np.empty(largest), np.empty(largest)
    count = 0
    for p in range(len(a)):
        i, j = a[p], b[p]
        x, y = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1]
        k = _placed(va, na, shape_of[i], turn[i], 0.0, 0.0, start, vertices, normals)
        m = _placed(vb, nb, shape_of[j], turn[j], x, y, start, vertices, normals)
        same = SAME * min(radius[i], radius[j])
        sa, ea, level_a = _separation(va, na, k, vb, m, -2 * same)
        if sa > reach[p]:
            continue
        sb, eb, level_b = _separation(vb, nb, m, va, k, -2 * same)
        if sb > reach[p]:
            continue
        best = max(sa, sb)
        if abs(best) <= same:
            # the common case needs no list of all: one edge of each body, facing each other
            facing = na[ea, 0] * nb[eb, 0] + na[ea, 1] * nb[eb, 1] < -WIDE
            if level_a > 1 or level_b > 1 or not facing:
                _separations(va, na, k, vb, m, apart_a)
                _separations(vb, nb, m, va, k, apart_b)
                if touches_without_width(na, apart_a, k, nb, apart_b, m, best, same, ties):
                    continue
        size = radius[i] + radius[j]
        first, even = sa >= sb, False
        if abs(sa - sb) <= EQUAL * size:
            long_a, long_b = _length(va, k, ea), _length(vb, m, eb)
            first = not long_b > LONGER * long_a
            if first and not long_a > LONGER * long_b:
                askew, half = midway(na[ea], nb[eb], mid)
                even = askew > ASKEW and half > WIDE
        if even:
            found, lowest = _between(va, k, ea, vb, m, eb, mid, shared), np.inf
            for c in range(found):
                lowest = min(lowest, shared[c, 2])
            if found == 1:
                lowest = min(lowest, shared[1, 2])
            even = abs(lowest - best) <= EQUAL * size
        if even:
            number = ((ea % 128) * 128 + eb % 128) * 4
            for c in range(2):
                g = shared[c, 2]
                nearer = 0 if shared[0, 2] <= shared[1, 2] else 1
                if g > reach[p] or (found == 1 and c != nearer):
                    continue
                pair[count], feature[count], gap[count] = p, number + c, g
                point[count, 0], point[count, 1] = shared[c, 0], shared[c, 1]
                normal[count, 0], normal[count, 1] = mid[0], mid[1]
                count += 1
            continue
        preferred = first
        while True:
            if first:
                found, e, tx, ty = _clip(va, na, k, ea, vb, nb, m, ends)
                ref, n, edge, s, side, sign = va, na, ea, sa, 0, 1.0
            else:
                found, e, tx, ty = _clip(vb, nb, m, eb, va, na, k, ends)
                ref, n, edge, s, side, sign = vb, nb, eb, sb, 2, -1.0
            lowest = np.inf
            for c in range(found):
                lowest = min(lowest, ends[c, 1])
            if found == 1:  # both ends in one place: the nearer one
                lowest = min(lowest, ends[1, 1])
            other = sb if first else sa
            if lowest <= s + ROUNDING * size or first != preferred or other <= s:
                break
            first = not first  # preferred, but its nearest corner lies beside it
        # the nearest corner is not above the reference edge: overlapping bodies only by rounding
        if lowest > s + ROUNDING * size:
            square = _closest(va, k, vb, m, np.inf, 1.0, near)
            i_at, j_at = near[4], near[5]
            other = _closest(vb, m, va, k, square, -1.0, near)
            if other < square:
                square, i_at, j_at = other, near[5], near[4]
            distance = np.sqrt(square)
            if s <= 0 or distance <= ROUNDING * size:
                distance = s
                near[2], near[3] = sign * n[edge, 0], sign * n[edge, 1]
            else:
                near[2], near[3] = near[2] / distance, near[3] / distance
            if distance <= reach[p]:
                pair[count] = p
                feature[count] = int(i_at * m + j_at) % 32768
                point[count, 0], point[count, 1] = near[0], near[1]
                normal[count, 0], normal[count, 1] = near[2], near[3]
                gap[count] = distance
                count += 1
            continue
        number = ((edge % 128) * 128 + e % 128) * 4 + side
        for c in range(2):
            g = ends[c, 1]
            if g > reach[p] or (found == 1 and c != (0 if ends[0, 1] <= ends[1, 1] else 1)):
                continue
            pair[count] = p
            feature[count] = number + c
            nx, ny = n[edge, 0], n[edge, 1]
            point[count, 0] = ref[edge, 0] + ends[c, 0] * tx + 0.5 * g * nx
            point[count, 1] = ref[edge, 1] + ends[c, 0] * ty + 0.5 * g * ny
            normal[count, 0], normal[count, 1] = sign * nx, sign * ny
            gap[count] = g
            count += 1
    return pair[:count], feature[:count], point[:count], normal[:count], gap[:count]
