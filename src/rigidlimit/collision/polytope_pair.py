"""One pair of polytopes as kernels see it: both bodies in the axes of the first about its centre,
the direction that separates them most, and the points nearest to each other.
"""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define
from .polytope_table import PolytopeTable
from .separation import best_edges, best_face, corner_edge, crossing, edge_edge, place, step
from .tolerances import TOLERANCES


@structref.register
class _PolytopeType(StructType):
    pass


class Polytope:
    """One body.

    shape: row among the shapes; corners (k, 3); normals (f, 3), heights (f,) of faces; row: of the
    first face in the table; around_start (k + 1,): first entry of each corner among the faces
    around corners; edges, sides (e, 2), along (e, 3): as in ``PolytopeTable``; apart (f,): how far
    the other body lies beyond each face.
    """

    shape: int
    corners: np.ndarray
    normals: np.ndarray
    heights: np.ndarray
    row: int
    around_start: np.ndarray
    edges: np.ndarray
    sides: np.ndarray
    along: np.ndarray
    apart: np.ndarray


define(Polytope, _PolytopeType)


@structref.register
class _PairType(StructType):
    pass


class Pair:
    """Two polytopes a, b, and what is found of them; unplaced: b in its own axes.

    size: sum of the bounding radii [m]; limit: largest gap with contacts [m];
    turn (3, 3), arm (3,): pose of b. separation: the largest [m]; normal (3,): its direction, from
    a to b; gap: the signed distance [m]; on (2, 3): points on a and b at that distance.
    zero (3,): no shift.
    """

    a: Polytope
    b: Polytope
    unplaced: Polytope
    size: float
    limit: float
    turn: np.ndarray
    arm: np.ndarray
    separation: float
    normal: np.ndarray
    gap: float
    on: np.ndarray
    zero: np.ndarray


define(Pair, _PairType)


@njit(**INNER)
def new_polytope(table: PolytopeTable):
    """A ``Polytope`` with room for any shape of the table."""
    return Polytope(
        -1, table.vertices, table.normals, table.heights, 0, table.around_start, table.edges,
        table.sides, table.along, np.empty(table.largest[1]),
    )  # fmt: skip


@njit(**INNER)
def new_pair(table: PolytopeTable):
    """A ``Pair`` that ``relative_pose`` and ``take_shapes`` fill."""
    return Pair(
        new_polytope(table), new_polytope(table), new_polytope(table),
        0.0, 0.0, np.empty((3, 3)), np.empty(3), 0.0, np.empty(3), 0.0,
        np.empty((2, 3)), np.zeros(3),
    )  # fmt: skip


@njit(**INNER)
def relative_pose(pair: Pair, position: np.ndarray, turn: np.ndarray, i: int, j: int):
    """Pose of body j in the axes of body i about its centre."""
    relative, arm = pair.turn, pair.arm
    for k in range(3):
        arm[k] = 0.0
        for m in range(3):
            arm[k] += turn[i, m, k] * (position[j, m] - position[i, m])
            relative[k, m] = 0.0
            for c in range(3):
                relative[k, m] += turn[i, c, k] * turn[j, c, m]


@njit(**INNER)
def take_shape(body: Polytope, table: PolytopeTable, s: int):
    """Makes ``body`` the shape s in its own axes."""
    v, f, e, around = table.vertex_start, table.face_start, table.edge_start, table.around_start
    body.shape, body.row = s, f[s]
    body.corners = table.vertices[v[s] : v[s + 1]]
    body.normals = table.normals[f[s] : f[s + 1]]
    body.heights = table.heights[f[s] : f[s + 1]]
    body.around_start = around[v[s] : v[s + 1] + 1]
    body.edges = table.edges[e[s] : e[s + 1]]
    body.sides = table.sides[e[s] : e[s + 1]]
    body.along = table.along[e[s] : e[s + 1]]


@njit(**INNER)
def take_shapes(pair: Pair, table: PolytopeTable, s: int, t: int):
    """Makes the bodies the shapes s and t, the second yet to be placed."""
    if pair.a.shape != s:
        take_shape(pair.a, table, s)
    if pair.unplaced.shape != t:
        b, own = pair.b, pair.unplaced
        take_shape(own, table, t)
        b.row, b.around_start, b.edges, b.sides = own.row, own.around_start, own.edges, own.sides
        b.corners, b.normals = np.empty(own.corners.shape), np.empty(own.normals.shape)
        b.heights, b.along = np.empty(len(own.heights)), np.empty(own.along.shape)


@njit(**INNER)
def separating_face(pair: Pair):
    """The face of either body that separates most: (body 0 or 1, face, the other's corner).

    Sets ``separation`` and ``normal``; places the second body's corners and faces. A separation
    beyond ``limit`` is a lower bound.
    """
    a, b, own, turn, arm = pair.a, pair.b, pair.unplaced, pair.turn, pair.arm
    zero, limit, normals, heights, level = pair.zero, pair.limit, b.normals, b.heights, own.heights
    place(own.corners, turn, arm, b.corners)
    best, face, corner = best_face(a.normals, a.heights, b.corners, limit, a.apart)
    pair.separation = best
    if best > limit:
        return 0, face, corner
    place(own.normals, turn, zero, normals)
    for f in range(len(normals)):
        shift = normals[f, 0] * arm[0] + normals[f, 1] * arm[1] + normals[f, 2] * arm[2]
        heights[f] = level[f] + shift
    best_b, face_b, corner_a = best_face(normals, heights, a.corners, limit, b.apart)
    if best_b > limit or best_b > best + TOLERANCES.rounding * pair.size:
        pair.separation = best_b
        step(zero, -1.0, normals[face_b], pair.normal)
        return 1, face_b, corner_a
    step(zero, 1.0, a.normals[face], pair.normal)
    return 0, face, corner


@njit(**INNER)
def separating_edges(pair: Pair, scratch: tuple):
    """The edges across each other that separate more than the faces do, if any: (edge, edge), -1
    without. Sets ``separation`` and ``normal``; a separation beyond ``limit`` is a lower bound.

    scratch: of ``best_edges``.
    """
    b = pair.b
    place(pair.unplaced.along, pair.turn, pair.zero, b.along)
    pair.separation, edge_a, edge_b = best_edges(
        pair.a,
        b,
        pair.separation,
        TOLERANCES.rounding * pair.size,
        pair.limit,
        scratch,
        pair.normal,
    )
    return edge_a, edge_b


@njit(**INNER)
def edges_meet(pair: Pair, edge_a: int, edge_b: int):
    """Whether the lines of two edges are nearest within both; their points go into ``on``."""
    a, b = pair.a, pair.b
    ea, eb = a.edges[edge_a], b.edges[edge_b]
    return crossing(a.corners, ea[0], ea[1], b.corners, eb[0], eb[1], pair.on)


@njit(**INNER)
def corner_below(pair: Pair, side: int, corner: int):
    """The corner of the other body that is furthest inwards of a face of body ``side``, and the
    point of the face's plane below it, into ``on``."""
    n, on, separation = pair.normal, pair.on, pair.separation
    if side == 0:
        step(pair.b.corners[corner], 0.0, n, on[1])
        step(on[1], -separation, n, on[0])
    else:
        step(pair.a.corners[corner], 0.0, n, on[0])
        step(on[0], separation, n, on[1])


@njit(**INNER)
def closest_points(pair: Pair):
    """Nearest points at a corner and an edge, two corners, or edges that tie with others or a face,
    of overlapping bodies where they touch after b has moved out: sets ``gap``, ``normal``, ``on``.
    """
    va, vb, ea, eb = pair.a.corners, pair.b.corners, pair.a.edges, pair.b.edges
    best, n, trial = pair.separation, pair.normal, np.empty((2, 3))
    depth, tol, level = (
        min(best, 0.0),
        TOLERANCES.rounding * pair.size,
        TOLERANCES.level * pair.size,
    )
    for c in range(len(vb)):
        step(vb[c], -depth, n, vb[c])
    square = corner_edge(va, vb, eb, np.inf, trial[0], trial[1])
    square = min(square, corner_edge(vb, va, ea, square, trial[1], trial[0]))
    square = min(square, edge_edge(va, ea, vb, eb, square, np.empty((2, 3)), trial))
    for c in range(len(vb)):
        step(vb[c], depth, n, vb[c])
    if best > 0 and square > tol * tol:
        pair.gap = np.sqrt(square)
        for k in range(3):
            n[k] = (trial[1, k] - trial[0, k]) / pair.gap
    if best > 0 or square < level * level:
        step(trial[0], 0.0, n, pair.on[0])
        step(trial[1], depth, n, pair.on[1])
