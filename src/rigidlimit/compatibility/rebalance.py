"""Refinement of the balance B^T f = F~ to rounding, by Newton steps in the forces.

In tall towers and soft packings u is so large that rounding of c = -B u alone unbalances the forces
f(c); a step D B d added to them, with B^T D B d = F~ - B^T f and D = df/dc, is not rounded so.
"""

from collections.abc import Callable

import numpy as np

from ..equilibrium.sums import WHOLE, Sums
from ..linear import Network

STEPS = 5
"""At most; each gains some ten digits where D is the tangent at the answer."""


def rebalanced(
    network: Network,
    force: np.ndarray,
    load: np.ndarray,
    D: np.ndarray,
    solve: Callable[[np.ndarray], np.ndarray],
    *,
    tolerance: float,
    at_least: int = 0,
    sums: Sums = WHOLE,
) -> tuple[np.ndarray, np.ndarray, float]:
    """(forces (m,), motion (n,), imbalance): the forces of the least imbalance |B^T f - F~|_inf.

    D (m,): zero where a contact is not active. solve(r): d with B^T D B d = r. at_least: steps
    to take even if the forces balance already. sums: over what other processes have too. motion:
    change of u by these steps.
    """
    best, moved, least = force, np.zeros(network.B.shape[1]), np.inf
    motion = moved
    for taken in range(STEPS + 1):
        missing = load - network.load_of(force)
        imbalance = sums.largest(missing)
        if taken >= at_least and imbalance < least:
            best, moved, least = force, motion, imbalance
        if least <= tolerance or taken == STEPS:
            break
        step = solve(missing)
        motion = motion - step
        force = np.maximum(force + D * (network.B @ step), 0.0)
    return best, moved, least
