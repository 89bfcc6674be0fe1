"""Least and greatest force of single contacts in large systems, by the central path.

    max sign f_i   subject to   B^T f = F, f >= 0        (forces reached)
    min F . y      subject to   B y >= sign e_i          (bounds from outside)

Both at once, with slacks w = B y - sign e_i and f_i w_i = mu -> 0: every y on the way with w >= 0
is a bound whatever the accuracy of f, since F . y = f . B y >= sign f_i for all admissible f. Steps
are those of ``equilibrium/smooth_path.py`` for rigid contacts, with B^T D B, D = f / w.
They begin amid the admissible forces and, where there is a motion that opens every contact, with
w > 0 on y; conjugate gradients then take some hundred products a step, also near the end, where
other linear programs factorize: 120,000 contacts take three seconds, twenty steps.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..equilibrium.interior import predictor_corrector
from ..equilibrium.smooth_path import LOOSE as PATH
from ..equilibrium.smooth_path import Tangent
from ..linear import LinearStats, Network


@dataclass(frozen=True)
class Settings:
    """When a path to the least or greatest force ends.

    sharp: an outer bound this near to a force that is reached, over the largest force, is good
        enough; reached means balanced to as much.
    steps: steps after which the path is given up; twenty are usual.
    loose: accuracy of the linear solves, over their right side.
    repairs: solves that bring the last forces of the path, which loose solves leave unbalanced, to
        balance.
    repair_steps: conjugate gradient steps of each.
    grown: A force so many times the largest grows without end, where some forces balance one
        another.
    stuck: a step below this fraction means that rounding dominates, or that there is no
        bound.
    """

    sharp: float = 1e-7
    steps: int = 60
    loose: float = 1e-3
    repairs: int = 6
    repair_steps: int = 2000
    grown: float = 1e6
    stuck: float = 1e-3


SETTINGS = Settings()


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where there is no end
def end(
    network: Network,
    load: np.ndarray,
    inside: np.ndarray,
    opening: np.ndarray | None,
    i: int,
    sign: float,
):
    """(bound of sign f_i from outside, greatest sign f_i reached); a bound of inf if none is found.

    inside (m,): positive admissible forces. opening (n,): y with B y >= 1, or None. Loads and
    columns of B of order one.
    """
    B, m = network.B, len(inside)
    size = float(inside.max())
    one = np.zeros(m)
    one[i] = sign
    f = inside.copy()
    y = np.zeros(B.shape[1]) if opening is None else 2.0 * opening
    w = np.ones(m) if opening is None else B @ y - one
    bound, stats = np.inf, LinearStats()
    for _ in range(SETTINGS.steps):
        imbalance, opens = network.load_of(f) - load, B @ y - one
        bound = min(bound, _bound(load, y, opens, opening))
        gap = float(f @ w)
        system = network.system(f / w, 0.0)
        endless = opening is None and f[i] > SETTINGS.grown * size
        if gap <= SETTINGS.sharp * size or endless or not np.isfinite(gap):
            break
        solve = partial(_solve, system, stats=stats)
        tangent = Tangent(network, f, w, np.zeros(m), imbalance, opens - w, solve)
        t, step = predictor_corrector(tangent, PATH)
        if not t > SETTINGS.stuck:
            break
        y, f, w = y + t * step.u, f + t * step.force, w + t * step.slack
    f, worst = _balanced(network, load, f, system, stats)
    if worst <= SETTINGS.sharp * max(size, float(f.max())):
        return bound, min(sign * float(f[i]), bound)
    return bound, sign * float(inside[i])


def _solve(system, rhs, _, *, stats):
    """Solve to the same accuracy in every step of the path."""
    return system.solve(rhs, target=SETTINGS.loose * float(np.abs(rhs).max()), stats=stats)


def _balanced(network, load, f, system, stats):
    """(forces near f >= 0 that balance the load as well as can be had, |B^T f - F|_inf)."""
    best, least = f, np.inf
    for _ in range(SETTINGS.repairs):
        imbalance = network.load_of(f) - load
        worst = float(np.abs(imbalance).max())
        if not worst < 0.5 * least:
            break
        best, least = f, worst
        du, _, _ = system.iterate(
            imbalance, target=SETTINGS.loose * worst, max_steps=SETTINGS.repair_steps, stats=stats
        )
        f = np.maximum(f - system.tangent * (network.B @ du), 0.0)
    return best, least


def _bound(load, y, opens, opening) -> float:
    """F . y of a y that is made admissible: inf if it cannot be."""
    short = max(0.0, -float(opens.min()))
    if short == 0.0:
        return float(load @ y)
    return np.inf if opening is None else float(load @ (y + short * opening))
