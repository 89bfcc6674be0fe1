"""Contact dynamics by the central path, where other ways drag: one factorization a step.

Eq. 22 with slacks w > 0 and impulses l = dt f > 0, and complementarity eased to a common value,

    M x = B^T l,    w = p + B x,    l_i w_i = mu,    mu -> 0,

leads to the answer in twenty to forty steps whatever the masses, and whatever forces hold one
another: these the method of multipliers (``newton.py``) builds up and drains by its springs' yield,
a little each time, and with masses of 1 : 1e6 its networks are wrong in turn for thousands of
systems. The path ends amid all forces that answer, so contacts that may bear are told from those
that cannot. Rounding in K = M + B^T D B, D = l / w, keeps the last digits from it: ``settle`` finds
them with those contacts as stiff two-sided springs. Steps are those of ``network/central_path.py``.

Where overlaps can be undone only to rounding, forces grow without end; the path is left soon.
"""

from functools import partial

import numpy as np

from ..network.central_path import Tangent, mehrotra
from ..network.changing import ChangingSystem
from ..network.stiffness import LinearStats, StiffnessSystem

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

SIGMA = 1e7, 1e9
"""Stiffness of the springs of ``settle`` over the effective mass of a contact: at first, and where
that does not lead on. Stiffer springs throw more contacts out of W while it is still wrong."""

PATIENCE, GAINED = 4, 0.9
"""Rounds of ``settle`` that neither leave less than this part of the residual, nor change fewer
contacts, after which it is given up."""

FEW = 100
"""Changes of W up to which a factorization serves."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # where the path leads nowhere
def follow(problem, network, *, tolerance, max_iterations=STEPS, stats: LinearStats):
    """(forces, decided, steps): at the point with the least residual, and where the path was left.

    Only contacts that bear have forces. Rounding may have spoiled those at the end, but there
    fewer contacts are undecided. network: B with scaled columns, and the inertia. Raises NoRoom.
    """
    B, BT, M, dt = network.B, network.BT, network.mass, problem.dt
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
        solve = partial(_solve, StiffnessSystem(network, l / w, 0.0), stats=stats)
        mismatch, rigid = problem.p + B @ x - w, np.zeros(len(l))
        tangent = Tangent(network, l, w, rigid, BT @ l - M @ x, mismatch, solve, refined=True)
        t, dx, dl, dw = mehrotra(tangent, interior=INTERIOR)
        if not t > 0.0:
            break
        stuck = 0 if t > SHORT else stuck + 1
        x, l, w = x + t * dx, l + t * dl, w + t * dw
    return best, force, step


def settle(problem, network, force, *, tolerance, stats: LinearStats):
    """(forces, residual): forces of about the same contacts without slack, if it can be.

    The method of multipliers on N_WW dl = -w_W, W those with force. Contacts that would pull leave
    W, those that would close enter it, whatever becomes of the objective meanwhile: W is next to
    right. ``active_set.py`` is for forces that still have far to go. Raises NoRoom.
    """
    least = problem.residual(force)
    for sigma in SIGMA:
        if least > tolerance:
            force, least = _settled(problem, network, force, sigma, tolerance, stats)
    return force, least


def _settled(problem, network, force, sigma, tolerance, stats):
    B, dt = network.B, problem.dt
    D = sigma * dt / problem.diagonal
    noise = 0.1 * tolerance * problem.scale * dt
    w = problem.slack(force)
    best, least, waited, fewest = force, problem.residual(force, w), 0, len(force)
    system = ChangingSystem(network, D, force > 0, 0.0, stats)
    while least > tolerance and waited < PATIENCE:
        held = system.held.copy()
        dx = system.solve(-(network.BT @ np.where(held, D * w, 0.0)))
        ahead = w + B @ dx
        impulse = dt * force - np.where(held, D * ahead, 0.0)
        leaves = held & (impulse < -noise)
        changes = np.flatnonzero(leaves | ~held & (ahead * dt / problem.diagonal < -noise))
        if len(system.changed) + len(changes) > FEW:
            held[changes] = ~held[changes]
            system = ChangingSystem(network, D, held, 0.0, stats)
        else:
            system.toggle(changes)
        force = problem.project(impulse) / dt
        w = problem.slack(force)
        residual = problem.residual(force, w)
        waited = 0 if residual < GAINED * least or len(changes) < fewest else waited + 1
        fewest = min(fewest, len(changes))
        if residual < least:
            best, least = force, residual
    return best, least


def _begin(problem, network, effective_mass, stats):
    """(x, l, w) of contacts as linear springs, lifted: impulses to the largest of these, for among
    unlike masses the light ones may have to pass on what the heavy ones need."""
    rhs = -(network.BT @ (effective_mass * problem.p))
    x = _solve(StiffnessSystem(network, effective_mass, 0.0), rhs, 0.0, stats=stats)
    w = problem.p + network.B @ x
    return x, np.full(len(w), (-effective_mass * w).max()), np.maximum(w, problem.speed)


def _solve(matrix, rhs, _, *, stats):
    """K^-1 rhs as good as a factorization gives it, whatever accuracy is asked for."""
    return matrix.solve_directly(rhs, stats, refined=False)
