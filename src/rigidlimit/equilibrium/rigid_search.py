"""The methods for rigid contacts with friction, and where they stand. ``multipliers.py`` says what
they are, and in which order they take turns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._support.arrays import contiguous
from .coulomb_path import CoulombPath
from .dense import Dense
from .law import ContactLaw
from .locked import locked_forces
from .natural_map import into_cones, natural_map
from .natural_newton import natural_newton
from .rough_newton import newton
from .sweeps import RoughContacts, accelerated


@dataclass(frozen=True)
class Iterate:
    """Forces (m, d), the unknowns that go with them, and the worst contact."""

    force: np.ndarray
    x: np.ndarray
    residual: float
    worst: int


class Search:
    """Where the methods of ``rigid_contacts`` stand, and the iterate of least residual."""

    def __init__(self, mechanics, friction, rho, scale, tolerance, M, settings):
        self.mechanics, self.friction, self.rho = mechanics, friction, rho
        self.scale, self.tolerance, self.M, self.settings = scale, tolerance, M, settings
        self.here = self.best = None
        self.history, self.routes = [], []
        self.solves, self.work, self.paths = 0, 0.0, 0

    @cached_property
    def contacts(self) -> RoughContacts:
        """What sweeps go over."""
        offset = contiguous(np.broadcast_to(self.mechanics.offset, self.mechanics.shape))
        return RoughContacts(self.mechanics.blocks(), self.friction, offset, self.rho)

    @cached_property
    def locked(self) -> np.ndarray | None:
        """Forces of contacts that friction locks, or None."""
        known = dict(scale=self.scale, M=None if self.M is None else self.M())
        force, solves = locked_forces(self.mechanics, self.friction, self.rho, **known)
        self._spend(solves)
        return force

    @property
    def unsolved(self) -> bool:
        return not self.best.residual <= self.tolerance

    def begin(self, force: np.ndarray) -> None:
        self.look(force)
        self.separate = self.here, self.settings.soft  # sequence of multipliers: iterate and s

    def look(self, force: np.ndarray) -> None:
        """Continue from these forces."""
        x, F = self.mechanics.start(force), np.empty_like(force)
        u = self.mechanics.displacement(x)
        _, e, worst = natural_map(force, u, self.friction, self.rho, F)
        self.here = Iterate(force, x, e / self.scale, worst)
        if self.best is None or not self.here.residual >= self.best.residual:
            self.best = self.here

    def by_sweeps(self, number: int) -> None:
        self.look(
            accelerated(
                self.contacts, self.here.force, self.here.x, number,
                enough=self.settings.enough * self.tolerance * self.scale,
            )
        )  # fmt: skip
        self.work += number / self.settings.worth
        self._note("sweeps")

    def by_newton(self) -> None:
        """Newton's method on the natural map, to half of the tolerance: forces then move into their
        cones by as much as the residual."""
        found = natural_newton(
            self.mechanics, self.friction, self.rho, scale=self.scale,
            tolerance=0.5 * self.tolerance, force=self.here.force, settings=self.settings.natural,
        )  # fmt: skip
        self.history.extend(found.history)
        self._spend(found.solves)
        self._note("natural map")
        if not found.residual >= self.here.residual:
            into_cones(found.force, self.friction)
            self.look(found.force)

    def by_paths(self, work: float) -> None:
        """Interior paths, each with other weights, and Newton's method from where each came
        nearest, until this took so many linear systems. Without a solution all stays as it was."""
        kept, end = self.here, self.work + work
        while self.unsolved and self.work < end:
            self._by_path()
            self.by_newton()
        if self.unsolved:
            self.here = kept

    def _by_path(self) -> None:
        settings, weight = self.settings, np.ones(len(self.rho))
        if self.paths > 0:
            random = np.random.default_rng(self.paths)
            weight = np.exp(settings.spread * random.standard_normal(len(weight)))
        self.paths += 1
        path = CoulombPath(self.mechanics, self.friction, self.rho, scale=self.scale, weight=weight)
        nearest, short = None, 0
        while short < 2 and self.unsolved:
            try:
                step = path.advance()
            except np.linalg.LinAlgError:
                break
            self._spend(1)
            self.look(path.force)
            if nearest is None or self.here.residual < nearest.residual:
                nearest = self.here
            short = short + 1 if step < settings.short else 0
        self.here = nearest or self.here
        self._note("interior path")

    def by_multipliers(self, work: float) -> None:
        """Steps from where sweeps and Newton's method ended."""
        self._multipliers(self.settings.first, work)

    def by_separate_multipliers(self, work: float) -> None:
        """Steps from where the last turn of these ended, first from the given forces. Sweeps go on
        from their own forces, unless these have led to a lower residual."""
        kept = self.here
        self.here, s = self.separate
        s = self._multipliers(s, work)
        self.separate = self.here, max(s, self.settings.soft)
        if not self.here.residual < kept.residual:
            self.here = kept

    def _multipliers(self, s, work):
        """Steps with springs s rho, until the residual has not halved in so many linear systems;
        returns s."""
        settings, mark, end = self.settings, self.here.residual, self.work + work
        while self.unsolved and self.work < end and s >= settings.soft:
            found = self._step(s)
            self._spend(found.iterations)
            if found.converged:
                self.look(found.force)
                self._note("multipliers")
                s = min(settings.growth * s, settings.stiffest)
                if self.here.residual <= 0.5 * mark:
                    mark, end = self.here.residual, self.work + work
            else:
                s *= settings.fall
        return s

    def _step(self, s):
        """The equilibrium of springs s rho, prestressed by the forces so far. Rounding of x, as
        forces of these springs, is left of it."""
        force, x, residual = self.here.force, self.here.x, self.here.residual
        springs = s * self.rho
        lead = np.zeros_like(force)  # displacement at which the springs answer with these forces
        lead[:, 0] = force[:, 0] / springs
        law = ContactLaw(springs, springs, self.friction, force[:, 1:])
        accuracy = min(self.settings.inner * residual, self.settings.loosest)
        accuracy = max(accuracy, 0.1 * self.tolerance, np.finfo(float).eps * s)
        shifted, iterations = self.mechanics.shifted(lead), self.settings.iterations
        if isinstance(shifted, Dense):
            return shifted.newton(law, x, accuracy, iterations)
        return newton(shifted, law, x, tolerance=accuracy, iterations=iterations)

    def _spend(self, solves: int) -> None:
        """A step costs something, also one that needed no linear system."""
        self.solves += solves
        self.work += max(solves, 1)

    def _note(self, route: str) -> None:
        self.history.append(self.here.residual)
        if route not in self.routes:
            self.routes.append(route)
