"""Friction forces of an engine whose normal forces are mended: kept and checked, or refused.

Only normal forces are mended; the tangential forces f_t stay as the engine has them, a
given load: B_n^T f_n is kept, B_t^T f_t is not touched, so the balance holds as before. That is
one choice among the engine's many (f_t has its own indeterminacy), and it is wrong, and refused
unless ``on_friction="keep"``, where Coulomb's law would break:
- |f_t| > mu f_n after mending: the contact could not hold;
- a contact that slides, |f_t| = mu f_n before, whose f_n changes: its f_t would have to change.
An unchanged normal force breaks nothing that the engine had not broken itself.

With ``on_friction="move"`` friction forces are moved to where the law holds: see ``moved``.
"""

import numpy as np

from ..errors import InputError
from ..words import counted

ON_FRICTION = ("refuse", "keep", "move")
CONES = {"elliptic": 2, "pyramid": 1, "box": np.inf}
"""Norm of f_t / mu that the engine bounds by f_n."""


def tangential_forces(tangential, friction, m):
    """Both (m, k); friction nan where it is not given."""
    tangential = _numbers("tangential", np.zeros((m, 0)) if tangential is None else tangential)
    if tangential.ndim != 2 or len(tangential) != m or not np.isfinite(tangential).all():
        raise InputError(
            f"tangential has shape {tangential.shape}; expected ({m}, k), finite, one row a contact"
        )
    friction = _numbers("friction", np.full(m, np.nan) if friction is None else friction)
    if (friction < 0).any():
        raise InputError(f"friction is {np.nanmin(friction):.6g}; expected coefficients >= 0")
    friction = friction[:, None] if friction.ndim == 1 else friction
    try:
        return tangential, np.broadcast_to(friction, tangential.shape)
    except ValueError:
        raise InputError(
            f"friction has shape {friction.shape}; expected ({m},) or {tangential.shape}"
        ) from None


def _numbers(name, value):
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is no array of numbers; expected rows alike") from None


def holding(force, tangential, friction, cone, tolerance):
    """(m,): the smaller coefficient of the sliding directions where friction holds, else 0."""
    mu = friction[:, :2].min(axis=1, initial=np.inf)
    bears = force > tolerance * force.max(initial=0.0)
    need = needed(tangential, friction, cone)
    holds = bears & (mu > 0) & np.isfinite(mu) & (need < (1 - 1e-3) * force)
    return np.where(holds, mu, 0.0)


def needed(tangential, friction, cone):
    """Normal forces (m,) [N] that friction forces (m, k) ask for."""
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(tangential == 0.0, 0.0, np.abs(tangential) / friction)
    return np.linalg.norm(part, ord=CONES[cone], axis=1)


def broken_law(before, after, tangential, friction, cone, tolerance, on_friction):
    """Contacts outside their cone after mending, and those that slide under a changed force."""
    none = np.zeros(len(after), bool)
    largest = 0.0 if before is None else float(before.max(initial=0.0))
    slack = tolerance * max(float(after.max(initial=0.0)), largest)
    # without friction, what is left of a force less its normal part is an engine's rounding
    tangential = np.where((friction == 0.0) & (np.abs(tangential) <= slack), 0.0, tangential)
    if not tangential.any():
        return none, none
    if np.isnan(friction[tangential != 0]).any():
        if on_friction == "refuse":
            raise InputError(
                "friction forces are present and their coefficients are not given, so Coulomb's "
                "law cannot be checked; give friction=, or on_friction='keep' to go without"
            )
        return none, none
    need = needed(tangential, friction, cone)
    if before is None:
        return need > after + slack, none
    # an unchanged force breaks nothing that the engine had not broken itself
    changed = np.abs(after - before) > slack
    sliding = (need > slack) & (need >= before - slack)
    return (need > after + slack) & changed, sliding & changed


def refuse(outside, slid, before, after, tangential, row, engine, places):
    """Raises InputError for the first contact ``outside`` its cone or ``slid``, (m,) bool."""
    worst = int(np.flatnonzero(outside | slid)[0])
    between = f" ({' and '.join(places.names[worst])})" if places is not None else ""
    was = "" if before is None else f" from {before[worst]:.6g}"
    reason = (
        "leaves the friction cone"
        if outside[worst]
        else "slides, so its friction force would have to change with it"
    )
    raise InputError(
        f"{engine}: the normal force of contact {row[worst]}{between} would go{was} to "
        f"{after[worst]:.6g} with a friction force of {np.linalg.norm(tangential[worst]):.6g}: it "
        f"{reason} ({int((outside | slid).sum())} such contacts). Normal forces cannot be mended "
        "on their own here; on_friction='move' moves friction forces with them, as little as "
        "Coulomb's law asks for; 'keep' returns them all the same, with these flagged"
    )


def check_movable(tangential, friction, sliding, engine_force) -> None:
    """Raises InputError where friction forces (m, k) cannot be moved: coefficients (m, k) or
    velocities ``sliding`` (s m, n) that are not given."""
    wanted = "on_friction='move' needs"
    if engine_force is None:
        raise InputError(f"{wanted} engine_force, and it is not given")
    if not tangential.any():
        return
    open_ended = (tangential != 0) & ~np.isfinite(friction)
    if open_ended.any():
        raise InputError(
            f"{wanted} friction=, finite; that of contact "
            f"{open_ended.any(axis=1).argmax()} is not given or infinite"
        )
    have = 0 if sliding is None else sliding.shape[0] // len(tangential)
    used = int(np.flatnonzero(tangential.any(axis=0))[-1]) + 1
    if have < tangential.shape[1] and have < used:
        raise InputError(
            f"{wanted} sliding=, the velocities along every direction of tangential, "
            f"{used} rows a contact; found {have}"
        )


def not_movable(contacts, row, engine, places):
    """Raises InputError: with a load of its own ``contacts`` (m,) bool cannot keep their forces."""
    first = int(np.flatnonzero(contacts)[0])
    between = f" ({' and '.join(places.names[first])})" if places is not None else ""
    raise InputError(
        f"{engine}: no friction that Coulomb's law admits goes with these normal forces at "
        f"{counted(int(contacts.sum()), 'contact')}, first contact {row[first]}{between}, and with "
        "this load the engine's forces cannot be kept there; take load='engine', or "
        "on_friction='keep'"
    )
