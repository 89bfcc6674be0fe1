"""Contacts that can never bear, looked for where compatible displacements are long levers.

Rollers that touch side by side hold one another on their races. Where they lean by rounding only, so
is what they press one another with, g of 1e-8 of the forces f on the races. But contacts do not
pull: in an open row of rollers each g is a sum of tilts times f up to the row's end, and g >= 0
asks f for what no elastic bodies know. It shows in the displacements u of the compatible forces:
tilts up to LIMIT change f only where some u_j a_j, a_j the reach, exceeds the largest overlap c by

    max |u_j a_j| > c / LIMIT.

Then motions y of the bodies that move that far, and of those around them, are asked for, |y_j a_j|
<= 1, which close no contact by more than LIMIT, on which F~ does no more work than that, and which
open as many contacts as can be (a linear program, by HiGHS):

    max sum t   subject to   B y >= t - LIMIT,   0 <= t <= OPENED,   F~ . y <= LIMIT sum f.

By Farkas' lemma no f >= 0 with B^T f = F~ has more than 2 LIMIT sum f / t_i on contact i. What they
open is left out of the balance if it bears no more in the forces that made F~ either; then motions
that only these contacts felt are left out, too (``tilts.py``).
"""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..network.felt import HARDLY, finite_reach
from ..network.least_distance import LARGEST

OPENED = 0.02
"""Opening that is asked for, over the way of the farthest body: rows of a hundred bodies can open
that far everywhere."""

EXACT = 1e-9
"""Feasibility of the linear program."""


def never_bearing(B, displacement, force, free, reach) -> np.ndarray:
    """Contacts (m,) bool that cannot bear. B (m, 6 N) and displacement (6 N,): of the compatible
    forces. force (m,) [N]: forces that made F~. free, reach (6 N,): see ``tilts.felt_balance``."""
    out = np.zeros(len(force), bool)
    reach = finite_reach(reach)
    moved = np.abs(displacement * reach)
    overlap = -(B @ displacement)
    if moved.max(initial=0.0) * HARDLY <= overlap.max(initial=0.0):
        return out
    resting = force <= HARDLY * force.max(initial=0.0)
    rows, columns = _around(B, free, moved * HARDLY > overlap.max())
    if not resting[rows].any():
        return out
    scaled = sp.csr_array(B[rows][:, columns] @ sp.diags_array(1 / reach[columns]))
    opened = _opened(scaled, force[rows])
    out[rows] = (opened > 0.5 * OPENED) & resting[rows]
    return out


def _around(B, free, far):
    """(rows, columns) of the bodies with a velocity ``far`` (6 N,) bool and those around them, ring
    by ring as many as LARGEST allows."""
    touching = sp.csr_array((np.ones(B.nnz), B.indices // 6, B.indptr), shape=(B.shape[0], len(far) // 6))
    felt = np.zeros(len(far), bool)
    felt[B.indices] = True
    felt &= free
    inside, back = far.reshape(-1, 6).any(axis=1), touching.T.tocsr()
    inside &= felt.reshape(-1, 6).any(axis=1)
    while True:
        rows = touching @ inside > 0
        wider = (back @ rows > 0) & felt.reshape(-1, 6).any(axis=1)
        size = np.count_nonzero(touching @ wider > 0) * np.count_nonzero(felt.reshape(-1, 6)[wider])
        if (wider == inside).all() or size > LARGEST:
            return np.flatnonzero(rows), np.flatnonzero(felt & np.repeat(inside, 6))
        inside = wider


def _opened(B, force):
    """t (r,) of the linear program; zeros where it finds none. B over reach."""
    r, c = B.shape
    total = float(force.sum())
    work = sp.csr_array((B.T @ force)[None, :] / total)
    A = sp.block_array([[-B, sp.eye_array(r)], [work, None]], format="csr")
    found = linprog(
        np.concatenate([np.zeros(c), -np.ones(r)]),
        A_ub=A,
        b_ub=np.full(r + 1, HARDLY),
        bounds=[(-1.0, 1.0)] * c + [(0.0, OPENED)] * r,
        method="highs",
        options={"primal_feasibility_tolerance": EXACT, "dual_feasibility_tolerance": EXACT},
    )
    return found.x[c:] if found.status == 0 else np.zeros(r)
