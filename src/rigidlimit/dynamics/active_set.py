"""The last digits of contact dynamics in nearly determinate packings: projected Newton, one factor.

Gradient steps find most of the contacts that bear long before the forces have their digits, and in
packings with hardly more contacts than degrees of freedom each digit takes them hundreds of steps.
Let W be the contacts that bear or close. With them as equations, eq. 21 is linear, N_WW dl = -w_W
for the change dl of the impulses l = dt f that removes the slack w. In velocities, with D stiff
springs in place of the equations,

    (M + B_W^T D B_W) dx = -B_W^T D w_W,    dl = -D (w_W + B_W dx).

The forces go along the bent path max(0, f + a dl/dt) as far as the objective of eq. 22 falls, with
a = 1, 1/2, 1/4, ... (D. P. Bertsekas, SIAM J. Control Optim. 20 (1982) 221): full steps let go of
many contacts that bear in the end, and need W to be almost right from the start. What let go leaves
W, what closes enters it; both are taken into the one factorization by the Woodbury formula. Where W
is almost right, as at the end of the central path, whole steps come first: what would pull leaves
W, what would close enters it (M. Hintermueller, K. Ito, K. Kunisch, SIAM J. Optim. 13 (2003) 865).
w is computed anew from l each time, so rounding is never amplified by D.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..linear import LinearStats, Network, cost
from ..linear.low_rank_update import ChangingSystem
from .problem import ContactProblem

FROM_AFAR = ("bent", 1e7), ("whole", 1e7), ("whole", 1e9), ("bent", 1e4)
FROM_PATH = ("whole", 1e7), ("whole", 1e9), ("bent", 1e7), ("bent", 1e4)
"""Kinds of steps, with the stiffness of the springs over the effective mass of a contact, one after
the other where they do not lead on. Entries of the corpus that need them: bent 1e7 packings as they
settle, whole 1e7 and 1e9 "one velocity alone" and "tables with short legs", bent 1e4 "bearing, 10
digits". Stiff springs need fewer rounds where W is nearly right; soft ones
are for forces that hold one another, which stiff ones send off too fast. From the end of the
central path W is next to right already, and the objective soon no more than rounding."""


@dataclass(frozen=True)
class Settings:
    """rounds: at most, with one stiffness; ten are the rule. patience, gained: whole steps that
    leave more than this part of the residual, after which they are given up. shortest, longest:
    parts of a step tried: forces that hold one another change at the pace that D allows until one
    of them is gone, which may be many whole steps away. rounding: of the objective, over the sum of
    its terms' sizes.
    """

    rounds: int = 60
    patience: int = 4
    gained: float = 0.9
    shortest: float = 1e-3
    longest: float = 1e6
    rounding: float = 1e-14


def pays(
    network: Network, force: np.ndarray, gradient_steps: int, reached: float, tolerance: float
) -> bool:
    """Whether a factorization is cheaper than the gradient steps that are still to come.

    gradient_steps: taken so far, to the residual ``reached``.
    """
    if np.count_nonzero(force) > network.B.shape[1] or not 0.0 < reached < 1.0:
        return False
    remaining = np.log(reached / tolerance) * gradient_steps / -np.log(reached)
    worth = remaining > cost.factorization_cost(network, gradient_steps) / 3
    return worth and cost.affordable(network, gradient_steps)


def finish(
    problem: ContactProblem,
    network: Network,
    force: np.ndarray,
    *,
    plan: Sequence[str] = FROM_AFAR,
    tolerance: float,
    max_rounds: int = 5000,
    stats: LinearStats,
    settings: Settings = Settings(),
) -> tuple[np.ndarray, float, int]:
    """(forces, residual, rounds): better forces than ``force`` (m,), to ``tolerance`` if it can be.

    network: B with scaled columns, and the inertia. plan: kinds of steps. Raises NoRoom.
    """
    best, rounds = _Point(problem, force), 0
    for kind, sigma in plan:
        if best.residual > tolerance and rounds < max_rounds:
            steps = _Steps(problem, network, sigma, tolerance, stats, settings)
            stats.took(f"active set {kind} {sigma:.0e}")
            take = _bent_rounds if kind == "bent" else _whole_rounds
            best, more = take(steps, best, tolerance, min(settings.rounds, max_rounds - rounds))
            rounds += more
            del steps  # its factor is large: gone before there is another
    return best.force, best.residual, rounds


def _bent_rounds(steps, here, tolerance, most):
    """(point, rounds) of at most so many steps along the bent path."""
    rounds = 0
    while here.residual > tolerance and rounds < most:
        rounds += 1
        working = (here.force > 0) | (here.slack < -steps.noise)
        change, _ = steps.step(here, working)
        there = _descent(steps.problem, here, change, steps.settings)
        if there is None:
            break
        here = there
    return here, rounds


def _whole_rounds(steps, here, tolerance, most):
    """(best point, rounds) of at most so many whole steps. What would pull leaves W, what would
    close enters it."""
    settings, rounds, waited, best = steps.settings, 0, 0, here
    working, fewest = here.force > 0, len(here.force)
    while best.residual > tolerance and waited < settings.patience and rounds < most:
        rounds += 1
        change, ahead = steps.step(here, working, refined=True)
        force = here.force + change
        here = _Point(steps.problem, np.maximum(force, 0.0))
        before, working = working, np.where(working, force >= -steps.pull, ahead < -steps.noise)
        changes = np.count_nonzero(working != before)
        better = here.residual < settings.gained * best.residual or changes < fewest
        waited = 0 if better else waited + 1
        fewest = min(fewest, changes)
        if here.residual < best.residual:
            best = here
    return best, rounds


class _Steps:
    """Newton steps with springs of one stiffness, from one factorization as long as it serves.

    pull [N], noise (m,) [m/s]: forces and slacks that are rounding.
    """

    def __init__(self, problem, network, sigma, tolerance, stats, settings):
        self.problem, self.network, self.stats = problem, network, stats
        self.settings = settings
        self.D = sigma * problem.dt / problem.diagonal
        self.pull = 0.1 * tolerance * problem.scale
        self.noise = self.pull * problem.diagonal
        self.system = None

    def step(self, here: np.ndarray, working: np.ndarray, *, refined: bool = False):
        """(change of the forces, slack ahead), both (m,), with springs at the working set."""
        D, system = self.D, self._with(working)
        push = np.where(working, D * here.slack, 0.0)
        dx = system.solve(-self.network.load_of(push), refined=refined)
        ahead = here.slack + self.network.B @ dx
        return np.where(working, -D * ahead / self.problem.dt, 0.0), ahead

    def _with(self, working) -> ChangingSystem:
        """The system of this working set: the one there is, if few changes make it that."""
        if self.system is not None:
            changes = np.flatnonzero(working ^ self.system.working)
            if self.system.would_serve(changes):
                self.system.toggle(changes)
                return self.system
        self.system = None  # gone before there is another
        self.system = ChangingSystem(self.network, self.D, working, 0.0, self.stats)
        return self.system


class _Point:
    """Forces (m,) with slack (m,), residual, objective 1/2 f^T N f + p^T f of eq. 22 and the sum of
    its terms' sizes."""

    def __init__(self, problem, force):
        self.force, self.slack = force, problem.slack(force)
        self.residual = problem.residual(force, self.slack)
        terms = 0.5 * force * (self.slack + problem.p)
        self.objective, self.terms = float(terms.sum()), float(np.abs(terms).sum())


def _descent(problem, here, change, settings) -> _Point | None:
    """The lowest point found on max(0, f + a change) for a = 1, 2, 4, ... or 1, 1/2, 1/4, ..., or
    None if none is lower.

    Near the end the objective is rounding, and a whole step counts by its residual.
    """

    def at(part: float) -> np.ndarray:
        return _Point(problem, np.maximum(here.force + part * change, 0.0))

    whole, part = at(1.0), 1.0
    if whole.residual < 0.1 * here.residual:
        return whole
    best, factor = whole, 2.0 if whole.objective < here.objective else 0.5
    while settings.shortest <= part <= settings.longest:
        part *= factor
        there = at(part)
        if best.objective < here.objective and not there.objective < best.objective:
            break
        best = there
    if best.objective < here.objective:
        return best
    level = whole.objective <= here.objective + settings.rounding * here.terms
    return whole if level and whole.residual < here.residual else None
