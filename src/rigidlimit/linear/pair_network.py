"""Networks of pairs: contacts that touch at most two bodies each, by bodies in an order.

Bodies are numbered by reverse Cuthill-McKee, close to the way load travels from body to body, which
halves the steps of ``eisenstat.py`` against a random numbering.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.csgraph import reverse_cuthill_mckee


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

    def active_rows(self, tangent: np.ndarray) -> tuple[np.ndarray, ...]:
        """(ptr, lo, up, low): ``lower`` and ``upper`` of the contacts with tangent stiffness (m,)
        D > 0, times sqrt(D); those of later body i are ptr[i] ... ptr[i + 1]."""
        D = tangent[self.row]
        return _select(D, self.hi, self.lo, self.upper, self.lower, self.bodies, self.block)

    def padded(self, x: np.ndarray) -> np.ndarray:
        """x (n,) body by body in the elimination order, (bodies, d), with zeros where one has fewer
        columns."""
        out = np.zeros((self.bodies, self.d))
        out.ravel()[self.dof] = x
        return out

    def unpadded(self, x: np.ndarray) -> np.ndarray:
        return x.ravel()[self.dof]


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
