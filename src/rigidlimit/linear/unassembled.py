"""K = M + C^T C + e I by its parts, C = D^(1/2) B of the active contacts: no product is formed."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(ptr, idx, val) of sparse rows."""


class Unassembled(NamedTuple):
    """K (n, n). rows, mass: of C and M; shift: e."""

    rows: Rows
    mass: Rows
    shift: float

    @classmethod
    def of(cls, B: sp.csr_array, M: sp.csr_array, tangent: np.ndarray, shift: float):
        """tangent (m,): D, zero at inactive contacts."""
        active = np.flatnonzero(tangent > 0)
        entries = int((B.indptr[active + 1] - B.indptr[active]).sum())
        ptr = np.zeros(len(active) + 1, np.int64)
        idx = np.empty(entries, B.indices.dtype)
        val = np.empty(entries)
        root = np.sqrt(tangent[active])
        _scaled_rows((B.indptr, B.indices, B.data), active, root, (ptr, idx, val))
        return cls((ptr, idx, val), (M.indptr, M.indices, M.data), shift)

    @property
    def size(self) -> int:
        """n."""
        return len(self.mass[0]) - 1

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        """K x for x (n,)."""
        y = np.empty_like(x)
        _product(self.rows, self.mass, self.shift, x, y)
        return y

    def assembled(self) -> sp.csr_array:
        """K as a sparse matrix."""
        C, n = self._scaled(), self.size
        M = sp.csr_array(self.mass[::-1], shape=(n, n))
        return sp.csr_array(C.T @ C + M + self.shift * sp.eye_array(n))

    def dense(self, *, small: bool) -> np.ndarray:
        """K as a plain array. small: entry by entry; else by a product of plain arrays."""
        n = self.size
        if small:
            return _dense(self.rows, self.mass, self.shift, np.zeros((n, n)))
        C = self._scaled().toarray()
        K = C.T @ C
        K.flat[:: n + 1] += self.shift
        M = sp.csr_array(self.mass[::-1], shape=(n, n))
        return K + M if M.nnz else K

    def _scaled(self) -> sp.csr_array:
        """C."""
        ptr, idx, val = self.rows
        return sp.csr_array((val, idx, ptr), shape=(len(ptr) - 1, self.size))


@njit(cache=True, nogil=True)
def _scaled_rows(B, active, root, out):
    """Rows sqrt(D_i) B_i of the active contacts, packed."""
    (indptr, indices, data), (out_ptr, out_idx, out_val) = B, out
    at = 0
    for a in range(len(active)):
        i = active[a]
        s = root[a]
        for e in range(indptr[i], indptr[i + 1]):
            out_idx[at] = indices[e]
            out_val[at] = s * data[e]
            at += 1
        out_ptr[a + 1] = at


@njit(cache=True, nogil=True)
def _product(rows, mass, shift, x, y):
    """y = (M + C^T C + shift) x."""
    (ptr, idx, val), (mptr, midx, mval) = rows, mass
    n = len(x)
    if len(mval) > 0:
        for j in range(n):
            s = shift * x[j]
            for e in range(mptr[j], mptr[j + 1]):
                s += mval[e] * x[midx[e]]
            y[j] = s
    else:
        for j in range(n):
            y[j] = shift * x[j]
    for a in range(len(ptr) - 1):
        s = 0.0
        for e in range(ptr[a], ptr[a + 1]):
            s += val[e] * x[idx[e]]
        for e in range(ptr[a], ptr[a + 1]):
            y[idx[e]] += s * val[e]


@njit(cache=True, nogil=True)
def _dense(rows, mass, shift, K):
    """K = M + C^T C + shift, (n, n); K holds zeros before."""
    (ptr, idx, val), (mptr, midx, mval) = rows, mass
    for j in range(len(K)):
        K[j, j] += shift
        for e in range(mptr[j], mptr[j + 1]):
            K[j, midx[e]] += mval[e]
    for a in range(len(ptr) - 1):
        for e in range(ptr[a], ptr[a + 1]):
            for g in range(ptr[a], ptr[a + 1]):
                K[idx[e], idx[g]] += val[e] * val[g]
    return K
