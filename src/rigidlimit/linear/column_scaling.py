"""The columns of B (m, n) on one footing: how large each is, and whether it moves a contact at all.

The entries of a translation are parts of unit normals, those of a rotation are arms [m]: a column
is measured by its own largest entry, never by another column's. Only rounding is detected by an
absolute size, that of the normals: arms of smooth balls, or normals out of a plane, which other
programs write as 1e-17 instead of 0. So bodies may be of any size above ROUNDING metres; the B of
``kinematics/gradient.py`` has no such entries, for it knows the bodies.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

ROUNDING = 1e-12
"""Columns whose entries are all below it, over the smaller of 1 and the largest entry of B, are
rounding."""

ZERO = 1e-13
"""Entries over the reach of their body, and singular values of its rows, that are zero but for the
rounding of normals and arms."""


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


def largest_blocks(B: np.ndarray | sp.csr_array, d: int) -> np.ndarray:
    """max_c |B_cj| of every column, (n,), B_cj (d,) its entries in the d rows of contact c: the
    same however the frames of contacts are turned."""
    if not sp.issparse(B):
        blocks = B.reshape(-1, d, B.shape[1])
        return np.sqrt(np.einsum("cin,cin->cn", blocks, blocks)).max(axis=0, initial=0.0)
    squared = np.zeros(B.shape[1])
    _blocks(B.indptr, B.indices, B.data, d, squared)
    return np.sqrt(squared)


@njit(cache=True)
def _blocks(indptr, indices, data, d, largest):
    total = np.zeros(len(largest))
    for c in range((len(indptr) - 1) // d):
        first, last = indptr[c * d], indptr[(c + 1) * d]
        for e in range(first, last):
            total[np.uint64(indices[e])] += data[e] * data[e]
        for e in range(first, last):
            j = np.uint64(indices[e])
            largest[j] = max(largest[j], total[j])
            total[j] = 0.0


def column_arms(B: np.ndarray | sp.csr_array, d: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(arm (n,), moves (n,) bool). arm_j = max_i |B_ij|: 1 or less for translations, the longest
    arm [m] for rotations, 1 for columns that move no contact: nothing or rounding. Of rough
    contacts with d rows each it is the greatest length of a contact's d entries."""
    arm = largest_entries(B) if d == 1 else largest_blocks(B, d)
    moves = arm > ROUNDING * min(1.0, arm.max(initial=0.0))
    return np.where(moves, arm, 1.0), moves
