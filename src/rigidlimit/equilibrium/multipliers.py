"""Rigid contacts with exact Coulomb friction (step 1).

    u = W f + q (or bodies with inertia),   f = P(f - rho u)

with P the map of ``law``: max(0, .) along the normal, the disc of radius mu f_n in the tangent
plane. The fixed points are those of Coulomb's law with u_n >= 0 complementary to f_n. Four methods
take turns, each but the last from the forces f_k that the one before has found:

- Gauss-Seidel sweeps with momentum (``sweep``), which find the active and the sliding contacts;
- Newton's method on the map (``natural_newton``), which ends in few systems where it begins near;
- the method of multipliers, whose steps are equilibria of springs s rho with the forces f_k as
  prestress, f_k+1 = P(f_k - s rho u_k+1), by Newton's method in the motion of the bodies. s grows
  after each and falls after a failure. Where stuck contacts outnumber the motions that they hold,
  forces have to change by far more than residuals say: at 1e-7 of the velocities along a motion
  that moves no body, until a contact slides or opens. A step with s = 1e7 goes as far as as many
  sweeps. Where that sets off others, one after the other, only small s lead on, at residuals that
  rise a hundredfold before they fall. From the fourth turn on there is also a separate
  sequence of these steps, which begins from the given forces and continues where its last turn
  ended: sweeps in between squeeze stuck contacts, and lead elsewhere. Sweeps continue from where
  they were, or from this sequence where its residual is lower;
- from the third turn on, in networks that are not large, interior paths (``coulomb_path``), which
  need no start: the others can cycle, as Coulomb's law has no energy that decreases.

Where several motions are possible with rigid friction, the one found is that of elastic bodies that
start from the given forces, unless an interior path has found it (``routes``).

The residual, by which every solver is judged: e_i = |f_i - P(f_i - rho_i u_i)| / rho_i with rho_i =
d/tr(W_ii), the worst of them over the largest |q|.

Contacts that friction locks against what drives them (``locked``) are looked for in the third turn,
and end the search; in large networks after the last one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from .dense import SMALL
from .mechanics import Mechanics
from .natural_map import natural_map
from .natural_newton import Settings as NaturalSettings
from .rigid_search import Search


@dataclass(frozen=True)
class Settings:
    """sweeps: before Newton's method at first, in networks that are not small (``dense.SMALL``);
    each time it is their turn again they are twice as many, ``most`` at most. They end early once
    changes over rho are below ``enough`` of the tolerance. natural: of Newton's method on the map.

    least: linear systems a turn of multipliers has at least to halve the residual; as many as its
    sweeps are worth, ``worth`` of them one. first, stiffest: s at first and at most; growth,
    fall: its factors after a step and a failure; soft: s below which the turn ends, and at first in
    the separate sequence. iterations: of Newton's method a step. inner: part of the residual to
    which a step is solved; loosest: at most.

    paths: largest number of contacts with interior paths; in larger networks some motion always
    folds. spread: of the logarithms of their weights, after the first path, whose weights are one;
    short: length of a step below which, twice in a row, a path has ended. Their turn has as many
    linear systems as that of multipliers.

    work: linear systems in all, with what sweeps are worth."""

    sweeps: int = 500
    most: int = 16_000
    worth: int = 200
    enough: float = 0.1
    natural: NaturalSettings = field(default_factory=NaturalSettings)
    least: int = 30
    first: float = 1e2
    soft: float = 1.0
    stiffest: float = 1e7
    growth: float = 2.0
    fall: float = 0.2
    iterations: int = 15
    inner: float = 1e-2
    loosest: float = 1e-4
    paths: int = 1000
    spread: float = 0.5
    short: float = 0.02
    work: int = 2000


@dataclass(frozen=True)
class RigidContacts:
    """force, velocity (m, d): f and u at the contacts; x: the unknowns of the mechanics; residual,
    worst: ``residuals`` and the contact of the largest; outer, solves: iterations and linear
    systems; history: residual after each step of Newton's method and each of the other methods;
    routes: methods taken. locked (m, d): ``locked_forces``, looked for where no motion was found;
    None: none."""

    force: np.ndarray
    velocity: np.ndarray
    x: np.ndarray
    residual: float
    worst: int
    outer: int
    solves: int
    converged: bool
    history: np.ndarray
    routes: tuple[str, ...]
    locked: np.ndarray | None = None


def residuals(
    force: np.ndarray, velocity: np.ndarray, friction: np.ndarray, rho: np.ndarray
) -> np.ndarray:
    """e_i (m,) of contact forces f (m, d) and velocities u (m, d), as above; rho (m,)."""
    F = np.empty_like(velocity)
    natural_map(force, velocity, friction, rho, F)
    return np.linalg.norm(F, axis=1) / rho


def rigid_contacts(
    mechanics: Mechanics,
    friction: np.ndarray,
    rho: np.ndarray,
    *,
    scale: float,
    tolerance: float,
    force: np.ndarray | None = None,
    M: Callable[[], sp.sparray] | None = None,
    settings: Settings = Settings(),
) -> RigidContacts:
    """Forces (m, d) and velocities of rigid contacts with friction (m,).

    rho (m,): 3/tr(W_ii), or d/tr in the plane. scale: max |q|, the unit of the residual. force
    (m, d): to start from. M: makes the inertia (n, n) of the unknowns, rows over arms where these
    differ, if locked contacts are to be detected; None: rho, of unknowns that are the
    contacts' velocities.
    """
    m, d = mechanics.shape
    force = np.zeros((m, d)) if force is None else np.array(force, float)
    search = Search(mechanics, friction, rho, scale, tolerance, M, settings)
    search.begin(force)
    sweeps, turn = settings.sweeps, 0
    if search.unsolved and len(search.here.x) > SMALL:
        search.by_sweeps(sweeps)
    while search.unsolved:
        work, turn = max(settings.least, sweeps / settings.worth), turn + 1
        search.by_newton()
        if turn >= 3 and m <= settings.paths:
            if search.locked is not None:
                break
            search.by_paths(work)
        search.by_multipliers(work)
        if turn >= 4:
            search.by_separate_multipliers(work)
        if not search.unsolved or search.work >= settings.work:
            break
        search.by_sweeps(sweeps)
        sweeps = min(2 * sweeps, settings.most)
    best, locked = search.best, search.locked if search.unsolved else None
    return RigidContacts(
        best.force,
        mechanics.displacement(best.x),
        best.x,
        best.residual,
        best.worst,
        len(search.history),
        search.solves,
        best.residual <= tolerance,
        np.array(search.history),
        tuple(search.routes),
        locked,
    )
