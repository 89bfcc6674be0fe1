"""Chosen rows and columns of a sparse matrix in one pass.

scipy takes them one after the other and checks every step, which costs more than the solves of a
scene of a few bodies; here it is one loop.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

from .arrays import with_short_indices


def submatrix(
    A: sp.csr_array,
    *,
    rows: np.ndarray | None = None,
    columns: np.ndarray | None = None,
    scale: np.ndarray | None = None,
) -> sp.csr_array:
    """A[rows][:, columns] diag(scale), A itself if that is all of it.

    rows (r,), columns (c,): ascending indices, all by default; scale (c,): 1 by default. Sorted
    columns stay sorted, and stored zeros stay.
    """
    m, n = A.shape
    rows = None if rows is None or len(rows) == m else rows
    columns = None if columns is None or len(columns) == n else columns
    if rows is None and columns is None and scale is None:
        return A
    A = with_short_indices(A)
    # made here: numpy's ufunc.at is slow on arrays whose type came from a compiled function
    height, width = m if rows is None else len(rows), n if columns is None else len(columns)
    starts = np.zeros(height + 1, A.indptr.dtype)
    most = A.nnz if rows is None else int((A.indptr[rows + 1] - A.indptr[rows]).sum())
    indices, data = np.empty(most, A.indices.dtype), np.empty(most)
    count = _choose(
        (A.indptr, A.indices, A.data),
        (_ALL if rows is None else rows, rows is None),
        n,
        (_ALL if columns is None else columns, columns is None),
        (_AS_IT_IS if scale is None else scale, scale is None),
        (starts, indices, data),
    )
    if count < most:
        indices, data = indices[:count].copy(), data[:count].copy()
    return sp.csr_array((data, indices, starts), shape=(height, width))


_ALL, _AS_IT_IS = np.zeros(0, np.int64), np.zeros(0)


@njit(cache=True)
def _choose(matrix, chosen_rows, n, chosen_columns, scaled, out):
    """Fills the arrays of ``out``, a matrix like ``matrix``; returns the number of entries.

    What is chosen and the scale come each with whether it is all, as it is.
    """
    (indptr, indices, data), (out_starts, out_indices, out_data) = matrix, out
    (rows, all_rows), (columns, all_columns) = chosen_rows, chosen_columns
    scale, as_it_is = scaled
    place = np.empty(0 if all_columns else n, np.int64)
    if not all_columns:
        place[:] = -1
        for k in range(len(columns)):
            place[columns[k]] = k
    count = 0
    for r in range(len(out_starts) - 1):
        i = r if all_rows else rows[r]
        for e in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[e])
            if not all_columns:
                j = place[np.uint64(j)]
            if j >= 0:
                out_indices[count] = j
                out_data[count] = data[e] if as_it_is else data[e] * scale[np.uint64(j)]
                count += 1
        out_starts[r + 1] = count
    return count
