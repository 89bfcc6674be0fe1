"""Support functions and faces of all three-dimensional solids as kernels over flat arrays.

For a unit direction d in the axes of a body with support function h(d) = max over its points x of
d . x: the height h, a point where it is attained, and the part of the surface that looks along d.

"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Bodies
from .kinds import BALL, CAPSULE, CYLINDER, ELLIPSOID, POLYTOPE, shape_kinds, shape_sizes
from .planes import RIM, RIM_POINTS, ellipsoid_curvature
from .polytope_table import polytope_table
from .separation import lowest, most_along
from .tolerances import TOLERANCES

UPRIGHT = np.cos(TOLERANCES.parallel)


class Solids(NamedTuple):
    """All shapes of a scene: kind (shapes,) and size (shapes, 3) [m] of ``kinds.py``; all else as
    in ``PolytopeTable``."""

    kind: np.ndarray
    size: np.ndarray
    vertex_start: np.ndarray
    vertices: np.ndarray
    face_start: np.ndarray
    normals: np.ndarray
    heights: np.ndarray
    diagonal: np.ndarray
    loop_start: np.ndarray
    loops: np.ndarray


def solid_table(bodies: Bodies) -> Solids:
    """The shapes of a scene for kernels. Use ``bodies.of_shapes``."""
    table = bodies.of_shapes(polytope_table)
    return Solids(
        bodies.of_shapes(shape_kinds),
        bodies.of_shapes(shape_sizes),
        table.vertex_start,
        table.vertices,
        table.face_start,
        table.normals,
        table.heights,
        table.diagonal,
        table.loop_start,
        table.loops,
    )


def rounding(solids: Solids, shape: np.ndarray) -> np.ndarray:
    """Least radius of curvature of shapes (k,) [m]: of the ball that rolls inside; 0 at edges."""
    kind, size = solids.kind[shape], solids.size[shape]
    out = np.where((kind == BALL) | (kind == CAPSULE), size[:, 0], 0.0)
    bent = kind == ELLIPSOID
    out[bent] = size[bent].min(axis=1) ** 2 / size[bent].max(axis=1)
    return out


@njit(cache=True)
def support(solids: Solids, s: int, d: np.ndarray, out: np.ndarray):
    """Height of shape s along unit d; out (3,) gets a point where it is attained."""
    corners = solids.vertices[solids.vertex_start[s] : solids.vertex_start[s + 1]]
    return support_of(solids.kind[s], solids.size[s], corners, d, out)


@njit(**INNER)
def support_of(kind: int, size: np.ndarray, corners: np.ndarray, d: np.ndarray, out: np.ndarray):
    """``support`` of a solid of this kind, size (3,), and corners (.., 3) of a polytope."""
    if kind == POLYTOPE:
        low, corner = lowest(corners, d, -1.0)
        for k in range(3):
            out[k] = corners[corner, k]
        return -low
    if kind == BALL:
        for k in range(3):
            out[k] = size[0] * d[k]
        return size[0]
    if kind == ELLIPSOID:
        x, y, z = size[0] * d[0], size[1] * d[1], size[2] * d[2]
        height = np.sqrt(x * x + y * y + z * z)
        out[0], out[1], out[2] = size[0] * x / height, size[1] * y / height, size[2] * z / height
        return height
    out[2] = size[2] if d[2] >= 0 else -size[2]
    if kind == CAPSULE:
        for k in range(3):
            out[k] = size[0] * d[k] + (out[2] if k == 2 else 0.0)
        return size[0] + size[2] * abs(d[2])
    across = np.sqrt(d[0] * d[0] + d[1] * d[1])
    share = size[0] / across if across > 0 else 0.0
    out[0], out[1] = share * d[0], share * d[1]
    return size[0] * across + size[2] * abs(d[2])


@njit(**INNER)
def to_body(turn: np.ndarray, x: np.ndarray, sign: float, out: np.ndarray):
    """out = sign * turn^T x."""
    for k in range(3):
        out[k] = sign * (turn[0, k] * x[0] + turn[1, k] * x[1] + turn[2, k] * x[2])


@njit(**INNER)
def face_that_separates(
    solids: Solids,
    s: int,
    other: int,
    relative: np.ndarray,
    arm: np.ndarray,
    limit: float,
    normal: np.ndarray,
):
    """Largest separation of shape s and ``other`` along a face normal of s; -inf without.

    relative (3, 3), arm (3,): turn and centre of the other body in the axes of s. normal (3,): gets
    the face's normal in those axes. Stops at the first face beyond ``limit``.
    """
    best, first, count, height = -np.inf, 0, 0, solids.size[s, 2]
    flat, normals, heights = solids.kind[s] == POLYTOPE, solids.normals, solids.heights
    if flat:
        first, count = solids.face_start[s], solids.face_start[s + 1] - solids.face_start[s]
    elif solids.kind[s] == CYLINDER:
        count = 2
    if count == 0:
        return best
    kind, size = solids.kind[other], solids.size[other]
    corners = solids.vertices[solids.vertex_start[other] : solids.vertex_start[other + 1]]
    n, d, at, deepest = np.zeros(3), np.empty(3), np.empty(3), arm.copy()
    for f in range(first, first + count):
        if flat:
            n[0], n[1], n[2], height = normals[f, 0], normals[f, 1], normals[f, 2], heights[f]
        else:
            n[2] = 1.0 - 2.0 * f
        # no more than the height of any one point of the other body
        if n[0] * deepest[0] + n[1] * deepest[1] + n[2] * deepest[2] - height <= best:
            continue
        to_body(relative, n, -1.0, d)
        along = n[0] * arm[0] + n[1] * arm[1] + n[2] * arm[2]
        here = along - height - support_of(kind, size, corners, d, at)
        for k in range(3):
            turned = relative[k, 0] * at[0] + relative[k, 1] * at[1] + relative[k, 2] * at[2]
            deepest[k] = arm[k] + turned
        if here > best:
            best = here
            normal[0], normal[1], normal[2] = n[0], n[1], n[2]
            if best > limit:
                break
    return best


@njit(cache=True)
def facing(
    solids: Solids,
    s: int,
    d: np.ndarray,
    start: np.ndarray,
    corners: np.ndarray,
    names: np.ndarray,
    normal: np.ndarray,
):
    """The face or line of shape s that looks along unit d: (number of corners, its size).

    corners (.., 3), names (..,): get the corners, counter-clockwise about ``normal`` (3,), which a
    face (3 corners or more) sets, and their numbers; two corners are a line, none a point. All in
    the body's axes. The size is the diagonal of a face's bounding box there, or a length.
    start (2, 3): the points that stand for the rim of a cylinder's end begin in the direction of
    the first row, or of the second if the first is nearly along the axis: axes of its own, or of
    another cylinder whose end it meets, so that their points coincide.
    """
    kind, size = solids.kind[s], solids.size[s]
    if kind == POLYTOPE:
        first = solids.face_start[s]
        _, face = most_along(solids.normals[first : solids.face_start[s + 1]], d, 1.0)
        row = first + face
        begin = solids.loop_start[row]
        count = solids.loop_start[row + 1] - begin
        for c in range(count):
            names[c] = solids.loops[begin + c]
            for k in range(3):
                corners[c, k] = solids.vertices[solids.vertex_start[s] + names[c], k]
        for k in range(3):
            normal[k] = solids.normals[row, k]
        return count, solids.diagonal[row]
    if kind != CAPSULE and kind != CYLINDER:
        return 0, 0.0
    if abs(d[2]) < TOLERANCES.parallel:
        share = size[0] / np.sqrt(d[0] * d[0] + d[1] * d[1])
        for c in range(2):
            corners[c, 0], corners[c, 1] = share * d[0], share * d[1]
            corners[c, 2] = size[2] if c == 1 else -size[2]
            names[c] = c
        return 2, 2 * size[2]
    if kind == CYLINDER and abs(d[2]) > UPRIGHT:
        up = 1.0 if d[2] > 0 else -1.0
        x, y = start[0, 0], start[0, 1]
        if x * x + y * y < 0.25:
            x, y = start[1, 0], start[1, 1]
        share = size[0] / np.sqrt(x * x + y * y)
        for c in range(RIM_POINTS):
            along, across = share * RIM[c, 0], up * share * RIM[c, 1]
            corners[c, 0], corners[c, 1] = along * x - across * y, along * y + across * x
            corners[c, 2] = up * size[2]
            names[c] = c
        normal[0], normal[1], normal[2] = 0.0, 0.0, up
        return RIM_POINTS, np.sqrt(8.0) * size[0]
    return 0, 0.0


@njit(**INNER)
def curvature_near(solids: Solids, s: int, x: np.ndarray, d: np.ndarray):
    """Mean curvature [1/m] of shape s where its outward normal is d (3,), unit, near point x (3,),
    which may lie inside; in its axes. 0 on faces and edges."""
    kind, size = solids.kind[s], solids.size[s]
    if kind == BALL:
        return 1 / size[0]
    if kind == ELLIPSOID:
        surface = np.empty(3)
        support(solids, s, d, surface)
        return ellipsoid_curvature(size, surface)
    if kind == CAPSULE:
        on_side = abs(x[2]) < (1 - 1e-9) * size[2]  # the ends of its lines belong to the end balls
        return (0.5 if on_side else 1.0) / size[0]
    if kind == CYLINDER and np.sqrt(x[0] * x[0] + x[1] * x[1]) > 0.999 * size[0]:
        return 0.5 / size[0]
    return 0.0
