"""Exact contacts of boxes and polyhedra, all pairs in one kernel.

Problem: of two convex polytopes A, B find the largest separation over unit directions n from A to
B,  max_n  min_B n.x - max_A n.x: the distance where they are apart, minus the least way out where
they overlap. It is attained at a face normal of A or B, at a cross product of two edges whose arcs
on the Gauss map meet, or, only where the bodies are apart, along the line from a corner of one to a
corner or edge of the other. The first two kinds are tried always; the third where the best of them
is not realised by two points of the bodies.

Where a face lies across n within ALIGNED it is the reference face: the corners of the other body's
facing face, cut to its outline (``clipping``), are the contacts. Of two facing faces that both
serve, the larger is the reference; of equal ones that which separates the bodies more, and where
both do alike, the plane midway between them: it does not matter which body comes first. Else the
closest points make one;
and where a face lies across n within NEARLY, as where a box hangs over an edge and leans a little,
the other corners of that patch, which the bodies may turn towards, are contacts as well: each along
the face's normal, so that none dips below the face by more than second order of the turn.
Bodies that only touch along an edge have none (``widthless``).

Symbols: everything is in the axes of A about A's centre, so that rounding does not grow with the
distance from the origin; v corners, n face normals, h face heights, e edge directions.
"""

import numpy as np
from numba import njit

from .._support.threads import in_pieces
from ..bodies import Bodies, State, rotations
from .clipping import SNAP, clip, thin_out
from .contacts import FEATURES
from .pieces import Pieces
from .polytope_table import polytope_table
from .separation import (
    ALIGNED,
    ASKEW,
    best_edges,
    best_face,
    corner_edge,
    crossing,
    edge_edge,
    facing,
    midway,
    most_along,
    place,
    step,
)
from .widthless import SAME, WIDE, touches_without_width

ROUNDING = 1e-12
"""Difference of separations, over the pair's size, that counts as rounding: faces go first."""

REALISED = 1e-11
"""Distance of two points from the separation, over the pair's size, up to which it is theirs."""

PATCH = 1e-9
"""Difference of a patch's least gap from the signed distance, over the pair's size, up to which a
face that is only nearly across the normal takes its place."""

NEARLY = 0.98
"""Cosine between a contact's normal and a face's normal, 11 degrees, from which on the corners of
the face's patch are looked at beside it; further off they are out of reach."""

LARGER = 1 + 1e-9
"""Ratio of the diagonals of two faces from which on one is the larger."""

EVENLY = 1e-9
"""Difference of the cosines between a contact's normal and two faces' up to which both lie equally
across it."""

LEVEL = 1e-3
"""Height over the lowest corner, over the pair's size, up to which a corner is lowest too."""

THREADED = 5_000
"""Pairs from which they are shared by threads."""

EDGE_PAIRS = 100_000
"""Products of the numbers of edges up to which trying all pairs is cheaper than coal's search."""


def small_enough(bodies: Bodies, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which pairs of bodies have few enough edges for this narrow phase."""
    edges = np.diff(bodies.derived(polytope_table).edge_start)[bodies.shape_of]
    return edges[a] * edges[b] <= EDGE_PAIRS


def polytope_polytope(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of the pairs (a_k, b_k) with gap <= reach_k; normals point from a to b."""
    if not len(a):
        return Pieces.joined([])
    table = bodies.derived(polytope_table)
    turn = rotations.matrix(state.quaternion)

    def contacts(first, last):
        found = _contacts(
            a[first:last], b[first:last], reach[first:last],
            bodies.shape_of, bodies.bounding_radius, state.position, turn,
            table.vertex_start, table.vertices, table.face_start, table.normals, table.heights,
            table.diagonal, table.loop_start, table.loops, table.edge_start, table.edges,
            table.sides, table.along, table.around_start, table.around,
            table.largest, table.longest,
        )  # fmt: skip
        found[:, 0] += first
        return found

    found = np.concatenate(in_pieces(contacts, len(a), least=THREADED))
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


@njit(cache=True)
def _patch(
    own, face, other, along, l_start, loops, around, level, outline, incident, poly, poly_of
):
    """Cuts the face of ``other`` that faces the reference face ``face`` of ``own`` to its outline,
    seen along ``along`` (3,): the face's normal, or midway to the other face's.

    own, other: corners, normals and heights of faces, row of the first face, first entries of
    ``around``. outline, incident: get the corners. Returns (corners of the polygon, its least gap
    above the face, row of the incident face).
    """
    v, normals, heights, start, _ = own
    w, nw, _, first, around_start = other
    normal, height = normals[face], heights[face]
    loop = loops[l_start[start + face] : l_start[start + face + 1]]
    f = first + facing(w, nw, first, l_start, loops, around_start, around, normal, -1.0, level)
    for c in range(len(loop)):
        for k in range(3):
            outline[c, k] = v[loop[c], k]
    names = loops[l_start[f] : l_start[f + 1]]
    for c in range(len(names)):
        for k in range(3):
            incident[c, k] = w[names[c], k]
    cut = incident[: len(names)]
    found, least = clip(outline[: len(loop)], along, normal, height, cut, names, poly, poly_of)
    return found, least, f


@njit(cache=True)
def _nearest(corners, count, on, snap, middle):
    """The corner nearest to the middle of the points on (2, 3), which goes into ``middle`` (3,); -1
    if none is within ``snap``."""
    for k in range(3):
        middle[k] = 0.5 * (on[0, k] + on[1, k])
    nearest, corner = snap * snap, -1
    for c in range(count):
        square = 0.0
        for k in range(3):
            square += (corners[c, k] - middle[k]) ** 2
        if square < nearest:
            nearest, corner = square, c
    return corner


@njit(cache=True, nogil=True)
def _contacts(
    a, b, reach, shape_of, radius, position, turn,
    v_start, vertices, f_start, normals, heights, diagonal, l_start, loops,
    e_start, edges, sides, along, r_start, around, largest, longest,
):  # fmt: skip
    """Rows (pair, feature, gap, normal, point) of all contacts, (.., 9), in the axes of a."""
    out, count = np.empty((4 * len(a) + 16, 9)), 0
    moved_v, moved_n = np.empty((largest[0], 3)), np.empty((largest[1], 3))
    moved_h, moved_u = np.empty(largest[1]), np.empty((largest[2], 3))
    pa, pb = np.empty((largest[2], largest[1])), np.empty((largest[2], largest[1]))
    outline, incident = np.empty((longest, 3)), np.empty((longest, 3))
    poly, poly_of = np.empty((2, 4 * longest + 8, 3)), np.empty((2, 4 * longest + 8, 2), np.int64)
    height = np.empty(4 * longest + 8)
    relative, arm, zero = np.empty((3, 3)), np.empty(3), np.zeros(3)
    n, mid, on = np.empty(3), np.empty(3), np.empty((2, 3))
    trial, crossed = np.empty((2, 3)), np.empty((2, 3))
    apart_a, apart_b = np.empty(largest[1]), np.empty(largest[1])
    ties = np.empty((2 * largest[1], 3))
    for p in range(len(a)):
        i, j = a[p], b[p]
        s, t = shape_of[i], shape_of[j]
        fs, ft = f_start[s], f_start[t]
        va, vb = vertices[v_start[s] : v_start[s + 1]], moved_v[: v_start[t + 1] - v_start[t]]
        na, nb = normals[fs : f_start[s + 1]], moved_n[: f_start[t + 1] - ft]
        ha, hb = heights[fs : f_start[s + 1]], moved_h[: f_start[t + 1] - ft]
        ra, rb = r_start[v_start[s] : v_start[s + 1] + 1], r_start[v_start[t] : v_start[t + 1] + 1]
        for k in range(3):
            arm[k] = 0.0
            for m in range(3):
                arm[k] += turn[i, m, k] * (position[j, m] - position[i, m])
                relative[k, m] = 0.0
                for c in range(3):
                    relative[k, m] += turn[i, c, k] * turn[j, c, m]
        size = radius[i] + radius[j]
        tol, level, limit = ROUNDING * size, LEVEL * size, reach[p]
        slack = PATCH * size

        # the face of either body that separates most
        place(vertices[v_start[t] : v_start[t + 1]], relative, arm, vb)
        best, fa, corner_b = best_face(na, ha, vb, limit, apart_a)
        if best > limit:
            continue
        place(normals[ft : f_start[t + 1]], relative, zero, nb)
        for f in range(len(nb)):
            shift = nb[f, 0] * arm[0] + nb[f, 1] * arm[1] + nb[f, 2] * arm[2]
            hb[f] = heights[ft + f] + shift
        best_b, fb, corner_a = best_face(nb, hb, va, limit, apart_b)
        if best_b > limit:
            continue
        ref = 0
        step(zero, 1.0, na[fa], n)
        if best_b > best + tol:
            best, ref = best_b, 1
            step(zero, -1.0, nb[fb], n)

        # edges across each other that separate more
        ea, eb = edges[e_start[s] : e_start[s + 1]], edges[e_start[t] : e_start[t + 1]]
        ub = moved_u[: len(eb)]
        place(along[e_start[t] : e_start[t + 1]], relative, zero, ub)
        best, edge_a, edge_b = best_edges(
            va, ea, sides[e_start[s] : e_start[s + 1]], along[e_start[s] : e_start[s + 1]], na,
            vb, eb, sides[e_start[t] : e_start[t + 1]], ub, nb,
            best, tol, limit, pa, pb, n,
        )  # fmt: skip
        if best > limit:
            continue
        same = SAME * min(radius[i], radius[j])
        if touches_without_width(na, apart_a, len(na), nb, apart_b, len(nb), best, same, ties):
            continue

        of_a, of_b = (va, na, ha, fs, ra), (vb, nb, hb, ft, rb)

        # are there two points as far apart as the separation says?
        found, least, face, distance = 0, np.inf, 0, best
        if edge_a >= 0:
            ref = -1
            real = crossing(va, ea[edge_a, 0], ea[edge_a, 1], vb, eb[edge_b, 0], eb[edge_b, 1], on)
        elif ref == 0:
            step(vb[corner_b], 0.0, n, on[1])
            step(on[1], -best, n, on[0])
            found, least, face = _patch(
                of_a, fa, of_b, na[fa],
                l_start, loops, around, level, outline, incident, poly, poly_of,
            )  # fmt: skip
            real = least <= best + REALISED * size
        else:
            step(va[corner_a], 0.0, n, on[0])
            step(on[0], best, n, on[1])
            found, least, face = _patch(
                of_b, fb, of_a, nb[fb],
                l_start, loops, around, level, outline, incident, poly, poly_of,
            )  # fmt: skip
            real = least <= best + REALISED * size
        if not real:
            # at a corner and an edge, two corners, or edges that tie with others or a face;
            # overlapping bodies: where they touch after b has moved out
            ref, depth = -1, min(best, 0.0)
            for c in range(len(vb)):
                step(vb[c], -depth, n, vb[c])
            square = corner_edge(va, vb, eb, np.inf, trial[0], trial[1])
            square = min(square, corner_edge(vb, va, ea, square, trial[1], trial[0]))
            square = min(square, edge_edge(va, ea, vb, eb, square, crossed, trial))
            for c in range(len(vb)):
                step(vb[c], depth, n, vb[c])
            if best > 0 and square > tol * tol:
                distance = np.sqrt(square)
                if distance > limit:
                    continue
                for k in range(3):
                    n[k] = (trial[1, k] - trial[0, k]) / distance
            if best > 0 or square < level * level:
                step(trial[0], 0.0, n, on[0])
                step(trial[1], depth, n, on[1])

        # the faces across the normal, if a patch there has the same least gap; facing ones would
        # take turns: the larger goes first, of equal ones that which separates more, or neither
        reference = fa if ref == 0 else fb
        cosine_a, facing_a = most_along(na, n, 1.0)
        cosine_b, facing_b = most_along(nb, n, -1.0)
        row_a, row_b = fs + facing_a, ft + facing_b
        both = cosine_a > ALIGNED and cosine_b > ALIGNED
        larger = diagonal[row_b] > LARGER * diagonal[row_a]
        alike = not larger and not diagonal[row_a] > LARGER * diagonal[row_b]
        even, cut_over, half = False, False, 1.0
        if alike:
            askew, half = midway(na[facing_a], nb[facing_b], mid)
            alike = askew > ASKEW and half > WIDE and row_a == fs + facing(
                va, na, fs, l_start, loops, ra, around, nb[facing_b], -1.0, level
            )  # fmt: skip
        more = apart_b[facing_b] - apart_a[facing_a]
        tied = abs(more) <= slack and (both or apart_a[facing_a] >= best - slack)
        if alike and tied:
            found, least, face = _patch(
                of_a, facing_a, of_b, mid,
                l_start, loops, around, level, outline, incident, poly, poly_of,
            )  # fmt: skip
            even = found > 0 and face == row_b and abs(least / half - distance) <= slack
            cut_over = True
        first = 1 if both and (larger or (alike and more > slack)) else 0
        if even:
            ref, reference = 0, facing_a
        elif ref != first or cut_over:
            for side in (first, 1 - first):
                found = 0
                if side == 0:
                    own, other, cosine, f = of_a, of_b, cosine_a, facing_a
                else:
                    own, other, cosine, f = of_b, of_a, cosine_b, facing_b
                if cosine <= ALIGNED:
                    continue
                found, least, face = _patch(
                    own, f, other, own[1][f],
                    l_start, loops, around, level, outline, incident, poly, poly_of,
                )  # fmt: skip
                if abs(least - distance) <= slack:
                    ref, reference = side, f
                    break
                found = 0
        single = ref == -1
        if single:
            found, first = 0, 1 if larger else 0
            if alike and cosine_b > cosine_a + EVENLY:
                first = 1  # of equal ones that which lies better across the normal
            elif alike and cosine_a <= cosine_b + EVENLY and cosine_a > NEARLY:
                found, least, face = _patch(
                    of_a, facing_a, of_b, mid,
                    l_start, loops, around, level, outline, incident, poly, poly_of,
                )  # fmt: skip
                even = found > 0 and face == row_b
            if even:
                ref, reference = 0, facing_a
            else:
                for side in (first, 1 - first):
                    if side == 0:
                        own, other, cosine, f = of_a, of_b, cosine_a, facing_a
                    else:
                        own, other, cosine, f = of_b, of_a, cosine_b, facing_b
                    if cosine <= NEARLY:
                        continue
                    found, least, face = _patch(
                        own, f, other, own[1][f],
                        l_start, loops, around, level, outline, incident, poly, poly_of,
                    )  # fmt: skip
                    if found > 0:
                        ref, reference = side, f
                        break

        if count + found + 1 > len(out):
            out = np.concatenate((out, np.empty((len(out) + found + 1, 9))))
        before = count
        if found > 0:
            own, sign = (of_a, 1.0) if ref == 0 else (of_b, -1.0)
            normal, h, row = own[1][reference], own[2][reference], own[3] + reference
            towards = mid if even else normal
            names = loops[l_start[face] : l_start[face + 1]]
            snap = SNAP * min(diagonal[row], diagonal[face])
            left = thin_out(
                poly[0], poly_of[0], found, normal, h, incident[: len(names)], names, snap, height,
            )  # fmt: skip
            if even:  # seen along the direction midway
                for c in range(left):
                    height[c] /= half
            beside = -1
            if single:
                beside = _nearest(poly[0], left, on, snap, out[count, 6:])
                out[count, 0], out[count, 1], out[count, 2] = p, FEATURES - 1, distance
                if beside >= 0:  # it is the same, and keeps its number
                    out[count, 1] = (poly_of[0, beside, 0] + ref) % FEATURES
                step(zero, 1.0, n, out[count, 3:6])
                count += 1
            # deep overlaps have corners below the face that another direction frees sooner
            deepest = distance if single else -np.inf
            for c in range(left):
                if c != beside and deepest <= height[c] <= limit:
                    out[count, 0], out[count, 1] = p, (poly_of[0, c, 0] + ref) % FEATURES
                    out[count, 2] = height[c]
                    step(zero, sign, towards, out[count, 3:6])
                    step(poly[0, c], -0.5 * height[c], towards, out[count, 6:])
                    count += 1
        if count == before:
            out[count, 0], out[count, 1], out[count, 2] = p, 0, distance
            step(zero, 1.0, n, out[count, 3:6])
            for k in range(3):
                out[count, 6 + k] = 0.5 * (on[0, k] + on[1, k])
            count += 1
    return out[:count]
