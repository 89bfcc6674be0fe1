"""Exact contacts of half-spaces with every shape, by the shapes' support features, all at once.

A vertex, an end ball or a rim point of the body within reach of the plane is a contact of its own,
so that a box on a plane has four and a lying capsule two. Every shape is a few numbered points,
rounded by a radius: corners, the centre of a ball, the ends of a capsule's axis. Ellipsoids and
cylinders that lean have points that move with the plane's normal. Contacts lie midway between the
surfaces.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Bodies, State, rotations
from .contacts import Pieces
from .kinds import (
    BALL,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    PLANE,
    POLYGON,
    kind_of,
    shape_kinds,
    shape_sizes,
)
from .polytope_table import as_polytope
from .tolerances import TOLERANCES

RIM = np.array([[1.0, 0.0], [np.sqrt(0.75), 0.5], [0.5, np.sqrt(0.75)]])
RIM = np.concatenate([RIM, RIM @ [[0, 1], [-1, 0]]])
RIM = np.concatenate([RIM, -RIM])
"""Unit directions of the rim's points, (RIM_POINTS, 2), symmetric to the last digit."""

RIM_POINTS = len(RIM)
"""Points that stand for the rim of a cylinder's flat end, the first in the direction of its x axis.

The end stands like a polygon with these corners: it tips where the load moves outside, between
cos(pi / 12) R = 0.966 R and R from the axis. Four would tip at 0.71 R; twenty-four would bring
0.991 R and double the contacts of every standing cylinder. Of twelve, some lie on both axes.
"""


@dataclass(frozen=True)
class SupportTable:
    """Points of all shapes that can touch a plane: rows start[s] : start[s + 1] for shape s.

    start (shapes + 1,); points (P, 3) [m], body axes, contact numbers counting from start[s].
    radius (shapes,) [m]: of the ball about each point, of a cylinder's rim. kind (shapes,), size
    (shapes, 3) [m]: of ``kinds.py``; the points of cylinders and ellipsoids move with the normal.
    """

    start: np.ndarray
    points: np.ndarray
    radius: np.ndarray
    kind: np.ndarray
    size: np.ndarray


def support_table(bodies: Bodies) -> SupportTable:
    """The table of a scene; half-spaces have no rows. Use ``bodies.of_shapes``."""
    kind, size = bodies.of_shapes(shape_kinds), bodies.of_shapes(shape_sizes)
    points = [_points(shape) for shape in bodies.shapes]
    start = np.cumsum([0, *(len(p) for p in points)])
    radius = np.where(np.isin(kind, (BALL, CAPSULE, CYLINDER)), size[:, 0], 0.0)
    return SupportTable(start, np.concatenate(points), radius, kind, size)


def _points(shape) -> np.ndarray:
    """Rows of ``shape`` in the table. A cylinder has the centres of its two ends, about which the
    lowest rim points lie (numbers 0, 1), then the fixed rim points of either end."""
    kind = kind_of(shape)
    if kind == PLANE:
        return np.zeros((0, 3))
    if kind in (BALL, ELLIPSOID):
        return np.zeros((1, 3))
    if kind == POLYGON:
        return np.column_stack([shape.vertices, np.zeros(len(shape.vertices))])
    if kind in (CAPSULE, CYLINDER):
        ends = np.array([[0, 0, -0.5], [0, 0, 0.5]]) * shape.length
        if kind == CAPSULE:
            return ends
        rim = shape.radius * np.column_stack([RIM, np.zeros(RIM_POINTS)])
        return np.concatenate([ends, ends[0] + rim, ends[1] + rim])
    return as_polytope(shape).vertices


def plane_normal(bodies: Bodies, state: State, plane: int) -> np.ndarray:
    """Outward unit normal of half-space ``plane`` in the world frame, (3,)."""
    return _normals(bodies, state, [plane])[0]


def _normals(bodies, state, planes) -> np.ndarray:
    local = np.array([bodies.shape(p).local_normal for p in planes])
    return np.einsum("pij,pj->pi", rotations.matrix(state.quaternion[planes]), local)


def planes_bodies(
    bodies: Bodies, state: State, planes: np.ndarray, others: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of half-spaces ``planes`` with bodies ``others``; normals point to the bodies."""
    table = bodies.of_shapes(support_table)
    normals = _normals(bodies, state, planes)
    near = _near(state.position, bodies.bounding_radius, reach, planes, normals, others)
    plane, which = map(np.ascontiguousarray, np.nonzero(near))
    body = others[which]
    shape = bodies.shape_of[body]
    most = int((table.start[shape + 1] - table.start[shape]).sum())
    feature, pair = np.empty(most, np.int64), np.empty(most, np.int64)
    point, gap, curvature = np.empty((most, 3)), np.empty(most), np.empty(most)
    count = _contacts(
        (state.position, state.quaternion, reach),
        (planes, normals),
        (plane, body, shape),
        (table.start, table.points, table.radius, table.kind, table.size),
        (pair, feature, point, gap, curvature),
    )
    pair = pair[:count]
    return Pieces.of(
        planes[plane[pair]],
        body[pair],
        feature=feature[:count],
        point=point[:count],
        normal=normals[plane[pair]],
        gap=gap[:count],
        curvature=curvature[:count],
    )


@njit(cache=True)
def _near(position, bound, reach, planes, normals, others):
    """Whose bounding ball is within reach of which plane, (planes, others) bool."""
    near = np.empty((len(planes), len(others)), np.bool_)
    for p in range(len(planes)):
        n, at = normals[p], position[planes[p]]
        for i in range(len(others)):
            b = others[i]
            height = 0.0
            for k in range(3):
                height += (position[b, k] - at[k]) * n[k]
            # a little more than the bounding ball, in spite of rounding
            near[p, i] = height - reach[b] - reach[planes[p]] <= (1 + 1e-6) * bound[b]
    return near


@njit(cache=True)
def _contacts(bodies, walls, pairs, table, out):
    """Fills ``out`` with the contacts within reach; returns how many there are.

    bodies: position, quaternion and reach of all. walls: planes and their normals. pairs: number
    among the planes, body and its shape. table: fields of ``SupportTable``. out: pair, feature,
    point, gap, curvature.
    """
    (position, quaternion, reach), (planes, normals), (plane, body, shape) = bodies, walls, pairs
    (start, points, radius, kind, size), (pair, feature, point, gap, curvature) = table, out
    turn, local, core = np.empty((3, 3)), np.empty(3), np.empty(3)
    count = 0
    for i in range(len(plane)):
        b, s, n, at = body[i], shape[i], normals[plane[i]], position[planes[plane[i]]]
        allowed = reach[b] + reach[planes[plane[i]]]
        _turn(quaternion[b], turn)
        for k in range(3):  # the plane's normal in body axes
            local[k] = turn[0, k] * n[0] + turn[1, k] * n[1] + turn[2, k] * n[2]
        for row in range(start[s], start[s + 1]):
            rounding, curved = _core(
                kind[s], row - start[s], points[row], radius[s], size[s], local, core
            )
            height = 0.0
            for k in range(3):
                w = turn[k, 0] * core[0] + turn[k, 1] * core[1] + turn[k, 2] * core[2]
                point[count, k] = w + position[b, k]
                height += (point[count, k] - at[k]) * n[k]
            height -= rounding
            if height <= allowed:  # NaN: not a contact in this pose
                for k in range(3):
                    point[count, k] -= (rounding + 0.5 * height) * n[k]
                pair[count], feature[count] = i, row - start[s]
                gap[count], curvature[count] = height, curved
                count += 1
    return count


@njit(**INNER)
def _turn(q, out):
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = q
    out[0, 0], out[0, 1], out[0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
    )
    out[1, 0], out[1, 1], out[1, 2] = (
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    out[2, 0], out[2, 1], out[2, 2] = (
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )


@njit(**INNER)
def _core(kind, number, row, radius, axes, normal, core):
    """Writes point ``number`` of a shape for the plane's unit normal in body axes to ``core``.

    Returns (radius of the ball about it, mean curvature there). NaN for rim points that do not
    count in this pose: within parallel radians of upright a cylinder stands on the fixed points
    of its ends; else it lies or leans on the lowest points of its rims.
    """
    for k in range(3):
        core[k] = row[k]
    if kind != CYLINDER and kind != ELLIPSOID:
        # a capsule's ends are balls; between them the side is curved one way only
        return radius, 1 / radius if radius > 0 else 0.0
    if kind == CYLINDER:
        across = np.hypot(normal[0], normal[1])
        if (across < TOLERANCES.parallel) == (number < 2):
            core[0] = np.nan
        elif number < 2:
            core[0] = -radius * normal[0] / across
            core[1] = -radius * normal[1] / across
        return 0.0, 0.0
    size = 0.0
    for k in range(3):
        size += (axes[k] * normal[k]) ** 2
    size = np.sqrt(size)
    for k in range(3):
        core[k] = -(axes[k] ** 2) * normal[k] / size
    return 0.0, ellipsoid_curvature(axes, core)


@njit(cache=True)
def ellipsoid_curvature(axes: np.ndarray, point: np.ndarray):
    """Mean of the two principal curvatures [1/m] at a surface point (3,) in body axes."""
    h = square = squares = 0.0
    for k in range(3):
        h += (point[k] / axes[k] ** 2) ** 2
        square += point[k] ** 2
        squares += axes[k] ** 2
    return (squares - square) / (2 * (axes[0] * axes[1] * axes[2]) ** 2 * h**1.5)
