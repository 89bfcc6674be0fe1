"""Coulomb's law for an engine's friction forces under mended normal forces.

Friction forces f_t of contact i are admissible where

    |f_t / mu| <= f_n   in the norm of the engine's cone (``CONES``).

How normal and friction forces of an engine are shared out belongs together. What is done with the
friction forces when normal forces are mended is ``on_friction``:

- "move": the nearest admissible ones (``friction_projection``);
- "joint": normal and friction forces are found together, from the total wrench (``joint``);
- "keep": they stay as they are, and contacts where the law then breaks are flagged;
- "refuse": they stay as they are, and where the law then breaks nothing is returned.

The law breaks where |f_t / mu| > f_n after mending, and where a contact that slides, so that
|f_t / mu| = f_n before, gets another f_n. An unchanged normal force breaks nothing that the engine
had not broken itself.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import InputError

ON_FRICTION = ("refuse", "keep", "move", "joint")
CONES = {"elliptic": 2, "pyramid": 1, "box": np.inf}
"""Norm of f_t / mu that the engine bounds by f_n."""

HOLDS = 1e-3
"""Part of its bound by which friction must stay below it to count as holding."""


@dataclass(frozen=True)
class CoulombLaw:
    """friction (m, k): coefficients, nan where not given; cone: a key of ``CONES``; tolerance: part
    of the largest normal force within which a force is at its bound, or unchanged."""

    friction: np.ndarray
    cone: str
    tolerance: float

    @property
    def norm(self) -> float:
        """Which norm of f_t / mu is bounded: 2, 1 or inf."""
        return CONES[self.cone]

    def of(self, rows) -> "CoulombLaw":
        """Of some contacts: indices."""
        return CoulombLaw(self.friction[rows], self.cone, self.tolerance)

    def needed(self, tangential):
        """Normal forces (m,) [N] that friction forces (m, k) need."""
        friction = self.friction[:, : tangential.shape[1]]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(tangential == 0.0, 0.0, np.abs(tangential) / friction)
        return np.linalg.norm(part, ord=self.norm, axis=1)

    def slack(self, *forces) -> float:
        """Tolerance [N] beside normal forces (m,), before and after."""
        return self.tolerance * max(float(force.max(initial=0.0)) for force in forces)

    def holding(self, force, tangential):
        """(m,): the smaller coefficient of the sliding directions where friction holds, else 0."""
        mu = self.friction[:, :2].min(axis=1, initial=np.inf)
        bears = force > self.slack(force)
        holds = bears & (mu > 0) & np.isfinite(mu)
        return np.where(holds & (self.needed(tangential) < (1 - HOLDS) * force), mu, 0.0)

    def broken(self, before, after, tangential, *, required: bool):
        """Contacts outside their cone under normal forces ``after`` (m,), and those that slide
        under a changed one, (m,) bool each. before (m,), or None: the engine's normal forces.

        Raises InputError where coefficients are ``required`` and not given.
        """
        none = np.zeros(len(after), bool)
        slack = self.slack(after) if before is None else self.slack(before, after)
        # without friction, what is left of a force less its normal part is an engine's rounding
        rounding = (self.friction == 0.0) & (np.abs(tangential) <= slack)
        tangential = np.where(rounding, 0.0, tangential)
        if not tangential.any():
            return none, none
        if np.isnan(self.friction[tangential != 0]).any():
            if required:
                raise InputError(
                    "friction forces are present and their coefficients are not given, so "
                    "Coulomb's law cannot be checked; give friction=, or on_friction='keep' to go "
                    "without"
                )
            return none, none
        need = self.needed(tangential)
        if before is None:
            return need > after + slack, none
        changed = np.abs(after - before) > slack
        slides = (need > slack) & (need >= before - slack)
        return (need > after + slack) & changed, slides & changed


def friction_forces(tangential, friction, m):
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


def refusal(contacts, row, reason, before, after) -> InputError:
    """The error for the first contact, a ``row`` of ``contacts``, where the law breaks. reason: in
    words; before, or None, and after: its normal force."""
    was = "" if before is None else f" from {before:.6g}"
    friction = np.linalg.norm(contacts.tangential[row])
    return InputError(
        f"{contacts.engine}: the normal force of {contacts.where(row)} would go{was} to "
        f"{after:.6g} with a friction force of {friction:.6g}: it {reason}. Normal forces cannot "
        "be mended on their own here; on_friction='move' moves friction forces with them, as "
        "little as Coulomb's law asks for; 'keep' returns them all the same, with these flagged"
    )


def check_movable(contacts) -> None:
    """Raises InputError where the friction forces of ``contacts`` cannot be moved: engine's forces,
    coefficients or tangential velocities that are not given."""
    wanted = "on_friction='move' needs"
    tangential, friction = contacts.tangential, contacts.friction
    if contacts.engine_force is None:
        raise InputError(f"{wanted} engine_force, and it is not given")
    if not tangential.any():
        return
    open_ended = (tangential != 0) & ~np.isfinite(friction)
    if open_ended.any():
        raise InputError(
            f"{wanted} friction=, finite; that of contact "
            f"{open_ended.any(axis=1).argmax()} is not given or infinite"
        )
    have = contacts.directions
    used = int(np.flatnonzero(tangential.any(axis=0))[-1]) + 1
    if have < tangential.shape[1] and have < used:
        raise InputError(
            f"{wanted} sliding=, the velocities along every direction of tangential, "
            f"{used} rows a contact; found {have}"
        )
