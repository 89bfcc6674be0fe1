"""LU factorization of the blocks of bodies, front by front, and its substitution.

The pattern of K is symmetric, its values need not be: fronts are those of the Cholesky
factorization of networks (``network.fronts``), pivots are taken within a front. A front with
columns P and rows R, column by column in one array F (k + r, k + r), becomes

    P' F_PP = L U,   F_PR := L^-1 P' F_PR,   F_RP := F_RP U^-1,   F_RR := F_RR - F_RP F_PR,

and the last is added to the front of its parent. What stays of each front: its k columns (L, U and
F_RP), then F_PR.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .._support.memory import check_room
from ..linear.dissection import elimination_order
from ..linear.fronts import SETTINGS, Fronts, dense_fronts
from ..linear.lapack import routine
from .blocks import Blocks

ONE_FRONT = 72
"""Largest number of degrees of freedom for which the whole system is one front."""

_dgetrf = routine("cython_lapack", "dgetrf", 6)
_dlaswp = routine("cython_lapack", "dlaswp", 7)
_dtrsm = routine("cython_blas", "dtrsm", 11)
_dgemm = routine("cython_blas", "dgemm", 13)

MORE_LETTERS = np.frombuffer(b"LRNU", np.uint8)
"""Left or lower, right, no, unit or upper."""


def fronts_of(blocks: Blocks) -> Fronts:
    """Fronts of K, by nested dissection; one front if it is small."""
    n, width = blocks.size, blocks.width
    if n <= ONE_FRONT:
        # of the types that fronts of several have
        rows, none, ends = np.zeros(0, np.int32), np.zeros(0, np.int64), np.array([0, 0])
        return Fronts(
            np.arange(n), np.array([0, n]), rows, ends, np.array([-1]), none, ends, np.array([0])
        )
    bodies = np.arange(n // width + 1)
    touch, empty = blocks.touch, (np.zeros(n + 1, np.int32), np.zeros(0, np.int32))
    nothing = type(touch)((len(bodies) - 1, len(bodies) - 1))
    order = elimination_order(touch, nothing, bodies)
    order = bodies[:-1] if order is None else order
    dofs = (width * touch.indices[:, None] + np.arange(width)).ravel()
    return dense_fronts((width * touch.indptr, dofs), empty, width * bodies, order)


class _Tree(NamedTuple):
    """Fronts for compiled code, see ``linear.fronts.Fronts``; begins: where each one's entries
    begin."""

    column: np.ndarray
    row_starts: np.ndarray
    rows: np.ndarray
    parent: np.ndarray
    begins: np.ndarray


class _Values(NamedTuple):
    """Blocks of K for compiled code, see ``Blocks``; body_at: bodies in the order of
    elimination, place: the inverse."""

    ptr: np.ndarray
    col: np.ndarray
    across: np.ndarray
    values: np.ndarray
    body_at: np.ndarray
    place: np.ndarray


class Elimination:
    """What all factorizations of one pattern share."""

    def __init__(self, blocks: Blocks):
        self.blocks, self.fronts = blocks, fronts_of(blocks)
        f, width = self.fronts, blocks.width
        k, r = np.diff(f.column), np.diff(f.row_starts)
        self.begins = np.concatenate([[0], np.cumsum(k * (k + 2 * r))])
        self.body_at = f.dofs[::width] // width
        self.place = np.argsort(self.body_at)
        self.widest = int((k + r).max(initial=0))
        self.waiting = int(_most_waiting(r, f.parent))
        self.tree = _Tree(f.column, f.row_starts, f.rows, f.parent, self.begins)
        self.stack = None

    @property
    def operations(self) -> float:
        """Work of a factorization, in multiplications that LAPACK would do in the same time."""
        k, r = np.diff(self.fronts.column).astype(float), np.diff(self.fronts.row_starts)
        return float((2.0 * k * (k * k / 3 + k * r + r * r) + SETTINGS.move * (k + r) ** 2).sum())

    def factorize(self, values: np.ndarray) -> "Factor":
        """Factor of K; raises ``LinAlgError`` if it is singular."""
        f, blocks = self.fronts, self.blocks
        if self.stack is None:
            needed = 8.0 * (self.begins[-1] + self.waiting + self.widest**2)
            check_room(needed, f"the factorization of {len(f.dofs):,} degrees of freedom")
            self.stack = np.empty(self.waiting)
            self.front = np.empty(self.widest**2)
        entries = np.empty(self.begins[-1])
        pivots = np.empty(len(f.dofs), np.int32)
        blocks = _Values(blocks.ptr, blocks.col, blocks.across, values, self.body_at, self.place)
        if not _factorize(self.tree, blocks, entries, pivots, (self.stack, self.front)):
            raise np.linalg.LinAlgError("singular matrix")
        return Factor(self, entries, pivots)


class Factor:
    """L U = K; ``solve`` solves."""

    def __init__(self, elimination: Elimination, entries: np.ndarray, pivots: np.ndarray):
        self.elimination, self.entries, self.pivots = elimination, entries, pivots

    def solve(self, b: np.ndarray) -> np.ndarray:
        """x with K x = b, both (size,)."""
        e = self.elimination
        out = np.empty(len(b))
        x, buffer = b[e.fronts.dofs], np.empty(e.widest)
        _substitute(e.tree, self.entries, self.pivots, x, buffer)
        out[e.fronts.dofs] = x
        return out


@njit(cache=True, nogil=True)
def _most_waiting(rows, parent):
    """Entries of the updates (r, r) that wait for their parents at once, at most."""
    taken = np.zeros(len(rows) + 1)
    now = most = 0.0
    for s in range(len(rows)):
        now += float(rows[s]) ** 2 - taken[s]
        most = max(most, now + taken[s])
        if parent[s] >= 0:
            taken[parent[s]] += float(rows[s]) ** 2
    return most


@njit(cache=True, nogil=True)
def _factorize(tree, blocks, entries, pivots, room):
    """Entries and pivots of all fronts, in place; False if one is singular. room: for updates that
    wait for their parents, and for one front."""
    (column, row_starts, all_rows, parent, begins), (stack, space) = tree, room
    fronts = len(parent)
    local = np.zeros(len(pivots), np.int64)
    at = np.zeros(fronts + 1, np.int64)  # where updates that wait begin in the stack
    waits = np.empty(fronts, np.int64)
    count = 0
    for s in range(fronts):
        low, k = column[s], column[s + 1] - column[s]
        rows = all_rows[row_starts[s] : row_starts[s + 1]]
        r = len(rows)
        front = space[: (k + r) * (k + r)]
        front[:] = 0.0
        for d in range(k):
            local[low + d] = d
        for i in range(r):
            local[rows[i]] = k + i
        _collect(blocks, low, k, local, k + r, front)
        while count > 0 and parent[waits[count - 1]] == s:
            count -= 1
            child = waits[count]
            theirs = all_rows[row_starts[child] : row_starts[child + 1]]
            _add_update(stack[at[count] :], theirs, local, k + r, front)
        if not _eliminate(front, k, r, pivots[low : low + k]):
            return False
        _keep(front, k, r, entries[begins[s] :])
        if r > 0:
            _pass_on(front, k, r, stack[at[count] :])
            waits[count] = s
            count += 1
            at[count] = at[count - 1] + r * r
    return True


@njit(**INNER)
def _collect(blocks, low, k, local, ld, front):
    """Adds the blocks of K whose first column is one of the front's own."""
    ptr, col, across, values, body_at, place = blocks
    width = values.shape[1]
    for p in range(low // width, (low + k) // width):
        body = body_at[p]
        for e in range(ptr[body], ptr[body + 1]):
            q = place[col[e]]
            if q < p:
                continue
            a, c = local[width * p], local[width * q]
            one, other = values[e], values[across[e]]
            for x in range(width):
                for y in range(width):
                    front[(c + y) * ld + a + x] += one[x, y]
                    if q > p:
                        front[(a + y) * ld + c + x] += other[x, y]


@njit(**INNER)
def _add_update(update, rows, local, ld, front):
    """Adds what a child passed on, column by column."""
    size = len(rows)
    for j in range(size):
        to = local[rows[j]] * ld
        for i in range(size):
            front[to + local[rows[i]]] += update[j * size + i]


@njit(**INNER)
def _keep(front, k, r, entries):
    """The k columns of an eliminated front, then F_PR."""
    begin = k * (k + r)
    for e in range(begin):
        entries[e] = front[e]
    for j in range(r):
        for i in range(k):
            entries[begin + j * k + i] = front[(k + j) * (k + r) + i]


@njit(**INNER)
def _pass_on(front, k, r, update):
    """F_RR, column by column."""
    for j in range(r):
        for i in range(r):
            update[j * r + i] = front[(k + j) * (k + r) + k + i]


@njit(**INNER)
def _eliminate(front, k, r, pivots):
    left, right, no, unit = (
        MORE_LETTERS[0:1], MORE_LETTERS[1:2], MORE_LETTERS[2:3], MORE_LETTERS[3:4]
    )  # fmt: skip
    sizes = np.array([k, r, k + r, 0, 1], np.int32)
    K, R, LD, wrong, first = sizes[0:1], sizes[1:2], sizes[2:3], sizes[3:4], sizes[4:5]
    ones = np.array([1.0, -1.0])
    one, less = ones[0:1], ones[1:2]
    _dgetrf(K.ctypes, K.ctypes, front.ctypes, LD.ctypes, pivots.ctypes, wrong.ctypes)
    if wrong[0] != 0:
        return False
    if r > 0:
        upper, lower, rest = front[k * (k + r) :], front[k:], front[k * (k + r) + k :]
        _dlaswp(
            R.ctypes, upper.ctypes, LD.ctypes, first.ctypes, K.ctypes, pivots.ctypes, first.ctypes
        )
        _dtrsm(
            left.ctypes, left.ctypes, no.ctypes, unit.ctypes, K.ctypes, R.ctypes, one.ctypes,
            front.ctypes, LD.ctypes, upper.ctypes, LD.ctypes,
        )  # fmt: skip
        _dtrsm(
            right.ctypes, unit.ctypes, no.ctypes, no.ctypes, R.ctypes, K.ctypes, one.ctypes,
            front.ctypes, LD.ctypes, lower.ctypes, LD.ctypes,
        )  # fmt: skip
        _dgemm(
            no.ctypes, no.ctypes, R.ctypes, R.ctypes, K.ctypes, less.ctypes, lower.ctypes,
            LD.ctypes, upper.ctypes, LD.ctypes, one.ctypes, rest.ctypes, LD.ctypes,
        )  # fmt: skip
    return True


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _substitute(tree, entries, pivots, x, buffer):
    """x := K^-1 x, both in the order of elimination."""
    column, row_starts, all_rows, _, begins = tree
    fronts = len(column) - 1
    for s in range(fronts):
        low, k = column[s], column[s + 1] - column[s]
        r = row_starts[s + 1] - row_starts[s]
        for i in range(k):
            p = low + pivots[low + i] - 1
            x[low + i], x[p] = x[p], x[low + i]
        for i in range(k):
            buffer[i] = x[low + i]
        for i in range(r):
            buffer[k + i] = 0.0
        for j in range(k):
            t, panel = buffer[j], entries[begins[s] + j * (k + r) : begins[s] + (j + 1) * (k + r)]
            for i in range(j + 1, k + r):
                buffer[i] -= panel[i] * t
        for i in range(k):
            x[low + i] = buffer[i]
        for i in range(r):
            x[all_rows[row_starts[s] + i]] += buffer[k + i]
    for s in range(fronts - 1, -1, -1):
        low, k = column[s], column[s + 1] - column[s]
        r = row_starts[s + 1] - row_starts[s]
        mine = x[low : low + k]
        begin = begins[s] + k * (k + r)
        for j in range(r):
            t, upper = x[all_rows[row_starts[s] + j]], entries[begin + j * k : begin + (j + 1) * k]
            for i in range(k):
                mine[i] -= upper[i] * t
        for j in range(k - 1, -1, -1):
            upper = entries[begins[s] + j * (k + r) : begins[s] + j * (k + r) + j + 1]
            mine[j] /= upper[j]
            for i in range(j):
                mine[i] -= upper[i] * mine[j]
