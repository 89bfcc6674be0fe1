"""Where the separation of two rounded hulls is largest near a normal: see ``polish``.

Points of the two bodies in the plane across the normal: heights high (POINTS,) along the direction
looked along (the normal n for a, -n for b), places t (POINTS, 2), of which the first is furthest.
"""

import numpy as np
from numba import njit

from .rounded_hulls import POINTS

RIGHT = -1e-9
"""Least multiplier that counts as one of the right sign."""

STANDS = 100
"""Times what is rounding that a point may stand outside a rim: between the two ways out there is
little to choose."""

FLAT, SIDE_BY_SIDE = 1e-14, 1e-24
"""Determinant of a second derivative over its diagonal's product that is no top, and square of the
sine between two kinks that are one."""


@njit(cache=True)
def _furthest(high, t, count, s, sign, i, slack):
    """Whether point i of a body is as far as all others after the turn s. high (count,): heights
    now; t (count, 2): points across the normal; sign: of the direction looked along."""
    level = high[i] + sign * (t[i, 0] * s[0] + t[i, 1] * s[1]) + slack
    furthest = True
    for k in range(count):
        furthest = furthest and high[k] + sign * (t[k, 0] * s[0] + t[k, 1] * s[1]) <= level
    return furthest


@njit(cache=True)
def _turn_by(g, H, edge, drop, kinks, s, share):
    """Newton's turn s (2,) with ``kinks`` rows edge (2, 2) . s = drop (2,); share: multipliers."""
    uu, uv, vv = H
    if kinks == 0:
        det = uu * vv - uv * uv
        if not (uu > 0 and det > FLAT * uu * vv):
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
    if det * det <= SIDE_BY_SIDE * square * (fx * fx + fy * fy):
        return False
    s[0], s[1] = (drop[0] * fy - drop[1] * ey) / det, (ex * drop[1] - fx * drop[0]) / det
    x, y = g[0] - uu * s[0] - uv * s[1], g[1] - uv * s[0] - vv * s[1]
    share[0], share[1] = (x * fy - y * fx) / det, (ex * y - ey * x) / det
    return True


@njit(cache=True)
def top_near(
    g0: np.ndarray,
    H: tuple,
    high_a: np.ndarray,
    ta: np.ndarray,
    na: int,
    high_b: np.ndarray,
    tb: np.ndarray,
    nb: int,
    slack: float,
    s: np.ndarray,
    weight_a: np.ndarray,
    weight_b: np.ndarray,
    work: np.ndarray,
    chosen: np.ndarray,
):
    """The turn s (2,) to the top of the quadratic less the two maxima; False: none found.

    g0 (2,): slope without the points; H: minus second derivative. high (POINTS,): heights of the
    points, t (POINTS, 2): points across the normal. weight (POINTS,): get the points' shares.
    """
    g, edge, drop, share = work[0], work[1:3], work[3], work[4]
    most_a, most_b = (1 << na), (1 << nb)
    for kinks in range(3):
        for set_a in range(1, most_a):
            ka = 0
            for i in range(na):
                if set_a >> i & 1:
                    chosen[0, ka] = i
                    ka += 1
            if ka > kinks + 1:
                continue
            for set_b in range(1, most_b):
                kb = 0
                for j in range(nb):
                    if set_b >> j & 1:
                        chosen[1, kb] = j
                        kb += 1
                if ka + kb != kinks + 2:
                    continue
                i0, j0 = chosen[0, 0], chosen[1, 0]
                row = 0
                for k in range(2):
                    g[k] = g0[k] - ta[i0, k] + tb[j0, k]
                for c in range(1, ka):
                    i = chosen[0, c]
                    for k in range(2):
                        edge[row, k] = ta[i, k] - ta[i0, k]
                    drop[row] = high_a[i0] - high_a[i]
                    row += 1
                for c in range(1, kb):
                    j = chosen[1, c]
                    for k in range(2):
                        edge[row, k] = tb[j0, k] - tb[j, k]
                    drop[row] = high_b[j0] - high_b[j]
                    row += 1
                if not _turn_by(g, H, edge, drop, kinks, s, share):
                    continue
                right = True
                left_a, left_b = 1.0, 1.0
                for c in range(kinks):
                    right = right and share[c] > RIGHT
                    if c < ka - 1:
                        left_a -= share[c]
                    else:
                        left_b -= share[c]
                if not (right and left_a > RIGHT and left_b > RIGHT):
                    continue
                if not _furthest(high_a, ta, na, s, 1.0, i0, slack):
                    continue
                if not _furthest(high_b, tb, nb, s, -1.0, j0, slack):
                    continue
                for k in range(POINTS):
                    weight_a[k] = weight_b[k] = 0.0
                weight_a[i0], weight_b[j0] = left_a, left_b
                for c in range(1, ka):
                    weight_a[chosen[0, c]] = share[c - 1]
                for c in range(1, kb):
                    weight_b[chosen[1, c]] = share[ka - 1 + c - 1]
                return True
    return False


@njit(cache=True)
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


@njit(cache=True)
def ends_bear(
    smooth_a: bool,
    smooth_b: bool,
    rim_a: float,
    rim_b: float,
    g: np.ndarray,
    high_a: np.ndarray,
    ta: np.ndarray,
    na: int,
    high_b: np.ndarray,
    tb: np.ndarray,
    nb: int,
    slack: float,
    s: np.ndarray,
    wa: np.ndarray,
    wb: np.ndarray,
):
    """Whether the other body's furthest points stand within the rim of an end seen along its axis.

    Not smooth: the body is a cylinder seen so. s (2,): gets the unit direction in which the normal
    turns uphill if not; g, high, t, weights wa, wb as in ``top_near``.
    """
    for k in range(POINTS):
        wa[k] = wb[k] = 1.0 if k == 0 else 0.0
    if not smooth_a:
        sign, x, y = 1.0, ta[0, 0] - g[0], ta[0, 1] - g[1]
        away = _nearest_to(tb, high_b, nb, slack, x, y, wb)
        rim = rim_a if smooth_b else rim_a + rim_b
    else:
        sign, x, y = -1.0, tb[0, 0] + g[0], tb[0, 1] + g[1]
        away = _nearest_to(ta, high_a, na, slack, x, y, wa)
        rim = rim_b
    s[0], s[1] = -x, -y
    for i in range(na if smooth_a else nb):
        for k in range(2):
            s[k] += wa[i] * ta[i, k] if smooth_a else wb[i] * tb[i, k]
    if away > 0:
        s[0], s[1] = sign * s[0] / away, sign * s[1] / away
    return away <= rim + STANDS * slack
