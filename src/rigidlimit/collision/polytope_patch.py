"""The patch of contacts between faces of two polytopes, in the axes of the first about its centre.

The reference face is the one whose outline cuts the patch, the incident face the one that is cut.
Where a face lies across the contact's normal within (1 - aligned) and its patch has the least gap,
the patch is the contact. Where one lies across within nearly_across only, the corners of its patch
come beside the nearest points."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define
from .clipping import Polygon, clip, thin_out
from .contacts import FEATURES
from .polytope_pair import Pair
from .polytope_table import PolytopeTable
from .separation import lowest, midway, most_along, step
from .tolerances import TOLERANCES


class Patch(NamedTuple):
    """What one cut gave: number of corners, least gap above the reference face [m], body of that
    face (0, 1; -1: no face), the face, row of the incident face in the table, and the cosine
    between the direction of the cut and the reference face's normal."""

    corners: int
    least: float
    side: int
    face: int
    incident: int
    cosine: float


NO_PATCH = Patch(0, np.inf, -1, 0, 0, 1.0)


class Facing(NamedTuple):
    """The faces of both bodies that lie most across the normal, and their cosines with it.

    larger: whether that of b is the larger; alike: whether neither is, and the direction midway
    between their normals may serve both; cosine: between that direction and their normals.
    """

    face_a: int
    face_b: int
    cosine_a: float
    cosine_b: float
    larger: bool
    alike: bool
    cosine: float


@structref.register
class _CuttingType(StructType):
    pass


class Cutting:
    """Faces of all polytopes (``PolytopeTable``), and room for one patch.

    outline, incident (.., 3): corners of both faces; poly, poly_of, gap: the polygon that ``clip``
    leaves, its labels, gaps of its corners; along (3,): direction of the cut; mid (3,): midway
    between two faces' normals.
    """

    loop_start: np.ndarray
    loops: np.ndarray
    around: np.ndarray
    diagonal: np.ndarray
    outline: np.ndarray
    incident: np.ndarray
    poly: np.ndarray
    poly_of: np.ndarray
    gap: np.ndarray
    along: np.ndarray
    mid: np.ndarray


define(Cutting, _CuttingType)


@njit(**INNER)
def cutting_of(table: PolytopeTable):
    """``Cutting`` for the faces of a ``PolytopeTable``."""
    most = 4 * table.longest + 8
    return Cutting(
        table.loop_start,
        table.loops,
        table.around,
        table.diagonal,
        np.empty((table.longest, 3)),
        np.empty((table.longest, 3)),
        np.empty((2, most, 3)),
        np.empty((2, most, 2), np.int64),
        np.empty(most),
        np.empty(3),
        np.empty(3),
    )


@njit(**INNER)
def _incident(body, cutting, n, level):
    """The face of the corner lowest along n (3,) that looks along -n.

    Of the corner's faces, the one with most corners within ``level`` of the lowest, then the best
    aligned: an edge that lies on a plane keeps both its ends.
    """
    v, normals, around, at = body.corners, body.normals, cutting.around, body.around_start
    start, loops = cutting.loop_start[body.row :], cutting.loops
    low, corner = lowest(v, n, 1.0)
    face, most, best = 0, 0, -np.inf
    for k in range(at[corner], at[corner + 1]):
        f = around[k]
        cosine = -1.0 * (normals[f, 0] * n[0] + normals[f, 1] * n[1] + normals[f, 2] * n[2])
        count = 0
        for c in range(start[f], start[f + 1]):
            x = v[loops[c]]
            if x[0] * n[0] + x[1] * n[1] + x[2] * n[2] <= low + level:
                count += 1
        if count > most or (count == most and cosine > best):
            most, best, face = count, cosine, f
    return face


@njit(**INNER)
def _take(corners, which, out):
    """out = corners[which]; rows of three."""
    for c in range(len(which)):
        for k in range(3):
            out[c, k] = corners[which[c], k]


@njit(cache=True)
def cut(pair: Pair, side: int, face: int, along: np.ndarray, cosine: float, cutting: Cutting):
    """Cuts the face that looks at ``face`` of body ``side`` to its outline, seen along ``along``
    (3,): the face's normal, or midway to the other face's, with ``cosine`` between it and the
    normal. Returns the ``Patch``; its corners go into ``cutting``."""
    own, other = (pair.a, pair.b) if side == 0 else (pair.b, pair.a)
    normal, row, incident = own.normals[face], own.row + face, other.row
    incident += _incident(other, cutting, normal, TOLERANCES.level * pair.size)
    start, loops = cutting.loop_start, cutting.loops
    loop, names = loops[start[row] : start[row + 1]], loops[start[incident] : start[incident + 1]]
    outline, seen = cutting.outline[: len(loop)], cutting.incident[: len(names)]
    _take(own.corners, loop, outline)
    _take(other.corners, names, seen)
    step(along, 0.0, along, cutting.along)
    corners, least = clip(
        outline, along, normal, own.heights[face], seen, names, cutting.poly, cutting.poly_of
    )
    return Patch(corners, least, side, face, incident, cosine)


@njit(**INNER)
def facing_faces(pair: Pair, cutting: Cutting):
    """The ``Facing`` of two bodies."""
    a, b = pair.a, pair.b
    cosine_a, face_a = most_along(a.normals, pair.normal, 1.0)
    cosine_b, face_b = most_along(b.normals, pair.normal, -1.0)
    size_a, size_b = cutting.diagonal[a.row + face_a], cutting.diagonal[b.row + face_b]
    larger = size_b > (1 + TOLERANCES.equal) * size_a
    alike, cosine = not larger and not size_a > (1 + TOLERANCES.equal) * size_b, 1.0
    if alike:
        normal_b = b.normals[face_b]
        askew, cosine = midway(a.normals[face_a], normal_b, cutting.mid)
        alike = askew > TOLERANCES.rounding and cosine > TOLERANCES.wide
        alike = alike and face_a == _incident(a, cutting, normal_b, TOLERANCES.level * pair.size)
    return Facing(face_a, face_b, cosine_a, cosine_b, larger, alike, cosine)


@njit(**INNER)
def aligned_order(pair: Pair, faces: Facing):
    """How to try faces across the normal; facing ones would take turns: (whether the direction
    midway between both goes first, body whose face goes first). The larger face does, of equal ones
    that which separates more."""
    both = faces.cosine_a > (1 - TOLERANCES.aligned) and faces.cosine_b > (1 - TOLERANCES.aligned)
    slack, apart_a = TOLERANCES.equal * pair.size, pair.a.apart[faces.face_a]
    more = pair.b.apart[faces.face_b] - apart_a
    even = faces.alike and abs(more) <= slack and (both or apart_a >= pair.separation - slack)
    return even, 1 if both and (faces.larger or (faces.alike and more > slack)) else 0


@njit(**INNER)
def leaning_order(faces: Facing):
    """The same of faces that lie only nearly across the normal: of equal ones the better goes
    first, or the direction midway between them."""
    if faces.alike and faces.cosine_b > faces.cosine_a + TOLERANCES.equal:
        return False, 1
    alike = faces.alike and faces.cosine_a <= faces.cosine_b + TOLERANCES.equal
    return alike and faces.cosine_a > TOLERANCES.nearly_across, 1 if faces.larger else 0


@njit(**INNER)
def first_patch(
    pair: Pair, faces: Facing, even: bool, first: int, across: float, slack: float, cutting: Cutting
):
    """The first ``Patch`` whose least gap is the pair's up to ``slack``; ``NO_PATCH`` without.

    Tried are that midway between the facing faces, if ``even``, then the face of body ``first`` and
    the other's, each if its cosine with the normal is above ``across``.
    """
    if even:
        patch = cut(pair, np.int64(0), faces.face_a, cutting.mid, faces.cosine, cutting)
        fits = patch.corners > 0 and abs(patch.least / patch.cosine - pair.gap) <= slack
        if fits and patch.incident == pair.b.row + faces.face_b:
            return patch
    for side in (first, 1 - first):
        own, cosine, face = pair.a, faces.cosine_a, faces.face_a
        if side == 1:
            own, cosine, face = pair.b, faces.cosine_b, faces.face_b
        if cosine > across:
            patch = cut(pair, side, face, own.normals[face], 1.0, cutting)
            if patch.corners > 0 and abs(patch.least - pair.gap) <= slack:
                return patch
    return NO_PATCH


@njit(**INNER)
def _nearest_corner(corners, count, point, snap):
    """The corner nearest to ``point`` (3,); -1 if none is within ``snap``."""
    nearest, corner = snap * snap, -1
    for c in range(count):
        square = 0.0
        for k in range(3):
            square += (corners[c, k] - point[k]) ** 2
        if square < nearest:
            nearest, corner = square, c
    return corner


@njit(**INNER)
def write_point(row: np.ndarray, p: int, feature: int, pair: Pair):
    """The contact of pair p at its nearest points into row (9,)."""
    n, on = pair.normal, pair.on
    row[0], row[1], row[2] = p, feature, pair.gap
    for k in range(3):
        row[3 + k] = 0.0 + n[k]
        row[6 + k] = 0.5 * (on[0, k] + on[1, k])


@njit(**INNER)
def write_patch(rows: np.ndarray, p: int, pair: Pair, patch: Patch, single: bool, cutting: Cutting):
    """Contacts of pair p at the corners of a patch within the limit, into rows (.., 9); how many.

    single: whether the nearest points are a contact as well, of which the corners come beside.
    """
    own, sign = (pair.a, 1.0) if patch.side == 0 else (pair.b, -1.0)
    poly, of, height, along = cutting.poly[0], cutting.poly_of[0], cutting.gap, cutting.along
    start, face, incident = cutting.loop_start, own.row + patch.face, patch.incident
    names = cutting.loops[start[incident] : start[incident + 1]]
    snap = TOLERANCES.snap * min(cutting.diagonal[face], cutting.diagonal[incident])
    count, beside, deepest, limit = 0, -1, -np.inf, pair.limit
    left = thin_out(
        Polygon(poly, of), patch.corners, own.normals[patch.face], own.heights[patch.face],
        cutting.incident[: len(names)], names, snap, height,
    )  # fmt: skip
    for c in range(left):
        height[c] /= patch.cosine
    if single:
        write_point(rows[0], p, FEATURES - 1, pair)
        beside = _nearest_corner(poly, left, rows[0, 6:], snap)
        if beside >= 0:  # it is the same, and keeps its number
            rows[0, 1] = (of[beside, 0] + patch.side) % FEATURES
        # deep overlaps have corners below the face that another direction frees sooner
        count, deepest = 1, pair.gap
    for c in range(left):
        if c != beside and deepest <= height[c] <= limit:
            row = rows[count]
            row[0], row[1], row[2] = p, (of[c, 0] + patch.side) % FEATURES, height[c]
            for k in range(3):
                row[3 + k] = 0.0 + sign * along[k]
            step(poly[c], -0.5 * height[c], along, row[6:])
            count += 1
    return count
