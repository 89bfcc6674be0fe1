"""Factorizations by libraries: LAPACK for small stiffness matrices, SuperLU for the others.

SuperLU is used where there is no order for ``multifrontal.py`` (pymetis is not installed), and
where a matrix is not positive definite to rounding: it allows pivots of any sign.
"""

import numpy as np
import scipy.sparse as sp

LIFTS = 0.0, 1e-13, 1e-10
"""Tried in turn where a pivot is lost to rounding: all are lifted by this part of the largest."""


class LUFactor:
    """K = P^T L U P of a symmetric positive definite K, by SuperLU."""

    route, single_precision = "superlu", False

    def __init__(self, K: sp.csr_array, order: np.ndarray | None):
        from scipy.sparse.linalg import splu

        self.order = np.arange(K.shape[0]) if order is None else order
        permuted = sp.csc_array(K if order is None else K[order][:, order])
        # symmetric positive definite: pivots stay on the diagonal
        options = dict(
            permc_spec="MMD_AT_PLUS_A" if order is None else "NATURAL",
            diag_pivot_thresh=0.0,
            options=dict(SymmetricMode=True),
        )
        top = float(np.abs(permuted.diagonal()).max(initial=0.0))
        for lift in LIFTS:
            try:
                lifted = permuted + lift * top * sp.eye_array(K.shape[0]) if lift else permuted
                self.lu = splu(sp.csc_array(lifted), **options)
                return
            except RuntimeError:
                continue
        self.lu = None  # K is zero or not finite: the answer is no number, as of any such system

    @property
    def entries(self) -> int:
        return 0 if self.lu is None else self.lu.nnz

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        if self.lu is None:
            return np.full_like(rhs, np.nan)
        x = np.empty_like(rhs)
        x[self.order] = self.lu.solve(rhs[self.order])
        return x


class DenseFactor:
    """K = L L^T of a small symmetric positive definite K (n, n), by LAPACK."""

    route, single_precision = "dense", False

    def __init__(self, K: np.ndarray):
        from scipy.linalg.lapack import dpotrf

        top = float(np.abs(K.diagonal()).max(initial=0.0))
        for lift in LIFTS:
            lifted = K + lift * top * np.eye(len(K)) if lift else K
            self.L, failed = dpotrf(lifted, lower=1, clean=0)
            if not failed:
                return
        raise np.linalg.LinAlgError("matrix is not positive definite")

    @property
    def entries(self) -> int:
        return self.L.size

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        from scipy.linalg.lapack import dpotrs

        return dpotrs(self.L, rhs, lower=1)[0]
