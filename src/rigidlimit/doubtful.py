"""Warnings of steps that can be computed, but hardly are what was meant.

Contact dynamics takes each contact for a plane that stays where it is in the step, and lists all
bodies that the way of a body may reach. Of a body that passes others by many of their diameters in
one step the list is long, and bodies that would pass are held by planes: that is told, with a time
step that would do. A half-space is a plane, however far a body falls on it.

What is driven goes on whatever it meets. Where rigid bodies have no room left to give way it ends
in a jam, whose forces are those of no limit.
"""

import warnings

import numpy as np

from .bodies import Bodies
from .collision.contacts import Contacts
from .errors import SceneWarning
from .status import Status
from .words import counted, listed

OVERLAP = 0.01
"""Overlap at the start over the size of the smaller body, above which a scene is doubtful."""

HELD = 1e-12
"""Part of a normal up to which it does not point along an axis, but for rounding."""

WAY, GOOD_WAY = 2.0, 0.5
"""Way of a body in a step over the diameter of a smaller body within its reach, above which a step
is doubtful; and that of the time step that is proposed."""


def overlap_at_the_start(bodies: Bodies, contacts: Contacts, dt: float) -> str:
    """Contact dynamics removes an overlap in one step: a deep one at the start is an explosion.
    What is told of it, or ""."""
    if not len(contacts):
        return ""
    radius = bodies.bounding_radius[contacts.body].min(axis=1)
    # what is held along the normal stays: a platen in a wall that it slides along
    free = bodies.free[contacts.body]
    along = (free[:, :, :3] & (np.abs(contacts.normal) > HELD)[:, None, :]).any(axis=(1, 2))
    yields = along | free[:, :, 3:].any(axis=(1, 2))
    deep = np.flatnonzero((-contacts.gap > OVERLAP * radius) & yields)
    if not len(deep):
        return ""
    worst = deep[np.argmin(contacts.gap[deep])]
    a, b = (bodies.names[i] for i in contacts.body[worst])
    depth, pairs = -contacts.gap[worst], len(np.unique(contacts.body[deep], axis=0))
    more = f" ({counted(pairs, 'pair')} in all)" if pairs > 1 else ""
    return (
        f"bodies {a!r} and {b!r} overlap by {depth:.3g} m at the start{more}; the first step "
        f"pushes them apart at {depth / dt:.3g} m/s; check positions, sizes and units (SI)"
    )


def long_way(bodies: Bodies, contacts: Contacts, way: np.ndarray, dt: float) -> str:
    """What is told of a body whose way (n,) [m] in a step of ``dt`` is many diameters of another
    that it is listed with, or ""."""
    if not len(contacts) or way.max() <= WAY * 2.0 * bodies.bounding_radius.min():
        return ""
    size = 2.0 * bodies.bounding_radius[contacts.body]
    least = np.where(np.isfinite(size).all(axis=1), size.min(axis=1), np.inf)
    passed = way[contacts.body].max(axis=1) / least
    worst = int(passed.argmax())
    if not passed[worst] > WAY:
        return ""
    pair = contacts.body[worst]
    moves = pair[way[pair].argmax()]
    small = bodies.names[pair[size[worst].argmin()]]
    itself = small == bodies.names[moves]
    against = "its own size" if itself else f"the size of {small!r}, which it may meet"
    proposed = _rounded_down(GOOD_WAY * dt / passed[worst])
    return (
        f"body {bodies.names[moves]!r} moves by {way[moves]:.3g} m in a step of {dt:g} s, "
        f"{passed[worst]:.3g} times {against}, {least[worst]:.3g} m; such steps list all that "
        f"bodies may reach (now {counted(len(contacts), 'contact')}), can take minutes, and hold "
        f"bodies that would pass; take dt = {proposed:g} s or less while it is that fast, or a "
        "smaller load or speed"
    )


def driven_into_a_jam(bodies: Bodies, result) -> str:
    """What is told of a step (``StepResult``) that is jammed by bodies that are driven, or "": a
    wall that goes on into a packing without room left. Rigid bodies do not give way."""
    if result.classic.status is not Status.JAMMED:
        return ""
    moved = np.where(bodies.free, 0.0, result.state.velocity).any(axis=1)
    touched = np.zeros(len(bodies), bool)
    touched[result.contacts.body] = True
    driven = np.flatnonzero(moved & touched)
    if not len(driven):
        return ""
    are = "is" if len(driven) == 1 else "are"
    names = listed([bodies.names[i] for i in driven])
    return (
        f"the step to t = {result.time:.6g} s is jammed: {names} {are} driven on, and rigid bodies "
        "have no room left to give way; they overlap from here on, and forces there tell nothing; "
        "stop what is driven before, or let a load move it: a body that is free along one axis"
    )


def warn(told: str, stacklevel: int) -> None:
    """``told`` as a SceneWarning."""
    warnings.warn(told, SceneWarning, stacklevel=stacklevel + 1)


def _rounded_down(x: float) -> float:
    """To one digit."""
    digit = 10.0 ** np.floor(np.log10(x))
    return float(np.floor(x / digit) * digit)
