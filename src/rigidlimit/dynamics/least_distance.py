"""Contact dynamics of a few bodies of very unlike mass, by nonnegative least squares.

Eq. 22 asks for the least change x = v+ - v_free, measured by M = L L^T, that closes no gap further
than it is open. With z = L^T x and G = B L^-T this is the least distance problem

    min |z|   subject to   G z >= -p,

whose multipliers are the impulses (``network/least_distance.py``). Masses eight decades apart, over
which iterations stall, do it no harm, but it costs a factorization a contact. It has no answer
where gaps cannot all be kept open, as between held bodies that overlap.
"""

import numpy as np

from ..network.least_distance import LARGEST, multipliers

SMALL = 10_000
"""Entries of B, zeros included, up to which this takes a few milliseconds and goes before all that
is left to try."""


def applies(problem, most: int = LARGEST) -> bool:
    """Whether the problem is small enough to be treated densely: of ``most`` entries."""
    return problem.B.shape[0] * problem.B.shape[1] <= most


def solve(problem) -> np.ndarray | None:
    """Contact forces (m,) [N], or None if the least squares do not end, or find no answer."""
    G = np.linalg.solve(np.linalg.cholesky(problem.mass.toarray()), problem.B.toarray().T)
    impulse = multipliers(G.T, -problem.p, float(np.abs(problem.p).max()))
    return None if impulse is None else impulse / problem.dt
