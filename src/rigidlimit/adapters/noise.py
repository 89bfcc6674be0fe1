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

from .. import arrays

ROUNDING = 1e-13
"""What counts as zero exactly, relative, when noise is looked for."""


def without_noise(B, load, held, mechanism, reach, accuracy, force):
    """B and load on the motions of each mechanism that its gaps feel; motions (n, n); how many
    are left out. accuracy (n,). force (m,) [N]: the engine's, by whose size a load is small, or
    zeros."""
    n = B.shape[1]
    motions, dull = sp.csr_array(sp.eye_array(n)), 0
    if mechanism is None or B.nnz == 0:
        return B, load, motions, dull
    reach = arrays.vector("reach", reach, n, what="degree of freedom (column of B)")
    size = float((np.where(held, 0.0, np.abs(load)) / reach).max(initial=0.0))
    entries = sp.coo_array(B)
    members = groups(mechanism)
    place = np.zeros(n, int)
    turned, silent = [], []
    for part in groups(mechanism[entries.col]).values():
        columns = members[mechanism[entries.col[part[0]]]]
        columns = columns[~held[columns]]
        place[columns] = np.arange(len(columns))
        part = part[~held[entries.col[part]]]
        rows, r = np.unique(entries.row[part], return_inverse=True)
        dense = np.zeros((max(len(rows), len(columns)), len(columns)))
        dense[r, place[entries.col[part]]] = entries.data[part] / reach[entries.col[part]]
        _, felt, V = np.linalg.svd(dense, full_matrices=False)
        limit = float(accuracy[columns].max(initial=0.0))
        small = felt <= limit * felt.max(initial=0.0)
        push = np.abs(V @ (load[columns] / reach[columns]))
        noise = (felt > ROUNDING * felt.max(initial=0.0)) | (push > ROUNDING * size)
        if (small & noise).any():
            turned.append((columns, V.T / reach[columns][:, None]))
            dull += int((small & noise).sum())
            # contacts that press far harder than they push on the whole leave loads that are noise
            near = max(size, felt.max(initial=0.0) * float(np.linalg.norm(force[rows])))
            silent += [columns[small], columns[small & (push <= limit * near)]]
    if not turned:
        return B, load, motions, dull
    motions = motions.tolil()
    for columns, basis in turned:
        motions[np.ix_(columns, columns)] = basis
    motions = sp.csr_array(motions)
    heard, carried = np.ones(n), np.ones(n)
    heard[np.concatenate(silent[::2])] = 0.0
    # a load that is not small stays, and is then said not to be carried
    carried[np.concatenate(silent[1::2])] = 0.0
    B = sp.csr_array(B @ motions @ sp.diags_array(heard))
    B.eliminate_zeros()
    return B, carried * (motions.T @ load), motions, dull


def groups(label):
    """Indices of every value of ``label``."""
    order = np.argsort(label, kind="stable")
    ends = np.flatnonzero(np.diff(label[order])) + 1
    return {label[part[0]]: part for part in np.split(order, ends) if len(part)}
