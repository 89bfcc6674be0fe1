"""Compiled steps of the factorization of ``multifrontal.py``, where the symbols are explained."""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .lapack import eliminate
from .unassembled import Rows


class Structure(NamedTuple):
    """What kernels read of ``Fronts``, whose fields these are."""

    begins: np.ndarray
    column: np.ndarray
    row_starts: np.ndarray
    rows: np.ndarray
    parent: np.ndarray
    contact_starts: np.ndarray
    contacts: np.ndarray


class Matrix(NamedTuple):
    """``Unassembled``, and the order of elimination: dofs, position (n,): degree of freedom at each
    place, and back."""

    rows: Rows
    mass: Rows
    shift: float
    dofs: np.ndarray
    position: np.ndarray


@njit(cache=True, nogil=True)
def gather(
    K: Matrix,
    local: np.ndarray,
    low: int,
    k: int,
    rows: np.ndarray,
    contacts: np.ndarray,
    panel: np.ndarray,
    rest: np.ndarray,
):
    """Begin a front: its contacts, its inertia and the shift. ``local`` (n,) is filled in too.

    local: place in this front of each degree of freedom. low: first place of the k columns. panel:
    F_PP (k, k) and F_RP (r, k), rest: F_RR (r, r), all column by column; zeros before, lower
    triangles after.
    """
    ptr, idx, val = K.rows
    dofs, position = K.dofs, K.position
    r = len(rows)
    for d in range(k):
        local[dofs[low + d]] = d
    for i in range(r):
        local[dofs[rows[i]]] = k + i
    for contact in contacts:
        for e in range(ptr[contact], ptr[contact + 1]):
            a = local[idx[e]]
            for g in range(ptr[contact], ptr[contact + 1]):
                b = local[idx[g]]
                if a >= b:
                    _add(val[e] * val[g], a, b, k, r, panel, rest)
    mptr, midx, mval = K.mass
    for d in range(k):
        panel[d * k + d] += K.shift
        j = dofs[low + d]
        if len(mval) == 0:
            continue
        for e in range(mptr[j], mptr[j + 1]):
            if position[midx[e]] >= low + d:  # else the other of the two has had it
                _add(mval[e], local[midx[e]], d, k, r, panel, rest)


@njit(**INNER)
def _add(value, a, b, k, r, panel, rest):
    """Add to entry (a, b), a >= b, of a front with k columns and r rows."""
    if a < k:
        panel[b * k + a] += value
    elif b < k:
        panel[k * k + b * r + a - k] += value
    else:
        rest[(b - k) * r + a - k] += value


@njit(cache=True, nogil=True)
def extend(
    local: np.ndarray,
    dofs: np.ndarray,
    rows: np.ndarray,
    update: np.ndarray,
    k: int,
    r: int,
    panel: np.ndarray,
    rest: np.ndarray,
):
    """Add what a child front left, ``update`` at ``rows``, to its parent."""
    size = len(rows)
    place = np.empty(size, np.int64)
    own = 0  # how many of the rows are columns of the parent
    for i in range(size):
        place[i] = local[dofs[rows[i]]]
        own += place[i] < k
    begin = 0
    for j in range(size):
        b = place[j]
        column = update[begin : begin + size - j]
        begin += size - j
        if j < own:
            top = panel[b * k : (b + 1) * k]
            for i in range(j, own):
                top[place[i]] += column[i - j]
            below = panel[k * k + b * r : k * k + (b + 1) * r]
        else:
            below = rest[(b - k) * r : (b - k + 1) * r]
        for i in range(max(j, own), size):
            below[place[i] - k] += column[i - j]


@njit(cache=True, nogil=True)
def packed(rest: np.ndarray, r: int, out: np.ndarray):
    """The lower triangle of ``rest`` (r, r) to ``out``; they may be the same memory, or ``out`` lie
    before it."""
    at = 0
    for j in range(r):
        for i in range(j, r):
            out[at] = rest[j * r + i]
            at += 1


@njit(cache=True, nogil=True)
def eliminate_part(
    first: int,
    last: int,
    fronts: Structure,
    K: Matrix,
    values: np.ndarray,
    local: np.ndarray,
    stack: np.ndarray,
    space: np.ndarray,
):
    """Fronts first ... last, which take in nothing from others. (which of them (c,) left something
    to others, where it lies in ``stack`` (c + 1,)); None if K is not positive definite.

    Updates that wait are a stack, since fronts are in postorder: those of a front's children lie on
    top, in order. space: room for one panel.
    """
    begins, column, row_starts, all_rows, parent, contact_starts, contacts = fronts
    at = np.empty(last + 2 - first, np.int64)  # where the updates that wait begin, and the top
    waits = np.empty(last + 1 - first, np.int64)  # which fronts left them
    count = 0
    at[0] = 0
    for s in range(first, last + 1):
        low, k = column[s], column[s + 1] - column[s]
        rows = all_rows[row_starts[s] : row_starts[s + 1]]
        r = len(rows)
        panel = space[: begins[s + 1] - begins[s]]
        top = at[count]
        rest = stack[top : top + r * r]
        panel[:] = 0.0
        rest[:] = 0.0
        mine = contacts[contact_starts[s] : contact_starts[s + 1]]
        gather(K, local, low, k, rows, mine, panel, rest)
        child = count
        while child > 0 and parent[waits[child - 1]] == s:
            child -= 1
        for c in range(child, count):
            places = all_rows[row_starts[waits[c]] : row_starts[waits[c] + 1]]
            extend(local, K.dofs, places, stack[at[c] : at[c + 1]], k, r, panel, rest)
        if not eliminate(panel, k, r, rest):
            return None
        for e in range(len(panel)):  # a slice compiles for 3 s
            values[begins[s] + e] = panel[e]
        count = child
        if r > 0:
            start, size = at[count], r * (r + 1) // 2
            packed(rest, r, stack[start : start + size])
            waits[count] = s
            count += 1
            at[count] = start + size
    return waits[:count], at[: count + 1]


@njit(cache=True, nogil=True)
def most_waiting(rows: np.ndarray, parent: np.ndarray) -> float:
    """Entries of the updates that exist at once, at most: a front's own (r, r), and the triangles
    of its children's and those of the subtrees before it. rows (fronts,): r."""
    fronts = len(rows)
    taken = np.zeros(fronts)
    now = most = 0.0
    for s in range(fronts):
        most = max(most, now + float(rows[s]) ** 2)
        own = rows[s] * (rows[s] + 1) / 2
        now -= taken[s]
        if parent[s] >= 0:
            now += own
        if 0 <= parent[s] < fronts:
            taken[parent[s]] += own
    return most


@njit(cache=True, nogil=True)
def cut_into_parts(work: np.ndarray, parent: np.ndarray, most: float):
    """(first, last) front of parts made of neighbouring subtrees that are no more work than
    ``most``, alone and together. Fronts are in postorder."""
    fronts = len(work)
    below, lowest = work.copy(), np.arange(fronts)
    for s in range(fronts):
        if parent[s] >= 0:
            below[parent[s]] += below[s]
            lowest[parent[s]] = min(lowest[parent[s]], lowest[s])
    first, last = np.empty(fronts, np.int64), np.empty(fronts, np.int64)
    count, gathered = 0, 0.0
    for s in range(fronts):
        if below[s] > most or (parent[s] >= 0 and below[parent[s]] <= most):
            continue
        if count > 0 and last[count - 1] == lowest[s] - 1 and gathered + below[s] <= most:
            gathered += below[s]
        else:
            first[count], gathered = lowest[s], below[s]
            count += 1
        last[count - 1] = s
    return first[:count].copy(), last[:count].copy()
