"""Effect of errors of a captured problem and of the residual of step 1 on its compatible impulses.

Active contacts, b, have no slack at the end, W f + q = 0. Step 1 leaves them r [m/s], and
independent errors of standard deviation e_jk in the entries of W

    sum_k e_jk^2 f_k^2     as the variance of r_j.

With their rows A_b = U diag(s) V^T (B M^-1/2, kept columns alone) the end velocity M^1/2 v, and F~
with it, are off along V_j by

    d_j <= min(|U_j . r| / s_j, s_j |f|),

the second since F~ = A_b^T f: motions enter W by s^2 only, so that it hardly determines forces
along weakly constrained ones. The slack of contact i is thus known to A_i V d, and contacts that
may be closed count as closed. The law f = k c^(p-1), c = -A u, responds on the active contacts a by

    df = R V d,     R = D^1/2 (D^1/2 A_a)^+^T,     D = df/dc,

and where errors turn the rows themselves, dA = dW A^+^T, by (G. H. Golub, V. Pereyra, SIAM J.
Numer. Anal. 10 (1973) 413, eq. 4.12)

    df = (1 - R A_a^T) D dA_a u.

All of that is for active contacts. Where other closed contacts are nearly redundant with these,
errors decide which of them are active: ``exact_impulses.other_digits``.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..dynamics import ContactDynamicsResult
from .islands import Islands, spectrum
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from .frictionless import CapturedAnswer, Law, NormalProblem


def step1_errors(
    problem: "NormalProblem", islands: Islands, classic: ContactDynamicsResult, small: float
) -> np.ndarray:
    """How far off the slacks of step 1 may be, for certain, (m,) [m/s].

    small: fraction of the largest impulse below which one counts as zero.
    """
    force = classic.force
    out = TOLERANCES.certain * (problem.error @ force)
    if problem.left_out is not None:
        out += np.abs(problem.left_out @ force)
    bears, noise = force > small * force.max(initial=0.0), problem.error.power(2) @ force**2
    for part in islands.parts:
        at, b = part.members, bears[part.members]
        if part.A is not None and b.any():
            rows = part.spectrum(b)
            off = _off(rows, force[at][b], classic.slack[at][b], noise[at][b])
            out[at] += TOLERANCES.certain * np.sqrt((part.A @ rows.VT.T) ** 2 @ off**2)
    return out


def left_open(
    problem: "NormalProblem",
    islands: Islands,
    classic: ContactDynamicsResult,
    contacts: np.ndarray,
    *,
    noise: bool,
) -> np.ndarray:
    """Error of impulses due to the slacks of ``contacts`` (m,) bool, (m,) [N s]:
    by the residual of step 1, or by their ``noise``."""
    force = classic.force
    out, variance = np.zeros(len(force)), problem.error.power(2) @ force**2
    for part in islands.parts:
        at, b = part.members, contacts[part.members]
        if part.A is not None and force[at][b].any():
            rows = part.spectrum(b)
            size = (
                np.sqrt(rows.U.T**2 @ variance[at][b]) if noise else rows.U.T @ classic.slack[at][b]
            )
            out[at] = (np.abs(size) / rows.s**2).max(initial=0.0)
    return out


def impulse_error(
    problem: "NormalProblem",
    islands: Islands,
    classic: ContactDynamicsResult,
    answer: "CapturedAnswer",
    law: "Law",
) -> float:
    """Largest standard deviation of compatible impulses, over the largest; nan if not known.

    islands: of the rows that were balanced, contacts that were not having none.
    """
    small = law.closed
    largest = float(answer.force.max(initial=0.0))
    if not largest:
        return 0.0
    force = np.where(answer.force > small * largest, answer.force, 0.0)
    pinned = classic.force > small * classic.force.max(initial=0.0)
    pinned = (force > 0.0) | (pinned & np.isin(np.arange(len(force)), answer.closed))
    variance = problem.error.power(2)
    noise, felt = variance @ force**2, np.zeros(len(force))
    u = islands.coordinates(answer.compatible.displacement)
    bearing = [part for part in islands.parts if force[part.members].any()]
    if any(part.A is None for part in bearing):
        return np.nan
    for part in bearing:
        every = part.spectrum(force[part.members] > 0.0)
        bears = part.members[force[part.members] > 0.0]
        felt[bears] = (every.U / every.s) @ (every.VT @ u[part.columns])
    turned, spread = variance @ felt**2, 0.0
    for part in bearing:
        at, b = part.members, pinned[part.members]
        rows = part.spectrum(b)
        off = _off(rows, force[at][b], classic.slack[at][b], noise[at][b])
        change = _answer_to(
            part, (rows.VT, off), force[at], (law.stiffness[at], law.exponent), turned[at]
        )
        spread = max(spread, float(change.max()))
    return min(1.0, np.sqrt(spread) / largest)


def _answer_to(part, velocity_error, force, law, turned):
    """Variance of the forces > 0 of an island, which has ``force`` (k,)."""
    (VT, off), (stiffness, exponent) = velocity_error, law
    bears = force > 0.0
    f, k, A = force[bears], stiffness[bears], part.A[bears]
    D = (exponent - 1.0) * f / (f / k) ** (1 / (exponent - 1.0))
    if np.ptp(D) <= TOLERANCES.even * D.max():
        rows = part.spectrum(bears)
        R = (rows.U / rows.s) @ rows.VT
    else:
        stiff = spectrum(np.sqrt(D)[:, None] * A)
        R = np.sqrt(D)[:, None] * (stiff.U / stiff.s) @ stiff.VT
    out = (R @ VT.T) ** 2 @ off**2
    return out + (np.eye(len(D)) - R @ A.T) ** 2 @ (D**2 * turned[bears])


def _off(rows, force, slack, variance):
    """d along V of rows with ``force`` and a remaining ``slack``, known to ``variance``."""
    off = np.abs(rows.U.T @ slack) + np.sqrt(rows.U.T**2 @ variance)
    return np.minimum(off / rows.s, rows.s * np.linalg.norm(force))
