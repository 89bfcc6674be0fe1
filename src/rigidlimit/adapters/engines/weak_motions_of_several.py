"""Weakly determined motions of several bodies together.

Bodies of a pile that lean on one another by 1e-4 have motions that none of them has alone, and on
which all gaps together depend by products of such tilts, 1e-8 to 1e-14. Balance along them says
nothing but rounding, and would pin the engine's own forces (by 4 % in a pile of cylinders without
friction). That shows in the answer: displacements of ``tolerances.long`` overlaps and more. With
columns over reach a_j,

    B / a = U S V^T,   motions V with S <= limit max S and no load of their own

are looked for among all connected bodies there, and as many columns, those by which they
differ most, are removed from the balance: the imbalance along the others is negligible.

The limit is what the engine's geometry resolves: ``slight`` or its accuracy, whichever is less; the
angle by which faces lean on each other, where the engine takes the normal of either (B is then off
by that angle, and S, by Weyl's inequality, by about as much); or the accuracy that the caller
states.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from ...conditioning.several_bodies import columns_of, decomposed
from .matrices import components, dense_block, entries
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from .balance import Balance

_LONG, _ROUNDING = TOLERANCES.long, TOLERANCES.rounding


def weak_motions_of_several(
    balance: "Balance", displacement: np.ndarray, overlap: np.ndarray
) -> tuple[np.ndarray, int, float]:
    """Columns (k,) that need not balance; how many sets of bodies are too large to look at; the
    largest limit by which a column was left out.

    displacement (n,) and overlap (m,), of each row: of the forces found.
    """
    B, held, reach = balance.B, balance.held, balance.reach
    out, large, most = [], 0, 0.0
    for rows, columns in _suspicious(B, held, reach, displacement, overlap):
        if len(rows) * len(columns) > TOLERANCES.most:
            large += 1
            continue
        arm = reach[columns]
        load = balance.load[columns] / arm
        VT, S, push = decomposed(dense_block(B, rows, columns) / arm, load)
        limit = _limit(balance, rows, columns)
        size = S[0] * float(np.linalg.norm(balance.force[rows]))
        near = limit * max(size, float(np.abs(load).max()))
        slight = (limit * S[0] >= S) & (push <= near)
        if slight.any():
            out.append(columns[columns_of(VT[slight])])
            most = max(most, limit)
    return np.concatenate([np.zeros(0, int), *out]), large, most


def _limit(balance, rows, columns) -> float:
    """Singular value, over the largest, that the engine's geometry does not tell from none."""
    if balance.stated is not None:
        return balance.stated
    fine = min(float(balance.accuracy[columns].max()), TOLERANCES.slight)
    if balance.lean is None:
        return fine
    return max(fine, float(balance.lean[rows // balance.directions].max(initial=0.0)))


def hangs_on_rounding(balance: "Balance", displacement: np.ndarray, overlap: np.ndarray) -> bool:
    """Whether displacements (n,) over reach are so long beside overlaps (m,) that motions next to
    undetermined must have made them."""
    moved = np.where(balance.held, 0.0, np.abs(displacement))
    way = float((moved * balance.reach).max(initial=0.0))
    return way > TOLERANCES.far * float(overlap.max(initial=0.0))


def _suspicious(B, held, reach, displacement, overlap):
    """(rows, free columns) of each set of bodies that contacts join and that moves far beside its
    overlaps."""
    if not anything_far(held, reach, displacement, overlap):
        return
    of_column, of_row = components(B, ~held)
    touched = np.zeros(B.shape[1], bool)
    touched[entries(B)[1]] = True
    touched &= ~held
    way = np.where(touched, np.abs(displacement) * reach, 0.0)
    for part in np.flatnonzero(far_sets(of_column, of_row, way, overlap)):
        yield np.flatnonzero(of_row == part), np.flatnonzero((of_column == part) & touched)


@njit(cache=True, nogil=True)
def anything_far(
    held: np.ndarray, reach: np.ndarray, displacement: np.ndarray, overlap: np.ndarray
) -> bool:
    """Whether there may be such bodies."""
    farthest, least = 0.0, np.inf
    for j in range(len(held)):
        if not held[j]:
            farthest = max(farthest, abs(displacement[j]) * reach[j])
    for i in range(len(overlap)):
        least = min(least, overlap[i])
    return farthest > _LONG * least


@njit(cache=True, nogil=True)
def far_sets(
    of_column: np.ndarray, of_row: np.ndarray, way: np.ndarray, overlap: np.ndarray
) -> np.ndarray:
    """Which sets move far beside their overlaps, bool by number. of_column (n,), of_row (m,): sets
    as of ``components``; way (n,) [m]; overlap (m,)."""
    count, least = len(of_column) + len(of_row), 0.0
    far, thick = np.zeros(count), np.zeros(count)
    for j in range(len(of_column)):
        far[of_column[j]] = max(far[of_column[j]], way[j])
    for i in range(len(of_row)):
        thick[of_row[i]] = max(thick[of_row[i]], overlap[i])
        least = max(least, _ROUNDING * overlap[i])
    # bodies whose contacts carry no force move by rounding of all the others'
    return far > _LONG * np.maximum(thick, least)
