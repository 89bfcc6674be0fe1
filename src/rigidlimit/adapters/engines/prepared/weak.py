"""Motions that contacts hardly feel, as in ``weak_motions`` and ``weak_motions_of_several``."""

import numpy as np
from numba import njit

from ...._support.compiled import INNER
from ...._support.sets import join, settle
from ..matrices import delivered_by
from ..tolerances import TOLERANCES
from ..weak_motions import blocks_of, not_definite, singular_motions
from ..weak_motions_of_several import anything_far, far_sets
from .columns import compacted, compressed

_SURE = TOLERANCES.sure


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
def without_weak(values, column, count, weak, mechanism, free, reach, accuracy, load, force):
    """(values, column, count) in the singular motions of the mechanisms ``weak`` (bool) without
    those that are left out; reach and load (n,) are changed in place. force (b, d): the
    engine's."""
    b, d, n = values.shape[0], values.shape[1], len(load)
    entries, place, ends = compressed(values, column, count, d)
    (motions, to, at), changed, gone, unloaded, _ = singular_motions(
        entries, place, ends, weak, mechanism, free, reach, accuracy, load, force.ravel()
    )
    if not changed.any():
        return values, column, count
    flat = np.zeros((b * d, n))
    for i in range(b * d):
        for e in range(ends[i], ends[i + 1]):
            for k in range(at[place[e]], at[place[e] + 1]):
                if not gone[to[k]]:
                    flat[i, to[k]] += entries[e] * motions[k]
    load[:] = delivered_by(motions, to, at, load, n)
    for j in range(n):
        load[j] = 0.0 if unloaded[j] else load[j]
        reach[j] = 1.0 if changed[j] else reach[j]
    return compacted(flat.reshape(b, d, n))


@njit(**INNER)
def hangs_on_several(column, count, held, reach, displacement, overlap):
    """Whether some bodies move so far beside their overlaps that motions of several of them
    together may decide forces. column (b, c), count (b,): that contacts move; displacement (n,);
    overlap (b,)."""
    n, b = len(held), len(count)
    if not anything_far(held, reach, displacement, overlap):
        return False
    root, way = np.arange(n + b), np.zeros(n)
    for i in range(b):
        for e in range(count[i]):
            j = column[i, e]
            if not held[j]:
                join(root, j, n + i)
                way[j] = abs(displacement[j]) * reach[j]
    settle(root)
    return bool(far_sets(root[:n], root[n:], way, overlap).any())
