"""Which motions of a body or mechanism its contacts feel, beyond the noise of an engine's geometry.

An engine's normals and points are off by 1e-8 or more, and three supports under a flat bar then
push sideways, each a little otherwise: balance to the last digit in that direction would pin the
engine's own forces. For the columns of one body or mechanism, with reach a_j (1 for displacements,
an arm for turns),

    B_j / a_j = U S V^T,   motions V with S <= accuracy max S are left out of the balance,

so that totals hold to ``accuracy`` in those directions and to the solver's tolerance in all others.
Columns of such a mechanism become its singular motions; all others stay as they are.

Motions felt by 1e-14 and the like are no noise to tell about, but as equations of balance they pin
the engine's forces just the same: faces that lean by 1e-7 have columns of that size, and a solver
that compares within columns sees 1e-14 there as 1e-7. They go too: entries of B that are rounding
beside their row (``without_rounding``: a wheel pressed through its axle), then whole motions.
"""

import numpy as np
import scipy.sparse as sp

from .mechanisms import ROUNDING, blocks, decomposed, free_columns, in_motions, leave_nothing


def without_rounding(B, reach):
    """B (m, n) without entries, over ``reach`` (n,), that are rounding beside the rest of their
    row: the other body's, if not the same body's."""
    entries = sp.coo_array(B)
    value = np.abs(entries.data) / reach[entries.col]
    size = np.sqrt(np.bincount(entries.row, weights=value**2, minlength=B.shape[0]))
    real = value > ROUNDING * size[entries.row]
    place = entries.row[real], entries.col[real]
    return sp.csr_array((entries.data[real], place), shape=B.shape)


def without_noise(B, load, held, mechanism, reach, accuracy, force):
    """B and load on the motions of each mechanism that its gaps feel; motions (n, n), None where
    all do; which columns of these are new, (n,) bool; how many are left out. accuracy (n,). force
    (m,) [N]: the engine's, by whose size a load is small, or zeros."""
    dull, same = 0, np.zeros(B.shape[1], bool)
    if mechanism is None or B.nnz == 0:
        return B, load, None, same, dull
    size = float((np.where(held, 0.0, np.abs(load)) / reach).max(initial=0.0))
    members = free_columns(mechanism, held)
    turned, gone, unloaded = [], [], []
    found = blocks(B, mechanism, members, reach)
    parts = decomposed([dense for _, dense in found.values()])
    for (label, (rows, dense)), (_, felt, V) in zip(found.items(), parts, strict=True):
        columns = members[label]
        limit = float(accuracy[columns].max(initial=0.0))
        most = felt.max(initial=0.0)
        small = felt <= limit * most
        push = np.abs(V @ (load[columns] / reach[columns]))
        noise = (felt > ROUNDING * most) | (push > ROUNDING * size)
        if (small & noise).any() or not leave_nothing(dense, V[small].T):
            turned.append((columns, V.T / reach[columns][:, None]))
            dull += int((small & noise).sum())
            # contacts that press far harder than they push on the whole leave loads that are noise
            near = max(size, most * float(np.linalg.norm(force[rows])))
            gone.append(columns[small])
            unloaded.append(columns[small & (push <= limit * near)])
    if not turned:
        return B, load, None, same, dull
    return *in_motions(B, load, turned, gone, unloaded), dull
