"""Nearest points of capsules and polytopes, exact to rounding.

A capsule is its axis, a segment, rounded by its radius r: the largest separation of the capsule is
that of the segment minus r. Apart, the segment's nearest point lies over the face that separates
most, at one of its ends, or else on an edge of the polytope. Where the axis enters the polytope,
the way out is along a face's normal or across the axis and an edge.
"""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define
from .pairs import Pairs
from .polytope_pair import Polytope, new_polytope, take_shape
from .polytope_table import PolytopeTable
from .separation import best_edges, best_face, corner_edge, crossing, edge_edge, place
from .tolerances import TOLERANCES


@njit(**INNER)
def _over_face(v, loop, n, x):
    """Whether point x lies in the prism over a face."""
    for c in range(len(loop)):
        p, q = v[loop[c]], v[loop[c + 1 if c + 1 < len(loop) else 0]]
        ux, uy, uz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        dx, dy, dz = x[0] - p[0], x[1] - p[1], x[2] - p[2]
        inward = n[0] * (uy * dz - uz * dy) + n[1] * (uz * dx - ux * dz)
        if inward + n[2] * (ux * dy - uy * dx) < 0:
            return False
    return True


@structref.register
class _SearchType(StructType):
    pass


class Search:
    """A polytope and the axis of a capsule, a segment, in the axes of the polytope.

    segment: corners are its ends; ends_local (2, 3): those in the axes of the capsule. limit:
    largest separation of the segment with contacts; slack: rounding of the size.
    edge_products, face_products: room for ``best_edges``; points, crossed (2, 3): on both bodies.
    """

    solid: Polytope
    segment: Polytope
    ends_local: np.ndarray
    limit: float
    slack: float
    edge_products: np.ndarray
    face_products: np.ndarray
    points: np.ndarray
    crossed: np.ndarray


define(Search, _SearchType)


@njit(**INNER)
def _new_search(table):
    none = np.empty(0)
    segment = Polytope(
        0, np.empty((2, 3)), np.empty((0, 3)), none, 0, table.vertex_start, np.array([[0, 1]]),
        np.array([[-1, -1]]), np.empty((1, 3)), none,
    )  # fmt: skip
    faces, edges = table.largest[1], table.largest[2]
    return Search(
        new_polytope(table), segment, np.zeros((2, 3)), 0.0, 0.0, np.empty((edges, 1)),
        np.empty((1, faces)), np.empty((2, 3)), np.empty((2, 3)),
    )  # fmt: skip


@njit(**INNER)
def _place_segment(search, half, turn, arm):
    local, segment = search.ends_local, search.segment
    local[0, 2], local[1, 2] = -half, half
    place(local, turn, arm, segment.corners)
    for k in range(3):
        segment.along[0, k] = turn[k, 2]


@njit(**INNER)
def _end_over_face(search, table, face, best):
    """The segment's end that lies over that face and no higher than ``best``; -1: none does."""
    solid, ends = search.solid, search.segment.corners
    row, n = solid.row + face, solid.normals[face]
    loop = table.loops[table.loop_start[row] : table.loop_start[row + 1]]
    for c in range(2):
        h = n[0] * ends[c, 0] + n[1] * ends[c, 1] + n[2] * ends[c, 2]
        low = h - solid.heights[face] <= best + search.slack
        if low and _over_face(solid.corners, loop, n, ends[c]):
            return c
    return -1


@njit(**INNER)
def _stand_on(end, best, n, on_a, on_b):
    """The points where the segment's ``end`` (3,) stands over a face."""
    for k in range(3):
        on_b[k] = end[k]
        on_a[k] = end[k] - best * n[k]


@njit(**INNER)
def _across_edges(search, best, n, on_a, on_b):
    """The largest separation across the axis and an edge, if more than ``best``, the face's."""
    solid, segment, points = search.solid, search.segment, search.points
    scratch = (search.edge_products, search.face_products, points[0])
    best, i, _ = best_edges(solid, segment, best, search.slack, search.limit, scratch, n)
    if i >= 0:
        edges = solid.edges
        crossing(solid.corners, edges[i, 0], edges[i, 1], segment.corners, 0, 1, points)
        for k in range(3):
            on_a[k], on_b[k] = points[0, k], points[1, k]
    return best


@njit(**INNER)
def _at_edges(search, best, n, on_a, on_b):
    """The distance of the segment from the corners and edges, and its direction into n (3,);
    ``best``, a face's separation, where that is the same."""
    v, w, points = search.solid.corners, search.segment.corners, search.points
    ev, ew = search.solid.edges, search.segment.edges
    square = corner_edge(v, w, ew, np.inf, points[0], points[1])
    square = min(square, corner_edge(w, v, ev, square, points[1], points[0]))
    square = min(square, edge_edge(v, ev, w, ew, square, search.crossed, points))
    for k in range(3):
        on_a[k], on_b[k] = points[0, k], points[1, k]
    if not np.sqrt(square) > best + search.slack:
        return best
    distance = np.sqrt(square)
    for k in range(3):
        n[k] = (points[1, k] - points[0, k]) / distance
    return distance


@njit(cache=True)
def _nearest(search, table, best, face, end, n, on_a, on_b):
    """Distance of the segment, negative inside, its direction n (3,) and the nearest points, from
    the face that separates most."""
    ends = search.segment.corners
    for k in range(3):
        n[k] = search.solid.normals[face, k]
    _stand_on(ends[end], best, n, on_a, on_b)
    if best > 0:
        end = _end_over_face(search, table, face, best)
        if end >= 0:
            _stand_on(ends[end], best, n, on_a, on_b)
            return best
    else:
        best = _across_edges(search, best, n, on_a, on_b)
        if best <= 0:
            return best
    return _at_edges(search, best, n, on_a, on_b)


@njit(cache=True, nogil=True)
def nearest_of_capsule(pairs: Pairs, size_of: np.ndarray, table: PolytopeTable):
    """(separation (k,), normal, point on a, point on b (k, 3)) of polytopes a and capsules b.

    A separation beyond reach is a lower bound only. size_of (shapes, 3): radius, 0, half length of
    capsules.
    """
    m, reach = len(pairs.arm), pairs.reach
    separation = np.empty(m)
    normal, on_a, on_b = np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 3))
    search = _new_search(table)
    solid = search.solid
    for p in range(m):
        r, half = size_of[pairs.shape_b[p], 0], size_of[pairs.shape_b[p], 2]
        _place_segment(search, half, pairs.turn[p], pairs.arm[p])
        take_shape(solid, table, pairs.shape_a[p])
        search.slack, search.limit = TOLERANCES.rounding * (pairs.radius_a[p] + half), reach[p] + r
        ends = search.segment.corners
        best, face, end = best_face(solid.normals, solid.heights, ends, search.limit, solid.apart)
        separation[p] = best - r
        if separation[p] > reach[p]:
            continue
        distance = _nearest(search, table, best, face, end, normal[p], on_a[p], on_b[p])
        separation[p] = distance - r
        for k in range(3):
            on_b[p, k] -= r * normal[p, k]
    return separation, normal, on_a, on_b
