"""The matrix K = M + shift + B^T D B by blocks of bodies, in a pattern that is found once.

Every body has ``width`` degrees of freedom, the most that any has; those it lacks are padding with
a one on the diagonal. K has one dense block (width, width) for each pair of bodies that share a
contact or an inertia, row by row. Only D changes from one Newton step to the next.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numba import njit

from .._support.compiled import INNER
from ..linear.dissection import coupled_bodies, grouped, neighbours_of_rows

WIDEST = 6
"""Degrees of freedom of a body at most, where bodies are found from the columns of B."""


@njit(cache=True, nogil=True)
def _find_bodies(ptr, idx, d, contacts, widest):
    """First column of each body: a column belongs to the body before it if its contacts are
    among those of that body, or the other way round. ptr, idx: columns of B."""
    columns = len(ptr) - 1
    starts, bodies, known = np.zeros(columns + 1, np.int64), 0, 0
    of, seen = np.full(contacts, -1, np.int64), np.full(contacts, -1, np.int64)
    for j in range(columns):
        own, shared = 0, 0
        for e in range(ptr[j], ptr[j + 1]):
            i = idx[e] // d
            if seen[i] != j:
                seen[i] = j
                own += 1
                shared += of[i] == bodies
        if j > 0 and (shared < min(own, known) or j - starts[bodies] >= widest):
            bodies += 1
            starts[bodies] = j
            known, shared = 0, 0
        known += own - shared
        for e in range(ptr[j], ptr[j + 1]):
            of[idx[e] // d] = bodies
    bodies += columns > 0
    starts[bodies] = columns
    return starts[: bodies + 1].copy()


def bodies_of(columns: sp.csr_array | sp.csc_array, d: int, contacts: int) -> np.ndarray:
    """(bodies + 1,) first column of each body, derived from the contacts of B (m d, n).

    columns: B as csc, or its transpose as csr.
    """
    return _find_bodies(columns.indptr, columns.indices, d, contacts, WIDEST)


def _pattern(begins, body, bodies):
    """Blocks of K, row by row: (ptr (bodies + 1,), col), for the bodies of each contact."""
    first, entries = grouped(body, bodies)
    row_of = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    ptr, others = neighbours_of_rows(begins, body, first, row_of[entries])
    here = np.arange(bodies)
    blocks = np.concatenate([np.repeat(here, np.diff(ptr)) * bodies + others, here * (bodies + 1)])
    blocks.sort()
    return (ptr + np.arange(bodies + 1)).astype(np.int32), (blocks % bodies).astype(np.int32)


class Blocks:
    """Pattern of a square matrix (size, size) of blocks (width, width), that of its transpose too.

    ptr (rows + 1,), col: its blocks, row by row; across: block (j, i) of each block (i, j). touch:
    sparse, rows of blocks that are coupled with one another in each of its rows.
    """

    width: int
    size: int
    ptr: np.ndarray
    col: np.ndarray
    across: np.ndarray
    touch: sp.csr_array

    @cached_property
    def row(self) -> np.ndarray:
        """The row of each block."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    @cached_property
    def compiled(self) -> tuple[np.ndarray, np.ndarray, tuple[int, ...]]:
        """ptr and col as unsigned integers, and as many zeros as the width: loops over a tuple's
        length are unrolled."""
        return self.ptr.astype(np.uint64), self.col.astype(np.uint64), (0,) * self.width

    @cached_property
    def _diagonal(self) -> np.ndarray:
        return np.flatnonzero(self.row == self.col)

    def add_to_diagonal(self, values: np.ndarray, amount: float) -> None:
        """``amount`` more on the diagonal of a matrix of blocks ``values``, in place."""
        along = np.arange(self.width)
        values[self._diagonal[:, None], along, along] += amount


class BodyBlocks(Blocks):
    """Pattern of K and rows of B by bodies.

    place (n,): degree of freedom -> its place in vectors with padding, (size,). begins (m + 1,),
    body: bodies of each contact; rows (incidences, d, width): their part of B. ptr (bodies + 1,),
    col: blocks of K; across: block (j, i) of each block (i, j). at: block of K of each pair of
    bodies of each contact, contact by contact. base: blocks of M + shift.
    """

    def __init__(self, B, M, d: int, starts: np.ndarray, shift: float):
        m, n = B.shape[0] // d, B.shape[1]
        bodies, widths = len(starts) - 1, np.diff(starts)
        self.d, self.width = d, int(widths.max(initial=1))
        self.size = bodies * self.width
        body_of = np.repeat(np.arange(bodies), widths)
        self.place = np.arange(n) + (self.width * np.arange(bodies) - starts[:-1])[body_of]
        self.padded = self.size != n
        M = sp.csr_array((n, n)) if M is None else sp.csr_array(M)
        rows = B.indptr[::d], B.indices
        begins, body = coupled_bodies(rows, (M.indptr, M.indices), starts)
        touch = sp.csr_array((np.ones(len(body)), body, begins), shape=(len(begins) - 1, bodies))
        self.touch = touch  # bodies of each contact, then of each row of M
        self.ptr, self.col = _pattern(begins, body, bodies)
        self.begins, self.body = begins[: m + 1], body[: begins[m]]
        self.rows = np.zeros((len(self.body), d, self.width))
        incidences = self.begins, self.body
        _fill_rows((B.indptr, B.indices, B.data), (body_of, self.place), incidences, self.rows)
        self.at, self.across = _positions(self.begins, self.body, self.ptr, self.col)
        self.base = np.zeros((len(self.col), self.width, self.width))
        present = np.zeros(self.size, bool)
        present[self.place] = True
        inertia, pattern = (M.indptr, M.indices, M.data), (self.ptr, self.col)
        _fill_base(inertia, (body_of, self.place), pattern, present, shift, self.base)

    def assemble(self, D: np.ndarray) -> np.ndarray:
        """Blocks of K for D (m, d, d)."""
        values = self.base.copy()
        _assemble(D, self.begins, self.rows, self.at, values)
        return values

    def pad(self, x: np.ndarray) -> np.ndarray:
        if not self.padded:
            return x
        out = np.zeros(self.size)
        out[self.place] = x
        return out

    def unpad(self, x: np.ndarray) -> np.ndarray:
        return x[self.place] if self.padded else x


@njit(cache=True, nogil=True)
def _fill_rows(matrix, places, incidences, rows):
    (ptr, idx, val), (body_of, place), (begins, body) = matrix, places, incidences
    d, width = rows.shape[1], rows.shape[2]
    for i in range(len(begins) - 1):
        for a in range(d):
            for e in range(ptr[i * d + a], ptr[i * d + a + 1]):
                g = begins[i]
                while body[g] != body_of[idx[e]]:
                    g += 1
                rows[g, a, place[idx[e]] - width * body[g]] += val[e]


@njit(**INNER)
def _block(ptr, col, i, j):
    """Position of block (i, j)."""
    low, high = ptr[i], ptr[i + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if col[middle] < j:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _positions(begins, body, ptr, col):
    pairs = 0
    for i in range(len(begins) - 1):
        pairs += (begins[i + 1] - begins[i]) ** 2
    at, across = np.empty(pairs, np.int64), np.empty(len(col), np.int64)
    e = 0
    for i in range(len(begins) - 1):
        for g in range(begins[i], begins[i + 1]):
            for h in range(begins[i], begins[i + 1]):
                at[e] = _block(ptr, col, np.int64(body[g]), np.int64(body[h]))
                e += 1
    for i in range(len(ptr) - 1):
        for e in range(ptr[i], ptr[i + 1]):
            across[e] = _block(ptr, col, np.int64(col[e]), i)
    return at, across


@njit(cache=True, nogil=True)
def _fill_base(inertia, places, pattern, present, shift, base):
    (mptr, midx, mval), (body_of, place), (ptr, col) = inertia, places, pattern
    width = base.shape[1]
    for i in range(len(mptr) - 1):
        row = body_of[i]
        for e in range(mptr[i], mptr[i + 1]):
            column = body_of[midx[e]]
            at = _block(ptr, col, np.int64(row), np.int64(column))
            base[at, place[i] - width * row, place[midx[e]] - width * column] += mval[e]
    for i in range(len(ptr) - 1):
        at = _block(ptr, col, i, i)
        for a in range(width):
            base[at, a, a] += shift if present[width * i + a] else 1.0


@njit(cache=True, nogil=True)
def _assemble(D, begins, rows, at, values):
    d, width = rows.shape[1], rows.shape[2]
    answer = np.empty((d, width))
    e = 0
    for i in range(len(begins) - 1):
        bodies = begins[i + 1] - begins[i]
        if D[i, 0, 0] == 0.0:  # an open contact
            e += bodies * bodies
            continue
        for h in range(begins[i], begins[i + 1]):
            for a in range(d):
                for c in range(width):
                    total = 0.0
                    for b in range(d):
                        total += D[i, a, b] * rows[h, b, c]
                    answer[a, c] = total
            for g in range(begins[i], begins[i + 1]):
                block = values[at[e + (g - begins[i]) * bodies + h - begins[i]]]
                for r in range(width):
                    for a in range(d):
                        t = rows[g, a, r]
                        if t != 0.0:
                            for c in range(width):
                                block[r, c] += t * answer[a, c]
        e += bodies * bodies
