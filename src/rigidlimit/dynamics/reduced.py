"""Reduction of step 1 to the contacts and degrees of freedom that contact forces can change.

Held degrees of freedom (Gamma_D) keep their velocity and may drive contacts. Those that no contact
touches, and no inertia couples to what one touches (the spin of smooth balls), keep their free
velocity. A push between held bodies alone changes no velocity at all: eq. 21 does not determine it,
and such contacts get no force. ``Reduced`` states the problem for the rest and expands its
solution.
"""

from dataclasses import replace

import numpy as np
from numba import njit

from .._support.submatrix import submatrix
from ..equilibrium.rows import rows_of
from ..linear import body_starts, kept_starts
from .inertia import coupled, inverse_mass
from .problem import ContactDynamicsResult, ContactProblem
from .visits import permutation


class Reduced:
    """The problem of the contacts ``rows`` (r,) and degrees of freedom ``dofs`` (n',), ascending.

    velocity (n,): v_free = v + dt M^-1 F_ext, eq. 13 without contact forces. slack (m,): its
    Phi/dt + B v_free.
    """

    def __init__(self, M, B, bias, velocity, external_force, dt, *, free):
        """M (n, n), B (m, n), bias (m,) as in eq. 20; of rough contacts B (m d, n), contact by
        contact, and bias (m, d). free (n,) bool: what is not held."""
        dofs = np.flatnonzero(free)
        # held bodies may be driven
        bias = bias + (B @ np.where(free, 0.0, velocity)).reshape(bias.shape)
        mass = submatrix(M, rows=dofs, columns=dofs)
        group = coupled(mass)
        inverse = inverse_mass(mass, dofs, group)
        self.velocity = velocity.copy()
        self.velocity[dofs] += dt * (inverse @ external_force[dofs])

        reached = _within_reach(B, group, dofs)
        mass, inverse = (submatrix(A, rows=reached, columns=reached) for A in (mass, inverse))
        self.dofs = dofs[reached]
        B = submatrix(B, columns=self.dofs)
        entries = np.concatenate([[0], np.cumsum(B.data != 0)])
        self.m, count = len(bias), np.diff(entries[B.indptr])
        rough = bias.ndim > 1
        self.rows = np.flatnonzero(count.reshape(bias.shape).any(axis=1) if rough else count)
        v_free = self.velocity[self.dofs]
        self.slack = None if self._whole else bias + (B @ v_free).reshape(bias.shape)
        rows = rows_of(self.rows, bias.shape[1]) if rough else self.rows
        self.problem = ContactProblem(
            submatrix(B, rows=rows), mass, inverse, self.among(bias).ravel(), v_free, dt
        )

    @property
    def _whole(self) -> bool:
        return len(self.rows) == self.m

    def among(self, values: np.ndarray) -> np.ndarray:
        """Those of the values (m,) or (m, d) that belong to ``rows``."""
        return values if self._whole else values[self.rows]

    def ordered(self, options: dict) -> dict:
        """The options of a solver, with the contacts of ``order`` as their places in ``rows``,
        without those not there."""
        if isinstance(options.get("order", ""), str):
            return options
        place = np.full(self.m, -1)
        place[self.rows] = np.arange(len(self.rows))
        order = place[permutation(options["order"], self.m)]
        return options | dict(order=order[order >= 0])

    def starts(self, blocks: np.ndarray | None = None) -> np.ndarray:
        """Where bodies begin among ``dofs``. blocks: where they begin among all; guessed if not."""
        return kept_starts(body_starts(len(self.velocity), blocks), self.dofs)

    def answered(self, answer: ContactDynamicsResult) -> ContactDynamicsResult:
        """The answer to ``problem``, for all contacts and degrees of freedom."""
        velocity = self.velocity.copy()
        velocity[self.dofs] = answer.velocity
        force, slack = answer.force, answer.slack
        if not self._whole:
            force, slack = np.zeros(self.m), self.slack.copy()
            force[self.rows], slack[self.rows] = answer.force, answer.slack
        return replace(answer, velocity=velocity, force=force, slack=slack)


def _within_reach(B, group, dofs):
    """Which of the free degrees of freedom contact forces can move, ascending.

    What no contact touches and no inertia couples to what one touches (the spin of smooth balls)
    keeps its free velocity.
    """
    touched = _touched(B.indices, B.data, B.shape[1])
    reached = np.zeros(len(dofs), bool)
    reached[group[touched[dofs]]] = True
    return np.flatnonzero(reached[group])


@njit(cache=True)
def _touched(indices, data, n):
    """Which columns hold more than zeros, (n,) bool."""
    touched = np.zeros(n, np.bool_)
    for e in range(len(indices)):
        touched[indices[e]] |= data[e] != 0.0
    return touched
