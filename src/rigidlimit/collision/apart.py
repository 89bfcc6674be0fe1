"""Pairs of bodies that do not collide: excluded ones, and bodies of one group."""

from dataclasses import dataclass

import numpy as np

from ..bodies import Bodies


@dataclass(frozen=True)
class Apart:
    """group (n,): bodies of one number above 0 have no contacts with one another. keys (k,),
    ascending: a * n + b of the excluded pairs a < b."""

    group: np.ndarray
    keys: np.ndarray

    def collide(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Which of the pairs of bodies (a_k, b_k) may have contacts, (k,) bool."""
        same = (self.group[a] == self.group[b]) & (self.group[a] > 0)
        if not len(self.keys):
            return ~same
        key = np.minimum(a, b) * len(self.group) + np.maximum(a, b)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return ~same & (self.keys[at] != key)


def kept_apart(bodies: Bodies) -> Apart | None:
    """The pairs of a scene that do not collide; None where all do. Use ``bodies.derived``."""
    if not bodies.has_apart:
        return None
    n = len(bodies)
    group = np.zeros(n, np.int64) if bodies.group is None else bodies.group
    pairs = np.zeros((0, 2), np.int64) if bodies.excluded is None else bodies.excluded
    return Apart(group, np.unique(pairs[:, 0] * n + pairs[:, 1]))
