"""Equilibrium of a network of rough contacts: Newton from the given start or from secant steps,
and the interior path for what these do not reach, finished by Newton on the exact law."""

from dataclasses import dataclass, replace

import numpy as np

from ..status import Status
from .dense import Dense
from .law import ContactLaw
from .mechanics import Mechanics
from .result import Equilibrium
from .rough_newton import NEAR, RUNAWAY, SECANTS, newton
from .rough_path import advance, start

SECANT_ACCURACY = 1e-2
"""Relative residual of their linear systems."""


@dataclass(frozen=True)
class Settings:
    """newton: iterations of Newton from the given start. path: of the interior path. finish: of
    Newton from the path, tried each time the mean complementarity product has fallen by ``again``,
    from ``first`` of its initial value on until ``last`` of it, below which it is rounding.
    The path turns back, and is given up, where that product has not fallen by one percent in
    ``patience`` iterations. starts: whether Newton is tried from the start."""

    starts: bool = True
    newton: int = 30
    path: int = 60
    finish: int = 12
    first: float = 1e-2
    again: float = 1e-1
    last: float = 1e-20
    patience: int = 30


def solve(
    mechanics: Mechanics,
    law: ContactLaw,
    x: np.ndarray,
    *,
    tolerance: float,
    force_size: float,
    settings: Settings = Settings(),
) -> tuple[Equilibrium, tuple[str, ...]]:
    """Equilibrium of ``mechanics`` and ``law`` from the start x, and the routes that were taken;
    where none was found, the end of the path.

    tolerance: on ``Mechanics.size`` of the residual. force_size [N]: a usual
    contact force, from which the path starts.
    """
    solves, routes = 0, []

    def finish(x, iterations, name):
        nonlocal solves
        found = newton(mechanics, law, x, tolerance=tolerance, iterations=iterations)
        solves += found.iterations
        routes.append(name)
        return found

    if settings.starts and isinstance(mechanics, Dense) and not law.associated:
        found, name = mechanics.equilibrium(law, x, tolerance, settings.newton, force_size)
        solves += found.iterations
        routes.append(name)
        if found.converged:
            return found, tuple(routes)
    elif settings.starts:
        for name, from_here, spent in _starts(mechanics, law, x, force_size):
            found = finish(from_here, settings.newton, name)
            solves += spent
            if found.converged:
                return replace(found, iterations=solves), tuple(routes)
    routes.append("path")
    at, first, tried = start(mechanics, law, force_size), None, np.inf
    products = []
    for _ in range(settings.path):
        try:
            t = advance(mechanics, law, at)
        except (np.linalg.LinAlgError, ZeroDivisionError):
            break  # singular, of all contacts or of one: multipliers grow without bound
        solves += 1
        first = first or t
        products.append(t)
        if len(products) > settings.patience and t > 0.99 * products[-1 - settings.patience]:
            break
        if not t > settings.last * first:  # also where it is no number
            break
        if t > settings.first * first or t > settings.again * tried:
            continue
        tried = t
        found = finish(at.x, settings.finish, "finish")
        if found.converged:
            return replace(found, iterations=solves), tuple(routes)
    # where there is no equilibrium, the path runs away along a motion that nothing resists
    residual = mechanics.size(mechanics.residual(at.x, at.force))
    w = mechanics.displacement(at.x)
    return Equilibrium(at.x, at.force, w, Status.STALLED, residual, solves), tuple(routes)


def _starts(mechanics, law, x, force_size):
    """(name, x, linear systems spent) from which Newton is tried: the given x if any contact bears
    there; then the end of secant iterations, from all contacts stuck if none bears.

    A secant iteration solves with the forces' ratios to displacements in place of their slopes: a
    symmetric system, which lets contacts slide to where their bounds are about right.
    """
    if law.associated:  # least energy: the path is made for it
        return
    w = mechanics.displacement(x)
    force = law.force(w)
    r = mechanics.residual(x, force)
    bears = bool(force.any())
    if bears:
        yield "newton", x, 0
    first = norm = np.linalg.norm(r)
    for spent in range(1, SECANTS + 1):
        D = law.secant(w, force) if bears or spent > 1 else law.sticking(force_size)
        try:
            x = x + mechanics.factorize(D)(r, accuracy=SECANT_ACCURACY)
        except np.linalg.LinAlgError:
            return
        w = mechanics.displacement(x)
        force = law.force(w)
        r = mechanics.residual(x, force)
        norm = np.linalg.norm(r)
        if not norm < RUNAWAY * first:
            return
        if norm <= NEAR * first:
            break
    yield "secant", x, spent
