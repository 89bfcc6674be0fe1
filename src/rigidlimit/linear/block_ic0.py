"""Incomplete factorization of a network of pairs by blocks, the preconditioner of ``eisenstat.py``.

For K = M + C^T C + e I, where every row of C = sqrt(D) B touches the blocks of at most two bodies
and M is block diagonal. With the bodies in an order, K = G + L + L^T: diagonal blocks G, lower
blocks L. The factorization is

    P = (E + L) E^-1 (E + L^T),      E_i = G_i - sum over j < i of L_ij E_j^-1 L_ij^T,

whose diagonal blocks agree with those of K (G_i lifted a little). Elimination of body j leaves a
contact (i, j) with the stiffness of the contact in series with what carries j, so E_i >= the
stiffness of the contacts to later bodies: E exists for every network, whatever the active set (for
a general matrix it may not). D. Kershaw, J. Comput. Phys. 26 (1978) 43, with blocks and dropped
fill.

With E_i = R_i R_i^T, in the unknowns R^T x and with the rows of C divided by R, E is the identity
and no block of it is ever read again:

    K' = R^-1 K R^-T = G' + L' + L'^T,    P' = (I + L') (I + L'^T),    G' = R^-1 G R^-T.

A block of L is a sum of outer products, and is never formed where few contacts make it.

Every kernel takes a tuple ``block`` of d entries. Its length is part of its type, so that d is a
constant to the compiler; and unlike kernels made by a function for each d, which capture one
another, these are found again in the cache on disk by the next process.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .blocks import add_outer, cholesky_of_block, diagonal_blocks, invert_lower, times_lower


class Settings(NamedTuple):
    """Of the incomplete factorization.

    lift: part of its largest diagonal entry by which a block G is lifted before E. E^-1 cancels in
        L_ij E_j^-1 L_ij^T; in soft networks, which only the shift holds, rounding would grow from
        body to body until E is no longer positive.
    few: largest number of contacts of one pair of bodies for which their block L_ij is not formed.
    """

    lift: float = 1e-7
    few: int = 2


SETTINGS = Settings()


@njit(**INNER)
def _add_pair(up, low, first, end, S, block):
    """S += L_ij E_j^-1 L_ij^T (lower triangle) by the contacts first ... end - 1 of one pair, with
    low divided by R_j."""
    d = len(block)
    if end - first <= SETTINGS.few:
        for p in range(first, end):
            for q in range(first, end):
                s = 0.0
                for u in range(d):
                    s += low[p, u] * low[q, u]
                add_outer(S, up[p], up[q], s, block)
        return
    L = np.zeros((d, d))
    for p in range(first, end):
        for u in range(d):
            for v in range(d):
                L[u, v] += up[p, u] * low[p, v]
    for u in range(d):
        for v in range(u + 1):
            for w in range(d):
                S[u, v] += L[u, w] * L[v, w]


@njit(**INNER)
def _by_earlier(rows, i, inverse, S, block):
    """S = what elimination of earlier bodies takes from G_i, the sum over j < i of L_ij E_j^-1
    L_ij^T; low of the contacts of i is divided by R_j."""
    ptr, lo, up, low = rows
    for u in range(len(block)):
        for v in range(u + 1):
            S[u, v] = 0.0
    first = np.int64(ptr[i])
    while first < ptr[i + 1]:
        j, end = lo[first], first + 1
        while end < ptr[i + 1] and lo[end] == j:
            end += 1
        if j >= 0:
            for p in range(first, end):
                times_lower(inverse[j], low[p], block)
            if end == first + 1:  # the usual case is quicker by itself
                s = 0.0
                for u in range(len(block)):
                    s += low[first, u] * low[first, u]
                add_outer(S, up[first], up[first], s, block)
            else:
                _add_pair(up, low, first, end, S, block)
        first = end


@njit(**INNER)
def _invert_root(G, S, E, R, inverse, i, block):
    """R^-1 of E = G - S = R R^T, with G lifted."""
    top = 0.0
    for u in range(len(block)):
        top = max(top, G[i, u, u])
    for u in range(len(block)):
        for v in range(u + 1):
            E[u, v] = G[i, u, v] - S[u, v]
        E[u, u] += SETTINGS.lift * top
    cholesky_of_block(E, R, len(block))
    invert_lower(R, inverse[i], len(block))


@njit(**INNER)
def _scale_diagonal(G, inverse, T, rest, i, block):
    """rest = G' - 2 I with G' = R^-1 G R^-T, the lower triangle row by row; T: room."""
    d = len(block)
    for u in range(d):  # T = R^-1 G
        for v in range(d):
            s = 0.0
            for w in range(u + 1):
                s += inverse[i, u, w] * (G[i, w, v] if w >= v else G[i, v, w])
            T[u, v] = s
    at = 0
    for u in range(d):
        for v in range(u + 1):
            s = -2.0 if u == v else 0.0
            for w in range(v + 1):
                s += T[u, w] * inverse[i, v, w]
            rest[i, at] = s
            at += 1


@njit(cache=True, nogil=True)
def factor(rows: tuple, mass: np.ndarray, shift: float, block: tuple):
    """R^-1 (bodies, d, d) and G' - 2 I, lower triangles row by row; up and low are divided by R.

    rows: (ptr, lo, up, low) of C, see ``PairNetwork.active_rows``. mass (bodies, d, d). shift: e.
    """
    ptr, lo, up, low = rows
    d, n = len(block), len(ptr) - 1
    G = diagonal_blocks(ptr, lo, up, low, mass, shift, block)
    inverse = np.zeros_like(G)
    rest = np.empty((n, d * (d + 1) // 2))
    S, E = np.empty((d, d)), np.empty((d, d))
    R, T = np.empty((d, d)), np.empty((d, d))
    for i in range(n):
        _by_earlier(rows, i, inverse, S, block)
        _invert_root(G, S, E, R, inverse, i, block)
        for a in range(ptr[i], ptr[i + 1]):
            if lo[a] >= 0:
                times_lower(inverse[i], up[a], block)
        _scale_diagonal(G, inverse, T, rest, i, block)
    return inverse, rest
