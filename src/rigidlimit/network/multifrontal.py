"""Cholesky factorization K = L L^T of a sparse stiffness matrix, front by front.

K = M + C^T C + e I with the rows C = D^(1/2) B of the active contacts. Bodies are eliminated in the
order of a nested dissection; those next to one another in that order with nearly the same couplings
share a dense front (``fronts.py``), so that nearly all work is done by LAPACK (J. W. H. Liu, The
multifrontal method for sparse matrix solution: theory and practice, SIAM Review 34 (1992) 82). K
itself is never assembled: every contact is added to the front in which the first of its bodies is
eliminated.

A front with columns P (its own degrees of freedom) and rows R (those coupled to them, eliminated
later) is

    [ F_PP      ]     L_PP L_PP^T = F_PP,   L_RP = F_RP L_PP^-T,   U = F_RR - L_RP L_RP^T,
    [ F_RP F_RR ]

and U is added to the front of the first body in R. L is one array; each front's L_PP and L_RP lie
in it column by column, one after the other.
"""

import numpy as np
from numba import njit
from scipy.linalg.blas import dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf

from ..memory import check_room
from .blas_threads import BlasThreads
from .fronts import dense_fronts
from .substitution import substitute


@njit(cache=True, nogil=True)
def _gather(local, low, k, rows, panel, rest, contacts, ptr, idx, val, order, mass, shift):
    """Begin a front: its contacts, its inertia and the shift. ``local`` (n,) is filled in too.

    low: first place of the k columns. panel: F_PP (k, k) and F_RP (r, k), rest: F_RR (r, r), all
    column by column; zeros before, lower triangles after. order: (dofs (n,), position (n,)), the
    degree of freedom at each place and back. local: place in this front of each degree of freedom.
    mass: (ptr, idx, val).
    """
    dofs, position = order
    r = len(rows)
    for d in range(k):
        local[dofs[low + d]] = d
    for i in range(r):
        local[dofs[rows[i]]] = k + i
    for contact in contacts:
        for e in range(ptr[contact], ptr[contact + 1]):
            a = local[idx[e]]
            for g in range(ptr[contact], ptr[contact + 1]):
                b = local[idx[g]]
                if a >= b:
                    _add(val[e] * val[g], a, b, k, r, panel, rest)
    mptr, midx, mval = mass
    for d in range(k):
        panel[d * k + d] += shift
        j = dofs[low + d]
        if len(mval) == 0:
            continue
        for e in range(mptr[j], mptr[j + 1]):
            if position[midx[e]] >= low + d:  # else the other of the two has had it
                _add(mval[e], local[midx[e]], d, k, r, panel, rest)


@njit(cache=True, nogil=True)
def _add(value, a, b, k, r, panel, rest):
    """Add to entry (a, b), a >= b, of a front with k columns and r rows."""
    if a < k:
        panel[b * k + a] += value
    elif b < k:
        panel[k * k + b * r + a - k] += value
    else:
        rest[(b - k) * r + a - k] += value


@njit(cache=True, nogil=True)
def _extend(local, dofs, rows, update, k, r, panel, rest):
    """Add what a child front left, ``update`` at ``rows``, to its parent."""
    size = len(rows)
    place = np.empty(size, np.int64)
    own = 0  # how many of the rows are columns of the parent
    for i in range(size):
        place[i] = local[dofs[rows[i]]]
        own += place[i] < k
    for j in range(size):
        b = place[j]
        column = update[j * size : (j + 1) * size]
        if j < own:
            top = panel[b * k : (b + 1) * k]
            for i in range(j, own):
                top[place[i]] += column[i]
            below = panel[k * k + b * r : k * k + (b + 1) * r]
        else:
            below = rest[(b - k) * r : (b - k + 1) * r]
        for i in range(max(j, own), size):
            below[place[i] - k] += column[i]


def _eliminate(top, low_left, square) -> bool:
    """F_PP, F_RP and F_RR become L_PP, L_RP and U; False if F_PP is not positive definite."""
    _, wrong = dpotrf(top, lower=1, clean=0, overwrite_a=1)
    if wrong:
        return False
    if len(square):
        dtrsm(1.0, top, low_left, side=1, lower=1, trans_a=1, overwrite_b=1)
        dsyrk(-1.0, low_left, beta=1.0, c=square, lower=1, overwrite_c=1)
    return True


class MultifrontalFactor:
    """K = L L^T; ``solve`` solves. ``failed``: K is not positive definite to rounding.

    Raises NoRoom, before anything large is made, if it would not fit into memory.

    rows: (ptr, idx, val) of C. mass: the same of M. shift: e. starts (bodies + 1,): first degree of
    freedom of each body. body_order (bodies,): place of each body in the order of elimination.
    """

    def __init__(self, rows, mass, shift, starts, body_order):
        self.fronts = dense_fronts(rows[:2], mass[:2], np.asarray(starts, np.int64), body_order)
        check_room(
            self.fronts.bytes,
            f"the factorization of a network of {len(self.fronts.dofs):,} degrees of freedom",
        )
        with BlasThreads() as threads:
            self.failed = not self._factorize(rows, mass, float(shift), threads)

    def _factorize(self, rows, mass, shift, threads) -> bool:
        fronts = self.fronts
        self.values = np.zeros(fronts.begins[-1])
        local = np.empty(len(fronts.dofs), np.int64)
        order = fronts.dofs, np.argsort(fronts.dofs)
        waiting = [[] for _ in fronts.parent]
        for s, above in enumerate(fronts.parent):
            low, k = fronts.column[s], fronts.column[s + 1] - fronts.column[s]
            mine = fronts.rows[fronts.row_starts[s] : fronts.row_starts[s + 1]]
            r = len(mine)
            panel = self.values[fronts.begins[s] : fronts.begins[s + 1]]
            rest = np.zeros(r * r)
            contacts = fronts.contacts[fronts.contact_starts[s] : fronts.contact_starts[s + 1]]
            _gather(local, low, k, mine, panel, rest, contacts, *rows, order, mass, shift)
            for places, update in waiting[s]:
                _extend(local, fronts.dofs, places, update, k, r, panel, rest)
            waiting[s] = None
            top = panel[: k * k].reshape((k, k), order="F")
            low_left = panel[k * k :].reshape((r, k), order="F")
            square = rest.reshape((r, r), order="F")
            with threads.work(k + r, k * (k * k / 3 + k * r + r * r)):
                positive = _eliminate(top, low_left, square)
            if not positive:
                return False
            if r:
                waiting[above].append((mine, rest))
        return True

    @property
    def entries(self) -> int:
        return len(self.values)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """x with K x = rhs, (n,) or (n, c)."""
        fronts = self.fronts
        sides = np.ascontiguousarray(np.atleast_2d(rhs[fronts.dofs].T))
        where = fronts.begins, fronts.column, fronts.row_starts, fronts.rows
        substitute(self.values, *where, sides)
        out = np.empty_like(rhs)
        out[fronts.dofs] = sides.T.reshape(rhs.shape)
        return out
