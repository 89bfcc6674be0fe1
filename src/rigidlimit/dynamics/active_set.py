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
W, what closes enters it; both are taken into the one factorization by the Woodbury formula. w is
computed anew from l each time, so rounding is never amplified by D.
"""

import numpy as np

from ..network.changing import ChangingSystem
from ..network.price import affordable, price
from ..network.stiffness import LinearStats

SIGMA = 1e7, 1e9
"""Stiffness of the springs over the effective mass of a contact: at first, and where that does not
lead on."""

FEW = 100
"""Changes of W up to which a factorization serves."""

LARGEST = 1_000_000
"""Degrees of freedom up to which a factorization is thought of; the price tells whether it pays."""

ROUNDS = 60
"""At most, with one stiffness; ten are the rule."""

SHORTEST = 1e-3
"""Part of a step below which the way is given up."""


def pays(problem, force, gradient_steps, reached, tolerance) -> bool:
    """Whether a factorization is cheaper than the gradient steps that are still to come.

    gradient_steps: taken so far, to the residual ``reached``.
    """
    n = problem.B.shape[1]
    if not affordable(n, LARGEST) or np.count_nonzero(force) > n or not 0.0 < reached < 1.0:
        return False
    remaining = np.log(reached / tolerance) * gradient_steps / -np.log(reached)
    return remaining > price(n) / 3


def finish(problem, network, force, *, tolerance, stats: LinearStats):
    """(forces, residual, rounds): better forces than ``force`` (m,), to ``tolerance`` if it can be.

    network: B with scaled columns, and the inertia.
    """
    least, rounds = problem.residual(force), 0
    for sigma in SIGMA:
        if least > tolerance:
            force, least, more = _rounds(problem, network, force, sigma, tolerance, stats)
            rounds += more
    return force, least, rounds


def _rounds(problem, network, force, sigma, tolerance, stats):
    dt, B = problem.dt, network.B
    D = sigma * dt / problem.diagonal
    noise = 0.1 * tolerance * problem.scale * problem.diagonal
    here = _Point(problem, force)
    system, rounds = None, 0
    while here.residual > tolerance and rounds < ROUNDS:
        rounds += 1
        held = (here.force > 0) | (here.slack < -noise)
        system = _with(system, held, network, D, stats)
        dx = system.solve(-(network.BT @ np.where(held, D * here.slack, 0.0)), refined=False)
        change = np.where(held, -D * (here.slack + B @ dx) / dt, 0.0)
        there = _descent(problem, here, change)
        if there is None:
            break
        here = there
    return here.force, here.residual, rounds


def _with(system, held, network, D, stats) -> ChangingSystem:
    """The system of the working set ``held``: the one there is, if few changes make it that."""
    if system is not None:
        changes = np.flatnonzero(held ^ system.held)
        if len(system.changed) + len(changes) <= FEW:
            system.toggle(changes)
            return system
    return ChangingSystem(network, D, held, 0.0, stats)


class _Point:
    """Forces (m,) with slack (m,), residual and objective 1/2 f^T N f + p^T f of eq. 22."""

    def __init__(self, problem, force):
        self.force, self.slack = force, problem.slack(force)
        self.residual = problem.residual(force, self.slack)
        self.objective = 0.5 * float(force @ (self.slack + problem.p))


def _descent(problem, here, change) -> _Point | None:
    """The lowest point found on max(0, f + a change) for a = 1, 1/2, ..., or None if none is lower.

    Near the end the objective is rounding, and a whole step counts by its residual.
    """
    best, part = here, 1.0
    while part >= SHORTEST:
        there = _Point(problem, np.maximum(here.force + part * change, 0.0))
        if part == 1.0 and there.residual < 0.1 * here.residual:
            return there
        if there.objective < best.objective:
            best = there
        elif best is not here:
            break
        part *= 0.5
    return None if best is here else best
