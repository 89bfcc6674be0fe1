"""The stiff limit of an increment, beyond what rounding of velocities allows.

Contacts s times as stiff as inertia give way by velocities of about 1/s. B v has them only up to
rounding of v, which bounds s where bodies move. So v is split,

    v = v_r + e,        B v_r + rigid = 0 in the rows of contacts that stay closed or stick,

of rigid bodies and of what the springs give way by: w = B e + lead in these rows is as exact as e
is.
"""

from dataclasses import dataclass

import numpy as np

from ..equilibrium.mechanics import Mechanics
from .problem import GIVES, Increment, Springs

ROUNDING = 4 * np.finfo(float).eps
"""Of a contact's velocity, in parts of the sum of its terms' sizes."""

HOLDS = 1e10
"""How many times as stiff as inertia the rows are that find v_r: a correction leaves the
inverse."""

ACCURACY = 1e-4
"""Of a correction's linear system, where that is solved by iteration."""

CORRECTIONS = 10

NEARER = 0.1
"""Imbalance of bodies at rest over that of moving ones below which they are taken to be at rest:
what a body rolls by has rounding that springs feel."""

STICKS = 1.0 - 1e-9
"""Tangential force over mu f_n up to which a contact sticks."""


@dataclass(frozen=True)
class Split:
    """mechanics: of the unknowns weight * e. rigid (n,): weight * v_r. start (n,): of the
    unknowns."""

    mechanics: Mechanics
    rigid: np.ndarray
    start: np.ndarray


def rounding(increment: Increment, s: float, velocity: np.ndarray) -> float:
    """Residual that rounding of the contacts' velocities makes at this stiffness."""
    terms = _terms(increment, velocity).max(axis=1)
    relative = increment.slopes(s) / increment.rho
    return ROUNDING * float((relative * terms).max(initial=0.0)) / increment.scale


def rests(increment: Increment, velocity: np.ndarray, s: float, part: float = 1.0) -> bool:
    """Whether no body moves, nor rolls, by much more than springs at s give way by, at this part of
    the contacts."""
    terms = _terms(increment, velocity).max(axis=1)
    return bool(np.quantile(terms, part) <= GIVES * increment.scale / s) if len(terms) else True


def beyond_rounding(
    increment: Increment,
    springs: Springs,
    velocity: np.ndarray,
    force: np.ndarray,
    *,
    part: float,
    tolerance: float,
) -> Split | None:
    """At these springs, from the velocity (n,) and forces (m, d) at softer ones.

    part: of what springs give way by there, with which they begin here; 0 where the velocity and
    the forces are those of the step before, at these springs. v_r is zero where that is much nearer
    to balance: of bodies at rest, whose contacts slide and open by what springs give way by. None
    where no v_r closes all gaps, to rounding or to what changes forces by the tolerance.
    """
    s = (part or 1.0) * springs.s
    held = _held(increment, springs, velocity, force, s)
    terms = _terms(increment, velocity) + np.abs(springs.rigid)
    slight = max(ROUNDING * terms.max(initial=0.0), tolerance * increment.scale / springs.s)
    still = np.abs(held * springs.rigid).max(initial=0.0) <= slight
    at_rest = _about(increment, springs, velocity, held, increment.weight * velocity, part)
    if still and rests(increment, velocity, s):
        return at_rest
    e = _what_springs_give(increment, springs.rigid, velocity, held, slight)
    if e is None:
        return at_rest if still else None
    moving = _about(increment, springs, velocity, held, e, part)

    def imbalance(split: Split) -> float:
        answer, _ = springs.law.respond(split.mechanics.displacement(split.start))
        return float(np.linalg.norm(split.mechanics.residual(split.start, answer)))

    return at_rest if still and imbalance(at_rest) < NEARER * imbalance(moving) else moving


def _what_springs_give(
    increment: Increment, rigid: np.ndarray, velocity: np.ndarray, held: np.ndarray, slight: float
) -> np.ndarray | None:
    """weight * e (n,) with B (v - e) + rigid = 0 in the rows ``held`` (m, d), to ``slight``; None
    if there is none."""
    off = held * (increment.contact_velocity(velocity) - increment.driven + rigid)
    mechanics, k = increment.mechanics, HOLDS * increment.rho[:, None]
    solve = mechanics.factorize(k[:, :, None] * held[:, :, None] * np.eye(off.shape[1]))
    e = np.zeros(len(velocity))
    for _ in range(CORRECTIONS):
        left = off - held * mechanics.change(e)
        if np.abs(left).max(initial=0.0) <= slight:
            return e
        e = e + solve(np.zeros(len(e)), k * left, ACCURACY)
    return None


def _about(
    increment: Increment,
    springs: Springs,
    velocity: np.ndarray,
    held: np.ndarray,
    e: np.ndarray,
    part: float,
) -> Split:
    """In velocities less v_r = v - e, which has nothing in the rows ``held``."""
    rigid = increment.weight * velocity - e
    moves = np.where(held, 0.0, increment.mechanics.change(rigid) + springs.rigid)
    return Split(
        increment.mechanics.beyond(rigid).shifted(-(moves + springs.lead)), rigid, part * e
    )


def _terms(increment: Increment, velocity: np.ndarray) -> np.ndarray:
    """Sums (m, d) [m/s] of the sizes of the terms of B v."""
    return (abs(increment.rows) @ np.abs(velocity)).reshape(increment.shape)


def _held(
    increment: Increment, springs: Springs, velocity: np.ndarray, force: np.ndarray, s: float
) -> np.ndarray:
    """(m, d) bool: normal rows of active contacts, and tangential ones of those that stick or slip
    by what springs at s give way by."""
    held = np.zeros(force.shape, bool)
    held[:, 0] = force[:, 0] > 0.0
    tangential = np.linalg.norm(force[:, 1:], axis=1)
    sticks = tangential < STICKS * springs.law.friction * force[:, 0]
    slip = increment.contact_velocity(velocity)[:, 1:]
    slow = np.linalg.norm(slip, axis=1) <= GIVES * increment.scale / s
    held[:, 1:] = (held[:, 0] & (sticks | slow))[:, None]
    return held
