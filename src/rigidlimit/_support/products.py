"""Products with the transpose of a sparse matrix, and with its entries' sizes, without making it.

scipy makes such a matrix first, which costs more than the product: in a scene of a few bodies more
than all else, and in large ones a copy. Sums are the same to the last digit.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit


def transposed_product(A: np.ndarray | sp.csr_array, x: np.ndarray) -> np.ndarray:
    """A^T x (n,) for A (m, n) and x (m,)."""
    if isinstance(A, np.ndarray):
        return A.T @ x
    out = np.zeros(A.shape[1])
    _onto_columns(A.indptr, A.indices, A.data, np.ascontiguousarray(x, float), out)
    return out


def absolute_product(A: sp.csr_array, x: np.ndarray) -> np.ndarray:
    """|A| |x| (m,), entry by entry, for A (m, n) and x (n,): what rounding of A x goes with."""
    out = np.empty(A.shape[0])
    _terms(A.indptr, A.indices, A.data, np.ascontiguousarray(x, float), out)
    return out


@njit(cache=True, nogil=True)
def _terms(indptr, indices, data, x, out):
    for i in range(len(out)):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += abs(data[e] * x[np.uint64(indices[e])])
        out[i] = total


@njit(cache=True, nogil=True)
def _onto_columns(indptr, indices, data, x, out):
    for i in range(len(x)):
        if x[i] != 0.0:
            for e in range(indptr[i], indptr[i + 1]):
                out[np.uint64(indices[e])] += data[e] * x[i]  # unsigned: none is negative
