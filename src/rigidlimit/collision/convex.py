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

from ..bodies import Bodies, State, rotations
from ..errors import ContactError
from .capsule_polytopes import nearest_of_capsule
from .coal_distance import nearest_by_coal
from .ellipsoids import nearest_of_ellipsoids
from .kinds import BALL, CAPSULE, CYLINDER, ELLIPSOID, POLYTOPE
from .patches import contacts_of_nearest, dot
from .pieces import Pieces
from .polytope_table import polytope_table
from .solid_table import face_that_separates, solid_table, support_of, to_body

EDGES = 500
"""Edges of a polytope up to which closed forms with capsules are cheaper than coal's search."""

BOUNDS = 12
"""Steps of Gilbert's iteration; what is still within reach by then is searched in full."""


def convex_pairs(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of the pairs (a_k, b_k) with gap <= reach_k; normals point from a to b."""
    if not len(a):
        return Pieces.joined([])
    solids = bodies.derived(solid_table)
    world = rotations.matrix(state.quaternion[a])
    turn, arm = _relative(world, state, a, b)
    shape_a, shape_b = bodies.shape_of[a], bodies.shape_of[b]
    near, *faces = _near(shape_a, shape_b, turn, arm, reach, solids)
    a, b, world, turn, arm = a[near], b[near], world[near], turn[near], arm[near]
    shape_a, shape_b, reach = shape_a[near], shape_b[near], reach[near]
    radius_a, radius_b = bodies.bounding_radius[a], bodies.bounding_radius[b]

    nearest = _nearest(
        bodies, shape_a, shape_b, radius_a, radius_b, turn, arm, reach,
        [part[near] for part in faces], solids,
    )  # fmt: skip
    lost = np.flatnonzero(nearest[0] == -np.inf)
    if len(lost):
        i, j = int(a[lost[0]]), int(b[lost[0]])
        raise ContactError(
            f"bodies {bodies.names[i]!r} and {bodies.names[j]!r}: no contact normal found "
            f"(centres {state.position[i].tolist()} and {state.position[j].tolist()}); expected "
            "bodies that do not contain each other; move them apart"
        )
    longest = bodies.derived(polytope_table).longest
    found = contacts_of_nearest(
        shape_a, shape_b, turn, arm, reach, radius_a, radius_b, *nearest, longest, solids
    )
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


def _relative(world, state, a, b):
    """Pose (turn (k, 3, 3), arm (k, 3)) of bodies b in the axes of bodies a about their centres."""
    turn = np.einsum("kji,kjl->kil", world, rotations.matrix(state.quaternion[b]))
    return turn, np.einsum("kji,kj->ki", world, state.position[b] - state.position[a])


def _nearest(
    bodies, shape_a, shape_b, radius_a, radius_b, turn, arm, reach, faces, solids
):  # fmt: skip
    """(separation, normal, point on a, point on b, exact) of pairs, by the search that serves each.

    exact (k,): to rounding, not to coal's tolerance.
    """
    k = len(arm)
    out = (
        np.full(k, -np.inf),
        np.zeros((k, 3)),
        np.zeros((k, 3)),
        np.zeros((k, 3)),
        np.ones(k, bool),
    )
    kind_a, kind_b = solids[0][shape_a], solids[0][shape_b]

    def take(rows, found):
        for array, part in zip(out, found, strict=False):
            array[rows] = part

    def by_newton(rows, start):
        return nearest_of_ellipsoids(
            shape_a[rows], shape_b[rows], turn[rows], arm[rows], reach[rows], start, solids
        )

    left = np.ones(k, bool)
    smooth = _smooth(kind_a) & _smooth(kind_b)
    rows = np.flatnonzero(smooth)
    if len(rows):
        proved, *found = by_newton(rows, arm[rows])
        take(rows, found)
        left[rows] = ~proved
    table = bodies.derived(polytope_table)
    edges = np.diff(table.edge_start)[shape_a]
    rows = np.flatnonzero((kind_a == POLYTOPE) & (kind_b == CAPSULE) & (edges <= EDGES))
    if len(rows):
        found = nearest_of_capsule(
            shape_a[rows], shape_b[rows], turn[rows], arm[rows], reach[rows],
            solids[1], radius_a[rows],
            table.vertex_start, table.vertices, table.face_start, table.normals, table.heights,
            table.loop_start, table.loops, table.edge_start, table.edges, table.sides, table.along,
        )  # fmt: skip
        take(rows, found)
        left[rows] = False
    rows = np.flatnonzero(left)
    if len(rows):
        found = nearest_by_coal(
            bodies.shapes, shape_a[rows], shape_b[rows], radius_a[rows], radius_b[rows],
            turn[rows], arm[rows], [part[rows] for part in faces], solids,
        )  # fmt: skip
        take(rows, found)
    rows = np.flatnonzero(left & smooth & (out[0] > -np.inf))
    if len(rows):  # without coal's rounding
        _, *found = by_newton(rows, out[1][rows])
        as_good = found[0] >= out[0][rows] - 1e-12 * radius_a[rows]
        take(rows[as_good], [part[as_good] for part in found])
    return out


def _smooth(kind):
    return (kind == BALL) | (kind == ELLIPSOID)


@njit(cache=True, nogil=True)
def _near(shape_a, shape_b, turn, arm, reach, solids):
    """Which pairs may be within reach (k,), best separation by a face (k,), its normal (k, 3), and
    whether it is a face of b (k,). The separation is -inf without faces."""
    m = len(arm)
    near, face, across = np.ones(m, np.bool_), np.full(m, -np.inf), np.zeros((m, 3))
    of_b = np.zeros(m, np.bool_)
    n, d, at_a, at_b = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    v, w, back, back_arm = np.empty(3), np.empty(3), np.empty((3, 3)), np.empty(3)
    kinds, sizes, start, vertices = solids[0], solids[1], solids[2], solids[3]
    for p in range(m):
        s, t, limit, R, x = shape_a[p], shape_b[p], reach[p], turn[p], arm[p]
        size_a, corners_a = sizes[s], vertices[start[s] : start[s + 1]]
        size_b, corners_b = sizes[t], vertices[start[t] : start[t + 1]]
        for k in range(3):
            v[k] = x[k]
        for _ in range(BOUNDS):
            size = np.sqrt(dot(v, v))
            if size <= limit or size == 0:
                break
            for k in range(3):
                n[k] = v[k] / size
            to_body(R, n, -1.0, d)
            support_of(kinds[s], size_a, corners_a, n, at_a)
            support_of(kinds[t], size_b, corners_b, d, at_b)
            toward = square = 0.0
            for k in range(3):
                w[k] = x[k] + R[k, 0] * at_b[0] + R[k, 1] * at_b[1] + R[k, 2] * at_b[2] - at_a[k]
                toward += (v[k] - w[k]) * v[k]
                square += (v[k] - w[k]) ** 2
            if dot(n, w) > limit:
                near[p] = False
                break
            if toward <= 1e-12 * size * size:
                break
            share = min(1.0, toward / square)
            for k in range(3):
                v[k] += share * (w[k] - v[k])
        if not near[p]:
            continue
        face[p] = face_that_separates(solids, s, t, turn[p], arm[p], limit, across[p])
        if solids[0][t] in (POLYTOPE, CYLINDER) and face[p] <= limit:
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
