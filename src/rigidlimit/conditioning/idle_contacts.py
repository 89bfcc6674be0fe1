"""Contacts that carry force through negligible tilts only, and contacts that can never carry force.

Rollers that touch side by side hold one another on their races. Where they lean by rounding only,
the forces g between them are 1e-8 of the forces f on the races. But contacts do not pull: in an
open row of rollers each g is a sum of tilts times f up to the row's end, and g >= 0 imposes a
condition on f that elastic bodies do not have. It shows in the displacements u of the compatible
forces, which are then very large: with the rows B_ib of contact i and body b, a_b the reach,

    |B_ib u_b| <= weak |a_b u_b|,   and yet   |B_ib u_b| > relevant c,

c the largest overlap. Such bodies depend on tilts if these rows also have a singular value of at
most weak, and F~ along u_b is no load. For them and those around them, a linear program (by HiGHS)
finds motions y, |y_j a_j| <= 1, that close no contact by more than weak, on which F~ does no more
work than that, and that open as many contacts as possible:

    max sum t   subject to   B y >= t - weak,   0 <= t <= opened,   F~ . y <= weak sum f.

By Farkas' lemma no f >= 0 with B^T f = F~ has more than 2 weak sum f / t_i on contact i. Contacts
opened this way are removed from the balance if they also carry no more than weak in the forces that
made F~; then motions that only these contacts constrained are removed, too (``one_body.py``).
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from .screening import Columns, weak_motions
from .tolerances import TOLERANCES


def far_moved(B: sp.csr_array, displacement: np.ndarray, columns: Columns) -> np.ndarray:
    """Bodies (N,) bool with displacements so large that a fraction weak of them matters: weakly
    constrained motions of several bodies decide forces. B (m, 6 N), displacement (6 N,): of
    the compatible forces."""
    way = np.abs(displacement * columns.reach * columns.free).reshape(-1, 6).max(axis=1)
    return way * TOLERANCES.weak > TOLERANCES.relevant * float(
        (-(B @ displacement)).max(initial=0.0)
    )


def tilt_dependent(
    B: sp.csr_array,
    load: np.ndarray,
    displacement: np.ndarray,
    columns: Columns,
    hardly: np.ndarray | None = None,
) -> np.ndarray:
    """Bodies (N,) bool whose forces depend on tilts. B (m, 6 N), load and displacement (6 N,): of
    the compatible forces. hardly (N,): largest negligible tilt of each body, in place of weak."""
    free, reach = columns
    n = len(free) // 6
    hardly = np.full(n, TOLERANCES.weak) if hardly is None else hardly
    way = np.linalg.norm((displacement * reach).reshape(-1, 6), axis=1)
    least = TOLERANCES.relevant * float((-(B @ displacement)).max(initial=0.0))
    far = way * hardly > least
    out = np.zeros(n, bool)
    if not far.any():
        return out
    body = B.indices // 6
    row = np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
    pair = np.flatnonzero(np.diff(row * n + body, prepend=-1))  # entries of one row and body
    moved = np.add.reduceat(B.data * displacement[B.indices], pair)
    slight = np.abs(moved) <= (hardly * way)[body[pair]]
    relevant = slight & (np.abs(moved) > least)
    dependent = np.zeros(n, bool)
    dependent[body[pair[relevant]]] = True
    # a motion that these contacts do not resist at all has no effect
    slightly = np.repeat(slight, np.diff(np.append(pair, len(row))))
    near = sp.csr_array((np.where(slightly, B.data, 0.0), B.indices, B.indptr), shape=B.shape)
    bodies, S, _ = weak_motions(near, columns, hardly.max())
    out[bodies] = ((TOLERANCES.zero < S) & (hardly[bodies][:, None] >= S)).any(axis=1)
    pushed = np.where(free, load, 0.0) / reach
    along = np.abs((pushed * displacement * reach).reshape(-1, 6).sum(axis=1))
    return out & dependent & (along <= hardly * np.abs(pushed).max(initial=0.0) * way)


def never_bearing(
    B: sp.csr_array, force: np.ndarray, dependent: np.ndarray, of: Columns
) -> np.ndarray:
    """Contacts (m,) bool that cannot carry force, around bodies that depend on tilts (N,). force
    (m,) [N]: forces that made F~."""
    out = np.zeros(len(force), bool)
    resting = force <= TOLERANCES.weak * force.max(initial=0.0)
    rows, columns = _around(B, of.free, dependent)
    if len(rows) > TOLERANCES.most_contacts or not resting[rows].any() or not force[rows].any():
        return out
    scaled = sp.csr_array(B[rows][:, columns] @ sp.diags_array(1 / of.reach[columns]))
    opened = _opened(scaled, force[rows])
    out[rows] = (opened > 0.5 * TOLERANCES.opened) & resting[rows]
    return out


def _around(B, free, inside):
    """(rows, columns) of the bodies ``inside`` (N,) bool and those around them, ring by ring as
    many as small_part allows."""
    touched = np.zeros(len(free), bool)
    touched[B.indices] = True
    touched = (touched & free).reshape(-1, 6)

    def few(rows, bodies):
        return np.count_nonzero(rows) * np.count_nonzero(touched[bodies]) <= TOLERANCES.small_part

    rows, inside = rings(B, free, inside & touched.any(axis=1), few)
    return np.flatnonzero(rows), np.flatnonzero(touched & inside[:, None])


def rings(
    B: sp.csr_array,
    free: np.ndarray,
    inside: np.ndarray,
    fits: Callable[[np.ndarray, np.ndarray], bool],
) -> tuple[np.ndarray, np.ndarray]:
    """Contacts (m,) bool and bodies (N,) bool around those ``inside`` (N,) bool, ring by ring as
    long as they ``fits``. B (m, 6 N); free (6 N,) bool."""
    entries = free[B.indices].astype(float), B.indices // 6, B.indptr
    touching = sp.csr_array(entries, shape=(B.shape[0], len(inside)))
    back, rows = touching.T.tocsr(), touching @ inside > 0
    while True:
        wider = inside | (back @ rows > 0)
        further = touching @ wider > 0
        if (wider == inside).all() or not fits(further, wider):
            return rows, inside
        rows, inside = further, wider


def _opened(B, force):
    """t (r,) of the linear program; zeros where it finds none. B over reach."""
    r, c = B.shape
    total = float(force.sum())
    work = sp.csr_array((B.T @ force)[None, :] / total)
    A = sp.block_array([[-B, sp.eye_array(r)], [work, None]], format="csr")
    found = linprog(
        np.concatenate([np.zeros(c), -np.ones(r)]),
        A_ub=A,
        b_ub=np.full(r + 1, TOLERANCES.weak),
        bounds=[(-1.0, 1.0)] * c + [(0.0, TOLERANCES.opened)] * r,
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCES.feasible},
    )
    return found.x[c:] if found.status == 0 else np.zeros(r)
