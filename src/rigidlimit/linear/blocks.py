"""Diagonal blocks of bodies, their factors and inverses, for the preconditioners of pairs.

By Cholesky, L L^T = A. Bodies that nothing holds in some direction have a singular block: pivots
lost to rounding are lifted to a floor.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER

FLOOR = 1e-12
"""Pivots of a block below this part of its largest diagonal entry are lifted to it."""


@njit(cache=True, nogil=True)
def cholesky(A: np.ndarray, L: np.ndarray, floor: float, d: int):
    """A = L L^T (d, d), pivots lifted to ``floor``; whether none had to be."""
    fine = True
    for i in range(d):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i != j:
                L[i, j] = s / L[j, j]
            else:
                fine = fine and s > floor
                L[i, i] = np.sqrt(max(s, floor))
    return fine


@njit(**INNER)
def invert_lower(L: np.ndarray, out: np.ndarray, d: int):
    """out = L^-1 (d, d), lower triangles."""
    for col in range(d):
        for i in range(col, d):
            s = 1.0 if i == col else 0.0
            for k in range(col, i):
                s -= L[i, k] * out[k, col]
            out[i, col] = s / L[i, i]


@njit(**INNER)
def cholesky_of_block(A: np.ndarray, L: np.ndarray, d: int):
    """L L^T = A of a symmetric block (d, d), of which the lower triangle is read, and written."""
    top = 0.0
    for i in range(d):
        top = max(top, A[i, i])
    cholesky(A, L, FLOOR * top + 1e-300, d)


@njit(**INNER)
def add_outer(A: np.ndarray, x: np.ndarray, y: np.ndarray, s: float, block: tuple):
    """A += s x y^T, the lower triangle."""
    for u in range(len(block)):
        for v in range(u + 1):
            A[u, v] += s * x[u] * y[v]


@njit(**INNER)
def diagonal_blocks(
    ptr: np.ndarray,
    lo: np.ndarray,
    up: np.ndarray,
    low: np.ndarray,
    mass: np.ndarray,
    shift: float,
    block: tuple,
):
    """Those of K = M + C^T C + shift (bodies, d, d), lower triangles. Rows C as in
    ``PairNetwork.active_rows``: up on the later body, low on the earlier one lo, -1 for none."""
    G = mass.copy()
    for i in range(len(G)):
        for u in range(len(block)):
            G[i, u, u] += shift
        for a in range(ptr[i], ptr[i + 1]):
            add_outer(G[i], up[a], up[a], 1.0, block)
            if lo[a] >= 0:
                add_outer(G[lo[a]], low[a], low[a], 1.0, block)
    return G


@njit(**INNER)
def times_lower(L: np.ndarray, x: np.ndarray, block: tuple):
    """x = L x for a lower triangle L (d, d)."""
    for u in range(len(block) - 1, -1, -1):
        s = 0.0
        for v in range(u + 1):
            s += L[u, v] * x[v]
        x[u] = s


@njit(**INNER)
def times_upper(L: np.ndarray, x: np.ndarray, block: tuple):
    """x_i = L_i^T x_i for lower triangles L (bodies, d, d) and x (bodies, d)."""
    d = len(block)
    for i in range(len(x)):
        for u in range(d):
            s = 0.0
            for v in range(u, d):
                s += L[i, v, u] * x[i, v]
            x[i, u] = s
