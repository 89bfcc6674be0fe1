"""Rows of contacts as dense blocks, and a sweep of projected Gauss-Seidel over them, compiled.

A contact has d rows in the few columns that its bodies have. Sweeps read and write these columns
once a contact; between the normal and the tangential part they go by W_ii = J_i R_i^T.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from .._support.compiled import INNER


class ContactBlocks(NamedTuple):
    """m contacts of d rows. (Compiled code reads tuples.)

    starts (m + 1,): where the columns of each contact begin in columns (k,), those of J_i or R_i.
    rows, response (k, d): J_i and R_i = dt J_i M^-1, column by column. W (m, d, d): J_i R_i^T.
    tangential (m,): largest eigenvalue of its tangential part.
    """

    starts: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    response: np.ndarray
    W: np.ndarray
    tangential: np.ndarray


class Rows(NamedTuple):
    """A sparse matrix by rows: where they begin, columns, entries."""

    starts: np.ndarray
    columns: np.ndarray
    entries: np.ndarray

    @classmethod
    def of(cls, A: sp.csr_array) -> "Rows":
        return cls(A.indptr, A.indices, A.data)


def contact_blocks(rows: sp.csr_array, response: sp.csr_array, d: int) -> ContactBlocks:
    """Blocks of B and R (m d, n), rows contact by contact."""
    m = rows.shape[0] // d
    rows, response = Rows.of(rows), Rows.of(response)
    room = np.empty(len(rows.columns) + len(response.columns), np.int64)
    starts = np.zeros(m + 1, np.int64)
    _find_columns(d, rows, response, starts, room)
    columns = room[: starts[-1]].copy()
    blocks = ContactBlocks(
        starts,
        columns,
        np.zeros((len(columns), d)),
        np.zeros((len(columns), d)),
        np.empty((m, d, d)),
        np.empty(m),
    )
    _fill(blocks, rows, response)
    return blocks


@njit(cache=True, nogil=True)
def _find_columns(d, rows, response, starts, columns):
    """The columns of each contact, each once."""
    at = 0
    for i in range(len(starts) - 1):
        first = at
        for A in (rows, response):
            for e in range(A.starts[d * i], A.starts[d * i + d]):
                known = False
                for c in range(first, at):
                    known = known or columns[c] == A.columns[e]
                if not known:
                    columns[at] = A.columns[e]
                    at += 1
        starts[i + 1] = at


@njit(**INNER)
def _entries_of(A, d, i, lo, hi, columns, out):
    """The d rows of contact i, column by column."""
    for a in range(d):
        for e in range(A.starts[d * i + a], A.starts[d * i + a + 1]):
            for c in range(lo, hi):
                if columns[c] == A.columns[e]:
                    out[c, a] += A.entries[e]


@njit(cache=True, nogil=True)
def _fill(blocks, rows, response):
    m, d, _ = blocks.W.shape
    for i in range(m):
        lo, hi = blocks.starts[i], blocks.starts[i + 1]
        _entries_of(rows, d, i, lo, hi, blocks.columns, blocks.rows)
        _entries_of(response, d, i, lo, hi, blocks.columns, blocks.response)
        W = blocks.W[i]
        W[:] = 0.0
        for e in range(lo, hi):
            for a in range(d):
                for b in range(d):
                    W[a, b] += blocks.rows[e, a] * blocks.response[e, b]
        if d == 2:
            blocks.tangential[i] = W[1, 1]
        else:
            mean, half = 0.5 * (W[1, 1] + W[2, 2]), 0.5 * (W[1, 1] - W[2, 2])
            across = 0.5 * (W[1, 2] + W[2, 1])  # equal but for rounding, of any sign
            blocks.tangential[i] = mean + np.sqrt(half * half + across * across)


@njit(cache=True, nogil=True)
def sweep(
    order: np.ndarray,
    blocks: ContactBlocks,
    friction: np.ndarray,
    offset: np.ndarray,
    f: np.ndarray,
    v: np.ndarray,
):
    """One sweep over the contacts in this order, f (m, d) and v (n,) in place:

        f_n <- max(0, f_n - u_n/W_nn),    f_t <- P_[|.| <= mu f_n](f_t - u_t/|W_tt|)

    with u = J v + offset and v = v_free + R^T f. Returns the largest change of a force."""
    d, largest = f.shape[1], 0.0
    u, new = np.empty(d), np.empty(d)
    for i in order:
        lo, hi = blocks.starts[i], blocks.starts[i + 1]
        for a in range(d):
            u[a] = offset[i, a]
        for e in range(lo, hi):
            part = v[blocks.columns[e]]
            for a in range(d):
                u[a] += blocks.rows[e, a] * part
        w = blocks.W[i, 0, 0]
        new[0] = max(0.0, f[i, 0] - u[0] / w) if w > 0.0 else f[i, 0]
        change = new[0] - f[i, 0]
        if new[0] == 0.0 and not f[i].any():  # and so it stays
            continue
        w, size = blocks.tangential[i], 0.0
        for a in range(1, d):
            slip = u[a] + blocks.W[i, a, 0] * change
            new[a] = f[i, a] - slip / w if w > 0.0 else f[i, a]
            size += new[a] * new[a]
        bound = friction[i] * new[0]
        if size > bound * bound:
            for a in range(1, d):
                new[a] *= bound / np.sqrt(size)
        for a in range(d):
            new[a], f[i, a] = new[a] - f[i, a], new[a]
            largest = max(largest, abs(new[a]))
        for e in range(lo, hi):
            push = 0.0
            for a in range(d):
                push += blocks.response[e, a] * new[a]
            v[blocks.columns[e]] += push
    return largest
