"""Rows and columns of a sparse matrix for compiled loops: a row or a column times a vector.

Two forms, distinguished by the compiler: ``csr`` for any matrix, and ``pairs`` for contacts between
two bodies, which reads a third less and needs no list of columns. Indices are unsigned, so that the
loops need no check for negative ones, which is nearly half of their time. Columns are stored by
bodies as well, so that several threads may each sum up what acts on some of the bodies.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import overload

from ..linear.block_offsets import cut_starts
from ..linear.dissection import grouped
from ..linear.pair_network import body_rows

Rows = tuple[np.ndarray | tuple, ...]
"""A matrix in one of the two forms. Any: (ptr, columns or rows, entries). Of pairs: by rows (first,
second, on_first, on_second, block), by columns (ptr, contacts, entries, block)."""

SIZES = (2, 3, 6)
"""Degrees of freedom of a body whose rows are stored by pairs: balls and bodies of the plane and of
space. Each size takes seconds to compile; the rare others have the form for any matrix."""

PADDED = 1.5
"""Zeros that pad the rows of small bodies may make them this much longer."""


def rows_of(A: sp.csr_array, blocks: np.ndarray | None = None) -> tuple[Rows, tuple]:
    """(rows, shape of the vectors they act on) of A (m, n).

    blocks: first column of each body, ending with n; where every row touches at most two bodies of
    about one size, of ``SIZES``, the rows are stored by pairs, and vectors have a spare body at
    the end.
    """
    if blocks is not None and A.shape[1]:
        blocks = cut_starts(A.shape[1], blocks)
        bodies, size = len(blocks) - 1, int(np.diff(blocks).max(initial=1))
        if size in SIZES and size * bodies <= PADDED * A.shape[1]:
            found = body_rows(A, blocks)
            if found is not None:
                first, second, on_first, on_second = found
                body = (first.astype(np.uint32), second.astype(np.uint32))
                return (*body, on_first, on_second, (0,) * size), (bodies + 1, size)
    return (A.indptr.astype(np.uint32), A.indices.astype(np.uint32), A.data), (A.shape[1],)


def columns_of(rows: Rows, shape: tuple) -> Rows:
    """The matrix of ``rows_of`` by columns: for each body, or column, its contacts and entries."""
    if len(rows) == 3:
        ptr, columns, data = rows
        contact = np.repeat(np.arange(len(ptr) - 1, dtype=np.uint32), np.diff(ptr))
        starts, order = grouped(columns, shape[0])
        return starts.astype(np.uint32), contact[order], data[order]
    first, second, on_first, on_second, block = rows
    # the spare body moves nothing
    return (*_by_body(first, second, on_first, on_second, shape[0] - 1), (0.0,) * len(block))


@njit(cache=True, nogil=True)
def _by_body(first, second, on_first, on_second, bodies):
    """(ptr (bodies + 2,), contacts, entries) of bodies and a spare one, contacts ascending."""
    m, d = on_first.shape
    ptr = np.zeros(bodies + 2, np.uint32)
    for i in range(m):
        ptr[first[i] + 1] += np.uint32(1)
        if second[i] < bodies:
            ptr[second[i] + 1] += np.uint32(1)
    for j in range(bodies + 1):
        ptr[j + 1] += ptr[j]
    at = ptr[:-1].copy()
    contact = np.empty(ptr[bodies + 1], np.uint32)
    entries = np.empty((ptr[bodies + 1], d))
    for i in range(m):
        g = at[first[i]]
        at[first[i]] += np.uint32(1)
        contact[g] = i
        for u in range(d):
            entries[g, u] = on_first[i, u]
        if second[i] < bodies:
            g = at[second[i]]
            at[second[i]] += np.uint32(1)
            contact[g] = i
            for u in range(d):
                entries[g, u] = on_second[i, u]
    return ptr, contact, entries


def gather(columns: Rows, j: int, d: np.ndarray, v: np.ndarray):
    """v of column, or body, j: its column times d."""
    raise NotImplementedError("for compiled code")


def collect(rows: Rows, i: int, v: np.ndarray):
    """Row i times v."""
    raise NotImplementedError("for compiled code")


@overload(gather)
def _gather(columns, j, d, v):
    if len(columns) == 3:

        def _csr(columns, j, d, v):
            ptr, contact, data = columns
            s = 0.0
            for g in range(ptr[j], ptr[j + 1]):
                s += data[g] * d[contact[g]]
            v[j] = s

        return _csr

    def _pairs(columns, j, d, v):
        ptr, contact, on, block = columns
        total = block  # in registers: sums in v would wait for one another's stores
        for g in range(ptr[j], ptr[j + 1]):
            value = d[contact[g]]
            for u in range(len(block)):
                total = tuple_setitem(total, u, total[u] + on[g, u] * value)
        for u in range(len(block)):
            v[j, u] = total[u]

    return _pairs


@overload(collect)
def _collect(rows, i, v):
    if len(rows) == 3:

        def _csr(rows, i, v):
            ptr, columns, data = rows
            w = 0.0
            for g in range(ptr[i], ptr[i + 1]):
                w += data[g] * v[columns[g]]
            return w

        return _csr

    def _pairs(rows, i, v):
        first, second, on_first, on_second, block = rows
        a, b = first[i], second[i]
        w = 0.0
        for u in range(len(block)):
            w += on_first[i, u] * v[a, u] + on_second[i, u] * v[b, u]
        return w

    return _pairs


@njit(cache=True, nogil=True)
def onto_bodies(columns: Rows, d: np.ndarray, v: np.ndarray, low: int, high: int):
    """v = R^T d for the bodies, or columns, low ... high - 1."""
    for j in range(np.uint32(low), np.uint32(high)):
        gather(columns, j, d, v)


@njit(cache=True, nogil=True)
def onto_contacts(rows: Rows, v: np.ndarray, out: np.ndarray, low: int, high: int):
    """out = B v for the contacts low ... high - 1."""
    for i in range(np.uint32(low), np.uint32(high)):
        out[i] = collect(rows, i, v)
