"""Matrices of an engine's contacts in either form of ``_support/matrices.py``: what is in them, and
what hangs together by them."""

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..._support.matrices import taken
from ...errors import InputError


def entries(A):
    """Row, column and value of all that is not zero, row by row."""
    if sp.issparse(A):
        A = A.tocsr()
        if not A.has_canonical_format:
            A = A.copy()
            A.sum_duplicates()
        row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        real = A.data != 0.0
        if real.all():
            return row, A.indices, A.data
        return row[real], A.indices[real], A.data[real]
    row, column = np.nonzero(A)
    return row, column, A[row, column]


def interleaved(first, second):
    """(2 m, n): rows of the first direction and of the second in turns."""
    if not sp.issparse(first):
        return np.stack([first, second], axis=1).reshape(2 * len(first), first.shape[1])
    m = first.shape[0]
    return taken((first, second), np.arange(2 * m).reshape(2, m).T.ravel())


def without_columns(A, gone):
    """A with zeros in the columns ``gone`` (n,) bool."""
    if not sp.issparse(A):
        return np.where(gone, 0.0, A)
    A = A.copy()
    A.data *= ~gone[A.indices]
    A.eliminate_zeros()
    return A


def row_sizes(A, reach, *, largest: bool = False):
    """Of each row the norm, or the ``largest`` entry, of its entries over ``reach`` (n,)."""
    if not sp.issparse(A):
        size = np.abs(A) / reach
        return size.max(axis=1, initial=0.0) if largest else np.sqrt((size**2).sum(axis=1))
    row, column, value = entries(A)
    size = np.abs(value) / reach[column]
    if largest:
        found = np.zeros(A.shape[0])
        np.maximum.at(found, row, size)
        return found
    return np.sqrt(np.bincount(row, weights=size**2, minlength=A.shape[0]))


def without_rounding(A, reach, part):
    """A without entries, over ``reach`` (n,), of at most ``part`` (m,) each row."""
    if not sp.issparse(A):
        return np.where(np.abs(A) / reach > part[:, None], A, 0.0)
    row, column, value = entries(A)
    real = np.abs(value) / reach[column] > part[row]
    ends = np.concatenate([[0], np.cumsum(np.bincount(row[real], minlength=A.shape[0]))])
    return sp.csr_array((value[real], column[real], ends), shape=A.shape)


def dense_block(A, rows, columns):
    """Some rows and columns (indices) as a plain array."""
    if sp.issparse(A):
        return A[rows][:, columns].toarray()
    return A[rows[:, None], columns]


def numbered(label):
    """Labels (n,) int >= 0 as numbers from 0 in their order, without gaps."""
    seen = np.zeros(int(label.max(initial=-1)) + 1, bool)
    seen[label] = True
    return (np.cumsum(seen) - 1)[label]


def groups(label):
    """Indices of every value of ``label``."""
    order = np.argsort(label, kind="stable")
    ends = np.flatnonzero(np.diff(label[order])) + 1
    return {label[part[0]]: part for part in np.split(order, ends) if len(part)}


def components(A, use, label=None, *, each: int = 1):
    """Which rows and columns of A hang together through the columns ``use`` (n,) bool.

    label (n,) int >= 0: columns of one label hang together in any case; None: none do. each: rows
    that follow one another and hang together. Returns the number of the set of each label and of
    each row, or of each ``each`` rows.
    """
    label = np.arange(A.shape[1]) if label is None else label
    row, column, _ = entries(A)
    picked = use[column]
    count = int(label.max(initial=-1)) + 1
    first = label[column[picked]].astype(np.int64)
    second = count + row[picked].astype(np.int64) // each
    root = _united(first, second, count + A.shape[0] // each)
    return root[:count], root[count:]


@njit(cache=True)
def _united(first, second, count):
    """Sets of ``count`` nodes that the pairs (first, second) join: the least node of each."""
    root = np.arange(count)
    for k in range(len(first)):
        a, b = first[k], second[k]
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a < b:
            root[b] = a
        else:
            root[a] = b
    for i in range(count):
        root[i] = root[root[i]]
    return root


def refused_shape(name: str, A, wanted: str) -> InputError:
    """The error for a matrix of another shape."""
    return InputError(f"{name} has shape {A.shape}; expected {wanted}")
