"""Rounding among forces that are given: left where it is, instead of being carried by the law.

Where contacts hold nothing but rounding of the load, as the sides of blocks that stand side by side
in a wall, the law asks which of thousands must close to carry 1e-10 of the forces beside them. The
answer says nothing and costs Newton more than all the rest. Such forces g are set aside: forces
of the load F~ - B^T g obey the law, and with g added they balance F~. Whether they still obey it
to the tolerance is looked at afterwards (``harmless``): forces that hold one another may be of any
size beside the answer, and many small ones add up.
"""

import numpy as np
import scipy.sparse as sp

from .._support.products import transposed_product

PART = 10.0
"""Part of the largest force, over the tolerance, below which a force may be rounding."""

BESIDE = 1e-6
"""Part of the largest force on each of the bodies it acts on, at most: a light body on heavy ones
has small forces of its own."""


def noise(B: sp.csr_array, block_of: np.ndarray, force: np.ndarray, tolerance: float) -> np.ndarray:
    """g (m,): the forces that are rounding beside others; 0 elsewhere.

    B (m, n) csr. block_of (n,): body of each column. force (m,) >= 0.
    """
    small = (force > 0) & (force <= PART * tolerance * force.max(initial=0.0))
    if not small.any() or not B.shape[1]:
        return np.zeros(len(force))
    body, row = block_of[B.indices], np.repeat(np.arange(len(force)), np.diff(B.indptr))
    largest = np.zeros(block_of.max() + 1)
    np.maximum.at(largest, body, force[row])
    beside = np.full(len(force), np.inf)
    np.minimum.at(beside, row, largest[body])
    acts = np.diff(B.indptr) > 0
    return np.where(small & acts & (force <= BESIDE * beside), force, 0.0)


def harmless(
    B: sp.csr_array,
    aside: np.ndarray,
    force: np.ndarray,
    gap: float,
    tolerance: float,
    gap_tolerance: float,
) -> bool:
    """Whether ``aside`` (m,) is rounding beside the answer ``force`` (m,) too, alone and summed up
    on each body, and the duality gap of the whole says so."""
    most = PART * tolerance * force.max(initial=0.0)
    summed = np.abs(transposed_product(B, aside)).max(initial=0.0)
    return gap <= gap_tolerance and aside.max(initial=0.0) <= most and summed <= most
