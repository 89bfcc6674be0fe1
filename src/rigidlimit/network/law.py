"""The law of a no-tension contact, f = k max(0, c)^(p-1) (eq. 31), as kernels."""

import numpy as np
from numba import njit


@njit(cache=True)
def law(c, k, p):
    """f > 0 of an overlap c > 0: k c^(p-1), eq. 31."""
    return k * c if p == 2.0 else k * c ** (p - 1.0)


@njit(cache=True, nogil=True)
def forces_of(c, k, p):
    """Forces (m,) of the overlaps (m,)."""
    f = np.zeros(len(c))
    for i in range(len(c)):
        if c[i] > 0.0:
            f[i] = law(c[i], k[i], p)
    return f


@njit(cache=True, nogil=True)
def tangents(c, k, p, floor):
    """D = df/dc of closed contacts, with c lifted to ``floor`` [m]; 0 where open."""
    d = np.zeros(len(c))
    for i in range(len(c)):
        if c[i] > 0.0:
            d[i] = k[i] if p == 2.0 else (p - 1.0) * k[i] * max(c[i], floor) ** (p - 2.0)
    return d


def stretch_to_law(dc: np.ndarray, k: np.ndarray, p: float) -> float:
    """Factor by which overlaps dc (m,) of linear springs k become those of the power law, at the
    largest of their forces."""
    force = k * np.maximum(dc, 0.0)
    return (force.max() / k[force.argmax()]) ** (1 / (p - 1)) / max(dc.max(), 1e-300)
