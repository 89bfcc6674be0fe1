"""Newton's method for smooth contacts: a line search on the slope of the energy E (``smooth_law``).

Semismooth Newton, linear systems as loose as they may be (Eisenstat & Walker). The Hessian is
singular wherever bodies float; a proximal term that vanishes with the residual keeps the iteration
quadratic. For p < 2 the Hessian has no bound, and the interior path is the way
(``smooth_path.py``).

Sums and bounds over contacts are those of ``problem.sums``: bodies and contacts may be dealt out to
several processes (``rigidlimit.distributed``).

With friction there is no energy, so that ``rough_newton.py`` is globalized by the residual's norm
instead: the two share no line search, and the linear systems here are symmetric.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..linear import LinearStats
from ..status import Status
from .line_search import dot, minimum
from .result import Equilibrium
from .smooth_law import Iterate, SmoothNetwork, stretch_to_law


@dataclass(frozen=True)
class Settings:
    """Residuals are over the scale of the load.

    slope: part of the slope that line searches leave. forcing, forcing_power: linear systems are
    solved to that power of the residual, at the loosest to ``forcing``. shift: range of the
    proximal term over the largest tangent; a thousandth of the residual in between. floor: overlap
    over the largest at which tangents are taken at the least.

    A solve has stalled after ``patience`` iterations without a gradient a tenth smaller: the
    gradient may rise while the energy falls; or after ``patience_near`` of a residual below
    ``near``, where rounding may be what keeps it from its end.
    """

    slope: float = 0.1
    forcing: float = 0.1
    forcing_power: float = 0.7
    shift: tuple[float, float] = (1e-12, 1e-4)
    floor: float = 1e-8
    near: float = 1e-6
    patience: int = 60
    patience_near: int = 12


class _Progress:
    """Forecast of the remaining iterations from those so far."""

    def __init__(self, settings: Settings):
        self.settings, self.least, self.waited = settings, np.inf, 0

    def stalled(self, residual: float) -> bool:
        settings = self.settings
        if residual < 0.9 * self.least:
            self.least, self.waited = residual, 0
            return False
        self.waited += 1
        near = residual < settings.near
        return self.waited > (settings.patience_near if near else settings.patience)


def solve(
    problem: SmoothNetwork,
    *,
    start: np.ndarray | None = None,
    tolerance: float = 1e-10,
    scale: float | None = None,
    max_iterations: int = 100,
    stats: LinearStats | None = None,
    leave: Callable[[], bool] | None = None,
    settings: Settings = Settings(),
) -> Equilibrium:
    """Minimize E(x); stops at |grad E|_inf <= tolerance * scale (scale: max |load| by default), or
    where ``leave()`` says that another way is better.

    Status LOAD_NOT_CARRIED: E has no minimum as far as the line search could see.
    """
    stats = LinearStats() if stats is None else stats
    scale = problem.sums.largest(problem.load) if scale is None else scale
    n = problem.network.B.shape[1]
    here = Iterate.at(problem, np.zeros(n) if start is None else start.copy())
    progress, history, status = _Progress(settings), [], Status.MAX_ITERATIONS
    for iteration in range(max_iterations + 1):
        residual = here.size / scale if scale > 0 else (0.0 if here.size == 0 else np.inf)
        history.append(residual)
        if residual <= tolerance:
            status = Status.CONVERGED
            break
        if progress.stalled(residual):
            status = Status.STALLED
            break
        if iteration == max_iterations or (leave is not None and leave()):
            break
        cold = iteration == 0 and problem.sums.most(here.overlap) <= 0.0
        following = _step(problem, here, cold, residual, tolerance, stats, settings)
        if following is None:
            status = Status.LOAD_NOT_CARRIED
            break
        if following is here:
            status = Status.STALLED
            break
        here = following
    return Equilibrium(
        here.x, here.force, -here.overlap, status, residual, len(history) - 1, np.array(history)
    )


def _step(problem, here, cold, residual, tolerance, stats, settings) -> Iterate | None:
    """Where Newton's step and the line search lead; None where E falls without end, ``here`` where
    the linear system has no solution."""
    d, dc = _direction(problem, here, cold, residual, tolerance, stats, settings)
    slope = problem.sums.total(dot(here.gradient, d))
    if not np.isfinite(slope):
        return here
    t = minimum(
        here.overlap, dc, here.force, problem.stiffness, float(problem.exponent),
        slope, settings.slope, problem.sums,
    )  # fmt: skip
    if t < 0.0:
        return None
    # near the solution the slope is rounding: the full Newton step is then the best there is
    whole = Iterate.at(problem, here.x + d)
    if t == 1.0 or whole.size <= 0.5 * here.size:
        return whole
    return Iterate.at(problem, here.x + t * d)


def _direction(problem, here, cold, residual, tolerance, stats, settings):
    """(d (n,), -B d (m,)): Newton's step. cold: of contacts that are all taken as linear springs of
    their stiffness."""
    network, k, p = problem.network, problem.stiffness, float(problem.exponent)
    sums = problem.sums
    if cold:
        D = k.astype(float)
    else:
        most = sums.most(here.overlap)
        D = problem.tangent(here.overlap, settings.floor * most if most > 0.0 else 1.0)
    least, most = settings.shift
    shift = (sums.most(D) or 1.0) * min(most, max(least, 1e-3 * residual))
    forcing = min(settings.forcing, residual**settings.forcing_power)
    target = max(forcing, 0.05 * tolerance / residual) * here.size
    d = network.system(D, shift).solve(-here.gradient, target=target, stats=stats)
    dc = -(network.B @ d)
    if cold and p != 2.0:
        # turn the linear springs' answer into overlaps of the power law's size
        ratio = stretch_to_law(dc, k, p, sums)
        d, dc = d * ratio, dc * ratio
    return d, dc
