"""Data of contact dynamics of one step, eqs 16-22."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._support.submatrix import submatrix
from ..bodies import Bodies
from ..dynamics.reduced import Reduced
from .screening import Columns

Balance = tuple[sp.csr_array, np.ndarray]
"""Equilibrium equations of step 2: (B (m, 6 N), load (6 N,) [N, N m])."""


@dataclass(frozen=True)
class StepData:
    """Data of step 1. M (6 N, 6 N). B (m, 6 N). bias (m,) [m/s]. velocity, external_force (6 N,).
    dt [s]. blur (m,) [m/s]: rounding of bias."""

    M: sp.csr_array
    B: sp.csr_array
    bias: np.ndarray
    velocity: np.ndarray
    external_force: np.ndarray
    dt: float
    bodies: Bodies
    blur: np.ndarray

    @property
    def columns(self) -> Columns:
        """Of the bodies."""
        return Columns.of(self.bodies)

    @property
    def free(self) -> np.ndarray:
        """What is not held, (6 N,) bool."""
        return self.bodies.free.ravel()

    @property
    def reach(self) -> np.ndarray:
        """Way of a body's farthest point per unit of each velocity, (6 N,), or 1."""
        return self.columns.reach

    def reduced(self, rows: np.ndarray, free: np.ndarray) -> Reduced:
        """The problem of the contacts ``rows`` and of the degrees of freedom ``free``, the others
        held."""
        B = submatrix(self.B, rows=rows)
        return Reduced(
            self.M, B, self.bias[rows], self.velocity, self.external_force, self.dt, free=free
        )
