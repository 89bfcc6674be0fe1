"""Full accuracy of contact dynamics: semismooth Newton on the active set, by one factorization.

Gradient steps find most of the active contacts long before the forces are accurate, and in
packings with hardly more contacts than degrees of freedom each digit takes them hundreds of steps.
Let W be the contacts that are active or close. With them as equations, eq. 21 is linear, N_WW dl =
-w_W for the change dl of the impulses l = dt f that removes the slack w. In velocities, with D
stiff springs in place of the equations,

    (M + B_W^T D B_W) dx = -B_W^T D w_W,    dl = -D (w_W + B_W dx).

What would pull leaves W, what would close enters it (M. Hintermueller, K. Ito, K. Kunisch, SIAM J.
Optim. 13 (2003) 865), both taken into the one factorization by the Woodbury formula. W has to be
almost right from the start, as after gradient steps or at the end of the central path. w is
computed anew from l each time, so rounding is never amplified by D.
"""

from dataclasses import dataclass

import numpy as np

from ..linear import LinearStats, Network, cost
from ..linear.low_rank_update import ChangingSystem
from .problem import ContactProblem


@dataclass(frozen=True)
class Settings:
    """springs: stiffness over the effective mass of a contact, one after the other where they do
    not lead on: the second for contacts that hardly differ ("rollers leaning 1e-05" of the corpus).
    rounds: at most, with one stiffness; ten are the rule. patience, gained: steps that leave more
    than this part of the residual, after which they are given up.
    """

    springs: tuple[float, ...] = (1e7, 1e9)
    rounds: int = 60
    patience: int = 4
    gained: float = 0.9


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
    tolerance: float,
    max_rounds: int = 5000,
    stats: LinearStats,
    settings: Settings = Settings(),
) -> tuple[np.ndarray, float, int]:
    """(forces, residual, rounds): better forces than ``force`` (m,), to ``tolerance`` if it can be.

    network: B with scaled columns, and the inertia. Raises OutOfMemory.
    """
    best, rounds = _Iterate(problem, force), 0
    for sigma in settings.springs:
        if best.residual > tolerance and rounds < max_rounds:
            steps = _Steps(problem, network, sigma, tolerance, stats)
            stats.took(f"active set {sigma:.0e}")
            most = min(settings.rounds, max_rounds - rounds)
            best, more = _rounds(steps, best, tolerance, most, settings)
            rounds += more
            del steps  # its factor is large: gone before there is another
    return best.force, best.residual, rounds


def _rounds(steps, here, tolerance, most, settings):
    """(best point, rounds) of at most so many steps. What would pull leaves W, what would close
    enters it."""
    rounds, waited, best = 0, 0, here
    working, fewest = here.force > 0, len(here.force)
    while best.residual > tolerance and waited < settings.patience and rounds < most:
        rounds += 1
        change, ahead = steps.step(here, working)
        force = here.force + change
        here = _Iterate(steps.problem, np.maximum(force, 0.0))
        before, working = working, np.where(working, force >= -steps.pull, ahead < -steps.noise)
        changes = np.count_nonzero(working != before)
        better = here.residual < settings.gained * best.residual or changes < fewest
        waited = 0 if better else waited + 1
        fewest = min(fewest, changes)
        if here.residual < best.residual:
            best = here
    return best, rounds


class _Steps:
    """Newton steps with springs of one stiffness, from one factorization as long as it is valid.

    pull [N], noise (m,) [m/s]: forces and slacks that are rounding.
    """

    def __init__(self, problem, network, sigma, tolerance, stats):
        self.problem, self.network, self.stats = problem, network, stats
        self.D = sigma * problem.dt / problem.diagonal
        self.pull = 0.1 * tolerance * problem.scale
        self.noise = self.pull * problem.diagonal
        self.system = None

    def step(self, here: "_Iterate", working: np.ndarray):
        """(change of the forces, slack ahead), both (m,), with springs at the working set."""
        D, system = self.D, self._with(working)
        push = np.where(working, D * here.slack, 0.0)
        dx = system.solve(-self.network.load_of(push), refined=True)
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


class _Iterate:
    """Forces (m,) with slack (m,) and residual."""

    def __init__(self, problem, force):
        self.force, self.slack = force, problem.slack(force)
        self.residual = problem.residual(force, self.slack)
