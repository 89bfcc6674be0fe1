"""The stiff limit of an increment, beyond what rounding of velocities allows.

Contacts s times as stiff as inertia give way by velocities of about 1/s. B v has them only up to
rounding of v, which bounds s where bodies move. So v is split,

    v = v_r + e,        B v_r + rigid = 0 in the rows of contacts that stay closed or stick,

of rigid bodies and of what the springs give way by: w = B e + lead in these rows is as exact as e
is.
"""

import numpy as np

from ..equilibrium.mechanics import Mechanics
from .problem import Increment, Springs

ROUNDING = 4 * np.finfo(float).eps
"""Of a contact's velocity, in parts of the sum of its terms' sizes."""

HOLDS = 1e10
"""How many times as stiff as inertia the rows are that find v_r: a correction leaves the
inverse."""

CORRECTIONS = 6

STICKS = 1.0 - 1e-9
"""Tangential force over mu f_n up to which a contact sticks."""


def rounding(increment: Increment, s: float, velocity: np.ndarray) -> float:
    """Residual that rounding of the contacts' velocities makes at this stiffness."""
    terms = (abs(increment.rows) @ np.abs(velocity)).reshape(increment.shape).max(axis=1)
    relative = increment.slopes(s) / increment.rho
    return ROUNDING * float((relative * terms).max(initial=0.0)) / increment.scale


def beyond_rounding(
    increment: Increment,
    springs: Springs,
    velocity: np.ndarray,
    force: np.ndarray,
    tolerance: float,
) -> tuple[Mechanics, np.ndarray] | None:
    """(mechanics in the unknowns weight * e, a start) at these springs, from the velocity (n,) and
    forces (m, d) at softer ones. None where no v_r closes all gaps, to rounding or to what changes
    forces by the tolerance."""
    held = _held(springs.law.friction, force)
    off = held * (increment.contact_velocity(velocity) - increment.driven + springs.rigid)
    terms = (abs(increment.rows) @ np.abs(velocity)).reshape(off.shape) + np.abs(springs.rigid)
    slight = max(ROUNDING * terms.max(initial=0.0), tolerance * increment.scale / springs.s)
    mechanics, k = increment.mechanics, HOLDS * increment.rho[:, None]
    solve = mechanics.factorize(k[:, :, None] * held[:, :, None] * np.eye(off.shape[1]))
    e = np.zeros(len(velocity))
    for _ in range(CORRECTIONS):
        left = off - held * mechanics.change(e)
        if np.abs(left).max(initial=0.0) <= slight:
            break
        e = e + solve(np.zeros(len(e)), k * left)
    else:
        return None
    rigid = increment.weight * velocity - e
    moves = np.where(held, 0.0, mechanics.change(rigid) + springs.rigid)
    return mechanics.beyond(rigid).shifted(-(moves + springs.lead)), e


def _held(friction: np.ndarray, force: np.ndarray) -> np.ndarray:
    """(m, d) bool: normal rows of contacts that bear, tangential ones of those that stick."""
    held = np.zeros(force.shape, bool)
    held[:, 0] = force[:, 0] > 0.0
    tangential = np.linalg.norm(force[:, 1:], axis=1)
    held[:, 1:] = (held[:, 0] & (tangential < STICKS * friction * force[:, 0]))[:, None]
    return held
