"""Norms, sums and bounds of the solvers over the parts of all ranks."""

from functools import cached_property

import numpy as np

from ..equilibrium.sums import Sums
from .part import Part
from .ranks import Ranks


class RankSums(Sums):
    """Over the own bodies of all ranks, and over the contacts that each answers for."""

    def __init__(self, ranks: Ranks, part: Part):
        self.ranks, self.part, self.mine = ranks, part, part.mine
        self.moved = part.moved.ravel()

    @cached_property
    def _places(self) -> np.ndarray:
        """Place of each own degree of freedom that moves among those of all ranks, in the order of
        the file: what is gathered is the same on any number of them."""
        number = self.part.origin[:, None] * self.part.width + np.arange(self.part.width)
        mine = number.ravel()[self.moved]
        return np.searchsorted(np.sort(self.ranks.joined(mine)), mine)

    def norm(self, r: np.ndarray) -> float:
        return float(np.sqrt(self.ranks.sum(float(r @ r))))

    def any(self, values: np.ndarray | bool) -> bool:
        return self.ranks.max(float(np.any(values))) > 0.0

    def largest(self, values: np.ndarray) -> float:
        # a maximum over ranks may miss what is no number
        largest = self.ranks.max(np.nan_to_num(np.abs(values), nan=np.inf).max(initial=0.0))
        return largest if largest < np.inf else np.nan

    def most(self, values: np.ndarray) -> float:
        return self.ranks.max(values.max(initial=0.0))

    def least(self, length: float) -> float:
        return self.ranks.min(length)

    def own(self, values: np.ndarray) -> np.ndarray:
        return values[self.mine]

    def total(self, value: float) -> float:
        return self.ranks.sum(value)

    def gathered(self, x: np.ndarray) -> np.ndarray:
        places = self.ranks.joined(self._places).astype(np.int64)
        whole = np.empty(len(places))
        whole[places] = self.ranks.joined(x[self.moved])
        return whole

    def dealt(self, x: np.ndarray) -> np.ndarray:
        part = np.zeros(len(self.moved))
        part[self.moved] = x[self._places]
        return part
