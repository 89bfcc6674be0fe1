"""How the forces of rough elastic contacts change with friction, stiffness and load.

At the answer f(w; p), w = R u, R^T f = F~ of ``compatibility/rough.py`` from the unloaded state,
with D = -df/dw of the contact law (``equilibrium/law.py``) and g = df/dp at fixed w,

    df = g dp - D dw,      K du = R^T g dp - dF~,      K = R^T D R:

one linear system of the kernel a direction, or, with K^T y = R^T D^T w and r = w - R y, a weight:
the derivative of w . f is r . g by p, y by F~. K is not symmetric where contacts slide, as
Coulomb's law is not associated. The derivatives of the law, with e the direction of sliding:

    by mu          sticking 0                        sliding (0, f_n e)
    by ln k_t      sticking (0, f_t)                 sliding 0
    by ln k_n      sticking (f_n, 0)                 sliding (f_n, f_t)

Where a contact is at an edge of its law (touches without force, or has just reached its bound), the
forces have derivatives to either side only; ``weak`` lists it, and the law's own branch is taken.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.display import Brief
from ..._support.words import counted
from ...compatibility import RoughForces
from ...equilibrium.law import ContactLaw
from ...equilibrium.mechanics import Bodies
from ...errors import InputError
from ...status import Status
from .problem import RoughContacts


@dataclass(frozen=True)
class Settings:
    """Of derivatives of rough contacts.

    edge: part of the largest force, or of a contact's bound, within which a contact is at an edge.
    shift: stiffness, over the largest, of motions that no contact resists.
    solved: relative residual of a linear system above which there is no derivative: the change
        requires a force along a motion that sliding contacts do not resist.
    """

    edge: float = 1e-7
    shift: float = 1e-12
    solved: float = 1e-6


SETTINGS = Settings()


BY = "friction", "log_tangential_stiffness", "log_stiffness", "load"


@dataclass(frozen=True, repr=False)
class RoughSensitivity(Brief):
    """Derivatives of forces at rough contacts. m contacts of d components, normal first.

    Attributes
    ----------
    force : (m, d) ndarray [N]
        The solution.
    sliding : (m,) bool ndarray
        At the bound mu f_n.
    weak : (m,) bool ndarray
        At an edge of the law.
    status : Status
        Of the forces.
    residual : float
        Of the forces.
    solve_residual : float
        Of the last linear system, relative.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> change = rl.statics(rl.scenes.groove(friction=0.2)).sensitivity()
    >>> change.forward(friction=1.0)[:, 0].round(4)  # of the normal forces, by mu
    array([-4.9105, -4.9105])
    """

    force: np.ndarray
    sliding: np.ndarray
    weak: np.ndarray
    status: Status
    residual: float
    _linear: "_Linear" = field(repr=False)

    @property
    def smooth(self) -> bool:
        """Whether forces are differentiable here; else only to either side (``weak``)."""
        return not self.weak.any()

    @property
    def solve_residual(self) -> float:
        return self._linear.residual

    @property
    def message(self) -> str:
        edge = "" if self.smooth else f"; {counted(int(self.weak.sum()), 'contact')} at an edge"
        return (
            f"derivatives of {counted(len(self.force), 'contact force')}, "
            f"{int(self.sliding.sum())} of them sliding{edge} ({self.status}, residual "
            f"{self.residual:.1e})"
        )

    def forward(
        self,
        *,
        friction: ArrayLike | None = None,
        log_tangential_stiffness: ArrayLike | None = None,
        log_stiffness: ArrayLike | None = None,
        load: ArrayLike | None = None,
    ) -> np.ndarray:
        """Derivative of the forces along a direction, (m, d) [N].

        Parameters
        ----------
        friction : float or (m,)
            Change of mu; a number changes all contacts alike.
        log_tangential_stiffness : float or (m,)
            Of ln k_t.
        log_stiffness : float or (m,)
            Of ln k_n, at fixed k_t.
        load : (n,) [N, N m], optional
            Of F~.

        Returns
        -------
        (m, d) ndarray [N]
            nan where the change requires forces along a motion that sliding contacts do not resist
            (``solve_residual``).
        """
        m = len(self.force)
        tangential = self.force[:, 1:]
        change = np.zeros_like(self.force)
        by_friction, by_stiffness = self._own

        def each(name: str, value: ArrayLike) -> np.ndarray:
            return arrays.vector(name, value, m, what="contact (row of B)")[:, None]

        slides = self.sliding[:, None]
        if friction is not None:
            change += by_friction * each("friction", friction)
        if log_tangential_stiffness is not None:
            by = each("log_tangential_stiffness", log_tangential_stiffness)
            change[:, 1:] += ~slides * tangential * by
        if log_stiffness is not None:
            change += by_stiffness * each("log_stiffness", log_stiffness)
        return self._linear.change(change, load)

    def reverse(self, weight: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gradients of sum(weight * f): by mu (m,), by ln k_t (m,), by ln k_n at fixed k_t (m,), by
        F~ (n,).

        Parameters
        ----------
        weight : (m, d)

        Returns
        -------
        tuple of ndarray
            nan as of ``forward``.
        """
        weight = np.asarray(weight, float)
        if weight.shape != self.force.shape:
            raise InputError(f"weight has shape {weight.shape}; expected {self.force.shape}")
        r, load = self._linear.adjoint(weight)
        by_friction, by_stiffness = self._own
        sticks = np.where(self.sliding[:, None], 0.0, self.force[:, 1:])
        return (
            (r * by_friction).sum(axis=1),
            (r[:, 1:] * sticks).sum(axis=1),
            (r * by_stiffness).sum(axis=1),
            load,
        )

    @property
    def _own(self):
        """Changes of forces (m, d) at fixed displacements by mu and by ln k_n."""
        normal, tangential = self.force[:, :1], self.force[:, 1:]
        size = np.linalg.norm(tangential, axis=1, keepdims=True)
        e = np.divide(tangential, size, out=np.zeros_like(tangential), where=size > 0.0)
        slides = self.sliding[:, None]
        none = np.zeros_like(normal)
        return np.hstack([none, slides * normal * e]), np.hstack([normal, slides * tangential])

    def matrix(self, by: str) -> np.ndarray:
        """All derivatives, (m d, m) or (m d, n), forces contact by contact.

        Parameters
        ----------
        by : {"friction", "log_tangential_stiffness", "log_stiffness", "load"}
            What changes: mu, ln k_t, ln k_n or F~.
        """
        if by not in BY:
            raise InputError(f"by is {by!r}; expected one of {', '.join(BY)}")
        count = self._linear.problem.n if by == "load" else len(self.force)
        return np.column_stack([self.forward(**{by: one}).ravel() for one in np.eye(count)])


def rough_sensitivity(
    problem: RoughContacts,
    answer: RoughForces,
    stiffness: np.ndarray,
    tangential_stiffness: ArrayLike,
    exponent: float,
) -> RoughSensitivity:
    """See ``sensitivity``, of which this is the part with tangential rows. answer: the forces that
    are differentiated. stiffness (m,), tangential_stiffness: k_n, k_t."""
    m, d = problem.shape
    k_t = arrays.vector("tangential_stiffness", tangential_stiffness, m, what="contact (row of B)")
    found = answer.status is Status.CONVERGED or (
        answer.status is Status.STALLED and answer.state == "unloaded" and answer.residual < 1e-8
    )
    if not found:
        raise InputError(f"there are no forces to differentiate: {answer.message}")
    force = np.column_stack([answer.force, answer.tangential_force])
    w = problem.displacement(answer.displacement[problem.dofs] * problem.arm)
    law = ContactLaw(stiffness, k_t, problem.friction, np.zeros((m, d - 1)), exponent)
    largest, edge = float(force[:, 0].max(initial=0.0)), SETTINGS.edge
    size = np.linalg.norm(force[:, 1:], axis=1)
    overlap = np.maximum(-w[:, 0], 0.0)
    radius = np.where(overlap > 0.0, overlap, 1.0) ** (exponent - 2.0)
    trial = k_t * radius * np.linalg.norm(w[:, 1:], axis=1)
    bound = problem.friction * force[:, 0]
    bears = force[:, 0] > edge * largest
    rough = problem.friction > 0.0
    at_bound = (
        bears
        & rough
        & (np.abs(trial - bound) <= SETTINGS.edge * np.maximum(bound, largest * SETTINGS.edge))
    )
    touches = (
        ~bears & (w[:, 0] <= SETTINGS.edge * float(overlap.max(initial=0.0))) & (largest > 0.0)
    )
    # contacts of bodies that nothing loads stay without force
    touches &= (force[:, 0] > 0.0) | (w[:, 0] != 0.0)
    return RoughSensitivity(
        force=force,
        sliding=bears & rough & (size >= (1.0 - edge) * bound) & (trial >= bound),
        weak=at_bound | touches,
        status=answer.status,
        residual=answer.residual,
        _linear=_Linear(problem, law.respond(w)[1]),
    )


class _Linear:
    """df = b - D R du with K du = R^T b - dF~, for one set of slopes D (m, d, d)."""

    def __init__(self, problem: RoughContacts, D: np.ndarray):
        self.problem = problem
        self.D = D
        self.top = float(np.abs(D).max(initial=0.0)) or 1.0
        self.residual = 0.0
        d = problem.shape[1]
        self.bodies = Bodies(problem.rows, np.zeros(len(problem.dofs)), d, shift=SETTINGS.shift)
        self.solve = self.bodies.factorize(D / self.top)
        self._back = None

    def change(self, b: np.ndarray, load: np.ndarray) -> np.ndarray:
        """df (m, d) for changes b (m, d) of the forces at fixed displacements and load (n,)."""
        problem, rows = self.problem, self.problem.rows
        right = rows.T @ b.ravel()
        if load is not None:
            load = arrays.vector("load", load, problem.n, what="degree of freedom")
            right = right - load[problem.dofs] / problem.arm
        D = self.D / self.top
        x, self.residual = self._refined(self.solve, D, right)
        if not self.residual <= SETTINGS.solved:
            return np.full_like(b, np.nan)
        return b - np.einsum("iab,ib->ia", D, problem.displacement(x))

    def adjoint(self, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(by changes of the forces at fixed displacements (m, d), by load (n,)) of
        sum(weight * f)."""
        problem, rows = self.problem, self.problem.rows
        turned = self.D.transpose(0, 2, 1) / self.top
        if self._back is None:
            self._back = self.bodies.factorize(np.ascontiguousarray(turned))
        right = rows.T @ np.einsum("iab,ib->ia", turned, weight).ravel()
        y, residual = self._refined(self._back, turned, right)
        load = np.zeros(problem.n)
        load[problem.dofs] = y / problem.arm
        if not residual <= SETTINGS.solved:
            return np.full_like(weight, np.nan), np.full_like(load, np.nan)
        return weight - problem.displacement(y), load

    def _refined(self, solve, D, right):
        """(K^-1 right, relative residual) with K = R^T D R: the shift, and rounding, are taken out
        by refinement."""
        size, x, left = float(np.abs(right).max(initial=0.0)), np.zeros(len(right)), right
        residual = 0.0
        for _ in range(4):
            x = x + solve(-left)
            w = self.problem.displacement(x)
            left = right - self.problem.rows.T @ np.einsum("iab,ib->ia", D, w).ravel()
            residual = float(np.abs(left).max(initial=0.0)) / (size or 1.0)
            if residual <= 1e-13:
                break
        return x, residual
