"""Rigid contacts with exact Coulomb friction by Newton's method on the natural map (step 1).

The map is not smooth and its derivative singular where contacts stick: forces that move no body
may be added. So each step is that of contacts with springs rho/delta and the forces so far as
prestress, one Newton step of the method of multipliers, from which delta falls as steps succeed
and rises as they fail. Steps must lower the norm of the map below the largest of the last ones
(Grippo, Lampariello & Lucidi 1986): a norm that falls each time ends in points where contacts
change between stick and slip.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from .dense import Dense
from .mechanics import Mechanics
from .natural_map import AtContacts, forces_along, line_search, linearized, natural_map
from .small_newton import balance, displacement, step_for


@dataclass(frozen=True)
class Settings:
    """softness: of rho in the map, over d/tr(W_ii). iterations: linear systems at most. delta: at
    first; shrink, grow: after a whole step, and after one shorter than ``short`` or none; least:
    not below. memory: steps of which the largest norm counts. patience: linear systems, of networks
    that are not small (``dense.SMALL``), in which the norm has to halve. accuracy: of linear
    systems, over delta; its error in forces that move no body stays in the solution."""

    softness: float = 0.3
    iterations: int = 30
    delta: float = 1e-2
    shrink: float = 0.2
    grow: float = 10.0
    least: float = 1e-5
    short: float = 0.2
    memory: int = 10
    patience: int = 8
    accuracy: float = 1e-6


@dataclass(frozen=True)
class NaturalNewton:
    """force (m, d): of least residual; residual: as of ``multipliers``; solves: linear
    systems; history: residual after each step."""

    force: np.ndarray
    residual: float
    solves: int
    history: np.ndarray


def natural_newton(
    mechanics: Mechanics,
    friction: np.ndarray,
    rho: np.ndarray,
    *,
    scale: float,
    tolerance: float,
    force: np.ndarray,
    settings: Settings = Settings(),
) -> NaturalNewton:
    """Contact forces (m, d) from the start ``force``; arguments as of ``rigid_contacts``."""
    best, history = np.array(force, float), np.empty(settings.iterations + 1)
    limits = (
        float(scale), float(tolerance), settings.softness, settings.delta, settings.shrink,
        settings.grow, settings.least, settings.short,
    )  # fmt: skip
    if isinstance(mechanics, Dense):
        solves, count, residual = _compiled(
            mechanics.network, mechanics.offset, friction, rho, limits, settings.memory, best,
            history,
        )  # fmt: skip
    else:
        solves, count, residual = _sparse(mechanics, friction, rho, limits, settings, best, history)
    return NaturalNewton(best, residual, solves, history[1:count])


def _sparse(mechanics, mu, rho, limits, settings, best, history):
    """(linear systems, entries of history, residual); best (m, d) in place."""
    scale, tolerance, softness, delta, shrink, grow, least, short = limits
    soft, f = softness * rho, best.copy()
    F, F_there, there, u_there, df = (np.empty_like(f) for _ in range(5))
    D, b = np.empty((*f.shape, f.shape[1])), np.empty_like(f)
    norms = np.full(settings.memory, -np.inf)
    residual, count, solves = np.inf, 0, 0
    mark, marked = np.inf, 0
    while True:
        x = mechanics.start(f)
        u = mechanics.displacement(x)
        _, e, _ = natural_map(f, u, mu, rho, F_there)
        norm = norms[count % len(norms)] = natural_map(f, u, mu, soft, F)[0]
        if norm <= 0.5 * mark:
            mark, marked = norm, solves
        history[count] = e / scale
        count += 1
        if not e / scale >= residual:
            best[:], residual = f, e / scale
        step = 0.0
        while step == 0.0:
            waited = solves - marked >= settings.patience
            if residual <= tolerance or solves == settings.iterations or waited:
                return solves, count, residual
            linearized(f, u, mu, soft, delta, F, D, b)
            solves += 1
            dx = _solved(mechanics, D, b, x, settings.accuracy * delta)
            if dx is not None:
                forces_along(D, b, mechanics.change(dx), df)
                # balanced to rounding, also where dx is not
                du = mechanics.change(mechanics.start(f + df) - x)
                ends = AtContacts(there, u_there)
                step = line_search(
                    AtContacts(f, u), AtContacts(df, du), mu, soft, norms.max(), ends, F_there
                )
            if step == 0.0 and delta >= 1.0:
                return solves, count, residual
            delta = _next_delta(delta, step, shrink, grow, least, short)
        f, there = there, f


def _solved(mechanics, D, b, x, accuracy):
    """The change of x that goes with df = b - D du; None if there is none."""
    try:
        return mechanics.factorize(D)(np.zeros_like(x), b, accuracy=accuracy)
    except np.linalg.LinAlgError:
        return None


@njit(cache=True, nogil=True)
def _next_delta(delta, step, shrink, grow, least, short):
    """Less after a whole step, more after a short one or none."""
    if step == 1.0:
        return max(shrink * delta, least)
    return min(grow * delta, 1.0) if step < short else delta


@njit(cache=True, nogil=True)
def _compiled(network, offset, mu, rho, limits, memory, best, history):
    """``_sparse`` for the networks of ``dense``, without a way through Python."""
    scale, tolerance, softness, delta, shrink, grow, least, short = limits
    (m, d), n = best.shape, len(network[4])
    f, F, F_there = best.copy(), np.empty((m, d)), np.empty((m, d))
    there, u, u_there = np.empty((m, d)), np.empty((m, d)), np.empty((m, d))
    df, du, D, b = np.empty((m, d)), np.empty((m, d)), np.empty((m, d, d)), np.empty((m, d))
    room = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n, np.int32)
    x, r, dx, rest = np.zeros(n), np.empty(n), np.empty(n), np.zeros((m, d))
    soft = softness * rho
    norms = np.full(memory, -np.inf)
    residual, count, solves = np.inf, 0, 0
    while True:
        r[:] = 0.0
        balance(network, r, f, x)  # x that balances f, its sign turned
        for k in range(n):
            x[k] = -x[k]
        displacement(network[2], offset, x, u)
        _, e, _ = natural_map(f, u, mu, rho, F_there)
        norms[count % memory] = natural_map(f, u, mu, soft, F)[0]
        history[count] = e / scale
        count += 1
        if not e / scale >= residual:
            best[:], residual = f, e / scale
        step = 0.0
        while step == 0.0:
            if residual <= tolerance or solves == len(history) - 1:
                return solves, count, residual
            linearized(f, u, mu, soft, delta, F, D, b)
            solves += 1
            if step_for(network, D, b, dx, room):
                displacement(network[2], rest, dx, du)
                forces_along(D, b, du, df)
                ends = AtContacts(there, u_there)
                step = line_search(
                    AtContacts(f, u), AtContacts(df, du), mu, soft, norms.max(), ends, F_there
                )
            if step == 0.0 and delta >= 1.0:
                return solves, count, residual
            delta = _next_delta(delta, step, shrink, grow, least, short)
        f, there = there, f
