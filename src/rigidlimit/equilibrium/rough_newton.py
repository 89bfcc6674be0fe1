"""Newton's method for rough contacts: semismooth, with backtracking on the norm of the residual.

Coulomb's law has no energy whose slope a line search could follow (``smooth_newton.py`` does), and
the systems are unsymmetric.
"""

from typing import NamedTuple

import numpy as np

from ..status import Status
from .law import ContactLaw
from .mechanics import Mechanics
from .result import Equilibrium


class Settings(NamedTuple):
    """Of Newton's method and of the secant iterations before it. (Compiled code reads tuples.)

    decrease: Armijo's constant on the norm of the residual.
    halvings: of the step before Newton gives up.
    loosest: relative residual of the linear systems at most.
    sharpen: the same over that of the nonlinear system, squared, which keeps the order of
        convergence (Eisenstat & Walker, choice 2).
    secants: secant iterations at most.
    secant_accuracy: relative residual of their linear systems.
    near: residual over that of the start from which Newton takes over.
    runaway: residual over that of the start at which they are given up.
    """

    decrease: float = 1e-4
    halvings: int = 10
    loosest: float = 1e-2
    sharpen: float = 0.5
    secants: int = 30
    secant_accuracy: float = 1e-2
    near: float = 0.01
    runaway: float = 3.0


SETTINGS = Settings()


def newton(
    mechanics: Mechanics,
    law: ContactLaw,
    x: np.ndarray,
    *,
    tolerance: float,
    iterations: int,
    rounding: float = 0.0,
    settings: Settings = SETTINGS,
) -> Equilibrium:
    """Equilibrium r(x, f(w(x))) = 0 from the start x, until mechanics.size(r) <= tolerance, or
    until a step reduces the norm of r by less than half below ``rounding``."""
    size, norm = mechanics.size, mechanics.sums.norm

    def look(x: np.ndarray):
        w = mechanics.displacement(x)
        force, D = law.respond(w)
        return w, force, D, mechanics.residual(x, force)

    w, force, D, r = look(x)
    last, solves = norm(r), 0
    status, accuracy = Status.MAX_ITERATIONS, settings.loosest
    while size(r) > tolerance and solves < iterations:
        try:
            dx = mechanics.factorize(D)(r, accuracy=accuracy)
        except np.linalg.LinAlgError:
            status = Status.STALLED
            break
        solves += 1
        for halving in range(settings.halvings + 1):
            step = 0.5**halving
            trial = look(x + step * dx)
            new = norm(trial[3])
            if new <= (1.0 - settings.decrease * step) * last:
                break
        else:
            status = Status.STALLED
            break
        accuracy = min(settings.loosest, settings.sharpen * (new / last) ** 2)
        x = x + step * dx
        slow, last = new > 0.5 * last, new
        w, force, D, r = trial
        accuracy = max(accuracy, 0.1 * tolerance / max(size(r), tolerance))
        if slow and size(r) <= rounding:
            break
    residual = float(size(r))
    status = Status.CONVERGED if residual <= tolerance else status
    return Equilibrium(x, force, w, status, residual, solves)
