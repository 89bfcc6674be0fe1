"""Singular values of dense matrices, also where LAPACK's divide and conquer gives up.

It does so on some finite matrices of bodies between contacts (LAPACK's ``gesdd``, info > 0); QR
iteration (``gesvd``) takes twice as long and ends.
"""

import numpy as np
import scipy.linalg


def svd(A: np.ndarray, *, full_matrices: bool = False):
    """(U, S, V^T) of A (m, n), as ``numpy.linalg.svd``."""
    try:
        return np.linalg.svd(A, full_matrices=full_matrices)
    except np.linalg.LinAlgError:
        return scipy.linalg.svd(A, full_matrices=full_matrices, lapack_driver="gesvd")
