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

from .._support.memory import check_room
from .._support.threads import shared
from .blas_threads import BlasThreads
from .front_kernels import Matrix, eliminate_part, extend, gather, packed
from .fronts import Fronts, dense_fronts
from .lapack import eliminate
from .substitution import substitute
from .unassembled import Unassembled


class MultifrontalFactor:
    """K = L L^T; ``solve`` solves. ``failed``: K is not positive definite to rounding.

    Raises OutOfMemory, before anything large is made, if it would not fit into memory.

    starts (bodies + 1,): first degree of freedom of each body. body_order (bodies,): place of each
    body in the order of elimination. single_precision: keep L in single precision if it is large.
    fronts: structure, if known.
    """

    def __init__(
        self,
        K: Unassembled,
        starts: np.ndarray,
        body_order: np.ndarray,
        *,
        single_precision: bool = False,
        fronts: Fronts | None = None,
    ):
        starts = np.asarray(starts, np.int64)
        if fronts is None:
            fronts = dense_fronts(K.rows[:2], K.mass[:2], starts, body_order)
        self.fronts = fronts
        self.single_precision = single_precision and self.fronts.large
        check_room(
            self.fronts.bytes(self.single_precision),
            f"the factorization of a network of {len(self.fronts.dofs):,} degrees of freedom",
        )
        with BlasThreads() as threads:
            self.failed = not self._factorize(K, threads)

    def _factorize(self, matrix, threads) -> bool:
        fronts = self.fronts
        self.values = np.empty(fronts.begins[-1], np.float32 if self.single_precision else float)
        K = Matrix(*matrix, fronts.dofs, np.argsort(fronts.dofs))
        waiting = [[] for _ in fronts.parent]

        def handed_on(s: int, update: np.ndarray):
            waiting[fronts.parent[s]].append((self._rows_of(s), update))

        def part(ends: tuple[int, int]):
            return self._part(*ends, K)

        # all parts before the fronts above them, to which BLAS may take several threads
        for left in shared(part, fronts.parts):
            if left is None:
                return False
            for s, update in left:
                handed_on(s, update)
        local = np.empty(len(fronts.dofs), np.int64)
        for s in fronts.above.tolist():
            children, waiting[s] = waiting[s], None
            update = self._front(s, children, local, K, threads)
            if update is None:
                return False
            if len(update):
                handed_on(s, update)
        return True

    def _rows_of(self, s):
        fronts = self.fronts
        return fronts.rows[fronts.row_starts[s] : fronts.row_starts[s + 1]]

    def _part(self, first, last, K):
        """[(front, its update matrix), ...] of the fronts first ... last; None where they
        fail."""
        f = self.fronts
        local, stack = np.empty(len(f.dofs), np.int64), np.empty(f.most_waiting(first, last))
        space = np.empty(f.widest_panel(first, last))
        left = eliminate_part(first, last, f.structure, K, self.values, local, stack, space)
        if left is None:
            return None
        ends = zip(left[0].tolist(), left[1], left[1][1:], strict=False)
        return [(s, stack[a:b].copy()) for s, a, b in ends]

    def _front(self, s, waiting, local, K, threads):
        """Update matrix of a front above all parts, or None; if large, by BLAS with all its
        threads."""
        fronts = self.fronts
        low, k = fronts.column[s], fronts.column[s + 1] - fronts.column[s]
        mine = self._rows_of(s)
        r = len(mine)
        mine_in_L = slice(fronts.begins[s], fronts.begins[s + 1])
        panel = np.zeros(k * (k + r))
        rest = np.zeros(r * r)
        contacts = fronts.contacts[fronts.contact_starts[s] : fronts.contact_starts[s + 1]]
        gather(K, local, low, k, mine, contacts, panel, rest)
        for places, update in waiting:
            extend(local, fronts.dofs, places, update, k, r, panel, rest)
        waiting.clear()
        with threads.work(k + r, k * (k * k / 3 + k * r + r * r)):
            positive = eliminate(panel, k, r, rest)
        self.values[mine_in_L] = panel
        del panel
        update = np.empty(r * (r + 1) // 2)
        packed(rest, r, update)
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
        """x = L^-1 x at the places of a part; its update of those outside."""
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
        substitute(self.values, which, self.fronts.panels, low, x, upwards)
