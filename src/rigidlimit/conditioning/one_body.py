"""Weakly constrained motions of single bodies, excluded from the balance of a step.

A roller between two races is pressed from both sides. If its normals are not quite opposite, by
coordinates rounded to ten digits or by the drift of some steps, B^T f = F~ demands of each roller

    tilt f_i = m a

along the races, and thus the f of whichever solver made F~. Step 1 does not determine it: a force
along a motion of singular value S of B changes its gaps by S^2 only (N = dt B M^-1 B^T), which is
below the rounding of its data where S is below 1e-7. With the columns of one body divided by its
reach a_j, 1 for displacements and its radius for turns, the rows of its closed contacts are

    B_j / a_j = U S V^T,   motions V with zero < S <= weak are excluded from the balance,

which holds in these directions to weak of the forces instead of the solver's tolerance. A motion
under a load above weak of the largest one is kept: a body driven into a wedge, however slender, is
held by forces that do not come from rounding. What remains is B (I - V V^T), in columns over reach,
and the forces' load on it.

One column is removed with each motion that is not resisted then, V or S <= zero: the others hold
all the information, and the motions' own directions may contain nothing but rounding, which would
be divided by its own size. Small entries of other columns stay: without them motions that several
bodies together do not resist would become weakly constrained, and forces would have to balance
them. A column is also removed where a motion with S <= zero is along a column of small entries, as
of all blocks of a stack on a floor that leans by 1e-5: divided by their size, the rounding of
normals is 1e-11. Columns of nothing but rounding over reach, as of the spin of a cylinder on a
face, are always removed: in millimetres they are as large as arms of small bodies in metres.

S and V: see ``screening.py``. Motions above the limit are kept, and step 1 is refined along them
(``last_digits.py``).
"""

import numpy as np
import scipy.sparse as sp

from .._support.matrices import blockwise
from ..bodies import Bodies
from ..linear.column_scaling import ROUNDING, largest_entries
from .screening import Columns, WeakMotions, weak_motions
from .several_bodies import TAKEN, columns_of, without_motions_together
from .step_data import Balance
from .tolerances import TOLERANCES


def reduced_balance(
    bodies: Bodies,
    B: sp.csr_array,
    load: np.ndarray,
    force: np.ndarray,
    resting: np.ndarray | None = None,
    *,
    several_bodies: str = "",
    slight: WeakMotions | None = None,
    apart: Balance | None = None,
) -> Balance:
    """(B, load) of step 2, of the closed contacts of ``bodies``.

    B (m, 6 N): their rows. load (6 N,): F~ = B^T force [N, N m]. force (m,) [N]. resting (m,) bool:
    contacts left out (``idle_contacts.py``), whose rows become empty. several_bodies: how
    collective motions are excluded (``several_bodies.py``), if they are. slight: ``weak_motions``
    of B, up to weak or more, if known. apart: the same with several_bodies="", if known."""
    if resting is not None and resting.any():
        B = sp.csr_array(sp.diags_array(np.where(resting, 0.0, 1.0)) @ B)
        B.eliminate_zeros()
        load = np.where(bodies.free.ravel(), B.T @ force, 0.0)
        slight = None
    B, load = _without_rounding(bodies, B, load)
    if several_bodies in ("", TAKEN):
        if apart is None:
            apart = without_weak_motions(B, load, force, Columns.of(bodies), slight=slight)
        return (
            without_motions_together(bodies, B, load, force, TAKEN, apart)
            if several_bodies
            else apart
        )
    return without_motions_together(bodies, B, load, force, several_bodies)


def _without_rounding(bodies: Bodies, B: sp.csr_array, load):
    """(B, load) without the columns whose entries over reach are all rounding: unchanged
    if there is none."""
    largest = largest_entries(B)
    rounding = (largest > 0.0) & (largest <= ROUNDING * bodies.turning_arm.ravel())
    if not rounding.any():
        return B, load
    B = B.copy()
    B.data[rounding[B.indices]] = 0.0
    B.eliminate_zeros()
    return B, np.where(rounding, 0.0, load)


def resists_other_motions(B: sp.csr_array, than: sp.csr_array, resting: np.ndarray) -> bool:
    """Whether B resists other motions than another B, by contacts that are not ``resting``."""
    rows = np.flatnonzero(~resting)
    return (B[rows] != than[rows]).nnz > 0


def without_weak_motions(
    B: sp.csr_array,
    load: np.ndarray,
    force: np.ndarray,
    columns: Columns,
    *,
    slight: WeakMotions | None = None,
    hardly: np.ndarray | None = None,
    other_load: np.ndarray | None = None,
) -> Balance:
    """(B, load) without weakly constrained motions of the closed contacts; unchanged if all stay.

    B (m, 6 N): rows of the closed contacts. load (6 N,): F~ = B^T force [N, N m]. force (m,) [N].
    slight: ``weak_motions`` of B, if known. hardly (N,): limit of each body in place of weak.
    other_load (6 N,): another load under which motions are kept.
    """
    free, reach = columns
    hardly = np.full(len(free) // 6, TOLERANCES.weak) if hardly is None else hardly
    bodies, S, VT = weak_motions(B, columns, hardly.max()) if slight is None else slight
    limit = hardly[bodies][:, None]
    out = (TOLERANCES.zero < S) & (limit >= S)
    blown = _blown_up(B, bodies, S, VT, reach)
    if not (out.any() or blown.any()):
        return B, load
    some = out.any(axis=1) | blown
    bodies, S, VT, out, blown, limit = (x[some] for x in (bodies, S, VT, out, blown, limit))

    # forces [N] along these motions; a load that is not small stays
    pushed = (load / reach).reshape(-1, 6)
    along = np.einsum("bji,bi->bj", VT, pushed[bodies])
    rest = np.delete(pushed, bodies, axis=0)
    size = max(np.abs(rest).max(initial=0.0), np.abs(np.where(out, 0.0, along)).max(initial=0.0))
    out &= np.abs(along) <= limit * size
    if other_load is not None:
        other = (np.where(free, other_load, 0.0) / reach).reshape(-1, 6)
        out &= np.abs(np.einsum("bji,bi->bj", VT, other[bodies])) <= limit * size
    changed = out.any(axis=1) | blown
    if not changed.any():
        return B, load
    bodies, S, VT, out = (x[changed] for x in (bodies, S, VT, out))
    left = np.where(out[:, :, None], VT, 0.0)
    reduced = sp.csr_array(B @ _without(bodies, left, reach))
    unfelt = out | (TOLERANCES.zero >= S)
    gone = [6 * b + columns_of(V[u]) for b, V, u in zip(bodies, VT, unfelt, strict=True)]
    reduced.data[np.isin(reduced.indices, np.concatenate(gone))] = 0.0
    filled = np.isin(reduced.indices // 6, bodies)
    reduced.data[filled & (np.abs(reduced.data) <= TOLERANCES.zero * reach[reduced.indices])] = 0.0
    reduced.eliminate_zeros()
    reduced.sort_indices()
    return reduced, np.where(free, reduced.T @ force, 0.0)


def _blown_up(B, bodies, S, VT, reach):
    """Which of these bodies have a motion that is not resisted, along a column of faint entries."""
    largest = largest_entries(B)
    columns = 6 * bodies[:, None] + np.arange(6)
    faint = largest[columns] <= TOLERANCES.faint * reach[columns]
    faint &= largest[columns] > ROUNDING * reach[columns]
    unfelt = np.where((TOLERANCES.zero >= S)[:, :, None], VT, 0.0)
    return (faint & (np.linalg.norm(unfelt, axis=1) > 0.5)).any(axis=1)


def _without(bodies, motions, reach):
    """I - V V^T for the rows V^T (6, 6) of each of these bodies, in terms of the velocities: sparse
    (n, n)."""
    columns = 6 * bodies[:, None] + np.arange(6)
    blocks = np.eye(6) - np.einsum("bki,bkj->bij", motions, motions)
    blocks *= reach[columns][:, None, :] / reach[columns][:, :, None]
    return blockwise(len(reach), [(columns, blocks)])
