"""A point amid the admissible forces P = {f >= 0 : B^T f = F}, and proof of what can carry nothing.

    B^T f = F,    w = B y,    f_i w_i = mu,    f, w > 0,    mu -> 0:

the central path of a linear program without an objective. By Goldman and Tucker's theorem it ends
with f_i > 0 wherever some admissible f has it, and w_i > 0 elsewhere: as F . y = f . B y for every
admissible f, none has more than F . y / w_i on contact i. Newton's steps are those of
``equilibrium/smooth_path.py``, with mu a tenth of what it was each time; some ten, of a few dozen
conjugate gradient steps each.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..equilibrium.smooth_path import Tangent
from ..linear import LinearStats, Network


@dataclass(frozen=True)
class Settings:
    """Of the central path without an objective.

    centring: mu over what it was the step before.
    interior: part of the way to the nearest bound that a step may go.
    begin: least force to begin with, over the largest.
    accurate: accuracy of the linear solves, over the imbalance.
    carries: a force above this fraction of the largest is nonzero, if the balance is accurate
        enough.
    faint: the fraction up to which a less accurate balance is accepted.
    clear: a force so many times the threshold is certainly nonzero.
    steps: steps after which the path is given up.
    stuck: the part of a step that counts as none.
    """

    centring: float = 0.1
    interior: float = 0.9
    begin: float = 0.03
    accurate: float = 1e-2
    carries: float = 1e-10
    faint: float = 1e-8
    clear: float = 1e3
    steps: int = 40
    stuck: float = 1e-4


SETTINGS = Settings()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where the path leads nowhere
def centre(network: Network, load: np.ndarray, near: np.ndarray):
    """(f (m,), carries (m,) bool, |B^T f - F|_inf, steps), or None where the path does not decide
    which contacts carry.

    near (m,): forces that about balance the load. carries: which have more than 1e-10 of the
    largest, or a hundred times the imbalance; the others are proven to have less in all of P.
    """
    B, m = network.B, len(near)
    size, stats = float(near.max()), LinearStats()
    f = np.maximum(near, SETTINGS.begin * size)
    y, w, rigid = np.zeros(B.shape[1]), np.ones(m), np.zeros(m)
    found, least = None, np.inf
    for done in range(SETTINGS.steps):
        imbalance, opens = network.load_of(f) - load, B @ y
        worst, total = float(np.abs(imbalance).max()), float(f @ w)
        if not np.isfinite(worst + total) or (found is not None and worst > 0.5 * least):
            break
        threshold = threshold_of(worst, size)
        carries, zero = f > SETTINGS.clear * threshold * size, threshold * size
        if threshold <= SETTINGS.faint and _idle(load, y, opens, f, ~carries, zero):
            found, least = (np.where(carries, f, 0.0), carries, worst, done), worst
            if threshold == SETTINGS.carries:
                break
        elif found is not None:  # forces that a better balance shows to be more than none
            found, least = None, np.inf
        system = network.system(f / w, 0.0)
        solve = partial(_solve, system, target=SETTINGS.accurate * worst, stats=stats)
        tangent = Tangent(network, f, w, rigid, imbalance, opens - w, solve)
        step = tangent.direction(SETTINGS.centring * total / m, SETTINGS.accurate)
        t = tangent.length(step, SETTINGS.interior)
        if not t > SETTINGS.stuck:
            break
        y, f, w = y + t * step.u, f + t * step.force, w + t * step.slack
    return found


def threshold_of(imbalance: float, size: float) -> float:
    """Part of the largest force ``size`` above which a force is not zero."""
    return max(SETTINGS.carries, 100.0 * imbalance / size)


def _idle(load, y, opens, f, contacts, zero) -> bool:
    """Whether y proves that these contacts (m,) bool have no more than ``zero`` in all of P: the
    sum of g_i (B y)_i is F . y for all g in P. What rounding leaves of B y < 0 is paid by f."""
    if not contacts.any():
        return True
    work = float(load @ y) + max(0.0, -float(opens.min())) * float(f.sum())
    return max(work, 0.0) <= zero * float(opens[contacts].min()) and f[contacts].max() <= zero


def _solve(system, rhs, _, *, target, stats):
    return system.solve(rhs, target=target, stats=stats)
