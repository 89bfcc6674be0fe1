"""Centres and sizes of trees in compiled code, as ``mujoco`` and ``sizes`` have them."""

import numpy as np
from numba import njit

from ...._support.compiled import INNER
from ..matrices import touching
from ..sizes import sizes_of
from .columns import compressed


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
    rows = compressed(values, column, count, np.int64(1))
    whole, trees = np.empty(len(tree), np.bool_), np.int64(0)
    for j in range(len(tree)):
        whole[j], trees = True, max(trees, tree[j] + 1)
    row, touched = touching(*rows, tree, whole)
    sides = np.empty((len(point), 1, 3))
    for i in range(len(point)):
        for a in range(3):
            sides[i, 0, a] = point[i, a]
    return sizes_of(row, touched, trees, sides, centre, near)
