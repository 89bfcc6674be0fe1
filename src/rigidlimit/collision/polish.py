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
from .solid_table import CYLINDER, support, to_body

STEPS = 16
"""Steps of Newton; four are ordinary."""

SETTLED = 1e-12
"""Step [rad] after which the next one would be rounding."""

FAR = 0.3
"""Longest step [rad]."""

UPHILL = 1e-3
"""Least second derivative, over the size of the coordinates, of steps uphill, taken where bodies
overlap or just touch and f has no top near: some of its directions are then flat or bent upward."""

FACING = 1e-13
"""Part of x_b - x_a across n that is rounding, over the size of the coordinates."""

NUDGE = 1e-3
"""Turn [rad] off the normal of an end that does not bear."""


@njit(cache=True)
def _furthest(high, t, count, s, sign, i, slack):
    """Whether point i of a body is as far as all others after the turn s. high (count,): heights
    now; t (count, 2): points across the normal; sign: of the direction looked along."""
    level = high[i] + sign * (t[i, 0] * s[0] + t[i, 1] * s[1]) + slack
    for k in range(count):
        if high[k] + sign * (t[k, 0] * s[0] + t[k, 1] * s[1]) > level:
            return False
    return True


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
def _before_axis(n, step):
    """The share of a step (2,) of n across the axis of a disk that ends well before the axis."""
    toward = -(n[0] * step[0] + n[1] * step[1])
    return min(1.0, 0.5 * (n[0] * n[0] + n[1] * n[1]) / toward) if toward > 0 else 1.0


@njit(cache=True)
def _place(points, count, turn, arm, out):
    """out = points (count, 3) of b in the axes of a."""
    for i in range(count):
        x, y, z = points[i]
        for k in range(3):
            out[i, k] = arm[k] + turn[k, 0] * x + turn[k, 1] * y + turn[k, 2] * z


@njit(cache=True, nogil=True)
def polish(rows, shape_a, shape_b, turn, arm, size, solids, separation, normal, on_a, on_b):
    """Makes the answers of pairs ``rows`` exact where that succeeds: (rows,) bool.

    turn (k, 3, 3), arm (k, 3): poses of b in the axes of a about a's centre, in which the answers
    separation (k,), unit normal, on_a, on_b (k, 3) are. size (k,): of the coordinates.
    """
    done = np.zeros(len(rows), np.bool_)
    ca, cb, local = np.empty((POINTS, 3)), np.empty((POINTS, 3)), np.empty((POINTS, 3))
    ta, tb = np.empty((POINTS, 2)), np.empty((POINTS, 2))
    high_a, high_b = np.empty(POINTS), np.empty(POINTS)
    weight_a, weight_b = np.empty(POINTS), np.empty(POINTS)
    n, d, u, v = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    du, dv, ra, rb, at = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    bend_a, bend_b, g, s = np.empty((3, 3)), np.empty((3, 3)), np.empty(2), np.empty(2)
    xa, xb, best_n, step, back = (
        np.empty(3), np.empty(3), np.empty(3), np.empty(2), np.empty(2)
    )  # fmt: skip
    scratch, chosen = np.empty((5, 2)), np.empty((2, POINTS), np.int64)
    for row in range(len(rows)):
        p = rows[row]
        if not separation[p] > -np.inf:
            continue
        sa, sb, slack = shape_a[p], shape_b[p], FACING * size[p]
        round_a, round_b = solids[0][sa] == CYLINDER, solids[0][sb] == CYLINDER
        for k in range(3):
            n[k] = normal[p, k]
        found, highest = False, -np.inf
        for _ in range(STEPS):
            to_body(turn[p], n, -1.0, d)
            basis(n, u, v)
            na = furthest_points(solids, sa, n, ca)
            nb = furthest_points(solids, sb, d, local)
            _place(local, nb, turn[p], arm[p], cb)
            across(ca, na, n, u, v, 1.0, high_a, ta)
            across(cb, nb, n, u, v, -1.0, high_b, tb)
            smooth_a = smooth_part(solids, sa, n, ra, bend_a)
            smooth_b = smooth_part(solids, sb, d, at, bend_b)
            value, g[0], g[1] = -high_a[0] - high_b[0], 0.0, 0.0
            for k in range(3):
                rb[k] = turn[p, k, 0] * at[0] + turn[p, k, 1] * at[1] + turn[p, k, 2] * at[2]
                value += n[k] * (rb[k] - ra[k])
                g[0] += u[k] * (rb[k] - ra[k])
                g[1] += v[k] * (rb[k] - ra[k])
            if value < highest - slack:  # too far: halfway back to the best so far
                length = 0.0
                for k in range(3):
                    n[k] += best_n[k]
                    length += n[k] * n[k]
                for k in range(3):
                    n[k] /= np.sqrt(length)
                continue
            highest = max(highest, value)
            for k in range(3):
                best_n[k] = n[k]
            if not (smooth_a and smooth_b):
                found = _ends_bear(
                    smooth_a, smooth_b, solids[1][sa, 0], solids[1][sb, 0], g, high_a, ta, na,
                    high_b, tb, nb, slack, s, weight_a, weight_b,
                )  # fmt: skip
                if found:
                    break
                s[0], s[1] = NUDGE * s[0], NUDGE * s[1]
            else:
                to_body(turn[p], u, 1.0, du)
                to_body(turn[p], v, 1.0, dv)
                uu = uv = vv = 0.0
                for i in range(3):
                    for j in range(3):
                        uu += u[i] * bend_a[i, j] * u[j] + du[i] * bend_b[i, j] * du[j]
                        uv += u[i] * bend_a[i, j] * v[j] + du[i] * bend_b[i, j] * dv[j]
                        vv += v[i] * bend_a[i, j] * v[j] + dv[i] * bend_b[i, j] * dv[j]
                if abs(value) < 10 * slack:
                    value = 10 * slack
                for bent in (value, max(abs(value), UPHILL * size[p])):
                    way = _top(
                        g, (uu + bent, uv, vv + bent), high_a, ta, na, high_b, tb, nb, slack, s,
                        weight_a, weight_b, scratch, chosen,
                    )  # fmt: skip
                    if way:
                        break
                if not way:
                    break
                off = lower = 0.0
                for k in range(2):
                    part = g[k]
                    for i in range(na):
                        part -= weight_a[i] * ta[i, k]
                    for i in range(nb):
                        part += weight_b[i] * tb[i, k]
                    off = max(off, abs(part))
                for i in range(na):
                    lower = max(lower, weight_a[i] * (high_a[0] - high_a[i]))
                for i in range(nb):
                    lower = max(lower, weight_b[i] * (high_b[0] - high_b[i]))
                turned = np.sqrt(s[0] * s[0] + s[1] * s[1])
                found = turned < SETTLED or (max(off, lower) < slack and turned < NUDGE)
                shrink = FAR / max(FAR, turned)
                for k in range(2):
                    step[k] = u[k] * s[0] + v[k] * s[1]
                    back[k] = -du[k] * s[0] - dv[k] * s[1]
                if round_a:
                    shrink = min(shrink, _before_axis(n, step))
                if round_b:
                    shrink = min(shrink, _before_axis(d, back))
                s[0], s[1] = shrink * s[0], shrink * s[1]
            length = 0.0
            for k in range(3):
                n[k] += s[0] * u[k] + s[1] * v[k]
                length += n[k] * n[k]
            length = np.sqrt(length)
            for k in range(3):
                n[k] /= length
            if found:
                to_body(turn[p], n, -1.0, d)
                break
        if not found:
            continue
        # the points that face each other
        best = -support(solids, sa, n, xa) - support(solids, sb, d, at)
        for k in range(3):
            best += n[k] * arm[p, k]
        if not best >= separation[p] - slack:
            continue
        smooth_part(solids, sa, n, ra, bend_a)
        smooth_part(solids, sb, d, at, bend_b)
        for k in range(3):
            xa[k] = ra[k]
            xb[k] = turn[p, k, 0] * at[0] + turn[p, k, 1] * at[1] + turn[p, k, 2] * at[2]
            for i in range(na):
                xa[k] += weight_a[i] * ca[i, k]
            for i in range(nb):
                xb[k] += weight_b[i] * cb[i, k]
        if smooth_a and smooth_b:
            off = 0.0
            for k in range(3):
                off = max(off, abs(xb[k] - xa[k] - best * n[k]))
            if off > 10 * slack:
                continue
        else:  # a point within both ends, or above or below the other body's point
            share = 1.0 if smooth_b else 0.0
            if not (smooth_a or smooth_b):
                share = solids[1][sa, 0] / (solids[1][sa, 0] + solids[1][sb, 0])
            apart = 0.0
            for k in range(3):
                apart += n[k] * (xb[k] - xa[k])
            for k in range(3):
                xa[k] += share * (xb[k] - xa[k] - apart * n[k])
                xb[k] = xa[k] + best * n[k]
        done[row], separation[p] = True, best
        for k in range(3):
            normal[p, k], on_a[p, k], on_b[p, k] = n[k], xa[k], xb[k]
    return done
