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
from numba import njit

from .matrices import compressed
from .mechanisms import BlockMotions, Reduction, leave_nothing, partition, stacks
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from .balance import Balance


def weak_motions(balance: "Balance") -> Reduction | None:
    """The singular motions of mechanisms whose gaps hardly depend on some of them, or None.

    balance : ``Balance``, with mechanisms.
    """
    n, load, reach, accuracy = len(balance.load), balance.load, balance.reach, balance.accuracy
    size = float((np.where(balance.held, 0.0, np.abs(load)) / reach).max(initial=0.0))
    suspects = _suspects(balance)
    if not suspects:
        return None
    blocks, count = [], 0
    gone, unloaded = np.zeros(n, bool), np.zeros(n, bool)
    for stack in stacks(balance.B, suspects, reach):
        columns, rows, dense = stack.columns, stack.rows, stack.dense
        limit = accuracy[columns].max(axis=1)[:, None]
        _, S, V = np.linalg.svd(dense, full_matrices=False)
        most = S.max(axis=1, initial=0.0)[:, None]
        small = most * limit >= S
        push = np.abs(np.einsum("gcd,gd->gc", V, load[columns] / reach[columns]))
        noise = small & ((TOLERANCES.rounding * most < S) | (push > TOLERANCES.rounding * size))
        turn = noise.any(axis=1) | ~leave_nothing(dense, V, small)
        if not turn.any():
            continue
        count += int(noise.sum())
        blocks.append(
            (columns[turn], V[turn].transpose(0, 2, 1) / reach[columns[turn]][:, :, None])
        )
        # contacts that press far harder than they push on the whole leave loads that are noise
        # the engine's forces, by whose size a load is small
        pressing = np.where(rows >= 0, balance.force[rows], 0.0)
        near = np.maximum(size, most * np.linalg.norm(pressing, axis=1)[:, None])
        left = small & turn[:, None]
        gone[columns[left]] = True
        unloaded[columns[left & (push <= limit * near)]] = True
    return Reduction(BlockMotions(n, tuple(blocks)), gone, unloaded, count) if blocks else None


def _suspects(balance):
    """Columns, as from ``partition``, of mechanisms that may have an S of up to their accuracy."""
    free = ~balance.held
    weak = _may_be_weak(
        *compressed(balance.B),
        balance.mechanism,
        free,
        balance.reach,
        balance.accuracy,
        TOLERANCES.sure,
    )
    return partition(balance.mechanism, free & weak[balance.mechanism]) if weak.any() else ()


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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def not_definite(G, size, first, part):
    """Which blocks have no Cholesky factor less the square of their part, (mechanisms,) bool."""
    weak = np.zeros(len(size), np.bool_)
    for p in range(len(size)):
        block = G[first[p] : first[p + 1]].reshape(size[p], size[p])
        weak[p] = _not_definite(block, part[p] ** 2)
    return weak


@njit(cache=True)
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
