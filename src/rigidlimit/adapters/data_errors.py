"""How far errors of a captured problem, and what step 1 leaves, move its compatible impulses.

Contacts that bear, b, have no slack at the end, W f + q = 0. Step 1 leaves them r [m/s], and
independent errors of standard deviation e_jk in the entries of W

    sum_k e_jk^2 f_k^2     as the variance of r_j.

With their rows A_b = U diag(s) V^T (B M^-1/2, kept columns alone) the end velocity M^1/2 v, and F~
with it, are off along V_j by

    d_j <= min(|U_j . r| / s_j, s_j |f|),

the second since F~ = A_b^T f: W feels motions by s^2 only, and tells little of forces along those
that contacts hardly feel. The slack of contact i is thus known to A_i V d, and contacts that may be
closed count as closed. The law f = k c^(p-1), c = -A u, answers on the contacts a that bear by

    df = R V d,     R = D^1/2 (D^1/2 A_a)^+^T,     D = df/dc,

and where errors turn the rows themselves, dA = dW A^+^T, by (G. H. Golub, V. Pereyra, SIAM J.
Numer. Anal. 10 (1973) 413, eq. 4.12)

    df = (1 - R A_a^T) D dA_a u.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from .._support.singular import svd
from ..dynamics.inertia import inverse_mass
from .delassus import CERTAIN, islands

ZERO = 1e-13
"""Singular values below this part of the largest are rounding of B."""

MOST = 4_000_000
"""Entries of A of one island, zeros included, up to which its singular values are looked at: some
10 s. Of larger ones it is not known how far errors move impulses."""


class Island(NamedTuple):
    """Contacts that M couples to no others, members (k,), and their rows A (k, c) = B M^-1/2; root
    (c, c): triangular, M^-1/2 of the columns (c,) that they feel."""

    members: np.ndarray
    columns: np.ndarray
    A: np.ndarray
    root: np.ndarray


def coupled_contacts(B: sp.csr_array, M: sp.csr_array):
    """Each ``Island`` of rows of B (m, n) under the masses M (n, n); those with more than MOST
    entries have the rows None."""
    inverse = inverse_mass(sp.csr_array(M), np.arange(M.shape[0]))
    for members in islands(sp.csr_array(abs(B) @ abs(inverse) @ abs(B.T))):
        rows = B[members]
        columns = np.unique(rows.indices)
        if len(members) * len(columns) > MOST:
            yield Island(members, columns, None, None)
        elif len(columns):
            root = np.linalg.cholesky(inverse[columns][:, columns].toarray())
            yield Island(members, columns, rows[:, columns].toarray() @ root, root)


def step1_errors(problem, classic, small: float):
    """(how far off the slacks of step 1 may be (m,) [m/s], for certain; how far the slacks that it
    leaves open impulses coupled to each (m,) [N s]). problem: ``NormalProblem``. small: part of the
    largest impulse up to which one counts as none."""
    force, error = classic.force, problem.error
    out, left_open = CERTAIN * (error @ force), np.zeros(len(force))
    if problem.left_out is not None:
        out += np.abs(problem.left_out @ force)
    bears = force > small * force.max(initial=0.0)
    variance = error.power(2)
    for at, _, A, _ in coupled_contacts(problem.B, problem.M):
        if A is not None and bears[at].any():
            b = at[bears[at]]
            rows = _without_rounding(A[bears[at]])
            off = _off(rows, force[b], classic.slack[b], variance[b] @ force**2)
            out[at] += CERTAIN * np.sqrt((A @ rows.VT.T) ** 2 @ off**2)
            left_open[at] = (np.abs(rows.U.T @ classic.slack[b]) / rows.s**2).max(initial=0.0)
    return out, left_open


def impulse_error(problem, classic, closed, B, answer, law, small: float) -> float:
    """Largest standard deviation of compatible impulses, over the largest; nan if not known.

    closed (c,): contacts of the ``NormalProblem`` that were balanced, with the rows B (c, n).
    answer: ``CompatibleForces`` of them. law: (k (c,), p). small: see ``step1_errors``.
    """
    largest = float(answer.force.max(initial=0.0))
    force = np.where(answer.force > small * largest, answer.force, 0.0)
    pinned = force > 0.0
    pinned |= classic.force[closed] > small * classic.force.max(initial=0.0)
    variance = problem.error[closed][:, closed].power(2)
    mass = sp.eye_array(B.shape[1]) if problem.local else problem.M
    spread = 0.0
    for at, columns, A, root in coupled_contacts(B, mass):
        if not force[at].any():
            continue
        if A is None:
            return np.nan
        island = _Forces(A, force[at], (law[0][at], law[1]))
        off = island.velocity_error(
            pinned[at], classic.slack[closed[at]], variance[at][:, at] @ force[at] ** 2
        )
        u = solve_triangular(root, answer.displacement[columns], lower=True)
        change = island.answer_to(off, u, variance[at][:, at])
        spread = max(spread, float(change.max()))
    return min(1.0, np.sqrt(spread) / largest) if largest else 0.0


class _Rows(NamedTuple):
    """U diag(s) V^T, without singular values that are rounding."""

    U: np.ndarray
    s: np.ndarray
    VT: np.ndarray


class _Forces:
    """Impulses f (k,) of the contacts of one island, with the rows A (k, c) and the law (k, p)."""

    def __init__(self, A, force, law):
        self.A, self.force, self.law = A, force, law
        self.found = {}

    def rows(self, which):
        """Singular values of some rows: (k,) bool."""
        key = which.tobytes()
        if key not in self.found:
            self.found[key] = _without_rounding(self.A[which])
        return self.found[key]

    def velocity_error(self, pinned, slack, variance):
        """(V^T, d) of the ``pinned`` contacts (k,) bool."""
        rows = self.rows(pinned)
        return rows.VT, _off(rows, self.force[pinned], slack[pinned], variance[pinned])

    def answer_to(self, velocity_error, u, variance):
        """Variance of the forces > 0; u (c,): displacement that makes them."""
        (VT, off), (stiffness, exponent) = velocity_error, self.law
        bears = self.force > 0.0
        f, k, A = self.force[bears], stiffness[bears], self.A[bears]
        D = (exponent - 1.0) * f / (f / k) ** (1 / (exponent - 1.0))
        if np.ptp(D) <= ZERO * D.max():
            R = (self.rows(bears).U / self.rows(bears).s) @ self.rows(bears).VT
        else:
            stiff = _without_rounding(np.sqrt(D)[:, None] * A)
            R = np.sqrt(D)[:, None] * (stiff.U / stiff.s) @ stiff.VT
        out = (R @ VT.T) ** 2 @ off**2
        every = self.rows(np.ones(len(bears), bool))
        turned = variance[bears] @ ((every.U / every.s) @ (every.VT @ u)) ** 2
        return out + (np.eye(len(D)) - R @ A.T) ** 2 @ (D**2 * turned)


def _off(rows, force, slack, variance):
    """d along V of rows that bear ``force`` and are left ``slack``, known to ``variance``."""
    off = np.abs(rows.U.T @ slack) + np.sqrt(rows.U.T**2 @ variance)
    return np.minimum(off / rows.s, rows.s * np.linalg.norm(force))


def _without_rounding(A):
    U, s, VT = svd(A)
    kept = s > ZERO * s.max(initial=0.0)
    return _Rows(U[:, kept], s[kept], VT[kept])
