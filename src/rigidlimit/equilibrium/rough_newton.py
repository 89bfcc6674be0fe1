"""Newton's method for rough contacts: semismooth, with backtracking on the norm of the residual.

Coulomb's law has no energy whose slope a line search could follow (``smooth_newton.py`` does), and
the systems are unsymmetric.
"""

import numpy as np

from ..status import Status
from .law import ContactLaw
from .mechanics import Mechanics
from .result import Equilibrium

DECREASE = 1e-4
"""Armijo's constant on the norm of the residual."""

HALVINGS = 10
"""Step lengths tried before Newton gives up: 1, 1/2, ... 1/1024."""

LOOSEST, SHARPEN = 1e-2, 0.5
"""Relative residual of the linear systems: at most, and over that of the nonlinear system. The
last keeps the order of convergence (Eisenstat & Walker, choice 2)."""

SECANTS = 30
"""Secant iterations at most."""

NEAR = 0.01
"""Residual over that of the start from which Newton takes over."""

RUNAWAY = 3.0
"""Residual over that of the start at which they are given up."""


def newton(
    mechanics: Mechanics, law: ContactLaw, x: np.ndarray, *, tolerance: float, iterations: int
) -> Equilibrium:
    """Equilibrium r(x, f(w(x))) = 0 from the start x, until mechanics.size(r) <= tolerance."""
    size = mechanics.size

    def look(x):
        w = mechanics.displacement(x)
        force, D = law.respond(w)
        return w, force, D, mechanics.residual(x, force)

    w, force, D, r = look(x)
    norm, solves = np.linalg.norm(r), 0
    status, accuracy = Status.MAX_ITERATIONS, LOOSEST
    while size(r) > tolerance and solves < iterations:
        try:
            dx = mechanics.factorize(D)(r, accuracy=accuracy)
        except np.linalg.LinAlgError:
            status = Status.STALLED
            break
        solves += 1
        for halving in range(HALVINGS + 1):
            step = 0.5**halving
            trial = look(x + step * dx)
            new = np.linalg.norm(trial[3])
            if new <= (1.0 - DECREASE * step) * norm:
                break
        else:
            status = Status.STALLED
            break
        accuracy = min(LOOSEST, SHARPEN * (new / norm) ** 2)
        x, norm = x + step * dx, new
        w, force, D, r = trial
        accuracy = max(accuracy, 0.1 * tolerance / max(size(r), tolerance))
    residual = float(size(r))
    status = Status.CONVERGED if residual <= tolerance else status
    return Equilibrium(x, force, w, status, residual, solves)
