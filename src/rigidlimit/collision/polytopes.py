"""Exact contacts of boxes and polyhedra, all pairs in one kernel.

Problem: of two convex polytopes A, B find the largest separation over unit directions n from A to
B,  max_n  min_B n.x - max_A n.x: the distance where they are apart, minus the least way out where
they overlap. It is attained at a face normal of A or B, at a cross product of two edges whose arcs
on the Gauss map meet, or, only where the bodies are apart, along the line from a corner of one to a
corner or edge of the other. The first two kinds are tried always; the third where the best of them
is not realised by two points of the bodies.

Where a face lies across n within (1 - aligned) it is the reference face: the corners of the other
body's facing face, cut to its outline (``clipping``), are the contacts. Of two facing faces that
both serve, the larger is the reference; of equal ones that which separates the bodies more, and
where both do alike, the plane midway between them: it does not matter which body comes first. Else
the closest points make one; and where a face lies across n within nearly_across, as where a box
hangs over an edge and leans a little, the other corners of that patch, which the bodies may turn
towards, are contacts as well: each along the face's normal, so that none dips below the face by
more than second order of the turn. Bodies that only touch along an edge have none (``widthless``).

Symbols: everything is in the axes of A about A's centre, so that rounding does not grow with the
distance from the origin; v corners, n face normals, h face heights, e edge directions.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .._support.threads import in_pieces
from ..bodies import Bodies, State, rotations
from .contacts import Pieces
from .polytope_pair import (
    closest_points,
    corner_below,
    edges_meet,
    new_pair,
    relative_pose,
    separating_edges,
    separating_face,
    take_shapes,
)
from .polytope_patch import (
    NO_PATCH,
    aligned_order,
    cut,
    cutting_of,
    facing_faces,
    first_patch,
    leaning_order,
    write_patch,
    write_point,
)
from .polytope_table import polytope_table
from .tolerances import TOLERANCES
from .widthless import touches_without_width


def small_enough(bodies: Bodies, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which pairs of bodies have few enough edges for this narrow phase."""
    edges = np.diff(bodies.of_shapes(polytope_table).edge_start)[bodies.shape_of]
    return edges[a] * edges[b] <= TOLERANCES.edge_pairs


def polytope_polytope(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of the pairs (a_k, b_k) with gap <= reach_k; normals point from a to b."""
    if not len(a):
        return Pieces.joined([])
    table = bodies.of_shapes(polytope_table)
    turn = rotations.matrix(state.quaternion)

    def contacts(first: int, last: int):
        found = _contacts(
            a[first:last], b[first:last], reach[first:last],
            bodies.shape_of, bodies.bounding_radius, state.position, turn, table,
        )  # fmt: skip
        found[:, 0] += first
        return found

    found = np.concatenate(in_pieces(contacts, len(a), least=TOLERANCES.threaded_polytopes))
    pair = found[:, 0].astype(np.int64)
    here = turn[a[pair]]
    return Pieces.of(
        a[pair],
        b[pair],
        feature=found[:, 1],
        point=np.einsum("kij,kj->ki", here, found[:, 6:]) + state.position[a[pair]],
        normal=np.einsum("kij,kj->ki", here, found[:, 3:6]),
        gap=found[:, 2],
    )


@njit(**INNER)
def _best_patch(pair, patch, cutting):
    """(patch, whether its corners come beside the nearest points), from the patch of the separating
    face or none."""
    faces, single = facing_faces(pair, cutting), False
    even, first = aligned_order(pair, faces)
    if even or patch.side != first:
        on_face, slack = patch.side >= 0, TOLERANCES.equal * pair.size
        across = 1 - TOLERANCES.aligned
        patch = first_patch(pair, faces, even, first, across, slack, cutting)
        single = not on_face and patch.corners == 0
    if single:
        even, first = leaning_order(faces)
        patch = first_patch(pair, faces, even, first, TOLERANCES.nearly_across, np.inf, cutting)
    return patch, single


@njit(cache=True, nogil=True)
def _contacts(a, b, reach, shape_of, radius, position, turn, table):
    """Rows (pair, feature, gap, normal, point) of all contacts, (.., 9), in the axes of a."""
    out, count = np.empty((4 * len(a) + 16, 9)), 0
    pair, cutting = new_pair(table), cutting_of(table)
    one, other, ties = pair.a, pair.b, np.empty((2 * table.largest[1], 3))
    products = (table.largest[2], table.largest[1])
    scratch = np.empty(products), np.empty(products), np.empty(3)
    for p in range(len(a)):
        i, j = a[p], b[p]
        pair.size, pair.limit = radius[i] + radius[j], reach[p]
        relative_pose(pair, position, turn, i, j)
        take_shapes(pair, table, shape_of[i], shape_of[j])
        side, face, corner = separating_face(pair)
        if pair.separation > pair.limit:
            continue
        edge_a, edge_b = separating_edges(pair, scratch)
        if pair.separation > pair.limit:
            continue
        if touches_without_width(
            one.normals, one.apart, other.normals, other.apart, pair.separation,
            TOLERANCES.equal * min(radius[i], radius[j]), ties,
        ):  # fmt: skip
            continue

        # are there two points as far apart as the separation says?
        patch, pair.gap = NO_PATCH, pair.separation
        if edge_a >= 0:
            realised = edges_meet(pair, edge_a, edge_b)
        else:
            corner_below(pair, side, corner)
            normal = one.normals[face] if side == 0 else other.normals[face]
            patch = cut(pair, side, face, normal, 1.0, cutting)
            realised = patch.least <= pair.separation + TOLERANCES.realised * pair.size
        if not realised:
            patch = NO_PATCH
            closest_points(pair)
            if pair.gap > pair.limit:
                continue

        patch, single = _best_patch(pair, patch, cutting)
        if count + patch.corners + 1 > len(out):
            out = np.concatenate((out, np.empty((len(out) + patch.corners + 1, 9))))
        written = 0
        if patch.corners > 0:
            written = write_patch(out[count:], p, pair, patch, single, cutting)
        if written == 0:
            write_point(out[count], p, np.int64(0), pair)
            written = 1
        count += written
    return out[:count]
