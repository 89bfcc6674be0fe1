"""Normals and nearest points of two convex solids made exact, from a normal close to the truth.

Every solid is the hull of a few points c_i (corners; the ends of an axis; the centre) rounded by a
smooth body (nothing; a ball, a disk across the axis, an ellipsoid) with support point r(n), so that

    f(n) = n . w - max_i c_i . n - max_j (-c'_j . n) - smooth part,    w the arm from a to b,

whose largest value over unit n the gap is, has all its kinks in the two maxima. In the plane across
n (two coordinates s) f is a concave quadratic less two maxima of linear functions, up to terms of
third order. Its top lies on no kink, on one (a corner of the hull of differences c_i - c'_j has
become an edge) or on two (a face), where

    g - H s = sum of lambda_m e_m,    g = w + x_b - x_a across n,    H = f 1 + second derivatives,

with the multipliers lambda of the kinks e_m, which share x_a and x_b among the points of an edge or
face. All kinds are tried among the three points of each body nearest to the top, and the one with
multipliers of the right sign is taken: Newton's method with an active set, three or four steps from
a normal known to 1e-4.

An answer is accepted only if it does not separate less than the normal it came from, and if
x_b - x_a = f n within rounding, that is, if n is a normal of both bodies at points that face each
other. Bodies apart have no other such n. The end of a cylinder, where the disk is itself not
smooth, is entered with its own normal only, and kept where the other body stands within its rim.
"""

import numpy as np
from numba import njit

from .rounded_hulls import POINTS, across, basis, furthest_points, smooth_part
from .solid_table import CYLINDER, to_body

STEPS = 16
"""Steps of Newton; four are ordinary."""

CLOSE, SETTLED = 1e-4, 1e-12
"""Steps [rad] after which the answer may be exact, and after which another is of no use."""

FAR = 0.3
"""Longest step [rad]."""

UPHILL = 1e-3
"""Least second derivative, over the size of the coordinates, of steps uphill, taken where bodies
overlap or just touch and f has no top near: some of its directions are then flat or bent upward."""

ROUNDING, FACING = 1e-15, 1e-13
"""Part of x_b - x_a across n, over the size of the coordinates, at which a normal is exact, and,
ten times over, up to which it is taken if it gets no better."""

TRIES = 4
"""Small steps after which it gets no better."""

NUDGE = 1e-3
"""Turn [rad] off the normal of an end that does not bear."""


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
        if not (uu > 0 and det > 1e-14 * uu * vv):
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
    if det * det <= 1e-24 * square * (fx * fx + fy * fy):
        return False
    s[0], s[1] = (drop[0] * fy - drop[1] * ey) / det, (ex * drop[1] - fx * drop[0]) / det
    x, y = g[0] - uu * s[0] - uv * s[1], g[1] - uv * s[0] - vv * s[1]
    share[0], share[1] = (x * fy - y * fx) / det, (ex * y - ey * x) / det
    return True


@njit(cache=True)
def _top(g0, H, high_a, ta, na, high_b, tb, nb, slack, s, weight_a, weight_b, work, chosen):
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
                    right = right and share[c] > -1e-9
                    if c < ka - 1:
                        left_a -= share[c]
                    else:
                        left_b -= share[c]
                if not (right and left_a > -1e-9 and left_b > -1e-9):
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
def _ends_bear(
    smooth_a, smooth_b, rim_a, rim_b, g, high_a, ta, na, high_b, tb, nb, slack, s, wa, wb
):
    """Whether the other body's furthest points stand within the rim of an end seen along its axis.

    Not smooth: the body is a cylinder seen so. s (2,): gets the unit direction in which the normal
    turns uphill if not; g, high, t, weights wa, wb as in ``_top``.
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
    return away <= rim + 100 * slack


@njit(cache=True)
def _before_axis(n, u, v, s, sign):
    """The share of a step sign * (u, v) . s of n that ends well before the axis of a disk."""
    toward = -sign * s[0] * (n[0] * u[0] + n[1] * u[1])
    toward -= sign * s[1] * (n[0] * v[0] + n[1] * v[1])
    return min(1.0, 0.5 * (n[0] * n[0] + n[1] * n[1]) / toward) if toward > 0 else 1.0


@njit(cache=True)
def _unit(n):
    size = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    for k in range(3):
        n[k] /= size


@njit(cache=True)
def _out_of(turn, shift, items, count, out):
    """out = items (count, 3), turned and shifted."""
    for i in range(count):
        x, y, z = items[i, 0], items[i, 1], items[i, 2]
        for k in range(3):
            out[i, k] = turn[k, 0] * x + turn[k, 1] * y + turn[k, 2] * z + shift[k]


@njit(cache=True)
def _bend(bend_a, bend_b, u, v, du, dv):
    """Second derivative in the axes u, v (du, dv in those of b) across the normal: uu, uv, vv."""
    uu = uv = vv = 0.0
    for i in range(3):
        for j in range(3):
            p, q = bend_a[i, j], bend_b[i, j]
            uu += u[i] * p * u[j] + du[i] * q * du[j]
            uv += u[i] * p * v[j] + du[i] * q * dv[j]
            vv += v[i] * p * v[j] + dv[i] * q * dv[j]
    return uu, uv, vv


@njit(cache=True)
def _within_ends(n, xa, xb, value, smooth_a, smooth_b, rim_a, rim_b):
    """Moves the points into the ends of cylinders seen along their axes, and below each other."""
    to_b = 1.0 if smooth_b else (0.0 if smooth_a else rim_a / (rim_a + rim_b))
    apart = n[0] * (xb[0] - xa[0]) + n[1] * (xb[1] - xa[1]) + n[2] * (xb[2] - xa[2])
    for k in range(3):
        xa[k] += to_b * (xb[k] - xa[k] - apart * n[k])
        xb[k] = xa[k] + value * n[k]


@njit(cache=True, nogil=True)
def polish(rows, shape_a, shape_b, turn, arm, size, solids, separation, normal, on_a, on_b):
    """Makes the answers of pairs ``rows`` exact where that succeeds: (rows,) bool.

    turn (k, 3, 3), arm (k, 3): poses of b in the axes of a about a's centre, in which the answers
    separation (k,), unit normal, on_a, on_b (k, 3) are. size (k,): of the coordinates.
    """
    done = np.zeros(len(rows), np.bool_)
    kinds, sizes, start, vertices = solids[0], solids[1], solids[2], solids[3]
    # of a, and of b in the axes of a: points, heights, places across n, shares, the shared point,
    # support point and second derivative of the smooth part
    ca, cb, local = np.empty((POINTS, 3)), np.empty((POINTS, 3)), np.empty((POINTS, 3))
    high_a, high_b, wa, wb = np.empty(POINTS), np.empty(POINTS), np.empty(POINTS), np.empty(POINTS)
    ta, tb, xa, xb = np.empty((POINTS, 2)), np.empty((POINTS, 2)), np.empty(3), np.empty(3)
    ra, rb, at = np.empty((1, 3)), np.empty((1, 3)), np.empty((1, 3))
    shared_a, shared_b = np.empty(3), np.empty(3)
    bend_a, bend_b, zero = np.empty((3, 3)), np.empty((3, 3)), np.zeros(3)
    n, d, best, u, v = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    du, dv, slope, s = np.empty(3), np.empty(3), np.empty(2), np.empty(2)
    ra0, at0 = ra[0], at[0]
    scratch, chosen = np.empty((5, 2)), np.empty((2, POINTS), np.int64)
    for row in range(len(rows)):
        p = rows[row]
        if not separation[p] > -np.inf:
            continue
        sa, sb, slack, R, w = shape_a[p], shape_b[p], FACING * size[p], turn[p], arm[p]
        kind_a, kind_b, size_a, size_b = kinds[sa], kinds[sb], sizes[sa], sizes[sb]
        corners_a = vertices[start[sa] : start[sa + 1]]
        corners_b = vertices[start[sb] : start[sb + 1]]
        for k in range(3):
            n[k] = normal[p, k]
        highest, turned, tries = -np.inf, np.inf, 0
        for _ in range(STEPS):
            to_body(R, n, -1.0, d)
            na = furthest_points(kind_a, size_a[2], corners_a, n, ca)
            nb = furthest_points(kind_b, size_b[2], corners_b, d, local)
            smooth_a = smooth_part(kind_a, size_a, n, ra0, bend_a)
            smooth_b = smooth_part(kind_b, size_b, d, at0, bend_b)
            _out_of(R, w, local, nb, cb)
            _out_of(R, zero, at, 1, rb)
            value = 0.0
            for k in range(3):
                value += n[k] * (cb[0, k] + rb[0, k] - ca[0, k] - ra[0, k])
            if turned < np.inf:  # are these the points that face each other?
                off = 0.0
                for k in range(3):
                    xa[k], xb[k] = shared_a[k] + ra[0, k], shared_b[k] + rb[0, k]
                    off = max(off, abs(xb[k] - xa[k] - value * n[k]))
                tries += turned < CLOSE
                touching = abs(value) < 10 * slack  # where many normals serve
                if off <= ROUNDING * size[p] or (touching and off <= slack):
                    done[row] = True
                    break
                if turned < SETTLED or tries == TRIES:
                    done[row] = off <= 10 * slack
                    break
            if value < highest - slack:  # too far: halfway back to the best so far
                for k in range(3):
                    n[k] += best[k]
                _unit(n)
                turned = np.inf
                continue
            highest = max(highest, value)
            basis(n, u, v)
            to_body(R, u, 1.0, du)
            to_body(R, v, 1.0, dv)
            across(ca, na, n, u, v, 1.0, high_a, ta)
            across(cb, nb, n, u, v, -1.0, high_b, tb)
            slope[0] = slope[1] = 0.0
            for k in range(3):
                best[k] = n[k]
                slope[0] += u[k] * (rb[0, k] - ra[0, k])
                slope[1] += v[k] * (rb[0, k] - ra[0, k])
            if smooth_a and smooth_b:
                uu, uv, vv = _bend(bend_a, bend_b, u, v, du, dv)
                found = False
                flat = 10 * slack if abs(value) < 10 * slack else value
                for more in (flat, max(abs(flat), UPHILL * size[p])):
                    found = found or _top(
                        slope, (uu + more, uv, vv + more), high_a, ta, na, high_b, tb, nb, slack,
                        s, wa, wb, scratch, chosen,
                    )  # fmt: skip
                if not found:
                    break
                turned = np.sqrt(s[0] * s[0] + s[1] * s[1])
                shrink = FAR / max(FAR, turned)  # and not beyond the axis of a disk
                if kind_a == CYLINDER:
                    shrink = min(shrink, _before_axis(n, u, v, s, 1.0))
                if kind_b == CYLINDER:
                    shrink = min(shrink, _before_axis(d, du, dv, s, -1.0))
            else:
                shrink = NUDGE
                done[row] = _ends_bear(
                    smooth_a, smooth_b, size_a[0], size_b[0], slope, high_a, ta, na,
                    high_b, tb, nb, slack, s, wa, wb,
                )  # fmt: skip
            for k in range(3):
                shared_a[k] = shared_b[k] = 0.0
                for i in range(na):
                    shared_a[k] += wa[i] * ca[i, k]
                for i in range(nb):
                    shared_b[k] += wb[i] * cb[i, k]
            if done[row]:
                for k in range(3):
                    xa[k], xb[k] = shared_a[k] + ra[0, k], shared_b[k] + rb[0, k]
                _within_ends(n, xa, xb, value, smooth_a, smooth_b, size_a[0], size_b[0])
                break
            for k in range(3):
                n[k] += shrink * (s[0] * u[k] + s[1] * v[k])
            _unit(n)
        done[row] = done[row] and value >= separation[p] - slack
        if done[row]:
            separation[p] = value
            for k in range(3):
                normal[p, k], on_a[p, k], on_b[p, k] = n[k], xa[k], xb[k]
    return done
