"""A point amid the admissible forces P = {f >= 0 : B^T f = F}, and proof of what can carry nothing.

    B^T f = F,    w = B y,    f_i w_i = mu,    f, w > 0,    mu -> 0:

the central path of a linear program without an objective. By Goldman and Tucker's theorem it ends
with f_i > 0 wherever some admissible f has it, and w_i > 0 elsewhere: as F . y = f . B y for every
admissible f, none has more than F . y / w_i on contact i. Newton's steps are those of
``equilibrium/smooth_path.py``, with mu a tenth of what it was each time; some ten, of a few dozen
conjugate gradient steps each.
"""

from functools import partial

import numpy as np

from ..equilibrium.smooth_path import Tangent
from ..linear import LinearStats, Network

CENTRING = 0.1
"""mu over what it was the step before."""

INTERIOR = 0.9
"""Part of the way to the nearest bound that a step may go."""

BEGIN = 0.03
"""Least force to begin with, over the largest."""

ACCURATE = 1e-2
"""Accuracy of the linear solves, over the imbalance."""

CARRIES, FAINT = 1e-10, 1e-8
"""A force above this part of the largest is not zero, if the balance is good enough to tell; and
the part up to which a balance that is not counts."""

CLEAR = 1e3
"""A force so many times the threshold surely is none that is zero."""

STEPS, STUCK = 40, 1e-4
"""Steps after which the path is given up, and the part of a step that counts as none."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where the path leads nowhere
def centre(network: Network, load: np.ndarray, near: np.ndarray):
    """(f (m,), carries (m,) bool, |B^T f - F|_inf, steps), or None where the path does not come to
    tell which contacts carry.

    near (m,): forces that about balance the load. carries: which have more than 1e-10 of the
    largest, or a hundred times the imbalance; the others are proven to have less in all of P.
    """
    B, m = network.B, len(near)
    size, stats = float(near.max()), LinearStats()
    f, y, w, rigid = np.maximum(near, BEGIN * size), np.zeros(B.shape[1]), np.ones(m), np.zeros(m)
    found, least = None, np.inf
    for done in range(STEPS):
        imbalance, opens = network.load_of(f) - load, B @ y
        worst, total = float(np.abs(imbalance).max()), float(f @ w)
        if not np.isfinite(worst + total) or (found is not None and worst > 0.5 * least):
            break
        threshold = threshold_of(worst, size)
        carries, zero = f > CLEAR * threshold * size, threshold * size
        if threshold <= FAINT and _idle(load, y, opens, f, ~carries, zero):
            found, least = (np.where(carries, f, 0.0), carries, worst, done), worst
            if threshold == CARRIES:
                break
        elif found is not None:  # forces that a better balance shows to be more than none
            found, least = None, np.inf
        system = network.system(f / w, 0.0)
        solve = partial(_solve, system, target=ACCURATE * worst, stats=stats)
        tangent = Tangent(network, f, w, rigid, imbalance, opens - w, solve)
        step = tangent.direction(CENTRING * total / m, ACCURATE)
        t = tangent.length(step, INTERIOR)
        if not t > STUCK:
            break
        y, f, w = y + t * step.u, f + t * step.force, w + t * step.slack
    return found


def threshold_of(imbalance: float, size: float) -> float:
    """Part of the largest force ``size`` above which a force is not zero."""
    return max(CARRIES, 100.0 * imbalance / size)


def _idle(load, y, opens, f, contacts, zero) -> bool:
    """Whether y proves that these contacts (m,) bool have no more than ``zero`` in all of P: the
    sum of g_i (B y)_i is F . y for all g in P. What rounding leaves of B y < 0 is paid by f."""
    if not contacts.any():
        return True
    work = float(load @ y) + max(0.0, -float(opens.min())) * float(f.sum())
    return max(work, 0.0) <= zero * float(opens[contacts].min()) and f[contacts].max() <= zero


def _solve(system, rhs, _, *, target, stats):
    return system.solve(rhs, target=target, stats=stats)
