"""Which blocks K = M + shift + B^T D B has: those of the contacts that answer, D_i != 0.

An open contact drops out of K exactly. In a packing that settles a fifth of the contacts may bear,
and what these couple is factorized many times faster than what all of them would.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from .blocks import BodyBlocks
from .multifrontal import Elimination

FILLED = 0.8
"""Part of the contacts of a pattern that must answer for it to serve: finding one takes as long as
a factorization of a sparse one."""


class Pattern:
    """Blocks and fronts of K for some contacts; contacts: their numbers, or None for all."""

    def __init__(self, blocks: BodyBlocks, contacts: np.ndarray | None):
        self.blocks, self.contacts = blocks, contacts

    @cached_property
    def elimination(self) -> Elimination:
        return Elimination(self.blocks)

    def assemble(self, D: np.ndarray) -> np.ndarray:
        """Blocks of K for D (m, d, d) of all contacts."""
        return self.blocks.assemble(D if self.contacts is None else D[self.contacts])


class Patterns:
    """Those of one network: of all contacts, and of those that answered last."""

    def __init__(self, B: sp.csr_array, M, d: int, starts: np.ndarray, shift: float):
        self.B, self._known = B, (M, d, starts, shift)
        self._last = self._holds = None

    @cached_property
    def all(self) -> Pattern:
        return Pattern(self._blocks(self.B), None)

    def _blocks(self, B) -> BodyBlocks:
        return BodyBlocks(B, *self._known)

    def of(self, D: np.ndarray) -> Pattern:
        """One that holds all contacts that answer by D (m, d, d), and not many more."""
        answers = D[:, 0, 0] != 0.0
        count = int(answers.sum())
        if count >= FILLED * len(D):
            return self.all
        if self._last is None or not self._serves(answers, count):
            d, contacts = D.shape[1], np.flatnonzero(answers)
            rows = (d * contacts[:, None] + np.arange(d)).ravel()
            self._last = Pattern(self._blocks(submatrix(self.B, rows=rows)), contacts)
            self._holds = answers
        return self._last

    def _serves(self, answers, count):
        return count >= FILLED * len(self._last.contacts) and not (answers & ~self._holds).any()
