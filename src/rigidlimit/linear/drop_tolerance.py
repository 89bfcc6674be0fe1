"""Conjugate gradients for networks of pairs whose contacts are of very unlike stiffness.

Solves K x = r for K = M + C^T C + e I as ``block_ic0.py`` does, by an incomplete factorization that
keeps what is large instead of what is there. Where some contacts are a thousand times as stiff as
others, a body that is eliminated couples its stiff neighbours far more firmly than their own soft
contacts do, and most of these hardly matter: the blocks kept are half as many as the contacts, and
take a third to a fifth of the steps.

With the diagonal blocks G = Q Q^T of K (lifted a little, ``LIFT``), everything is in terms of

    K' = Q^-1 K Q^-T,    x' = Q^T x,    r' = Q^-1 r,

whose diagonal blocks are the identity, so that stiff and soft directions of a body compare.
``drop_tolerance_factor.py`` factorizes K' without blocks smaller than ``DROPPED``, to the diagonal
blocks of both bodies ``COMPENSATED`` of what keeps P positive for certain. A part of that takes
fewer steps than the whole; where E is not positive then, it is made anew with the whole.
"""

import numpy as np
from numba import njit

from .blocks import (
    cholesky_of_block,
    diagonal_blocks,
    invert_lower,
    times_lower,
    times_upper,
)
from .drop_tolerance_factor import LIFT, by_columns, factor

DROPPED = 0.05
"""Frobenius norm of the blocks of L that are left out, those on the diagonal having one of 1 in
each direction."""

COMPENSATED = 0.3
"""Part of what would keep P positive that is added for blocks dropped."""

LOOK = 4
"""Steps from one look at the residual to the next, near the end."""


class ThresholdSolver:
    """Incomplete factorization of one K, and conjugate gradients with it.

    contacts: (ptr, lo, up, low), the active contacts scaled by sqrt(D), of a ``PairNetwork``; up
    and low are changed.
    """

    route = "threshold cg"

    def __init__(self, network, contacts, shift: float):
        self.network, block = network, network.block
        ptr, lo, up, low = contacts
        root, inverse, rest = _whiten(ptr, lo, up, low, network.mass, shift, block)
        self.whitened = ptr, lo, up, low, rest
        self.root, self.inverse = root, inverse
        first, order, hi = by_columns(ptr, lo)
        for part in (COMPENSATED, 1.0):
            *self.factor, positive = factor(first, order, hi, up, low, DROPPED, part, block)
            if positive:
                break

    def solve(self, rhs: np.ndarray, *, target: float, max_steps: int):
        """(x, steps, |K x - rhs|_inf reached by the running residual)."""
        network = self.network
        x, steps, worst = _descend(
            *self.whitened, *self.factor, self.root, self.inverse, network.padded(rhs), target,
            max_steps, network.block,
        )  # fmt: skip
        return network.unpadded(x), steps, worst


@njit(cache=True, nogil=True)
def _whiten(ptr, lo, up, low, mass, shift, block):
    """(Q, Q^-1, Q^-1 (M + e I) Q^-T), (bodies, d, d); up and low become those of K'."""
    d = len(block)
    n = len(ptr) - 1
    rest = mass.copy()
    for i in range(n):
        for u in range(d):
            rest[i, u, u] += shift
    G = diagonal_blocks(ptr, lo, up, low, mass, shift, block)
    root = np.zeros((n, d, d))
    inverse = np.zeros((n, d, d))
    for i in range(n):
        top = 0.0
        for u in range(d):
            top = max(top, G[i, u, u])
        for u in range(d):
            G[i, u, u] += LIFT * top
        cholesky_of_block(G[i], root[i], d)
        invert_lower(root[i], inverse[i], d)
        for _ in range(2):  # the columns, then those of the transpose
            for v in range(d):
                times_lower(inverse[i], rest[i, :, v], block)
            for u in range(d):
                for v in range(u):
                    s = rest[i, u, v]
                    rest[i, u, v] = rest[i, v, u]
                    rest[i, v, u] = s
    for i in range(n):
        for a in range(ptr[i], ptr[i + 1]):
            times_lower(inverse[i], up[a], block)
            if lo[a] >= 0:
                times_lower(inverse[lo[a]], low[a], block)
    return root, inverse, rest


@njit(cache=True, nogil=True)
def _precondition(start, row, U, inverse, r, z, block):
    """z = P^-1 r, P = (1 + U) E (1 + U^T); returns r . z."""
    d = len(block)
    n = len(r)
    y = np.empty(d)
    for i in range(n):
        for u in range(d):
            z[i, u] = r[i, u]
    for j in range(n):
        if d == 3:  # in registers, bodies that do not turn
            y0, y1, y2 = z[j, 0], z[j, 1], z[j, 2]
            for b in range(start[j], start[j + 1]):
                i = row[b]
                z[i, 0] -= U[b, 0, 0] * y0 + U[b, 0, 1] * y1 + U[b, 0, 2] * y2
                z[i, 1] -= U[b, 1, 0] * y0 + U[b, 1, 1] * y1 + U[b, 1, 2] * y2
                z[i, 2] -= U[b, 2, 0] * y0 + U[b, 2, 1] * y1 + U[b, 2, 2] * y2
            continue
        for u in range(d):
            y[u] = z[j, u]
        for b in range(start[j], start[j + 1]):
            i = row[b]
            for u in range(d):
                s = 0.0
                for v in range(d):
                    s += U[b, u, v] * y[v]
                z[i, u] -= s
    total = 0.0
    for j in range(n - 1, -1, -1):
        for u in range(d):
            s = 0.0
            for v in range(d):
                s += inverse[j, u, v] * z[j, v]
            y[u] = s
        if d == 3:
            y0, y1, y2 = y[0], y[1], y[2]
            for b in range(start[j], start[j + 1]):
                i = row[b]
                z0, z1, z2 = z[i, 0], z[i, 1], z[i, 2]
                y0 -= U[b, 0, 0] * z0 + U[b, 1, 0] * z1 + U[b, 2, 0] * z2
                y1 -= U[b, 0, 1] * z0 + U[b, 1, 1] * z1 + U[b, 2, 1] * z2
                y2 -= U[b, 0, 2] * z0 + U[b, 1, 2] * z1 + U[b, 2, 2] * z2
            y[0], y[1], y[2] = y0, y1, y2
        else:
            for b in range(start[j], start[j + 1]):
                i = row[b]
                for v in range(d):
                    s = 0.0
                    for u in range(d):
                        s += U[b, u, v] * z[i, u]
                    y[v] -= s
        for u in range(d):
            z[j, u] = y[u]
            total += y[u] * r[j, u]
    return total


@njit(cache=True, nogil=True)
def _product(ptr, lo, up, low, rest, p, q, block):
    """q = K' p; returns p . q."""
    d = len(block)
    total = 0.0
    for i in range(len(p)):
        for u in range(d):
            s = 0.0
            for v in range(d):
                s += rest[i, u, v] * p[i, v]
            q[i, u] = s
            total += s * p[i, u]
    mine = np.empty(d)
    for i in range(len(p)):
        if d == 3:
            p0, p1, p2 = p[i, 0], p[i, 1], p[i, 2]
            q0, q1, q2 = 0.0, 0.0, 0.0
            for a in range(ptr[i], ptr[i + 1]):
                j = lo[a]
                s = up[a, 0] * p0 + up[a, 1] * p1 + up[a, 2] * p2
                if j >= 0:
                    k = np.uint32(j)
                    s += low[a, 0] * p[k, 0] + low[a, 1] * p[k, 1] + low[a, 2] * p[k, 2]
                    q[k, 0] += s * low[a, 0]
                    q[k, 1] += s * low[a, 1]
                    q[k, 2] += s * low[a, 2]
                total += s * s
                q0 += s * up[a, 0]
                q1 += s * up[a, 1]
                q2 += s * up[a, 2]
            q[i, 0] += q0
            q[i, 1] += q1
            q[i, 2] += q2
            continue
        for u in range(d):
            mine[u] = 0.0
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            s = 0.0
            for u in range(d):
                s += up[a, u] * p[i, u]
            if j >= 0:
                k = np.uint32(j)
                for u in range(d):
                    s += low[a, u] * p[k, u]
                for u in range(d):
                    q[k, u] += s * low[a, u]
            total += s * s
            for u in range(d):
                mine[u] += s * up[a, u]
        for u in range(d):
            q[i, u] += mine[u]
    return total


@njit(cache=True, nogil=True)
def _largest(root, r, block):
    """|Q r|_inf."""
    d = len(block)
    worst = 0.0
    for i in range(len(r)):
        for u in range(d):
            s = 0.0
            for v in range(u + 1):
                s += root[i, u, v] * r[i, v]
            worst = max(worst, abs(s))
    return worst


@njit(cache=True, nogil=True)
def _advance(alpha, p, q, x, r, block):
    """x += alpha p, r -= alpha q."""
    for i in range(len(p)):
        for u in range(len(block)):
            x[i, u] += alpha * p[i, u]
            r[i, u] -= alpha * q[i, u]


@njit(cache=True, nogil=True)
def _descend(
    ptr, lo, up, low, rest, start, row, L, E_inverse, root, root_inverse, b, target, max_steps,
    block,
):  # fmt: skip
    """x, steps, worst."""
    d = len(block)
    n = len(b)
    x = np.zeros_like(b)
    r = b.copy()
    z = np.zeros_like(b)
    p = np.zeros_like(b)
    q = np.zeros_like(b)
    worst = 0.0
    for i in range(n):
        for u in range(d):
            worst = max(worst, abs(r[i, u]))
        times_lower(root_inverse[i], r[i], block)
    steps = 0
    if worst > target:
        rz = _precondition(start, row, L, E_inverse, r, z, block)
        ratio = worst / np.sqrt(rz) if rz > 0.0 else 0.0
        for i in range(n):
            for u in range(d):
                p[i, u] = z[i, u]
        since = 0
        while steps < max_steps and rz > 0.0:
            pq = _product(ptr, lo, up, low, rest, p, q, block)
            steps += 1
            if not pq > 0.0:
                break
            _advance(rz / pq, p, q, x, r, block)
            since += 1
            new = _precondition(start, row, L, E_inverse, r, z, block)
            near = np.sqrt(max(new, 0.0)) * ratio <= 3.0 * target
            if near or since == LOOK or steps == max_steps:
                since = 0
                worst = _largest(root, r, block)
                if worst <= target:
                    break
                ratio = worst / np.sqrt(new) if new > 0.0 else ratio
            beta = new / rz
            rz = new
            for i in range(n):
                for u in range(d):
                    p[i, u] = z[i, u] + beta * p[i, u]
    times_upper(root_inverse, x, block)  # x = Q^-T x'
    return x, steps, worst
