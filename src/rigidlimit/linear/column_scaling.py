"""The columns of B (m, n) on one footing: how large each is, and whether it moves a contact at all.

The entries of a translation are parts of unit normals, those of a rotation are arms [m]: a column
is measured by its own largest entry, never by another column's. Only rounding is told apart by an
absolute size, that of the normals: arms of smooth balls, or normals out of a plane, which other
programs write as 1e-17 instead of 0. So bodies may be of any size above ROUNDING metres; the B of
``constraints/gradient.py`` has no such entries, for it knows the bodies.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

ROUNDING = 1e-12
"""Columns whose entries are all below it, over the smaller of 1 and the largest entry of B, are
rounding."""


def largest_entries(B: np.ndarray | sp.csr_array) -> np.ndarray:
    """max_i |B_ij| of every column, (n,), of a plain array or compressed rows."""
    if not sp.issparse(B):
        return np.abs(B).max(axis=0, initial=0.0)
    largest = np.zeros(B.shape[1])
    _largest(B.indices, B.data, largest)
    return largest


@njit(cache=True)
def _largest(indices, data, largest):
    for e in range(len(data)):
        j = np.uint64(indices[e])
        largest[j] = max(largest[j], abs(data[e]))


def column_arms(B: np.ndarray | sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """(arm (n,), moves (n,) bool). arm_j = max_i |B_ij|: 1 or less for translations, the longest
    arm [m] for rotations, 1 for columns that move no contact: nothing or rounding."""
    arm = largest_entries(B)
    moves = arm > ROUNDING * min(1.0, arm.max(initial=0.0))
    return np.where(moves, arm, 1.0), moves
