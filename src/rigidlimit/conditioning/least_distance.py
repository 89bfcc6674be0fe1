"""Least distance programming: the shortest vector in a polyhedron, dense and exact to rounding.

    min |z|   subject to   G z >= low

C. Lawson and R. Hanson (Solving Least Squares Problems, ch. 23) turn it into nonnegative least
squares, min over y >= 0 of |E y - e|, E = [G^T; low^T], e = (0, ..., 0, 1); with the last entry
rest of e - E y the multipliers are l = y / rest, and z = G^T l. There |e - E y|^2 = rest; where
nothing satisfies the inequalities both are 0 up to rounding.
"""

import numpy as np
from scipy.optimize import nnls

from .tolerances import TOLERANCES


def multipliers(G: np.ndarray, low: np.ndarray, size: float) -> np.ndarray | None:
    """l >= 0 (m,) of the inequalities, where z = G^T l; or None if none is found.

    G (m, n), low (m,). size: of |z|, about; e is measured by it.
    """
    E = np.vstack([G.T, low / size])
    target = np.zeros(len(E))
    target[-1] = 1.0
    try:
        y, length = nnls(E, target, maxiter=30 * E.shape[1])
    except RuntimeError:  # too many iterations
        return None
    rest = 1.0 - E[-1] @ y
    if not rest > 0.0 or abs(rest - length**2) > TOLERANCES.solved * rest:
        return None
    return y * size / rest
