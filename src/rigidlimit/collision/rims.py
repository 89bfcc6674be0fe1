"""Rims of the round ends of cylinders, for which a few points stand."""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .face_pair import FacePair
from .kinds import CYLINDER
from .lines import dot
from .planes import RIM_POINTS
from .separation import step
from .solid_table import UPRIGHT, Solids
from .tolerances import TOLERANCES

AS_NEAR = 2 * np.sqrt(2 * TOLERANCES.rounding)
"""How far the gap between faces that are across a normal so exactly may differ over their width,
over the smaller body's size."""

PITCH = 2 * np.pi / RIM_POINTS
"""Angle between the points of a rim."""


@njit(**INNER)
def _nearest_to_axis(outline, centre, axis, q):
    """The point q of a convex outline (k, 3), k > 1, that is nearest to an axis which misses it;
    its distance."""
    least = np.inf
    for c in range(len(outline)):
        x, y = outline[c], outline[(c + 1) % len(outline)]
        from_x = edge_x = square = away = 0.0
        along_x = along = 0.0
        for k in range(3):
            along_x += (x[k] - centre[k]) * axis[k]
            along += (y[k] - x[k]) * axis[k]
        for k in range(3):
            off, edge = x[k] - centre[k] - along_x * axis[k], y[k] - x[k] - along * axis[k]
            from_x, edge_x, square = from_x + off * off, edge_x + off * edge, square + edge * edge
        share = min(1.0, max(0.0, -edge_x / square)) if square > 0.0 else 0.0
        away = from_x + share * (2 * edge_x + share * square)
        if away < least:
            least = away
            for k in range(3):
                q[k] = x[k] + share * (y[k] - x[k])
    return np.sqrt(max(0.0, least))


@njit(**INNER)
def _in_sliver(radius_a, radius_b, axis, arm, face_a, face_b, q):
    """Whether two faces meet between the rim of a round end and the points that stand for it only;
    sets q to their common point nearest to its axis, of two ends to the middle of what they share.

    radius_a, radius_b: of the faces (k, 3) that are cylinders' ends, about the origin and about
    arm; 0 of others. axis: unit, across them. All in the axes of a.
    """
    if radius_a == 0.0 or radius_b == 0.0:
        end_a = radius_a > 0.0
        centre = np.zeros(3) if end_a else arm
        other = face_b if end_a else face_a
        # nowhere else is one point as good as another
        return _nearest_to_axis(other, centre, axis, q) <= (radius_a if end_a else radius_b)
    along, apart = dot(arm, axis), 0.0
    for k in range(3):
        q[k] = arm[k] - along * axis[k]
        apart += q[k] ** 2
    apart = np.sqrt(apart)
    if apart > radius_a + radius_b:
        return False
    middle = 0.5 * (max(-radius_a, apart - radius_b) + min(radius_a, apart + radius_b))
    for k in range(3):
        q[k] *= middle / apart
    return True


@njit(**INNER)
def _end(body, solids):
    """Radius of the round end that a body's face is; 0 if it is none."""
    return solids.size[body.shape, 0] if body.flat and solids.kind[body.shape] == CYLINDER else 0.0


@njit(**INNER)
def take_sliver(pair: FacePair, side: int, solids: Solids):
    """The contact of a round end where faces meet between its rim and the points that stand for it
    only, if they do."""
    a, b, point = pair.a, pair.b, pair.points[0]
    own, other = (a, b) if side == 0 else (b, a)
    outward, q = own.normal, np.empty(3)
    radius_a, radius_b = _end(a, solids), _end(b, solids)
    if (radius_a > 0.0 or radius_b > 0.0) and _in_sliver(
        radius_a, radius_b, outward, pair.arm, a.corners[: a.count], b.corners[: b.count], q
    ):
        low = dot(outward, own.corners[0]) - dot(outward, q)
        high = dot(outward, other.corners[0]) - dot(outward, q)
        if not other.flat:
            high = 0.0  # a line, on which the point is
        pair.label[0], pair.height[0] = 0, high - low
        pair.count = 1 if abs(pair.height[0] - pair.gap) <= pair.size * AS_NEAR else 0
        step(q, 0.5 * (low + high), outward, point)


@njit(**INNER)
def _is_end(solids, s, n):
    """Whether the end of a cylinder is what solid s has along n (3,)."""
    return solids.kind[s] == CYLINDER and abs(n[2]) > UPRIGHT


@njit(**INNER)
def rim_starts(
    solids: Solids,
    s: int,
    t: int,
    n: np.ndarray,
    d: np.ndarray,
    turn: np.ndarray,
    start_a: np.ndarray,
    start_b: np.ndarray,
):
    """Axes (rows, in a body's own) at which the points of its rims begin: those of the wider, then
    the longer one where ends of cylinders lie on one another, midway between both where they are
    alike, so that bodies may change places; else its own."""
    for i in range(3):
        for j in range(3):
            start_a[i, j] = start_b[i, j] = 1.0 if i == j else 0.0
    if not (_is_end(solids, s, n) and _is_end(solids, t, d)):
        return
    a, b = solids.size[s], solids.size[t]
    if b[0] > a[0] or (b[0] == a[0] and b[2] > a[2]):
        for i in range(3):
            for j in range(3):
                start_a[i, j] = turn[j, i]
        return
    if a[0] == b[0] and a[2] == b[2]:
        apart = np.arctan2(turn[1, 0], turn[0, 0])
        # half a pitch counts as less than that, for both bodies
        half = 0.5 * (apart - PITCH * np.rint((1 - TOLERANCES.equal) * apart / PITCH))
        start_a[0, 0] = start_a[1, 1] = np.cos(half)
        start_a[0, 1] = np.sin(half)
        start_a[1, 0] = -start_a[0, 1]
    for i in range(3):
        for j in range(3):
            start_b[i, j] = dot(start_a[i], turn[:, j])
