"""Incomplete factorization of a symmetric matrix of blocks, by the size of the blocks.

P = (1 + U) E (1 + U^T) for K = 1 + L + L^T, whose diagonal blocks (d, d) are the identity: the
elimination of K without blocks of L = U E smaller than a given size. For each block X that is
dropped a ``part`` of

    sum_v x_v x_v^T / |x_v|    and    diag |x_v|,    x_v the columns of X,

is added to the diagonal blocks of its row and of its column. With the whole of that what is dropped
is positive semidefinite, and P exists for every positive K (M. Ajiz and A. Jennings, Int. J. Numer.
Methods Eng. 20 (1984) 949).
"""

import numpy as np
from numba import njit

from .blocks import cholesky, invert_lower

LIFT = 1e-8
"""Added to the diagonal blocks: rounding of a pivot is eps over that before it, and would grow from
block to block in networks that next to nothing holds where pivots are below 1e-8."""

POSITIVE = 1e-9
"""Pivots of E, beside 1, from which on it counts as positive."""


@njit(cache=True, nogil=True)
def by_columns(ptr, lo):
    """(first (bodies + 1,), order, hi): contacts of earlier body j are order[first[j]] and so on,
    by later body hi[contact]."""
    n = len(ptr) - 1
    hi = np.empty(len(lo), np.int32)
    first = np.zeros(n + 1, np.int64)
    for i in range(n):
        for a in range(ptr[i], ptr[i + 1]):
            hi[a] = i
            if lo[a] >= 0:
                first[lo[a] + 1] += 1
    for j in range(n):
        first[j + 1] += first[j]
    at = first[:-1].copy()
    order = np.empty(first[n], np.int64)
    for a in range(len(lo)):
        if lo[a] >= 0:
            order[at[lo[a]]] = a
            at[lo[a]] += 1
    return first, order, hi


@njit(cache=True, nogil=True)
def _compensate(X, Ei, Ej, part, d):
    """Add to the diagonal blocks of both bodies for the block X (d, d) that is dropped."""
    for v in range(d):
        size = 0.0
        for u in range(d):
            size += X[u, v] * X[u, v]
        size = np.sqrt(size)
        if size > 0.0:
            Ej[v, v] += part * size
            for u in range(d):
                s = part * X[u, v] / size
                for w in range(d):
                    Ei[u, w] += s * X[w, v]


@njit(cache=True, nogil=True)
def _find(j, i, known, found, count, X, d):
    """Begin block i of column j unless it is there; the number of blocks found."""
    if known[i] == j:
        return count
    known[i] = j
    at = count  # in ascending order
    while at > 0 and found[at - 1] > i:
        found[at] = found[at - 1]
        at -= 1
    found[at] = i
    for u in range(d):
        for v in range(d):
            X[i, u, v] = 0.0
    return count + 1


@njit(cache=True, nogil=True)
def factor(first, order, hi, up, low, dropped, part, block):
    """(start (bodies + 1,), row (blocks,), U (blocks, d, d), E^-1 (bodies, d, d), positive).

    U = L E^-1, block by block, column by column, in ascending order of their rows.
    """
    d = len(block)
    n = len(first) - 1
    start = np.zeros(n + 1, np.uint32)
    room = len(order) + 16
    row = np.empty(room, np.uint32)
    L = np.empty((room, d, d))
    U = np.empty((room, d, d))
    E = np.zeros((n, d, d))
    for i in range(n):
        for u in range(d):
            E[i, u, u] = 1.0 + LIFT
    inverse = np.zeros((n, d, d))
    # columns whose next block stands in row j: head[j], after[head[j]], ...
    head = np.full(n, -1, np.int64)
    after = np.empty(n, np.int64)
    at = np.zeros(n, np.uint32)
    X = np.zeros((n, d, d))  # column j so far, at the rows found
    known = np.full(n, -1, np.int64)
    found = np.empty(n, np.int64)
    triangle = np.zeros((d, d))
    half = np.zeros((d, d))
    positive = True
    for j in range(n):
        count = np.int64(0)  # one type each, and _find is compiled once
        for c in range(first[j], first[j + 1]):
            a = order[c]
            i = np.int64(hi[a])
            count = _find(j, i, known, found, count, X, d)
            for u in range(d):
                for v in range(d):
                    X[i, u, v] += up[a, u] * low[a, v]
        k = head[j]
        while k >= 0:
            following = after[k]
            b = at[k]
            for c in range(b + np.uint32(1), start[k + 1]):
                i = np.int64(row[c])
                count = _find(j, i, known, found, count, X, d)
                for u in range(d):
                    for v in range(d):
                        s = 0.0
                        for w in range(d):
                            s += U[c, u, w] * L[b, v, w]
                        X[i, u, v] -= s
            _queue(k, b + np.uint32(1), start, row, head, after, at)
            k = following
        end = np.int64(start[j])
        if end + count > room:
            room += max(room, count)
            row = _longer(row, end, np.empty(room, np.uint32))
            L = _longer_blocks(L, end, np.empty((room, d, d)))
            U = _longer_blocks(U, end, np.empty((room, d, d)))
        for c in range(count):
            i = found[c]
            size = 0.0
            for u in range(d):
                for v in range(d):
                    size += X[i, u, v] * X[i, u, v]
            if size > dropped * dropped:
                row[end] = i
                for u in range(d):
                    for v in range(d):
                        L[end, u, v] = X[i, u, v]
                end += 1
            else:
                _compensate(X[i], E[i], E[j], part, d)
        start[j + 1] = end
        positive = cholesky(E[j], triangle, POSITIVE, d) and positive
        if not positive and part < 1.0:
            break
        invert_lower(triangle, half, d)
        for u in range(d):
            for v in range(d):
                s = 0.0
                for w in range(max(u, v), d):
                    s += half[w, u] * half[w, v]
                inverse[j, u, v] = s
        for b in range(start[j], start[j + 1]):
            i = row[b]
            for u in range(d):
                for v in range(d):
                    s = 0.0
                    for w in range(d):
                        s += L[b, u, w] * inverse[j, w, v]
                    U[b, u, v] = s
            for u in range(d):
                for v in range(d):
                    s = 0.0
                    for w in range(d):
                        s += U[b, u, w] * L[b, v, w]
                    E[i, u, v] -= s
        _queue(j, start[j], start, row, head, after, at)
    return start, row[: start[n]].copy(), U[: start[n]].copy(), inverse, positive


@njit(cache=True, nogil=True)
def _queue(k, b, start, row, head, after, at):
    """Let column k wait for the row of its block b, if there is one."""
    at[k] = b
    if b < start[k + 1]:
        i = row[b]
        after[k] = head[i]
        head[i] = k


@njit(cache=True, nogil=True)
def _longer(x, end, room):
    """x[:end] moved to the larger array ``room``."""
    for e in range(end):  # a slice compiles for 3 s
        room[e] = x[e]
    return room


@njit(cache=True, nogil=True)
def _longer_blocks(x, end, room):
    """``_longer`` of blocks (.., d, d)."""
    for e in range(end):
        for u in range(x.shape[1]):
            for v in range(x.shape[2]):
                room[e, u, v] = x[e, u, v]
    return room
