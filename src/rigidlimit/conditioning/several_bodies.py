"""Weakly constrained collective motions of several bodies, and contacts that cannot carry force.

Bricks in a wall that lean on one another by some 1e-4 have motions that none of them has alone, and
that all contacts together resist by 1e-7 to 1e-12: products of tilts. With columns over reach (see
``one_body.py``)

    B / a = U S V^T,

the balance along V with S <= weak is negligible. If it were imposed, forces would depend on such
tilts, with displacements of 1e6 to 1e15 overlaps, at which no solver converges. Two steps make the
problem well posed; they alternate, as each may create more work for the other:

1. Motions. As many degrees of freedom are held (``HELD``) as there are motions with S <= weak
   without a load of their own: those by which these motions differ most (V^T with column pivoting).
   B keeps its other columns, and no remaining motion is resisted as little.
   (Removing V itself from B, as for one body, leaves columns of 1e-7, which are divided by their
   own size.)
2. Contacts that cannot carry force. Forces that balance are f = f0 + Z y, Z orthonormal with
   B^T Z = 0. If g >= 0 on contacts R that have no force in f0 and none elsewhere, and Z_R^T g = e,

       g . f_R = g . f0_R + e . y,   so that   f_i <= (g . f0_R + |e| |y|) / g_i :

   nothing where |e| <= weak g_i. Such g are found by nonnegative least squares,

       min |Z_R^T g|^2 + (1 - sum g)^2,   g >= 0,

   repeatedly, without those found before.

Where step 2 converges, but with displacements so large that only such motions can cause them
(``idle_contacts.far_moved``), the motions are removed from B as for one body (``TAKEN``), one
connected part at a time, with a column for each of V and S <= zero; dependence on tilts still shows
then. In networks too large for that the solver excludes those that it meets, by their loads
(``unresolved``); for others the force error due to rounding is reported (``last_digits.py``).
"""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr
from scipy.optimize import nnls

from .._support.arrays import with_short_indices
from .._support.sets import connected, groups
from .._support.singular import svd
from ..bodies import Bodies
from ..linear.column_scaling import ROUNDING
from .screening import Columns
from .step_data import Balance
from .tolerances import TOLERANCES

TAKEN, HELD, NONE = "taken", "held", "none"
"""How collective motions are excluded, NONE where removing contacts that cannot carry force was
enough; "" where none were looked for."""


def without_motions_together(
    bodies: Bodies,
    B: sp.csr_array,
    load: np.ndarray,
    force: np.ndarray,
    how: str,
    apart: Balance | None = None,
) -> Balance:
    """(B, load) without weakly constrained collective motions of ``bodies``; unchanged if there
    are none. B (m, 6 N), load (6 N,): F~ = B^T force [N, N m]. force (m,) [N]. how: TAKEN, HELD or
    NONE. apart: (B, load) without such motions of one body, returned where nothing is TAKEN; by
    default (B, load)."""
    if how == NONE:
        return B, load
    if how == HELD:
        return _with_held(bodies, B, load, force)
    return _taken(bodies, B, load, force, (B, load) if apart is None else apart)


def unresolved(bodies: Bodies, B: sp.csr_array) -> float:
    """Largest S of the motions that the solver of step 2 excludes from the balance by itself: 0
    where they are looked for here, in closed contacts B (m, 6 N)."""
    touched = np.zeros(B.shape[1], bool)
    touched[B.indices] = True
    columns = np.count_nonzero(touched & bodies.free.ravel())
    return TOLERANCES.weak if B.shape[0] * columns > TOLERANCES.most_entries else 0.0


def _taken(bodies, B, load, force, apart):
    free, reach = Columns.of(bodies)
    size = np.abs(load / reach)[free].max(initial=0.0)
    out, entries, place = np.zeros(B.shape[0], bool), [], []
    for rows, columns in _parts(B, free):
        if len(rows) * len(columns) > TOLERANCES.most_entries:
            continue
        arm = reach[columns]
        dense = B[rows][:, columns].toarray() / arm
        VT, S, push = decomposed(dense, load[columns] / arm)
        slight = _slight(S, push, size)
        taken = slight & (TOLERANCES.zero < S)
        if not taken.any():
            continue
        dense -= (dense @ VT[taken].T) @ VT[taken]
        dense[:, columns_of(VT[slight | (TOLERANCES.zero >= S)])] = 0.0
        dense[np.abs(dense) <= TOLERANCES.zero] = 0.0
        reduced = sp.coo_array(dense * arm)
        out[rows] = True
        entries.append(reduced.data)
        place.append(np.stack([rows[reduced.row], columns[reduced.col]]))
    if not entries:
        return apart
    others = sp.csr_array(sp.diags_array(np.where(out, 0.0, 1.0)) @ apart[0])
    here = tuple(np.concatenate(place, axis=1))
    reduced = sp.csr_array(others + sp.csr_array((np.concatenate(entries), here), shape=B.shape))
    reduced.eliminate_zeros()
    reduced.sort_indices()
    return reduced, np.where(free, reduced.T @ force, 0.0)


def _parts(B, free):
    """(rows (r,), free columns (c,) of B with entries) of each connected part in turn."""
    B, n = with_short_indices(B), B.shape[1]
    of_column, of_row = connected(B.data, B.indices, B.indptr, np.array(free), np.arange(n), n, 1)
    used = np.unique(B.indices[free[B.indices]])
    rows = groups(of_row)
    for part, places in groups(of_column[used]).items():
        yield rows[part], used[places]


def columns_of(motions: np.ndarray) -> np.ndarray:
    """(r,) columns without which no combination of these motions (r, k) can move: one for each, as
    far from one another as can be."""
    return qr(motions, mode="r", pivoting=True)[1][: len(motions)]


def _with_held(bodies, B, load, force):
    found = _over_reach(bodies, B, TOLERANCES.most_entries)
    if found is None:
        return B, load
    dense, columns, arm = found
    held = _held(dense, load[columns] / arm)
    if not (np.abs(dense[:, held]) > ROUNDING).any():
        return B, load
    kept = np.ones(B.shape[1])
    kept[columns[held]] = 0.0
    B = sp.csr_array(B @ sp.diags_array(kept))
    B.eliminate_zeros()
    return B, np.where(bodies.free.ravel(), B.T @ force, 0.0)


def never_bearing_together(bodies: Bodies, B: sp.csr_array, force: np.ndarray) -> np.ndarray:
    """Contacts (m,) bool that cannot carry force once such motions are held. force (m,) [N]: forces
    that made F~."""
    out = np.zeros(B.shape[0], bool)
    found = _over_reach(bodies, B, TOLERANCES.most_entries)
    if found is None or not force.any() or B.shape[0] ** 2 > TOLERANCES.most_pairs:
        return out
    whole = found[0]
    for _ in range(TOLERANCES.rounds):
        rows = np.flatnonzero(~out)
        dense = whole[rows]
        dense = np.delete(dense, _held(dense, dense.T @ force[rows]), axis=1)
        more = cannot_bear(dense, force[rows] <= TOLERANCES.weak * force.max())
        if not more.any():
            break
        out[rows[more]] = True
    return out


def _over_reach(bodies, B, most):
    """(B over reach (m, c) in its free columns that have entries, which these are (c,), their reach
    (c,)); None where that is more than ``most`` entries, or nothing."""
    free, reach = Columns.of(bodies)
    columns = np.unique(B.indices)
    columns = columns[free[columns]]
    if not 0 < B.shape[0] * len(columns) <= most:
        return None
    reach = reach[columns]
    return B[:, columns].toarray() / reach, columns, reach


def decomposed(dense: np.ndarray, load: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(V^T (c, c), S (c,), the size of the load along each motion (c,)) of B over reach (m, c) and
    a load over reach (c,)."""
    m, c = dense.shape
    _, S, VT = svd(dense, full_matrices=m < c)
    return VT, np.pad(S, (0, c - len(S))), np.abs(VT @ load)


def _slight(S, push, size):
    """Which motions are resisted by weak at most and have no load of their own, (c,) bool. push
    (c,): the load along each; size: of all loads."""
    return (TOLERANCES.weak >= S) & (push <= TOLERANCES.weak * size)


def _held(dense, load):
    """Columns of B over reach (m, c) to be held, for a load over reach (c,)."""
    VT, S, push = decomposed(dense, load)
    slight = _slight(S, push, np.abs(load).max(initial=0.0))
    if not slight.any():
        return np.zeros(0, int)
    c = dense.shape[1]
    return np.sort(columns_of(VT[slight] * (1.0 - TOLERANCES.order * np.arange(c) / c)))


def cannot_bear(dense: np.ndarray, resting: np.ndarray) -> np.ndarray:
    """Which of the ``resting`` contacts (m,) bool of B over reach (m, c) cannot carry force, (m,)
    bool."""
    out = np.zeros(len(resting), bool)
    m, c = dense.shape
    U, S, _ = svd(dense, full_matrices=c < m)
    rank = np.count_nonzero(S / (S.max(initial=0.0) or 1.0) > TOLERANCES.rank)
    Z, left = U[:, rank:], np.flatnonzero(resting)
    while len(left) and Z.shape[1]:
        length = np.linalg.norm(Z[left], axis=1)
        fixed = length <= TOLERANCES.weak
        if not fixed.any():
            g = _pressing(Z[left])
            fixed = np.linalg.norm(Z[left].T @ g) <= TOLERANCES.weak * g
            fixed &= g > 0.0
        if not fixed.any():
            break
        out[left[fixed]] = True
        left = left[~fixed]
    return out


def _pressing(rows):
    """g >= 0 (r,) with a sum of one and rows^T g as small as can be; zeros if none is found."""
    E = np.vstack([rows.T, np.ones(len(rows))])
    target = np.zeros(len(E))
    target[-1] = 1.0
    try:
        g = nnls(E, target, maxiter=30 * len(rows))[0]
    except RuntimeError:  # too many iterations
        return np.zeros(len(rows))
    return g / (g.sum() or 1.0)
