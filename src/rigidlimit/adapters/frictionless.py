"""The frictionless part of a captured problem, and the method on it.

The normal rows alone make 0 <= r_N _|_ u_N >= 0; its contacts are those of ``contact_dynamics``
with dt = 1, so that forces here are impulses [N s].

Global: B = H_N^T. Local: only W_NN = B M^-1 B^T is known, and a factor of it is used as B, with
M = 1 (``delassus``). Forces of both steps of the method depend on B only through W and B^T f, so
this B is as good as the real one: F~ = B^T f in coordinates of its own.

What the errors do to the forces: ``data_errors.py``. They also hide which contacts are closed:
those that may be count as closed, and where the forces without them are others, that difference is
the error.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.display import Brief
from .._support.singular import svd
from ..compatibility import CompatibleForces, compatible_forces
from ..conditioning.several_bodies import cannot_bear
from ..conditioning.tolerances import TOLERANCES as CONDITIONING
from ..dynamics import ContactDynamicsResult, contact_dynamics
from ..dynamics.inertia import inverse_mass
from ..errors import InputError
from ..linear.blas_threads import BlasThreads
from .data_errors import impulse_error, left_open, step1_errors
from .delassus import EPSILON, assembled, factorized
from .delassus import islands as coupled
from .exact_impulses import other_digits, to_last_digits
from .formats.problem import CapturedProblem
from .islands import Islands
from .tolerances import TOLERANCES


@dataclass(frozen=True, repr=False)
class NormalProblem(Brief):
    """The frictionless problem 0 <= f _|_ B v + gap >= 0, M v = B^T f + impulse (dt = 1).

    B (m, n), M (n, n), gap (m,) [m/s], impulse (n,) [N s]. Of W_NN as stored, over its largest
    entry or eigenvalue: asymmetry max |W - W^T|; noise: error estimate by its asymmetry, digits and
    negative eigenvalues; threshold: eigenvalues below it count as zero; cut: largest
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

    def solve(self, **options) -> ContactDynamicsResult:
        """Step 1: ``contact_dynamics`` of this problem; options go to it."""
        n = self.B.shape[1]
        return contact_dynamics(self.M, self.B, self.gap, np.zeros(n), self.impulse, 1.0, **options)

    def in_order(self, order: ArrayLike) -> "NormalProblem":
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

    def gradient_of(self, contacts: np.ndarray) -> sp.csr_array:
        """B of some contacts. For a local problem computed anew in its own directions: a motion
        that only the others resist would remain in B as rounding, and rounding would be
        balanced."""
        rows = sp.csr_array(self.B[contacts])
        if not self.local or not rows.shape[0]:
            return rows
        parts = coupled(abs(rows) @ abs(rows.T))
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
    is not known. idle: how many others touch, but cannot carry force except along weakly
    constrained motions; they are not among ``closed``.
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
    stiffness: ArrayLike = 1.0,
    exponent: float = 2.0,
    solver: str = "newton",
    tolerance: float = 1e-12,
    closed: float = 1e-9,
    **options,
) -> CapturedAnswer:
    """Velocities and compatible forces of the frictionless problem.

    Parameters
    ----------
    problem : NormalProblem
        Of ``normal_problem``.
    stiffness : float or (m,)
        Relative, of the contacts.
    exponent : float
        p of the contact law.
    solver : {"newton", "pgs", "apgd"}
        Of step 1.
    tolerance : float
        Of step 1, whose error enters the load of step 2; that is balanced to 1e-10.
    closed : float
        A contact counts as open if closing it would take more than this part of the largest force.
    **options
        Of ``contact_dynamics``.

    Returns
    -------
    CapturedAnswer
        With ``force`` (m,) [N s], the compatible impulses, both steps as ``classic`` and
        ``compatible``, and ``data_error``: how far the errors of the stored matrices move an
        impulse, over the largest.

    Raises
    ------
    InputError
        For wrong shapes and values, and options that the solver does not have.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.adapters import CapturedProblem, normal_problem, solve_captured
    >>> B = np.array([[1.0, -0.5], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.5], [0.0, 0.0]])
    >>> W, q = sp.csr_array(B @ B.T), np.array([-1.0, 0.0, -1.0, 0.0, -1.0, 0.0])
    >>> beam = normal_problem(CapturedProblem("local", 2, np.zeros(3), W=W, q=q))
    >>> solve_captured(beam, stiffness=[1, 3, 1]).force.round(6)
    array([0.2, 0.6, 0.2])
    """
    stiffness = arrays.vector("stiffness", stiffness, problem.B.shape[0], what="contact")
    with BlasThreads():  # its matrices are small
        return _solved(problem, stiffness, exponent, solver, tolerance, closed, options)


def _solved(problem, stiffness, exponent, solver, tolerance, closed, options):
    classic = problem.solve(solver=solver, tolerance=tolerance, **options)
    islands = Islands.of(problem.B, problem.M)
    yielding = (problem.B.multiply(problem.B @ _inverse(problem.M))).sum(axis=1)
    law = Law(stiffness, exponent, closed, np.where(yielding > 0, yielding, 1.0))
    largest, limit = float(classic.force.max(initial=0.0)), law.limit(classic)
    near = classic.slack <= limit + step1_errors(problem, islands, classic, closed)
    bears = classic.force > closed * largest
    again = near & (left_open(problem, islands, classic, bears, noise=False) > closed * largest)
    if again.any():
        classic = to_last_digits(problem, classic, np.flatnonzero(again))
    answer, error = _answer(problem, islands, classic, law)
    near = classic.slack <= law.limit(classic)
    loose = left_open(problem, islands, classic, near, noise=True) > TOLERANCES.loose * largest
    if loose.any():
        loose = np.flatnonzero(loose)
        for other in other_digits(problem, classic):
            found = to_last_digits(other, classic, loose)
            found, _ = _balanced(other, found, np.flatnonzero(found.slack <= law.limit(found)), law)
            error = max(error, _apart(found, answer))
    return replace(answer, data_error=error)


class Law(NamedTuple):
    """stiffness (m,), exponent: of the law of compatible forces. closed: as in ``solve_captured``.
    yielding (m,): diagonal of W_NN, 1 where that is zero."""

    stiffness: np.ndarray
    exponent: float
    closed: float
    yielding: np.ndarray

    def limit(self, classic: ContactDynamicsResult) -> np.ndarray:
        """Largest slack at which contacts count as closed, (m,) [m/s]."""
        return self.closed * float(classic.force.max(initial=0.0)) * self.yielding


def _answer(problem, islands, classic, law):
    """(``CapturedAnswer``, how far it is known by the errors of the slacks)."""
    off, limit = step1_errors(problem, islands, classic, law.closed), law.limit(classic)
    certain = (classic.slack + off <= limit) | (classic.force * law.yielding > limit)
    possible = np.flatnonzero(classic.slack <= limit + off)
    answer, others = _balanced(problem, classic, possible, law)
    sure = answer.closed[certain[answer.closed]]
    if len(sure) < len(answer.closed):
        others.append(_balanced(problem, classic, sure, law, idle=False)[0])
    if problem.local:
        islands = Islands.of(_among(answer), sp.eye_array(answer.B.shape[1]))
    error = impulse_error(problem, islands, classic, answer, law)
    doubtful, idle = len(possible) - int(certain.sum()), len(possible) - len(answer.closed)
    error = max([error, *(_apart(other, answer) for other in others)])
    return replace(answer, doubtful=doubtful, idle=idle), error


def _balanced(problem, classic, contacts, law, *, idle=True):
    """(step 2 on ``contacts`` (c,), others that were tried). idle: without those that cannot carry
    force, if it does not converge with them."""

    def on(contacts: np.ndarray) -> CapturedAnswer:
        B = problem.gradient_of(contacts)
        load = B.T @ classic.force[contacts]
        known = dict(stiffness=law.stiffness[contacts], exponent=law.exponent)
        forces = compatible_forces(B, load, **known)
        return CapturedAnswer(problem, classic, contacts, B, load, forces)

    answer = on(contacts)
    if answer.compatible.converged or not idle:
        return answer, []
    bearing = _bearing(problem, contacts, classic.force)
    less = on(bearing) if len(bearing) < len(contacts) else answer
    return (less, [answer]) if less.compatible.converged else (answer, [])


def _among(answer):
    """B of an answer (m, n'), with rows of zeros for contacts that were not balanced."""
    m, c = answer.problem.B.shape[0], len(answer.closed)
    place = np.ones(c), (answer.closed, np.arange(c))
    return sp.csr_array(sp.csr_array(place, shape=(m, c)) @ answer.B)


def _apart(other, answer) -> float:
    """Largest difference of the impulses, over the largest."""
    return float(np.abs(answer.force - other.force).max() / (answer.force.max() or 1.0))


def _bearing(problem, contacts, force):
    """``contacts`` without those that carry no force in any balance, except along motions that the
    others hardly resist (``several_bodies.cannot_bear``): as the sides of blocks in a tower, which
    lean on one another by a millionth. force (m,): of step 1."""
    for _ in range(CONDITIONING.rounds):
        if len(contacts) ** 2 > CONDITIONING.most_pairs:
            break
        resting = force[contacts] <= CONDITIONING.weak * force.max()
        out = cannot_bear(problem.gradient_of(contacts).toarray(), resting)
        if not out.any():
            break
        contacts = contacts[~out]
    return contacts


def _inverse(M):
    return inverse_mass(sp.csr_array(M), np.arange(M.shape[0]))


def normal_problem(captured: CapturedProblem, *, cut: float | None = None) -> NormalProblem:
    """The frictionless part of a captured problem: its normal rows.

    Parameters
    ----------
    captured : CapturedProblem
    cut : float, optional
        Eigenvalues of a local W_NN below it, over the largest, are 0; by default the noise of W_NN
        itself. Global problems, which have B, take none.

    Returns
    -------
    NormalProblem
        0 <= f _|_ B v + gap >= 0, M v = B^T f + impulse, with dt = 1: forces are impulses [N s].

    Raises
    ------
    InputError
        Where W_NN cannot be B B^T within the errors that it shows, and for a ``cut`` that is not
        between 0 and 1.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.adapters import CapturedProblem, normal_problem
    >>> W, q = sp.csr_array(np.eye(2)), np.array([-2.0, 3.0])
    >>> problem = normal_problem(CapturedProblem("local", 2, np.array([0.5]), W=W, q=q))
    >>> problem.solve().force
    array([2.])
    """
    rows = np.arange(0, captured.dim * captured.contacts, captured.dim)
    if cut is not None:
        if not (arrays.is_positive(cut) and cut < 1.0):
            raise InputError(f"cut is {arrays.short(cut)}; expected a number between 0 and 1")
        if captured.kind != "local":
            raise InputError(
                f"cut is {cut:g}, for eigenvalues of W_NN in a local problem; this one is "
                f"{captured.kind} and has B itself: expected no cut"
            )
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
