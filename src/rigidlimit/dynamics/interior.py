"""Contact dynamics by the central path, where other ways drag: one factorization a step.

Eq. 22 with slacks w > 0 and impulses l = dt f > 0, and complementarity eased to a common value,

    M x = B^T l,    w = p + B x,    l_i w_i = mu,    mu -> 0,

leads to the answer in twenty to forty steps whatever the masses, and whatever forces hold one
another: these the method of multipliers (``newton.py``) builds up and drains by its springs' yield,
a little each time, and with masses of 1 : 1e6 its networks are wrong in turn for thousands of
systems. The path ends amid all forces that answer, so contacts that may bear are told from those
that cannot. Rounding in K = M + B^T D B, D = l / w, keeps the last digits from it:
``active_set.py`` finds them with those contacts. Steps are those of ``equilibrium/smooth_path.py``.

Where overlaps can be undone only to rounding, forces grow without end; the path is left soon.
"""

from functools import partial

import numpy as np

from ..equilibrium.interior import Settings, predictor_corrector
from ..equilibrium.smooth_path import Tangent
from ..linear import LinearStats

STEPS = 60
"""Steps after which the path is given up; 40 are seldom needed."""

INTERIOR = 0.995
"""Part of the way to the nearest bound that a step may go."""

NEAR, WORSE, SPOILT = 1e-4, 10.0, 1e-2
"""A residual so many times the least one, which is below NEAR, shows that rounding has taken over,
or that forces grow without end. Before the end the residual may rise a little; from SPOILT on it
does not come back."""

SHORT, STUCK = 0.01, 5
"""Part of a step that counts as none, and how many of them in turn show that there is no answer."""

DECIDED = 1e3
"""Ratio of l and w e, either way, from which on a contact is known to bear or to be open."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where the path leads nowhere
def follow(problem, network, *, tolerance, max_iterations=STEPS, stats: LinearStats):
    """(forces, decided, steps): at the point with the least residual, and where the path was left.

    Only contacts that bear have forces. Rounding may have spoiled those at the end, but there
    fewer contacts are undecided. network: B with scaled columns, and the inertia. Raises NoRoom.
    """
    B, M, dt = network.B, network.mass, problem.dt
    effective_mass = dt / problem.diagonal
    x, l, w = _begin(problem, network, effective_mass, stats)
    best, least, stuck = np.zeros(len(l)), np.inf, 0
    last = max(0, min(STEPS, max_iterations))
    for step in range(last + 1):
        # by now a contact with l < w e would rather be open; without it others miss next to nothing
        ratio = l / (w * effective_mass)
        force = np.where(ratio > 1.0, l, 0.0) / dt
        residual = problem.residual(force)
        if residual < least:
            best, least = force, residual
        rising = least < NEAR and not residual <= WORSE * least
        decided = np.maximum(ratio, 1.0 / ratio).min(initial=np.inf) > DECIDED
        over = rising and (decided or stuck or not residual <= SPOILT)
        if least <= tolerance or over or stuck == STUCK or step == last:
            break
        solve = partial(_solve, network.system(l / w, 0.0), stats=stats)
        mismatch, rigid = problem.p + B @ x - w, np.zeros(len(l))
        tangent = Tangent(
            network, l, w, rigid, network.carried(l) - M @ x, mismatch, solve, refined=True
        )
        t, change = predictor_corrector(tangent, Settings(fraction=INTERIOR))
        if not t > 0.0:
            break
        stuck = 0 if t > SHORT else stuck + 1
        x, l, w = x + t * change.u, l + t * change.force, w + t * change.slack
    return best, force, step


def speed_needed(problem, network, force) -> float:
    """Lower bound on the speeds [m/s], turns by their arms, that undo all overlaps: Farkas' lemma.

    For any f >= 0 and any x with p + B x >= 0, f . p + (B^T f) . x >= 0. Forces of a path that
    leads nowhere hold one another, B^T f = 0 to rounding, and f . p < 0.
    """
    missing = -float(force @ problem.p)
    if not missing > 0.0:
        return 0.0
    held = float(np.abs(network.carried(force)).sum())
    return missing / held if held > 0.0 else np.inf


def _begin(problem, network, effective_mass, stats):
    """(x, l, w) of contacts as linear springs, lifted: impulses to the largest of these, for among
    unlike masses the light ones may have to pass on what the heavy ones need. Springs of contacts
    that are far open may pull all others open; then it is what one contact alone would need."""
    rhs = -network.carried(effective_mass * problem.p)
    x = _solve(network.system(effective_mass, 0.0), rhs, 0.0, stats=stats)
    w = problem.p + network.B @ x
    largest = max((-effective_mass * w).max(), problem.scale * problem.dt)
    return x, np.full(len(w), largest), np.maximum(w, problem.speed)


def _solve(matrix, rhs, _, *, stats):
    """K^-1 rhs as good as a factorization gives it, whatever accuracy is asked for."""
    return matrix.solve_directly(rhs, stats, refined=False)
