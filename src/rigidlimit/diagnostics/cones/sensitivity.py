"""How the forces of rough elastic contacts change with friction, stiffness and load.

At the answer f(w; p), w = R u, R^T f = F~ of ``compatibility/rough.py`` from the unloaded state,
with D = -df/dw of the contact law (``equilibrium/law.py``) and g = df/dp at fixed w,

    df = g dp - D dw,      K du = R^T g dp - dF~,      K = R^T D R:

one linear system of the kernel a direction. K is not symmetric where contacts slide, as Coulomb's
law is not associated. The derivatives of the law, with e the direction of sliding:

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

    force (m, d) [N]: the solution. sliding, weak (m,) bool: at the bound mu f_n; at an edge of the
    law. status, residual: of the forces. solve_residual: of the last linear system, relative.
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
        """Derivative of the forces along a direction, (m, d) [N]: what changes is mu by friction
        (m,), ln k_t by log_tangential_stiffness (m,), ln k_n (at fixed k_t) by log_stiffness (m,)
        and F~ by load (n,) [N, N m]. A number changes all contacts alike. nan where the change
        requires forces along a motion that sliding contacts do not resist (``solve_residual``)."""
        m = len(self.force)
        normal, tangential = self.force[:, :1], self.force[:, 1:]
        change = np.zeros_like(self.force)

        def each(name: str, value: ArrayLike) -> np.ndarray:
            return arrays.vector(name, value, m, what="contact (row of B)")[:, None]

        slides = self.sliding[:, None]
        if friction is not None:
            size = np.linalg.norm(tangential, axis=1, keepdims=True)
            e = np.divide(tangential, size, out=np.zeros_like(tangential), where=size > 0.0)
            change[:, 1:] += slides * normal * e * each("friction", friction)
        if log_tangential_stiffness is not None:
            by = each("log_tangential_stiffness", log_tangential_stiffness)
            change[:, 1:] += ~slides * tangential * by
        if log_stiffness is not None:
            by = each("log_stiffness", log_stiffness)
            change[:, :1] += normal * by
            change[:, 1:] += slides * tangential * by
        return self._linear.change(change, load)

    def matrix(self, by: str) -> np.ndarray:
        """All derivatives, (m d, m) or (m d, n): forces contact by contact against mu ("friction"),
        ln k_t ("log_tangential_stiffness"), ln k_n ("log_stiffness") or F~ ("load")."""
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

    def change(self, b: np.ndarray, load: np.ndarray) -> np.ndarray:
        """df (m, d) for changes b (m, d) of the forces at fixed displacements and load (n,)."""
        problem, rows = self.problem, self.problem.rows
        right = rows.T @ b.ravel()
        if load is not None:
            load = arrays.vector("load", load, problem.n, what="degree of freedom")
            right = right - load[problem.dofs] / problem.arm
        size = float(np.abs(right).max(initial=0.0))
        x, left = np.zeros(len(right)), right
        for _ in range(4):  # the shift, and rounding, are taken out by refinement
            x = x + self.solve(-left)
            left = right - rows.T @ self._slopes(x).ravel()
            self.residual = float(np.abs(left).max(initial=0.0)) / (size or 1.0)
            if self.residual <= 1e-13:
                break
        if not self.residual <= SETTINGS.solved:
            return np.full_like(b, np.nan)
        return b - self._slopes(x)

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        w = self.problem.displacement(x)
        return np.einsum("iab,ib->ia", self.D / self.top, w)
