"""Sets of numbered nodes that hang together (union-find with path halving; Tarjan, 1975).

``root`` (nodes,) int begins as ``np.arange(nodes)``; each set is known by its least node.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def join(root: np.ndarray, a: int, b: int):
    """Make the sets of the nodes a and b one."""
    while root[a] != a:
        root[a] = root[root[a]]
        a = root[a]
    while root[b] != b:
        root[b] = root[root[b]]
        b = root[b]
    root[max(a, b)] = min(a, b)


@njit(cache=True, nogil=True)
def settle(root: np.ndarray):
    """Let each node point to the least of its set."""
    for i in range(len(root)):  # parents come before their children
        root[i] = root[root[i]]
