"""Matrices of contacts: plain arrays while they are small, compressed rows beyond.

Building or multiplying a sparse matrix of scipy's takes some 50 us, whatever is in it. The matrices
of a robot's contacts are multiplied in 2 us as plain arrays. All functions here take either form.
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from . import arrays

Matrix = np.ndarray | sp.csr_array
"""A matrix in either form."""

DENSE = 40_000
"""Matrices with at most so many entries, zeros included, are stored dense: 50 contacts of a dozen
bodies."""


def matrix(name: str, value: object, *, columns: int | None = None) -> Matrix:
    """``value`` as a matrix of finite numbers, in the form that suits its size.

    Raises InputError for a wrong shape or numbers that are not finite.
    """
    if isinstance(value, np.ndarray) and value.dtype == float and value.ndim == 2:
        fits = columns is None or value.shape[1] == columns
        if value.size <= DENSE and fits and np.isfinite(value).all():
            return value
    return compact(arrays.sparse(name, value, columns=columns))


def compact(A: Matrix | sp.sparray) -> Matrix:
    """The matrix in the form that suits its size."""
    small = A.shape[0] * A.shape[1] <= DENSE
    if small:
        return A.toarray() if sp.issparse(A) else A
    return A if type(A) is sp.csr_array else sp.csr_array(A)


def from_rows(
    values: np.ndarray, column: np.ndarray, ends: np.ndarray, shape: tuple[int, int]
) -> Matrix:
    """The matrix of these entries, row by row: those of row i from ends[i] to ends[i + 1]."""
    if shape[0] * shape[1] > DENSE:
        return sp.csr_array((values, column, ends), shape=shape)
    A = np.zeros(shape)
    A[np.repeat(np.arange(shape[0]), np.diff(ends)), column] = values
    return A


def scaled(
    A: Matrix, *, rows: np.ndarray | None = None, columns: np.ndarray | None = None
) -> Matrix:
    """diag(rows) A diag(columns)."""
    if not sp.issparse(A):
        A = A if rows is None else rows[:, None] * A
        return A if columns is None else A * columns
    A = A.tocsr()
    data = A.data
    if rows is not None:
        data = data * np.repeat(rows, np.diff(A.indptr))
    if columns is not None:
        data = data * columns[A.indices]
    return sp.csr_array((data, A.indices, A.indptr), shape=A.shape)


def taken(matrices: Sequence[Matrix], order: np.ndarray) -> Matrix:
    """The rows ``order`` of several matrices under one another: all plain arrays, or all sparse."""
    if not any(sp.issparse(A) for A in matrices):
        return np.concatenate(matrices)[order]
    matrices = [A.tocsr() if sp.issparse(A) else sp.csr_array(A) for A in matrices]
    count = np.concatenate([np.diff(A.indptr) for A in matrices]).astype(np.int64)
    first = (np.cumsum(count) - count)[order]
    count = count[order]
    ends = np.concatenate([[0], np.cumsum(count)])
    place = np.repeat(first - ends[:-1], count) + np.arange(ends[-1])
    data, column = (
        np.concatenate([getattr(A, name) for A in matrices])[place] for name in ("data", "indices")
    )
    return sp.csr_array((data, column, ends), shape=(len(order), matrices[0].shape[1]))


def blockwise(n: int, blocks: Sequence[tuple[np.ndarray, np.ndarray]]) -> sp.csr_array:
    """The identity (n, n) except for ``blocks``, no two of which share a column: columns (g, c) and
    values (g, c, c) of each g of them."""
    same = np.ones(n, bool)
    for columns, _ in blocks:
        same[columns.ravel()] = False
    same = np.flatnonzero(same)
    row, column, value = [same], [same], [np.ones(len(same))]
    for columns, values in blocks:
        row.append(np.repeat(columns, columns.shape[1], axis=1).ravel())
        column.append(np.tile(columns, (1, columns.shape[1])).ravel())
        value.append(values.ravel())
    places = np.concatenate(row), np.concatenate(column)
    return sp.csr_array((np.concatenate(value), places), shape=(n, n))
