"""Pairs of bodies that may touch: bounding balls in a hierarchy of hashed grids.

Balls from 2^k to 2^(k+1) times the smallest one live in grid k, whose cell is the diameter of the
largest of them, each in the one cell of its centre. Two balls that meet have centres no further
apart than the larger one's cell, so a ball looks into the neighbouring cells of its own grid and
of every coarser grid in use. The work is linear in the number of balls for any mixture of sizes:
neighbours per level are bounded, and so are levels (log2 of the size ratio). Threads share the
balls where there are many.

Excluded pairs, and bodies of one group, do not collide (``Apart``).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.arrays import contiguous
from .._support.compiled import INNER
from .._support.threads import in_pieces
from ..bodies import Bodies
from .tolerances import TOLERANCES

MAX_LEVEL = 60
"""Size ratios up to 2^60."""


@njit(**INNER)
def _column(level, x, y):
    """Hash of a column of cells; the cells of a column lie one after the other from there on."""
    h = (x * 73856093) ^ (y * 19349663) ^ (level * 50331653)
    return h ^ (h >> 15)


@njit(cache=True)
def _levels(radius):
    """(level of each ball (n,), side of the cells of each level, levels in use: bool)."""
    level, cell = np.empty(len(radius), np.int64), np.zeros(MAX_LEVEL + 1)
    used = np.zeros(MAX_LEVEL + 1, np.bool_)
    smallest = radius[0]
    for i in range(len(radius)):
        smallest = min(smallest, radius[i])
    for i in range(len(radius)):
        level[i] = min(max(int(np.log2(radius[i] / smallest)), 0), MAX_LEVEL)
        # a ball of exactly the cell's diameter, in spite of rounding
        cell[level[i]] = max(cell[level[i]], 2.0 * radius[i] * (1.0 + 1e-9))
        used[level[i]] = True
    return level, cell, used


class SortedBalls(NamedTuple):
    """Balls in the order of their buckets: start (buckets + 1,), order (n,): their numbers; place
    (n, 4): centre and radius, at (n, 4): cell and level."""

    start: np.ndarray
    order: np.ndarray
    place: np.ndarray
    at: np.ndarray


@njit(cache=True)
def _sorted_by_bucket(centre, radius, level, cell):
    """``SortedBalls``, of which a bucket and its neighbours lie together."""
    n = len(radius)
    size = 16
    while size < 2 * n:
        size *= 2
    mask = size - 1
    bucket = np.empty(n, np.int64)
    cells = np.empty((n, 3), np.int64)
    start = np.zeros(size + 1, np.int64)
    for i in range(n):
        side = cell[level[i]]
        for k in range(3):
            cells[i, k] = int(np.floor(centre[i, k] / side))
        bucket[i] = (_column(level[i], cells[i, 0], cells[i, 1]) + cells[i, 2]) & mask
        start[bucket[i] + 1] += 1
    for b in range(size):
        start[b + 1] += start[b]
    filled = start[:size].copy()
    order = np.empty(n, np.int64)
    place = np.empty((n, 4))
    at = np.empty((n, 4), np.int64)
    for i in range(n):
        s = filled[bucket[i]]
        filled[bucket[i]] += 1
        order[s] = i
        for k in range(3):
            place[s, k] = centre[i, k]
            at[s, k] = cells[i, k]
        place[s, 3] = radius[i]
        at[s, 3] = level[i]
    return SortedBalls(start, order, place, at)


@njit(**INNER)
def _twice_as_long(pairs):
    """Pairs (k, 2) in an array with room for as many more."""
    grown = np.empty((2 * len(pairs), 2), np.int64)
    for k in range(len(pairs)):  # a slice compiles for 3 s
        grown[k, 0], grown[k, 1] = pairs[k, 0], pairs[k, 1]
    return grown


@njit(**INNER)
def _in_cell(at, t, x, y, z, lv):
    return at[t, 0] == x and at[t, 1] == y and at[t, 2] == z and at[t, 3] == lv


@njit(**INNER)
def _overlap(place, s, t):
    dx = place[s, 0] - place[t, 0]
    dy = place[s, 1] - place[t, 1]
    dz = place[s, 2] - place[t, 2]
    reach = place[s, 3] + place[t, 3]
    return dx * dx + dy * dy + dz * dz <= reach * reach


@njit(**INNER)
def _cell_in(place, at, s, lv, side):
    """The cell of ball s in the grid of a level, whose cells have this side."""
    if lv == at[s, 3]:
        return at[s, 0], at[s, 1], at[s, 2]
    x, y, z = place[s, 0] / side, place[s, 1] / side, place[s, 2] / side
    return int(np.floor(x)), int(np.floor(y)), int(np.floor(z))


@njit(cache=True, nogil=True)
def _meeting_balls(balls, levels, cell, planar, begin, end):
    """(pairs (k, 2) with first < second, distance tests made) of the sorted balls begin : end.

    Of two balls the one that looks for the other has the pair.
    """
    start, order, place, at = balls
    mask = len(start) - 2
    pairs = np.empty((8 * (end - begin) + 16, 2), np.int64)
    count = 0
    tests = 0
    flat = 0 if planar else 1
    for s in range(begin, end):
        for lv in levels:
            if lv < at[s, 3]:
                continue
            mine = lv == at[s, 3]
            cx, cy, cz = _cell_in(place, at, s, lv, cell[lv])
            # of two cells of one grid only the first looks into the other
            for x in range(cx if mine else cx - 1, cx + 2):
                for y in range(cy if mine and x == cx else cy - 1, cy + 2):
                    column = _column(lv, x, y)
                    own = mine and x == cx and y == cy
                    for z in range(cz if own else cz - flat, cz + flat + 1):
                        b = (column + z) & mask
                        for t in range(s + 1 if own and z == cz else start[b], start[b + 1]):
                            if not _in_cell(at, t, x, y, z, lv):
                                continue
                            tests += 1
                            if not _overlap(place, s, t):
                                continue
                            if count == len(pairs):
                                pairs = _twice_as_long(pairs)
                            i, j = order[s], order[t]
                            pairs[count, 0], pairs[count, 1] = min(i, j), max(i, j)
                            count += 1
    return pairs[:count], tests


def meeting_balls(
    centre: np.ndarray, radius: np.ndarray, *, planar: bool = False
) -> tuple[np.ndarray, int]:
    """Pairs of balls that overlap.

    Parameters
    ----------
    centre, radius
        (n, 3), (n,) > 0 [m].
    planar
        Whether all centres have one z.

    Returns
    -------
    pairs : (k, 2)
        In no particular order, first < second.
    tests : int
        Distance tests made.
    """
    if not len(radius):
        return np.zeros((0, 2), np.int64), 0
    radius = contiguous(radius)
    level, cell, used = _levels(radius)
    levels = np.flatnonzero(used)
    balls = _sorted_by_bucket(np.ascontiguousarray(centre), radius, level, cell)

    def pairs_of(begin: int, end: int) -> tuple[np.ndarray, int]:
        return _meeting_balls(balls, levels, cell, planar, begin, end)

    found = in_pieces(pairs_of, len(radius), least=TOLERANCES.threaded_search)
    if len(found) == 1:
        return found[0]
    return np.concatenate([pairs for pairs, _ in found]), sum(tests for _, tests in found)


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
