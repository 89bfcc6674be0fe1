"""The law of a no-tension contact, f = k max(0, c)^(p-1) (eq. 31), as kernels.

For p < 2 the tangent is unbounded where a contact just closes. A linear spring of stiffness
``series`` behind each contact, (f/k)^(1/(p-1)) + f/series = c, bounds it; inf: there is none.
"""

import numpy as np

from ..kernels import njit


@njit(cache=True)
def law(c, k, p, series):
    """f > 0 of an overlap c > 0: k c^(p-1), eq. 31, with the spring ``series`` behind it."""
    if series == np.inf:
        return k * c if p == 2.0 else k * c ** (p - 1.0)
    q = 1.0 / (p - 1.0)
    f = min(k * c ** (p - 1.0), series * c)
    # (f/k)^q + f/series - c is convex and increasing, and not negative here: Newton descends
    for _ in range(60):
        h = (f / k) ** q
        step = (h + f / series - c) / (q * h / f + 1.0 / series)
        f -= step
        if step <= 1e-15 * f:
            break
    return f


@njit(cache=True, nogil=True)
def forces_of(c, k, p, series):
    """Forces (m,) of the overlaps (m,)."""
    f = np.zeros(len(c))
    for i in range(len(c)):
        if c[i] > 0.0:
            f[i] = law(c[i], k[i], p, series)
    return f


@njit(cache=True, nogil=True)
def tangents(c, f, k, p, series, floor):
    """D = df/dc of closed contacts, with c lifted to ``floor`` [m]; 0 where open."""
    d = np.zeros(len(c))
    for i in range(len(c)):
        if c[i] > 0.0:
            if p == 2.0:
                d[i] = k[i]
            elif series == np.inf:
                d[i] = (p - 1.0) * k[i] * max(c[i], floor) ** (p - 2.0)
            else:
                q = 1.0 / (p - 1.0)
                d[i] = 1.0 / (q * (f[i] / k[i]) ** q / f[i] + 1.0 / series)
    return d


def stretch_to_law(dc: np.ndarray, k: np.ndarray, p: float) -> float:
    """Factor by which overlaps dc (m,) of linear springs k become those of the power law, at the
    largest of their forces."""
    force = k * np.maximum(dc, 0.0)
    return (force.max() / k[force.argmax()]) ** (1 / (p - 1)) / max(dc.max(), 1e-300)
