"""Which motions of a body or mechanism its contacts feel, beyond the noise of an engine's geometry.

An engine's normals and points are off by 1e-8 or more, and three supports under a flat bar then
push sideways, each a little otherwise: balance to the last digit in that direction would pin the
engine's own forces. For the columns of one body or mechanism, with reach a_j (1 for displacements,
an arm for turns),

    B_j / a_j = U S V^T,   motions V with S <= accuracy max S are left out of the balance,

so that totals hold to ``accuracy`` in those directions and to the solver's tolerance in all others.
Columns of such a mechanism become its singular motions; all others stay as they are.
"""

import numpy as np
import scipy.sparse as sp

from .mechanisms import blocks, free_columns, in_motions, tall

ROUNDING = 1e-13
"""What counts as zero exactly, relative, when noise is looked for."""


def without_noise(B, load, held, mechanism, reach, accuracy, force, mixed=None):
    """B and load on the motions of each mechanism that its gaps feel; motions (n, n); how many
    are left out. accuracy (n,). force (m,) [N]: the engine's, by whose size a load is small, or
    zeros. mixed (n,) bool: columns that hold motions which no gap feels among others; those of
    their mechanisms are told apart even where there is no noise."""
    n = B.shape[1]
    motions, dull = sp.csr_array(sp.eye_array(n)), 0
    if mechanism is None or B.nnz == 0:
        return B, load, motions, dull
    size = float((np.where(held, 0.0, np.abs(load)) / reach).max(initial=0.0))
    members = free_columns(mechanism, held)
    turned, gone, unloaded = [], [], []
    for label, (rows, dense) in blocks(B, mechanism, members, reach).items():
        columns = members[label]
        _, felt, V = np.linalg.svd(tall(dense), full_matrices=False)
        limit = float(accuracy[columns].max(initial=0.0))
        small = felt <= limit * felt.max(initial=0.0)
        push = np.abs(V @ (load[columns] / reach[columns]))
        noise = (felt > ROUNDING * felt.max(initial=0.0)) | (push > ROUNDING * size)
        if (small & noise).any() or (mixed is not None and mixed[columns].any() and small.any()):
            turned.append((columns, V.T / reach[columns][:, None]))
            dull += int((small & noise).sum())
            # contacts that press far harder than they push on the whole leave loads that are noise
            near = max(size, felt.max(initial=0.0) * float(np.linalg.norm(force[rows])))
            gone.append(columns[small])
            unloaded.append(columns[small & (push <= limit * near)])
    if not turned:
        return B, load, motions, dull
    return *in_motions(B, load, turned, gone, unloaded)[:3], dull
