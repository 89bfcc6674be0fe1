"""Which motions of a body or mechanism are friction's to balance, not its normal forces'.

Friction forces are kept as the engine has them. Its soft contacts tilt bodies by a thousandth, and
a tilted normal pushes sideways a little: held to the last digit against a friction force that is
taken as given, the body's normal forces would be those of the engine, whatever they were. Friction
that holds gives way to that at once. With the tangential velocities T of the contacts that hold,
weighted by their coefficients mu, motions v of a mechanism with

    |B v| <= share |mu T v|

are left out of the balance: what the normal forces push along them is at most ``share`` of what
friction there can take. The other motions are those that are orthogonal to these in
B^T B + (mu T)^T (mu T), so that turns about an edge, which do not slide, stay whole.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .matrices import groups, scaled
from .mechanisms import ROUNDING, BlockMotions, Reduction, leave_nothing, stacks


def friction_motions(B, T, mu, balance, share) -> Reduction | None:
    """Motions that are left to friction, or None where there are none.

    B (m, n) and T (2 m, n), rows 2 i and 2 i + 1 of contact i, in the velocities of ``balance``;
    mu (m,): of the contacts whose friction holds, else 0; share: see above.
    """
    if share == 0.0 or not mu.any():
        return None
    (m, n), reach, load = B.shape, balance.reach, balance.load
    size = float((np.where(balance.held, 0.0, np.abs(load)) / reach).max(initial=0.0))
    weighted = scaled(T, rows=np.repeat(mu, 2))
    both = sp.vstack([B, weighted]).tocsr() if sp.issparse(B) or sp.issparse(T) else None
    both = np.vstack([B, weighted]) if both is None else both
    blocks, count = [], 0
    gone, unloaded = np.zeros(n, bool), np.zeros(n, bool)
    for stack in stacks(both, balance.parts, reach):
        normal = (stack.rows >= 0) & (stack.rows < m)
        sliding = stack.rows >= m
        either = normal.any(axis=1) & sliding.any(axis=1)
        columns, dense = stack.columns[either], stack.dense[either]
        normal, sliding, rows = normal[either], sliding[either], stack.rows[either]
        basis, part = _by_sliding(dense, normal, balance.accuracy[columns].max(axis=1))
        mostly = part <= share * np.sqrt(1 - np.minimum(part, 1.0) ** 2)
        push = np.abs(np.einsum("gcd,gc->gd", basis, load[columns] / reach[columns]))
        noise = mostly & ((part > ROUNDING) | (push > ROUNDING * size))
        pressing = np.where(normal[:, :, None], dense, 0.0)
        turn = noise.any(axis=1) | ~leave_nothing(pressing, basis.transpose(0, 2, 1), mostly)
        if not turn.any():
            continue
        count += int(noise.sum())
        force = np.linalg.norm(
            np.where(normal, balance.force[np.where(normal, rows, 0)], 0.0), axis=1
        )
        slides = np.where(sliding[:, :, None], dense, 0.0) @ basis
        near = np.maximum(size * ROUNDING, share * np.linalg.norm(slides, axis=1) * force[:, None])
        blocks.append((columns[turn], basis[turn] / reach[columns[turn]][:, :, None]))
        left = mostly & turn[:, None]
        gone[columns[left]] = True
        unloaded[columns[left & (push <= near)]] = True
    return Reduction(BlockMotions(n, tuple(blocks)), gone, unloaded, count) if blocks else None


def _by_sliding(dense, normal, accuracy):
    """Motions of each mechanism of size one, columns (g, c, c), and |B v| / |B v, mu T v| of each
    (g, c); 1 for those along which both are less than its ``accuracy`` (g,).

    normal (g, r) bool: which rows of ``dense`` (g, r, c) are of B.
    """
    U, S, V = np.linalg.svd(dense, full_matrices=False)
    g, c = S.shape
    real = (accuracy[:, None] * S.max(axis=1, initial=0.0)[:, None] < S).sum(axis=1)
    basis, part = V.transpose(0, 2, 1).copy(), np.ones((g, c))
    U = np.where(normal[:, :, None], U, 0.0)
    for count, members in groups(real).items():
        _, cosine, W = np.linalg.svd(U[members, :, :count], full_matrices=False)
        straight = (V[members, :count] / S[members, :count, None]).transpose(0, 2, 1)
        basis[members, :, :count] = straight @ W.transpose(0, 2, 1)
        part[members, :count] = cosine
    basis /= np.linalg.norm(basis, axis=1)[:, None, :]
    return basis, part


def interleaved(first, second):
    """(2 m, n): rows of the first direction and of the second in turns."""
    if not sp.issparse(first):
        return np.stack([first, second], axis=1).reshape(2 * len(first), first.shape[1])
    m = first.shape[0]
    order = np.arange(2 * m).reshape(2, m).T.ravel()
    return sp.csr_array(sp.csr_array(sp.vstack([first, second]))[order])


def across(normal):
    """Two unit vectors across each normal and each other, (2, m, 3)."""
    least = np.abs(normal).argmin(axis=1)
    axis = np.eye(3)[least]
    first = np.cross(normal, axis)
    first /= np.maximum(np.linalg.norm(first, axis=1), 1e-300)[:, None]
    return np.stack([first, np.cross(normal, first)])


def in_world(mended, axes, slide):
    """``mended`` with friction forces as vectors; it has them along ``axes`` (2, m, 3), and slide
    (m, 3) is what the engine gave."""
    moved = np.einsum("ik,kij->ij", mended.tangential, axes)
    moved = np.where(mended.friction_moved[:, None], moved, slide)
    return replace(mended, tangential=moved, engine_tangential=slide)
