"""Contact dynamics by the central path, where other ways drag: one factorization a step.

Eq. 22 with slacks w > 0 and impulses l = dt f > 0, and complementarity eased to a common value,

    M x = B^T l,    w = p + B x,    l_i w_i = mu,    mu -> 0,

leads to the answer in twenty to forty steps whatever the masses, and whatever forces hold one
another: these gradient steps change by a little each time. The path ends amid all forces that
solutions, which separates contacts that may be active from those that cannot. Rounding in
K = M + B^T D B, D = l / w, limits its accuracy: ``active_set.py`` finishes with those contacts.
Steps are those of ``equilibrium/smooth_path.py``.

Where overlaps can be undone only to rounding, forces grow without end; the path is left soon.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..equilibrium.interior import Settings as PathSettings
from ..equilibrium.interior import predictor_corrector
from ..equilibrium.smooth_path import Tangent
from ..linear import LinearStats, Network
from .problem import ContactProblem


@dataclass(frozen=True)
class Settings:
    """steps: after which the path is given up; 40 are seldom needed. fraction: part of the way to
    the nearest bound that a step may go.

    near, worse: a residual ``worse`` times the least one, which is below ``near``, shows that
    rounding has taken over, or that forces grow without end. short, stuck: part of a step that
    counts as none, and how many of them in turn show that there is no answer.
    """

    steps: int = 60
    fraction: float = 0.995
    near: float = 1e-4
    worse: float = 10.0
    short: float = 0.01
    stuck: int = 5


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where the path leads nowhere
def follow(
    problem: ContactProblem,
    network: Network,
    *,
    tolerance: float,
    max_iterations: int | None = None,
    stats: LinearStats,
    settings: Settings = Settings(),
) -> tuple[np.ndarray, np.ndarray, int]:
    """(forces, decided, steps): at the point with the least residual, and where the path was left.

    Only active contacts have forces. Rounding may have spoiled those at the end, but there
    fewer contacts are undecided. network: B with scaled columns, and the inertia.

    Raises OutOfMemory.
    """
    B, M, dt = network.B, network.mass, problem.dt
    effective_mass = dt / problem.diagonal
    x, l, w = _begin(problem, network, effective_mass, stats)
    best, watch = np.zeros(len(l)), _Watch(settings, tolerance)
    last = settings.steps if max_iterations is None else min(settings.steps, max_iterations)
    for step in range(max(0, last) + 1):
        # by now a contact with l < w e tends to open; leaving it out hardly changes the others
        force = np.where(l > w * effective_mass, l, 0.0) / dt
        if watch.better(problem.residual(force)):
            best = force
        if watch.over() or step >= last:
            break
        solve = partial(_solve, network.system(l / w, 0.0), stats=stats)
        mismatch, rigid = problem.p + B @ x - w, np.zeros(len(l))
        imbalance = network.load_of(l) - M @ x
        tangent = Tangent(network, l, w, rigid, imbalance, mismatch, solve, refined=True)
        t, change = predictor_corrector(tangent, PathSettings(fraction=settings.fraction))
        if not t > 0.0:
            break
        watch.stepped(t)
        x, l, w = x + t * change.u, l + t * change.force, w + t * change.slack
    return best, force, step


class _Watch:
    """When to leave the path: the residuals so far, and short steps in turn."""

    def __init__(self, settings: Settings, tolerance: float):
        self.settings, self.tolerance = settings, tolerance
        self.residual = self.least = np.inf
        self.short = 0

    def better(self, residual: float) -> bool:
        """Take note of a residual; whether it is the least."""
        self.residual, before = residual, self.least
        self.least = min(before, residual)
        return residual < before

    def stepped(self, length: float) -> None:
        self.short = 0 if length > self.settings.short else self.short + 1

    def over(self) -> bool:
        settings = self.settings
        rising = self.least < settings.near and not self.residual <= settings.worse * self.least
        return self.least <= self.tolerance or rising or self.short >= settings.stuck


def speed_needed(problem: ContactProblem, network: Network, force: np.ndarray) -> float:
    """Lower bound on the speeds [m/s], turns by their arms, that undo all overlaps: Farkas' lemma.

    For any f >= 0 and any x with p + B x >= 0, f . p + (B^T f) . x >= 0. Forces of a path that
    leads nowhere hold one another, B^T f = 0 to rounding, and f . p < 0.
    """
    missing = -float(force @ problem.p)
    if not missing > 0.0:
        return 0.0
    held = float(np.abs(network.load_of(force)).sum())
    return missing / held if held > 0.0 else np.inf


def _begin(problem, network, effective_mass, stats):
    """(x, l, w) of contacts as linear springs, lifted: impulses to the largest of these, for among
    unlike masses the light ones may have to pass on what the heavy ones need. Springs of contacts
    that are far open may pull all others open; then it is what one contact alone would need."""
    rhs = -network.load_of(effective_mass * problem.p)
    x = _solve(network.system(effective_mass, 0.0), rhs, 0.0, stats=stats)
    w = problem.p + network.B @ x
    largest = max((-effective_mass * w).max(), problem.scale * problem.dt)
    return x, np.full(len(w), largest), np.maximum(w, problem.speed)


def _solve(matrix, rhs, _, *, stats):
    """K^-1 rhs by factorization, whatever accuracy is required."""
    return matrix.solve_directly(rhs, stats, refined=False)
