"""Which blocks of K = M + shift + B^T D B, or I + W D, are factorized: those of the contacts that
answer, D_i != 0.

An open contact drops out of K exactly. In a packing that settles a fifth of the contacts may be
active, and their pattern is factorized many times faster than that of all of them.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from .blocks import Blocks
from .multifrontal import Elimination

FILLED = 0.8
"""Part of the contacts of a pattern that must answer for it to serve: finding one takes as long as
a factorization of a sparse one."""


class Pattern:
    """Blocks and fronts of K for some contacts; contacts: their numbers, or None for all."""

    def __init__(self, blocks: Blocks, contacts: np.ndarray | None):
        self.blocks, self.contacts = blocks, contacts

    @cached_property
    def elimination(self) -> Elimination:
        return Elimination(self.blocks)

    def assemble(self, D: np.ndarray) -> np.ndarray:
        """Blocks of K for D (m, d, d) of all contacts."""
        return self.blocks.assemble(D if self.contacts is None else D[self.contacts])


class Patterns:
    """Those of one network: of all contacts, and of those that answered last. blocks: a function of
    the numbers of contacts, None for all."""

    def __init__(self, blocks: Callable[[np.ndarray | None], Blocks]):
        self._blocks = blocks
        self._last = self._holds = None

    @cached_property
    def all(self) -> Pattern:
        return Pattern(self._blocks(None), None)

    def of(self, D: np.ndarray) -> Pattern:
        """One that holds all contacts that answer by D (m, d, d), and not many more."""
        answers = D[:, 0, 0] != 0.0
        count = int(answers.sum())
        if count >= FILLED * len(D):
            return self.all
        if self._last is None or not self._serves(answers, count):
            contacts = np.flatnonzero(answers)
            self._last = Pattern(self._blocks(contacts), contacts)
            self._holds = answers
        return self._last

    def _serves(self, answers, count):
        return count >= FILLED * len(self._last.contacts) and not (answers & ~self._holds).any()
