"""Solving an increment within a budget: sweeps while bodies rush about, Newton near rest.

Where the last steps were calm, Newton's method starts from the forces that contacts remember, and
the stiffness s rises from step to step to the stiff limit. Elsewhere sweeps solve the increment at
the least stiffness, and Newton continues where they come near.
"""

from dataclasses import dataclass, field

import numpy as np

from ..equilibrium.dense import Dense
from ..equilibrium.result import Equilibrium
from ..equilibrium.rough_newton import Settings as NewtonSettings
from ..equilibrium.rough_newton import newton
from ..status import Status
from .limit import beyond_rounding, rounding
from .problem import UNDONE, Increment, Springs
from .sweeps import Sweeps, accelerate, into_cones, pushed, residuals



JAMS = 0.5
"""Part of the growth of the stiffness by which forces grow in a jam; in none they keep their size."""

PRESSED = 1e-3
"""Part of the largest force of a jam that its contacts bear at least."""


@dataclass(frozen=True)
class IncrementSettings:
    """How a step of rough bodies is solved, and at what cost.

    overlap: by which bodies may overlap, in radii of the smaller one: what springs give way while
        bodies move. It sets s then; the work of sweeps grows as its inverse root.
    softest, stiffest: bounds of s, how many times as stiff as inertia contacts are. At rest s is
        the largest, and forces are those of the stiff limit to about 1/s.
    accuracy: residual at which sweeps end while bodies move, over the fastest contact without
        contact forces.
    sweeps, systems: budget of a step: sweeps, and linear systems of Newton's method.
    """

    overlap: float = 1e-3
    softest: float = 1e3
    stiffest: float = 1e12
    accuracy: float = 1e-6
    sweeps: int = 3000
    systems: int = 40
    # of the search
    rise: float = 10.0
    near: float = 1e-3
    attempt: int = 8
    easy: int = 3
    loaded: float = 4.0
    chunk: int = 50
    momentum: Sweeps = field(default_factory=Sweeps)
    newton: NewtonSettings = NewtonSettings(halvings=3, window=5)


@dataclass(frozen=True)
class Solution:
    """force (m, d) [N] in the cones; normal (m,) [N]: trial normal force, negative where springs are
    open; velocity (n,) of the free degrees of freedom. s: stiffness, 0 after
    sweeps. residual: over the scale of velocities. locked: contacts of bodies that have no room left,
    the hardest pressed first, or None."""

    force: np.ndarray
    normal: np.ndarray
    velocity: np.ndarray
    s: float
    status: Status
    residual: float
    worst: int
    sweeps: int
    systems: int
    routes: tuple[str, ...]
    energy_made: float
    tolerance: float
    locked: np.ndarray | None = None


def solve(
    increment: Increment, s: float, tolerance: float, settings: IncrementSettings
) -> Solution:
    """Motion and forces of an increment. s: stiffness of the step before, 0 if it was not solved by
    Newton's method."""
    if increment.idle:
        return _free_fall(increment, tolerance)
    return _Search(increment, tolerance, settings).run(s)


def _free_fall(increment: Increment, tolerance: float) -> Solution:
    m = len(increment.gap)
    return Solution(
        force=np.zeros(increment.shape),
        normal=np.zeros(m),
        velocity=increment.v_free,
        s=0.0,
        status=Status.CONVERGED,
        residual=0.0,
        worst=0,
        sweeps=0,
        systems=0,
        routes=(),
        energy_made=0.0,
        tolerance=tolerance,
    )


def _mean(force: np.ndarray) -> float:
    """Mean of the forces that are not zero."""
    bears = force > 0.0
    return float(force[bears].mean()) if bears.any() else 0.0


def _pressed(normal: np.ndarray) -> np.ndarray:
    """Contacts of a jam, the hardest pressed first."""
    order = np.argsort(-normal, kind="stable")
    return order[normal[order] > PRESSED * normal.max()]


@dataclass
class _Found:
    """w (m, d): displacements of the springs. residual: of Newton's method, None of sweeps."""

    springs: Springs
    force: np.ndarray
    velocity: np.ndarray
    w: np.ndarray
    residual: float | None = None

    @property
    def exact(self) -> bool:
        return self.residual is not None


class _Search:
    def __init__(self, increment: Increment, tolerance: float, settings: IncrementSettings):
        self.increment, self.tolerance, self.settings = increment, tolerance, settings
        self.sweeps = self.systems = self.last = 0
        self.routes: list[str] = []
        self.locked: np.ndarray | None = None
        # systems of small networks take microseconds, those of others milliseconds and more
        self.budget = settings.systems * (10 if increment.small else 1)

    def run(self, s: float) -> Solution:
        increment, settings = self.increment, self.settings
        f = np.column_stack([np.maximum(increment.history.normal, 0.0), increment.history.tangential])
        into_cones(increment.springs.friction, f)
        loaded = max(settings.loaded * _mean(f[:, 0]), increment.impact)
        moving = float(
            np.clip(increment.stiffness_of(loaded), settings.softest, settings.stiffest)
        )
        self.moving = moving
        before = increment.step.velocity[increment.dofs]
        found = None
        if s >= settings.stiffest:
            found = self._beyond_rounding(s, before, f)
        if found is None and (s > 0.0 or increment.small):
            found = self._by_newton(moving, (increment.velocity(f), before))
        if found is None:
            found = self._by_sweeps(moving, f)
        if found.exact:
            found = self._stiffened(found)
        return self._solution(found)

    def _springs(self, s: float) -> Springs:
        """The law at s. Overlaps beyond ``slop`` are undone while bodies move, not near rest."""
        if s > self.moving:
            return self.increment.springs_at(s)
        return self.increment.springs_at(s, UNDONE if self.increment.history.normal.any() else 1.0)

    def _by_newton(self, s: float, starts: tuple[np.ndarray, ...]) -> _Found | None:
        """From that of the velocities ``starts`` (n,) whose springs' forces are nearest to balance."""
        increment = self.increment
        springs = self._springs(s)
        mechanics = increment.mechanics.shifted(-springs.offset)

        def imbalance(x: np.ndarray) -> float:
            respond, _ = springs.law.respond(mechanics.displacement(x))
            return float(np.linalg.norm(mechanics.residual(x, respond)))

        x = min((v * increment.weight for v in starts), key=imbalance)
        return self._newton(springs, mechanics, x)

    def _newton(self, springs: Springs, mechanics, x: np.ndarray) -> _Found | None:
        iterations = min(self.settings.attempt, self.budget - self.systems)
        if iterations <= 0:
            return None
        self.routes.append("newton")
        tolerance = self.tolerance
        try:
            if isinstance(mechanics, Dense):
                size = self.increment.impact
                found = mechanics.equilibrium(springs.law, x, tolerance, iterations, size)[0]
            else:
                options = self.settings.newton
                found = newton(
                    mechanics,
                    springs.law,
                    x,
                    tolerance=tolerance,
                    iterations=iterations,
                    settings=options,
                )
        except np.linalg.LinAlgError:
            self.systems += 1
            return None
        self.systems += found.iterations
        self.last = found.iterations
        if found.residual > self.settings.accuracy:
            return None
        force = np.array(found.force)
        into_cones(springs.law.friction, force)
        velocity = self.increment.velocity(force)
        if found.residual > max(tolerance, rounding(self.increment, springs.s, velocity)):
            return None
        return _Found(springs, force, velocity, found.displacement, found.residual)

    def _by_sweeps(self, s: float, force: np.ndarray) -> _Found:
        increment, settings = self.increment, self.settings
        springs, blocks = self._springs(s), increment.blocks
        law = springs.law.compiled
        f, out = force.copy(), np.empty(len(force))
        y = pushed(blocks, increment.y_free, f)
        self.routes.append("sweeps")
        near = settings.near
        while True:
            accelerate(
                blocks, law, springs.offset, increment.rho, f, y, settings.chunk, settings.momentum
            )
            self.sweeps += settings.chunk
            into_cones(law.friction, f)
            y = pushed(blocks, increment.y_free, f)
            e = residuals(blocks, law, springs.offset, increment.rho, f, y, out) / increment.scale
            ended = e <= settings.accuracy or self.sweeps >= settings.sweeps
            if e <= near or ended and e <= settings.near:
                found = self._by_newton(s, (increment.velocity(f),))
                if found is not None:
                    return found
                near = 0.1 * e
            if ended:
                break
        v = increment.velocity(f)
        if e <= settings.near:
            found = self._beyond_rounding(settings.stiffest, v, f, s / settings.stiffest)
            if found is not None:
                return found
        w = (increment.rows @ v).reshape(increment.shape) + springs.offset
        return _Found(springs, f, v, w)

    def _stiffened(self, found: _Found) -> _Found:
        """At the stiffest springs, or as near to them as Newton's method comes with little work."""
        settings = self.settings
        while found.springs.s < settings.stiffest:
            if not (self.increment.small or self.last <= settings.easy):
                break
            limit = self._beyond_rounding(
                settings.stiffest,
                found.velocity,
                found.force,
                found.springs.s / settings.stiffest,
            )
            if limit is not None:
                return limit
            stiffer = self._stiffer(found)
            if stiffer is None:
                break
            if self._jams(found, stiffer):
                self.locked = _pressed(stiffer.force[:, 0])
                break
            if stiffer.residual > max(self.tolerance, found.residual):
                break
            found = stiffer
        return found

    def _stiffer(self, found: _Found) -> _Found | None:
        s = found.springs.s * self.settings.rise
        stiffer = self._beyond_rounding(s, found.velocity, found.force, 1.0 / self.settings.rise)
        if stiffer is None and rounding(self.increment, s, found.velocity) <= self.settings.accuracy:
            stiffer = self._by_newton(s, (found.velocity,))
        return stiffer

    def _jams(self, found: _Found, stiffer: _Found) -> bool:
        """Whether forces grow as the stiffness does: bodies that are driven leave no room."""
        known = np.maximum(self.increment.history.normal, 0.0)
        change, more = (np.abs(x.force[:, 0] - known).max() for x in (found, stiffer))
        return bool(more > JAMS * stiffer.springs.s / found.springs.s * change)

    def _beyond_rounding(
        self, s: float, velocity: np.ndarray, force: np.ndarray, part: float = 0.0
    ) -> _Found | None:
        """From a velocity and forces; springs give way by this part of what they do there."""
        springs = self._springs(s)
        self.systems += 1
        try:
            split = beyond_rounding(self.increment, springs, velocity, force, self.tolerance)
        except np.linalg.LinAlgError:
            return None
        if split is None:
            return None
        mechanics, e = split
        return self._newton(springs, mechanics, part * e)

    def _solution(self, found: _Found) -> Solution:
        increment, springs, law, w = self.increment, found.springs, found.springs.law, found.w
        overlap = -w[:, 0]
        open_ = np.sign(overlap) * law.normal * np.abs(overlap) ** (law.exponent - 1.0)
        normal = np.where(found.force[:, 0] > 0.0, found.force[:, 0], np.minimum(open_, 0.0))
        out = np.empty(len(w))
        y = pushed(increment.blocks, increment.y_free, found.force)
        residuals(
            increment.blocks, law.compiled, springs.offset, increment.rho, found.force, y, out
        )
        worst = int(out.argmax())
        residual = found.residual if found.exact else float(out[worst]) / increment.scale
        tolerance = self.tolerance
        if residual > tolerance:  # sweeps, or Newton's method up to rounding
            tolerance = max(self.settings.accuracy, tolerance)
        status = Status.CONVERGED if residual <= tolerance else Status.APPROXIMATE
        return Solution(
            found.force,
            normal,
            found.velocity,
            springs.s if found.exact else 0.0,
            status if self.locked is None else Status.JAMMED,
            residual,
            worst,
            self.sweeps,
            self.systems,
            tuple(self.routes),
            springs.energy_made * increment.step.dt,
            tolerance,
            self.locked,
        )
