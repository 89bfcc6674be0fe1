"""Chosen rows and columns of a sparse matrix in one pass.

scipy takes them one after the other and checks every step, which costs more than the solves of a
scene of a few bodies; here it is one loop.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit


def submatrix(A: sp.csr_array, *, rows=None, columns=None, scale=None) -> sp.csr_array:
    """A[rows][:, columns] diag(scale), A itself if that is all of it.

    rows (r,), columns (c,): ascending indices, all by default; scale (c,): 1 by default. Sorted
    columns stay sorted, and stored zeros stay.
    """
    m, n = A.shape
    rows = None if rows is None or len(rows) == m else rows
    columns = None if columns is None or len(columns) == n else columns
    if rows is None and columns is None and scale is None:
        return A
    rows = np.arange(m) if rows is None else rows
    width = n if columns is None else len(columns)
    if columns is None:
        place = np.arange(n)
    else:
        place = np.full(n, -1)
        place[columns] = np.arange(width)
    starts = np.zeros(len(rows) + 1, A.indptr.dtype)
    most = int((A.indptr[rows + 1] - A.indptr[rows]).sum())
    indices, data = np.empty(most, A.indices.dtype), np.empty(most)
    count = _choose(
        A.indptr, A.indices, A.data, rows, place, np.ones(width) if scale is None else scale,
        starts, indices, data,
    )  # fmt: skip
    if count < most:
        indices, data = indices[:count].copy(), data[:count].copy()
    return sp.csr_array((data, indices, starts), shape=(len(rows), width))


@njit(cache=True)
def _choose(indptr, indices, data, rows, place, scale, out_starts, out_indices, out_data):
    """Fills the last three arrays; returns the number of entries."""
    count = 0
    for r in range(len(rows)):
        for e in range(indptr[rows[r]], indptr[rows[r] + 1]):
            j = place[indices[e]]
            if j >= 0:
                out_indices[count] = j
                out_data[count] = data[e] * scale[j]
                count += 1
        out_starts[r + 1] = count
    return count
