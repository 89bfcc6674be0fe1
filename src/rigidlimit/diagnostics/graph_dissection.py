"""Nested dissection of a graph of bodies by levels of breadth-first searches."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

LEAF = 24
"""Bodies below which a part of the graph is not cut any more."""


def members_of(label: np.ndarray, count: int) -> list[np.ndarray]:
    """Places of each label 0 ... count - 1."""
    order = np.argsort(label, kind="stable")
    return np.split(order, np.searchsorted(label[order], np.arange(1, count)))


def dissect(graph: sp.csr_array) -> tuple[list[np.ndarray], list[int]]:
    """Nested dissection of a connected graph: vertex sets in elimination order, and parents.

    Cut along a level of a breadth-first search from a far vertex. No edge joins two sets of which
    neither is an ancestor of the other. parents: index of the set that separates, -1 at the top.
    """
    nodes, parents = [], []

    def split(members: np.ndarray):
        """Eliminate ``members`` last their separator; index of the set at the top."""
        if len(members) <= LEAF:
            nodes.append(members)
            parents.append(-1)
            return [len(nodes) - 1]
        sub = graph[members][:, members]
        count, label = connected_components(sub, directed=False)
        if count > 1:
            return [k for part in members_of(label, count) for k in split(members[part])]
        low, separator, high = _cut(sub)
        below = [k for part in (low, high) if len(part) for k in split(members[part])]
        nodes.append(members[separator])
        parents.append(-1)
        for k in below:
            parents[k] = len(nodes) - 1
        return [len(nodes) - 1]

    split(np.arange(graph.shape[0]))
    return nodes, parents


def _cut(graph):
    """(one side, separator, other side) of a connected graph, as vertex indices."""
    start = 0
    for _ in range(2):  # the last vertex reached is far from the start: start from it
        start = int(breadth_first_order(graph, start, directed=False)[0][-1])
    level = _levels(graph, start)
    sizes = np.bincount(level)
    below = np.cumsum(sizes) - sizes
    total = len(level)
    if len(sizes) < 3:
        return np.zeros(0, int), np.arange(total), np.zeros(0, int)
    fair = (below >= 0.3 * total) & (below + sizes <= 0.7 * total)
    if not fair.any():
        fair = np.zeros(len(sizes), bool)
        fair[1:-1] = True
        middle = np.abs(below + 0.5 * sizes - 0.5 * total)
        chosen = int(np.where(fair, middle, np.inf).argmin())
    else:
        chosen = int(np.where(fair, sizes, total + 1).argmin())
    upper = sp.csr_array(graph) @ (level == chosen + 1).astype(float) > 0
    separator = (level == chosen) & upper
    low = (level <= chosen) & ~separator
    return np.flatnonzero(low), np.flatnonzero(separator), np.flatnonzero(level > chosen)


def _levels(graph, start):
    """Distance in edges from ``start``, (n,)."""
    order, before = breadth_first_order(graph, start, directed=False)
    level = np.zeros(graph.shape[0], int)
    for v in order[1:]:
        level[v] = level[before[v]] + 1
    return level
