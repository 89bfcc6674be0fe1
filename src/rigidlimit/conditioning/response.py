"""Response of contact forces to changes of their slacks, with stiff springs for contacts.

Changes d (k,) [m/s] of the slacks w of active contacts cause, by eq. 21,

    (M/dt + B^T D B) x = -B^T D d,   g = -D (d + B x),      forces g in response to d,
    (M/dt + B^T D B) y = B^T g,      h = D B y,             the least forces of the same load,

with D_i = 1 / (weak^2 N_ii): motions with S above weak respond as contacts would, others less and
less. h excludes forces that contacts beside one another exert on each other only, B^T g = 0.
Applied again, to h in place of g, it excludes motions with S below weak, too.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..linear import LinearStats, Network, kept_starts
from .step_data import StepData
from .tolerances import TOLERANCES


class Off(NamedTuple):
    """Errors of contacts, (k,) each. force [N]: of step 1; wrong [m/s]: its remaining slack.
    digits [m/s]: error of the slack by rounding of the data. diagonal: of N."""

    force: np.ndarray
    wrong: np.ndarray
    digits: np.ndarray
    diagonal: np.ndarray

    def of(self, rows: np.ndarray) -> "Off":
        """Of some contacts: indices."""
        return Off(*(values[rows] for values in self))


class Response:
    """What changes of slacks make of the forces of some contacts, by stiff springs."""

    def __init__(self, step: StepData, balance: sp.csr_array, off: Off, free):
        """balance (k, 6 N): rows of the contacts, without motions that the balance excludes.
        free (6 N,) bool: degrees of freedom that are not held."""
        touched = np.zeros(len(free), bool)
        touched[balance.indices] = True
        dofs = np.flatnonzero(free & touched)
        per_reach = 1 / step.reach[dofs]
        B = submatrix(balance, columns=dofs, scale=per_reach)
        mass = submatrix(step.M, rows=dofs, columns=dofs, scale=per_reach)
        mass.data *= np.repeat(per_reach, np.diff(mass.indptr)) / step.dt
        blocks = kept_starts(np.arange(0, len(free) + 1, 6), dofs)
        # the springs are too stiff for single precision
        network = Network(B, mass=mass, blocks=blocks, single_precision=False)
        self.off, self.network, self.D = off, network, 1 / (TOLERANCES.weak**2 * off.diagonal)
        self.system = network.system(self.D, 0.0)

    def to_residual(self) -> np.ndarray:
        """|h| (k,) [N] for what is wrong with the slacks."""
        return np.abs(self._least(self.off.wrong[:, None], 1)[0][:, 0])

    def to_last_digits(self) -> list[np.ndarray]:
        """The largest |h| (k,) [N] for the remaining slack, and for rounding of the data: with
        motions with S below weak, and without them."""
        wrong, digits = self.off.wrong, self.off.digits
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (len(digits), TOLERANCES.samples))
        changes = np.column_stack([wrong, signs * digits[:, None]])
        # each round reduces such motions by (S / weak)^2
        return [
            np.max([_bounded(h, self.off.force) for h in found.T], axis=0)
            for found in self._least(changes, 2)
        ]

    def _least(self, changes: np.ndarray, rounds: int) -> list[np.ndarray]:
        """h (k, c) for changes (k, c): after each time that it replaces g and is computed again."""
        B, D, stats = self.network.B, self.D[:, None], LinearStats()

        def moved(push: np.ndarray) -> np.ndarray:
            return B @ self.system.solve_directly(B.T @ push, stats, refined=False)

        found = [-D * (changes + moved(-D * changes))]
        for _ in range(rounds):
            found.append(D * moved(found[-1]))
        return found[1:]


def _bounded(change, force):
    """|change| (k,) [N] of forces (k,) >= 0 there and back, as far as none of those that it mostly
    changes would pull."""
    size = np.abs(change)
    most = size > TOLERANCES.mostly * size.max(initial=0.0)
    way = [
        np.divide(force, size, where=at, out=np.ones(len(force)))
        for at in (most & (change < 0), most & (change > 0))
    ]
    return size * min(1.0, max(way[0].min(initial=1.0), way[1].min(initial=1.0)))
