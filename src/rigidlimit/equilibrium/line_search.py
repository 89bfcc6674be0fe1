"""The line search of Newton's method on E(x): where the slope dE/dt along a direction vanishes.

E is convex along a line, so that the full step is tried first, then expansion until the slope has
changed its sign, then the Illinois variant of regula falsi. Energies would stall at rounding.
"""

import numpy as np
from numba import njit

from .smooth_law import law
from .sums import WHOLE, Sums


@njit(cache=True)
def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a . b without the threads that a BLAS starts for it, which cost more than the sum."""
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


@njit(cache=True, nogil=True)
def _change(c, dc, f, k, p, t):
    """By how much dE/dt at x + t d differs from that at t = 0, by what the forces f at c have
    changed since."""
    s = 0.0
    for i in range(len(c)):
        ct = c[i] + t * dc[i]
        if ct > 0.0:
            s += dc[i] * (law(ct, k[i], p) - f[i])
        else:
            s -= dc[i] * f[i]
    return s


def _between(lo, slope_lo, hi, slope_hi):
    """Where a line through two slopes of unlike sign is zero, or the middle by rounding."""
    t = (lo * slope_hi - hi * slope_lo) / (slope_hi - slope_lo)
    return t if lo < t < hi else 0.5 * (lo + hi)


def minimum(
    c: np.ndarray, dc: np.ndarray, f: np.ndarray, k: np.ndarray, p: float, slope: float,
    part: float, sums: Sums = WHOLE,
) -> float:  # fmt: skip
    """t > 0 where dE/dt has fallen to this part of the slope < 0 at t = 0; 0 if that does not fall.

    c (m,): overlaps, f (m,): their forces, dc = -B d. -1 if E falls without end along d, which is
    then a motion that opens every contact it moves.
    """
    if slope >= 0.0:
        return 0.0
    c, dc, f, k = (sums.own(values) for values in (c, dc, f, k))

    def slope_at(t: float) -> float:
        return slope + sums.total(_change(c, dc, f, k, p, t))

    goal = part * abs(slope)
    lo, slope_lo, hi = 0.0, slope, 1.0
    slope_hi = slope_at(hi)
    for _ in range(60):
        if slope_hi >= 0.0 or abs(slope_hi) <= goal:
            break
        lo, slope_lo = hi, slope_hi
        hi *= 4.0
        slope_hi = slope_at(hi)
    if abs(slope_hi) <= goal:
        return hi
    if slope_hi < 0.0:
        return -1.0
    t, last = hi, 0.0
    for _ in range(100):
        t = _between(lo, slope_lo, hi, slope_hi)
        s = slope_at(t)
        if abs(s) <= goal or hi - lo <= 1e-15 * hi:
            break
        # Illinois: where the same end moves twice, the slope at the other one counts half
        half = 0.5 if s * last > 0.0 else 1.0
        if s < 0.0:
            lo, slope_lo, slope_hi = t, s, half * slope_hi
        else:
            slope_lo, hi, slope_hi = half * slope_lo, t, s
        last = s
    return t
