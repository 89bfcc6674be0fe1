"""Networks of few rough contacts in dense matrices, whose loops are compiled.

    w = L x + offset,        r = a x - U f - c,        (a + U D L) dx = -r

with the unknowns x (n,): the Delassus matrix alone (L = 1, U = W, a = 1), bodies with inertia in
their velocities (L = B, U = M^-1 B^T, a = 1) or without it in their displacements (L = B, U = B^T,
a = 0).
"""

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from ..status import Status
from .contact_blocks import ContactBlocks, contact_blocks
from .law import ContactLaw
from .mechanics import Bodies, Inertia, Solve
from .result import Equilibrium
from .rough_newton import SETTINGS as NEWTON
from .small_newton import WAYS, Point, Problem, SmallNetwork, assemble, equilibrium
from .sums import WHOLE

SMALL = 150
"""Largest number of degrees of freedom at which dense compiled loops are faster than sparse
ones."""


def between_bodies(
    B: np.ndarray | sp.sparray,
    g: np.ndarray,
    d: int,
    *,
    inertia: Inertia | None = None,
    offset: np.ndarray | None = None,
    shift: float = 0.0,
    unit: float | np.ndarray = 1.0,
) -> "Bodies | Dense":
    """``Bodies`` of these arguments, or the same as ``Dense`` where it is small; B may be a plain
    array."""
    if not isinstance(B, np.ndarray):
        if B.shape[1] > SMALL:
            return Bodies(B, g, d, inertia=inertia, offset=offset, shift=shift, unit=unit)
        B = B.toarray()
    if inertia is None:
        return Dense(B, g, d, rows=B, offset=offset, a=0.0, shift=shift, unit=unit)
    inverse, response = inertia.inverse, inertia.response
    if not isinstance(response, np.ndarray):
        response = response.toarray()
    unit = unit * inverse.diagonal()
    return Dense(response, inverse @ g, d, rows=B, offset=offset, unit=unit)


class Dense:
    """``mechanics.Mechanics`` of such a network.

    out (m d, n): U^T, what unit forces do to r, contact by contact; rows (m d, n): L, or None for
    L = 1; c (n,); offset (m, d) or None; a: 1 or 0. unit: of residuals, a number or (n,). shift:
    stiffness, far below all others, of motions that no contact resists, where a = 0.
    """

    sums = WHOLE

    def __init__(
        self,
        out: np.ndarray,
        c: np.ndarray,
        d: int,
        *,
        rows: np.ndarray | None = None,
        offset: np.ndarray | None = None,
        a: float = 1.0,
        shift: float = 0.0,
        unit: float | np.ndarray = 1.0,
    ):
        self.out = np.ascontiguousarray(out, float)
        self.rows = np.empty((0, 0)) if rows is None else np.ascontiguousarray(rows, float)
        self.shape = (len(self.out) // d, d)
        self.c = np.ascontiguousarray(c, float)
        self.offset = np.zeros(self.shape) if offset is None else offset
        self.a, self.shift = float(a), float(shift)
        # np.full takes a third of the time of np.broadcast_to, which counts in small problems
        self.unit = np.full(self.c.shape, unit, float)

    @classmethod
    def delassus(cls, W: np.ndarray | sp.sparray, q: np.ndarray, d: int) -> "Dense":
        """The contacts alone: w = W f + q with W (m d, m d), dense or sparse, and q (m d,)."""
        W = W.toarray() if sp.issparse(W) else np.asarray(W)
        return cls(W.T, q, d, unit=float(np.abs(q).max(initial=0.0)) or 1.0)

    @property
    def network(self) -> SmallNetwork:
        """What compiled code takes."""
        return SmallNetwork(self.a, self.shift, self.rows, self.out, self.c)

    def shifted(self, lead: np.ndarray) -> "Dense":
        """The same with displacements less ``lead`` (m, d)."""
        other = object.__new__(Dense)
        other.__dict__.update(self.__dict__, offset=self.offset - lead)
        return other

    def beyond(self, x: np.ndarray) -> "Dense":
        """The same in unknowns less these x."""
        other = object.__new__(Dense)
        other.__dict__.update(self.__dict__, c=self.c - self.a * x)
        return other

    def damped(self, damping: float) -> "Dense":
        """The same whose linear systems resist every motion by ``damping`` more."""
        other = object.__new__(Dense)
        other.__dict__.update(self.__dict__, shift=self.shift + float(damping))
        return other

    def start(self, force: np.ndarray) -> np.ndarray:
        if self.a == 0.0:
            return np.zeros(len(self.c))
        return force.ravel() @ self.out + self.c

    def size(self, r: np.ndarray) -> float:
        return float(np.abs(r / self.unit).max(initial=0.0))

    def change(self, dx: np.ndarray) -> np.ndarray:
        return (self.rows @ dx if self.rows.size else dx).reshape(self.shape)

    def displacement(self, x: np.ndarray) -> np.ndarray:
        return self.change(x) + self.offset

    def blocks(self) -> ContactBlocks:
        rows = self.rows if self.rows.size else sp.identity(len(self.out))
        return contact_blocks(sp.csr_array(rows), sp.csr_array(self.out), self.shape[1])

    def residual(self, x: np.ndarray, force: np.ndarray) -> np.ndarray:
        return self.a * x - force.ravel() @ self.out - self.c

    def matrix(self, D: np.ndarray) -> np.ndarray:
        """a + shift + U D L (n, n), of blocks D (m, d, d)."""
        K = np.empty((len(self.c), len(self.c)))
        assemble(self.a + self.shift, self.rows, self.out, np.ascontiguousarray(D), K)
        return K

    def factorize(self, D: np.ndarray) -> Solve:
        # stored row by row is the transpose stored column by column
        lu, pivots, wrong = lapack.dgetrf(self.matrix(D).T, overwrite_a=True)
        if wrong > 0 or not np.isfinite(lu[-1:, -1:]).all():  # what is no number spreads to the end
            raise np.linalg.LinAlgError("singular matrix")

        def solve(
            r: np.ndarray, b: np.ndarray | None = None, accuracy: float | None = None
        ) -> np.ndarray:
            rhs = -r if b is None else b.ravel() @ self.out - r
            return lapack.dgetrs(lu, pivots, rhs)[0]

        return solve

    def equilibrium(
        self, law: ContactLaw, x: np.ndarray, tolerance: float, iterations: int, force_size: float
    ) -> tuple[Equilibrium, str]:
        """(equilibrium, way) from the start x, by secants too."""
        found, way = self._compiled(law, x, tolerance, iterations, force_size, NEWTON.secants)
        return found, WAYS[way]

    def newton(
        self, law: ContactLaw, x: np.ndarray, tolerance: float, iterations: int
    ) -> Equilibrium:
        """``rough_newton.newton``, compiled."""
        return self._compiled(law, x, tolerance, iterations, 0.0, 0)[0]

    def _compiled(self, law, x, tolerance, iterations, force_size, secants):
        problem = Problem(self.network, self.offset, law.compiled, self.unit)
        at = Point(np.array(x, float), np.empty(self.shape), np.empty(self.shape))
        solves, residual, way = equilibrium(
            problem, at, float(tolerance), iterations, float(force_size), secants
        )
        status = Status.CONVERGED if residual <= tolerance else Status.STALLED
        return Equilibrium(at.x, at.force, at.w, status, residual, solves), way
