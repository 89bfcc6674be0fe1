"""Where the columns of each body begin in B (m, n): ``starts``, ascending from 0 to n; what users
give as ``blocks``. A hint for preconditioners and orderings only: any choice is correct, one block
a body is fastest.
"""

import itertools

import numpy as np
from numba import njit

from .._support import arrays

MAX_BLOCK = 6
"""Largest preconditioner block: the degrees of freedom of one body in space."""


def body_starts(n: int, blocks: np.ndarray | None = None) -> np.ndarray:
    """``blocks``, given in any order, or a guess from the number of columns n alone."""
    if blocks is None:
        size = next(s for s in (6, 3, 2, 1) if n % s == 0)
        return np.arange(0, n + 1, size)
    plain = isinstance(blocks, np.ndarray) and blocks.dtype == np.int64 and blocks.ndim == 1
    if plain and _ascend(blocks, n):
        return blocks
    between = arrays.indices("blocks", blocks, None)
    return np.unique(np.clip(np.concatenate([[0], between, [n]]), 0, n))


def cut_starts(n: int, blocks: np.ndarray | None = None) -> np.ndarray:
    """``body_starts`` with blocks of at most MAX_BLOCK."""
    wanted = body_starts(n, blocks)
    if np.diff(wanted).max(initial=0) <= MAX_BLOCK:
        return wanted
    pieces = [np.arange(a, b, MAX_BLOCK) for a, b in itertools.pairwise(wanted)]
    return np.concatenate([*pieces, [n]]).astype(np.int64)


def kept_starts(starts: np.ndarray, dofs: np.ndarray) -> np.ndarray:
    """Where bodies begin among some columns ``dofs`` (ascending), if among all they begin at
    ``starts``."""
    if not len(dofs):
        return np.array([0])
    return _kept(starts, dofs)


@njit(cache=True)
def _ascend(starts, n):
    """Whether they ascend from 0 to n."""
    fine = len(starts) > 0 and starts[0] == 0 and starts[-1] == n
    for b in range(1, len(starts)):
        fine &= starts[b] > starts[b - 1]
    return fine


@njit(cache=True)
def _kept(starts, dofs):
    kept = np.empty(len(starts), np.int64)
    count, begun = 0, 0
    for i in range(len(dofs)):
        before = begun
        while starts[begun] <= dofs[i]:
            begun += 1
        if begun > before:
            kept[count] = i
            count += 1
    kept[count] = len(dofs)
    return kept[: count + 1]
