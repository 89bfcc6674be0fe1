"""Contacts of curved solids and of fine meshes, all pairs at once.

The pairs that no other narrow phase takes: cylinders, ellipsoids, capsules with polytopes, and
polytopes with very many edges. Three stages, each over arrays of pairs in the axes of the first
body about its centre:

1. Pairs out of reach go, by any direction that separates them more: Gilbert's iteration (minimum
   norm on the difference of two convex bodies, by their support functions) bounds the distance
   from both sides, and faces of polytopes give their separations.
2. The largest separation with its normal and nearest points: by Newton with a proof
   (``ellipsoids``), by closed forms (``capsule_polytopes``), the rest by coal
   (``coal_distance``), made exact by Newton on the kinks of the separation (``polish``). The
   normal of a face or end that separates more is nearer to the truth: coal can miss it where faces
   just touch.
3. The patch of contacts about the nearest points (``patches``).
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Bodies, State, rotations
from ..errors import ContactError
from .capsule_polytopes import nearest_of_capsule
from .coal_distance import nearest_by_coal
from .contacts import Pieces
from .ellipsoids import nearest_of_ellipsoids
from .kinds import BALL, CAPSULE, CYLINDER, ELLIPSOID, POLYTOPE
from .lines import dot
from .pairs import Faces, Nearest, Pairs, put_rows, rows_of
from .patches import contacts_of_nearest
from .polytope_table import polytope_table
from .solid_table import Solids, face_that_separates, solid_table, support_of, to_body
from .tolerances import TOLERANCES


def convex_pairs(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of the pairs (a_k, b_k) with gap <= reach_k; normals point from a to b."""
    if not len(a):
        return Pieces.joined([])
    solids = bodies.of_shapes(solid_table)
    world = rotations.matrix(state.quaternion[a])
    pairs = _poses(bodies, state, a, b, world, reach)
    near, *faces = _near(pairs, solids)
    a, b, world = a[near], b[near], world[near]
    pairs, faces = rows_of(pairs, near), rows_of(Faces(*faces), near)
    nearest = _nearest(bodies, pairs, faces, solids)
    lost = np.flatnonzero(nearest.separation == -np.inf)
    if len(lost):
        i, j = int(a[lost[0]]), int(b[lost[0]])
        raise ContactError(
            f"bodies {bodies.names[i]!r} and {bodies.names[j]!r}: no contact normal found "
            f"(centres {state.position[i].tolist()} and {state.position[j].tolist()}); expected "
            "bodies that do not contain each other; move them apart"
        )
    longest = bodies.of_shapes(polytope_table).longest
    found = contacts_of_nearest(pairs, nearest, longest, solids)
    pair = found[:, 0].astype(np.int64)
    return Pieces.of(
        a[pair],
        b[pair],
        feature=found[:, 1],
        point=np.einsum("kij,kj->ki", world[pair], found[:, 7:]) + state.position[a[pair]],
        normal=np.einsum("kij,kj->ki", world[pair], found[:, 4:7]),
        gap=found[:, 2],
        curvature=found[:, 3],
    )


def _poses(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, world: np.ndarray, reach: np.ndarray
) -> Pairs:
    """Bodies a and b (k,); world (k, 3, 3): turns of a."""
    turn = np.einsum("kji,kjl->kil", world, rotations.matrix(state.quaternion[b]))
    arm = np.einsum("kji,kj->ki", world, state.position[b] - state.position[a])
    radius = bodies.bounding_radius
    return Pairs(bodies.shape_of[a], bodies.shape_of[b], turn, arm, reach, radius[a], radius[b])


def _nearest(bodies: Bodies, pairs: Pairs, faces: Faces, solids: Solids) -> Nearest:
    """Nearest points of pairs, by the search for each kind of pair."""
    out = Nearest.unknown(len(pairs.arm))
    out.exact[:] = True
    kind_a, kind_b = solids.kind[pairs.shape_a], solids.kind[pairs.shape_b]
    left = np.ones(len(pairs.arm), bool)
    smooth = _smooth(kind_a) & _smooth(kind_b)
    rows = np.flatnonzero(smooth)
    if len(rows):
        proved, *found = nearest_of_ellipsoids(rows_of(pairs, rows), pairs.arm[rows], solids)
        put_rows(out[:4], rows, found)
        left[rows] = ~proved
    table = bodies.of_shapes(polytope_table)
    edges = np.diff(table.edge_start)[pairs.shape_a]
    rows = np.flatnonzero((kind_a == POLYTOPE) & (kind_b == CAPSULE) & (edges <= TOLERANCES.edges))
    if len(rows):
        found = nearest_of_capsule(rows_of(pairs, rows), solids.size, table)
        put_rows(out[:4], rows, found)
        left[rows] = False
    rows = np.flatnonzero(left)
    if len(rows):
        found = nearest_by_coal(bodies.shapes, rows_of(pairs, rows), rows_of(faces, rows), solids)
        put_rows(out, rows, found)
    rows = np.flatnonzero(left & smooth & (out.separation > -np.inf))
    if len(rows):  # without coal's rounding
        _, *found = nearest_of_ellipsoids(rows_of(pairs, rows), out.normal[rows], solids)
        as_good = found[0] >= out.separation[rows] - 1e-12 * pairs.radius_a[rows]
        put_rows(out[:4], rows[as_good], [part[as_good] for part in found])
    return out


def _smooth(kind: np.ndarray) -> np.ndarray:
    """Which kinds are balls or ellipsoids."""
    return (kind == BALL) | (kind == ELLIPSOID)


@njit(**INNER)
def _may_meet(solids, s, t, turn, arm, limit, room):
    """Whether a few steps of Frank and Wolfe's method towards the nearest points show no direction
    that separates solids s and t by more than ``limit``. room (6, 3): scratch."""
    kinds, sizes, start, vertices = solids.kind, solids.size, solids.vertex_start, solids.vertices
    size_a, corners_a = sizes[s], vertices[start[s] : start[s + 1]]
    size_b, corners_b = sizes[t], vertices[start[t] : start[t + 1]]
    n, d, at_a, at_b, v, w = room[0], room[1], room[2], room[3], room[4], room[5]
    for k in range(3):
        v[k] = arm[k]
    for _ in range(TOLERANCES.bounds):
        size = np.sqrt(dot(v, v))
        if size <= limit or size == 0:
            return True
        for k in range(3):
            n[k] = v[k] / size
        to_body(turn, n, -1.0, d)
        support_of(kinds[s], size_a, corners_a, n, at_a)
        support_of(kinds[t], size_b, corners_b, d, at_b)
        toward = square = 0.0
        for k in range(3):
            w[k] = arm[k] + turn[k, 0] * at_b[0] + turn[k, 1] * at_b[1]
            w[k] = w[k] + turn[k, 2] * at_b[2] - at_a[k]
            toward += (v[k] - w[k]) * v[k]
            square += (v[k] - w[k]) ** 2
        if dot(n, w) > limit:
            return False
        if toward <= 1e-12 * size * size:
            return True
        share = min(1.0, toward / square)
        for k in range(3):
            v[k] += share * (w[k] - v[k])
    return True


@njit(cache=True, nogil=True)
def _near(pairs, solids):
    """Which pairs may be within reach (k,), and ``Faces`` of them; separations of -inf without."""
    turn, arm, reach = pairs.turn, pairs.arm, pairs.reach
    m = len(arm)
    near, face, across = np.ones(m, np.bool_), np.full(m, -np.inf), np.zeros((m, 3))
    of_b = np.zeros(m, np.bool_)
    room, n, back, back_arm = np.empty((6, 3)), np.empty(3), np.empty((3, 3)), np.empty(3)
    for p in range(m):
        s, t, limit = pairs.shape_a[p], pairs.shape_b[p], reach[p]
        near[p] = _may_meet(solids, s, t, turn[p], arm[p], limit, room)
        if not near[p]:
            continue
        face[p] = face_that_separates(solids, s, t, turn[p], arm[p], limit, across[p])
        if solids.kind[t] in (POLYTOPE, CYLINDER) and face[p] <= limit:
            for i in range(3):
                for j in range(3):
                    back[i, j] = turn[p, j, i]
            to_body(turn[p], arm[p], -1.0, back_arm)
            other = face_that_separates(solids, t, s, back, back_arm, limit, n)
            if other > face[p]:
                face[p], of_b[p] = other, True
                for k in range(3):
                    across[p, k] = -dot(turn[p, k], n)
        near[p] = face[p] <= limit
    return near, face, across, of_b
