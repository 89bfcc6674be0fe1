"""Equilibrium of a network of rough contacts: Newton from the given start or from secant steps,
the interior path for what these do not reach, finished by Newton on the exact law, and where that
does not lead to one either, relaxation, which also detects that there is none."""

from dataclasses import dataclass, replace

import numpy as np

from .._support.deadline import late
from ..status import Status
from . import cone_path, rough_path
from .dense import Dense
from .law import ContactLaw
from .mechanics import Mechanics
from .relaxation import SEARCH, Relaxation, relax
from .result import Equilibrium
from .rough_newton import SETTINGS as NEWTON
from .rough_newton import newton


@dataclass(frozen=True)
class Settings:
    """newton: iterations of Newton from the given start. path: of the interior path. finish: of
    Newton from the path, tried each time the mean complementarity product has fallen by ``again``,
    from ``first`` of its initial value on until ``last`` of it, below which it is rounding.
    The path turns back, and is given up, where that product has not fallen by one percent in
    ``patience`` iterations. complementary: part of twice the energy below which the product of
    forces and openings at the end of the path counts as none, for the associated law, whose
    displacements near the edge of what friction carries grow too large for Newton to finish.
    starts: whether Newton is tried from the start. relaxation: from the start, where nothing else
    has led to an equilibrium; None: not tried."""

    starts: bool = True
    newton: int = 30
    path: int = 60
    finish: int = 12
    first: float = 1e-2
    again: float = 1e-1
    last: float = 1e-20
    patience: int = 30
    complementary: float = 1e-13
    relaxation: Relaxation | None = None


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
    where none was found, the end of the path, or of a relaxation that runs away, whose status is
    NO_EQUILIBRIUM.

    tolerance: on ``Mechanics.size`` of the residual. force_size [N]: a usual
    contact force, from which the path starts.
    """
    search = _Search(mechanics, law, tolerance, force_size)
    found = search.from_start(x, settings.newton) if settings.starts else None
    if found is None:
        found = search.along_path(settings)
    if not found.converged and settings.relaxation is not None:
        found = search.relaxed(x, settings.relaxation) or found
    return replace(found, iterations=search.solves), tuple(search.routes)


class _Search:
    """What one call of ``solve`` tried. routes: names of the ways; solves: linear systems."""

    def __init__(self, mechanics: Mechanics, law: ContactLaw, tolerance: float, force_size: float):
        self.mechanics, self.law = mechanics, law
        self.tolerance, self.force_size = tolerance, force_size
        self.routes, self.solves = [], 0

    def from_start(self, x: np.ndarray, iterations: int) -> Equilibrium | None:
        """By Newton from x or from secant steps, or None."""
        mechanics, law = self.mechanics, self.law
        if law.associated:  # least energy: the path is made for it
            return None
        if isinstance(mechanics, Dense):
            return self._noted(
                *mechanics.equilibrium(law, x, self.tolerance, iterations, self.force_size)
            )
        for name, here, spent in self._starts(x):
            self.solves += spent
            if (found := self._newton(here, iterations, name)) is not None:
                return found
        return None

    def _starts(self, x):
        """(name, x, linear systems spent) from which Newton is tried: the given x if any contact
        is active there; then the end of secant iterations, from all contacts stuck if none is.

        A secant iteration solves with the forces' ratios to displacements in place of their slopes:
        a symmetric system, which lets contacts slide to where their bounds are about right.
        """
        mechanics, law, sums = self.mechanics, self.law, self.mechanics.sums
        w = mechanics.displacement(x)
        force = law.force(w)
        r = mechanics.residual(x, force)
        bears = sums.any(force)
        if bears:
            yield "newton", x, 0
        first = norm = sums.norm(r)
        for spent in range(1, NEWTON.secants + 1):
            D = law.secant(w, force) if bears or spent > 1 else law.sticking(self.force_size)
            try:
                x = x + mechanics.factorize(D)(r, accuracy=NEWTON.secant_accuracy)
            except np.linalg.LinAlgError:
                return
            w = mechanics.displacement(x)
            force = law.force(w)
            r = mechanics.residual(x, force)
            norm = sums.norm(r)
            if not norm < NEWTON.runaway * first:
                return
            if norm <= NEWTON.near * first:
                break
        yield "secant", x, spent

    def _newton(self, x, iterations, name) -> Equilibrium | None:
        found = newton(self.mechanics, self.law, x, tolerance=self.tolerance, iterations=iterations)
        return self._noted(found, name)

    def _noted(self, found, name) -> Equilibrium | None:
        """``found`` where it is one."""
        self.solves += found.iterations
        self.routes.append(name)
        return found if found.converged else None

    def relaxed(self, x: np.ndarray, settings: Relaxation) -> Equilibrium | None:
        """By relaxation from x, or how that runs away; None where it does neither."""
        options = dict(tolerance=self.tolerance, force_size=self.force_size, settings=settings)
        found = relax(self.mechanics, self.law, x, **options)
        self._noted(found, "relaxation")
        return None if found.status is Status.STALLED else found

    def along_path(self, settings: Settings) -> Equilibrium:
        """By the interior path, or where that ends."""
        mechanics, law = self.mechanics, self.law
        self.routes.append("path")
        path = cone_path if law.associated else rough_path
        at, first, tried, products = path.start(mechanics, law, self.force_size), None, np.inf, []
        for _ in range(settings.path):
            if late(1.0 if law.associated else SEARCH):
                break
            try:
                t = path.advance(mechanics, law, at)
            except (np.linalg.LinAlgError, ZeroDivisionError):
                break  # singular, of all contacts or of one: multipliers grow without bound
            self.solves += 1
            first = first or t
            products.append(t)
            if len(products) > settings.patience and t > 0.99 * products[-1 - settings.patience]:
                break
            if not t > settings.last * first:  # also where it is no number
                break
            if t > settings.first * first or t > settings.again * tried:
                continue
            tried = t
            if (found := self._newton(at.x, settings.finish, "finish")) is not None:
                return found
        # where there is no equilibrium, the path runs away along a motion that nothing resists
        residual = mechanics.size(mechanics.residual(at.x, at.force))
        w = mechanics.displacement(at.x)
        status = Status.STALLED
        if law.associated and residual <= self.tolerance:
            sums = mechanics.sums
            product = sums.total(float(sums.own(at.force * at.opening).sum()))
            work = sums.total(float(sums.own(at.force * law.give(at.force)).sum()))
            if 0.0 <= product <= settings.complementary * work:
                status = Status.CONVERGED
        return Equilibrium(at.x, at.force, w, status, residual, self.solves)
