"""Rows of contacts by the columns that each contact moves.

Rows (m, d, n) of contacts that move 6 or 12 of n columns each are kept as values (m, d, c), with
column (m, c) int and count (m,) int of each contact: entry e of contact i belongs to column[i, e],
in ascending order.
"""

import numpy as np
from numba import njit

from ...._support.compiled import INNER


@njit(**INNER)
def compacted(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(values, column, count) of rows (m, d, n)."""
    m, d, n = rows.shape
    column, count = np.empty((m, n), np.int64), np.zeros(m, np.int64)
    widest = 1
    for i in range(m):
        size = 0
        for j in range(n):
            for a in range(d):
                if rows[i, a, j] != 0.0:
                    column[i, size] = j
                    size += 1
                    break
        count[i] = size
        widest = max(widest, size)
    values = np.zeros((m, d, widest))
    for i in range(m):
        for a in range(d):
            for e in range(count[i]):
                values[i, a, e] = rows[i, a, column[i, e]]
    return values, column[:, :widest].copy(), count


@njit(cache=True, nogil=True)
def expanded(values: np.ndarray, column: np.ndarray, count: np.ndarray, n: int) -> np.ndarray:
    """Rows (m, d, n) of these."""
    m, d = values.shape[0], values.shape[1]
    rows = np.zeros((m, d, n))
    for i in range(m):
        for a in range(d):
            for e in range(count[i]):
                rows[i, a, column[i, e]] = values[i, a, e]
    return rows


@njit(**INNER)
def compressed(values, column, count, d):
    """The first d rows of each contact in turn, as ``matrices.compressed`` has rows."""
    ends, size = np.zeros(len(count) * d + 1, np.int32), 0
    out, place = np.empty(d * count.sum()), np.empty(d * count.sum(), np.int32)
    for i in range(len(count)):
        for a in range(d):
            for e in range(count[i]):
                out[size], place[size] = values[i, a, e], column[i, e]
                size += 1
            ends[i * d + a + 1] = size
    return out, place, ends
