"""Validated input of step 1, and the least normal velocity of each contact (eq. 16)."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike, flags
from ..errors import InputError
from .inertia import check_symmetry

CONTACT = "contact (row of B)"


@dataclass(frozen=True)
class Given:
    """The arguments of ``contact_dynamics``; ``checked`` has arrays and sparse matrices of them."""

    M: MatrixLike
    B: MatrixLike
    gap: ArrayLike
    velocity: ArrayLike
    external_force: ArrayLike
    dt: float
    restitution: ArrayLike
    exists: ArrayLike | None
    fixed: ArrayLike | None

    def checked(self) -> "Given":
        """The same, checked. Raises InputError for wrong shapes and values."""
        B = arrays.sparse("B", self.B)
        m, n = B.shape
        M = self.M
        if not sp.issparse(M) and _is_diagonal(M):
            M = sp.diags_array(arrays.vector("M", M, n, what="degree of freedom")).tocsr()
        M = arrays.sparse("M", M, columns=n, square=True)
        check_symmetry(M)
        force = arrays.vector("external_force", self.external_force, n, what="degree of freedom")
        return replace(
            self,
            M=M,
            B=B,
            gap=arrays.vector("gap", self.gap, m, what=CONTACT),
            velocity=arrays.vector(
                "velocity", self.velocity, n, what="degree of freedom (column of B)"
            ),
            external_force=force,
            dt=arrays.positive("dt", self.dt),
            exists=None if self.exists is None else flags("exists", self.exists, m, what=CONTACT),
            fixed=~arrays.free_columns(self.fixed, n),
        )

    @property
    def free(self) -> np.ndarray:
        """Degrees of freedom that are not held, (n,) bool; of what is checked."""
        return ~self.fixed

    def bias(self, gap: np.ndarray | None = None) -> np.ndarray:
        """``contact_bias`` (m,) [m/s], also of other gaps (m,) [m]."""
        law = self.velocity, self.dt, self.restitution, self.exists
        return contact_bias(self.B, self.gap if gap is None else gap, *law)


def _is_diagonal(M: MatrixLike) -> bool:
    """Whether a mass matrix is given as one row of numbers."""
    try:
        return np.ndim(M) == 1
    except ValueError:  # ragged
        return False


def contact_bias(
    B: sp.csr_array,
    gap: np.ndarray,
    velocity: np.ndarray,
    dt: float,
    restitution: np.ndarray,
    exists: np.ndarray,
) -> np.ndarray:
    """Phi/dt (eq. 16), or e_n B v at existing contacts that rebound (section 4.3), less where they
    overlap: what overlaps comes apart in the step, as without restitution.

    Else not less than e_n B v either: with f . (B v+ + bias) = 0 the kinetic energy changes by
    |v+ - v|_M^2 / 2 + dt f . B v, at most 0 if f . bias >= e_n f . B v. Bodies that have just
    parted and are pushed together again may then overlap by less than their way in the step.
    """
    m = len(gap)
    e = arrays.vector("restitution", restitution, m, what=CONTACT)
    if ((e < 0) | (e > 1)).any():
        worst = int(np.flatnonzero((e < 0) | (e > 1))[0])
        raise InputError(f"restitution at contact {worst} is {e[worst]}; expected 0 <= e_n <= 1")
    bias = gap / dt
    if e.any():
        formed = gap <= 0 if exists is None else exists
        rebound = e * (B @ velocity)
        rebound = np.where(gap < 0, np.minimum(rebound, bias), rebound)
        open_yet = np.maximum(bias, rebound)  # below e_n B v it would give the bodies energy
        bias = np.where(e > 0, np.where(formed, rebound, open_yet), bias)
    return bias
