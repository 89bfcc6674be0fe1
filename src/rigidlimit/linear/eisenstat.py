"""Conjugate gradients for networks of pairs, each step at the cost of little more than a product.

Solves K x = r for K = M + C^T C + e I with the incomplete factorization P' = (I + L') (I + L'^T) of
K' = G' + L' + L'^T (``block_ic0.py``, where the symbols are explained). S. Eisenstat (SIAM J. Sci.
Stat. Comput. 2 (1981) 1): iterate on (I + L')^-1 K' (I + L'^T)^-1, whose product needs one backward
and one forward sweep and no product with K',

    t = (I + L'^T)^-1 p,      q = (I + L')^-1 (p + (G' - 2 I) t),      product: t + q.

Sweeps run over contacts: no block of L is formed. (Two threads, each with half of the bodies and
the contacts between them left to R, took 20 to 40 % more steps and waited for each other: no gain.)
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .block_ic0 import factor
from .blocks import times_lower, times_upper
from .pair_network import PairNetwork


class PairSolver:
    """Incomplete factorization of one K, and conjugate gradients with it."""

    route = "cg"

    def __init__(self, network: PairNetwork, tangent: np.ndarray, shift: float):
        """tangent (m,) >= 0: D. shift: the proximal term e."""
        self.network, self.rows = network, network.active_rows(tangent)
        # rows are divided by R
        self.inverse, self.rest = factor(self.rows, network.mass, shift, network.block)

    def solve(self, rhs: np.ndarray, *, target: float, max_steps: int):
        """(x, steps, |K x - rhs|_inf reached by the running residual)."""
        network = self.network
        x, steps, worst = _descend(
            self.rows, self.inverse, self.rest, network.padded(rhs), target, max_steps,
            network.block,
        )  # fmt: skip
        return network.unpadded(x), steps, worst


@njit(**INNER)
def _backward(rows, r, beta, p, t, block):
    """p = r + beta p, t = (I + L'^T)^-1 p."""
    ptr, lo, up, low = rows
    d = len(block)
    for i in range(len(ptr) - 1):
        for u in range(d):
            p[i, u] = r[i, u] + beta * p[i, u]
            t[i, u] = p[i, u]
    for i in range(len(ptr) - 2, -1, -1):
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            if j >= 0:
                s = 0.0
                for u in range(d):
                    s += up[a, u] * t[i, u]
                for u in range(d):
                    t[np.uint32(j), u] -= s * low[a, u]


@njit(**INNER)
def _forward(rows, rest, p, t, q, block):
    """q = (I + L')^-1 (p + (G' - 2 I) t); returns p . (t + q)."""
    ptr, lo, up, low = rows
    d = len(block)
    w = np.empty(d)
    total = 0.0
    for i in range(len(ptr) - 1):
        at = 0
        for u in range(d):
            w[u] = p[i, u]
            for v in range(u):
                w[u] += rest[i, at] * t[i, v]
                w[v] += rest[i, at] * t[i, u]
                at += 1
            w[u] += rest[i, at] * t[i, u]
            at += 1
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            if j >= 0:
                k = np.uint32(j)
                s = 0.0
                for u in range(d):
                    s += low[a, u] * q[k, u]
                for u in range(d):
                    w[u] -= s * up[a, u]
        for u in range(d):
            q[i, u] = w[u]
            total += p[i, u] * (t[i, u] + w[u])
    return total


@njit(**INNER)
def _advance(alpha, t, q, x, r, block):
    """x += alpha t, r -= alpha (t + q); returns r . r."""
    d = len(block)
    total = 0.0
    for i in range(len(x)):
        for u in range(d):
            x[i, u] += alpha * t[i, u]
            r[i, u] -= alpha * (t[i, u] + q[i, u])
            total += r[i, u] * r[i, u]
    return total


@njit(**INNER)
def _largest(rows, inverse, r, block):
    """|R (I + L') r|_inf, the residual of K x = b."""
    ptr, lo, up, low = rows
    d = len(block)
    worst = 0.0
    y = np.empty(d)
    for i in range(len(ptr) - 1):
        for u in range(d):
            y[u] = r[i, u]
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            if j >= 0:
                s = 0.0
                for u in range(d):
                    s += low[a, u] * r[j, u]
                for u in range(d):
                    y[u] += s * up[a, u]
        for u in range(d):  # R y from R^-1
            s = y[u]
            for v in range(u):
                s -= inverse[i, u, v] * y[v]
            y[u] = s / inverse[i, u, u]
            worst = max(worst, abs(y[u]))
    return worst


@njit(cache=True, nogil=True)
def _begin(rows, inverse, b, r, block):
    """r = (I + L')^-1 R^-1 b; returns r . r."""
    ptr, lo, up, low = rows
    total = 0.0
    for i in range(len(ptr) - 1):
        for u in range(len(block)):
            r[i, u] = b[i, u]
        times_lower(inverse[i], r[i], block)
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            if j >= 0:
                s = 0.0
                for u in range(len(block)):
                    s += low[a, u] * r[j, u]
                for u in range(len(block)):
                    r[i, u] -= s * up[a, u]
        for u in range(len(block)):
            total += r[i, u] * r[i, u]
    return total


@njit(cache=True, nogil=True)
def _descend(rows, inverse, rest, b, target, max_steps, block):
    """x, steps, worst."""
    x, r, p = np.zeros_like(b), np.empty_like(b), np.zeros_like(b)
    t, q = np.empty_like(b), np.empty_like(b)
    worst = 0.0
    for i in range(len(b)):
        for u in range(len(block)):
            if abs(b[i, u]) > worst or np.isnan(b[i, u]):  # NaN stays
                worst = abs(b[i, u])
    rr = _begin(rows, inverse, b, r, block)
    if worst <= target or not rr > 0.0:
        return x, 0, worst
    ratio = worst / np.sqrt(rr)
    beta, since, step = 0.0, 0, 0
    for step in range(1, max_steps + 1):
        _backward(rows, r, beta, p, t, block)
        curvature = _forward(rows, rest, p, t, q, block)
        if not curvature > 0.0:
            break
        new = _advance(rr / curvature, t, q, x, r, block)
        since += 1
        # the residual itself costs half a product: look when it may have arrived
        if np.sqrt(new) * ratio <= 1.5 * target or since == 20 or step == max_steps:
            since = 0
            worst = _largest(rows, inverse, r, block)
            if worst <= target:
                break
            ratio = worst / np.sqrt(new) if new > 0.0 else ratio
        beta, rr = new / rr, new
    times_upper(inverse, x, block)
    return x, step, worst
