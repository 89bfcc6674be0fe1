"""The method of multipliers (``multipliers``) for the networks of ``dense``, compiled."""

import numpy as np
from numba import njit

from .law import respond
from .rough_newton import SECANTS
from .small_newton import balance, displacement, equilibrium_in, room_for

CONVERGED, EXHAUSTED, UNSOLVED = 0, 1, 2
"""What ``ahead`` ends with: at the tolerance; out of iterations or of softer springs; at an inner
problem that Newton did not solve."""


@njit(cache=True, nogil=True)
def errors(force, velocity, mu, rho, kept, w, back, D, e):
    """e_i (m,) of ``multipliers``, and the place of the largest."""
    _lead(force, rho, velocity, w, kept)
    nowhere = np.zeros(len(e), np.bool_)
    respond(w, rho, rho, mu, kept, 2.0, nowhere, kept, back, D)
    worst = 0
    for i in range(len(e)):
        total = 0.0
        for b in range(force.shape[1]):
            total += (force[i, b] - back[i, b]) ** 2
        e[i] = np.sqrt(total) / rho[i]
        if e[i] > e[worst] or np.isnan(e[i]):
            worst = i
    return worst


@njit(cache=True, nogil=True)
def _lead(force, springs, offset, shifted, kept):
    """Prestress by ``force``: displacements less those at which the springs bear it, and what is
    kept along the tangents."""
    for i in range(len(force)):
        shifted[i, 0] = offset[i, 0] - force[i, 0] / springs[i]
        for b in range(1, force.shape[1]):
            shifted[i, b] = offset[i, b]
            kept[i, b - 1] = force[i, b]


@njit(cache=True, nogil=True)
def ahead(network, offset, unit, mu, rho, limits, s, modest, force, x, history, ways):
    """Outer iterations of ``multipliers`` as far as Newton and secants lead; force, x, history and
    ways in place. modest: the largest s that is not bold. Returns (end, s, iterations, linear
    systems, residual, worst contact)."""
    (
        scale, tolerance, growth, stiffest, softest, inner, loosest, iterations, softer, bold,
        thrift, patience, usual,
    ) = limits  # fmt: skip
    (m, d), n = force.shape, len(x)
    kept, shifted, w, back = (
        np.empty((m, d - 1)), np.empty((m, d)), np.empty((m, d)), np.empty((m, d))
    )  # fmt: skip
    e, springs, nowhere = np.empty(m), np.empty(m), np.zeros(m, np.bool_)
    nothing, room = np.zeros(n), room_for(m, d, n)
    y, solves = np.empty(n), 0
    for outer in range(len(history) + 1):
        displacement(network[2], offset, x, shifted)
        worst = errors(force, shifted, mu, rho, kept, w, back, room[1][0], e)
        residual = e[worst] / scale
        if outer > 0:
            history[outer - 1] = residual
        if residual <= tolerance:
            return CONVERGED, s, outer, solves, residual, worst
        if s < softest or outer == len(history):
            return EXHAUSTED, s, outer, solves, residual, worst
        for i in range(m):
            springs[i] = s * rho[i]
        _lead(force, springs, offset, shifted, kept)
        law = springs, softer * springs, mu, kept, 2.0, nowhere, kept
        goal = max(min(inner * residual, loosest), 0.1 * tolerance)
        for k in range(n):
            y[k] = x[k]
        try_only = s > modest
        spent, left, ways[outer] = equilibrium_in(
            network, shifted, law, unit, y, w, back, goal, patience if try_only else iterations,
            max(usual, force[:, 0].mean()), 0 if try_only else SECANTS, room,
        )  # fmt: skip
        solves += spent
        if left > goal and not try_only:
            return UNSOLVED, s, outer, solves, residual, worst
        if left > goal:
            s, bold = modest, np.sqrt(bold)
            continue
        for i in range(m):
            for b in range(d):
                force[i, b] = back[i, b]
        balance(network, nothing, force, y)  # x that balances these forces
        for k in range(n):
            x[k] = -y[k]
        modest = min(growth * s, stiffest)
        s = min(max(growth, bold * thrift ** (spent - 1)) * s, stiffest)
    return EXHAUSTED, s, len(history), solves, residual, worst
