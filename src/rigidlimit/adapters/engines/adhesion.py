"""Contacts that adhere.

A contact with adhesion d >= 0 [N] pulls with up to d before it parts. Its force f >= -d is net of
adhesion, as engines report it. Contact laws without tension and cones of friction apply to the
pressing force c = f + d >= 0. A spring that is without force where bodies touch holds in tension as
in pressure:

    f + d = k o^(p-1),   o = overlap - gap,   gap = -(d / k)^(1/(p-1))

so that f = 0 without displacements, and glue that nothing pulls changes no force.
"""

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.words import counted
from ...errors import InputError
from .tolerances import TOLERANCES


def checked_adhesion(adhesion: ArrayLike, m: int) -> np.ndarray:
    """(m,) [N] of a number or one a contact. Raises InputError for negative ones."""
    adhesion = arrays.vector("adhesion", adhesion, m, what="row of B")
    if (adhesion < 0.0).any():
        raise InputError(f"adhesion is {adhesion.min():.6g}; expected largest pulls >= 0")
    return adhesion


def slack(adhesion: np.ndarray, stiffness: np.ndarray, exponent: float) -> np.ndarray | None:
    """``gap`` (m,) above; None where nothing adheres."""
    if not adhesion.any():
        return None
    return -((adhesion / stiffness) ** (1.0 / (exponent - 1.0)))


def without_pulls(
    force: np.ndarray | None, adhesion: np.ndarray, powerless: np.ndarray, row: np.ndarray | None
) -> np.ndarray | None:
    """Forces (m,) of an engine, none that pull by more than ``adhesion``; None where not known.

    powerless (m,) bool: contacts that push on nothing; row (m,): their numbers. Raises InputError
    for pulls that are more than rounding.
    """
    if force is None:
        return None
    worst, count = _worst_pull(force + adhesion, powerless, TOLERANCES.pull)
    if count:
        raise InputError(
            f"engine_force of contact {worst if row is None else row[worst]} is "
            f"{force[worst]:.6g}, a pull ({count} of {len(force)} pull); expected f >= 0, or "
            f"f >= -adhesion (here {adhesion[worst]:.6g}): check the sign convention"
        )
    return np.maximum(force, -adhesion)


def said_of(adhesion: np.ndarray) -> Iterator[str]:
    """Note on adhesion (m,), if there is any."""
    count = int((adhesion > 0.0).sum())
    if count:
        yield (
            f"adhesion at {counted(count, 'contact')}, up to {adhesion.max():.6g} N each: forces "
            "are net of it (a pull is negative), friction is bounded by mu (force + adhesion)"
        )


@njit(cache=True)
def _worst_pull(force, powerless, least):
    """Contact that pulls most, and how many pull by more than ``least`` of the largest force of
    those that push on something."""
    largest, worst, count = 0.0, 0, 0
    for i in range(len(force)):
        if not powerless[i]:
            largest = max(largest, abs(force[i]))
    for i in range(len(force)):
        if force[i] < -least * largest:
            count += 1
            worst = i if count == 1 or force[i] < force[worst] else worst
    return worst, count
