"""The last digits of contact dynamics in nearly determinate packings: active set with one factor.

Gradient steps find the contacts that bear long before the forces have their digits, and in packings
with hardly more contacts than degrees of freedom each digit takes them hundreds of steps. With the
bearing contacts W as equations, eq. 21 is linear, N_WW dl = -w_W for the change dl of the impulses
l = dt f that removes the slack w. In velocities, with D stiff springs in place of the equations,

    (M + B_W^T D B_W) dx = -B_W^T D w_W,    dl = -D (w_W + B_W dx),

one factorization, repeated until the springs' yield is gone (the method of multipliers). Contacts
that would pull leave W, contacts that would close enter it (M. Hintermueller, K. Ito, K. Kunisch,
SIAM J. Optim. 13 (2003) 865). w is computed anew from l each time, so rounding is never amplified
by D.
"""

import numpy as np

from ..network.changing import ChangingSystem
from ..network.price import affordable, price
from ..network.stiffness import LinearStats

SIGMA = 1e7, 1e9
"""Stiffness of the springs over the effective mass of a contact: at first, and where that does not
lead on. Stiffer springs throw more contacts out of W while it is still wrong."""

FEW = 100
"""Changes of W up to which a factorization serves."""

MANY = 300
"""Changes of W in one round that show that the gradient steps have not found it yet."""

LARGEST = 1_000_000
"""Degrees of freedom up to which a factorization is thought of; the price tells whether it pays."""

PATIENCE = 4
"""Rounds with neither a smaller residual nor fewer changes after which it is given up."""


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
    B, dt = network.B, problem.dt
    D = sigma * dt / problem.diagonal
    w = problem.slack(force)
    best, least, waited = force, problem.residual(force, w), 0
    system = ChangingSystem(network, D, force > 0, 0.0, stats)
    noise = 0.1 * tolerance * problem.scale * dt
    rounds, fewest = 0, len(force)
    while least > tolerance and waited < PATIENCE:
        rounds += 1
        dx = system.solve(-(network.BT @ np.where(system.held, D * w, 0.0)))
        ahead = w + B @ dx
        impulse = dt * force - np.where(system.held, D * ahead, 0.0)
        leaves = system.held & (impulse < -noise)
        enters = ~system.held & (ahead * dt / problem.diagonal < -noise)
        changes = np.flatnonzero(leaves | enters)
        if len(changes) > MANY:
            break
        if len(system.changed) + len(changes) > FEW:
            held = system.held ^ (leaves | enters)
            system = ChangingSystem(network, D, held, 0.0, stats)
        else:
            system.toggle(changes)
        force = np.maximum(impulse, 0.0) / dt
        w = problem.slack(force)
        residual = problem.residual(force, w)
        waited = 0 if residual < least or len(changes) < fewest else waited + 1
        fewest = min(fewest, len(changes))
        if residual < least:
            best, least = force, residual
    return best, least, rounds
