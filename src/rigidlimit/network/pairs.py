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

S. Eisenstat (SIAM J. Sci. Stat. Comput. 2 (1981) 1): iterate on (E + L)^-1 K (E + L^T)^-1, whose
product needs one backward and one forward sweep and no product with K,

    t = (E + L^T)^-1 p,      q = t + (E + L)^-1 (p + (G - 2 E) t).

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

from .blocks import invert_block

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
        return PairSolver(self, tangent, shift)


class PairSolver:
    """Incomplete factorization of one K, and conjugate gradients with it."""

    def __init__(self, network: PairNetwork, tangent: np.ndarray, shift: float):
        self.network = network
        self.contacts = _select(
            tangent[network.row],
            network.hi,
            network.lo,
            network.upper,
            network.lower,
            network.bodies,
            network.block,
        )
        self.blocks = _factor(*self.contacts, network.mass, shift, network.block)

    def solve(self, rhs: np.ndarray, *, target: float, max_steps: int):
        """(x, steps, |K x - rhs|_inf reached by the running residual)."""
        network = self.network
        b = np.zeros((network.bodies, network.d))
        b.ravel()[network.dof] = rhs
        x, steps, worst = _descend(
            *self.contacts, *self.blocks, b, target, max_steps, network.block
        )
        return x.ravel()[network.dof], steps, worst


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
def _subtract(up, low, inverse, E, block):
    """E -= L E_j^-1 L^T with L the sum of the outer products of up and low, (contacts, d)."""
    d = len(block)
    L = np.zeros((d, d))
    for p in range(len(up)):
        for u in range(d):
            for v in range(d):
                L[u, v] += up[p, u] * low[p, v]
    row = np.empty(d)
    for u in range(d):
        for v in range(d):
            row[v] = 0.0
            for w in range(d):
                row[v] += L[u, w] * inverse[w, v]
        for v in range(d):
            for w in range(d):
                E[u, v] -= row[w] * L[v, w]


@njit(cache=True, nogil=True)
def _factor(ptr, lo, up, low, mass, shift, block):
    """(E, E^-1, G - 2 E)."""
    d = len(block)
    n = len(ptr) - 1
    G = mass.copy()
    for i in range(n):
        for u in range(d):
            G[i, u, u] += shift
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            for u in range(d):
                for v in range(d):
                    G[i, u, v] += up[a, u] * up[a, v]
                    if j >= 0:
                        G[j, u, v] += low[a, u] * low[a, v]
    E = G.copy()
    for i in range(n):
        top = 0.0
        for u in range(d):
            top = max(top, G[i, u, u])
        for u in range(d):
            E[i, u, u] += LIFT * top
    inverse = np.zeros_like(G)
    L = np.zeros((d, d))
    for i in range(n):
        a = ptr[i]
        while a < ptr[i + 1]:
            j = lo[a]
            stop = a + 1
            while stop < ptr[i + 1] and lo[stop] == j:
                stop += 1
            if j >= 0 and stop - a <= FEW:
                # contact by contact of this pair of bodies: L_ij E_j^-1 L_ij^T
                for p in range(a, stop):
                    for q in range(a, stop):
                        s = 0.0
                        for u in range(d):
                            t = 0.0
                            for v in range(d):
                                t += inverse[j, u, v] * low[q, v]
                            s += low[p, u] * t
                        for u in range(d):
                            for v in range(d):
                                E[i, u, v] -= up[p, u] * s * up[q, v]
            elif j >= 0:
                _subtract(up[a:stop], low[a:stop], inverse[j], E[i], block)
            a = stop
        invert_block(E[i], inverse[i], L, d)
    for i in range(n):
        for u in range(d):
            for v in range(d):
                G[i, u, v] -= 2.0 * E[i, u, v]
    return E, inverse, G


@njit(cache=True, nogil=True)
def _forward(ptr, lo, up, low, inverse, w, q, block):
    """q = (E + L)^-1 w."""
    d = len(block)
    rest = np.empty(d)
    for i in range(len(ptr) - 1):
        for u in range(d):
            rest[u] = w[i, u]
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            if j >= 0:
                k = np.uint32(j)
                s = 0.0
                for u in range(d):
                    s += low[a, u] * q[k, u]
                for u in range(d):
                    rest[u] -= s * up[a, u]
        for u in range(d):
            s = 0.0
            for v in range(d):
                s += inverse[i, u, v] * rest[v]
            q[i, u] = s


@njit(cache=True, nogil=True)
def _backward(ptr, lo, up, low, inverse, p, t, carried, block):
    """t = (E + L^T)^-1 p; carried is work space."""
    d = len(block)
    for i in range(len(ptr) - 1):
        for u in range(d):
            carried[i, u] = p[i, u]
    for i in range(len(ptr) - 2, -1, -1):
        for u in range(d):
            s = 0.0
            for v in range(d):
                s += inverse[i, u, v] * carried[i, v]
            t[i, u] = s
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            if j >= 0:
                s = 0.0
                for u in range(d):
                    s += up[a, u] * t[i, u]
                for u in range(d):
                    carried[np.uint32(j), u] -= s * low[a, u]


@njit(cache=True, nogil=True)
def _largest(ptr, lo, up, low, E, r, block):
    """|(E + L) r|_inf, the residual of K x = b."""
    d = len(block)
    worst = 0.0
    y = np.empty(d)
    for i in range(len(ptr) - 1):
        for u in range(d):
            s = 0.0
            for v in range(d):
                s += E[i, u, v] * r[i, v]
            y[u] = s
        for a in range(ptr[i], ptr[i + 1]):
            j = lo[a]
            if j >= 0:
                s = 0.0
                for u in range(d):
                    s += low[a, u] * r[j, u]
                for u in range(d):
                    y[u] += s * up[a, u]
        for u in range(d):
            worst = max(worst, abs(y[u]))
    return worst


@njit(cache=True, nogil=True)
def _inner(W, p, t, w, block):
    """w = p + W t."""
    d = len(block)
    for i in range(len(p)):
        for u in range(d):
            s = p[i, u]
            for v in range(d):
                s += W[i, u, v] * t[i, v]
            w[i, u] = s


@njit(cache=True, nogil=True)
def _outer(t, q, p, block):
    """q += t; returns p . q."""
    d = len(block)
    s = 0.0
    for i in range(len(p)):
        for u in range(d):
            q[i, u] += t[i, u]
            s += p[i, u] * q[i, u]
    return s


@njit(cache=True, nogil=True)
def _advance(alpha, t, q, E, x, r, z, block):
    """x += alpha t, r -= alpha q, z = E r; returns r . z."""
    d = len(block)
    total = 0.0
    for i in range(len(x)):
        for u in range(d):
            x[i, u] += alpha * t[i, u]
            r[i, u] -= alpha * q[i, u]
        for u in range(d):
            s = 0.0
            for v in range(d):
                s += E[i, u, v] * r[i, v]
            z[i, u] = s
            total += s * r[i, u]
    return total


@njit(cache=True, nogil=True)
def _turn(beta, z, p, block):
    """p = z + beta p."""
    d = len(block)
    for i in range(len(p)):
        for u in range(d):
            p[i, u] = z[i, u] + beta * p[i, u]


@njit(cache=True, nogil=True)
def _descend(ptr, lo, up, low, E, inverse, W, b, target, max_steps, block):
    """x, steps, worst."""
    d = len(block)
    x = np.zeros_like(b)
    r = np.zeros_like(b)
    z = np.zeros_like(b)
    p = np.zeros_like(b)
    t = np.zeros_like(b)
    w = np.zeros_like(b)
    q = np.zeros_like(b)
    _forward(ptr, lo, up, low, inverse, b, r, block)
    rz = _advance(0.0, t, q, E, x, r, z, block)
    worst = 0.0
    for i in range(len(b)):
        for u in range(d):
            worst = max(worst, abs(b[i, u]))
    if worst <= target or not rz > 0.0:
        return x, 0, worst
    _turn(0.0, z, p, block)
    ratio = worst / np.sqrt(rz)
    since = 0
    for step in range(1, max_steps + 1):
        _backward(ptr, lo, up, low, inverse, p, t, w, block)
        _inner(W, p, t, w, block)
        _forward(ptr, lo, up, low, inverse, w, q, block)
        pq = _outer(t, q, p, block)
        if not pq > 0.0:
            return x, step, worst
        new = _advance(rz / pq, t, q, E, x, r, z, block)
        since += 1
        # the residual itself costs half a product: look when it may have arrived
        if np.sqrt(new) * ratio <= 1.5 * target or since == 20 or step == max_steps:
            since = 0
            worst = _largest(ptr, lo, up, low, E, r, block)
            if worst <= target:
                return x, step, worst
            ratio = worst / np.sqrt(new) if new > 0.0 else ratio
        _turn(new / rz, z, p, block)
        rz = new
    return x, max_steps, worst
