"""Nearest points of two ellipsoids (or balls): Newton on the normal, with a proof of the answer.

The gap is the largest value over unit n of  f(n) = n . w - h_a(n) - h_b(-n)  with the arm w from a
to b and the support functions h(n) = |S R^T n| (semi-axes S, turn R). Its gradient is the vector
g = w + x_b(-n) - x_a(n) between the support points; at a stationary n, g = f n.

Proof that a stationary n is the largest: bodies apart, because f is concave over the unit ball.
Bodies that overlap by d = -f, where d does not exceed the least radius of curvature of a plus that
of b, each (least semi-axis)^2 / largest: their difference a - b is then a convex body rounded by a
ball of radius d or more (Blaschke's rolling theorem), in which a point at depth d has one nearest
point of the surface. Pairs without a proof are left to another search.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .pairs import Pairs
from .rounded_hulls import basis
from .solid_table import Solids, support, to_body
from .tolerances import TOLERANCES


@njit(**INNER)
def _height_and_bend(axes, turn, n, sign, at, bend, square):
    """Adds the second derivative of h at sign * n to bend (3, 3); at (3,): the support point.

    turn: of the body, whose support point is in the axes of n, about the body's centre. square
    (3, 3): scratch.
    """
    for i in range(3):
        for j in range(3):
            square[i, j] = 0.0
            for k in range(3):
                square[i, j] += turn[i, k] * axes[k] ** 2 * turn[j, k]
    height = 0.0
    for i in range(3):
        at[i] = 0.0
        for j in range(3):
            at[i] += square[i, j] * n[j]
        height += n[i] * at[i]
    height = np.sqrt(height)
    for i in range(3):
        for j in range(3):
            bend[i, j] += square[i, j] / height - at[i] * at[j] / height**3
    for i in range(3):
        at[i] *= sign / height
    return height


@njit(**INNER)
def newton_step(
    axes_a: np.ndarray,
    axes_b: np.ndarray,
    relative: np.ndarray,
    arm: np.ndarray,
    n: np.ndarray,
    at_a: np.ndarray,
    at_b: np.ndarray,
    work: np.ndarray,
):
    """One step of Newton: moves unit n in place; returns (f before, |part of g across n|).

    relative (3, 3), arm (3,): pose of b in the axes of a. at_a, at_b (3,): get the support points
    of the old n about each body's own centre. work (4, 3, 3): scratch, work[0] the unit matrix.
    """
    bend = work[1]
    bend[:] = 0.0
    height = _height_and_bend(axes_a, work[0], n, 1.0, at_a, bend, work[2])
    height += _height_and_bend(axes_b, relative, n, -1.0, at_b, bend, work[2])
    value, g, u, v = -height, work[3, 0], work[3, 1], work[3, 2]
    for k in range(3):
        value += arm[k] * n[k]
        g[k] = arm[k] + at_b[k] - at_a[k]
    basis(n, u, v)
    gu = gv = uv = 0.0
    uu = vv = value  # minus the second derivative on the sphere
    for i in range(3):
        gu += g[i] * u[i]
        gv += g[i] * v[i]
        for j in range(3):
            uu += u[i] * bend[i, j] * u[j]
            uv += u[i] * bend[i, j] * v[j]
            vv += v[i] * bend[i, j] * v[j]
    across = np.sqrt(gu * gu + gv * gv)
    det = uu * vv - uv * uv
    if uu > 0 and det > 0:
        s, t = (vv * gu - uv * gv) / det, (uu * gv - uv * gu) / det
    else:  # no maximum near: uphill
        s, t = gu / max(across, 1e-300), gv / max(across, 1e-300)
    shrink = 1.0 / max(1.0, np.sqrt(s * s + t * t))
    size = 0.0
    for k in range(3):
        n[k] += shrink * (s * u[k] + t * v[k])
        size += n[k] * n[k]
    size = np.sqrt(size)
    for k in range(3):
        n[k] /= size
    return value, across


@njit(**INNER)
def _to_unit(n):
    """Makes n (3,) of unit length; False where it has none."""
    length = n[0] * n[0] + n[1] * n[1] + n[2] * n[2]
    if length == 0:
        return False
    for k in range(3):
        n[k] /= np.sqrt(length)
    return True


@njit(**INNER)
def _points_along(pairs, p, solids, n, on_a, on_b):
    """Support points of pair p along n, in the axes of a; the separation along it."""
    turn, arm, d, at_b = pairs.turn[p], pairs.arm[p], np.empty(3), np.empty(3)
    to_body(turn, n, -1.0, d)
    separation = -support(solids, pairs.shape_a[p], n, on_a)
    separation -= support(solids, pairs.shape_b[p], d, at_b)
    for k in range(3):
        separation += arm[k] * n[k]
        on_b[k] = arm[k]
        for c in range(3):
            on_b[k] += turn[k, c] * at_b[c]
    return separation


@njit(cache=True)
def nearest_of_ellipsoids(pairs: Pairs, start: np.ndarray, solids: Solids):
    """(proved (k,) bool, separation (k,), normal, point on a, point on b (k, 3)) of pairs.

    The separation is -inf where no stationary normal is found, and only a lower bound where it is
    beyond reach. start (k, 3): where the normals start, of any length.
    """
    shape_a, shape_b, turn, arm, reach = (
        pairs.shape_a, pairs.shape_b, pairs.turn, pairs.arm, pairs.reach,
    )  # fmt: skip
    m = len(arm)
    proved, separation = np.zeros(m, np.bool_), np.full(m, -np.inf)
    normal, on_a, on_b = np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 3))
    work = np.zeros((4, 3, 3))
    at_a, at_b, trial = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        work[0, k, k] = 1.0
    for p in range(m):
        a, b = solids.size[shape_a[p]], solids.size[shape_b[p]]
        size = a.max() + b.max()
        rounded = a.min() ** 2 / a.max() + b.min() ** 2 / b.max()
        n = normal[p]
        for k in range(3):
            n[k] = start[p, k]
        if not _to_unit(n):
            continue
        last, stationary = -np.inf, False
        for _ in range(TOLERANCES.steps):
            for k in range(3):
                trial[k] = n[k]
            value, across = newton_step(a, b, turn[p], arm[p], n, at_a, at_b, work)
            if value > reach[p]:
                proved[p], separation[p] = True, value
                break
            if value < last and across > 1e-6 * size:  # too far: halfway back to the best so far
                for k in range(3):
                    n[k] = trial[k] + on_a[p, k]  # where the best direction waits
                _to_unit(n)
                continue
            last = value
            for k in range(3):
                on_a[p, k] = trial[k]
            if across < TOLERANCES.exact * size:
                proved[p], stationary = value > -rounded, True
                break
        if stationary:
            separation[p] = _points_along(pairs, p, solids, n, on_a[p], on_b[p])
    return proved, separation, normal, on_a, on_b
