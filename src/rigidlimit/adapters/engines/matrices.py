"""Matrices of an engine's contacts in either form of ``_support/matrices.py``: what is in them, and
what hangs together by them."""

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..._support.matrices import Matrix, taken
from ..._support.sets import connected
from ...errors import InputError

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Compressed rows: values (e,), columns (e,) int32, and ends (m + 1,) int32 of the rows."""


def compressed(A: Matrix) -> Rows:
    """A (m, n) as compressed rows without zeros, for compiled code, which takes this form alone."""
    if not sp.issparse(A):
        return _compressed(np.ascontiguousarray(A))
    A = A.tocsr()
    if not A.has_canonical_format:
        A = A.copy()
        A.sum_duplicates()
    return A.data, A.indices.astype(np.int32, copy=False), A.indptr.astype(np.int32, copy=False)


@njit(cache=True)
def _compressed(A):
    m, n = A.shape
    ends, size = np.zeros(m + 1, np.int32), 0
    for i in range(m):
        for j in range(n):
            size += A[i, j] != 0.0
        ends[i + 1] = size
    values, column, e = np.empty(size), np.empty(size, np.int32), 0
    for i in range(m):
        for j in range(n):
            if A[i, j] != 0.0:
                values[e], column[e] = A[i, j], j
                e += 1
    return values, column, ends


def delivered(A: Matrix, force: np.ndarray) -> np.ndarray:
    """A^T f (n,) of f (m,)."""
    if not sp.issparse(A):
        return A.T @ force
    return delivered_by(*compressed(A), np.ascontiguousarray(force), A.shape[1])


@njit(cache=True, nogil=True)
def delivered_by(
    values: np.ndarray, column: np.ndarray, ends: np.ndarray, force: np.ndarray, n: int
) -> np.ndarray:
    """The same of compressed rows."""
    total = np.zeros(n)
    for i in range(len(ends) - 1):
        for e in range(ends[i], ends[i + 1]):
            total[column[e]] += values[e] * force[i]
    return total


@njit(cache=True)
def moved(values: np.ndarray, column: np.ndarray, ends: np.ndarray, v: np.ndarray) -> np.ndarray:
    """A v (m,) of compressed rows."""
    out = np.zeros(len(ends) - 1)
    for i in range(len(out)):
        for e in range(ends[i], ends[i + 1]):
            out[i] += values[e] * v[column[e]]
    return out


def product(A: Matrix, M: sp.csr_array) -> Matrix:
    """A M, in the form of A."""
    return sp.csr_array(A @ M) if sp.issparse(A) else np.ascontiguousarray(A @ M)


def by_contact(B: Matrix, T: Matrix) -> Matrix:
    """Rows of B (m, n) and T (s m, n) contact by contact, normal first: (m (1 + s), n)."""
    m, n = B.shape
    if not sp.issparse(B) and not sp.issparse(T):  # T has s times the entries that choose a form
        each = np.concatenate([B[:, None], T.reshape(m, -1, n)], axis=1) if m else B
        return each.reshape(-1, n)
    s = T.shape[0] // m
    order = np.empty((m, 1 + s), int)
    order[:, 0] = np.arange(m)
    order[:, 1:] = m + np.arange(m * s).reshape(m, s)
    return taken((B, T), order.ravel())


def entries(A: Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def without_columns(A: Matrix, gone: np.ndarray) -> Matrix:
    """A with zeros in the columns ``gone`` (n,) bool."""
    if not sp.issparse(A):
        return np.where(gone, 0.0, A)
    A = A.copy()
    A.data *= ~gone[A.indices]
    A.eliminate_zeros()
    return A


@njit(cache=True)
def by_direction(
    values: np.ndarray, column: np.ndarray, ends: np.ndarray, d: int, n: int
) -> tuple[Rows, Rows]:
    """Compressed rows of n columns, d of each contact in turn, as the first ones of all contacts
    and the others; entries of one column are added up, and zeros left out."""
    count = len(ends) - 1
    first = (
        np.empty(len(values)),
        np.empty(len(values), np.int32),
        np.zeros(count // d + 1, np.int32),
    )
    rest = count - count // d
    others = np.empty(len(values)), np.empty(len(values), np.int32), np.zeros(rest + 1, np.int32)
    last, sums, used = np.full(n, -1), np.zeros(n), np.empty(n, np.int64)
    sizes = np.zeros(2, np.int64)
    for i in range(count):
        found = 0
        for e in range(ends[i], ends[i + 1]):
            j = column[e]
            if last[j] != i:
                last[j], sums[j], used[found] = i, 0.0, j
                found += 1
            sums[j] += values[e]
        side = min(i % d, 1)
        out, place, out_ends = first if side == 0 else others
        for q in range(found):
            if sums[used[q]] != 0.0:
                out[sizes[side]], place[sizes[side]] = sums[used[q]], used[q]
                sizes[side] += 1
        out_ends[i // d + 1 if side == 0 else i - i // d] = sizes[side]
    return (
        (first[0][: sizes[0]].copy(), first[1][: sizes[0]].copy(), first[2]),
        (others[0][: sizes[1]].copy(), others[1][: sizes[1]].copy(), others[2]),
    )


@njit(cache=True, nogil=True)
def touching(
    values: np.ndarray, column: np.ndarray, ends: np.ndarray, label: np.ndarray, use: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each compressed row and each ``label`` (n,) of the columns ``use`` (n,) bool that it has
    entries of, (k,) each, row by row."""
    row, touched, count = np.empty(len(values), np.int64), np.empty(len(values), np.int64), 0
    for p in label:
        count = max(count, p + 1)
    last, size = np.full(count, -1), 0
    for i in range(len(ends) - 1):
        for e in range(ends[i], ends[i + 1]):
            p = label[column[e]]
            if use[column[e]] and values[e] != 0.0 and last[p] != i:
                last[p], row[size], touched[size] = i, i, p
                size += 1
    return row[:size], touched[:size]


@njit(cache=True, nogil=True)
def row_sizes(
    values: np.ndarray, column: np.ndarray, ends: np.ndarray, reach: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of each compressed row the largest of its entries over ``reach`` (n,), and their norm."""
    m = len(ends) - 1
    largest, norm = np.zeros(m), np.zeros(m)
    for i in range(m):
        for e in range(ends[i], ends[i + 1]):
            size = abs(values[e]) / reach[column[e]]
            largest[i] = max(largest[i], size)
            norm[i] += size**2
        norm[i] = np.sqrt(norm[i])
    return largest, norm


@njit(cache=True)
def without_rounding(
    values: np.ndarray, column: np.ndarray, ends: np.ndarray, reach: np.ndarray, least: np.ndarray
) -> Rows:
    """Compressed rows without entries, over ``reach`` (n,), of at most ``least`` (m,) each row."""
    m, count = len(ends) - 1, 0
    kept, place, first = (
        np.empty(len(values)), np.empty(len(values), np.int32), np.zeros(m + 1, np.int32)
    )  # fmt: skip
    for i in range(m):
        for e in range(ends[i], ends[i + 1]):
            if abs(values[e]) / reach[column[e]] > least[i]:
                kept[count], place[count] = values[e], column[e]
                count += 1
        first[i + 1] = count
    return kept[:count].copy(), place[:count].copy(), first


def dense_block(A: Matrix, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Some rows and columns (indices) as a plain array."""
    if sp.issparse(A):
        return A[rows][:, columns].toarray()
    return A[rows[:, None], columns]


def numbered(label: np.ndarray) -> np.ndarray:
    """Labels (n,) int >= 0 as numbers from 0 in their order, without gaps."""
    seen = np.zeros(int(label.max(initial=-1)) + 1, bool)
    seen[label] = True
    return (np.cumsum(seen) - 1)[label]


def components(
    A: Matrix, use: np.ndarray, label: np.ndarray | None = None, *, each: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Which rows and columns of A hang together through the columns ``use`` (n,) bool.

    label (n,) int >= 0: columns of one label hang together in any case; None: none do. each: rows
    that follow one another and hang together. Returns the number of the set of each label and of
    each row, or of each ``each`` rows.
    """
    label = np.arange(A.shape[1]) if label is None else label
    return connected(*compressed(A), use, label, int(label.max(initial=-1)) + 1, each)


def refused_shape(name: str, A: Matrix, wanted: str) -> InputError:
    """The error for a matrix of another shape."""
    return InputError(f"{name} has shape {A.shape}; expected {wanted}")
