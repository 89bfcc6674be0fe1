"""The contact dynamics problem of one step, eqs 16-22, and the one residual that judges solvers.

Find the contact forces f [N] with

    0 <= f  _|_  w = N f + p >= 0,    N = dt B M^-1 B^T,    p = bias + B v_free          (20, 21)

where v_free = v + dt M^-1 F_ext is the velocity without contact forces and bias is Phi/dt, or
e_n B v at contacts with restitution. w [m/s] is the end-of-step gap over dt. The velocity
v+ = v_free + dt M^-1 B^T f is unique; f is not where the contacts are redundant.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numba import njit

from .._support.arrays import with_short_indices
from .._support.display import Displayed
from .._support.products import transposed_product
from .._support.words import counted
from ..status import HasStatus, Status, work
from .inertia import is_diagonal

ROUNDING = 1e-14
"""Closing velocities below this part of the terms they are the sum of count as zero."""

NO_SPEED = 1e-100
"""Closing velocity [m/s] that is none: what is left of a motion that fades step by step, down to
the smallest numbers there are, whose products with forces are zero."""

VELOCITY_WEIGHT = 0.01
"""Weight of errors in velocities beside those in forces. Forces rounded to 1e-16 move a body 1e8
times lighter than the heaviest at 1e-8 of the largest velocity: that is the most one can ask."""


@dataclass(frozen=True)
class ContactProblem:
    """Data of eq. 21. m contacts, n free degrees of freedom; none is held (Gamma_D).

    Parameters
    ----------
    B : (m, n) sparse
        Gap gradient.
    mass, inverse_mass : (n, n) sparse [kg, kg m^2]
    bias : (m,) [m/s]
        Phi/dt, or e_n B v of contacts with restitution.
    free_velocity : (n,) [m/s, rad/s]
        Without contact forces.
    dt : float [s]

    Raises
    ------
    ValueError
        By its methods, for shapes that do not go together: ``contact_dynamics`` checks what it
        makes this of, and nothing is checked here.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rigidlimit.dynamics import ContactProblem
    >>> one = sp.csr_array(np.eye(1))  # a ball of 1 kg that falls on a floor with 2 m/s
    >>> problem = ContactProblem(one, one, one, np.zeros(1), np.array([-2.0]), 0.1)
    >>> problem.velocity(np.array([20.0])), problem.residual(np.array([20.0]))
    (array([0.]), 0.0)
    """

    B: sp.csr_array
    mass: sp.csr_array
    inverse_mass: sp.csr_array
    bias: np.ndarray
    free_velocity: np.ndarray
    dt: float

    @cached_property
    def response(self) -> sp.csr_array:
        """dt B M^-1 (m, n): row i is the velocity change caused by a unit force at contact i."""
        B, inverse = self.B, self.inverse_mass
        if is_diagonal(inverse):
            data = self.dt * (B.data * inverse.data[B.indices])
            return sp.csr_array((data, B.indices, B.indptr), shape=B.shape)
        response = B @ inverse
        response.data *= self.dt
        response.sort_indices()
        return with_short_indices(response)

    @cached_property
    def p(self) -> np.ndarray:
        """Constant term of eq. 20 [m/s], (m,)."""
        return self.bias + self.B @ self.free_velocity

    @cached_property
    def diagonal(self) -> np.ndarray:
        """Diagonal of N [m/s per N], (m,); contacts that move nothing get 1."""
        return np.where(self.own_response > 0, self.own_response, 1.0)

    @cached_property
    def own_response(self) -> np.ndarray:
        """Diagonal of N [m/s per N], (m,), as it is."""
        R, B = self.response, self.B
        return _row_products(R.indptr, R.indices, R.data, B.indptr, B.indices, B.data, B.shape[1])

    @cached_property
    def closing(self) -> np.ndarray:
        """-p_i of the contacts that close by more than the rounding of p, else 0 [m/s], (m,);
        also below ``NO_SPEED``."""
        B = self.B
        return _beyond_rounding(B.indptr, B.indices, B.data, self.free_velocity, self.bias, self.p)

    @cached_property
    def scale(self) -> float:
        """Force scale [N]: the largest force one contact alone would need, max(-p_i / N_ii).

        0 if no contact closes by more than the rounding of its p.
        """
        return float((self.closing / self.diagonal).max(initial=0.0))

    @cached_property
    def speed(self) -> float:
        """Velocity scale [m/s]: the fastest that a contact would close without forces."""
        return float(self.closing.max(initial=0.0))

    def project(self, f: np.ndarray) -> np.ndarray:
        """Nearest admissible force: f >= 0.

        Parameters
        ----------
        f : (m,) [N]
        """
        return np.maximum(f, 0.0)

    def velocity(self, f: np.ndarray) -> np.ndarray:
        """v+ = v_free + dt M^-1 B^T f, (n,), eq. 13.

        Parameters
        ----------
        f : (m,) [N]
        """
        return self.free_velocity + transposed_product(self.response, f)

    def slack(self, f: np.ndarray) -> np.ndarray:
        """w = N f + p [m/s], (m,), eq. 21.

        Parameters
        ----------
        f : (m,) [N]
        """
        return self.p + self.B @ transposed_product(self.response, f)

    def residual(self, f: np.ndarray, slack: np.ndarray | None = None) -> float:
        """max_i |r_i| max(1 / scale, N_ii / (100 speed)), r_i = f_i - proj(f_i - w_i / N_ii).

        Zero at the solution, dimensionless; 0 when no contact needs a force and none is given. The
        second term is |min(N_ii f_i, w_i)| over velocities: an error that is small beside the
        forces between heavy bodies may set a light one in motion.

        Parameters
        ----------
        f : (m,) [N]
        slack : (m,) [m/s], optional
            w, where it is known.
        """
        if not len(f):
            return 0.0
        w = self.slack(f) if slack is None else slack
        # f - max(0, f - w/N) = min(f, w/N), but forces that diverge do not swallow the slack
        wrong = np.abs(np.minimum(f, w / self.diagonal))
        worst = float(wrong.max())
        if worst == 0.0:
            return 0.0
        if self.scale == 0.0:  # what closes is rounding, and needs no force
            return worst / float(np.abs(f).max()) if f.any() else 0.0
        moved = VELOCITY_WEIGHT * float((wrong * self.diagonal).max())
        return max(worst / self.scale, moved / self.speed)


@njit(cache=True)
def _row_products(a_starts, a_columns, a, b_starts, b_columns, b, n):
    """Row i of A (m, n) times row i of B (m, n), (m,)."""
    out = np.zeros(len(a_starts) - 1)
    row = np.zeros(n)
    for i in range(len(out)):
        for e in range(a_starts[i], a_starts[i + 1]):
            row[a_columns[e]] += a[e]
        for e in range(b_starts[i], b_starts[i + 1]):
            out[i] += b[e] * row[b_columns[e]]
        for e in range(a_starts[i], a_starts[i + 1]):
            row[a_columns[e]] = 0.0
    return out


@njit(cache=True)
def _beyond_rounding(indptr, indices, data, velocity, bias, p):
    """-p_i where it is more than rounding of the terms of bias + B velocity, and a speed at all,
    else 0."""
    out = np.zeros(len(p))
    for i in range(len(p)):
        terms = abs(bias[i])
        for e in range(indptr[i], indptr[i + 1]):
            terms += abs(data[e] * velocity[indices[e]])
        if -p[i] > max(ROUNDING * terms, NO_SPEED):
            out[i] = -p[i]
    return out


@dataclass(frozen=True, repr=False)
class ContactDynamicsResult(HasStatus, Displayed):
    """Answer of a contact dynamics solver. m contacts, n degrees of freedom.

    Attributes
    ----------
    force : (m,) ndarray [N]
        Normal contact forces, not unique if contacts are redundant.
    velocity : (n,) ndarray [m/s, rad/s]
        v+, unique.
    slack : (m,) ndarray [m/s]
        w = Phi+/dt.
    status : Status
    residual : float
        As of ``ContactProblem.residual``.
    iterations : int
        Sweeps, gradient steps or Newton systems.
    solver : str
    tolerance : float
        On the residual.
    history : ndarray
        Residual after each iteration that measured one.
    linear_iterations, factorizations : int
        Conjugate gradient steps, and factorizations.
    routes : tuple of str
        Ways that were tried, in turn.

    Examples
    --------
    A ball of 2 kg that falls on a floor for 0.1 s, from a gap that it would cross:

    >>> import rigidlimit as rl
    >>> found = rl.contact_dynamics([2.0], [[1.0]], [0.01], [0.0], [-20.0], 0.1)
    >>> found.converged, found.slack.round(9) + 0.0
    (True, array([0.]))
    """

    force: np.ndarray
    velocity: np.ndarray
    slack: np.ndarray
    status: Status
    residual: float
    iterations: int
    solver: str
    tolerance: float
    history: np.ndarray = field(default_factory=lambda: np.zeros(0))
    linear_iterations: int = 0
    factorizations: int = 0
    routes: tuple[str, ...] = ()

    @property
    def advice(self) -> str:
        """What the status means, and what to try."""
        return self.status.advice

    @property
    def message(self) -> str:
        steps = counted(self.iterations, "iteration")
        return (
            f"{self.solver}: {self.status}, residual {self.residual:.1e} "
            f"(tolerance {self.tolerance:.1e}) after {steps}{work(self)}; {self.advice}"
        )
