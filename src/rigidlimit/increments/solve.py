"""Solving an increment within a budget: sweeps while bodies rush about, Newton's method near rest.

In this order, each where the one before fails:

1. at the stiffness at which the step before ended, the stiff limit or on the way to it, from the
   forces that contacts remember; or, where they remember nothing, secant iterations and Newton's
   method from rest;
2. Newton's method at the stiffness s of moving bodies, in small networks;
3. Gauss-Seidel sweeps at that s from the forces that contacts remember, and Newton's method from
   where they come near, which near rest is where they begin, with contacts open, sticking and
   sliding as in their forces.

What Newton's method solved within few systems is continued to the stiff limit (``limit.py``), on
the way to it by one rise of the stiffness a step.
"""

from dataclasses import dataclass, replace

import numpy as np

from .._support.deadline import within
from ..equilibrium.dense import Dense
from ..equilibrium.mechanics import Mechanics
from ..equilibrium.rough_newton import newton
from ..equilibrium.solve import Settings as Start
from ..equilibrium.solve import solve as from_rest
from ..equilibrium.stability import EXAMINED, growth
from ..status import Status
from .budget import Budget
from .limit import beyond_rounding, rests, rounding
from .problem import Increment, Springs
from .separation import separation
from .settings import SEARCH, IncrementSettings
from .sweeps import accelerate, into_cones, pushed, residuals

JAMS = 0.5
"""Part of the growth of the stiffness by which forces grow in a jam; in none they keep their
size."""

BEYOND = 10.0
"""Forces of a jam over those that stop impacts within the step, at least."""

SPLITS, SPLIT_AGAIN = 4, 1e-4
"""Velocities are split again, so many times at most, where Newton's method ends between the
tolerance and this residual: what it added to a velocity of rigid bodies has rounding of its own."""

STIFFENED = 2.0
"""Stiffness of the step before over that of moving bodies, which changes little from step to step,
from which it is one that Newton's method was continued to."""

HALVED = 0.5
"""Residual over that of the split before above which splitting again is given up: the rounding is
not that of the rigid velocity."""

UNLIKE = 1e-6
"""Difference over the largest force from which on two results are two equilibria: of eight lids
equal ones differed by 2e-13 at most, others by 3e-2 and more."""

PRESSED = 1e-3
"""Part of the largest force of a jam that its contacts bear at least."""


@dataclass(frozen=True)
class Solution:
    """force (m, d) [N] in the cones. normal (m,) [N]: trial normal force, negative where springs
    are open. velocity (n,) of the free degrees of freedom. s: stiffness, 0 after sweeps. residual:
    over the scale of velocities; worst: contact of the largest. spring_scale: ``Springs.scale``.
    several: whether the step begins without forces and ends in the stiff limit at an equilibrium
    that is known to be one of several. separation (n,) [m]: moves bodies apart, or None. sweeps,
    systems: done. routes: tried. energy, begun [J]: of the springs at the end and when the step
    begins. locked: contacts of bodies that have no room left, the hardest pressed first, or
    None."""

    force: np.ndarray
    normal: np.ndarray
    velocity: np.ndarray
    s: float
    status: Status
    residual: float
    tolerance: float
    worst: int = 0
    spring_scale: float = 0.0
    sweeps: int = 0
    systems: int = 0
    routes: tuple[str, ...] = ()
    energy: float = 0.0
    begun: float = 0.0
    locked: np.ndarray | None = None
    several: bool = False
    separation: np.ndarray | None = None


def solve(
    increment: Increment, s: float, tolerance: float, settings: IncrementSettings
) -> Solution:
    """Motion and forces of an increment. s: stiffness of the step before, 0 if it was not solved by
    Newton's method."""
    if increment.idle:
        no_force = np.zeros(increment.shape)
        v = increment.v_free
        return Solution(no_force, no_force[:, 0], v, 0.0, Status.CONVERGED, 0.0, tolerance)
    with within(settings.seconds):
        found = _Search(increment, tolerance, settings).run(s)
        if increment.begins and found.sweeps and settings.stiffest == found.s and not found.several:
            found = replace(found, several=_branches(increment, found, settings))
        return found


def _branches(increment: Increment, found: Solution, settings: IncrementSettings) -> bool:
    """Whether sweeps in reversed order end in other forces: an unstable equilibrium on their way
    has stable ones beside it, and the order decides to which of these they go."""
    if len(found.force) > EXAMINED:
        return False
    reversed_ = increment.among(np.arange(len(found.force))[::-1])
    other = _Search(reversed_, found.tolerance, settings).run(0.0)
    unlike = np.abs(other.force[::-1] - found.force).max(initial=0.0)
    return bool(other.s == found.s and unlike > UNLIKE * found.force.max())


@dataclass
class _Found:
    """w (m, d): displacements of the springs. residual, x, mechanics: of Newton's method, None of
    sweeps."""

    springs: Springs
    force: np.ndarray
    velocity: np.ndarray
    w: np.ndarray
    residual: float | None = None
    x: np.ndarray | None = None
    mechanics: Mechanics | None = None


class _Search:
    def __init__(self, increment: Increment, tolerance: float, settings: IncrementSettings):
        self.increment, self.tolerance, self.settings = increment, tolerance, settings
        self.budget = Budget(settings, increment.shape[0], small=increment.small)
        self.last = 0  # systems of the last attempt of Newton's method that succeeded
        self.routes: list[str] = []
        self.locked: np.ndarray | None = None
        self.force = _remembered(increment)
        # no more than loads account for: forces of a jam would make contacts stiffer, which makes
        # forces larger
        loaded = min(SEARCH.loaded * _mean(self.force[:, 0]), increment.load)
        loaded = max(loaded, increment.impact)
        bounds = settings.softest, settings.stiffest
        self.moving = float(np.clip(increment.stiffness_of(loaded), *bounds))

    def run(self, s: float) -> Solution:
        increment, force = self.increment, self.force
        before, found = increment.step.velocity[increment.dofs], None
        s = min(s, self.settings.stiffest)
        stiffened = s > STIFFENED * self.moving
        if stiffened:
            found = self._split(s, before, force)
        kept = found is not None
        if not stiffened and increment.begins and not increment.small:
            found = self._from_rest()
        if found is None and increment.small:
            found = self._newton_at(self.moving, (increment.velocity(force), before))
        if found is None:
            found = self._by_sweeps()
        if found.residual is not None:
            found = self._stiffened(found, kept=kept)
        return self._solution(found)

    def _from_rest(self) -> _Found | None:
        """By secant iterations and Newton's method, from bodies at rest."""
        springs = self.increment.springs_at(max(self.moving, SEARCH.stands))
        mechanics = self.increment.mechanics.shifted(-springs.offset)
        return self._newton(springs, mechanics, np.zeros(len(self.increment.dofs)), secants=True)

    def _newton_at(self, s: float, starts: tuple[np.ndarray, ...]) -> _Found | None:
        """From one of the velocities ``starts`` (n,) after the other, first that whose springs'
        forces are nearest to balance."""
        springs, weight = self.increment.springs_at(s), self.increment.weight
        mechanics = self.increment.mechanics.shifted(-springs.offset)

        def imbalance(x: np.ndarray) -> float:
            force, _ = springs.law.respond(mechanics.displacement(x))
            return float(np.linalg.norm(mechanics.residual(x, force)))

        for x in sorted((weight * v for v in starts), key=imbalance):
            found = self._newton_near(springs, mechanics, x)
            if found is not None:
                return found
        return None

    def _newton_near(self, springs: Springs, mechanics: Mechanics, x: np.ndarray) -> _Found | None:
        """From the unknowns x (n,), as far as rounding lets it."""
        slack = rounding(self.increment, springs.s, x / self.increment.weight)
        return self._newton(springs, mechanics, x, min(slack, self.settings.accuracy))

    def _newton_from(self, springs: Springs, force: np.ndarray) -> _Found | None:
        """From forces (m, d) of sweeps.

        The first system is of the law where its springs bear these forces: contacts are open, stick
        and slip as in the sweeps. By their velocities they do so no better than the residual times
        s is small.
        """
        if self.budget.systems_left(1) == 0:
            return None
        increment, law = self.increment, springs.law
        mechanics = increment.mechanics.shifted(-springs.offset)
        x = increment.weight * increment.velocity(force)
        w = mechanics.displacement(x)
        if not increment.small:
            increment.mechanics.iterative.price = 1.0  # few contacts will change
        bearing = law.bearing(force, w)
        answer, D = law.respond(bearing)
        self.budget.systems += 1
        try:
            solve = mechanics.factorize(D)
        except np.linalg.LinAlgError:
            return None
        b = -np.einsum("iab,ib->ia", D, w - bearing)
        x = x + solve(mechanics.residual(x, answer), b, SEARCH.newton.loosest)
        found = self._newton_near(springs, mechanics, x)
        self.last += found is not None
        return found

    def _newton(
        self,
        springs: Springs,
        mechanics: Mechanics,
        x: np.ndarray,
        slack: float = 0.0,
        *,
        secants: bool = False,
        tolerance: float | None = None,
    ) -> _Found | None:
        """None where the residual stays above the tolerance (None: that of the step) and above
        ``slack``. secants: whether secant iterations come first, as they always do in small
        networks."""
        iterations = self.budget.systems_left(SEARCH.attempts(self.increment.small))
        if iterations == 0:
            return None
        self.routes.append("newton")
        law, tolerance = springs.law, tolerance or self.tolerance
        try:
            if isinstance(mechanics, Dense):
                size = self.increment.impact
                found, _ = mechanics.equilibrium(law, x, tolerance, iterations, size)
            elif secants:
                start = Start(newton=iterations, path=0)
                size = self.increment.impact
                found, _ = from_rest(
                    mechanics, law, x, tolerance=tolerance, force_size=size, settings=start
                )
                if not found.converged:  # then x is no more than where the search ended
                    found = replace(found, residual=np.inf)
            else:
                limits = dict(tolerance=tolerance, iterations=iterations, rounding=slack)
                found = newton(mechanics, law, x, **limits, settings=SEARCH.newton)
        except np.linalg.LinAlgError:
            self.budget.systems += 1
            return None
        self.budget.systems += found.iterations
        if not found.residual <= max(tolerance, slack):
            return None
        self.last = found.iterations
        force = np.array(found.force)
        into_cones(law.friction, force)
        velocity = self.increment.velocity(force)
        return _Found(
            springs, force, velocity, found.displacement, found.residual, found.x, mechanics
        )

    def _by_sweeps(self) -> _Found:
        increment, settings, budget = self.increment, self.settings, self.budget
        springs, blocks = self.increment.springs_at(self.moving), increment.blocks
        law, rho, offset = springs.law.compiled, increment.rho, springs.offset
        f, each = self.force.copy(), np.empty(len(self.force))
        y, near = pushed(blocks, increment.y_free, f), SEARCH.near
        while True:
            e = residuals(blocks, law, offset, rho, f, y, each) / increment.scale
            ended = budget.sweeps > 0 and (e <= settings.accuracy or budget.sweeps_spent)
            if e <= near:
                found = self._newton_from(springs, f)
                if found is not None:
                    return found
                near = 0.1 * e
            if ended:
                velocity = increment.velocity(f)
                w = (increment.rows @ velocity).reshape(increment.shape) + offset
                return _Found(springs, f, velocity, w)
            if budget.sweeps == 0:
                self.routes.append("sweeps")
            accelerate(blocks, law, offset, f, y, SEARCH.chunk, SEARCH.momentum)
            budget.sweeps += SEARCH.chunk
            into_cones(law.friction, f)
            y = pushed(blocks, increment.y_free, f)

    def _stiffened(self, found: _Found, *, kept: bool) -> _Found:
        """At the stiffest springs, or as near to them as Newton's method comes with little work.

        kept: whether it is at the stiffness of the step before, which got no further: one rise is
        tried, since the limit in one go failed then.
        """
        calm = SEARCH.calm if self.budget.ample else 1.0
        while found.springs.s < self.settings.stiffest and self._near_rest(found, calm):
            limit = None if kept else self._to_the_limit(found)
            if limit is not None:
                return limit
            if not (self.budget.full or self._near_rest(found)):
                break
            stiffer = self._stiffer(found)
            if stiffer is None:
                break
            if self._jams(found, stiffer):
                normal = stiffer.force[:, 0]
                order = np.argsort(-normal, kind="stable")
                self.locked = order[normal[order] > PRESSED * normal.max()]
                break
            if stiffer.residual > max(self.tolerance, found.residual):
                break
            found = stiffer
            if kept:
                break
        return found

    def _unstable(self, found: _Found) -> bool:
        """Whether a disturbance grows from where the first step of a scene ends in the limit."""
        if not self.increment.begins or found.springs.s < self.settings.stiffest:
            return False
        return growth(found.mechanics, found.springs.law, found.x) is not None

    def _near_rest(self, found: _Found, part: float = 1.0) -> bool:
        """Whether stiffer springs are worth their systems: where Newton's method had little to do,
        in small networks, at the start of a scene, and where this part of the contacts rests."""
        # where systems are dear, those of attempts that failed count as well
        spent = self.last if self.budget.ample else self.budget.systems
        easy = spent <= SEARCH.easy or self.increment.small or self.increment.begins
        return easy or rests(self.increment, found.velocity, found.springs.s, part)

    def _to_the_limit(self, found: _Found) -> _Found | None:
        s = self.settings.stiffest
        return self._split(s, found.velocity, found.force, found.springs.s / s)

    def _stiffer(self, found: _Found) -> _Found | None:
        s = min(found.springs.s * SEARCH.rise, self.settings.stiffest)
        stiffer = self._split(s, found.velocity, found.force, found.springs.s / s)
        if (
            stiffer is None
            and rounding(self.increment, s, found.velocity) <= self.settings.accuracy
        ):
            stiffer = self._newton_at(s, (found.velocity,))
        return stiffer

    def _split(
        self, s: float, velocity: np.ndarray, force: np.ndarray, part: float = 0.0
    ) -> _Found | None:
        """Beyond rounding, from a velocity and forces: springs begin with this part of what they
        give way by there."""
        if self.budget.systems_left(1) == 0:
            return None
        increment, springs, last = self.increment, self.increment.springs_at(s), np.inf
        for _ in range(SPLITS):
            self.budget.systems += 1
            try:
                split = beyond_rounding(
                    increment, springs, velocity, force, part=part, tolerance=self.tolerance
                )
            except np.linalg.LinAlgError:
                return None
            if split is None:
                return None
            # a velocity that is split again anyway need not be known to the last digit
            enough = SPLIT_AGAIN if part < 1.0 and split.rigid.any() else self.tolerance
            found = self._newton(
                springs, split.mechanics, split.start, SPLIT_AGAIN, tolerance=enough
            )
            if found is None or found.residual <= self.tolerance:
                return found
            if found.residual > HALVED * last:
                return None
            last = found.residual
            velocity = (split.rigid + found.x) / increment.weight
            force, part = found.force, 1.0
        return None

    def _jams(self, found: _Found, stiffer: _Found) -> bool:
        """Whether forces grow as the stiffness does: bodies that are driven leave no room."""
        if not self.increment.driven.any():
            return False
        known = np.maximum(self.increment.history.normal, 0.0)
        change, more = (np.abs(x.force[:, 0] - known).max() for x in (found, stiffer))
        grows = more > JAMS * stiffer.springs.s / found.springs.s * change
        return bool(grows and change > BEYOND * self.increment.impact)

    def _solution(self, found: _Found) -> Solution:
        increment, springs, law = self.increment, found.springs, found.springs.law
        overlap, force = -found.w[:, 0], found.force
        open_ = np.sign(overlap) * law.normal * np.abs(overlap) ** (law.exponent - 1.0)
        each, y = np.empty(len(force)), pushed(increment.blocks, increment.y_free, force)
        residuals(increment.blocks, law.compiled, springs.offset, increment.rho, force, y, each)
        worst = int(each.argmax())
        exact = found.residual is not None
        residual = found.residual if exact else float(each[worst]) / increment.scale
        tolerance = self.tolerance
        if residual > tolerance:  # sweeps, or Newton's method up to rounding
            tolerance = max(self.settings.accuracy, tolerance)
        status = Status.CONVERGED if residual <= tolerance else Status.APPROXIMATE
        return Solution(
            force=force,
            normal=np.where(force[:, 0] > 0.0, force[:, 0], np.minimum(open_, 0.0)),
            velocity=found.velocity,
            s=springs.s if exact else 0.0,
            status=status if self.locked is None else Status.JAMMED,
            residual=residual,
            tolerance=tolerance,
            worst=worst,
            spring_scale=springs.scale,
            sweeps=self.budget.sweeps,
            systems=self.budget.systems,
            routes=tuple(self.routes),
            energy=springs.energy(force) * increment.step.dt,
            begun=springs.begun * increment.step.dt,
            locked=self.locked,
            separation=separation(increment, found.velocity, overlap),
            several=exact and self._unstable(found),
        )


def _remembered(increment: Increment) -> np.ndarray:
    """Forces (m, d) [N] that contacts remember, in the cones."""
    normal = np.maximum(increment.history.normal, 0.0)
    force = np.column_stack([normal, increment.history.tangential])
    into_cones(increment.springs.friction, force)
    return force


def _mean(force: np.ndarray) -> float:
    """Mean of the forces that are not zero."""
    bears = force > 0.0
    return float(force[bears].mean()) if bears.any() else 0.0
