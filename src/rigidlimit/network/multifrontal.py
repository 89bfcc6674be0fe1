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

import itertools

import numpy as np
from numba import njit
from scipy.linalg.blas import dgemm, dsyrk, dtrsm
from scipy.linalg.lapack import dpotrf

from ..memory import check_room
from .blas_threads import BlasThreads
from .fronts import dense_fronts

AT_ONCE = 40_000
"""Right sides times entries of L for each front from which on LAPACK takes all of them at once."""


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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _less_products(out, factors, columns):
    """out -= sum_j columns[j] factors[j], four columns at a time. columns: one after the other."""
    r, k = len(out), len(factors)
    for j in range(0, k - 3, 4):
        at = j * r
        a, b = columns[at : at + r], columns[at + r : at + 2 * r]
        c, d = columns[at + 2 * r : at + 3 * r], columns[at + 3 * r : at + 4 * r]
        s, t, u, v = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        for i in range(r):
            out[i] -= a[i] * s + b[i] * t + c[i] * u + d[i] * v
    for j in range(k - k % 4, k):
        a, s = columns[j * r : (j + 1) * r], factors[j]
        for i in range(r):
            out[i] -= a[i] * s


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _less_dots(out, factors, columns):
    """out[j] -= columns[j] . factors, four columns at a time. columns: one after the other."""
    r, k = len(factors), len(out)
    for j in range(0, k - 3, 4):
        at = j * r
        a, b = columns[at : at + r], columns[at + r : at + 2 * r]
        c, d = columns[at + 2 * r : at + 3 * r], columns[at + 3 * r : at + 4 * r]
        s = t = u = v = 0.0
        for i in range(r):
            s += a[i] * factors[i]
            t += b[i] * factors[i]
            u += c[i] * factors[i]
            v += d[i] * factors[i]
        out[j] -= s
        out[j + 1] -= t
        out[j + 2] -= u
        out[j + 3] -= v
    for j in range(k - k % 4, k):
        a, s = columns[j * r : (j + 1) * r], 0.0
        for i in range(r):
            s += a[i] * factors[i]
        out[j] -= s


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _substitute(values, begins, column, row_starts, rows, x):
    """x = L^-T L^-1 x in place, degrees of freedom in the order of elimination."""
    fronts = len(column) - 1
    most = 0
    for s in range(fronts):
        most = max(most, row_starts[s + 1] - row_starts[s])
    room = np.empty(most)
    for s in range(fronts):
        k = column[s + 1] - column[s]
        own = x[column[s] : column[s + 1]]
        mine = rows[row_starts[s] : row_starts[s + 1]]
        for j in range(k):
            down = values[begins[s] + j * k + j : begins[s] + (j + 1) * k]
            below = own[j:]
            t = own[j] / down[0]
            own[j] = t
            for i in range(1, len(down)):
                below[i] -= down[i] * t
        change = room[: len(mine)]
        change[:] = 0.0
        _less_products(change, own, values[begins[s] + k * k : begins[s + 1]])
        for i in range(len(mine)):
            x[mine[i]] += change[i]
    for s in range(fronts - 1, -1, -1):
        k = column[s + 1] - column[s]
        own = x[column[s] : column[s + 1]]
        mine = rows[row_starts[s] : row_starts[s + 1]]
        known = room[: len(mine)]
        for i in range(len(mine)):
            known[i] = x[mine[i]]
        _less_dots(own, known, values[begins[s] + k * k : begins[s + 1]])
        for j in range(k - 1, -1, -1):
            down = values[begins[s] + j * k + j : begins[s] + (j + 1) * k]
            below = own[j:]
            t = own[j]
            for i in range(1, len(down)):
                t -= down[i] * below[i]
            own[j] = t / down[0]


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
        self.parts = []  # L_PP (k, k), L_RP (r, k), views of ``values``, and the places R of each
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
            self.parts.append((top, low_left, mine))
        return True

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """x with K x = rhs, (n,) or (n, c)."""
        fronts = self.fronts
        x = rhs[fronts.dofs]
        if x.ndim == 2 and x.shape[1] * len(self.values) > AT_ONCE * len(self.parts):
            x = np.ascontiguousarray(x)
            with BlasThreads():  # of few columns; one is enough
                self._substitute_many(x)
        else:
            where = fronts.begins, fronts.column, fronts.row_starts, fronts.rows
            for column in np.atleast_2d(x.T):
                one = np.ascontiguousarray(column)
                _substitute(self.values, *where, one)
                column[:] = one
        out = np.empty_like(x)
        out[fronts.dofs] = x
        return out

    def _substitute_many(self, x):
        """``_substitute`` for the columns of x (n, c), by LAPACK; x^T is what it sees."""
        own = [x[low:high].T for low, high in itertools.pairwise(self.fronts.column.tolist())]
        for (top, low_left, mine), y in zip(self.parts, own, strict=True):
            dtrsm(1.0, top, y, side=1, lower=1, trans_a=1, overwrite_b=1)
            if len(mine):
                x[mine] -= dgemm(1.0, y, low_left, trans_b=1).T
        for (top, low_left, mine), y in zip(reversed(self.parts), reversed(own), strict=True):
            if len(mine):
                dgemm(-1.0, x[mine].T, low_left, beta=1.0, c=y, overwrite_c=1)
            dtrsm(1.0, top, y, side=1, lower=1, overwrite_b=1)
