"""Contacts without friction under a load, in units of order one, for questions of statics."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from ..errors import InputError
from ..linear import MovedColumns, Network, body_starts, column_arms
from .cones.scaling import ALIKE, contact_units, largest
from .tolerances import TOLERANCES


@dataclass(frozen=True)
class SmoothContacts:
    """m contacts under a load.

    given (m, n): B as it was given. B (m, k): its columns ``dofs`` that are free and that contacts
    move, over their longest arm. load (k,): F~ in units of ``size`` [N]. starts: first kept column
    of each body. free, touched (n,) bool. body (n,): of each column.
    """

    given: sp.csr_array
    B: sp.csr_array
    load: np.ndarray
    size: float
    unit: np.ndarray
    dofs: np.ndarray
    starts: np.ndarray
    free: np.ndarray
    touched: np.ndarray
    body: np.ndarray

    @classmethod
    def of(
        cls, B: MatrixLike, load: ArrayLike, fixed: ArrayLike | None, blocks: ArrayLike | None
    ) -> "SmoothContacts":
        """Raises InputError for wrong shapes and a load that meets no contact."""
        B = arrays.sparse("B", B)
        n = B.shape[1]
        load = arrays.vector("load", load, n, what="degree of freedom (column of B)")
        free = arrays.free_columns(fixed, n)
        moved = MovedColumns.of(B, free, blocks)
        touched, scaled = moved.touched, moved.B
        size = float((np.abs(load) / moved.arm)[free].max(initial=0.0)) or 1.0
        _refuse_unmoved_load(load, free & ~touched, size)
        body = np.searchsorted(body_starts(n, blocks), np.arange(n), side="right") - 1
        F, one = moved.over_arms(load) / size, np.ones(B.shape[0])
        plain = cls(B, scaled, F, size, one, moved.dofs, moved.starts, free, touched, body)
        unit = contact_units(scaled, 0.0 * one, np.abs(F), 1)
        return (
            plain.in_units(unit) if unit.max(initial=1.0) > ALIKE * unit.min(initial=1.0) else plain
        )

    def in_units(self, unit: np.ndarray) -> "SmoothContacts":
        """The same with forces in units of ``unit`` (m,), over those so far."""
        scaled = sp.csr_array(sp.diags_array(unit) @ self.B)
        equation = 1.0 / largest(sp.csr_array(scaled.T))
        B = sp.csr_array(scaled @ sp.diags_array(equation))
        B.sort_indices()
        return replace(self, B=B, load=self.load * equation, unit=self.unit * unit)

    @property
    def strength(self) -> np.ndarray:
        """What a unit of each contact's force pushes at most, (m,), columns over their arms."""
        arm, _ = column_arms(self.given)
        return largest(sp.csr_array(self.given @ sp.diags_array(1.0 / arm)))

    @property
    def network(self) -> Network:
        return Network(self.B, blocks=self.starts)

    def carried_by(self, force: np.ndarray) -> tuple["SmoothContacts", np.ndarray | None]:
        """(the problem, ``force`` (m,) if it is admissible): under the load that it carries then,
        which is the same to its imbalance."""
        pulls = -force.min(initial=0.0)
        missing = np.abs(self.B.T @ force - self.load).max(initial=0.0)
        most = TOLERANCES.balanced * max(1.0, float(force.max(initial=0.0)))
        if not max(pulls, missing) <= most:
            return self, None
        force = np.maximum(force, 0.0)
        return replace(self, load=self.B.T @ force), force


def _refuse_unmoved_load(load, unmoved, size):
    bad = np.flatnonzero(unmoved & (np.abs(load) > 1e-8 * size))
    if len(bad):
        raise InputError(
            f"the load {load[bad[0]]:.3g} on degree of freedom {bad[0]} meets no contact: there "
            "are no admissible forces; expected B^T f of some f >= 0, as contact dynamics gives it"
        )
