"""Centres and sizes of trees in compiled code, as ``mujoco_places`` and ``sizes`` have them."""

import numpy as np
from numba import njit

from .compiled import INNER


@njit(**INNER)
def centres(geom, geom_body, body_tree, body_column, tree, mass, xipos, centre):
    """Centre of mass of the tree that each side is of (m, 2, 3); nan for what cannot move."""
    count = tree.max() + 1
    total, middle = np.zeros(count), np.zeros((count, 3))
    for b in range(len(body_tree)):
        if body_tree[b] >= 0:
            p = tree[body_column[b]]
            total[p] += mass[b]
            for k in range(3):
                middle[p, k] += mass[b] * xipos[b, k]
    for p in range(count):
        for k in range(3):
            middle[p, k] /= total[p] if total[p] > 0.0 else 1.0
    for i in range(len(geom)):
        for side in range(2):
            b = geom_body[int(geom[i, side])]
            for k in range(3):
                centre[i, side, k] = np.nan
                if body_tree[b] >= 0:
                    centre[i, side, k] = middle[tree[body_column[b]], k]


@njit(**INNER)
def tree_sizes(values, column, count, tree, point, centre, near):
    """Size (trees,) of each tree's contacts [m], as ``sizes.mechanism_sizes``; near (m,): the least
    of those that each contact joins."""
    m, parts, widest = len(count), tree.max() + 1, column.shape[1]
    touched, sides = np.empty((m, widest), np.int64), np.zeros(m, np.int64)
    last, number = np.full(parts, -1), np.zeros(parts)
    middle, size, every = np.zeros((parts, 3)), np.zeros(parts), np.zeros(3)
    for i in range(m):
        for e in range(count[i]):
            p = tree[column[i, e]]
            if values[i, 0, e] != 0.0 and last[p] != i:
                last[p], touched[i, sides[i]] = i, p
                sides[i] += 1
        for k in range(3):
            every[k] += point[i, k] / m
        for q in range(sides[i]):
            number[touched[i, q]] += 1.0
            for k in range(3):
                middle[touched[i, q], k] += point[i, k]
    for p in range(parts):
        for k in range(3):
            middle[p, k] /= max(number[p], 1.0)
    whole = 0.0
    for i in range(m):
        arm = np.inf
        for side in range(2):
            away = _apart(point[i], centre[i, side])
            if away < arm:  # not for one that is no number
                arm = away
        for q in range(sides[i]):
            p = touched[i, q]
            size[p] = max(size[p], arm, _apart(point[i], middle[p]))
        whole = max(whole, _apart(point[i], every))
    whole = whole if whole > 0.0 else 1.0
    for p in range(parts):
        if not (size[p] > 0.0 and size[p] < np.inf):
            size[p] = whole
    for i in range(m):
        near[i] = np.inf if sides[i] > 0 else whole
        for q in range(sides[i]):
            near[i] = min(near[i], size[touched[i, q]])
    return size


@njit(**INNER)
def _apart(a, b):
    return np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)
