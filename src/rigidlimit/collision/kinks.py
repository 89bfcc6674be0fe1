"""Where the separation of two rounded hulls is largest near a normal: see ``polish``.

Each body is a ``RoundedHull`` looked at along the normal n, b along -n.
"""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define
from .rounded_hulls import POINTS, RoundedHull
from .tolerances import TOLERANCES


@njit(**INNER)
def _furthest(hull, i, s, sign, slack):
    """Whether point i of a body is as far as all others after the turn s; sign: of the direction
    looked along."""
    high, t = hull.high, hull.flat
    level = high[i] + sign * (t[i, 0] * s[0] + t[i, 1] * s[1]) + slack
    furthest = True
    for k in range(hull.count):
        furthest = furthest and high[k] + sign * (t[k, 0] * s[0] + t[k, 1] * s[1]) <= level
    return furthest


@njit(**INNER)
def _turn_by(g, H, edge, drop, kinks, s, share):
    """Newton's turn s (2,) with ``kinks`` rows edge (2, 2) . s = drop (2,); share: multipliers."""
    uu, uv, vv = H
    if kinks == 0:
        det = uu * vv - uv * uv
        if not (uu > 0 and det > TOLERANCES.flat * uu * vv):
            return False
        s[0], s[1] = (vv * g[0] - uv * g[1]) / det, (uu * g[1] - uv * g[0]) / det
        return True
    ex, ey = edge[0, 0], edge[0, 1]
    square = ex * ex + ey * ey
    if square == 0:
        return False
    if kinks == 1:
        along = uu * ey * ey - 2 * uv * ex * ey + vv * ex * ex  # over square: H along the kink
        if not along > 0:
            return False
        s[0], s[1] = ex * drop[0] / square, ey * drop[0] / square
        x, y = g[0] - uu * s[0] - uv * s[1], g[1] - uv * s[0] - vv * s[1]
        way = (ex * y - ey * x) / along
        s[0] -= ey * way
        s[1] += ex * way
        x, y = g[0] - uu * s[0] - uv * s[1], g[1] - uv * s[0] - vv * s[1]
        share[0] = (ex * x + ey * y) / square
        return True
    fx, fy = edge[1, 0], edge[1, 1]
    det = ex * fy - ey * fx
    if det * det <= TOLERANCES.rounding**2 * square * (fx * fx + fy * fy):
        return False
    s[0], s[1] = (drop[0] * fy - drop[1] * ey) / det, (ex * drop[1] - fx * drop[0]) / det
    x, y = g[0] - uu * s[0] - uv * s[1], g[1] - uv * s[0] - vv * s[1]
    share[0], share[1] = (x * fy - y * fx) / det, (ex * y - ey * x) / det
    return True


@structref.register
class _RoomType(StructType):
    pass


class Room:
    """Of one choice of points: g (2,): slope with the first ones; edge (2, 2), drop (2,): kinks, of
    which a row is edge . s = drop; share (2,): their multipliers."""

    g: np.ndarray
    edge: np.ndarray
    drop: np.ndarray
    share: np.ndarray


define(Room, _RoomType)


@njit(**INNER)
def new_room():
    """Room for ``top_near``."""
    return Room(np.empty(2), np.empty((2, 2)), np.empty(2), np.empty(2))


@njit(**INNER)
def _choose(hull, subset):
    """Chooses the points of a subset, given by its bits."""
    chosen, k = hull.chosen, 0
    for i in range(hull.count):
        if subset >> i & 1:
            chosen[k] = i
            k += 1
    hull.taken = k


@njit(**INNER)
def _add_kinks(hull, sign, row, room):
    """Kinks between the first point chosen and each other, from ``row`` on; returns the row after
    them."""
    if hull.taken == 1:
        return row
    t, high, chosen, edge, drop = hull.flat, hull.high, hull.chosen, room.edge, room.drop
    first = chosen[0]
    for c in range(1, hull.taken):
        i = chosen[c]
        one, other = (i, first) if sign > 0 else (first, i)
        for k in range(2):
            edge[row, k] = t[one, k] - t[other, k]
        drop[row] = high[first] - high[i]
        row += 1
    return row


@njit(**INNER)
def _left(share, first, last):
    """What multipliers first : last leave of one; -1 if one of them has the wrong sign."""
    left = 1.0
    for c in range(first, last):
        if not share[c] > -TOLERANCES.equal:
            return -1.0
        left -= share[c]
    return left


@njit(**INNER)
def _give_weights(hull, left, share, first):
    """The shares of the points chosen: ``left`` of the first, then those from ``first`` on."""
    weight, chosen = hull.weight, hull.chosen
    for k in range(POINTS):
        weight[k] = 0.0
    weight[chosen[0]] = left
    for c in range(1, hull.taken):
        weight[chosen[c]] = share[first + c - 1]


@njit(**INNER)
def _top_on(g0, H, a, b, slack, s, room):
    """``top_near`` where the points chosen of both bodies are furthest all at once."""
    g, share, i0, j0 = room.g, room.share, a.chosen[0], b.chosen[0]
    for k in range(2):
        g[k] = g0[k] - a.flat[i0, k] + b.flat[j0, k]
    of_a = _add_kinks(a, 1.0, 0, room)
    kinks = _add_kinks(b, -1.0, of_a, room)
    if not _turn_by(g, H, room.edge, room.drop, kinks, s, share):
        return False
    left_a, left_b = _left(share, 0, of_a), _left(share, of_a, kinks)
    if not (left_a > -TOLERANCES.equal and left_b > -TOLERANCES.equal):
        return False
    if not (_furthest(a, i0, s, 1.0, slack) and _furthest(b, j0, s, -1.0, slack)):
        return False
    _give_weights(a, left_a, share, 0)
    _give_weights(b, left_b, share, of_a)
    return True


@njit(**INNER)
def top_near(
    g0: np.ndarray,
    H: tuple,
    a: RoundedHull,
    b: RoundedHull,
    slack: float,
    s: np.ndarray,
    room: Room,
):
    """The turn s (2,) to the top of the quadratic less the two maxima; False: none found.

    g0 (2,): slope without the points; H: minus second derivative. The points get their shares.
    """
    for kinks in range(3):
        for set_a in range(1, 1 << a.count):
            _choose(a, set_a)
            if a.taken > kinks + 1:
                continue
            for set_b in range(1, 1 << b.count):
                _choose(b, set_b)
                together = a.taken + b.taken == kinks + 2
                if together and _top_on(g0, H, a, b, slack, s, room):
                    return True
    return False


@njit(**INNER)
def _nearest_to(flat, high, count, slack, x, y, weight):
    """Distance in the plane from (x, y) to the hull of those of points flat (count, 2) that are as
    high as the first; weight (POINTS,) gets the shares of the nearest point of the hull."""
    best, inside = np.inf, count == 3
    for k in range(POINTS):
        weight[k] = 0.0
    for i in range(count):
        inside = inside and high[i] >= high[0] - slack
        for j in range(i, count):
            if min(high[i], high[j]) < high[0] - slack:
                continue
            ux, uy = flat[j, 0] - flat[i, 0], flat[j, 1] - flat[i, 1]
            dx, dy = x - flat[i, 0], y - flat[i, 1]
            square = ux * ux + uy * uy
            t = min(max((dx * ux + dy * uy) / square, 0.0), 1.0) if square > 0 else 0.0
            away = np.hypot(dx - t * ux, dy - t * uy)
            if away < best:
                best = away
                for k in range(POINTS):
                    weight[k] = 0.0
                weight[i] += 1 - t
                weight[j] += t
    if inside:
        ux, uy = flat[1, 0] - flat[0, 0], flat[1, 1] - flat[0, 1]
        vx, vy = flat[2, 0] - flat[0, 0], flat[2, 1] - flat[0, 1]
        dx, dy = x - flat[0, 0], y - flat[0, 1]
        det = ux * vy - uy * vx
        if det != 0:
            s, t = (dx * vy - dy * vx) / det, (ux * dy - uy * dx) / det
            if s >= 0 and t >= 0 and s + t <= 1:
                best = 0.0
                weight[0], weight[1], weight[2] = 1 - s - t, s, t
    return best


@njit(**INNER)
def ends_bear(a: RoundedHull, b: RoundedHull, g: np.ndarray, slack: float, s: np.ndarray):
    """Whether the other body's furthest points stand within the rim of an end seen along its axis.

    Not smooth: the body is a cylinder seen so. s (2,): gets the unit direction in which the normal
    turns uphill if not; g as in ``top_near``. The points get their shares.
    """
    for k in range(POINTS):
        a.weight[k] = b.weight[k] = 1.0 if k == 0 else 0.0
    if not a.smooth:
        sign, x, y = 1.0, a.flat[0, 0] - g[0], a.flat[0, 1] - g[1]
        other = b
        rim = a.size[0] if b.smooth else a.size[0] + b.size[0]
    else:
        sign, x, y = -1.0, b.flat[0, 0] + g[0], b.flat[0, 1] + g[1]
        other = a
        rim = b.size[0]
    away = _nearest_to(other.flat, other.high, other.count, slack, x, y, other.weight)
    s[0], s[1] = -x, -y
    for i in range(other.count):
        for k in range(2):
            s[k] += other.weight[i] * other.flat[i, k]
    if away > 0:
        s[0], s[1] = sign * s[0] / away, sign * s[1] / away
    return away <= rim + TOLERANCES.stands_out * slack
