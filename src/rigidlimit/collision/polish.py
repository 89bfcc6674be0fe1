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

from .kinds import CYLINDER
from .kinks import ends_bear, top_near
from .rounded_hulls import POINTS, across, basis, furthest_points, smooth_part
from .separation import place
from .solid_table import to_body

STEPS = 16
"""Steps of Newton; four are ordinary."""

CLOSE, SETTLED = 1e-4, 1e-12
"""Steps [rad] after which the answer may be exact, and after which another is of no use."""

FAR = 0.3
"""Longest step [rad]."""

UPHILL = 1e-3
"""Least second derivative, over the smaller size, of steps uphill: taken where bodies overlap or
just touch and f has no top near, some of its directions being flat or bent upward."""

ROUNDING, FACING = 1e-15, 1e-13
"""Part of x_b - x_a across n, over the size of the coordinates, at which a normal is exact, and,
ten times over, up to which it is taken if it gets no better."""

TRIES = 4
"""Small steps after which it gets no better."""

NUDGE = 1e-3
"""Turn [rad] off the normal of an end that does not bear."""


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
def polish(
    rows, shape_a, shape_b, turn, arm, size, small, solids, separation, normal, on_a, on_b
):  # fmt: skip
    """Makes the answers of pairs ``rows`` exact where that succeeds: (rows,) bool.

    turn (k, 3, 3), arm (k, 3): poses of b in the axes of a about a's centre, in which the answers
    separation (k,), unit normal, on_a, on_b (k, 3) are. size (k,): of the coordinates; small (k,):
    of the smaller body.
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
            place(local[:nb], R, w, cb)
            place(at, R, zero, rb)
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
                for more in (flat, max(abs(flat), UPHILL * small[p])):
                    found = found or top_near(
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
                done[row] = ends_bear(
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
