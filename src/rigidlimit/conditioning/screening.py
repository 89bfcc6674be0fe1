"""How strongly a body's contacts resist each of its motions: singular values of its rows of B.

With the columns of one body divided by its reach a_j, 1 for displacements and its radius for turns,

    B_j / a_j = U S V^T,

S is the rate at which a motion in V opens or closes contacts, over its own speed. S and V come from
the triangular factor R of the body's rows, built row by row by Givens rotations: exact to rounding
of the largest S, where eigenvalues of B^T B would end at 1e-8. With k columns

    |det R| = S_1 ... S_k <= S_k (|R|_F / (k - 1)^1/2)^(k-1)

identifies nearly all bodies that have no small S, most of them before all of their rows are
processed: more rows on the same columns make no S smaller. Where some motions are not resisted at
all, pivoted columns give the rank r, and of the S above 0

    S_r >= 1 / |T^-1|_F,      T the triangular factor of the first r.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from .._support.arrays import with_short_indices
from .._support.compiled import INNER
from ..bodies import Bodies
from .tolerances import TOLERANCES

WeakMotions = tuple[np.ndarray, np.ndarray, np.ndarray]
"""What ``weak_motions`` finds: (bodies (k,), S (k, 6), VT (k, 6, 6))."""


class Columns(NamedTuple):
    """Columns of B (m, 6 N). free (6 N,) bool: those that are not held; reach (6 N,): way of a
    body's farthest point per unit of each velocity, or 1."""

    free: np.ndarray
    reach: np.ndarray

    @classmethod
    def of(cls, bodies: Bodies) -> "Columns":
        """Those of ``bodies``."""
        return cls(bodies.free.ravel(), finite_reach(bodies.turning_arm.ravel()))


def weak_motions(B: sp.csr_array, columns: Columns, limit: float) -> WeakMotions:
    """(bodies (k,), S (k, 6), VT (k, 6, 6)) of the bodies that may have an S above 0 and up to
    ``limit``: all that have, and a few more; VT by rows, in terms of velocities times reach.

    B (m, 6 N), columns sorted.
    """
    free, reach = columns
    R = np.zeros((len(free) // 6, 6, 6))
    B = with_short_indices(B)
    sure = _factors(B.indptr, B.indices, B.data, 1 / reach, np.array(free), limit, R)
    bodies = np.flatnonzero(~sure)
    _, S, VT = np.linalg.svd(R[bodies])
    return bodies, S, VT


def finite_reach(reach: np.ndarray) -> np.ndarray:
    """1 in place of what is 0 or has no end."""
    return np.where((reach > 0) & np.isfinite(reach), reach, 1.0)


@njit(cache=True)
def _touched(indices, data, scale, free, bodies):
    """Columns of each body with entries (N,), a bit each."""
    touched = np.zeros(bodies, np.uint8)
    for e in range(len(indices)):
        j = np.uint64(indices[e])  # unsigned: none is negative
        if free[j] and abs(data[e] * scale[j]) > TOLERANCES.zero:
            touched[j // np.uint64(6)] |= np.uint8(1 << j % np.uint64(6))
    return touched


@njit(cache=True)
def _factors(indptr, indices, data, scale, free, limit, R):
    """Which bodies have no S up to ``limit`` for certain, (N,) bool. R (N, 6, 6): zeros; becomes
    the triangular factor of the rows of each other body, its free columns times scale."""
    bodies = len(R)
    touched = _touched(indices, data, scale, free, bodies)
    x = np.empty(6)
    sure, count = np.zeros(bodies, np.bool_), np.zeros(bodies, np.int64)
    seen = np.zeros(bodies, np.uint8)  # columns of the rows so far
    for i in range(len(indptr) - 1):
        e = indptr[i]
        while e < indptr[i + 1]:
            body = indices[e] // 6
            for k in range(6):
                x[k] = 0.0
            while e < indptr[i + 1] and indices[e] // 6 == body:
                j = indices[e]
                value = data[e] * scale[j]
                if free[j] and abs(value) > TOLERANCES.zero:
                    x[j - 6 * body] = value
                    seen[body] |= np.uint8(1 << j % 6)
                e += 1
            if not sure[body]:
                _append(R[body], x)
                count[body] += 1
                look = count[body] % TOLERANCES.look_every == 0 and seen[body] == touched[body]
                sure[body] = look and not _doubtful(R[body], limit)
    A, T = np.empty((6, 6)), np.empty((6, 6))
    for body in range(bodies):
        sure[body] = sure[body] or not _doubtful(R[body], limit)
        sure[body] = sure[body] or _resisted_or_free(R[body], count[body], limit, A, T)
    return sure


@njit(**INNER)
def _append(R, x):
    """R of the rows so far becomes that with one more row x (6,), which is used up."""
    for j in range(6):
        if x[j] == 0.0:
            continue
        if R[j, j] == 0.0:
            for k in range(j, 6):  # a slice compiles for 3 s
                R[j, k] = x[k]
            return
        length = np.sqrt(R[j, j] ** 2 + x[j] ** 2)
        c, s = R[j, j] / length, x[j] / length
        R[j, j] = length
        for k in range(j + 1, 6):
            above = R[j, k]
            R[j, k] = c * above + s * x[k]
            x[k] = c * x[k] - s * above


@njit(**INNER)
def _doubtful(R, limit):
    """Whether a body may have an S above 0 and up to ``limit``, by the determinant of R (6, 6)."""
    k, size, product = 0, 0.0, 1.0
    for j in range(6):
        length = 0.0
        for i in range(j + 1):
            length += R[i, j] ** 2
        if length > 0.0:  # a column that is touched
            k += 1
            size += length
            product *= abs(R[j, j])
    bound = limit
    for _ in range(k - 1):
        bound *= np.sqrt(size / (k - 1))
    return k > 0 and product <= bound


@njit(**INNER)
def _resisted_or_free(R, rows, limit, A, T):
    """Whether a body of so many ``rows`` has no S above 0 and up to ``limit``, by the columns of R
    (6, 6) by pivoting. Not of a body with a column of faint entries, which
    ``one_body.py`` needs. A, T (6, 6): work space."""
    left = np.zeros(6)
    for j in range(6):
        for i in range(6):
            A[i, j] = R[i, j]
            left[j] += R[i, j] ** 2
        if 0.0 < left[j] <= TOLERANCES.faint**2 * rows:
            return False
    rank = _by_size(A, T, left)
    rest = 0.0
    for j in range(6):
        rest += left[j]
    if rank == 0 or rest > (TOLERANCES.zero / 10) ** 2:
        return rank == 0 and rest == 0.0
    # the squares of T^-1, column by column from below
    size, x = 0.0, np.zeros(6)
    for k in range(rank):
        for i in range(k, -1, -1):
            value = 1.0 if i == k else 0.0
            for j in range(i + 1, k + 1):
                value -= T[i, j] * x[j]
            x[i] = value / T[i, i]
            size += x[i] ** 2
    return size * limit**2 < 1.0


@njit(**INNER)
def _by_size(A, T, left):
    """Rank of A (6, 6), whose columns become orthogonal, the largest rest first. T (6, 6): the
    triangular factor of the first columns. left (6,): squares of columns; becomes those of what is
    left of the others."""
    for r in range(6):
        best = r
        for j in range(r + 1, 6):
            best = j if left[j] > left[best] else best
        if left[best] <= (TOLERANCES.zero / 10) ** 2:
            return r
        for i in range(6):
            A[i, r], A[i, best] = A[i, best], A[i, r]
        for i in range(r):
            T[i, r], T[i, best] = T[i, best], T[i, r]
        left[best], left[r] = left[r], 0.0
        length = 0.0
        for i in range(6):
            length += A[i, r] ** 2
        T[r, r] = np.sqrt(length)
        for j in range(r + 1, 6):
            along = 0.0
            for i in range(6):
                along += A[i, r] * A[i, j]
            T[r, j] = along / T[r, r]
            left[j] = 0.0
            for i in range(6):
                A[i, j] -= along / length * A[i, r]
                left[j] += A[i, j] ** 2
    return 6
