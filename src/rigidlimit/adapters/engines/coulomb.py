"""Coulomb's law for an engine's friction forces under mended normal forces.

Friction forces f_t of contact i are admissible where

    |f_t / mu| <= f_n   in the norm of the engine's cone (``CONES``).

How normal and friction forces of an engine are shared out belongs together. What is done with the
friction forces when normal forces are mended is ``on_friction``:

- "joint": normal and friction forces are found together, from the total wrench (``joint``);
- "keep": they stay as they are, and contacts where the law then breaks are flagged.

The law breaks where |f_t / mu| > f_n after mending, and where a contact that slides, so that
|f_t / mu| = f_n before, gets another f_n. An unchanged normal force breaks nothing that the engine
had not broken itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError

JOINT, KEEP = "joint", "keep"
ON_FRICTION = (JOINT, KEEP)

CONES = {"elliptic": 2, "pyramid": 1, "box": np.inf}
"""Norm of f_t / mu that the engine bounds by f_n."""


@dataclass(frozen=True)
class CoulombLaw:
    """friction (m, k): coefficients, nan where not given; cone: a key of ``CONES``; tolerance: part
    of the largest normal force within which a force is at its bound, or unchanged."""

    friction: np.ndarray
    cone: str
    tolerance: float

    def of(self, rows: np.ndarray) -> "CoulombLaw":
        """Of some contacts: indices."""
        return CoulombLaw(self.friction[rows], self.cone, self.tolerance)

    def needed(self, tangential: np.ndarray) -> np.ndarray:
        """Normal forces (m,) [N] that friction forces (m, k) need."""
        friction = self.friction[:, : tangential.shape[1]]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(tangential == 0.0, 0.0, np.abs(tangential) / friction)
        return np.linalg.norm(part, ord=CONES[self.cone], axis=1)

    def broken(
        self, before: np.ndarray | None, after: np.ndarray, tangential: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Contacts outside their cone under normal forces ``after`` (m,), and those that slide
        under a changed one, (m,) bool each; none where coefficients are not known. before (m,), or
        None: the engine's normal forces."""
        none = np.zeros(len(after), bool)
        largest = max(float(f.max(initial=0.0)) for f in (after, before) if f is not None)
        slack = self.tolerance * largest
        # without friction, what is left of a force less its normal part is an engine's rounding
        rounding = (self.friction == 0.0) & (np.abs(tangential) <= slack)
        tangential = np.where(rounding, 0.0, tangential)
        if not tangential.any() or np.isnan(self.friction[tangential != 0]).any():
            return none, none
        need = self.needed(tangential)
        if before is None:
            return need > after + slack, none
        changed = np.abs(after - before) > slack
        slides = (need > slack) & (need >= before - slack)
        return (need > after + slack) & changed, slides & changed


def friction_forces(
    tangential: ArrayLike | None, friction: ArrayLike | None, m: int, directions: int
) -> tuple[np.ndarray, np.ndarray]:
    """Both (m, k); friction nan where it is not given. directions: number of tangential ones whose
    velocities are known; forces that are not given are zero along these."""
    friction = _numbers("friction", np.full(m, np.nan) if friction is None else friction)
    if (friction < 0).any():
        raise InputError(f"friction is {np.nanmin(friction):.6g}; expected coefficients >= 0")
    if tangential is None:
        rubs = bool((friction > 0).any())
        tangential = np.zeros((m, max(directions, 2 * rubs)))
    tangential = _numbers("tangential", tangential)
    if tangential.ndim != 2 or len(tangential) != m or not np.isfinite(tangential).all():
        raise InputError(
            f"tangential has shape {tangential.shape}; expected ({m}, k), finite, one row a contact"
        )
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
