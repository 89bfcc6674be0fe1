"""Newton's method for smooth contacts on the parts of all ranks: ``equilibrium/smooth_newton.py``.

    min over u of  sum_i k_i/p max(0, c_i)^p + F . u,   c = s - B u,   f_i = k_i max(0, c_i)^(p-1)

Unknowns are scaled as there, so that loads and stiffnesses have largest 1. The law is that of
``equilibrium/smooth_law.py``; sums over contacts are sums over those each rank answers for.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..equilibrium.smooth_law import forces_of, tangents
from ..equilibrium.smooth_newton import Settings
from ..status import Status
from .part import Part
from .ranks import Ranks
from .solvers import Solver
from .stiffness import Openings, load_of

SETTINGS = Settings()


@dataclass(frozen=True, eq=False)
class Scaled:
    """A part with k, F and s over the sizes of force, stiffness and displacement.

    stiffness, offset (m,); load (o, w); p: exponent.
    """

    part: Part
    ranks: Ranks
    stiffness: np.ndarray
    load: np.ndarray
    offset: np.ndarray
    p: float

    @cached_property
    def _openings(self) -> Openings:
        return Openings(self.part, self.ranks)

    def closing(self, u: np.ndarray) -> np.ndarray:
        """-B u (m,) of own displacements (o, w)."""
        return -self._openings.of(u)[:, 0]

    def at(self, u: np.ndarray) -> "Iterate":
        overlap = self.offset + self.closing(u)
        force = forces_of(overlap, self.stiffness, self.p)
        gradient = self.load - load_of(
            self.part.body, self.part.rows, force[:, None], self.part.own
        )
        size = self.ranks.max(np.abs(gradient).max(initial=0.0))
        return Iterate(u, overlap, force, gradient, size)

    def over_contacts(self, values: np.ndarray) -> float:
        """Sum of values (m,) over all contacts, each once."""
        return self.ranks.sum(values[self.part.mine].sum())


@dataclass(frozen=True)
class Iterate:
    """u (o, w) with overlaps and forces (m,), the gradient (o, w) and its largest entry of all."""

    u: np.ndarray
    overlap: np.ndarray
    force: np.ndarray
    gradient: np.ndarray
    size: float


@dataclass(frozen=True, eq=False)
class Found:
    """Where the loop ended; history: residuals."""

    at: Iterate
    status: Status
    history: np.ndarray


def solve(
    problem: Scaled, solver: Solver, *, tolerance: float, max_iterations: int,
    start: np.ndarray | None = None, settings: Settings = SETTINGS,
) -> Found:  # fmt: skip
    """Stops at |grad E|_inf <= tolerance, at a stall, or after so many systems."""
    part, ranks = problem.part, problem.ranks
    here = problem.at(np.zeros((part.own, part.width)) if start is None else start)
    history, status = [], Status.MAX_ITERATIONS
    least, waited = np.inf, 0
    for iteration in range(max_iterations + 1):
        history.append(here.size)
        if here.size <= tolerance:
            status = Status.CONVERGED
            break
        waited = 0 if here.size < 0.9 * least else waited + 1
        least = here.size if waited == 0 else least
        if waited > (settings.patience_near if here.size < settings.near else settings.patience):
            status = Status.STALLED
            break
        if iteration == max_iterations:
            break
        cold = iteration == 0 and ranks.max(here.overlap.max(initial=-1.0)) <= 0.0
        following = _step(problem, solver, here, cold, tolerance, settings)
        if following is None:
            status = Status.LOAD_NOT_CARRIED
            break
        if following is here:
            status = Status.STALLED
            break
        here = following
    return Found(here, status, np.array(history))


def _step(problem, solver, here, cold, tolerance, settings) -> Iterate | None:
    """Where Newton's step and the line search lead: ``here`` where K is singular to rounding, None
    where E falls without end."""
    d, dc = _direction(problem, solver, here, cold, tolerance, settings)
    slope = problem.ranks.sum((here.gradient * d).sum())
    if not np.isfinite(slope):
        return here
    t = _minimum(problem, here, dc, slope, settings.slope)
    if t < 0.0:
        return None
    # near the solution the slope is rounding: the full Newton step is then the best there is
    whole = problem.at(here.u + d)
    if t == 1.0 or whole.size <= 0.5 * here.size:
        return whole
    return problem.at(here.u + t * d)


def _direction(problem, solver, here, cold, tolerance, settings):
    """(d (o, w), -B d (m,)): Newton's step. cold: of contacts that are all taken as linear springs
    of their stiffness."""
    ranks, k, p, residual = problem.ranks, problem.stiffness, problem.p, here.size
    if cold:
        D = k.copy()
    else:
        most = ranks.max(here.overlap.max(initial=0.0))
        D = tangents(here.overlap, k, p, settings.floor * most if most > 0.0 else 1.0)
    least, most = settings.shift
    shift = (ranks.max(D.max(initial=0.0)) or 1.0) * min(most, max(least, 1e-3 * residual))
    forcing = min(settings.forcing, residual**settings.forcing_power)
    target = max(forcing, 0.05 * tolerance / residual) * residual
    solver.set(D[:, None, None], shift)
    d = solver.solve(-here.gradient, target)
    dc = problem.closing(d)
    if cold and p != 2.0:
        ratio = _stretch(ranks, dc, k, p)
        d, dc = d * ratio, dc * ratio
    return d, dc


def _stretch(ranks, dc, k, p) -> float:
    """``stretch_to_law`` with the largest force of all ranks."""
    force = k * np.maximum(dc, 0.0)
    most = ranks.max(force.max(initial=0.0))
    softest = ranks.min(k[force == most].min(initial=np.inf))
    return (most / softest) ** (1 / (p - 1)) / max(ranks.max(dc.max(initial=0.0)), 1e-300)


def _minimum(problem, here, dc, slope, part) -> float:
    """t > 0 where dE/dt has fallen to this part of the slope < 0 at t = 0; 0 if that does not fall,
    -1 if E falls without end. As ``equilibrium/line_search.py``, each sum over all ranks."""
    if slope >= 0.0:
        return 0.0

    def slope_at(t):
        force = forces_of(here.overlap + t * dc, problem.stiffness, problem.p)
        return slope + problem.over_contacts(dc * (force - here.force))

    goal = part * abs(slope)
    low, slope_low, high = 0.0, slope, 1.0
    slope_high = slope_at(high)
    for _ in range(60):
        if slope_high >= 0.0 or abs(slope_high) <= goal:
            break
        low, slope_low = high, slope_high
        high *= 4.0
        slope_high = slope_at(high)
    if abs(slope_high) <= goal:
        return high
    if slope_high < 0.0:
        return -1.0
    t = high
    for _ in range(100):
        t = (low * slope_high - high * slope_low) / (slope_high - slope_low)
        if not low < t < high:
            t = 0.5 * (low + high)
        now = slope_at(t)
        if abs(now) <= goal or high - low <= 1e-15 * high:
            break
        if now < 0.0:  # Illinois: the slope at the other end counts half
            low, slope_low, slope_high = t, now, 0.5 * slope_high
        else:
            slope_low, high, slope_high = 0.5 * slope_low, t, now
    return t
