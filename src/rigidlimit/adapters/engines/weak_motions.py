"""Weakly determined motions of one body or mechanism: those that geometry resolves as noise only.

An engine's normals and points are off by 1e-8 or more, and three supports under a flat bar then
push sideways, each a little otherwise: balance to the last digit in that direction would pin the
engine's own forces. For the columns of one body or mechanism, with reach a_j (1 for displacements,
an arm for turns),

    B_j / a_j = U S V^T,   motions V with S <= accuracy max S are left out of the balance,

so that totals hold to ``accuracy`` in those directions and to the solver's tolerance in all others.
Columns of such a mechanism become its singular motions; all others stay as they are.

Motions with S of 1e-14 and the like are no noise to tell about, but as equations of balance they
pin the engine's forces just the same: faces that lean by 1e-7 have columns of that size, and a
solver that compares within columns sees 1e-14 there as 1e-7. They go too.
"""

import numpy as np

from .mechanisms import ROUNDING, BlockMotions, Reduction, leave_nothing, stacks

SURE = 1e-5
"""S over the largest that its square tells for certain."""


def weak_motions(balance) -> Reduction | None:
    """The singular motions of mechanisms whose gaps hardly depend on some of them, or None.

    balance : ``Balance``, with mechanisms.
    """
    n, load, reach, accuracy = len(balance.load), balance.load, balance.reach, balance.accuracy
    size = float((np.where(balance.held, 0.0, np.abs(load)) / reach).max(initial=0.0))
    blocks, count = [], 0
    gone, unloaded = np.zeros(n, bool), np.zeros(n, bool)
    for stack in stacks(balance.B, balance.parts, reach):
        limit = accuracy[stack.columns].max(axis=1)[:, None]
        some = _may_be_weak(stack.dense, limit)
        if not some.any():
            continue
        columns, rows, dense, limit = (
            a[some] for a in (stack.columns, stack.rows, stack.dense, limit)
        )
        _, S, V = np.linalg.svd(dense, full_matrices=False)
        most = S.max(axis=1, initial=0.0)[:, None]
        small = most * limit >= S
        push = np.abs(np.einsum("gcd,gd->gc", V, load[columns] / reach[columns]))
        noise = small & ((ROUNDING * most < S) | (push > ROUNDING * size))
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


def _may_be_weak(dense, limit):
    """Which of the blocks ``dense`` (g, r, c) may have an S of up to ``limit`` (g, 1) of its
    largest, (g,) bool: by the eigenvalues S^2 of dense^T dense, known to some 1e-15 of the largest;
    an S of 1e-5 is told by them, and their decomposition takes a fifth of the time."""
    squares = np.linalg.eigvalsh(dense.transpose(0, 2, 1) @ dense)
    least = np.maximum(2 * limit[:, 0], SURE) ** 2
    return ~(squares[:, 0] > least * squares[:, -1])
