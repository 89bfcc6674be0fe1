"""What step 1 is given, checked, and the velocity that each contact asks for at least (eq. 16)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._support import arrays
from .._support.arrays import MatrixLike
from ..errors import InputError
from .inertia import check_symmetry


@dataclass(frozen=True)
class Given:
    """What is given, checked: see ``contact_dynamics``. free (n,) bool."""

    M: sp.csr_array
    B: sp.csr_array
    gap: np.ndarray
    velocity: np.ndarray
    external_force: np.ndarray
    dt: float
    restitution: Any
    exists: Any
    free: np.ndarray

    def bias(self, gap: np.ndarray | None = None) -> np.ndarray:
        """``contact_bias`` (m,) [m/s], also of other gaps (m,) [m]."""
        law = self.velocity, self.dt, self.restitution, self.exists
        return contact_bias(self.B, self.gap if gap is None else gap, *law)


def checked(
    M: MatrixLike,
    B: MatrixLike,
    gap: ArrayLike,
    velocity: ArrayLike,
    external_force: ArrayLike,
    dt: float,
    restitution: Any,
    exists: Any,
    fixed: Any,
) -> Given:
    """Arguments of ``contact_dynamics``; InputError for wrong shapes and values."""
    B = arrays.sparse("B", B)
    m, n = B.shape
    M = sp.diags_array(np.asarray(M, float)).tocsr() if np.ndim(M) == 1 else M
    M = arrays.sparse("M", M, columns=n, square=True)
    check_symmetry(M)
    return Given(
        M,
        B,
        arrays.vector("gap", gap, m, what="contact (row of B)"),
        arrays.vector("velocity", velocity, n, what="degree of freedom (column of B)"),
        arrays.vector("external_force", external_force, n, what="degree of freedom"),
        arrays.positive("dt", dt),
        restitution,
        exists,
        arrays.free_columns(fixed, n),
    )


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
    e = arrays.vector("restitution", restitution, m, what="contact (row of B)")
    if ((e < 0) | (e > 1)).any():
        worst = int(np.flatnonzero((e < 0) | (e > 1))[0])
        raise InputError(f"restitution at contact {worst} is {e[worst]}; expected 0 <= e_n <= 1")
    if exists is not None and np.shape(exists) != (m,):
        raise InputError(f"exists has shape {np.shape(exists)}; expected ({m},), one per contact")
    bias = gap / dt
    if e.any():
        formed = gap <= 0 if exists is None else np.asarray(exists, bool)
        rebound = e * (B @ velocity)
        rebound = np.where(gap < 0, np.minimum(rebound, bias), rebound)
        open_yet = np.maximum(bias, rebound)  # below e_n B v it would give the bodies energy
        bias = np.where(e > 0, np.where(formed, rebound, open_yet), bias)
    return bias
