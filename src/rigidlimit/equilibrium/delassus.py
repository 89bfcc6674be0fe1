"""The Delassus matrix W between contacts, sparse: contacts are coupled where they share a body.

    x = w (m d,),   r = w - W f - q,   (I + W D) dx = W b - r

I + W D has a block (d, d) where W has one, and is factorized as K is in networks of bodies. A
contact that does not answer, D_i = 0, has a column of the identity: only the others are factorized,
and dx = W (b - D dx) - r elsewhere.
"""

from copy import copy

import numpy as np
import scipy.sparse as sp

from .._support.arrays import with_short_indices
from .._support.memory import check_room
from .._support.submatrix import submatrix
from .blocks import Blocks
from .contact_blocks import ContactBlocks, contact_blocks
from .dense import SMALL, Dense
from .mechanics import TIGHT, Patience, Solve, system
from .patterns import Patterns
from .rows import rows_of
from .sums import WHOLE

FILLED = 0.3
"""Part of the entries of W from which its factors are dense."""


def between_contacts(W: np.ndarray | sp.sparray, q: np.ndarray, d: int) -> "Delassus | Dense":
    """The contacts alone, w = W f + q, with W (m d, m d), dense or sparse, and q (m d,). Raises
    OutOfMemory where W is filled and too large."""
    n = W.shape[0]
    if n <= SMALL:
        return Dense.delassus(W, q, d)
    W = sp.csr_array(W, dtype=float)
    if W.nnz <= FILLED * n**2:
        return Delassus(W, q, d)
    check_room(8.0 * n**2 * 3, "a dense W and its factors")
    return Dense.delassus(W, q, d)


class DelassusBlocks(Blocks):
    """Blocks of I + W D for W (m d, m d), as ``blocks.BodyBlocks`` has those of K: a contact takes
    the place of a body. touch: the two contacts of each pair that is coupled."""

    def __init__(self, W: sp.csr_array, d: int):
        self.width, self.size = d, W.shape[0]
        m = self.size // d
        stored = sp.csr_array((np.ones(W.nnz), W.indices, W.indptr), shape=W.shape)  # zeros, too
        both = sp.bsr_array(stored + stored.T + sp.identity(self.size), blocksize=(d, d))
        both.sort_indices()
        self.ptr, self.col = both.indptr.astype(np.int32), both.indices.astype(np.int32)
        place = sp.csr_array((np.arange(len(self.col)), self.col, self.ptr), shape=(m, m))
        self.across = sp.csr_array(place.T).data  # sorted alike: the pattern is symmetric
        self.W = self._blocks_of(W)
        upper = self.row <= self.col
        pairs = np.stack([self.row[upper], self.col[upper]], axis=1)
        lengths = 1 + (pairs[:, 0] != pairs[:, 1])
        kept = np.stack([np.ones(len(pairs), bool), lengths == 2], axis=1)
        ends = np.concatenate([[0], np.cumsum(lengths)])
        self.touch = sp.csr_array((np.ones(ends[-1]), pairs[kept], ends), shape=(len(pairs), m))

    def _blocks_of(self, W):
        """(blocks, d, d) of W in this pattern."""
        d, W = self.width, sp.bsr_array(W, blocksize=(self.width, self.width))
        W.sum_duplicates()
        blocks, m = np.zeros((len(self.col), d, d)), len(self.ptr) - 1
        row = np.repeat(np.arange(m), np.diff(W.indptr))
        keys = self.row * m + self.col
        blocks[np.searchsorted(keys, row * m + W.indices)] = W.data
        return blocks

    def assemble(self, D: np.ndarray) -> np.ndarray:
        values = self.W @ D[self.col]
        self.add_to_diagonal(values, 1.0)
        return values


class Delassus:
    """``mechanics.Mechanics`` of W (m d, m d) alone, sparse; q (m d,)."""

    sums = WHOLE

    def __init__(self, W: sp.csr_array, q: np.ndarray, d: int):
        self.W, self.q = with_short_indices(W), np.asarray(q, float)
        self.shape = (len(q) // d, d)
        self.unit = float(np.abs(q).max(initial=0.0)) or 1.0
        self.offset: np.ndarray | float = 0.0
        self.patterns = Patterns(self._blocks)
        self.iterative, self.damping = Patience(), 0.0

    def _blocks(self, contacts):
        """Of these contacts, all where None."""
        if contacts is None:
            return DelassusBlocks(self.W, self.shape[1])
        rows = rows_of(contacts, self.shape[1])
        return DelassusBlocks(submatrix(self.W, rows=rows, columns=rows), self.shape[1])

    def shifted(self, lead: np.ndarray) -> "Delassus":
        other = copy(self)  # with the same patterns
        other.offset = self.offset - lead
        return other

    def damped(self, damping: float) -> "Delassus":
        other = copy(self)
        other.damping = float(damping)
        return other

    def start(self, force: np.ndarray) -> np.ndarray:
        return self.W @ force.ravel() + self.q

    def displacement(self, x: np.ndarray) -> np.ndarray:
        return self.change(x) + self.offset

    def change(self, dx: np.ndarray) -> np.ndarray:
        return dx.reshape(self.shape)

    def blocks(self) -> ContactBlocks:
        rows, response = sp.csr_array(sp.identity(len(self.q))), sp.csr_array(self.W.T)
        return contact_blocks(rows, response, self.shape[1])

    def residual(self, x: np.ndarray, force: np.ndarray) -> np.ndarray:
        return x - self.W @ force.ravel() - self.q

    def size(self, r: np.ndarray) -> float:
        return float(np.abs(r).max(initial=0.0)) / self.unit

    def factorize(self, D: np.ndarray) -> Solve:
        pattern = solve = None
        if D.any():
            pattern = self.patterns.of(D)
            solve = system(pattern, pattern.assemble(D), self.damping, self.iterative)

        def change(
            r: np.ndarray, b: np.ndarray | None = None, accuracy: float = TIGHT
        ) -> np.ndarray:
            rhs = -r if b is None else self.W @ b.ravel() - r
            if pattern is None:
                return rhs / (1.0 + self.damping)
            if pattern.contacts is None:
                return solve(rhs, accuracy)
            here, force = pattern.contacts, np.zeros(self.shape)
            inner = solve(rhs.reshape(self.shape)[here].ravel(), accuracy).reshape(len(here), -1)
            force[here] = np.einsum("iab,ib->ia", D[here], inner)
            dx = (rhs - self.W @ force.ravel()) / (1.0 + self.damping)
            dx.reshape(self.shape)[here] = inner
            return dx

        return change
