"""The frictionless part of a captured problem, and the method on it.

The normal rows alone make 0 <= r_N _|_ u_N >= 0; its contacts are those of ``contact_dynamics``
with dt = 1, so that forces here are impulses [N s].

Global: B = H_N^T. Local: only W_NN = B M^-1 B^T is known, and a factor of it serves as B, with
M = 1 (``delassus``). Forces of both steps of the method depend on B only through W and B^T f, so
this B is as good as the real one: F~ = B^T f in coordinates of its own.

What the errors do to the forces: ``data_errors.py``. They also hide which contacts are closed:
those that may be count as closed, and where the forces without them are others, that difference is
the error.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from .._support import arrays
from .._support.display import Brief
from .._support.singular import svd
from ..conditioning.screening import WEAK
from ..conditioning.several_bodies import ROUNDS, TALLEST, cannot_bear
from ..dynamics import ContactDynamicsResult, contact_dynamics
from ..dynamics.inertia import inverse_mass
from ..forces import CompatibleForces, compatible_forces
from ..linear.blas_threads import BlasThreads
from .data_errors import impulse_error, step1_errors
from .delassus import EPSILON, assembled, factorized, islands
from .exact_impulses import to_last_digits
from .formats.problem import CapturedProblem


@dataclass(frozen=True, repr=False)
class NormalProblem(Brief):
    """The frictionless problem 0 <= f _|_ B v + gap >= 0, M v = B^T f + impulse (dt = 1).

    B (m, n), M (n, n), gap (m,) [m/s], impulse (n,) [N s]. Of W_NN as stored, over its largest
    entry or eigenvalue: asymmetry max |W - W^T|; noise: the error that its asymmetry, digits and
    negative eigenvalues tell; threshold: eigenvalues below it count as zero; cut: largest
    |eigenvalue| left out, kept: least one kept. 0, 0, 0, 0 and 1 for global problems. error (m, m):
    standard deviation of the entries of W_NN; left_out (m, m): W_NN - B M^-1 B^T, None if nothing.
    local: B is a factor of W_NN, with columns in no physical direction.
    """

    B: sp.csr_array
    M: sp.csr_array
    gap: np.ndarray
    impulse: np.ndarray
    error: sp.csr_array
    asymmetry: float = 0.0
    noise: float = 0.0
    threshold: float = 0.0
    cut: float = 0.0
    kept: float = 1.0
    left_out: sp.csr_array | None = None
    local: bool = False

    def solve(self, **options):
        """Step 1: ``contact_dynamics`` of this problem; options go to it."""
        n = self.B.shape[1]
        return contact_dynamics(self.M, self.B, self.gap, np.zeros(n), self.impulse, 1.0, **options)

    def in_order(self, order) -> "NormalProblem":
        """The same problem with contacts numbered in another order."""
        order = np.asarray(order, int)
        left_out = None if self.left_out is None else self.left_out[order][:, order]
        return replace(
            self,
            B=sp.csr_array(self.B[order]),
            gap=self.gap[order],
            error=self.error[order][:, order],
            left_out=left_out,
        )

    def gradient_of(self, contacts) -> sp.csr_array:
        """B of some contacts. Of a local problem anew in its own directions: a motion that only
        the others feel would be left in B as rounding, and rounding would be balanced."""
        rows = sp.csr_array(self.B[contacts])
        if not self.local or not rows.shape[0]:
            return rows
        parts = islands(abs(rows) @ abs(rows.T))
        blocks = [rows[part] for part in parts]
        blocks = [A[:, np.unique(A.indices)].toarray() for A in blocks]
        spectra = [svd(A)[:2] for A in blocks]
        limit = np.sqrt(self.threshold) * max(s.max(initial=0.0) for _, s in spectra)
        return assembled([U[:, s > limit] * s[s > limit] for U, s in spectra], parts, len(contacts))


@dataclass(frozen=True, repr=False)
class CapturedAnswer(Brief):
    """Both steps of the method on a captured problem. force (m,) [N s]: compatible impulses.

    closed: contacts that do not open, (c,); B (c, n'), load (n',): what was balanced on them.
    doubtful: how many of them are closed only within the errors of the stored matrices. data_error:
    how far these errors move an impulse, over the largest impulse (``data_errors.py``); nan if that
    is not known. idle: how many others touch and
    cannot bear, but by motions that contacts hardly feel; they are not among ``closed``.
    """

    problem: NormalProblem
    classic: ContactDynamicsResult
    closed: np.ndarray
    B: sp.csr_array
    load: np.ndarray
    compatible: CompatibleForces
    doubtful: int = 0
    data_error: float = 0.0
    idle: int = 0

    @property
    def force(self) -> np.ndarray:
        """Compatible impulses of all contacts, (m,) [N s]; zero where they open."""
        force = np.zeros(self.problem.B.shape[0])
        force[self.closed] = self.compatible.force
        return force

    @property
    def converged(self) -> bool:
        return self.classic.converged and self.compatible.converged


def solve_captured(
    problem: NormalProblem,
    *,
    stiffness=1.0,
    exponent: float = 2.0,
    solver: str = "newton",
    tolerance: float = 1e-12,
    closed: float = 1e-9,
    **options,
) -> CapturedAnswer:
    """Velocities and compatible forces of the frictionless problem.

    tolerance: of step 1, whose error enters the load of step 2; that is balanced to 1e-10. closed:
    a contact counts as open if closing it would take more than this part of the largest force.
    options go to ``contact_dynamics``.
    """
    stiffness = arrays.vector("stiffness", stiffness, problem.B.shape[0], what="contact")
    with BlasThreads():  # its matrices are small
        return _solved(problem, stiffness, exponent, solver, tolerance, closed, options)


def _solved(problem, stiffness, exponent, solver, tolerance, closed, options):
    classic = problem.solve(solver=solver, tolerance=tolerance, **options)
    yielding = (problem.B.multiply(problem.B @ _inverse(problem.M))).sum(axis=1)
    yielding = np.where(yielding > 0, yielding, 1.0)
    limit = closed * float(classic.force.max(initial=0.0)) * yielding
    off, left_open = step1_errors(problem, classic, closed)
    again = (left_open > closed * classic.force.max(initial=0.0)) & (classic.slack <= limit + off)
    if again.any():
        classic = to_last_digits(problem, classic, np.flatnonzero(again))
        off, _ = step1_errors(problem, classic, closed)

    def balanced(contacts):
        B = problem.gradient_of(contacts)
        load = B.T @ classic.force[contacts]
        forces = compatible_forces(B, load, stiffness=stiffness[contacts], exponent=exponent)
        return CapturedAnswer(problem, classic, contacts, B, load, forces)

    certain = (classic.slack + off <= limit) | (classic.force * yielding > limit)
    possible = np.flatnonzero(classic.slack <= limit + off)
    answer, others = balanced(possible), []
    if not answer.compatible.converged:
        bearing = _bearing(problem, possible, classic.force)
        less = balanced(bearing) if len(bearing) < len(possible) else answer
        if less.compatible.converged:
            answer, others = less, [answer]
    sure = answer.closed[certain[answer.closed]]
    if len(sure) < len(answer.closed):
        others.append(balanced(sure))
    law = stiffness[answer.closed], exponent
    error = impulse_error(problem, classic, answer.closed, answer.B, answer.compatible, law, closed)
    for other in others:
        apart = np.abs(answer.force - other.force).max()
        error = max(error, float(apart / (answer.force.max() or 1.0)))
    doubtful = len(possible) - int(certain.sum())
    return replace(
        answer, data_error=error, doubtful=doubtful, idle=len(possible) - len(answer.closed)
    )


def _bearing(problem, contacts, force):
    """``contacts`` without those that no forces of this balance can press, but by motions that the
    others hardly feel (``several_bodies.cannot_bear``): as the sides of blocks in a tower, which
    lean on one another by a millionth. force (m,): of step 1."""
    for _ in range(ROUNDS):
        if len(contacts) ** 2 > TALLEST:
            break
        resting = force[contacts] <= WEAK * force.max()
        out = cannot_bear(problem.gradient_of(contacts).toarray(), resting)
        if not out.any():
            break
        contacts = contacts[~out]
    return contacts


def _inverse(M):
    return inverse_mass(sp.csr_array(M), np.arange(M.shape[0]))


def normal_problem(captured: CapturedProblem, *, cut: float | None = None) -> NormalProblem:
    """Keep the normal rows. cut: eigenvalues of a local W_NN below it, over the largest, are 0; by
    default the noise of W_NN itself."""
    rows = np.arange(0, captured.dim * captured.contacts, captured.dim)
    if captured.kind == "local":
        W = sp.csr_array(captured.W)[rows][:, rows]
        factor = factorized(W, rounding=captured.rounding, cut=cut)
        n = factor.B.shape[1]
        return NormalProblem(
            M=sp.csr_array(sp.eye_array(n)),
            gap=captured.q[rows],
            impulse=np.zeros(n),
            local=True,
            **vars(factor),
        )
    B = sp.csr_array(sp.csc_array(captured.H)[:, rows].T)
    B.sort_indices()
    size = sp.csr_array(abs(B) @ abs(_inverse(captured.M)) @ abs(B.T))
    error = 3 * max(captured.rounding, EPSILON) * size  # in B, M^-1 and B^T
    return NormalProblem(B, captured.M, captured.w[rows], captured.f, error=error)
