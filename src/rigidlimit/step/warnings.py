"""Warnings about steps that can be computed, but probably are not what was intended.

Contact dynamics treats each contact as a plane that is fixed during the step, and lists all
bodies that a body may reach. A body that passes others by many of their diameters in one step makes
that list long, and bodies that would pass are held by planes. The warning proposes a time step. A
half-space is a plane, however far a body falls on it.

Overlaps of smooth bodies are undone within the step, at overlap/dt^2. Beside the accelerations that
the loads give bodies this is nothing where a pose is one of rigid bodies. At a pose from a DEM,
whose contacts press by their overlaps, it makes the forces.

Driven bodies do not stop for obstacles. Where rigid bodies have no room left to give way this ends
in a jam, whose forces have no physical meaning.

Each function returns the text of its warning, or "".
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._support.words import counted, listed
from ..bodies import Bodies
from ..collision.contacts import Contacts
from ..increments import IncrementResult
from ..status import Status

if TYPE_CHECKING:
    from .result import StepResult


@dataclass(frozen=True)
class Settings:
    """Thresholds of warnings.

    overlap: at the start, over the size of the smaller body. undone: overlap over the way that
    loads move a body in a step; forces count as uncertain from a thousandth of the largest on.
    off_balance: imbalance of a body after step 2 over its own load, well above that of bodies a
    thousand times lighter than the heaviest at the tolerance. way: of a body in a step, over the
    diameter of a smaller body within its reach; good_way: that of the time step proposed.

    rounding: overlap over the scene's length that is rounding of positions. free_flight:
    acceleration that contacts give a body over the largest of all bodies, below which it flies
    freely. along_axis: component of a normal below which it is rounding.
    """

    overlap: float = 0.01
    undone: float = 1e-3
    off_balance: float = 1e-5
    way: float = 2.0
    good_way: float = 0.5
    rounding: float = 1e-13
    free_flight: float = 1e-9
    along_axis: float = 1e-12


SETTINGS = Settings()

APART = "compute bodies of such unlike weight apart"


def overlap_at_the_start(
    bodies: Bodies, contacts: Contacts, dt: float, left: float | None = None
) -> str:
    """Of a deep overlap at the start, which contact dynamics removes in one step: an explosion.
    left [m]: the deepest one after bodies were moved apart instead, None where they were not."""
    if not len(contacts):
        return ""
    radius = bodies.bounding_radius[contacts.body].min(axis=1)
    # what is held along the normal stays: a platen in a wall that it slides along
    free = bodies.free[contacts.body]
    along = (free[:, :, :3] & (np.abs(contacts.normal) > SETTINGS.along_axis)[:, None, :]).any(
        axis=(1, 2)
    )
    yields = along | free[:, :, 3:].any(axis=(1, 2))
    deep = np.flatnonzero((-contacts.gap > SETTINGS.overlap * radius) & yields)
    if not len(deep):
        return ""
    worst = deep[np.argmin(contacts.gap[deep])]
    a, b = (bodies.names[i] for i in contacts.body[worst])
    depth, pairs = -contacts.gap[worst], len(np.unique(contacts.body[deep], axis=0))
    more = f" ({counted(pairs, 'pair')} in all)" if pairs > 1 else ""
    undone = f"the first step pushes them apart at {depth / dt:.3g} m/s"
    if left is not None:
        undone = "they are moved apart before the first step, without forces"
        if left > SETTINGS.overlap * radius[deep].min():
            undone += f", but for {left:.3g} m, where they have no room"
    return (
        f"bodies {a!r} and {b!r} overlap by {depth:.3g} m at the start{more}; {undone}; check "
        "positions, sizes and units (SI)"
    )


def overlaps_make_forces(
    bodies: Bodies, result: "StepResult", external_force: np.ndarray, speed: np.ndarray
) -> str:
    """Of a step whose forces undo overlaps of its bodies: not of rough ones, whose overlaps make
    none.

    external_force (6 n,) [N]. speed (n,) [m/s]: of each body before the step and the one before it,
    whichever is more: bodies that move overlap by the second order of their way.
    """
    contacts, dt = result.contacts, result.dt
    if not len(contacts) or isinstance(result.classic, IncrementResult):
        return ""
    undone = np.clip(result.end_gap - contacts.gap, 0.0, np.maximum(-contacts.gap, 0.0))
    undone = np.where(result.classic.force > 0.0, undone, 0.0)
    fall = largest_pull(bodies, external_force) * dt**2
    own = speed[contacts.body].sum(axis=1) * dt
    reported = undone > SETTINGS.undone * fall + own + SETTINGS.rounding * bodies.length
    if not reported.any():
        return ""
    worst = int(np.where(reported, undone, 0.0).argmax())
    a, b = (bodies.names[i] for i in contacts.body[worst])
    return (
        f"bodies {a!r} and {b!r} overlap by {undone[worst]:.3g} m, which the step undoes at "
        f"overlap/dt^2 = {undone[worst] / dt**2:.3g} m/s^2, beside {fall / dt**2:.3g} m/s^2 of the "
        "loads: its forces are partly those that undo overlaps; for the forces of a pose that "
        "rests by its overlaps, as of a DEM, use rigidlimit.forces_at_pose (rigidlimit forces "
        "SCENE), or a larger dt"
    )


def left_unbalanced(bodies: Bodies, result: "StepResult") -> str:
    """Of bodies whose own load the forces of step 2 do not balance accurately.

    Forces are solved to a fraction of the largest of all; beside bodies of 1e12 times the weight
    that is more than the weight of a light one. For a body that is pressed by far more than its
    load, the rounding of these forces is reported instead: no more accurate ones exist.
    """
    if result.compatible is None:
        return ""
    loads, left = (_pull(bodies, x) for x in (result.load, result.compatible.imbalance))
    pressed = np.zeros(len(bodies))
    np.add.at(pressed, result.contacts.body, result.classic.force[:, None])
    # what flies freely has no load but the rounding of its contacts
    given = np.divide(loads, bodies.mass, where=bodies.mass > 0, out=np.zeros(len(bodies)))
    loaded = given > SETTINGS.free_flight * given.max(initial=0.0)
    digits = np.finfo(float).eps * pressed
    squeezed = loads <= SETTINGS.undone * pressed
    parts = []
    off = np.divide(left, loads, where=loaded & ~squeezed, out=np.zeros(len(bodies)))
    if off.max(initial=0.0) > SETTINGS.off_balance:
        names, worst = _worst(bodies, off)
        parts.append(
            f"forces on {names} are "
            f"off by up to {100 * off[worst]:.3g} % of the body's own load: forces elsewhere are "
            f"{result.force.max() / loads[worst]:.1g} times that, and known to their own "
            f"rounding; {APART}"
        )
    # a load below the digits of the forces is rounding itself
    reported = loaded & squeezed & (loads > 4.0 * digits)
    open_ = np.divide(digits, loads, where=reported, out=np.zeros(len(bodies)))
    if open_.max(initial=0.0) > SETTINGS.off_balance:
        names, worst = _worst(bodies, open_)
        parts.append(
            f"forces on {names} are {pressed[worst] / loads[worst]:.1g} times the body's own load: "
            f"their sum is known to {100 * open_[worst]:.1g} % of it, because of rounding; "
            f"{APART}"
        )
    return "; ".join(parts)


def _pull(bodies: Bodies, load: np.ndarray) -> np.ndarray:
    """Force (n,) [N] that a load (6 n,) has on each body along its free directions."""
    free = bodies.free[:, :3]
    return np.linalg.norm(np.where(free, load.reshape(-1, 6)[:, :3], 0.0), axis=1)


def _worst(bodies: Bodies, off: np.ndarray) -> tuple[str, int]:
    """Names of the bodies that are off by more than is reported, worst first; index of the
    worst."""
    order = np.argsort(-off, kind="stable")
    return listed([bodies.names[i] for i in order if off[i] > SETTINGS.off_balance]), int(order[0])


def largest_pull(bodies: Bodies, external_force: np.ndarray) -> float:
    """Largest acceleration [m/s^2] that external forces (6 n,) give a body that can move."""
    mass = np.where((bodies.mass > 0) & bodies.free.any(axis=1), bodies.mass, np.inf)
    held = np.where(bodies.free.ravel(), external_force, 0.0).reshape(-1, 6)[:, :3]
    return float((np.linalg.norm(held, axis=1) / mass).max(initial=0.0))


def long_way(bodies: Bodies, contacts: Contacts, way: np.ndarray, dt: float) -> str:
    """Of a body whose way (n,) [m] in a step of ``dt`` is many diameters of another that it is
    listed with."""
    if not len(contacts) or way.max() <= SETTINGS.way * 2.0 * bodies.bounding_radius.min():
        return ""
    size = 2.0 * bodies.bounding_radius[contacts.body]
    least = np.where(np.isfinite(size).all(axis=1), size.min(axis=1), np.inf)
    passed = way[contacts.body].max(axis=1) / least
    worst = int(passed.argmax())
    if not passed[worst] > SETTINGS.way:
        return ""
    pair = contacts.body[worst]
    moves = pair[way[pair].argmax()]
    small = bodies.names[pair[size[worst].argmin()]]
    itself = small == bodies.names[moves]
    against = "its own size" if itself else f"the size of {small!r}, which it may meet"
    proposed = _rounded_down(SETTINGS.good_way * dt / passed[worst])
    return (
        f"body {bodies.names[moves]!r} moves by {way[moves]:.3g} m in a step of {dt:g} s, "
        f"{passed[worst]:.3g} times {against}, {least[worst]:.3g} m; such steps list all that "
        f"bodies may reach (now {counted(len(contacts), 'contact')}), can take minutes, and hold "
        f"bodies that would pass; take dt = {proposed:g} s or less while it is that fast, or a "
        "smaller load or speed"
    )


def driven_into_a_jam(bodies: Bodies, result: "StepResult") -> str:
    """Of a step that is jammed by driven bodies: a wall that moves into a packing that has no room
    left. Rigid bodies do not give way."""
    if result.classic.status is not Status.JAMMED:
        return ""
    moved = np.where(bodies.free, 0.0, result.state.velocity).any(axis=1)
    touched = np.zeros(len(bodies), bool)
    touched[result.contacts.body] = True
    if bodies.cell is not None:
        touched[-1] = True
    driven = np.flatnonzero(moved & touched)
    if not len(driven):
        return ""
    are = "is" if len(driven) == 1 else "are"
    names = listed([bodies.names[i] for i in driven])
    return (
        f"the step to t = {result.time:.6g} s is jammed: {names} {are} driven on, and rigid bodies "
        "have no room left to give way; they overlap from here on, and forces there are "
        "meaningless; stop the driven body earlier, or let a load move it: a body that is free "
        "along one axis"
    )


def _rounded_down(x: float) -> float:
    """To one digit."""
    digit = 10.0 ** np.floor(np.log10(x))
    return float(np.floor(x / digit) * digit)
