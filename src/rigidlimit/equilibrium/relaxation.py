"""The equilibrium to which a network of rough contacts relaxes, for what Newton does not reach.

Bodies move through a viscous medium from the start x_0 on, c dx/dt = -r(x, f(w(x))): who gives way
moves until other contacts stop it. Steps are implicit Euler's,

    r(x) + s (x - x_k) = 0,    s = c/dt,

by some iterations of Newton's method each, and grow as these take fewer: with s -> 0 the last ones
are Newton's. Where the motion never ends there is no equilibrium, and its
direction is the mechanism.
"""

from dataclasses import dataclass

import numpy as np

from .._support.deadline import late
from ..status import Status
from .law import ContactLaw
from .mechanics import Mechanics
from .result import Equilibrium

SEARCH = 0.5
"""Part of a budget of time for equilibria of the law; the rest is for forces of least energy."""


@dataclass(frozen=True)
class Relaxation:
    """How a network is relaxed.

    Attributes
    ----------
    systems : linear ones at most.
    first, least : s of the first step, and of any, over the largest stiffness.
    inner : Newton iterations of a step at most.
    reduction : of its residual, with which a step is made.
    growth : of its residual in one iteration, with which it is given up.
    after : factors of s after a step of one, two ... iterations.
    shorter : factor of s after one that was given up.
    away : displacement over the usual one beyond which the network runs away.
    """

    systems: int = 150
    first: float = 0.05
    least: float = 1e-10
    inner: int = 4
    reduction: float = 0.1
    growth: float = 3.0
    after: tuple[float, ...] = (0.1, 0.5, 1.0, 1.5)
    shorter: float = 4.0
    away: float = 1e6


@dataclass(frozen=True)
class _Iterate:
    """x (n,) with what the contacts do there: w, force (m, d), D (m, d, d), residual r (n,)."""

    x: np.ndarray
    w: np.ndarray
    force: np.ndarray
    D: np.ndarray
    r: np.ndarray

    @classmethod
    def at(cls, mechanics: Mechanics, law: ContactLaw, x: np.ndarray) -> "_Iterate":
        w = mechanics.displacement(x)
        force, D = law.respond(w)
        return cls(x, w, force, D, mechanics.residual(x, force))


def relax(
    mechanics: Mechanics,
    law: ContactLaw,
    x: np.ndarray,
    *,
    tolerance: float,
    force_size: float,
    settings: Relaxation = Relaxation(),
) -> Equilibrium:
    """Where the network comes to from the start x, until mechanics.size(r) <= tolerance.

    force_size [N]: a usual contact force. Status STALLED: it had not come to rest within
    ``settings.systems``; NO_EQUILIBRIUM: it runs away, x less the start is the motion.
    """
    sums = mechanics.sums
    stiffest = max(sums.largest(law.normal), sums.largest(law.tangential))
    away = settings.away * force_size / stiffest
    start, here, solves = x, _Iterate.at(mechanics, law, x), 0
    s, status = settings.first * stiffest, Status.STALLED
    while mechanics.size(here.r) > tolerance and solves < settings.systems:
        if late(SEARCH):
            break
        new, made = _step(mechanics, law, here, s, settings)
        solves += made
        if new is None:
            s *= settings.shorter
            continue
        here = new
        factor = settings.after[min(made, len(settings.after)) - 1]
        s = max(s * factor, settings.least * stiffest)
        if not sums.largest(here.x - start) <= away:
            status = Status.NO_EQUILIBRIUM
            break
    residual = float(mechanics.size(here.r))
    status = Status.CONVERGED if residual <= tolerance else status
    return Equilibrium(here.x, here.force, here.w, status, residual, solves)


def _step(mechanics, law, here: _Iterate, s: float, settings: Relaxation):
    """(where a step of implicit Euler leads, or None; linear systems solved)."""
    damped, at = mechanics.damped(s), here
    first = norm = mechanics.sums.norm(here.r)
    for made in range(1, settings.inner + 1):
        if late(SEARCH):
            return None, made
        r = at.r + s * (at.x - here.x)
        try:
            dx = damped.factorize(at.D)(r, accuracy=0.01 * settings.reduction)
        except np.linalg.LinAlgError:
            return None, made
        at = _Iterate.at(mechanics, law, at.x + dx)
        before, norm = norm, mechanics.sums.norm(at.r + s * (at.x - here.x))
        if norm <= settings.reduction * first:
            return at, made
        if not norm <= settings.growth * before:
            break
    return None, made
