"""Stiffness matrices K = M + B^T D B + e I of a network with some contacts active, and K x = r.

D >= 0 holds the contacts' tangent stiffness, M the inertia (or nothing), e I a small proximal
term. Two roads, chosen here:

- networks of pairs (bodies in space or in the plane): conjugate gradients with an incomplete
  factorization (``block_ic0.py``);
- a factorization (``multifrontal.py``) for small systems, where contacts move more than two bodies
  (mechanisms), where conjugate gradients fail, and for
  the rest of a network's life once one loose solve has taken a good part of a factorization's time
  (packings with hardly more contacts than degrees of freedom): the exact answers then also save
  Newton steps.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..errors import NoRoom
from . import cost
from .library_factors import DenseFactor, LUFactor
from .multifrontal import MultifrontalFactor
from .preconditioned import solve
from .protocol import Factorization, LinearStats

DIRECT_SIZE = 300
"""Systems up to this many degrees of freedom are factorized at once: it costs less than a
millisecond and settles every near-degenerate small case."""

DENSE_SIZE = 200
"""Up to this many a dense factorization is quicker than the bookkeeping of a sparse one."""

ROUGH, FINE, ROUNDS, SERVES = 1e-9, 1e-13, 6, 1e3
"""Errors in |x|_K to which a factor in single precision solves; if so many steps leave so many
times that, one in double precision is made instead. Two and three steps are the rule; where it
takes ten, as in networks that only the shift holds, motions of little energy stay open that
contacts outside of the working set resist."""

DEAR = 1 / 2
"""Part of the cost of a factorization above which conjugate gradients are too dear to go on."""

LOOSE = 1.3
"""Decades that a loose solve gains."""


def by_imprecise_factor(
    product: Callable, by_factor: Callable, rhs: np.ndarray, *, stats: LinearStats, refined: bool
):
    """K^-1 rhs by conjugate gradients with a factor in single precision; NaN if K is singular, None
    if the factor does not serve.

    product, by_factor: of a vector (n,), with K and with the inverse of nearly K.
    """
    accuracy = FINE if refined else ROUGH
    found = solve(product, by_factor, rhs, accuracy=accuracy, most=ROUNDS)
    stats.products += found.steps
    serves = found.error <= SERVES * accuracy or np.isnan(found.x).all()
    return found.x if serves else None


@njit(cache=True, nogil=True)
def _scaled_rows(indptr, indices, data, active, root, out_ptr, out_idx, out_val):
    """Rows sqrt(D_i) B_i of the active contacts, packed."""
    at = 0
    for a in range(len(active)):
        i = active[a]
        s = root[a]
        for e in range(indptr[i], indptr[i + 1]):
            out_idx[at] = indices[e]
            out_val[at] = s * data[e]
            at += 1
        out_ptr[a + 1] = at


@njit(cache=True, nogil=True)
def _product(ptr, idx, val, mptr, midx, mval, shift, x, y):
    """y = (M + C^T C + shift) x, with C the scaled active rows."""
    n = len(x)
    if len(mval) > 0:
        for j in range(n):
            s = shift * x[j]
            for e in range(mptr[j], mptr[j + 1]):
                s += mval[e] * x[midx[e]]
            y[j] = s
    else:
        for j in range(n):
            y[j] = shift * x[j]
    for a in range(len(ptr) - 1):
        s = 0.0
        for e in range(ptr[a], ptr[a + 1]):
            s += val[e] * x[idx[e]]
        for e in range(ptr[a], ptr[a + 1]):
            y[idx[e]] += s * val[e]


@njit(cache=True, nogil=True)
def _dense(ptr, idx, val, mptr, midx, mval, shift, K):
    """K = M + C^T C + shift, (n, n); K holds zeros before."""
    for j in range(len(K)):
        K[j, j] += shift
        for e in range(mptr[j], mptr[j + 1]):
            K[j, midx[e]] += mval[e]
    for a in range(len(ptr) - 1):
        for e in range(ptr[a], ptr[a + 1]):
            for g in range(ptr[a], ptr[a + 1]):
                K[idx[e], idx[g]] += val[e] * val[g]
    return K


class StiffnessSystem:
    """K = M + B^T D B + shift I for one choice of active contacts."""

    def __init__(self, network, tangent: np.ndarray, shift: float):
        """tangent (m,): D, zero at inactive contacts. shift: proximal term e > 0."""
        self.network, self.tangent, self.shift = network, tangent, float(shift)
        self._factor: Factorization | None = None

    @cached_property
    def arrays(self):
        """The scaled active rows, the mass and the shift, as the kernels take them."""
        B, M = self.network.B, self.network.mass
        active = np.flatnonzero(self.tangent > 0)
        entries = int((B.indptr[active + 1] - B.indptr[active]).sum())
        ptr = np.zeros(len(active) + 1, np.int64)
        idx = np.empty(entries, B.indices.dtype)
        val = np.empty(entries)
        root = np.sqrt(self.tangent[active])
        _scaled_rows(B.indptr, B.indices, B.data, active, root, ptr, idx, val)
        return (ptr, idx, val, M.indptr, M.indices, M.data, self.shift)

    def solve(self, rhs: np.ndarray, *, target: float, stats: LinearStats) -> np.ndarray:
        """x with |K x - rhs|_inf <= target as far as rounding allows."""
        n, network = len(rhs), self.network
        if n == 0:
            return np.zeros(0)
        fits = cost.affordable(network, stats.products)
        if n <= DIRECT_SIZE or (fits and (stats.dear or not network.pairs.serves)):
            try:
                return self.solve_directly(rhs, stats)
            except NoRoom:
                fits = False
        max_steps = cost.step_limit(network, stats.products) if fits else 30_000
        x, worst, steps = self.iterate(rhs, target=target, max_steps=max_steps, stats=stats)
        # a tight solve may take more than a loose one
        decades = np.log10(max(float(np.abs(rhs).max()), target) / target)
        dear = DEAR * cost.factorization_cost(network, stats.products)
        stats.dear += steps > dear * max(1.0, decades / LOOSE)
        if worst <= target:
            return x
        stats.cg_failures += 1
        try:
            return self.solve_directly(rhs, stats) if fits else x
        except NoRoom:
            return x

    def iterate(self, rhs: np.ndarray, *, target: float, max_steps: int, stats: LinearStats):
        """(x, |K x - rhs|_inf reached, steps) by conjugate gradients alone."""
        network = self.network
        if network.pairs.serves:
            stats.took(self._incomplete.route)
            x, steps, worst = self._incomplete.solve(rhs, target=target, max_steps=max_steps)
        else:
            stats.took("jacobi cg")
            options = dict(enough=target, most=max_steps, near=False)
            found = solve(self.apply, self._by_blocks, rhs, **options)
            x, steps = found.x, found.steps
            reached = steps < max_steps and not np.isnan(found.error)
            worst = target if reached else np.inf
        stats.products += steps
        return x, worst, steps

    def apply(self, x: np.ndarray) -> np.ndarray:
        """K x, for x (n,) or (n, c)."""
        if x.ndim == 2:
            return np.column_stack([self.apply(column) for column in x.T])
        y = np.empty_like(x)
        _product(*self.arrays, x, y)
        return y

    @cached_property
    def _block_inverses(self):
        """(place of each degree of freedom among the blocks, inverses (bodies, d, d))."""
        network = self.network
        place = np.arange(network.B.shape[1]) - network.starts[network.block_of]
        ptr, idx, val = self.arrays[:3]
        C = sp.csr_array((val, idx, ptr), shape=(len(ptr) - 1, len(place)))
        K = sp.coo_array(C.T @ C + network.mass + self.shift * sp.eye_array(len(place)))
        i, j = K.coords
        mine = network.block_of[i] == network.block_of[j]
        bodies, d = len(network.starts) - 1, int(np.diff(network.starts).max())
        blocks = np.zeros((bodies, d, d))
        blocks[network.block_of[i[mine]], place[i[mine]], place[j[mine]]] = K.data[mine]
        return place, np.linalg.pinv(blocks, hermitian=True)

    def _by_blocks(self, r):
        """r (n,) times the inverses of the bodies' diagonal blocks."""
        place, inverses = self._block_inverses
        padded = np.zeros(inverses.shape[:2])
        padded[self.network.block_of, place] = r
        return np.einsum("bij,bj->bi", inverses, padded)[self.network.block_of, place]

    @cached_property
    def _incomplete(self):
        network = self.network
        return network.pairs.solver(self.tangent, self.shift)

    def _factorized(self, single_precision: bool):
        n = self.network.B.shape[1]
        if n <= DENSE_SIZE or self.network.full:
            try:
                return DenseFactor(self._assembled(n))
            except np.linalg.LinAlgError:
                pass  # pivoting gets through
        rows, mass = self.arrays[:3], self.arrays[3:6]
        place = self.network.elimination_order if n > DENSE_SIZE else None
        if place is not None:
            factor = MultifrontalFactor(
                rows,
                mass,
                self.shift,
                self.network.starts,
                place,
                single_precision=single_precision,
            )
            if not factor.failed:
                return factor
        ptr, idx, val = rows
        C = sp.csr_array((val, idx, ptr), shape=(len(ptr) - 1, n))
        K = sp.csr_array(C.T @ C + self.network.mass + self.shift * sp.eye_array(n))
        if place is None:
            return LUFactor(K, None)
        return LUFactor(K, np.argsort(place[self.network.block_of], kind="stable"))

    def _assembled(self, n: int) -> np.ndarray:
        """K (n, n) as a plain array."""
        if n <= DENSE_SIZE:
            return _dense(*self.arrays, np.zeros((n, n)))
        ptr, idx, val = self.arrays[:3]
        C = sp.csr_array((val, idx, ptr), shape=(len(ptr) - 1, n)).toarray()
        K = C.T @ C
        K.flat[:: n + 1] += self.shift
        return K + self.network.mass if self.network.mass.nnz else K

    def factorize(self, stats: LinearStats) -> Factorization:
        """The factorization of K, made at the first call. Raises NoRoom."""
        if self._factor is None:
            self._factor = self._factorized(self.network.single_precision and not stats.imprecise)
            stats.factorizations += 1
        stats.took(self._factor.route)
        return self._factor

    def refactorize(self, stats: LinearStats) -> None:
        """Have factors in double precision from now on: those in single precision do not serve."""
        stats.imprecise += 1
        self._factor = None

    def solve_directly(
        self, rhs: np.ndarray, stats: LinearStats, *, refined: bool = True
    ) -> np.ndarray:
        """K^-1 rhs for rhs (n,) or (n, c). refined: as far as rounding allows, by one step of
        iterative refinement where the factor is in double precision.

        Raises NoRoom.
        """
        factor = self.factorize(stats)
        if factor.single_precision:
            return self._by_imprecise(factor, rhs, stats, refined)
        x = factor.solve(rhs)
        # with the unassembled product
        return x + factor.solve(rhs - self.apply(x)) if refined else x

    def _by_imprecise(self, factor, rhs, stats, refined):
        if rhs.ndim == 2:
            columns = [self.solve_directly(column, stats, refined=refined) for column in rhs.T]
            return np.column_stack(columns)
        x = by_imprecise_factor(self.apply, factor.solve, rhs, stats=stats, refined=refined)
        if x is not None:
            return x
        self.refactorize(stats)
        return self.solve_directly(rhs, stats, refined=refined)
