"""Bodies between few contacts, in plain arrays: what ``mechanics.Bodies`` answers, without inertia.

The pattern of a sparse matrix takes longer to find than the equilibrium of a robot's contacts.
"""

import numpy as np
from scipy.linalg import lapack

from .mechanics import TIGHT


class DenseBodies:
    """B (m d, n) a plain array, rows contact by contact; g (n,); offset (m, d); ``shift`` holds
    motions that no contact resists; unit: of residuals."""

    def __init__(self, B, g, d: int, *, offset=None, shift=0.0, unit=1.0):
        self.B, self.BT, self.g, self.unit, self.shift = B, B.T, g, unit, shift
        self.shape = (len(B) // d, d)
        self.each = B.reshape(*self.shape, B.shape[1])
        self.offset = 0.0 if offset is None else offset

    def start(self, force):
        return np.zeros(self.B.shape[1])

    def size(self, r):
        return float(np.abs(r).max(initial=0.0)) / self.unit

    def displacement(self, x):
        return (self.B @ x).reshape(self.shape) + self.offset

    def change(self, dx):
        return (self.B @ dx).reshape(self.shape)

    def residual(self, x, force):
        return -self.g - self.BT @ force.ravel()

    def factorize(self, D):
        with np.errstate(over="ignore", invalid="ignore"):  # a path that lost its way
            K = self.BT @ (D @ self.each).reshape(self.B.shape)
        K.flat[:: len(K) + 1] += self.shift
        lu, pivots, wrong = lapack.dgetrf(K)
        if wrong > 0 or not np.isfinite(K).all():
            raise np.linalg.LinAlgError("singular matrix")

        def solve(r, b=None, accuracy=TIGHT):
            return lapack.dgetrs(lu, pivots, -r if b is None else self.BT @ b.ravel() - r)[0]

        return solve
