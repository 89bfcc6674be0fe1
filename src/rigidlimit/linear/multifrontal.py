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

and U is added to the front of the first body in R. Until then its lower triangle waits, column by
column. L is one array; each front's L_PP and L_RP lie in it column by column, one after the other.

Large factors are kept in single precision, though everything is computed in double: with E the
rounding of L, (L + E)^-1 L = I - (L + E)^-1 E is off from 1 by 6e-8 times the condition of L, which
is the root of that of K. So conjugate gradients get there in a few steps, where a factorization in
single precision would be off by 6e-8 times the condition of K (``preconditioned.py``).
"""

import numpy as np
from numba import njit

from .._support.memory import check_room
from .._support.threads import shared
from .blas_threads import BlasThreads
from .fronts import dense_fronts
from .lapack import eliminate
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
    begin = 0
    for j in range(size):
        b = place[j]
        column = update[begin : begin + size - j]
        begin += size - j
        if j < own:
            top = panel[b * k : (b + 1) * k]
            for i in range(j, own):
                top[place[i]] += column[i - j]
            below = panel[k * k + b * r : k * k + (b + 1) * r]
        else:
            below = rest[(b - k) * r : (b - k + 1) * r]
        for i in range(max(j, own), size):
            below[place[i] - k] += column[i - j]


@njit(cache=True, nogil=True)
def _packed(rest, r, out):
    """The lower triangle of ``rest`` (r, r) to ``out``; they may be the same memory, or ``out`` lie
    before it."""
    at = 0
    for j in range(r):
        for i in range(j, r):
            out[at] = rest[j * r + i]
            at += 1


@njit(cache=True, nogil=True)
def _eliminate_part(
    first, last, values, begins, column, row_starts, all_rows, parent, contact_starts, contacts,
    ptr, idx, val, order, mass, shift, local, stack, space,
):  # fmt: skip
    """Fronts first ... last, which take in nothing from others. (which of them (c,) left something
    to others, where it lies in ``stack`` (c + 1,)); None if K is not positive definite.

    Updates that wait are a stack, since fronts are in postorder: those of a front's children lie on
    top, in order. space: room for one panel.
    """
    fronts = last + 1 - first
    at = np.empty(fronts + 1, np.int64)  # where the updates that wait begin, and the top
    waits = np.empty(fronts, np.int64)  # which fronts left them
    count = 0
    at[0] = 0
    for s in range(first, last + 1):
        low, k = column[s], column[s + 1] - column[s]
        rows = all_rows[row_starts[s] : row_starts[s + 1]]
        r = len(rows)
        panel = space[: begins[s + 1] - begins[s]]
        top = at[count]
        rest = stack[top : top + r * r]
        panel[:] = 0.0
        rest[:] = 0.0
        mine = contacts[contact_starts[s] : contact_starts[s + 1]]
        _gather(local, low, k, rows, panel, rest, mine, ptr, idx, val, order, mass, shift)
        child = count
        while child > 0 and parent[waits[child - 1]] == s:
            child -= 1
        for c in range(child, count):
            places = all_rows[row_starts[waits[c]] : row_starts[waits[c] + 1]]
            _extend(local, order[0], places, stack[at[c] : at[c + 1]], k, r, panel, rest)
        if not eliminate(panel, k, r, rest):
            return None
        for e in range(len(panel)):  # a slice compiles for 3 s
            values[begins[s] + e] = panel[e]
        count = child
        if r > 0:
            start, size = at[count], r * (r + 1) // 2
            _packed(rest, r, stack[start : start + size])
            waits[count] = s
            count += 1
            at[count] = start + size
    return waits[:count], at[: count + 1]


class MultifrontalFactor:
    """K = L L^T; ``solve`` solves. ``failed``: K is not positive definite to rounding.

    Raises NoRoom, before anything large is made, if it would not fit into memory.

    rows: (ptr, idx, val) of C. mass: the same of M. shift: e. starts (bodies + 1,): first degree of
    freedom of each body. body_order (bodies,): place of each body in the order of elimination.
    single_precision: keep L in single precision if it is large.
    """

    def __init__(self, rows, mass, shift, starts, body_order, *, single_precision=False):
        self.fronts = dense_fronts(rows[:2], mass[:2], np.asarray(starts, np.int64), body_order)
        self.single_precision = single_precision and self.fronts.large
        check_room(
            self.fronts.bytes(self.single_precision),
            f"the factorization of a network of {len(self.fronts.dofs):,} degrees of freedom",
        )
        with BlasThreads() as threads:
            self.failed = not self._factorize(rows, mass, float(shift), threads)

    def _factorize(self, rows, mass, shift, threads) -> bool:
        fronts = self.fronts
        self.values = np.empty(fronts.begins[-1], np.float32 if self.single_precision else float)
        given = *rows, (fronts.dofs, np.argsort(fronts.dofs)), mass, shift
        waiting = [[] for _ in fronts.parent]

        def handed_on(s: int, update: np.ndarray):
            waiting[fronts.parent[s]].append((self._rows_of(s), update))

        def part(ends: tuple[int, int]):
            return self._part(*ends, given)

        # all parts before the fronts above them, to which BLAS may take several threads
        for left in shared(part, fronts.parts):
            if left is None:
                return False
            for s, update in left:
                handed_on(s, update)
        local = np.empty(len(fronts.dofs), np.int64)
        for s in fronts.above.tolist():
            children, waiting[s] = waiting[s], None
            update = self._front(s, children, local, given, threads)
            if update is None:
                return False
            if len(update):
                handed_on(s, update)
        return True

    def _rows_of(self, s):
        fronts = self.fronts
        return fronts.rows[fronts.row_starts[s] : fronts.row_starts[s + 1]]

    def _part(self, first, last, given):
        """[(front, what it leaves to others), ...] of the fronts first ... last; None where they
        fail."""
        f = self.fronts
        local, stack = np.empty(len(f.dofs), np.int64), np.empty(f.most_waiting(first, last))
        space = np.empty(f.widest_panel(first, last))
        tables = f.begins, f.column, f.row_starts, f.rows, f.parent, f.contact_starts, f.contacts
        left = _eliminate_part(first, last, self.values, *tables, *given, local, stack, space)
        if left is None:
            return None
        ends = zip(left[0].tolist(), left[1], left[1][1:], strict=False)
        return [(s, stack[a:b].copy()) for s, a, b in ends]

    def _front(self, s, waiting, local, given, threads):
        """What a front above all parts leaves, or None; if large, by BLAS with all its threads."""
        fronts = self.fronts
        low, k = fronts.column[s], fronts.column[s + 1] - fronts.column[s]
        mine = self._rows_of(s)
        r = len(mine)
        mine_in_L = slice(fronts.begins[s], fronts.begins[s + 1])
        panel = np.zeros(k * (k + r))
        rest = np.zeros(r * r)
        contacts = fronts.contacts[fronts.contact_starts[s] : fronts.contact_starts[s + 1]]
        _gather(local, low, k, mine, panel, rest, contacts, *given)
        for places, update in waiting:
            _extend(local, fronts.dofs, places, update, k, r, panel, rest)
        waiting.clear()
        with threads.work(k + r, k * (k * k / 3 + k * r + r * r)):
            positive = eliminate(panel, k, r, rest)
        self.values[mine_in_L] = panel
        del panel
        update = np.empty(r * (r + 1) // 2)
        _packed(rest, r, update)
        return update if positive else None

    @property
    def route(self) -> str:
        return "multifrontal (single)" if self.single_precision else "multifrontal"

    @property
    def entries(self) -> int:
        return len(self.values)

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """x with K x = rhs, (n,) or (n, c)."""
        fronts = self.fronts
        x = np.ascontiguousarray(np.atleast_2d(rhs[fronts.dofs].T))
        if fronts.in_one_part:
            self._substitute(np.arange(len(fronts.parent)), 0, x, False)
            self._substitute(np.arange(len(fronts.parent)), 0, x, True)
        else:
            self._by_parts(x)
        solution = np.empty_like(rhs)
        solution[fronts.dofs] = x.T.reshape(rhs.shape)
        return solution

    def _by_parts(self, x):
        """x = L^-T L^-1 x, (c, n), with threads for the parts of a long one."""
        fronts = self.fronts
        each = shared if fronts.long else lambda *given: list(map(*given))
        pieces = fronts.parts, fronts.outside, [x] * len(fronts.parts)
        for out, change in zip(fronts.outside, each(self._down, *pieces), strict=True):
            x[:, out] += change
        for upwards in (False, True):
            self._substitute(fronts.above, 0, x, upwards)
        each(self._up, *pieces)

    def _down(self, part, outside, x):
        """x = L^-1 x at the places of a part; what it leaves to those outside of it."""
        low, high = self.fronts.places(*part)
        mine = np.zeros((len(x), high - low + len(outside)))
        mine[:, : high - low] = x[:, low:high]
        self._substitute(np.arange(part[0], part[1] + 1), low, mine, False)
        x[:, low:high] = mine[:, : high - low]
        return mine[:, high - low :]

    def _up(self, part, outside, x):
        """x = L^-T x at the places of a part, from those outside of it."""
        low, high = self.fronts.places(*part)
        mine = np.concatenate([x[:, low:high], x[:, outside]], axis=1)
        self._substitute(np.arange(part[0], part[1] + 1), low, mine, True)
        x[:, low:high] = mine[:, : high - low]

    def _substitute(self, which, low, x, upwards):
        f = self.fronts
        tables = f.begins, f.column, f.row_starts, f.rows_within
        substitute(self.values, which, *tables, low, x, upwards)
