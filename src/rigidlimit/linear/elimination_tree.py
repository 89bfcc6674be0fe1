"""The elimination tree of the bodies of a network, and the structure of their dense fronts.

Bodies are taken in a given order. A body is coupled, as it is eliminated, to all later bodies of
the contacts that begin with it and to those that its children were coupled to; the first of them is
its parent (J. W. H. Liu, The role of elimination trees in sparse factorization, SIAM J. Matrix
Anal. Appl. 11 (1990) 134).
"""

import numpy as np
from numba import njit

from .dissection import grouped


def sums(starts: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum of each piece of ``values``, (pieces,)."""
    return np.diff(np.concatenate([[0], np.cumsum(values)])[starts])


@njit(cache=True, nogil=True)
def first_of(starts: np.ndarray, bodies: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Place of the body of each row that is eliminated first; -1 of an empty row."""
    first = np.full(len(starts) - 1, -1, np.int64)
    for i in range(len(first)):
        for e in range(starts[i], starts[i + 1]):
            p = place[bodies[e]]
            if first[i] < 0 or p < first[i]:
                first[i] = p
    return first


@njit(cache=True, nogil=True)
def columns_of_factor(
    place: np.ndarray, row_starts: np.ndarray, row_bodies: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Structure of L by bodies: (starts (bodies + 1,), later bodies by place, parent).

    The bodies coupled to one as it is eliminated are those of the rows that begin with it and those
    of its children in the elimination tree; the first of them is its parent.
    """
    nb = len(place)
    groups, members = grouped(first_of(row_starts, row_bodies, place), nb)
    parent = np.full(nb, -1, np.int64)
    child = np.full(nb, -1, np.int64)
    sibling = np.full(nb, -1, np.int64)
    seen = np.full(nb, -1, np.int64)
    starts = np.zeros(nb + 1, np.int64)
    later = np.empty(max(16, 8 * nb), np.int32)
    at = 0
    for j in range(nb):
        seen[j] = j
        if len(later) - at < nb:
            longer = np.empty(max(2 * len(later), len(later) + nb), np.int32)
            for e in range(at):  # a slice compiles for 3 s
                longer[e] = later[e]
            later = longer
        for e in range(groups[j], groups[j + 1]):
            i = members[e]
            for g in range(row_starts[i], row_starts[i + 1]):
                p = place[row_bodies[g]]
                if seen[p] != j:
                    seen[p] = j
                    later[at] = p
                    at += 1
        c = child[j]
        while c >= 0:
            for e in range(starts[c], starts[c + 1]):
                p = later[e]
                if seen[p] != j:
                    seen[p] = j
                    later[at] = p
                    at += 1
            c = sibling[c]
        starts[j + 1] = at
        least = nb
        for e in range(starts[j], at):
            least = min(least, later[e])
        if least < nb:
            parent[j] = least
            sibling[j] = child[least]
            child[least] = j
    return starts, later[:at], parent


@njit(cache=True, nogil=True)
def postorder(parent: np.ndarray) -> np.ndarray:
    """New place of each column, with every subtree of the elimination tree in one piece."""
    nb = len(parent)
    child = np.full(nb, -1, np.int64)
    sibling = np.full(nb, -1, np.int64)
    for j in range(nb - 1, -1, -1):
        if parent[j] >= 0:
            sibling[j] = child[parent[j]]
            child[parent[j]] = j
    new = np.empty(nb, np.int64)
    stack = np.empty(nb, np.int64)
    count = 0
    for root in range(nb):
        if parent[root] >= 0:
            continue
        top = 0
        stack[0] = root
        while top >= 0:
            j = stack[top]
            if child[j] >= 0:
                top += 1
                stack[top] = child[j]
                child[j] = sibling[stack[top]]
            else:
                new[j] = count
                count += 1
                top -= 1
    return new


@njit(cache=True, nogil=True)
def last_columns(
    parent: np.ndarray,
    width: np.ndarray,
    height: np.ndarray,
    leaf: int,
    limits: np.ndarray,
    parts: np.ndarray,
) -> np.ndarray:
    """Last column of each front, ascending. Columns are in postorder.

    width (bodies,): degrees of freedom of a column. height (bodies,): those coupled to it later.
    limits, parts: part of a front that may be zeros up to so many columns.
    """
    nb = len(parent)
    below = width.copy()  # degrees of freedom of the subtree
    first = np.arange(nb)  # first column of the subtree
    for j in range(nb):
        if parent[j] >= 0:
            below[parent[j]] += below[j]
            first[parent[j]] = min(first[parent[j]], first[j])
    last = np.empty(nb, np.int64)
    cols = np.empty(nb, np.int64)  # columns of each front so far, in degrees of freedom
    entries = np.empty(nb, np.float64)  # entries of L that are not zeros by structure
    count = 0
    for j in range(nb):
        own = width[j] * (width[j] + 1) / 2 + width[j] * height[j]
        if below[j] <= leaf:
            k = width[j]
            while count > 0 and last[count - 1] >= first[j]:
                count -= 1
                k += cols[count]
            last[count] = j
            cols[count] = k
            entries[count] = k * (k + 1) / 2 + k * height[j]  # a small front is taken as full
            count += 1
            continue
        merged = False
        if count > 0 and last[count - 1] == j - 1 and parent[j - 1] == j:
            k = cols[count - 1] + width[j]
            full = k * (k + 1) / 2 + k * height[j]
            allowed = 0.0
            for step in range(len(limits)):
                if k <= limits[step]:
                    allowed = parts[step]
                    break
            if full - entries[count - 1] - own <= allowed * full:
                last[count - 1] = j
                cols[count - 1] = k
                entries[count - 1] += own
                merged = True
        if not merged:
            last[count] = j
            cols[count] = width[j]
            entries[count] = own
            count += 1
    return last[:count].copy()


@njit(cache=True, nogil=True)
def rows_of_fronts(
    last: np.ndarray,
    starts: np.ndarray,
    later: np.ndarray,
    new: np.ndarray,
    before: np.ndarray,
    column: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows R of each front, in ascending new places of degrees of freedom: (starts, rows)."""
    fronts = len(last)
    row_starts = np.zeros(fronts + 1, np.int64)
    for s in range(fronts):
        j = before[last[s]]
        size = 0
        for e in range(starts[j], starts[j + 1]):
            p = new[later[e]]
            size += column[p + 1] - column[p]
        row_starts[s + 1] = row_starts[s] + size
    rows = np.empty(row_starts[fronts], np.int32)
    for s in range(fronts):
        j = before[last[s]]
        places = np.empty(starts[j + 1] - starts[j], np.int64)
        for e in range(len(places)):
            places[e] = new[later[starts[j] + e]]
        places.sort()
        at = row_starts[s]
        for p in places:
            for d in range(column[p], column[p + 1]):
                rows[at] = d
                at += 1
    return row_starts, rows


@njit(cache=True, nogil=True)
def dofs_of(starts: np.ndarray, bodies: np.ndarray) -> np.ndarray:
    """Degrees of freedom of the bodies, one after the other."""
    dofs = np.empty(starts[-1], np.int64)
    at = 0
    for b in bodies:
        for d in range(starts[b], starts[b + 1]):
            dofs[at] = d
            at += 1
    return dofs
