"""How much a body's contacts feel of each of its motions: singular values of its rows of B.

With the columns of one body divided by its reach a_j, 1 for displacements and its radius for turns,

    B_j / a_j = U S V^T,

S says how fast a motion in V opens or closes contacts, over its own speed. S and V come from the
triangular factor R of the body's rows, made row by row by Givens rotations: exact to the last digit
of the largest S, where eigenvalues of B^T B would end at 1e-8. With k columns

    |det R| = S_1 ... S_k <= S_k (|R|_F / (k - 1)^1/2)^(k-1)

tells nearly all bodies that have no small S without more ado.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

ROUNDED = 1e-13
"""Entries of B over the reach, and S, that are zero but for rounding of normals and arms: nothing
below 1e-12 pins any force (``network/columns.py``)."""

HARDLY = 5e-7
"""S up to which a motion without a load tells nothing of forces (``forces/tilts.py``): eps / S^2,
to which exact arithmetic with rounded normals knows forces along it, is 1e-3 there. Slopes of 1e-6
are taken at their word."""


def slightly_felt(B: sp.csr_array, free, reach, limit: float):
    """(bodies (k,), S (k, 6), VT (k, 6, 6)) of the bodies that may have an S above 0 and up to
    ``limit``: all that have, and a few more; VT by rows, in terms of velocities times reach.

    B (m, 6 N), columns sorted. free (6 N,) bool. reach (6 N,): way of a body's farthest point per
    unit of each velocity.
    """
    blocks = np.zeros((len(free) // 6, 6, 6))
    R = _factors(B.indptr, B.indices, B.data, 1 / reach, free, blocks)
    bodies = np.flatnonzero(_doubtful(R, limit))
    _, S, VT = np.linalg.svd(R[bodies])
    return bodies, S, VT


def finite_reach(reach):
    """1 in place of what is 0 or has no end."""
    return np.where((reach > 0) & np.isfinite(reach), reach, 1.0)


@njit(cache=True)
def _factors(indptr, indices, data, scale, free, R):
    """Triangular factor R (N, 6, 6) of the rows of every body, its free columns times scale."""
    x = np.empty(6)
    for i in range(len(indptr) - 1):
        e = indptr[i]
        while e < indptr[i + 1]:
            body = indices[e] // 6
            x[:] = 0.0
            while e < indptr[i + 1] and indices[e] // 6 == body:
                j = indices[e]
                value = data[e] * scale[j]
                if free[j] and abs(value) > ROUNDED:
                    x[j - 6 * body] = value
                e += 1
            _append(R[body], x)
    return R


@njit(cache=True)
def _append(R, x):
    """R of the rows so far becomes that with one more row x (6,), which is used up."""
    for j in range(6):
        if x[j] == 0.0:
            continue
        if R[j, j] == 0.0:
            R[j, j:] = x[j:]
            return
        length = np.sqrt(R[j, j] ** 2 + x[j] ** 2)
        c, s = R[j, j] / length, x[j] / length
        R[j, j] = length
        for k in range(j + 1, 6):
            above = R[j, k]
            R[j, k] = c * above + s * x[k]
            x[k] = c * x[k] - s * above


@njit(cache=True)
def _doubtful(R, limit):
    """Bodies that may have an S above 0 and up to ``limit``, (N,) bool, by the determinant of R."""
    out = np.zeros(len(R), np.bool_)
    for b in range(len(R)):
        k, size, product = 0, 0.0, 1.0
        for j in range(6):
            length = 0.0
            for i in range(j + 1):
                length += R[b, i, j] ** 2
            if length > 0.0:  # a column that is felt
                k += 1
                size += length
                product *= abs(R[b, j, j])
        if k > 0:
            bound = limit
            for _ in range(k - 1):
                bound *= np.sqrt(size / (k - 1))
            out[b] = product <= bound
    return out
