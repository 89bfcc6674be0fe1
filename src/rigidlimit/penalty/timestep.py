"""Critical time step of the penalty method.

Velocity Verlet with damping taken at the half step is the leapfrog

    M (x+ - 2 x + x-)/h^2 + K x + C (x - x-)/h = 0,   K = B^T diag(k_t) B,  C = B^T diag(gamma) B,

which is stable if and only if 4 M - h^2 K - 2 h C is positive definite. With L_K and L_C the
largest eigenvalues of M^-1 K and M^-1 C that holds for every h with h^2 L_K + 2 h L_C < 4:

    h_crit = (sqrt(L_C^2 + 4 L_K) - L_C) / L_K,

which is sharp where gamma is proportional to k_t, as for equal spheres, and safe elsewhere. One
undamped contact gives the usual 2/w. K and C count every contact of the list as closed: the more
contacts, the larger the eigenvalues, so that contacts that are about to close cannot surprise.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Settings:
    """Of Lanczos for the largest eigenvalue: packings take some 16 steps to ``open``, and 40 to all
    digits.

    steps: most steps.
    look: steps between two looks at the eigenvalue reached.
    open: part of it that may be open when the search ends: it is added, and the step chosen is a
        fifth below the critical one.
    """

    steps: int = 40
    look: int = 4
    open: float = 1e-2


SETTINGS = Settings()


def critical_step(
    B: sp.csr_array, inverse_mass: np.ndarray | sp.csr_array, tangent: np.ndarray, gamma: np.ndarray
) -> float:
    """h_crit [s]; inf without contacts.

    B (m, n): gap gradient. inverse_mass: M^-1 as a sparse matrix (n, n) or its diagonal (n,).
    tangent (m,) [N/m]. gamma (m,) [N s/m].
    """
    if not sp.issparse(inverse_mass):
        inverse_mass = sp.diags_array(inverse_mass)
    response = sp.csr_array(B @ inverse_mass)
    BT = sp.csr_array(B.T)
    return critical_step_of(lambda x: response @ (BT @ x), tangent, gamma)


def critical_step_of(
    response: Callable[[np.ndarray], np.ndarray], tangent: np.ndarray, gamma: np.ndarray
) -> float:
    """h_crit [s]; inf without contacts. response: x (m,) -> B M^-1 B^T x (m,)."""
    if len(tangent) == 0:
        return np.inf
    L_K = _largest(response, tangent)
    if L_K == 0:
        return np.inf
    ratio = gamma / np.where(tangent > 0, tangent, 1.0)
    proportional = np.ptp(ratio) <= 1e-9 * ratio.max(initial=0.0)
    L_C = ratio[0] * L_K if proportional else _largest(response, gamma)
    return float((np.sqrt(L_C**2 + 4 * L_K) - L_C) / L_K)


def _largest(response, weight) -> float:
    """Largest eigenvalue of W B M^-1 B^T W, W = sqrt(weight), by Lanczos plus its residual."""
    root = np.sqrt(weight)
    m = len(root)
    q = np.random.default_rng(0).normal(size=m)
    q /= np.linalg.norm(q)
    before, beta = np.zeros(m), 0.0
    diagonal, off = [], []
    for k in range(1, min(SETTINGS.steps, m) + 1):
        w = root * response(root * q) - beta * before
        alpha = float(q @ w)
        w -= alpha * q
        beta = float(np.linalg.norm(w))
        diagonal.append(alpha)
        off.append(beta)
        if beta <= 1e-12 * max(diagonal):
            break
        if k % SETTINGS.look == 0:
            value, open_ = _reached(diagonal, off)
            if open_ <= SETTINGS.open * value:
                break
        before, q = q, w / beta
    return sum(_reached(diagonal, off))


def _reached(diagonal, off) -> tuple[float, float]:
    """(largest eigenvalue so far, its residual)."""
    tridiagonal = np.diag(diagonal) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1)
    value, vector = np.linalg.eigh(tridiagonal)
    return float(value[-1]), float(off[-1] * abs(vector[-1, -1]))
