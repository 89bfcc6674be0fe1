"""Signed distance, normal and closest points of many convex pairs by coal.

coal searches a normal by GJK and, in overlap, EPA. It takes one pair a call; all that surrounds the
calls is done over arrays. Lengths are handed to coal relative to the pair's size, by a power of two
so that nothing is rounded and a shape keeps few scaled copies, and relative to a's centre and axes:
its tolerances do not depend on the scene's units, nor rounding on the distance from the origin.

Its answers are only where Newton starts (``polish``). Bodies apart whose nearest points then face
each other along the normal are done, and so are those that touch.

A solve that went wrong shows: no unit normal, points off the bodies, or a distance that is not the
separation along the normal, whose largest value over all directions the gap is. Bodies that overlap
a little, where there may be several ways out and coal may lose the normal, are solved with b moved
off by s along the normal n0 known so far, until the normal n comes out again: b clearly apart,
coal's n is the only one, and for the pair as it is the separation along n falls short of the
largest by s n0 . (n0 - n) or so. Others are solved again with other tolerances.
"""

from functools import lru_cache

import numpy as np
from numba import njit

from ..bodies import Box, Capsule, ConvexPolyhedron, Cylinder, Ellipsoid, Sphere
from .polish import polish
from .solid_table import rounding, support, to_body

TIGHTEST = 1e-12
"""coal's relative tolerance of the first solve, and where the bodies are clearly apart."""

ROUNDS, APART = 4, 1e-3
"""How often b is moved off along the normal found, and how far apart, over the smaller size."""

SETTLED = 1e-10
"""What the separation can gain by the turn of the normal in a round, over the smaller size."""

ATTEMPTS = (
    (1e-9, 0.0),
    (1e-8, 0.0),
    (1e-7, 0.0),
    (1e-6, 0.0),
    (1e-9, 1e-7),
    (1e-9, -1e-4),
    (1e-9, 1e-3),
)
"""Further tolerances, and how far b moves off along the line of centres, over the smaller size."""

DEEP = 0.02
"""Overlap over the smaller body's size from which every tolerance is tried: a tight one leads
coal's expanding polytope astray by rounding, a loose one ends it early. Bodies without corners and
edges: where that overlap exceeds their least radii of curvature."""

TOUCHING = 1e-9
"""Overlap over the smaller body's size up to which an exact answer needs no second search: another
normal could gain no more than that."""

ROUNDING = 1e-13
"""Gain of a face's separation, or difference of separations, that is rounding, over the pair's
size."""

BESIDE = 1 - 1e-9
"""Cosine between a face's normal and coal's above which the two are taken for one."""

CONSISTENT = 1e-9
"""Difference of coal's distance and the separation along its normal, over the smaller size."""


@lru_cache(maxsize=4096)
def _coal_shape(shape, scale):
    import coal

    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius * scale)
    if isinstance(shape, Box):
        return coal.Box(*(s * scale for s in shape.size))
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius * scale, shape.length * scale)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius * scale, shape.length * scale)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*(s * scale for s in shape.semi_axes))
    if isinstance(shape, ConvexPolyhedron):
        points = coal.StdVec_Vec3s()
        for vertex in shape.vertices * scale:
            points.append(vertex)
        return coal.Convex.convexHull(points, False, "Qt")
    raise TypeError(f"no convex contact for {type(shape).__name__}")


@lru_cache
def _request(tolerance):
    import coal

    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = tolerance
    request.epa_tolerance = tolerance
    request.gjk_max_iterations = 512
    request.epa_max_iterations = 512
    return request


def _calls(shapes_a, shapes_b, turn, arm, tolerance):
    """Rows (normal, point on a, point on b) as coal gives them, (k, 9)."""
    import coal

    place_a, place_b, result = coal.Transform3s(), coal.Transform3s(), coal.DistanceResult()
    request, out = _request(tolerance), np.empty((len(arm), 9))
    clear, place, distance = result.clear, place_b.setTransform, coal.distance
    for row, a, b, R, x in zip(out, shapes_a, shapes_b, turn, arm, strict=True):
        clear()  # a result keeps the nearest of all calls
        place(R, x)
        distance(a, place_a, b, place_b, request, result)
        row[:3] = result.normal
        row[3:6] = result.getNearestPoint1()
        row[6:] = result.getNearestPoint2()
    return out


def nearest_by_coal(
    shapes, shape_a, shape_b, radius_a, radius_b, turn, arm, faces, solids
):  # fmt: skip
    """(separation (k,), normal, point on a, point on b (k, 3), exact (k,)) of pairs.

    The separation is -inf where none is found; exact: ``polish`` came through.
    shapes: of the scene; shape_a, shape_b (k,): rows in it; radius (k,): bounding radii; turn
    (k, 3, 3), arm (k, 3): pose of b in the axes of a about a's centre, in which the answers are.
    faces: (best separation along the normal of a face (k,), that normal (k, 3), whether it is b's).
    """
    k = len(arm)
    found = np.full(k, -np.inf), np.zeros((k, 3)), np.zeros((k, 3)), np.zeros((k, 3))
    separation, normal = found[:2]
    scale = np.exp2(-np.ceil(np.log2(np.maximum(radius_a, radius_b))))
    small = np.minimum(radius_a, radius_b)
    # overlaps up to the least radii of curvature have one stationary normal, see ``ellipsoids``
    deep = DEEP * small
    deep = np.maximum(deep, rounding(solids, shape_a) + rounding(solids, shape_b))
    extent = radius_a + radius_b
    pairs = shape_a, shape_b, turn, arm, extent, small, solids
    proof = TOUCHING * small
    sure, exact = np.zeros(k, bool), np.zeros(k, bool)
    away = arm / np.maximum(np.linalg.norm(arm, axis=1, keepdims=True), 1e-300)

    def solve(rows, tolerance, moved, settle):
        """Solves pairs ``rows`` with b moved off by ``moved`` (rows, 3)."""
        sizes = scale[rows].tolist()
        answers = _calls(
            [_coal_shape(shapes[s], c) for s, c in zip(shape_a[rows].tolist(), sizes, strict=True)],
            [_coal_shape(shapes[s], c) for s, c in zip(shape_b[rows].tolist(), sizes, strict=True)],
            turn[rows],
            scale[rows, None] * (arm[rows] + moved),
            tolerance,
        )
        _judge(
            rows, answers, moved, settle, scale, shape_a, shape_b, radius_a, radius_b, turn, arm,
            solids, sure, exact, *found,
        )  # fmt: skip
        known = [part[rows] for part in found]
        taken = _faces_take(rows, BESIDE, *pairs, *faces, *found)
        exact[rows] = polish(rows, *pairs, *found)
        again = rows[taken & ~exact[rows]]
        if len(again):  # not on the face after all
            for part, before in zip(found, known, strict=True):
                part[again] = before[taken & ~exact[rows]]
            exact[again] = polish(again, *pairs, *found)
        least = separation[rows] + CONSISTENT * small[rows]
        again = rows[_faces_take(rows, -1.0, *pairs, *faces, *found)]
        sure[rows[separation[rows] > least]] = False
        exact[again] = polish(again, *pairs, *found)
        sure[rows[exact[rows] & (separation[rows] > -proof[rows])]] = True

    everything = np.arange(k)
    solve(everything, TIGHTEST, np.zeros((k, 3)), False)
    for _ in range(ROUNDS):
        rows = np.flatnonzero(~sure & (separation > -deep))
        if not len(rows):
            break
        off = APART * small[rows] + np.maximum(-separation[rows], 0.0)
        solve(rows, TIGHTEST, off[:, None] * normal[rows], True)
    rows = everything
    for tolerance, shift in ATTEMPTS:
        rows = rows[~(sure[rows] & ((shift != 0.0) | (separation[rows] > -deep[rows])))]
        if not len(rows):
            break
        solve(rows, tolerance, shift * small[rows, None] * away[rows], False)
    return *found, exact


@njit(cache=True)
def _judge(
    rows, answers, moved, settle, scale, shape_a, shape_b, radius_a, radius_b, turn, arm,
    solids, sure, exact, separation, normal, on_a, on_b,
):  # fmt: skip
    """Takes the answers that separate more than those before; sets ``sure`` of consistent ones.

    settle: b was moved along the normal before, which is to come out again.
    """
    n, d, at = np.empty(3), np.empty(3), np.empty(3)
    for i in range(len(rows)):
        p, row = rows[i], answers[i]
        size, far_a, far_b = 0.0, 0.0, 0.0
        for k in range(3):
            size += row[k] ** 2
            row[3 + k] /= scale[p]
            row[6 + k] = row[6 + k] / scale[p] - moved[i, k]
            far_a = max(far_a, abs(row[3 + k]))
            far_b = max(far_b, abs(row[6 + k] - arm[p, k]))
        size = np.sqrt(size)
        largest, small = max(radius_a[p], radius_b[p]), min(radius_a[p], radius_b[p])
        limit = (1 + 1e-6) * largest
        if not (size > 0.5 and far_a < limit and far_b < limit):
            continue
        along, apart, turned = 0.0, 0.0, 0.0
        for k in range(3):
            n[k] = row[k] / size
            along += arm[p, k] * n[k]
            apart += (row[6 + k] - row[3 + k]) * n[k]
            turned += moved[i, k] * (normal[p, k] - n[k])
        to_body(turn[p], n, -1.0, d)
        here = along - support(solids, shape_a[p], n, at) - support(solids, shape_b[p], d, at)
        alike = max(CONSISTENT * small, ROUNDING * largest)
        consistent = abs(apart - here) < alike
        slack = 0.0
        if settle:
            consistent = (consistent or exact[p]) and turned < max(
                SETTLED * small, ROUNDING * largest
            )
            slack = alike if consistent and not exact[p] else 0.0
        if here > separation[p] - slack:
            separation[p] = here
            for k in range(3):
                normal[p, k], on_a[p, k], on_b[p, k] = n[k], row[3 + k], row[6 + k]
        if consistent:
            sure[p] = True


@njit(cache=True)
def _faces_take(
    rows, cosine, shape_a, shape_b, turn, arm, extent, small, solids,
    face, across, of_b, separation, normal, on_a, on_b,
):  # fmt: skip
    """Takes the normal of a face where that separates more and is no further off than ``cosine``.

    Returns for which rows. The points are the furthest one of the other body and the one below it.
    """
    taken = np.zeros(len(rows), np.bool_)
    d, at = np.empty(3), np.empty(3)
    for row in range(len(rows)):
        p = rows[row]
        n = across[p]
        along = normal[p, 0] * n[0] + normal[p, 1] * n[1] + normal[p, 2] * n[2]
        gain = ROUNDING * extent[p] * (-1.0 if cosine > 0 else 1.0)
        if not (face[p] > separation[p] + gain and along >= cosine):
            continue
        taken[row], separation[p] = True, face[p]
        if of_b[p]:
            support(solids, shape_a[p], n, on_a[p])
        else:
            to_body(turn[p], n, -1.0, d)
            support(solids, shape_b[p], d, at)
        for k in range(3):
            normal[p, k] = n[k]
            if of_b[p]:
                on_b[p, k] = on_a[p, k] + face[p] * n[k]
            else:
                on_b[p, k] = arm[p, k]
                for c in range(3):
                    on_b[p, k] += turn[p, k, c] * at[c]
                on_a[p, k] = on_b[p, k] - face[p] * n[k]
    return taken
