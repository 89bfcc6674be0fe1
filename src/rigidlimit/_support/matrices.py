"""Matrices of contacts: plain arrays while they are small, compressed rows beyond.

Building or multiplying a sparse matrix of scipy's takes some 50 us, whatever is in it. The matrices
of a robot's contacts are multiplied in 2 us as plain arrays. All functions here take either form.
"""

import numpy as np
import scipy.sparse as sp

from . import arrays

DENSE = 40_000
"""Entries, zeros included, up to which a matrix is a plain array: 50 contacts of a dozen bodies."""


def matrix(name: str, value, *, columns: int | None = None):
    """``value`` as a matrix of finite numbers, in the form that suits its size.

    Raises InputError for a wrong shape or numbers that are not finite.
    """
    if isinstance(value, np.ndarray) and value.dtype == float and value.ndim == 2:
        fits = columns is None or value.shape[1] == columns
        if value.size <= DENSE and fits and np.isfinite(value).all():
            return value
    return compact(arrays.sparse(name, value, columns=columns))


def compact(A):
    """The matrix in the form that suits its size."""
    small = A.shape[0] * A.shape[1] <= DENSE
    if small:
        return A.toarray() if sp.issparse(A) else A
    return sp.csr_array(A)


def from_rows(values, column, ends, shape):
    """The matrix of these entries, row by row: those of row i from ends[i] to ends[i + 1]."""
    if shape[0] * shape[1] > DENSE:
        return sp.csr_array((values, column, ends), shape=shape)
    A = np.zeros(shape)
    A[np.repeat(np.arange(shape[0]), np.diff(ends)), column] = values
    return A


def scaled(A, *, rows=None, columns=None):
    """diag(rows) A diag(columns)."""
    if not sp.issparse(A):
        A = A if rows is None else rows[:, None] * A
        return A if columns is None else A * columns
    if rows is not None:
        A = sp.diags_array(rows) @ A
    return sp.csr_array(A if columns is None else A @ sp.diags_array(columns))
