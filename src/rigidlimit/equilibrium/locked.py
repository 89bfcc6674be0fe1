"""Rough contacts that friction locks against what drives them.

    f in the friction cones,      H^T f = 0 on every body,      f . q < 0

with q the velocities of the contacts without forces. Such forces hold one another whatever the
bodies do, and what is driven presses on them: no velocities of the bodies have u_n >= mu |u_t| at
every contact (Farkas' lemma for cones). A motion with Coulomb friction exists for sure where there
are such velocities inside (Klarbring & Pang 1998; Acary et al. 2011); without them it may still
exist, where a contact slides against these forces, but bodies with friction jam like that.

The forces are those of the convex relaxation of rigid contacts, with springs so stiff that they
only keep the forces from growing without end (``cone_path``).
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from . import cone_path
from .law import ContactLaw
from .mechanics import Mechanics
from .natural_map import into_cones


@dataclass(frozen=True)
class Settings:
    """stiffness: of the springs, over rho. too_fast: speed of the bodies, over the fastest contact
    without forces, below which there are no velocities u_n >= mu |u_t|, from which on contacts
    count as locked: what is left of forces on a body 1e6 times heavier than others is 3e-4, forces
    that do lift a body are of order one. missing: part of f . |q| from which -f . q is more than
    rounding. steps: of the path at most; last: of its mean product, over the first, below which it
    is rounding."""

    stiffness: float = 1e12
    too_fast: float = 1e3
    missing: float = 1e-9
    steps: int = 60
    last: float = 1e-16


def locked_forces(
    mechanics: Mechanics,
    friction: np.ndarray,
    rho: np.ndarray,
    *,
    scale: float,
    M: sp.sparray | None = None,
    settings: Settings = Settings(),
) -> tuple[np.ndarray | None, int]:
    """(forces (m, d) of largest entry 1 as above, or None; linear systems). Arguments as of
    ``multipliers.rigid_contacts``."""
    m, d = mechanics.shape
    M = sp.diags_array(np.repeat(rho, d)) if M is None else M
    springs, first = settings.stiffness * rho, None
    law = ContactLaw(springs, springs, friction, np.zeros((m, d - 1)), associated=True)
    at = cone_path.start(mechanics, law, scale * float(np.median(rho)))
    at.opening[:, 0] = scale
    for solves in range(1, settings.steps + 1):
        try:
            t = cone_path.advance(mechanics, law, at)
        except (np.linalg.LinAlgError, ZeroDivisionError):
            return None, solves
        force = _locks(mechanics, friction, M, scale, at.force, settings)
        first = first or t
        if force is not None or not t > settings.last * first:
            return force, solves
    return None, settings.steps


def _locks(mechanics, friction, M, scale, force, settings):
    """``force`` within the cones, of largest entry 1, if it locks its contacts; else None.

    Velocities of the bodies v with f . (q + H (v - v_free)) >= 0 have to be as fast as
    max |v - v_free| >= -f . q / |H^T f|_1. In the norms of M and 1/M, forces that lift a heavy body
    off a light one would count as locked: they change its velocity by next to nothing.
    """
    force = force.copy()
    into_cones(force, friction)
    force /= np.abs(force).max() or 1.0
    free = mechanics.start(np.zeros_like(force))
    q = mechanics.displacement(free)
    missing = -float((force * q).sum())
    if not missing > settings.missing * float(np.abs(force * q).sum()):
        return None
    pushed = M @ (mechanics.start(force) - free)
    fast = settings.too_fast * scale * float(np.abs(pushed).sum())
    return force if missing > fast else None
