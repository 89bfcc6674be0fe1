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

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Box, Capsule, ConvexPolyhedron, Cylinder, Ellipsoid, Shape, Sphere
from .pairs import Faces, Nearest, Pairs, put_rows, rows_of
from .polish import polish
from .solid_table import Solids, rounding, support, to_body
from .tolerances import TOLERANCES


class Settings(NamedTuple):
    """Of searches by coal. Lengths are over the smaller body's size.

    tightest: relative tolerance of the first solve, and where the bodies are clearly apart.
    rounds: how often b is moved off along the normal found.
    apart: how far.
    settled: what the separation can gain by the turn of the normal in a round.
    attempts: further tolerances, and how far b moves off along the line of centres.
    deep: overlap from which every tolerance is tried: a tight one leads coal's expanding polytope
        astray by rounding, a loose one ends it early. Bodies without corners and edges: where that
        overlap exceeds their least radii of curvature.
    """

    tightest: float = 1e-12
    rounds: int = 4
    apart: float = 1e-3
    settled: float = 1e-10
    attempts: tuple[float, ...] = (
        (1e-9, 0.0),
        (1e-8, 0.0),
        (1e-7, 0.0),
        (1e-6, 0.0),
        (1e-9, 1e-7),
        (1e-9, -1e-4),
        (1e-9, 1e-3),
    )
    deep: float = 0.02


SETTINGS = Settings()


@lru_cache(maxsize=4096)
def _coal_shape(shape: Shape, scale: float):
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
def _request(tolerance: float):
    import coal

    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = tolerance
    request.epa_tolerance = tolerance
    request.gjk_max_iterations = 512
    request.epa_max_iterations = 512
    return request


def _calls(
    shapes_a: list, shapes_b: list, turn: np.ndarray, arm: np.ndarray, tolerance: float
) -> np.ndarray:
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


class Answers(NamedTuple):
    """What coal gave for pairs ``rows`` (r,): values (r, 9), of lengths times scale (k,), with b
    moved off by moved (r, 3); settling: along the normal before, which is to come out again."""

    rows: np.ndarray
    values: np.ndarray
    scale: np.ndarray
    moved: np.ndarray
    settling: bool


class _Search:
    """Pairs that coal searches round by round; sure (k,): of which another search is of no use."""

    def __init__(self, shapes: Sequence[Shape], pairs: Pairs, faces: Faces, solids: Solids):
        k = len(pairs.arm)
        self.shapes, self.pairs, self.faces, self.solids = shapes, pairs, faces, solids
        self.scale = np.exp2(-np.ceil(np.log2(np.maximum(pairs.radius_a, pairs.radius_b))))
        self.small = np.minimum(pairs.radius_a, pairs.radius_b)
        # overlaps up to the least radii of curvature have one stationary normal, see ``ellipsoids``
        round_off = rounding(solids, pairs.shape_a) + rounding(solids, pairs.shape_b)
        self.deep = np.maximum(SETTINGS.deep * self.small, round_off)
        self.sure, self.found = np.zeros(k, bool), Nearest.unknown(k)

    def solve(
        self, rows: np.ndarray, tolerance: float, moved: np.ndarray, settling: bool = False
    ) -> None:
        """Solves pairs ``rows`` with b moved off by ``moved`` (rows, 3)."""
        pairs, faces, solids, found = self.pairs, self.faces, self.solids, self.found
        small, sure, exact, separation = self.small, self.sure, found.exact, found.separation
        values = _calls(
            self._scaled(pairs.shape_a, rows),
            self._scaled(pairs.shape_b, rows),
            pairs.turn[rows],
            self.scale[rows, None] * (pairs.arm[rows] + moved),
            tolerance,
        )
        _judge(Answers(rows, values, self.scale, moved, settling), pairs, solids, sure, found)
        known = rows_of(found, rows)
        taken = _faces_take(rows, (1 - TOLERANCES.equal), pairs, solids, faces, found)
        polish(rows, pairs, solids, found)
        again = taken & ~exact[rows]
        if again.any():  # not on the face after all
            put_rows(found, rows[again], rows_of(known, again))
            polish(rows[again], pairs, solids, found)
        least = separation[rows] + TOLERANCES.equal * small[rows]
        again = rows[_faces_take(rows, -1.0, pairs, solids, faces, found)]
        sure[rows[separation[rows] > least]] = False
        polish(again, pairs, solids, found)
        sure[rows[exact[rows] & (separation[rows] > -TOLERANCES.equal * small[rows])]] = True

    def _scaled(self, shape_of: np.ndarray, rows: np.ndarray) -> list:
        """coal's shapes of pairs ``rows``."""
        return [
            _coal_shape(self.shapes[s], scale)
            for s, scale in zip(shape_of[rows].tolist(), self.scale[rows].tolist(), strict=True)
        ]


def nearest_by_coal(shapes: Sequence[Shape], pairs: Pairs, faces: Faces, solids: Solids) -> Nearest:
    """Nearest points of pairs; exact: ``polish`` came through.

    The separation is -inf where none is found. shapes: of the scene.
    """
    search = _Search(shapes, pairs, faces, solids)
    arm, small, deep, sure = pairs.arm, search.small, search.deep, search.sure
    separation, normal = search.found.separation, search.found.normal
    away = arm / np.maximum(np.linalg.norm(arm, axis=1, keepdims=True), 1e-300)
    everything = np.arange(len(arm))
    search.solve(everything, SETTINGS.tightest, np.zeros((len(arm), 3)))
    for _ in range(SETTINGS.rounds):
        rows = np.flatnonzero(~sure & (separation > -deep))
        if not len(rows):
            break
        off = SETTINGS.apart * small[rows] + np.maximum(-separation[rows], 0.0)
        search.solve(rows, SETTINGS.tightest, off[:, None] * normal[rows], settling=True)
    rows = everything
    for tolerance, shift in SETTINGS.attempts:
        rows = rows[~(sure[rows] & ((shift != 0.0) | (separation[rows] > -deep[rows])))]
        if not len(rows):
            break
        search.solve(rows, tolerance, shift * small[rows, None] * away[rows])
    return search.found


@njit(**INNER)
def _rescale(row, scale, moved, arm):
    """Puts an answer of coal into the pair's lengths; (size of its normal, how far its points are
    from the centres of a and of b)."""
    size, far_a, far_b = 0.0, 0.0, 0.0
    for k in range(3):
        size += row[k] ** 2
        row[3 + k] /= scale
        row[6 + k] = row[6 + k] / scale - moved[k]
        far_a = max(far_a, abs(row[3 + k]))
        far_b = max(far_b, abs(row[6 + k] - arm[k]))
    return np.sqrt(size), far_a, far_b


@njit(cache=True)
def _judge(answers, pairs, solids, sure, found):
    """Takes the answers that separate more than those before; sets ``sure`` of consistent ones."""
    n, d, at = np.empty(3), np.empty(3), np.empty(3)
    for i in range(len(answers.rows)):
        p, row, moved = answers.rows[i], answers.values[i], answers.moved[i]
        arm, normal, exact = pairs.arm[p], found.normal[p], found.exact[p]
        radius_a, radius_b = pairs.radius_a[p], pairs.radius_b[p]
        size, far_a, far_b = _rescale(row, answers.scale[p], moved, arm)
        largest, small = max(radius_a, radius_b), min(radius_a, radius_b)
        limit = (1 + 1e-6) * largest
        if not (size > 0.5 and far_a < limit and far_b < limit):
            continue
        along, apart, turned = 0.0, 0.0, 0.0
        for k in range(3):
            n[k] = row[k] / size
            along += arm[k] * n[k]
            apart += (row[6 + k] - row[3 + k]) * n[k]
            turned += moved[k] * (normal[k] - n[k])
        to_body(pairs.turn[p], n, -1.0, d)
        here = along - support(solids, pairs.shape_a[p], n, at)
        here -= support(solids, pairs.shape_b[p], d, at)
        alike = max(TOLERANCES.equal * small, TOLERANCES.exact * largest)
        consistent, slack = abs(apart - here) < alike, 0.0
        if answers.settling:
            close = turned < max(SETTINGS.settled * small, TOLERANCES.exact * largest)
            consistent = (consistent or exact) and close
            slack = alike if consistent and not exact else 0.0
        if here > found.separation[p] - slack:
            found.separation[p] = here
            for k in range(3):
                normal[k], found.on_a[p, k], found.on_b[p, k] = n[k], row[3 + k], row[6 + k]
        if consistent:
            sure[p] = True


@njit(cache=True)
def _faces_take(rows, cosine, pairs, solids, faces, found):
    """Takes the normal of a face where that separates more and is no further off than ``cosine``.

    Returns for which rows. The points are the furthest one of the other body and the one below it.
    """
    taken = np.zeros(len(rows), np.bool_)
    d, at = np.empty(3), np.empty(3)
    for row in range(len(rows)):
        p = rows[row]
        n, face, turn = faces.normal[p], faces.separation[p], pairs.turn[p]
        normal, on_a, on_b = found.normal[p], found.on_a[p], found.on_b[p]
        along = normal[0] * n[0] + normal[1] * n[1] + normal[2] * n[2]
        gain = (
            TOLERANCES.exact
            * (pairs.radius_a[p] + pairs.radius_b[p])
            * (-1.0 if cosine > 0 else 1.0)
        )
        if not (face > found.separation[p] + gain and along >= cosine):
            continue
        taken[row], found.separation[p] = True, face
        if faces.of_b[p]:
            support(solids, pairs.shape_a[p], n, on_a)
        else:
            to_body(turn, n, -1.0, d)
            support(solids, pairs.shape_b[p], d, at)
        for k in range(3):
            normal[k] = n[k]
            if faces.of_b[p]:
                on_b[k] = on_a[k] + face * n[k]
            else:
                on_b[k] = pairs.arm[p, k]
                for c in range(3):
                    on_b[k] += turn[k, c] * at[c]
                on_a[k] = on_b[k] - face * n[k]
    return taken
