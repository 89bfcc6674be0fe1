"""Factor and inverse of the diagonal block of one body, for the preconditioners of pairs and of
mechanisms.

By Cholesky, L L^T = A. Bodies that nothing holds in some direction have a singular block: pivots
lost to rounding are lifted to a floor.
"""

import numpy as np
from numba import njit

FLOOR = 1e-12
"""Pivots of a block below this part of its largest diagonal entry are lifted to it."""


@njit(cache=True, nogil=True)
def cholesky_of_block(A, L, d):
    """L L^T = A of a symmetric block (d, d), of which the lower triangle is read, and written."""
    top = 0.0
    for i in range(d):
        top = max(top, A[i, i])
    floor = FLOOR * top + 1e-300
    for i in range(d):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(max(s, floor)) if i == j else s / L[j, j]


@njit(cache=True, nogil=True)
def invert_block(A, out, L, d):
    """out = A^-1 of a symmetric block (d, d); out may be A itself; L (d, d) is work space."""
    cholesky_of_block(A, L, d)
    for col in range(d):
        for i in range(d):
            s = 1.0 if i == col else 0.0
            for k in range(i):
                s -= L[i, k] * out[k, col]
            out[i, col] = s / L[i, i]
        for i in range(d - 1, -1, -1):
            s = out[i, col]
            for k in range(i + 1, d):
                s -= L[k, i] * out[k, col]
            out[i, col] = s / L[i, i]
