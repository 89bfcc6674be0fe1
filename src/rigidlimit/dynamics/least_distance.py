"""Contact dynamics of a few bodies of very unlike mass, by nonnegative least squares.

Eq. 22 asks for the least change x = v+ - v_free, measured by M = L L^T, that closes no gap further
than it is open. With z = L^T x and G = B L^-T this is the least distance problem

    min |z|   subject to   G z >= -p,

which C. Lawson and R. Hanson (Solving Least Squares Problems, ch. 23) turn into nonnegative least
squares, min over y >= 0 of |E y - e|, E = [G^T; -p^T], e = (0, ..., 0, 1); with its residual r the
impulses are l = -y / r_last. There |r|^2 = |r_last|; where gaps cannot all be kept open, as between
held bodies that overlap, r = 0 up to rounding. Dense and exact to rounding: masses eight decades
apart, over which iterations stall, do it no harm, but it costs a factorization a contact.
"""

import numpy as np
from scipy.optimize import nnls

LARGEST = 100_000
"""Entries of B, zeros included, up to which this is tried."""

SMALL = 10_000
"""The same, up to which this takes a few milliseconds and goes before all that is left to try."""

EXACT = 1e-3
"""Relative difference of |r|^2 and |r_last| up to which r is more than rounding."""


def applies(problem, most: int = LARGEST) -> bool:
    """Whether the problem is small enough to be treated densely: of ``most`` entries."""
    return problem.B.shape[0] * problem.B.shape[1] <= most


def solve(problem) -> np.ndarray | None:
    """Contact forces (m,) [N], or None if the least squares do not end, or find no answer."""
    G = np.linalg.solve(np.linalg.cholesky(problem.mass.toarray()), problem.B.toarray().T)
    size = np.abs(problem.p).max()
    E = np.vstack([G, -problem.p / size])
    target = np.zeros(len(E))
    target[-1] = 1.0
    try:
        y, length = nnls(E, target, maxiter=30 * E.shape[1])
    except RuntimeError:  # too many iterations
        return None
    rest = 1.0 - E[-1] @ y
    if not rest > 0.0 or abs(rest - length**2) > EXACT * rest:
        return None
    return y * size / (rest * problem.dt)
