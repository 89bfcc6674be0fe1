"""Exact contacts in the plane: disk with polygon, polygon with polygon (``polygon_pairs``)."""

import numpy as np
from numba import njit

from ..bodies import Bodies, State, rotations
from .pieces import Pieces
from .polygon_pairs import polygon_contacts
from .polygon_table import polygon_table


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
