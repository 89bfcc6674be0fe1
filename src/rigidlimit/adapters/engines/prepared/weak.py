"""Motions that contacts hardly feel, as in ``weak_motions`` and ``weak_motions_of_several``."""

import numpy as np
from numba import njit

from ...._support.sets import join, settle
from ..tolerances import TOLERANCES
from ..weak_motions import blocks_of, not_definite
from .compiled import INNER

_SURE, _ROUNDING, _LONG = TOLERANCES.sure, TOLERANCES.rounding, TOLERANCES.long


@njit(**INNER)
def suspects(values, column, count, mechanism, free, reach, accuracy):
    """Mechanisms that may have a singular value of up to their accuracy, (mechanisms,) bool."""
    place, size, first, part = blocks_of(mechanism, free, accuracy, _SURE)
    G = np.zeros(first[-1])
    d, widest = values.shape[1], column.shape[1]
    over, own = np.empty(len(reach)), np.empty((widest, d))
    here = np.empty(widest, np.int64)
    for j in range(len(reach)):
        over[j] = 1.0 / reach[j] if free[j] else 0.0
    for i in range(len(count)):
        last, since = -1, 0
        for e in range(count[i]):
            a = column[i, e]
            p = mechanism[a]
            if p != last:  # columns of a mechanism follow each other
                last, since = p, e
            here[e] = place[a]
            for k in range(d):
                own[e, k] = values[i, k, e] * over[a]
            start = first[p] + size[p] * place[a]
            if not free[a]:
                continue
            for f in range(since, e + 1):
                total = 0.0
                for k in range(d):
                    total += own[e, k] * own[f, k]
                G[start + here[f]] += total
    return not_definite(G, size, first, part)


@njit(**INNER)
def without_weak(rows, weak, mechanism, free, reach, accuracy, load, force):
    """Whether motions of the mechanisms ``weak`` (bool) were turned and left out, in place of rows
    (b, d, n), reach and load (n,). force (b, d): the engine's, by whose size a load is small."""
    n, turned = len(load), False
    b, d = rows.shape[0], rows.shape[1]
    size = 0.0
    for j in range(n):
        if free[j]:
            size = max(size, abs(load[j]) / reach[j])
    own = np.empty(n, np.int64)
    for p in range(len(weak)):
        if not weak[p]:
            continue
        c = 0
        for j in range(n):
            if mechanism[j] == p and free[j]:
                own[c] = j
                c += 1
        dense, pressing, r = np.zeros((max(d * b, c), c)), 0.0, 0
        for i in range(b):
            for k in range(d):
                any_entry = False
                for e in range(c):
                    value = rows[i, k, own[e]] / reach[own[e]]
                    dense[r, e] = value
                    any_entry |= value != 0.0
                if any_entry:
                    pressing += force[i, k] ** 2
                    r += 1
        if r == 0:
            continue
        dense = dense[: max(r, c)].copy()
        turned |= _turn(dense, own[:c], rows, reach, accuracy, load, size, np.sqrt(pressing))
    return turned


@njit(**INNER)
def _turn(dense, own, rows, reach, accuracy, load, size, pressing):
    """One mechanism of columns ``own`` (c,), whose rows over reach are ``dense`` (r, c)."""
    c, limit = len(own), 0.0
    for e in range(c):
        limit = max(limit, accuracy[own[e]])
    pushed = np.zeros(c, np.bool_)
    for e in range(c):
        for i in range(len(dense)):
            if dense[i, e] != 0.0:
                pushed[e] = True
                break
    _, S, V = np.linalg.svd(dense, False)
    most = S.max()
    push, small, noise, moved = np.zeros(c), np.zeros(c, np.bool_), False, 0.0
    for g in range(c):
        for e in range(c):
            push[g] += V[g, e] * load[own[e]] / reach[own[e]]
        push[g] = abs(push[g])
        small[g] = S[g] <= most * limit
        if small[g]:
            noise |= S[g] > _ROUNDING * most or push[g] > _ROUNDING * size
            for e in range(c):
                if pushed[e]:
                    moved = max(moved, abs(V[g, e]))
    if not noise and moved <= _ROUNDING:
        return False
    near = max(size, most * pressing)
    motions = np.zeros((c, c))  # one a column
    for e in range(c):
        for g in range(c):
            motions[e, g] = V[g, e] / reach[own[e]]
    part, row = np.zeros(c), np.zeros(c)
    for e in range(c):
        part[e] = load[own[e]]
    for g in range(c):
        total = 0.0
        for e in range(c):
            total += motions[e, g] * part[e]
        load[own[g]] = 0.0 if small[g] and push[g] <= limit * near else total
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            for e in range(c):
                row[e] = rows[i, k, own[e]]
            for g in range(c):
                total = 0.0
                if not small[g]:
                    for e in range(c):
                        total += row[e] * motions[e, g]
                rows[i, k, own[g]] = total
    for e in range(c):
        reach[own[e]] = 1.0
    return True


@njit(**INNER)
def hangs_on_several(column, count, held, reach, displacement, overlap):
    """Whether some bodies move so far beside their overlaps that motions of several of them
    together may decide forces. column (b, c), count (b,): that contacts move; displacement (n,);
    overlap (b,)."""
    n, b = len(held), len(count)
    way, least, thickest = np.zeros(n), np.inf, 0.0
    farthest = 0.0
    for j in range(n):
        if not held[j]:
            way[j] = abs(displacement[j]) * reach[j]
            farthest = max(farthest, way[j])
    for i in range(b):
        least, thickest = min(least, overlap[i]), max(thickest, overlap[i])
    if farthest <= _LONG * least:
        return False
    root = np.arange(n + b)
    touched = np.zeros(n, np.bool_)
    for i in range(b):
        for e in range(count[i]):
            j = column[i, e]
            if not held[j]:
                join(root, j, n + i)
                touched[j] = True
    settle(root)
    longest, thick = np.zeros(n + b), np.full(n + b, _ROUNDING * thickest)
    for j in range(n):
        if touched[j]:
            longest[root[j]] = max(longest[root[j]], way[j])
    for i in range(b):
        thick[root[n + i]] = max(thick[root[n + i]], overlap[i])
    return bool((longest > _LONG * thick).any())
