"""Exact contacts in the plane: disk with polygon, polygon with polygon.

Separation of two convex polygons: the largest distance of one's corners beyond an edge line of the
other (the reference edge). Where the nearest corner lies above the reference edge, or the polygons
overlap, it is the signed distance; the corners of the other polygon's edge that faces the
reference edge (the incident edge), cut to the reference edge's width, are the contacts, each with
its own gap along the reference normal. Of two edges that separate equally the longer is the
reference; of equally long ones it is the line midway between them, so that it does not matter which
body comes first (``facing_edges``). Else the polygons meet corner to corner, and the gap and
normal are those of the closest points. Polygons that touch at a corner with no width have no
contact (``widthless``).

Symbols: k corners of a polygon, counter-clockwise; edge i goes from corner i to i + 1 and has the
outward unit normal i. Coordinates are relative to the centre of the pair's first body, so that
rounding does not grow with the distance from the origin.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Bodies, State, rotations
from .contacts import Pieces
from .facing_edges import (
    PolygonTable,
    a_is_reference,
    clip,
    midway_ends,
    new_side,
    place,
    polygon_table,
    separate,
    without_width,
)
from .tolerances import TOLERANCES


@njit(**INNER)
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


@njit(**INNER)
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


@njit(**INNER)
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
    one, two = new_side(table.largest), new_side(table.largest)
    ties = np.empty((2 * table.largest, 2))
    ends, near, mid = np.empty((2, 3)), np.empty(6), np.empty(2)
    for p in range(len(a)):
        i, j, limit = a[p], b[p], reach[p]
        x, y = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1]
        size, same = radius[i] + radius[j], TOLERANCES.equal * min(radius[i], radius[j])
        place(one, shape_of[i], turn[i], 0.0, 0.0, table)
        place(two, shape_of[j], turn[j], x, y, table)
        separate(one, two, -2 * same)
        if one.separation > limit:
            continue
        separate(two, one, -2 * same)
        if two.separation > limit or without_width(one, two, same, ties):
            continue
        found = midway_ends(one, two, size, mid, ends)
        if found > 0:
            number = ((one.edge % 128) * 128 + two.edge % 128) * 4
            count += _write_ends(out[count:], p, number, found, ends, mid[0], mid[1], limit)
            continue
        first, slack = a_is_reference(one, two, size), TOLERANCES.rounding * size
        own, other = (one, two) if first else (two, one)
        found, e, tx, ty, lowest = clip(own, other, ends)
        if lowest > own.separation + slack and other.separation > own.separation:
            # preferred, but its nearest corner lies beside it
            first, own, other = not first, other, own
            found, e, tx, ty, lowest = clip(own, other, ends)
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


def disk_polygon(
    bodies: Bodies, state: State, disk: np.ndarray, polygon: np.ndarray, _reach: np.ndarray
) -> Pieces:
    """One contact for each pair; the normal points from the disk to the polygon."""
    table = bodies.of_shapes(polygon_table)
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
        disk, polygon, 0, -outward * (radius + 0.5 * gap)[:, None], -outward, gap, 1 / radius, state
    )


def polygon_polygon(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of polygon pairs (a_k, b_k) with gap <= reach_k; normals point from a to b."""
    table = bodies.of_shapes(polygon_table)
    found = polygon_contacts(
        a, b, reach, bodies.bounding_radius, bodies.shape_of, state.position, _turns(state), table
    )
    pair, feature, gap = found[:, 0].astype(np.int64), found[:, 1], found[:, 2]
    return _pieces(a[pair], b[pair], feature, found[:, 5:], found[:, 3:5], gap, 0.0, state)


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
