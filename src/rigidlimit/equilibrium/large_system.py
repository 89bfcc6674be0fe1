"""Large linear systems of Newton steps: by GMRES while that pays, else factorized.

GMRES has an incomplete factor of the system, or the factorization of one before it: from one Newton
step to the next few contacts open, slip or stick. Which pays is found as one finds whether to rent
or to buy: once what was spent on GMRES, and the next system will take, would have paid for a
factorization, that is made.
"""

import numpy as np

from ..linear.blas_threads import BlasThreads
from .krylov import BlockMatrix, IncompleteFactor, gmres
from .multifrontal import Factor
from .patterns import Pattern

PATIENCE = 1000
"""Iterations of GMRES at most."""

LEAST = 10
"""Iterations of GMRES that it is given at least, where it is tried."""

MOVED, READ = 80, 30
"""Multiplications of a factorization, in dense fronts, that take as long as one entry of K in an
iteration of GMRES, which reads it and its incomplete factor from memory, and as one entry of a
factor in a substitution; measured on packings of 2,000 balls."""


class Patience:
    """Experience with the large systems of one network.

    iterations: limit of GMRES, raised after a success and lowered after a failure. After each
    failure in a row twice as many systems are factorized without trying it. Work is counted in
    multiplications of a factorization. factor: the last one, or None. spent: on GMRES without it,
    since there was none. last: that of the last system. rate: its iterations for a factor e of the
    residual. served: whether ``factor`` has solved
    others than its own. price: work on GMRES, over that of a factorization, at which one is made
    for the systems to come; infinite where contacts change by much from one to the next, as in
    secant iterations. A factor that did not serve doubles it.
    """

    def __init__(self):
        self.iterations, self._failures, self._skip = PATIENCE, 0, 0
        self.factor: Factor | None = None
        self.spent, self.last, self.served, self.price = 0.0, np.inf, False, np.inf
        self.rate = 0.0

    def tries(self) -> bool:
        """Whether it is GMRES' turn."""
        if self._skip > 0:
            self._skip -= 1
            return False
        return True

    def learn(self, success: bool) -> None:
        factor = 2.0 if success else 0.5
        self.iterations = int(np.clip(self.iterations * factor, LEAST, PATIENCE))
        self._failures = 0 if success else self._failures + 1
        self._skip = 0 if success else 2 ** min(self._failures, 5) - 1

    def pays(self, work: float, expected: float) -> bool:
        """Whether a factorization of that work would have paid by the end of a system of which so
        much is expected of GMRES."""
        return self.spent + expected >= self.price * work

    def keep(self, factor: Factor) -> None:
        """For the systems to come."""
        self.factor, self.served, self.spent = factor, False, 0.0

    def forget(self) -> None:
        """What is kept, which is of no use any more."""
        self.price = self.price if self.served else 2.0 * self.price
        self.factor = None


class LargeSystem:
    """K x = rhs, K of these blocks of a pattern; both over ``unit``, a power of two that makes the
    largest entry of K one or two: single precision has entries of 1e-38 to 1e38."""

    def __init__(self, patience: Patience, pattern: Pattern, values: np.ndarray):
        self.patience, self.pattern = patience, pattern
        self.unit = np.exp2(np.floor(np.log2(np.abs(values).max())))
        self.values = values / self.unit
        self.K, self.factor = BlockMatrix(pattern.blocks, self.values), None
        self.incomplete = self.single = None
        self.work = pattern.elimination.operations  # of a factorization

    def solve(self, rhs: np.ndarray, accuracy: float) -> np.ndarray:
        """x with K x = rhs, padded, to this relative residual."""
        rhs = rhs / self.unit
        with BlasThreads():  # vectors are short, and most fronts small
            if self.factor is None:
                x = self._by_the_last_factor(rhs, accuracy)
                x = self._by_an_incomplete_one(rhs, accuracy) if x is None else x
                if x is not None:
                    return x
                self.patience.factor = None  # one at a time in memory
                self.factor = self.pattern.elimination.factorize(self.values)
                self.patience.keep(self.factor)
            return gmres(self.K.__matmul__, self.factor.solve, rhs, accuracy, 5)[0]

    def _by_the_last_factor(self, rhs: np.ndarray, accuracy: float) -> np.ndarray | None:
        """None where there is none of this pattern, or where it takes longer than without it."""
        patience, elimination = self.patience, self.pattern.elimination
        if patience.factor is None or patience.factor.elimination is not elimination:
            return None
        each = MOVED * self.values.size + READ * elimination.begins[-1]
        limit = max(int(min(patience.last, self.work) / each), 1)
        x, _, reached = gmres(self.K.__matmul__, patience.factor.solve, rhs, accuracy, limit)
        if reached <= accuracy:
            patience.served = True
            return x
        patience.forget()
        return None

    def _by_an_incomplete_one(self, rhs: np.ndarray, accuracy: float) -> np.ndarray | None:
        """None where it takes longer than a factorization."""
        patience, each = self.patience, MOVED * self.values.size
        expected = each * patience.rate * -np.log(accuracy)
        if patience.pays(self.work, expected) or not patience.tries():
            return None
        limit = max(int(min(patience.iterations, self.work / each)), 1)
        if self.incomplete is None:
            self.incomplete = IncompleteFactor(self.pattern.blocks, self.values)
            self.single = self.K.single()
        x, steps, reached = gmres(
            self.K.__matmul__, self.incomplete.solve, rhs, accuracy, limit,
            single=self.single.__matmul__,
        )  # fmt: skip
        good = reached <= accuracy
        patience.learn(good)
        patience.spent += steps * each
        patience.rate = steps / max(-np.log(max(reached, np.finfo(float).tiny)), 1.0)
        patience.last = steps * each if good else np.inf
        return x if good else None
