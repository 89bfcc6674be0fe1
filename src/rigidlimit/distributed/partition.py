"""Bodies dealt out to ranks by space: cut in two across the longest side, again and again.

Each cut leaves both sides about as many bodies as they have ranks. Positions stay where they were
read: what a cut needs of them is counted on every rank and summed.
"""

import numpy as np

from .ranks import Ranks

HALVINGS = 50
"""Of an interval that holds a cut: beyond it coordinates are told apart by rounding."""


def by_space(position: np.ndarray, ranks: Ranks) -> np.ndarray:
    """Rank (n,) of each body at position (n, 3), its part of them on this rank."""
    to = np.zeros(len(position), np.int64)
    _cut(position, np.arange(len(position)), 0, ranks.size, to, ranks)
    return to


def _cut(position, mine, first, last, to, ranks: Ranks) -> None:
    """Deals the bodies ``mine`` out to ranks ``first`` to ``last`` - 1."""
    if last - first <= 1:
        to[mine] = first
        return
    points, middle = position[mine], (first + last) // 2
    low = np.array([ranks.min(c.min(initial=np.inf)) for c in points.T])
    high = np.array([ranks.max(c.max(initial=-np.inf)) for c in points.T])
    count = ranks.sum(len(mine))
    if count == 0:
        return
    axis = int(np.argmax(high - low))
    along = points[:, axis]
    wanted = count * (middle - first) / (last - first)
    least, most = low[axis], high[axis]
    for _ in range(HALVINGS):
        at = 0.5 * (least + most)
        if ranks.sum(np.count_nonzero(along < at)) <= wanted:
            least = at
        else:
            most = at
    below = along < least
    # those on the cut itself, as a layer of a crystal, fill up the side that lacks them
    on = np.flatnonzero((along >= least) & (along <= most))
    lacking = round(wanted - ranks.sum(np.count_nonzero(below)))
    before = int(ranks.each(len(on))[: ranks.rank].sum())
    below[on[: max(0, lacking - before)]] = True
    _cut(position, mine[below], first, middle, to, ranks)
    _cut(position, mine[~below], middle, last, to, ranks)
