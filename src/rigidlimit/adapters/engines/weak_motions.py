"""Weakly determined motions of one body or mechanism: those that geometry resolves as noise only.

An engine's normals and points are off by 1e-8 or more, and three supports under a flat bar then
push sideways, each a little differently: exact balance in that direction would fix the
engine's own forces. For the columns of one body or mechanism, with reach a_j (1 for displacements,
an arm for turns),

    B_j / a_j = U S V^T,   motions V with S <= accuracy max S are left out of the balance,

so that totals hold to ``accuracy`` in those directions and to the solver's tolerance in all others.
Columns of such a mechanism become its singular motions; all others stay as they are.

Motions with S of 1e-14 and the like are not worth a note, but as equations of balance they
fix the engine's forces just the same: faces that lean by 1e-7 have columns of that size, and a
solver that compares within columns sees 1e-14 there as 1e-7. They go too.
"""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..._support.compiled import INNER
from .matrices import Rows, compressed, touching
from .motions import Reduction
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from .balance import Balance

_ROUNDING = TOLERANCES.rounding


def weak_motions(balance: "Balance") -> Reduction | None:
    """The singular motions of mechanisms whose gaps hardly depend on some of them, or None.

    balance : ``Balance``, with mechanisms.
    """
    rows, free = compressed(balance.B), ~balance.held
    of = balance.mechanism, free, balance.reach, balance.accuracy
    weak = _may_be_weak(*rows, *of, TOLERANCES.sure)
    if not weak.any():
        return None
    motions, *left, count = singular_motions(*rows, weak, *of, balance.load, balance.force)
    if not left[0].any():
        return None
    shape = (len(free), len(free))
    return Reduction(sp.csr_array(motions, shape=shape), *left, count)


@njit(cache=True, nogil=True)
def singular_motions(
    values: np.ndarray,
    column: np.ndarray,
    ends: np.ndarray,
    weak: np.ndarray,
    mechanism: np.ndarray,
    free: np.ndarray,
    reach: np.ndarray,
    accuracy: np.ndarray,
    load: np.ndarray,
    force: np.ndarray,
) -> tuple[Rows, np.ndarray, np.ndarray, np.ndarray, int]:
    """``Reduction`` of the mechanisms ``weak`` (bool), by its fields, motions as compressed rows.

    Of compressed rows of B. force: the engine's, of each row.
    """
    n, count, largest = len(load), 0, 0.0
    for j in range(n):
        if free[j]:
            largest = max(largest, abs(load[j]) / reach[j])
    use = free & weak[mechanism]
    rows, row_begin = _grouped(*touching(values, column, ends, mechanism, use), len(weak))
    every = np.flatnonzero(use)
    columns, begin = _grouped(every, mechanism[every], len(weak))
    place, at = np.zeros(n, np.int64), np.zeros(n + 1, np.int32)
    for k in range(len(columns)):
        place[columns[k]] = k - begin[mechanism[columns[k]]]
    for j in range(n):
        p = mechanism[j]
        at[j + 1] = at[j] + (begin[p + 1] - begin[p] if use[j] else 1)
    motions, to = np.zeros(at[-1]), np.empty(at[-1], np.int32)
    changed, gone, unloaded = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for j in range(n):
        motions[at[j] + place[j]], to[at[j]] = 1.0, j
    for p in range(len(weak)):
        own, mine = columns[begin[p] : begin[p + 1]], rows[row_begin[p] : row_begin[p + 1]]
        dense, pressing = np.zeros((max(len(mine), len(own)), len(own))), 0.0
        for q in range(len(mine)):
            pressing += force[mine[q]] ** 2
            for e in range(ends[mine[q]], ends[mine[q] + 1]):
                j = column[e]
                if use[j] and mechanism[j] == p:
                    dense[q, place[j]] = values[e] / reach[j]
        push, limit = np.empty(len(own)), 0.0
        for e in range(len(own)):
            push[e], limit = load[own[e]] / reach[own[e]], max(limit, accuracy[own[e]])
        V, small, idle, noise = _weak(dense, push, limit, largest, np.sqrt(pressing))
        count += noise
        for e in range(len(own)):
            j = own[e]
            for g in range(len(own)):
                to[at[j] + g] = own[g]
                if len(V):
                    motions[at[j] + g] = V[g, e] / reach[j]
            if len(V):
                changed[j], gone[j], unloaded[j] = True, small[e], idle[e]
    return (motions, to, at), changed, gone, unloaded, count


@njit(**INNER)
def _grouped(things, label, count):
    """``things`` by their label, in their order, and where those of each label begin."""
    begin, out = np.zeros(count + 1, np.int64), np.empty(len(things), np.int64)
    for p in label:
        begin[p + 1] += 1
    for p in range(count):
        begin[p + 1] += begin[p]
    at = begin.copy()
    for k in range(len(things)):
        out[at[label[k]]] = things[k]
        at[label[k]] += 1
    return out, begin


@njit(**INNER)
def _weak(dense, load, limit, largest, pressing):
    """(V^T (c, c), or of no size where the motions may stay as they are; which of them are left
    out, and which of these without their load, (c,) bool; how many are worth a note) of one
    mechanism.

    dense (r, c), load (c,): over reach; limit: accuracy; largest: of all loads; pressing: norm of
    the engine's forces.
    """
    if not len(load):
        return dense, np.zeros(0, np.bool_), np.zeros(0, np.bool_), 0
    _, S, V = np.linalg.svd(dense, False)
    # contacts that press far harder than they push on the whole leave loads that are noise
    near = limit * max(largest, S[0] * pressing)
    small, idle, noise, left = S[0] * limit >= S, np.zeros(len(S), np.bool_), 0, 0.0
    pushed = np.zeros(len(S))
    for i in range(len(dense)):
        for e in range(len(S)):
            pushed[e] = 1.0 if dense[i, e] != 0.0 else pushed[e]
    for g in range(len(S)):
        push = 0.0
        for e in range(len(S)):
            push += V[g, e] * load[e]
        idle[g] = small[g] and abs(push) <= near
        noise += small[g] and (S[g] > _ROUNDING * S[0] or abs(push) > _ROUNDING * largest)
        for e in range(len(S) if small[g] else 0):
            # of all columns but zeros something is left, if only 1e-17, and that is an equation of
            # balance like any other
            left = max(left, pushed[e] * abs(V[g, e]))
    return V if noise > 0 or left > _ROUNDING else V[:0], small, idle, noise


@njit(cache=True)
def _may_be_weak(values, column, ends, mechanism, free, reach, accuracy, sure):
    """Which mechanisms may have an S of up to twice their accuracy, ``sure`` at least, of the
    largest, (mechanisms,) bool. Of compressed rows; only columns that are ``free`` count.

    They do not where G - least tr G of G = (B/a)^T B/a, least the square of that part, has a
    Cholesky factor: that detects S^2 far above the rounding of G, 1e-15, in a fraction of the time
    of their decomposition. Blocks without entries have no S.
    """
    place, size, first, part = blocks_of(mechanism, free, accuracy, sure)
    G = np.zeros(first[-1])
    for i in range(len(ends) - 1):
        for e in range(ends[i], ends[i + 1]):
            a = column[e]
            if not free[a]:
                continue
            p = mechanism[a]
            for f in range(ends[i], ends[i + 1]):
                b = column[f]
                if mechanism[b] == p and free[b] and place[b] <= place[a]:
                    G[first[p] + size[p] * place[a] + place[b]] += (
                        values[e] * values[f] / (reach[a] * reach[b])
                    )
    return not_definite(G, size, first, part)


@njit(**INNER)
def blocks_of(mechanism, free, accuracy, sure):
    """(place (n,) of each free column in the block of its mechanism; size, first (mechanisms + 1,)
    of the blocks in one array; part: that S must be above)."""
    count = mechanism.max() + 1 if len(mechanism) else 0
    place, size = np.zeros(len(mechanism), np.int64), np.zeros(count, np.int64)
    part = np.full(count, sure)
    for j in range(len(mechanism)):
        if free[j]:
            p = mechanism[j]
            place[j] = size[p]
            size[p] += 1
            part[p] = max(part[p], 2.0 * accuracy[j])
    first = np.zeros(count + 1, np.int64)
    for p in range(count):
        first[p + 1] = first[p] + size[p] ** 2
    return place, size, first, part


@njit(**INNER)
def not_definite(G, size, first, part):
    """Which blocks have no Cholesky factor less the square of their part, (mechanisms,) bool."""
    weak = np.zeros(len(size), np.bool_)
    for p in range(len(size)):
        block = G[first[p] : first[p + 1]].reshape(size[p], size[p])
        weak[p] = _not_definite(block, part[p] ** 2)
    return weak


@njit(**INNER)
def _not_definite(A, least):
    """Whether A - least tr A has no Cholesky factor; A (c, c), its lower half, is overwritten."""
    trace = 0.0
    for k in range(len(A)):
        trace += A[k, k]
    for k in range(len(A) if trace > 0.0 else 0):
        A[k, k] -= least * trace
        for j in range(k + 1):
            for q in range(j):
                A[k, j] -= A[k, q] * A[j, q]
            if j < k:
                A[k, j] /= A[j, j]
        if not A[k, k] > 0.0:
            return True
        A[k, k] = np.sqrt(A[k, k])
    return False
