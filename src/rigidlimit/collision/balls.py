"""Exact contacts of a ball with a ball, box, capsule, cylinder or polyhedron, all pairs at once;
of disks with disks in the plane. Every pair has one contact, within reach or not.

The ball's centre c has the signed distance d from the solid, and the solid's surface point nearest
to it lies at c - d m, with m the unit direction away from the solid; gap = d - R. A centre inside
the solid leaves by the nearest face (side, end). On a capsule's or cylinder's axis every direction
across is equally near: it leaves along the body's x axis.
"""

import numpy as np
from numba import njit

from .._support.threads import in_pieces
from ..bodies import Bodies, Box, Capsule, Cylinder, State, rotations
from ..errors import ContactError
from .contacts import Pieces
from .kinds import shape_sizes
from .polytope_table import polytope_table
from .tolerances import TOLERANCES


def ball_solid(
    bodies: Bodies, state: State, ball: np.ndarray, solid: np.ndarray, _reach: np.ndarray
) -> Pieces:
    """One contact for each pair; normals point from the ball to the solid."""
    turn = rotations.matrix(state.quaternion[solid])
    arm = state.position[ball] - state.position[solid]
    local = np.einsum("kji,kj->ki", turn, arm)
    size = bodies.of_shapes(shape_sizes)[bodies.shape_of[solid]]
    radius = bodies.bounding_radius[ball]
    distance = np.empty(len(ball))
    outward = np.empty((len(ball), 3))
    curvature = 1 / radius
    capsule, cylinder = bodies.are(Capsule)[solid], bodies.are(Cylinder)[solid]
    box = bodies.are(Box)[solid]
    for which, nearest in ((box, from_box), (capsule, from_capsule), (cylinder, from_cylinder)):
        distance[which], outward[which] = nearest(local[which], size[which])
    other = ~(box | capsule | cylinder)
    if other.any():
        table = bodies.of_shapes(polytope_table)
        distance[other], outward[other] = _from_polytopes(
            local[other], bodies.shape_of[solid[other]], table.faces
        )
    gap = distance - radius
    on_solid = local - outward * distance[:, None]  # body frame
    curvature[capsule] += capsule_curvature(on_solid[capsule], size[capsule])
    curvature[cylinder] += cylinder_curvature(on_solid[cylinder], size[cylinder])
    normal = -np.einsum("kij,kj->ki", turn, outward)
    return Pieces.of(
        ball,
        solid,
        point=state.position[ball] + normal * (radius + 0.5 * gap)[:, None],
        normal=normal,
        gap=gap,
        curvature=curvature,
    )


def capsule_curvature(point: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Mean curvature [1/m] of capsules at points (k, 3) of their frames: side or end ball."""
    return np.where(np.abs(point[:, 2]) < size[:, 2], 0.5, 1.0) / size[:, 0]


def cylinder_curvature(point: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Mean curvature [1/m] of cylinders at points (k, 3) of their frames; 0 on the ends."""
    on_side = np.hypot(point[:, 0], point[:, 1]) > 0.999 * size[:, 0]
    return np.where(on_side, 0.5 / size[:, 0], 0.0)


def from_box(point: np.ndarray, half: np.ndarray):
    """Signed distance (k,) of points from boxes and direction away from them (k, 3)."""
    off = point - np.clip(point, -half, half)
    distance = np.linalg.norm(off, axis=1)
    inside = distance == 0
    outward = off / np.where(inside, 1.0, distance)[:, None]
    depth = half - np.abs(point)
    axis = depth[inside].argmin(axis=1)
    rows = np.flatnonzero(inside)
    distance[rows] = -depth[rows, axis]
    outward[rows, axis] = np.where(point[rows, axis] < 0, -1.0, 1.0)
    return distance, outward


def from_capsule(point: np.ndarray, size: np.ndarray):
    """Signed distance (k,) of points from capsules and direction away from them (k, 3)."""
    off = point.copy()
    off[:, 2] -= np.clip(point[:, 2], -size[:, 2], size[:, 2])
    distance = np.linalg.norm(off, axis=1)
    off[distance == 0, 0] = 1.0
    outward = off / np.where(distance == 0, 1.0, distance)[:, None]
    return distance - size[:, 0], outward


def from_cylinder(point: np.ndarray, size: np.ndarray):
    """Signed distance (k,) of points from cylinders and direction away from them (k, 3)."""
    across = point[:, :2].copy()
    r = np.linalg.norm(across, axis=1)
    across[r == 0, 0] = 1.0
    across /= np.where(r == 0, 1.0, r)[:, None]
    # a half plane through the axis cuts the cylinder in a rectangle
    distance, out = from_box(np.column_stack([r, point[:, 2]]), size[:, [0, 2]])
    return distance, np.column_stack([across * out[:, :1], out[:, 1]])


@njit(cache=True)
def _from_polytopes(points, shape_of, table):
    """Signed distance (k,) of points from polytopes and direction away from them (k, 3). table:
    ``PolytopeTable.faces``."""
    v_start, v, f_start, normals, heights, l_start, loops, e_start, edges = table
    distance = np.empty(len(points))
    outward = np.empty((len(points), 3))
    for p in range(len(points)):
        s = shape_of[p]
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        first = v_start[s]
        best, face = -np.inf, f_start[s]
        for f in range(f_start[s], f_start[s + 1]):
            h = normals[f, 0] * x + normals[f, 1] * y + normals[f, 2] * z - heights[f]
            if h > best:
                best, face = h, f
        nx, ny, nz = normals[face, 0], normals[face, 1], normals[face, 2]
        above = True  # the face, not beside it
        if best > 0:
            for k in range(l_start[face], l_start[face + 1]):
                i = first + loops[k]
                j = first + loops[k + 1 if k + 1 < l_start[face + 1] else l_start[face]]
                ux, uy, uz = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
                dx, dy, dz = x - v[i, 0], y - v[i, 1], z - v[i, 2]
                inward = nx * (uy * dz - uz * dy) + ny * (uz * dx - ux * dz)
                if inward + nz * (ux * dy - uy * dx) < 0:
                    above = False
                    break
        if not above:
            square = np.inf
            for e in range(e_start[s], e_start[s + 1]):
                i, j = first + edges[e, 0], first + edges[e, 1]
                ux, uy, uz = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
                dx, dy, dz = x - v[i, 0], y - v[i, 1], z - v[i, 2]
                t = (dx * ux + dy * uy + dz * uz) / (ux * ux + uy * uy + uz * uz)
                t = min(max(t, 0.0), 1.0)
                dx, dy, dz = dx - t * ux, dy - t * uy, dz - t * uz
                here = dx * dx + dy * dy + dz * dz
                if here < square:
                    square = here
                    nx, ny, nz = dx, dy, dz
            # the edges are part of the solid, its distance is at least the face's height
            if square > best * best:
                best = np.sqrt(square)
                nx, ny, nz = nx / best, ny / best, nz / best
            else:
                nx, ny, nz = normals[face, 0], normals[face, 1], normals[face, 2]
        distance[p] = best
        outward[p, 0], outward[p, 1], outward[p, 2] = nx, ny, nz
    return distance, outward


def ball_ball(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, _reach: object = None
) -> Pieces:
    """Contacts of pairs of balls (a_k, b_k): gap = |x_b - x_a| - R_a - R_b."""
    k = len(a)
    point, normal = np.empty((k, 3)), np.empty((k, 3))
    gap, curvature = np.empty(k), np.empty(k)

    def fill(first: int, last: int):
        poses, out = (state.position, bodies.bounding_radius), (point, normal, gap, curvature)
        return _fill(poses, (a, b), first, last, out)

    lost = max(in_pieces(fill, k, least=TOLERANCES.threaded))
    if lost >= 0:
        raise ContactError(
            f"bodies {bodies.names[a[lost]]!r} and {bodies.names[b[lost]]!r} have the same centre "
            f"{state.position[a[lost]].tolist()}: their contact has no normal; expected distinct "
            "centres; move one of them"
        )
    return Pieces.of(a, b, point=point, normal=normal, gap=gap, curvature=curvature)


@njit(cache=True, nogil=True)
def _fill(poses, pairs, first, last, out):
    """Fills point, normal, gap and curvature for pairs first : last; returns a pair without normal,
    or -1. poses: centres and radii of the bodies."""
    (position, radius), (a, b), (point, normal, gap, curvature) = poses, pairs, out
    lost = -1
    for p in range(first, last):
        i, j = a[p], b[p]
        square = 0.0
        for k in range(3):
            normal[p, k] = position[j, k] - position[i, k]
            square += normal[p, k] ** 2
        distance, total = np.sqrt(square), radius[i] + radius[j]
        if not distance > 1e-12 * total:
            lost = p
            continue
        gap[p] = distance - total
        curvature[p] = 1 / radius[i] + 1 / radius[j]
        for k in range(3):
            normal[p, k] /= distance
            point[p, k] = position[i, k] + normal[p, k] * (radius[i] + 0.5 * gap[p])
    return lost
