"""What moves between the contacts: bodies with rows of B, or the Delassus matrix W alone.

Both map contact forces f (m, d) to displacements (or velocities) w (m, d) at the contacts, and
solve the linear system of a Newton step, in which the contacts answer df = -D dw + b with a block D
(d, d) a contact that need not be symmetric:

    ``Bodies``       x = u (n,), w = B x + offset,  r = M x - g - B^T f,
                     (M + B^T D B) dx = B^T b - r
    ``Delassus``     x = w (m d,),                  r = w - W f - q,     (I + W D) dx = W b - r

Small networks of both kinds are ``dense.Dense``. Step 1 has M and g = M v_free with velocities;
step 2 has no M, and g = -F~.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..linear.blas_threads import BlasThreads
from .blocks import BodyBlocks, bodies_of
from .contact_blocks import ContactBlocks, contact_blocks
from .large_system import LargeSystem, Patience
from .patterns import Pattern, Patterns
from .rows import rows_of
from .sums import WHOLE, Sums

TIGHT = 1e-12
"""Relative residual of linear systems where no looser one is given."""

STATIC = 1e-6
"""The same at most of systems without inertia and damping. Where many contacts slip some motions
meet hardly any resistance, and looser solutions do not show them: copies of a packing of 500 balls
took 91 systems with 1e-4, 20 with this and with exact ones."""

SMALL = 2e7
"""Systems with fewer multiplications are factorized without trying GMRES: some milliseconds."""

Solve = Callable[..., np.ndarray]
"""solve(r, b=None, accuracy=TIGHT) -> dx, see ``Mechanics.factorize``."""


class Mechanics(Protocol):
    """What ``newton`` and ``path`` need of a problem with m contacts of d rows. sums: over all of
    its degrees of freedom and contacts."""

    shape: tuple[int, int]
    sums: Sums

    def shifted(self, lead: np.ndarray) -> "Mechanics":
        """The same with displacements less ``lead`` (m, d)."""

    def damped(self, damping: float) -> "Mechanics":
        """The same whose linear systems resist every motion by the stiffness ``damping`` more."""

    def start(self, force: np.ndarray) -> np.ndarray:
        """Unknowns x that go with contact forces (m, d), as near to balance as is free."""

    def displacement(self, x: np.ndarray) -> np.ndarray:
        """w (m, d) at the contacts."""

    def change(self, dx: np.ndarray) -> np.ndarray:
        """Change of w (m, d) with a change of x."""

    def blocks(self) -> ContactBlocks:
        """Rows and responses of the contacts; of networks with inertia, and of W."""

    def residual(self, x: np.ndarray, force: np.ndarray) -> np.ndarray:
        """r, zero in equilibrium."""

    def size(self, r: np.ndarray) -> float:
        """The largest entry of r in the unit in which residuals are judged."""

    def factorize(self, D: np.ndarray) -> Solve:
        """solve(r, b=None, accuracy=TIGHT) -> dx, for blocks D (m, d, d), to that relative
        residual or a smaller one (STATIC) where it is found by iteration; raises ``LinAlgError`` if
        singular."""


@dataclass(frozen=True)
class Inertia:
    """M (n, n), sparse, its inverse, and the response B M^-1 (m d, n) to forces of the contacts;
    these two may be plain arrays where B is."""

    M: sp.sparray
    inverse: np.ndarray | sp.sparray
    response: np.ndarray | sp.sparray


class Bodies:
    """Bodies between contacts: B (m d, n) sparse, rows contact by contact; g (n,); offset (m, d);
    inertia, or None. Without it, motions that no contact resists are held by ``shift``, a stiffness
    far below all others. unit: of residuals, a number or (n,). starts (bodies + 1,): first degree
    of freedom of each body; found from B if not given.

    Small systems are factorized; large ones are solved by GMRES as long as that is faster.
    """

    sums = WHOLE

    def __init__(
        self,
        B: sp.sparray,
        g: np.ndarray,
        d: int,
        *,
        inertia: Inertia | None = None,
        offset: np.ndarray | None = None,
        shift: float = 0.0,
        unit: float | np.ndarray = 1.0,
        starts: np.ndarray | None = None,
    ):
        self.B, self.g, self.inertia, self.unit = sp.csr_array(B), g, inertia, unit
        self.shape = (B.shape[0] // d, d)
        self.BT = sp.csr_array(self.B.T)
        self.offset = 0.0 if offset is None else offset
        starts = bodies_of(self.BT, d, self.shape[0]) if starts is None else np.asarray(starts)
        M = None if inertia is None else inertia.M

        def blocks(contacts: np.ndarray | None) -> BodyBlocks:
            if contacts is None:
                return BodyBlocks(self.B, M, d, starts, shift)
            return BodyBlocks(submatrix(self.B, rows=rows_of(contacts, d)), M, d, starts, shift)

        self.patterns = Patterns(blocks)
        self.iterative, self.damping = Patience(), 0.0

    def shifted(self, lead: np.ndarray) -> "Bodies":
        other = copy(self)
        other.offset = self.offset - lead
        other.factorize = self.factorize  # with the same patterns, and what is known of their cost
        return other

    def beyond(self, x: np.ndarray) -> "Bodies":
        """The same, with inertia, in unknowns less these x."""
        other = copy(self)
        other.g = self.g - self.inertia.M @ x
        other.factorize = self.factorize
        return other

    def damped(self, damping: float) -> "Bodies":
        other = copy(self)  # the patterns are shared
        other.__dict__.pop("factorize", None)  # of ``shifted``, without damping
        other.damping = float(damping)
        return other

    def start(self, force: np.ndarray) -> np.ndarray:
        if self.inertia is None:
            return np.zeros(self.B.shape[1])
        return self.inertia.inverse @ (self.g + self.BT @ force.ravel())

    def size(self, r: np.ndarray) -> float:
        return float(np.abs(r / self.unit).max(initial=0.0))

    def displacement(self, x: np.ndarray) -> np.ndarray:
        return (self.B @ x).reshape(self.shape) + self.offset

    def change(self, dx: np.ndarray) -> np.ndarray:
        return (self.B @ dx).reshape(self.shape)

    def blocks(self) -> ContactBlocks:
        return contact_blocks(self.B, sp.csr_array(self.inertia.response), self.shape[1])

    def residual(self, x: np.ndarray, force: np.ndarray) -> np.ndarray:
        r = -self.g - self.BT @ force.ravel()
        return r if self.inertia is None else r + self.inertia.M @ x

    def factorize(self, D: np.ndarray) -> Solve:
        pattern = self.patterns.of(D)
        pad, unpad = pattern.blocks.pad, pattern.blocks.unpad
        solve = system(pattern, pattern.assemble(D), self.damping, self.iterative)
        most = STATIC if self.inertia is None and not self.damping else np.inf

        def answer(
            r: np.ndarray, b: np.ndarray | None = None, accuracy: float = TIGHT
        ) -> np.ndarray:
            rhs = -r if b is None else self.BT @ b.ravel() - r
            return unpad(solve(pad(rhs), min(accuracy, most)))

        return answer


def system(
    pattern: Pattern, values: np.ndarray, damping: float, iterative: Patience
) -> Callable[[np.ndarray, float], np.ndarray]:
    """solve(rhs, accuracy) for K of these blocks with ``damping`` on its diagonal: factorized where
    that is quick, else by GMRES as long as that pays. Raises ``LinAlgError`` if singular."""
    if damping:
        pattern.blocks.add_to_diagonal(values, damping)
    if pattern.elimination.operations > SMALL:
        return LargeSystem(iterative, pattern, values).solve
    with BlasThreads():  # fronts are small
        factor = pattern.elimination.factorize(values)
    return lambda rhs, accuracy: factor.solve(rhs)
