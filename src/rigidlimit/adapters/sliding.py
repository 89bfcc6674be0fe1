"""Which motions of a body or mechanism are friction's to balance, not its normal forces'.

Friction forces are kept as the engine has them. Its soft contacts tilt bodies by a thousandth, and
a tilted normal pushes sideways a little: held to the last digit against a friction force that is
taken as given, the body's normal forces would be those of the engine, whatever they were. Friction
that holds gives way to that at once. With the sliding velocities B_t of the contacts that hold,
weighted by their coefficients mu, motions v of a mechanism with

    |B v| <= share |mu B_t v|

are left out of the balance: what the normal forces push along them is at most ``share`` of what
friction there can take. The other motions are those that are orthogonal to these in
B^T B + (mu B_t)^T (mu B_t), so that turns about an edge, which do not slide, stay whole.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .mechanisms import ROUNDING, blocks, decomposed, free_columns, in_motions, leave_nothing


def without_sliding(B, load, held, mechanism, reach, share, accuracy, B_t, hold, force):
    """B and load without the motions that are friction's; motions (n, n), None if there are none
    such; which columns of these are new, (n,) bool; along how many of them normal forces push more
    than rounding.

    B (m, n); B_t (2 m, n): rows 2 i and 2 i + 1 of contact i; hold (m,): mu of the contacts whose
    friction holds, else 0; force (m,) [N]: the engine's; mechanism, reach, accuracy (n,) and held
    (n,) bool as for ``mend_forces``.
    """
    n = B.shape[1]
    unchanged = B, load, None, np.zeros(n, bool), 0
    if share == 0.0 or not hold.any():
        return unchanged
    size = float((np.where(held, 0.0, np.abs(load)) / reach).max(initial=0.0))
    members = free_columns(mechanism, held)
    gripped = sp.csr_array(B_t, copy=True)
    gripped.data *= np.repeat(np.repeat(hold, 2), np.diff(gripped.indptr))
    along = blocks(gripped, mechanism, members, reach)
    turned, gone, unloaded, told = [], [], [], 0
    found = blocks(B, mechanism, members, reach)
    both = [label for label in found if label in along]
    parts = _by_sliding(
        [(found[label][1], along[label][1]) for label in both],
        [float(accuracy[members[label]].max()) for label in both],
    )
    for label, (basis, felt) in zip(both, parts, strict=True):
        rows, normal = found[label]
        columns, slide = members[label], along[label][1]
        mostly = felt <= share * np.sqrt(1 - np.minimum(felt, 1.0) ** 2)
        push = np.abs(basis.T @ (load[columns] / reach[columns]))
        noise = (felt > ROUNDING) | (push > ROUNDING * size)
        if (mostly & noise).any() or not leave_nothing(normal, basis[:, mostly]):
            takes = np.linalg.norm(slide @ basis, axis=0) * float(np.linalg.norm(force[rows]))
            near = np.maximum(size * ROUNDING, share * takes)
            turned.append((columns, basis / reach[columns][:, None]))
            gone.append(columns[mostly])
            told += int((mostly & noise).sum())
            unloaded.append(columns[mostly & (push <= near)])
    if not turned:
        return unchanged
    return *in_motions(B, load, turned, gone, unloaded), told


def interleaved(first, second):
    """(2 m, n): rows of the first direction and of the second in turns."""
    m = first.shape[0]
    order = np.arange(2 * m).reshape(2, m).T.ravel()
    both = sp.vstack([sp.csr_array(first), sp.csr_array(second)])
    return sp.csr_array(sp.csr_array(both)[order])


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


def _by_sliding(parts, accuracy):
    """Of each (normal, slide): motions (c, c) of size one as columns, and |normal v| /
    |normal v, slide v| of each (c,); 1 for those that both feel by less than its ``accuracy``."""
    whole = decomposed([np.vstack(part) for part in parts])
    real = [
        np.count_nonzero(least * S.max(initial=0.0) < S)
        for (_, S, _), least in zip(whole, accuracy, strict=True)
    ]
    upper = [
        U[: len(normal), :count]
        for (normal, _), (U, _, _), count in zip(parts, whole, real, strict=True)
    ]
    found = []
    for (_, S, V), count, (_, cosine, W) in zip(whole, real, decomposed(upper), strict=True):
        basis = V.T.copy()
        basis[:, :count] = (V[:count].T / S[:count]) @ W.T
        basis /= np.linalg.norm(basis, axis=0)
        found.append((basis, np.r_[cosine, np.ones(len(S) - count)]))
    return found
