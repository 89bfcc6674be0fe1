"""Interface of linear algebra for the kernels: systems K = M + B^T D B + e I of one ``Network``.

B (m, n) are rows of contacts, D >= 0 their tangent stiffness (m,), M (n, n) the inertia or nothing,
e I a small proximal term. ``Network.system`` makes one; whoever answers these two protocols can
take the place of ``StiffnessSystem`` there (``Network(..., backend=...)``).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


@dataclass
class LinearStats:
    """What the linear systems of one problem have taken so far, which chooses the way of the next
    ones, never their answer.

    products: conjugate gradient steps. factorizations. cg_failures: solves that fell short of their
    target. costly: those that took so many steps that a factorization is the better way. imprecise:
    factors in single precision that did not serve. routes: taken to an answer, in order of their
    first use.
    """

    products: int = 0
    factorizations: int = 0
    cg_failures: int = 0
    costly: int = 0
    imprecise: int = 0
    routes: list[str] = field(default_factory=list)

    def took(self, route: str):
        """Note a route."""
        if route not in self.routes:
            self.routes.append(route)


class Factorization(Protocol):
    """K or nearly K, factorized.

    route: its name among ``LinearStats.routes``. single_precision: whether it is kept in it, so
    that it preconditions rather than solves. entries: numbers that are stored.
    """

    route: str
    single_precision: bool

    @property
    def entries(self) -> int: ...

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """K^-1 rhs for rhs (n,) or (n, c), to the digits in which the factor is kept. NaN where K
        is singular."""
        ...


class LinearSystem(Protocol):
    """K for one choice of active contacts."""

    def apply(self, x: np.ndarray) -> np.ndarray:
        """K x for x (n,) or (n, c)."""
        ...

    def factorize(self, stats: LinearStats) -> Factorization:
        """The factorization of K, made at the first call. Raises ``OutOfMemory``."""
        ...

    def refactorize(self, stats: LinearStats) -> None:
        """Have factors in double precision from now on: one in single precision does not serve."""
        ...

    def solve(self, rhs: np.ndarray, *, target: float, stats: LinearStats) -> np.ndarray:
        """x (n,) with |K x - rhs|_inf <= target as far as rounding allows, in the way that costs
        least."""
        ...

    def solve_directly(
        self, rhs: np.ndarray, stats: LinearStats, *, refined: bool = True
    ) -> np.ndarray:
        """K^-1 rhs for rhs (n,) or (n, c) by the factorization. refined: as far as rounding
        allows. Raises ``OutOfMemory``."""
        ...

    def iterate(
        self, rhs: np.ndarray, *, target: float, max_steps: int, stats: LinearStats
    ) -> tuple[np.ndarray, float, int]:
        """(x, |K x - rhs|_inf reached, steps) without a factorization."""
        ...


Backend = Callable[..., LinearSystem]
"""(network, tangent stiffness (m,), shift e) -> ``LinearSystem``."""
