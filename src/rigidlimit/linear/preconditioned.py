"""Conjugate gradients with a factor of nearly the same matrix as preconditioner.

Factors that are kept in single precision (``multifrontal.py``) leave a part c of the error in the
energy norm |e|_K in every step, c = 1e-5 to 1e-4. The error is estimated without another step.
Steps take sqrt(a r.z) each away from it, as legs of right angles (M. R. Hestenes, E. Stiefel,
1952): c is the ratio of two, and |x|_K the hypotenuse of all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Settings:
    """Where conjugate gradients with a factor end.

    rounded: error in |x|_K below which steps that no longer fall are rounding.
    slow: parts of the error that stay beyond which what is left is not known.
    """

    rounded: float = 1e-6
    slow: float = 0.99


SETTINGS = Settings()


@dataclass(frozen=True)
class Solved:
    """x (n,), products with K, and the remaining error over |x|_K, estimated from the steps.

    The error is NaN where K or the preconditioner is not positive definite, and x as well where the
    preconditioner is singular.
    """

    x: np.ndarray
    steps: int
    error: float


def solve(
    product: Callable,
    precondition: Callable,
    rhs: np.ndarray,
    *,
    accuracy: float | None = 0.0,
    enough: float = 0.0,
    most: int,
    near: bool = True,
) -> Solved:
    """x with K x = rhs to ``accuracy`` of |x|_K, or |K x - rhs|_inf <= enough, in ``most`` steps.

    product(x): K x. precondition(r): nearly K^-1 r. near: whether steps that no longer fall are
    rounding, as with a preconditioner of nearly K; others come and go.
    """
    x, r, d = np.zeros_like(rhs), rhs, np.zeros_like(rhs)
    before, taken, error = np.inf, [], np.inf
    while np.abs(r).max(initial=0.0) > enough and len(taken) < most:
        z = precondition(r)
        now = float(r @ z)
        if not np.isfinite(now):
            return Solved(np.full_like(rhs, np.nan), len(taken), np.nan)
        d = z + now / before * d
        q = product(d)
        curvature = float(d @ q)
        if not (curvature > 0.0 and now >= 0.0):
            return Solved(x, len(taken), np.nan)
        length = now / curvature
        x, r, before = x + length * d, r - length * q, now
        taken.append(np.sqrt(length * now))
        error = _left(taken) / np.linalg.norm(taken)
        if error <= accuracy or (near and error < SETTINGS.rounded and taken[-1] >= taken[-2]):
            break
    return Solved(x, len(taken), error if rhs.any() else 0.0)


def _left(taken) -> float:
    """|e|_K after steps that reduced it by so much each, if that continues."""
    if len(taken) < 2:
        return np.inf
    stays = min(taken[-1] / taken[-2], SETTINGS.slow)
    return taken[-1] * stays / np.sqrt(1.0 - stays**2)
