"""Pairs of bodies that may touch: bounding balls in a hierarchy of hashed grids.

A ball of radius R lives in the grid whose cell is the smallest power of two times the smallest
diameter that holds it, in the one cell of its centre. Two balls that meet have centres no further
apart than the larger one's cell, so a ball looks into the neighbouring cells of its own grid and
of every coarser grid in use. The work is linear in the number of balls for any mixture of sizes:
neighbours per level are bounded, and so are levels (log2 of the size ratio).
"""

import numpy as np
from numba import njit

MAX_LEVEL = 60
"""Size ratios up to 2^60."""


@njit(cache=True)
def _hash(level, x, y, z, mask):
    h = (x * 73856093) ^ (y * 19349663) ^ (z * 83492791) ^ (level * 50331653)
    return (h ^ (h >> 15)) & mask


@njit(cache=True)
def _before(x, y, z):
    """Whether a cell's place relative to another is before it in the order of x, y, z."""
    return x < 0 or (x == 0 and (y < 0 or (y == 0 and z < 0)))


@njit(cache=True)
def _meeting_balls(centre, radius, level, cell, planar):
    """(pairs (k, 2) with first < second, distance tests made)."""
    n = len(radius)
    size = 16
    while size < 2 * n:
        size *= 2
    mask = size - 1
    head = -np.ones(size, np.int64)
    after = -np.ones(n, np.int64)
    used = np.zeros(MAX_LEVEL + 1, np.bool_)
    at = np.empty((n, 3), np.int64)
    for i in range(n):
        used[level[i]] = True
        for k in range(3):
            at[i, k] = int(np.floor(centre[i, k] / cell[level[i]]))
        h = _hash(level[i], at[i, 0], at[i, 1], at[i, 2], mask)
        after[i] = head[h]
        head[h] = i
    pairs = np.empty((8 * n + 16, 2), np.int64)
    count = 0
    tests = 0
    flat = 0 if planar else 1
    for i in range(n):
        for lv in range(level[i], MAX_LEVEL + 1):
            if not used[lv]:
                continue
            cx = int(np.floor(centre[i, 0] / cell[lv]))
            cy = int(np.floor(centre[i, 1] / cell[lv]))
            cz = int(np.floor(centre[i, 2] / cell[lv]))
            for x in range(cx - 1, cx + 2):
                for y in range(cy - 1, cy + 2):
                    for z in range(cz - flat, cz + flat + 1):
                        # of two cells of one grid only the first looks into the other
                        if lv == level[i] and _before(x - cx, y - cy, z - cz):
                            continue
                        own = lv == level[i] and x == cx and y == cy and z == cz
                        j = head[_hash(lv, x, y, z, mask)]
                        while j >= 0:
                            same_cell = at[j, 0] == x and at[j, 1] == y and at[j, 2] == z
                            if level[j] == lv and same_cell and (j > i or not own):
                                tests += 1
                                dx = centre[i, 0] - centre[j, 0]
                                dy = centre[i, 1] - centre[j, 1]
                                dz = centre[i, 2] - centre[j, 2]
                                reach = radius[i] + radius[j]
                                if dx * dx + dy * dy + dz * dz <= reach * reach:
                                    if count == len(pairs):
                                        grown = np.empty((2 * count, 2), np.int64)
                                        for k in range(count):  # a slice compiles for 3 s
                                            grown[k, 0], grown[k, 1] = pairs[k, 0], pairs[k, 1]
                                        pairs = grown
                                    pairs[count, 0] = min(i, j)
                                    pairs[count, 1] = max(i, j)
                                    count += 1
                            j = after[j]
    return pairs[:count], tests


def meeting_balls(centre: np.ndarray, radius: np.ndarray, *, planar: bool = False):
    """Pairs of balls that overlap. centre (n, 3) [m], radius (n,) > 0 [m].

    Returns (pairs (k, 2) in no particular order, first < second; number of distance tests).
    """
    if not len(radius):
        return np.zeros((0, 2), np.int64), 0
    smallest = 2 * radius.min()
    level = np.ceil(np.log2(2 * radius / smallest) - 1e-12).astype(np.int64)
    level = np.clip(level, 0, MAX_LEVEL)
    cell = smallest * 2.0 ** np.arange(MAX_LEVEL + 1)
    cell *= 1 + 1e-9  # a ball of exactly the cell's diameter, in spite of rounding
    return _meeting_balls(np.ascontiguousarray(centre), radius, level, cell, planar)
