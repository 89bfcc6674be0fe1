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


@njit(cache=True)
def connected(
    values: np.ndarray,
    column: np.ndarray,
    ends: np.ndarray,
    use: np.ndarray,
    label: np.ndarray,
    count: int,
    each: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Sets that hang together by the columns ``use`` (n,) bool of compressed rows: of each of
    ``count`` labels, label (n,) of the columns, and of each ``each`` rows that follow one another.
    Numbers are those of the least label in a set, or beyond them."""
    root = np.arange(count + (len(ends) - 1) // each)
    for i in range(len(ends) - 1):
        for e in range(ends[i], ends[i + 1]):
            if use[column[e]] and values[e] != 0.0:
                join(root, label[column[e]], count + i // each)
    settle(root)
    return root[:count], root[count:]


def groups(label: np.ndarray) -> dict[int, np.ndarray]:
    """Indices of every value of ``label``."""
    order = np.argsort(label, kind="stable")
    ends = np.flatnonzero(np.diff(label[order])) + 1
    return {label[part[0]]: part for part in np.split(order, ends) if len(part)}
