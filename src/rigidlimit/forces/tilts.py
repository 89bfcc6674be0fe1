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
are no matter of rounding. The columns of a body without such motions, which is nearly every one,
stay as they are; those of others become its singular motions V.

S and V come from the triangular factor R of the body's rows, made row by row by Givens rotations,
and one-sided Jacobi rotations of its columns: exact to the last digit of the largest S, where
eigenvalues of B^T B would end at 1e-8. With k columns

    |det R| = S_1 ... S_k <= S_k (|R|_F / (k - 1)^1/2)^(k-1)

tells nearly all bodies that have no small S without Jacobi's rotations.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..bodies import Bodies
from .problem import CompatibleForces

LIMIT = 5e-7
"""Part of its contacts' forces below which a push along a motion tells nothing: a twentieth of what
step 1 is lost for, so that slopes of 1e-6 are taken at their word."""

ROUNDED = 1e-14
"""Entries of B over the reach, and S, that are zero but for rounding of normals and arms."""

SWEEPS = 30
"""Jacobi sweeps, at most; five are the rule."""


@dataclass(frozen=True)
class FeltBalance:
    """B (m, n) and load (n,) in ``motions`` (n, n) of the velocities, for bodies of six each.

    A velocity v is motions @ w; those left out have no entries in B and no load. back (n, n):
    motions^-T, of forces. reach (n,): a_j. left_out: how many motions, of ``bodies`` (indices).
    """

    B: sp.csr_array
    load: np.ndarray
    motions: sp.csr_array
    back: sp.csr_array
    reach: np.ndarray
    bodies: np.ndarray
    left_out: int

    def displacement(self, u):
        """u (n,) of the velocities' displacements, in ``motions``."""
        return self.back.T @ u

    def given_back(self, answer: CompatibleForces) -> CompatibleForces:
        """The forces under this balance, displacement and imbalance in the velocities' terms."""
        imbalance = self.back @ answer.imbalance
        return replace(
            answer,
            displacement=self.motions @ answer.displacement,
            imbalance=imbalance,
            worst_dof=int(np.abs(imbalance / self.reach).argmax()),
        )


def known_balance(bodies: Bodies, B_closed, load, force) -> FeltBalance | None:
    """``felt_balance`` of the closed contacts of ``bodies``."""
    return felt_balance(
        B_closed, load, force, free=bodies.free.ravel(), reach=bodies.turning_arm.ravel()
    )


def felt_balance(B: sp.csr_array, load, force, *, free, reach) -> FeltBalance | None:
    """The balance B^T f = load without motions that closed contacts hardly feel; None if all stay.

    B (m, 6 N): rows of the closed contacts. load (6 N,): F~ = B^T force [N, N m]. force (m,) [N].
    free (6 N,) bool. reach (6 N,): way of a body's farthest point per unit of each velocity, or 0.
    """
    n = B.shape[1]
    reach = np.where((reach > 0) & np.isfinite(reach), reach, 1.0)
    felt = _factors(B.indptr, B.indices, B.data, 1 / reach, free, np.zeros((n // 6, 6, 6)))
    bodies = np.flatnonzero(_doubtful(felt))
    if not len(bodies):
        return None
    V, S = np.empty((len(bodies), 6, 6)), np.empty((len(bodies), 6))
    _singular(felt[bodies], V, S)
    out = (S > ROUNDED) & (S <= LIMIT)
    if not out.any():
        return None

    # forces [N] along singular motions; a load that is not small stays
    pushed = load / reach
    along = np.einsum("bij,bi->bj", V, pushed.reshape(-1, 6)[bodies])
    rest = np.delete(pushed.reshape(-1, 6), bodies, axis=0)
    size = max(np.abs(rest).max(initial=0.0), np.abs(np.where(out, 0.0, along)).max(initial=0.0))
    out &= np.abs(along) <= LIMIT * size
    changed = out.any(axis=1)
    if not changed.any():
        return None
    bodies, V, S, out = bodies[changed], V[changed], S[changed], out[changed]
    silent = out | (S <= ROUNDED)
    motions, back = _motions(bodies, V, reach, n)
    heard = np.ones(n)
    heard.reshape(-1, 6)[bodies] = ~silent
    felt_B = sp.csr_array(B @ motions @ sp.diags_array(heard))
    felt_B.eliminate_zeros()
    felt_B.sort_indices()
    # absent and held columns are motions of their own
    felt_load = np.where(free, felt_B.T @ force, 0.0)
    return FeltBalance(felt_B, felt_load, motions, back, reach, bodies, int(out.sum()))


def _motions(bodies, V, reach, n):
    """(S^-1 V, S V), sparse (n, n), S = diag(reach), the identity but for these bodies' blocks."""
    same = np.ones(n, bool)
    columns = 6 * bodies[:, None] + np.arange(6)
    same[columns] = False
    row, column = np.repeat(columns, 6, axis=1).ravel(), np.tile(columns, (1, 6)).ravel()
    rest = np.flatnonzero(same)
    place = np.concatenate([rest, row]), np.concatenate([rest, column])
    at_row, one = reach[row], np.ones(len(rest))
    motions = sp.csr_array((np.concatenate([one, V.ravel() / at_row]), place), shape=(n, n))
    back = sp.csr_array((np.concatenate([one, V.ravel() * at_row]), place), shape=(n, n))
    motions.eliminate_zeros()
    back.eliminate_zeros()
    return motions, back


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


@njit(cache=True)
def _singular(R, V, S):
    """Singular motions V (N, 6, 6), its columns, and values S (N, 6) of R, which is used up; inf
    for columns that are held or absent, which V keeps to themselves."""
    for b in range(len(R)):
        W, T = R[b], V[b]
        T[:] = np.eye(6)
        for _ in range(SWEEPS):
            turned = False
            for p in range(5):
                for q in range(p + 1, 6):
                    pp, qq, pq = 0.0, 0.0, 0.0
                    for i in range(6):
                        pp += W[i, p] * W[i, p]
                        qq += W[i, q] * W[i, q]
                        pq += W[i, p] * W[i, q]
                    if abs(pq) <= 1e-15 * np.sqrt(pp * qq) or min(pp, qq) < 1e-32 * max(pp, qq):
                        continue
                    turned = True
                    z = (qq - pp) / (2.0 * pq)
                    t = (1.0 if z >= 0.0 else -1.0) / (abs(z) + np.sqrt(1.0 + z * z))
                    c = 1.0 / np.sqrt(1.0 + t * t)
                    for i in range(6):
                        w, v = W[i, p], T[i, p]
                        W[i, p], W[i, q] = c * w - c * t * W[i, q], c * t * w + c * W[i, q]
                        T[i, p], T[i, q] = c * v - c * t * T[i, q], c * t * v + c * T[i, q]
            if not turned:
                break
        for j in range(6):
            S[b, j] = np.sqrt((W[:, j] ** 2).sum())
            if T[j, j] == 1.0 and S[b, j] == 0.0:
                S[b, j] = np.inf
