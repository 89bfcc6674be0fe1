"""Stiffness matrices K = M + B^T D B + e I of a network with some contacts active, and K x = r.

D >= 0 holds the contacts' tangent stiffness, M the inertia (or nothing), e I a small proximal
term. Two roads, chosen here:

- networks of pairs (bodies in space or in the plane): conjugate gradients with an incomplete
  factorization (``eisenstat.py``);
- a factorization (``multifrontal.py``) for small systems, where contacts move more than two bodies
  (mechanisms), where conjugate gradients fail, and for
  the rest of a network's life once one loose solve has taken a good part of a factorization's time
  (packings with hardly more contacts than degrees of freedom): the exact answers then also save
  Newton steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..errors import OutOfMemory
from . import cost
from .eisenstat import PairSolver
from .library_factors import DenseFactor, LUFactor
from .multifrontal import MultifrontalFactor
from .preconditioned import solve
from .protocol import Factorization, LinearStats
from .unassembled import Unassembled


@dataclass(frozen=True)
class Settings:
    """Which way a system is solved.

    direct_size: systems up to this many degrees of freedom are factorized at once: it costs less
        than a millisecond and settles every near-degenerate small case.
    dense_size: up to this many a dense factorization is quicker than the bookkeeping of a sparse
        one.
    rough: error in |x|_K to which a factor in single precision solves where the answer need not be
        refined.
    fine: the same where it is.
    steps: steps that it may take: two and three are the rule; where it takes ten, as in networks
        that only the shift holds, motions of little energy stay open that contacts outside of the
        working set resist.
    serves: if the error after these is more than so many times the target, a factor in double
        precision is made instead.
    costly: part of the cost of a factorization above which conjugate gradients cost too much.
    loose: decades that a loose solve gains.
    """

    direct_size: int = 300
    dense_size: int = 200
    rough: float = 1e-9
    fine: float = 1e-13
    steps: int = 6
    serves: float = 1e3
    costly: float = 1 / 2
    loose: float = 1.3


SETTINGS = Settings()


def by_imprecise_factor(
    product: Callable, by_factor: Callable, rhs: np.ndarray, *, stats: LinearStats, refined: bool
):
    """K^-1 rhs by conjugate gradients with a factor in single precision; NaN if K is singular, None
    if the factor does not serve.

    product, by_factor: of a vector (n,), with K and with the inverse of nearly K.
    """
    accuracy = SETTINGS.fine if refined else SETTINGS.rough
    found = solve(product, by_factor, rhs, accuracy=accuracy, most=SETTINGS.steps)
    stats.products += found.steps
    serves = found.error <= SETTINGS.serves * accuracy or np.isnan(found.x).all()
    return found.x if serves else None


class StiffnessSystem:
    """K = M + B^T D B + shift I for one choice of active contacts."""

    def __init__(self, network, tangent: np.ndarray, shift: float):
        """tangent (m,): D, zero at inactive contacts. shift: proximal term e > 0."""
        self.network, self.tangent, self.shift = network, tangent, float(shift)
        self._factor: Factorization | None = None

    @cached_property
    def matrix(self) -> Unassembled:
        """K, which is not assembled."""
        return Unassembled.of(self.network.B, self.network.mass, self.tangent, self.shift)

    def solve(self, rhs: np.ndarray, *, target: float, stats: LinearStats) -> np.ndarray:
        """x with |K x - rhs|_inf <= target as far as rounding allows."""
        n, network = len(rhs), self.network
        if n == 0:
            return np.zeros(0)
        fits = cost.affordable(network, stats.products)
        if n <= SETTINGS.direct_size or (fits and (stats.costly or not network.pairs.serves)):
            try:
                return self.solve_directly(rhs, stats)
            except OutOfMemory:
                fits = False
        max_steps = cost.step_limit(network, stats.products) if fits else 30_000
        x, worst, steps = self.iterate(rhs, target=target, max_steps=max_steps, stats=stats)
        # a tight solve may take more than a loose one
        decades = np.log10(max(float(np.abs(rhs).max()), target) / target)
        limit = SETTINGS.costly * cost.factorization_cost(network, stats.products)
        stats.costly += steps > limit * max(1.0, decades / SETTINGS.loose)
        if worst <= target:
            return x
        stats.cg_failures += 1
        try:
            return self.solve_directly(rhs, stats) if fits else x
        except OutOfMemory:
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
        return self.matrix @ x

    @cached_property
    def _block_inverses(self):
        """(place of each degree of freedom among the blocks, inverses (bodies, d, d))."""
        network = self.network
        place = np.arange(network.B.shape[1]) - network.starts[network.block_of]
        K = sp.coo_array(self.matrix.assembled())
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
        return PairSolver(network.pairs, self.tangent, self.shift)

    def _factorized(self, single_precision: bool):
        n = self.network.B.shape[1]
        if n <= SETTINGS.dense_size or self.network.full:
            try:
                return DenseFactor(self.matrix.dense(small=n <= SETTINGS.dense_size))
            except np.linalg.LinAlgError:
                pass  # pivoting gets through
        place = self.network.elimination_order if n > SETTINGS.dense_size else None
        if place is not None:
            fronts = self.network.fronts if (self.tangent > 0).all() else None
            options = dict(single_precision=single_precision, fronts=fronts)
            factor = MultifrontalFactor(self.matrix, self.network.starts, place, **options)
            if not factor.failed:
                return factor
        K = self.matrix.assembled()
        if place is None:
            return LUFactor(K, None)
        return LUFactor(K, np.argsort(place[self.network.block_of], kind="stable"))

    def factorize(self, stats: LinearStats) -> Factorization:
        """The factorization of K, made at the first call. Raises OutOfMemory."""
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

        Raises OutOfMemory.
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
