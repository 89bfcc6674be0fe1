"""Motions along which a body's contacts hardly push: what is left out of the balance of a step.

A roller between two races is pressed from both sides. If its normals are not quite opposite, by
coordinates rounded to ten digits or by the drift of some steps, B^T f = F~ asks each roller for

    tilt f_i = m a

along the races, and thus for the f of whichever solver made F~. Step 1 does not know it: its gaps
feel a force along a motion of singular value S of B by S^2 only (N = dt B M^-1 B^T), which is lost
in its tolerance of 1e-10 where S is below 1e-5. Solvers that converged then differ at will. With
the columns of one body divided by its reach a_j, 1 for displacements and its radius for turns, the
rows of its closed contacts are

    B_j / a_j = U S V^T,   motions V with ROUNDED < S <= LIMIT are left out of the balance,

which holds in these directions to LIMIT of the forces instead of the solver's tolerance. What is
not felt at all, S <= ROUNDED, stays out of it in any case. A motion under a load above LIMIT of the
largest one that is left stays: a body driven into a wedge, however slender, is held by forces that
are no matter of rounding. What is left is B (I - V V^T), in columns over reach, without entries up
to LIMIT (columns of which nothing but rounding is left would be divided by their own size), and the
forces' load on it.

S and V come from the triangular factor R of the body's rows, made row by row by Givens rotations:
exact to the last digit of the largest S, where eigenvalues of B^T B would end at 1e-8. With k
columns

    |det R| = S_1 ... S_k <= S_k (|R|_F / (k - 1)^1/2)^(k-1)

tells nearly all bodies that have no small S without more ado.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..bodies import Bodies
from ..network.least_distance import LARGEST

LIMIT = 5e-7
"""Part of its contacts' forces below which a push along a motion tells nothing: a twentieth of what
step 1 is lost for, so that slopes of 1e-6 are taken at their word."""

ROUNDED = 1e-13
"""Entries of B over the reach, and S, that are zero but for rounding of normals and arms: nothing
below 1e-12 pins any force (``network/columns.py``)."""


def known_balance(bodies: Bodies, B: sp.csr_array, load, force):
    """``felt_balance`` of the closed contacts of ``bodies``."""
    return felt_balance(B, load, force, free=bodies.free.ravel(), reach=bodies.turning_arm.ravel())


def felt_balance(B: sp.csr_array, load, force, *, free, reach):
    """(B, load) without the motions that closed contacts hardly feel: those given if all stay.

    B (m, 6 N): rows of the closed contacts. load (6 N,): F~ = B^T force [N, N m]. force (m,) [N].
    free (6 N,) bool. reach (6 N,): way of a body's farthest point per unit of each velocity, or 0.
    """
    reach = _finite(reach)
    factors = _factors(
        B.indptr, B.indices, B.data, 1 / reach, free, np.zeros((len(free) // 6, 6, 6))
    )
    bodies = np.flatnonzero(_doubtful(factors))
    if not len(bodies):
        return B, load
    _, S, VT = np.linalg.svd(factors[bodies])
    out = (S > ROUNDED) & (S <= LIMIT)
    if not out.any():
        return B, load

    # forces [N] along these motions; a load that is not small stays
    pushed = (load / reach).reshape(-1, 6)
    along = np.einsum("bji,bi->bj", VT, pushed[bodies])
    rest = np.delete(pushed, bodies, axis=0)
    size = max(np.abs(rest).max(initial=0.0), np.abs(np.where(out, 0.0, along)).max(initial=0.0))
    out &= np.abs(along) <= LIMIT * size
    changed = out.any(axis=1)
    if not changed.any():
        return B, load
    left = np.where(out[changed, :, None], VT[changed], 0.0)
    kept = _without(bodies[changed], left, reach)
    felt = sp.csr_array(B @ kept)
    # what is left along other columns than its own is a tilt as well
    slight = np.isin(felt.indices // 6, bodies[changed])
    felt.data[slight & (np.abs(felt.data) <= LIMIT * reach[felt.indices])] = 0.0
    felt.eliminate_zeros()
    felt.sort_indices()
    return felt, np.where(free, felt.T @ force, 0.0)


def felt_together(bodies: Bodies, B: sp.csr_array, load, force):
    """The same for motions of all ``bodies`` together, as of bricks in a stack, where that is a
    dense matrix of no more than LARGEST entries."""
    free, reach = bodies.free.ravel(), _finite(bodies.turning_arm.ravel())
    columns = np.unique(B.indices)
    columns = columns[free[columns]]
    if not 0 < B.shape[0] * len(columns) <= LARGEST:
        return B, load
    arm = reach[columns]
    dense = B[:, columns].toarray() / arm
    _, S, VT = np.linalg.svd(dense, full_matrices=False)
    along = VT @ (load[columns] / arm)
    size = np.abs(load[columns] / arm).max(initial=0.0)
    out = (S > ROUNDED) & (S <= LIMIT) & (np.abs(along) <= LIMIT * size)
    if not out.any():
        return B, load
    dense -= (dense @ VT[out].T) @ VT[out]
    dense[np.abs(dense) <= LIMIT] = 0.0
    felt = sp.csr_array(dense * arm)
    felt = sp.csr_array((felt.data, columns[felt.indices], felt.indptr), shape=B.shape)
    return felt, np.where(free, felt.T @ force, 0.0)


def _finite(reach):
    return np.where((reach > 0) & np.isfinite(reach), reach, 1.0)


def _without(bodies, motions, reach):
    """I - V V^T for the rows V^T (6, 6) of each of these bodies, in terms of the velocities: sparse
    (n, n)."""
    same = np.ones(len(reach), bool)
    columns = 6 * bodies[:, None] + np.arange(6)
    same[columns] = False
    rest = np.flatnonzero(same)
    blocks = np.eye(6) - np.einsum("bki,bkj->bij", motions, motions)
    blocks *= reach[columns][:, None, :] / reach[columns][:, :, None]
    row, column = np.repeat(columns, 6, axis=1).ravel(), np.tile(columns, (1, 6)).ravel()
    place = np.concatenate([rest, row]), np.concatenate([rest, column])
    values = np.concatenate([np.ones(len(rest)), blocks.ravel()])
    return sp.csr_array((values, place), shape=(len(reach), len(reach)))


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
def _doubtful(R):
    """Bodies that may have an S above 0 and up to LIMIT, (N,) bool, by the determinant of R."""
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
            bound = LIMIT
            for _ in range(k - 1):
                bound *= np.sqrt(size / (k - 1))
            out[b] = product <= bound
    return out
