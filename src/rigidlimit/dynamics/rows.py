"""Rows of a sparse matrix for compiled loops: one row times a vector, and a row added to one.

Two forms, told apart by the compiler: ``csr`` for any matrix, and ``pairs`` for contacts between
two bodies, which reads a third less and needs no list of columns. Indices are unsigned, so that the
loops need no check for negative ones, which is nearly half of their time.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from numba.extending import overload

from ..network.pairs import body_rows
from ..network.stiffness import MAX_BLOCK

PADDED = 1.5
"""Zeros that pad the rows of small bodies may make them this much longer."""


def rows_of(A: sp.csr_array, blocks=None):
    """(rows, shape of the vectors they act on) of A (m, n).

    blocks: first column of each body, ending with n; where every row touches at most two bodies of
    about one size the rows are stored by pairs, and vectors have a spare body at the end.
    """
    if blocks is not None and A.shape[1]:
        blocks = np.asarray(blocks)
        bodies, size = len(blocks) - 1, int(np.diff(blocks).max(initial=1))
        if size <= MAX_BLOCK and size * bodies <= PADDED * A.shape[1]:
            found = body_rows(A, blocks)
            if found is not None:
                first, second, on_first, on_second = found
                body = (first.astype(np.uint32), second.astype(np.uint32))
                return (*body, on_first, on_second, (0,) * size), (bodies + 1, size)
    return (A.indptr.astype(np.uint32), A.indices.astype(np.uint32), A.data), (A.shape[1],)


def spread(rows, i, value, v):
    """v += value times row i."""
    raise NotImplementedError("for compiled code")


def collect(rows, i, v):
    """Row i times v."""
    raise NotImplementedError("for compiled code")


@overload(spread)
def _spread(rows, i, value, v):
    if len(rows) == 3:

        def csr(rows, i, value, v):
            ptr, columns, data = rows
            for g in range(ptr[i], ptr[i + 1]):
                v[columns[g]] += data[g] * value

        return csr

    def pairs(rows, i, value, v):
        first, second, on_first, on_second, block = rows
        a, b = first[i], second[i]
        for u in range(len(block)):
            v[a, u] += on_first[i, u] * value
        for u in range(len(block)):
            v[b, u] += on_second[i, u] * value

    return pairs


@overload(collect)
def _collect(rows, i, v):
    if len(rows) == 3:

        def csr(rows, i, v):
            ptr, columns, data = rows
            w = 0.0
            for g in range(ptr[i], ptr[i + 1]):
                w += data[g] * v[columns[g]]
            return w

        return csr

    def pairs(rows, i, v):
        first, second, on_first, on_second, block = rows
        a, b = first[i], second[i]
        w = 0.0
        for u in range(len(block)):
            w += on_first[i, u] * v[a, u] + on_second[i, u] * v[b, u]
        return w

    return pairs


@njit(cache=True)
def product(B, R, d, v, out):
    """out = B R^T d; v is work space."""
    v[:] = 0.0
    for i in range(len(d)):
        if d[i] != 0.0:
            spread(R, i, d[i], v)
    for i in range(len(d)):
        out[i] = collect(B, i, v)
