"""Exact Coulomb friction of a captured problem (step 1).

Impulses r and velocities u at the contacts, normal row first, with u = W r + q and

    0 <= r_N  _|_  u_N >= 0,      |r_T| <= mu r_N,  r_T opposite to u_T where it slides

by sweeps, Newton's method, interior paths and multipliers in turn (``equilibrium.multipliers``):
where several motions are possible with friction, the one that elastic bodies take, unless an
interior path has found it. Restitution, if any, is in q.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from .._support import arrays
from .._support.display import Brief
from .._support.warned import warn
from .._support.words import counted
from ..dynamics.inertia import inverse_mass
from ..equilibrium.delassus import between_contacts
from ..equilibrium.dense import SMALL, between_bodies
from ..equilibrium.mechanics import Inertia
from ..equilibrium.multipliers import rigid_contacts
from ..equilibrium.rows import checked_friction
from ..linear import column_arms
from ..status import Status
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from .formats.problem import CapturedProblem

ROUNDED = 10.0
"""Roundings of W r + q that a residual may hold: those of the solve, of its check, and of sums;
residuals that a velocity may hold."""


@dataclass(frozen=True, repr=False)
class CoulombAnswer(Brief):
    """Impulses and velocities under exact Coulomb friction. m contacts of d rows, normal first.

    reaction (m, d) [N s]; velocity (m, d) [m/s]: u, relative. residual: max_i |r_i - P_i(r_i -
    rho_i u_i)| / rho_i over max |q|, P_i(t) with normal max(0, t_N) and the tangential part cut
    to mu times it, rho_i = d / tr W_ii; worst: contact of the largest. iterations: of all
    methods, as ``multipliers.RigidContacts.outer``; systems: linear ones solved; routes: the
    methods that were taken, in turn. rounding: of one evaluation of u = W r + q, in the unit of
    the residual, looked at where that is above the tolerance. unit [m/s]: max |q|.
    """

    reaction: np.ndarray
    velocity: np.ndarray
    residual: float
    worst: int
    tolerance: float
    iterations: int
    systems: int
    routes: tuple[str, ...] = ()
    rounding: float = 0.0
    unit: float = 1.0

    @property
    def still(self) -> float:
        """Velocity [m/s] below which a contact is at rest: a fraction of the largest, or the
        error by the residual."""
        largest = float(np.abs(self.velocity).max(initial=0.0))
        return max(TOLERANCES.still * largest, ROUNDED * self.residual * self.unit)

    @property
    def at_rounding(self) -> bool:
        """Whether the residual is above the tolerance, and no more than the numbers of the problem
        leave of it: eps |W| |r| + eps |q|, rounded some times."""
        return not self.converged and self.residual <= ROUNDED * self.rounding

    @property
    def converged(self) -> bool:
        return self.residual <= self.tolerance

    @property
    def status(self) -> Status:
        return Status.CONVERGED if self.converged else Status.STALLED

    @property
    def advice(self) -> str:
        if self.converged:
            return self.status.advice
        if self.at_rounding:
            return (
                "that is the rounding of the problem's own numbers, eps (|W| |r| + |q|) = "
                f"{self.rounding:.1e}: reaction and velocity are as accurate as these allow; use a "
                "tolerance above it"
            )
        return (
            "no motion with exact Coulomb friction was found to this tolerance, reaction and "
            "velocity are the nearest; there may be none, else take a larger tolerance"
        )

    @property
    def message(self) -> str:
        worst = "" if self.converged else f", largest at contact {self.worst}"
        methods = ", ".join(self.routes) or "sweeps"
        return (
            f"{methods}: {self.status}, residual {self.residual:.1e} (tolerance "
            f"{self.tolerance:.1e}){worst} after {counted(self.iterations, 'iteration')} "
            f"({counted(self.systems, 'linear system')}); {self.advice}"
        )


def solve_coulomb(captured: "CapturedProblem", *, tolerance: float = 1e-10) -> CoulombAnswer:
    """Impulses of a captured problem with its friction.

    Global problems are solved in the velocities of the bodies, local ones in those of the
    contacts.

    Parameters
    ----------
    captured : CapturedProblem
    tolerance : float
        On the residual.

    Returns
    -------
    CoulombAnswer
        With ``reaction`` (m, d) [N s] and ``velocity`` (m, d) [m/s], normal first, status,
        residual and message.

    Raises
    ------
    InputError
        For negative friction, and W that cannot be B M^-1 B^T.
    OutOfMemory
        Where there is no memory for W.

    Warns
    -----
    UserWarning
        Where W is not symmetric.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.adapters import CapturedProblem, solve_coulomb
    >>> W, q = sp.csr_array(np.eye(2)), np.array([-2.0, 3.0])  # a ball of 1 kg, that slides too
    >>> found = solve_coulomb(CapturedProblem("local", 2, np.array([0.5]), W=W, q=q))
    >>> found.reaction.round(9), found.velocity.round(9) + 0.0
    (array([[ 2., -1.]]), array([[0., 2.]]))
    """
    m, d = captured.contacts, captured.dim
    _warn_of_asymmetry(captured)
    tolerance = arrays.positive("tolerance", tolerance)
    mu = checked_friction(captured.mu, m)
    mechanics, trace, q = _mechanics(captured)
    scale = float(np.abs(q).max(initial=0.0)) or 1.0
    trace = np.where(trace > 0, trace, trace.max(initial=0.0) or 1.0)  # nothing moves this contact
    M = None if captured.kind == "local" else partial(_inertia_over_arms, captured)
    found = rigid_contacts(mechanics, mu, d / trace, scale=scale, tolerance=tolerance, M=M)
    return CoulombAnswer(
        reaction=found.force,
        velocity=found.velocity,
        residual=found.residual,
        worst=found.worst if m else -1,
        tolerance=tolerance,
        iterations=found.outer,
        systems=found.solves,
        routes=found.routes,
        rounding=0.0 if found.converged else _rounding(captured, found.force, scale),
        unit=scale,
    )


def _warn_of_asymmetry(captured: "CapturedProblem") -> None:
    known = max(TOLERANCES.asymmetric, 2.0 * captured.rounding)
    if captured.asymmetry > known:
        warn(
            f"W is not symmetric: entries differ by {captured.asymmetry:.1e} of the largest from "
            "those across the diagonal; expected W = B M^-1 B^T. It is solved as it is: what the "
            "one side says and the other does not is in the answer",
            UserWarning,
        )


def _rounding(captured: "CapturedProblem", force: np.ndarray, scale: float) -> float:
    """Of u = W r + q, largest entry, over ``scale``."""
    r = np.abs(force).ravel()
    if captured.kind == "local":
        u = abs(captured.W) @ r + np.abs(captured.q)
    else:
        inverse = abs(inverse_mass(captured.M, np.arange(captured.M.shape[0])))
        H = abs(sp.csr_array(captured.H))
        u = H.T @ (inverse @ (H @ r + np.abs(captured.f))) + np.abs(captured.w)
    return float(np.finfo(float).eps * u.max(initial=0.0)) / scale


def _mechanics(captured):
    """(mechanics of the contacts, tr W_ii (m,), q (d m,))."""
    d = captured.dim
    if captured.kind == "local":
        W = captured.W
        return between_contacts(W, captured.q, d), _traces(W.diagonal(), d), captured.q
    M, B = captured.M, captured.H.T
    inverse = inverse_mass(M, np.arange(M.shape[0]))
    if M.shape[0] <= SMALL:  # some sparse products take longer than all else
        B, inverse = B.toarray(), inverse.toarray()
        mobility = B @ inverse
        diagonal = (B * mobility).sum(axis=1)
    else:
        B = sp.csr_array(B)
        mobility = sp.csr_array(B @ inverse)
        diagonal = B.multiply(mobility).sum(axis=1)
    q = captured.w + mobility @ captured.f
    unit = M.diagonal() * (float(np.abs(q).max(initial=0.0)) or 1.0)
    bodies = between_bodies(
        B,
        captured.f,
        d,
        inertia=Inertia(M, inverse, mobility),
        offset=captured.w.reshape(-1, d),
        unit=unit,
    )
    return bodies, _traces(diagonal, d), q


def _inertia_over_arms(captured):
    """M with rows over the arms of B's columns, so that its products are forces."""
    arm = column_arms(sp.csr_array(captured.H.T))[0]
    return sp.diags_array(1.0 / np.maximum(arm, np.finfo(float).tiny)) @ captured.M


def _traces(diagonal, d):
    return np.asarray(diagonal).reshape(-1, d).sum(axis=1)
