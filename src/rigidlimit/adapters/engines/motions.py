"""New motions in place of an engine's degrees of freedom, for a balance without some of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Reduction:
    """New motions, and which of them are left out. motions (n, n): one a column; changed (n,) bool:
    those that are no degrees of freedom of the engine; gone (n,) bool: of B; unloaded (n,) bool: of
    the load; count: how many of them are worth telling."""

    motions: sp.csr_array
    changed: np.ndarray
    gone: np.ndarray
    unloaded: np.ndarray
    count: int = 0


def blockwise(n: int, blocks: Sequence[tuple[np.ndarray, np.ndarray]]) -> sp.csr_array:
    """Motions (n, n) that are the degrees of freedom except for ``blocks``: columns (c,) and
    motions (c, c) of each, one a column."""
    same = np.setdiff1d(np.arange(n), np.concatenate([columns for columns, _ in blocks]))
    row, column, value = [same], [same], [np.ones(len(same))]
    for columns, motions in blocks:
        row.append(np.repeat(columns, len(columns)))
        column.append(np.tile(columns, len(columns)))
        value.append(motions.ravel())
    places = np.concatenate(row), np.concatenate(column)
    return sp.csr_array((np.concatenate(value), places), shape=(n, n))
