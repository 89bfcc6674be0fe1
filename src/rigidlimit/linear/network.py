"""The rows of contacts between bodies, with what the linear algebra on them needs and keeps."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._support.arrays import with_short_indices
from .._support.products import transposed_product
from .block_offsets import cut_starts
from .dissection import elimination_order
from .fronts import Fronts, dense_fronts
from .pair_network import PairNetwork
from .protocol import Backend, LinearSystem
from .stiffness import StiffnessSystem

FULL = 0.5
"""Fraction of nonzero entries of B above which it is stored dense."""


class Network:
    """B (m, n) with what the compiled kernels need of it.

    mass: inertia M (n, n) or None. blocks: first degree of freedom of each body's block, ending
    with n; a preconditioning hint only, cut into pieces of at most MAX_BLOCK.
    unlike_springs: whether stiffnesses are very unlike: the central path solves many systems.
    order: place of each body in a factorization, if a network of the same contacts had one.
    single_precision: whether large factors may be kept in it.
    backend: who answers ``system``.

    Only structure is kept, found once; no solve changes it.
    """

    def __init__(
        self,
        B: sp.csr_array,
        *,
        mass: sp.csr_array | None = None,
        blocks: np.ndarray | None = None,
        unlike_springs: bool = False,
        order: np.ndarray | None = None,
        single_precision: bool = True,
        backend: Backend = StiffnessSystem,
    ):
        self.B = with_short_indices(B)
        n = B.shape[1]
        mass = sp.csr_array((n, n)) if mass is None else sp.csr_array(mass)
        self.mass = with_short_indices(mass)
        self.starts = cut_starts(n, blocks)
        self.block_of = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        self.unlike_springs, self.backend = unlike_springs, backend
        self.single_precision = single_precision
        if order is not None:
            self.elimination_order = order

    def system(self, tangent: np.ndarray, shift: float) -> LinearSystem:
        """K = M + B^T D B + shift I for the tangent stiffness D (m,), zero at inactive contacts."""
        return self.backend(self, tangent, shift)

    def load_of(self, force: np.ndarray) -> np.ndarray:
        """B^T f (n,), the load that forces (m,) balance."""
        return transposed_product(self.B, force)

    @cached_property
    def full(self) -> bool:
        """Whether every contact moves about everything, as of a captured problem that is known by
        its Delassus matrix alone."""
        return self.B.nnz > FULL * self.B.shape[0] * self.B.shape[1]

    @cached_property
    def pairs(self) -> PairNetwork:
        """The structure for incomplete factorizations; ``serves``: whether there is one."""
        return PairNetwork(self.B, self.starts, self.mass)

    @cached_property
    def elimination_order(self) -> np.ndarray | None:
        """Place of each body in the order of a factorization; None where METIS is missing."""
        return elimination_order(self.B, self.mass, self.starts)

    @cached_property
    def fronts(self) -> Fronts:
        """Structure of a factorization with all contacts active."""
        rows, inertia = (self.B.indptr, self.B.indices), (self.mass.indptr, self.mass.indices)
        return dense_fronts(rows, inertia, self.starts, self.elimination_order)
