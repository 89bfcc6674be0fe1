"""Conjugate gradients for networks of pairs, each step at the cost of little more than a product.

Solves K x = r for K = M + C^T C + e I, where every row of C = sqrt(D) B touches the blocks of at
most two bodies and M is block diagonal. With the bodies in an order, K = G + L + L^T: diagonal
blocks G, lower blocks L. The preconditioner is the incomplete factorization

    P = (E + L) E^-1 (E + L^T),      E_i = G_i - sum over j < i of L_ij E_j^-1 L_ij^T,

whose diagonal blocks agree with those of K (G_i lifted a little, ``LIFT``). Elimination of body j
leaves a contact (i, j) with the stiffness of the contact in series with what carries j, so E_i >=
the stiffness of the contacts to later bodies: E exists for every network, whatever the active set
(for a general matrix it may not). D. Kershaw, J. Comput. Phys. 26 (1978) 43, with blocks and
dropped fill.

With E_i = R_i R_i^T, in the unknowns R^T x and with the rows of C divided by R, E is the identity
and no block of it is ever read again:

    K' = R^-1 K R^-T = G' + L' + L'^T,    P' = (I + L') (I + L'^T),    G' = R^-1 G R^-T.

S. Eisenstat (SIAM J. Sci. Stat. Comput. 2 (1981) 1): iterate on (I + L')^-1 K' (I + L'^T)^-1, whose
product needs one backward and one forward sweep and no product with K',

    t = (I + L'^T)^-1 p,      q = (I + L')^-1 (p + (G' - 2 I) t),      product: t + q.

Sweeps run over contacts: a block of L is a sum of outer products and is never formed. Bodies are
numbered by reverse Cuthill-McKee, close to the way load travels from body to body, which halves
the steps against a random numbering. (Two threads, each with half of the bodies and the contacts
between them left to R, took 20 to 40 % more steps and waited for each other: no gain.)

Every kernel takes a tuple ``block`` of d entries. Its length is part of its type, so that d is a
constant to the compiler; and unlike kernels made by a function for each d, which capture one
another, these are found again in the cache on disk by the next process.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.csgraph import reverse_cuthill_mckee

from .blocks import (
    add_outer,
    cholesky_of_block,
    diagonal_blocks,
    invert_lower,
    times_lower,
    times_upper,
)

LIFT = 1e-7
"""Part of its largest diagonal entry by which a block G is lifted before E. E^-1 cancels in
L_ij E_j^-1 L_ij^T; in soft networks, which only the shift holds, rounding would grow from body to
body until E is no longer positive."""

FEW = 2
"""Contacts of one pair of bodies up to which their block L_ij is not formed."""


class PairNetwork:
    """Static structure: contacts sorted by (later body, earlier body) in the elimination order.

    hi, lo (m,): the two bodies in that order, lo -1 where there is one only. upper, lower (m, d):
    the row of B on them. row (m,): where it stood in B. dof (n,): place of each column in the
    padded vector (bodies, d).
    """

    def __init__(self, B: sp.csr_array, starts: np.ndarray, mass: sp.csr_array):
        bodies = len(starts) - 1
        sizes = np.diff(starts)
        d = self.d = int(sizes.max(initial=1))
        block_of = np.repeat(np.arange(bodies), sizes)
        first, last, self.serves = _ends(B.indptr, B.indices, block_of)
        if mass.nnz:
            self.serves = self.serves and _block_diagonal(mass.indptr, mass.indices, block_of)
        if not self.serves:
            return
        joins = first < last
        graph = sp.csr_array(
            (np.ones(joins.sum(), np.int8), (last[joins], first[joins])), shape=(bodies, bodies)
        )
        order = reverse_cuthill_mckee(sp.csr_array(graph + graph.T), symmetric_mode=True)
        place = np.empty(bodies, np.int64)
        place[order] = np.arange(bodies)
        self.dof = place[block_of] * d + np.arange(B.shape[1]) - starts[block_of]
        self.bodies = bodies
        touched = first >= 0
        a = np.where(touched, place[first], 0)
        b = np.where(touched, place[last], 0)
        hi, lo = np.maximum(a, b), np.where(joins, np.minimum(a, b), -1)
        self.row = np.lexsort((lo, hi))
        self.row = self.row[touched[self.row]]
        self.hi = hi[self.row].astype(np.int32)
        self.lo = lo[self.row].astype(np.int32)
        self.block = (0,) * d
        self.upper, self.lower = _gather(
            B.indptr, B.indices, B.data, self.row, self.hi, self.dof, self.block
        )
        self.mass = np.zeros((bodies, d, d))
        if mass.nnz:
            coo = mass.tocoo()
            np.add.at(
                self.mass, (self.dof[coo.row] // d, self.dof[coo.row] % d, self.dof[coo.col] % d),
                coo.data,
            )  # fmt: skip

    def solver(self, tangent: np.ndarray, shift: float) -> "PairSolver":
        """The solver for stiffness D = ``tangent`` (m,) >= 0 and the proximal term e = shift."""
        contacts = _select(
            tangent[self.row], self.hi, self.lo, self.upper, self.lower, self.bodies, self.block
        )
        return PairSolver(self, contacts, shift)

    def padded(self, x: np.ndarray) -> np.ndarray:
        """x (n,) body by body in the elimination order, (bodies, d), with zeros where one has fewer
        columns."""
        out = np.zeros((self.bodies, self.d))
        out.ravel()[self.dof] = x
        return out

    def unpadded(self, x: np.ndarray) -> np.ndarray:
        return x.ravel()[self.dof]


class PairSolver:
    """Incomplete factorization of one K, and conjugate gradients with it.

    contacts: (ptr, lo, up, low), the active contacts scaled by sqrt(D); up and low are changed.
    """

    route = "cg"

    def __init__(self, network: PairNetwork, contacts, shift: float):
        self.network = network
        self.inverse, self.rest = _factor(*contacts, network.mass, shift, network.block)
        self.contacts = contacts  # rows divided by R

    def solve(self, rhs: np.ndarray, *, target: float, max_steps: int):
        """(x, steps, |K x - rhs|_inf reached by the running residual)."""
        network = self.network
        x, steps, worst = _descend(
            *self.contacts, self.inverse, self.rest, network.padded(rhs), target, max_steps,
            network.block,
        )  # fmt: skip
        return network.unpadded(x), steps, worst


def body_rows(B: sp.csr_array, starts: np.ndarray):
    """Rows of B (m, n) by bodies: first, second (m,), and on_first, on_second (m, d).

    d is the largest number of columns of a body; those of smaller ones are padded with zeros.
    second is len(starts) - 1 where a row touches one body only; None if a row touches three.
    """
    sizes = np.diff(starts)
    d = int(sizes.max(initial=1))
    bodies = len(sizes)
    block_of = np.repeat(np.arange(bodies), sizes)
    first, last, pairs = _ends(B.indptr, B.indices, block_of)
    if not pairs:
        return None
    last = np.maximum(last, 0)  # rows without entries
    here, there = _gather(
        B.indptr,
        B.indices,
        B.data,
        np.arange(B.shape[0]),
        last.astype(np.int32),
        block_of * d + np.arange(B.shape[1]) - starts[block_of],
        (0,) * d,
    )
    return last, np.where(first < last, np.maximum(first, 0), bodies), here, there


@njit(cache=True, nogil=True)
def _ends(indptr, indices, block_of):
    """First and last block of every row (-1 if empty), and whether no row has a third."""
    m = len(indptr) - 1
    first = np.full(m, -1)
    last = np.full(m, -1)
    fine = True
    for i in range(m):
        for e in range(indptr[i], indptr[i + 1]):
            b = block_of[indices[e]]
            if first[i] < 0:
                first[i] = b
                last[i] = b
            elif b != first[i] and b != last[i]:
                if first[i] != last[i]:
                    fine = False
                first[i] = min(first[i], b)
                last[i] = max(last[i], b)
    return first, last, fine


@njit(cache=True, nogil=True)
def _block_diagonal(indptr, indices, block_of):
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if block_of[indices[e]] != block_of[i]:
                return False
    return True


@njit(cache=True, nogil=True)
def _gather(indptr, indices, data, row, hi, dof, block):
    d = len(block)
    m = len(row)
    upper = np.zeros((m, d))
    lower = np.zeros((m, d))
    for a in range(m):
        i = row[a]
        for e in range(indptr[i], indptr[i + 1]):
            at = dof[indices[e]]
            if at // d == hi[a]:
                upper[a, at % d] = data[e]
            else:
                lower[a, at % d] = data[e]
    return upper, lower


@njit(cache=True, nogil=True)
def _select(D, hi, lo, upper, lower, bodies, block):
    """The active contacts, scaled by sqrt(D); those of later body i are ptr[i]..ptr[i+1]."""
    d = len(block)
    m = len(D)
    count = 0
    for a in range(m):
        count += D[a] > 0.0
    ptr = np.zeros(bodies + 1, np.uint32)
    to = np.empty(count, np.int32)
    up = np.empty((count, d))
    low = np.empty((count, d))
    at = 0
    for a in range(m):
        if D[a] > 0.0:
            s = np.sqrt(D[a])
            ptr[hi[a] + 1] += np.uint32(1)
            to[at] = lo[a]
            for u in range(d):
                up[at, u] = s * upper[a, u]
                low[at, u] = s * lower[a, u]
            at += 1
    for i in range(bodies):
        ptr[i + 1] += ptr[i]
    return ptr, to, up, low


@njit(cache=True, nogil=True)
def _passed_on(up, low, S, block):
    """S += L_ij E_j^-1 L_ij^T (lower triangle) by the contacts of one pair, rows (contacts, d);
    low divided by R_j."""
    d = len(block)
    if len(up) <= FEW:
        for p in range(len(up)):
            for q in range(len(up)):
                s = 0.0
                for u in range(d):
                    s += low[p, u] * low[q, u]
                add_outer(S, up[p], up[q], s, block)
        return
    L = np.zeros((d, d))
    for p in range(len(up)):
        for u in range(d):
            for v in range(d):
                L[u, v] += up[p, u] * low[p, v]
    for u in range(d):
        for v in range(u + 1):
            for w in range(d):
                S[u, v] += L[u, w] * L[v, w]


@njit(cache=True, nogil=True)
def _factor(ptr, lo, up, low, mass, shift, block):
    """R^-1 (bodies, d, d) and G' - 2 I, lower triangles row by row; up and low are divided by R."""
    d = len(block)
    n = len(ptr) - 1
    G = diagonal_blocks(ptr, lo, up, low, mass, shift, block)
    inverse = np.zeros_like(G)
    rest = np.empty((n, d * (d + 1) // 2))
    S, E = np.empty((d, d)), np.empty((d, d))
    R, T = np.empty((d, d)), np.empty((d, d))
    for i in range(n):
        for u in range(d):
            for v in range(d):
                S[u, v] = 0.0  # what elimination of earlier bodies takes from G
        a = ptr[i]
        while a < ptr[i + 1]:
            j = lo[a]
            stop = a + 1
            while stop < ptr[i + 1] and lo[stop] == j:
                stop += 1
            if j >= 0:
                for p in range(a, stop):
                    times_lower(inverse[j], low[p], block)
                if stop == a + 1:
                    s = 0.0
                    for u in range(d):
                        s += low[a, u] * low[a, u]
                    add_outer(S, up[a], up[a], s, block)
                else:
                    _passed_on(up[a:stop], low[a:stop], S, block)
            a = stop
        top = 0.0
        for u in range(d):
            top = max(top, G[i, u, u])
        for u in range(d):
            for v in range(u + 1):
                E[u, v] = G[i, u, v] - S[u, v]
            E[u, u] += LIFT * top
        cholesky_of_block(E, R, d)
        invert_lower(R, inverse[i], d)
        for a in range(ptr[i], ptr[i + 1]):
            if lo[a] >= 0:
                times_lower(inverse[i], up[a], block)
        for u in range(d):  # T = R^-1 G
            for v in range(d):
                s = 0.0
                for w in range(u + 1):
                    s += inverse[i, u, w] * (G[i, w, v] if w >= v else G[i, v, w])
                T[u, v] = s
        at = 0
        for u in range(d):
            for v in range(u + 1):
                s = -2.0 if u == v else 0.0
                for w in range(v + 1):
                    s += T[u, w] * inverse[i, v, w]
                rest[i, at] = s
                at += 1
    return inverse, rest


@njit(cache=True, nogil=True)
def _backward(ptr, lo, up, low, r, beta, p, t, block):
    """p = r + beta p, t = (I + L'^T)^-1 p."""
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


@njit(cache=True, nogil=True)
def _forward(ptr, lo, up, low, rest, p, t, q, block):
    """q = (I + L')^-1 (p + (G' - 2 I) t); returns p . (t + q)."""
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _largest(ptr, lo, up, low, inverse, r, block):
    """|R (I + L') r|_inf, the residual of K x = b."""
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
def _begin(ptr, lo, up, low, inverse, b, r, block):
    """r = (I + L')^-1 R^-1 b; returns r . r."""
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
def _descend(ptr, lo, up, low, inverse, rest, b, target, max_steps, block):
    """x, steps, worst."""
    x, r, p = np.zeros_like(b), np.empty_like(b), np.zeros_like(b)
    t, q = np.empty_like(b), np.empty_like(b)
    worst = 0.0
    for i in range(len(b)):
        for u in range(len(block)):
            if abs(b[i, u]) > worst or np.isnan(b[i, u]):  # NaN stays
                worst = abs(b[i, u])
    rr = _begin(ptr, lo, up, low, inverse, b, r, block)
    if worst <= target or not rr > 0.0:
        return x, 0, worst
    ratio = worst / np.sqrt(rr)
    beta, since, step = 0.0, 0, 0
    for step in range(1, max_steps + 1):
        _backward(ptr, lo, up, low, r, beta, p, t, block)
        curvature = _forward(ptr, lo, up, low, rest, p, t, q, block)
        if not curvature > 0.0:
            break
        new = _advance(rr / curvature, t, q, x, r, block)
        since += 1
        # the residual itself costs half a product: look when it may have arrived
        if np.sqrt(new) * ratio <= 1.5 * target or since == 20 or step == max_steps:
            since = 0
            worst = _largest(ptr, lo, up, low, inverse, r, block)
            if worst <= target:
                break
            ratio = worst / np.sqrt(new) if new > 0.0 else ratio
        beta, rr = new / rr, new
    times_upper(inverse, x, block)
    return x, step, worst
