"""Newton for networks with weakly determined motions: two proximal terms, steps of two kinds.

The problem of ``smooth_law.py`` without inertia, for p >= 2. Faces that meet aligned to 1e-8, as in
piles of blocks, and bodies that turn about their axis leave motions w that contacts hardly resist,
|B w| = 1e-8 |w|, that K = B^T D B knows nothing of them (1e-16). Displacements grow to 1e8 overlaps
before such a motion carries its load. Two effects prevent convergence of Newton there:

- Overlaps c = s - B x carry the rounding of x, 1e-16 |x|, which as forces unbalances every body. So
  c is not computed from x, but changed along with it, by -t B d each step; what is rounded is then
  the same small part of c as of x, and the forces f(c) can balance to rounding.
- A step -(K + e I)^-1 g has to be lengthened 1e4 times along a weak motion, and what it holds of
  stiff ones with it. So steps with a large e, of Newton's length, take turns with steps of a small
  e, which leave stiff motions out and go as far as E falls:

      d1 = -(K + e1 I)^-1 g,      d2 = -(K + e2 I)^-1 e1 (K + e1 I)^-1 g,      e2 << e1.

  A weakly regularized step d2 follows where d1 gains little and could have gone further. Among
  several weak motions such steps would go to and fro; each is made conjugate to the one before it,
  so that a few motions take as many steps, whatever their stiffness.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._support.products import absolute_product
from ..linear import LinearStats
from ..linear.column_scaling import ROUNDING
from ..status import Status
from .line_search import dot, minimum
from .result import Equilibrium
from .smooth_law import Iterate, SmoothNetwork, stretch_to_law

EPS = 1e-16
"""Rounding of a number of order one."""


@dataclass(frozen=True)
class Settings:
    """strong, weak: e1 and e2 over the largest D. slope: part of the slope that line searches
    leave: nothing but weak steps sees what they leave. floor: overlap over the largest at which
    tangents are taken at the least.

    long: length of a strong step, over Newton's, from which weak motions hold most of what can be
    gained; gained: part of the gradient that such a step leaves if it has gained little. conjugate:
    part of a weak step's slope that has to be left once it is conjugate to the step before.
    reuse: changes of each D within which a factor is reused; of those below ``negligible`` of the
    largest D any.

    blurred: rounding of t B d over the largest overlap beyond which a step is not made: a motion
    that only opens contacts, under the rounding of the load, goes until it meets something,
    however far, and would leave overlaps that are no displacement's.

    It stops at once at ``sure`` of the tolerance. Else it continues, by ``beyond`` steps at most,
    until forces stay: what is left along a motion that is hardly resisted is within the tolerance
    long before the forces that it stands for are right. It has stalled after ``patience`` steps
    without a gradient a tenth smaller.
    """

    strong: float = 1e-8
    weak: float = 1e-12
    slope: float = 1e-12
    floor: float = 1e-8
    long: float = 1.5
    gained: float = 0.5
    conjugate: float = 0.1
    reuse: tuple[float, float] = (0.8, 1.25)
    negligible: float = 1e-3
    blurred: float = 1e-6
    sure: float = 1e-3
    beyond: int = 100
    patience: int = 100


class RegularizedHessian:
    """K + e I for a strong and a weak e, with the steps of both kinds: factorized anew only where D
    has changed by much. ``before``: the last weakly regularized step since then."""

    def __init__(self, network, stats, settings):
        self.network, self.stats, self.settings = network, stats, settings
        self.D, self.systems, self.before = None, {}, None

    def update(self, D: np.ndarray):
        """Take D (m,) over."""
        self.now = D
        if self.D is None or not self._serves(D):
            self.D, self.systems, self.before = D, {}, None

    def _serves(self, D):
        low, high = self.settings.reuse
        least = self.settings.negligible * float(D.max())
        now, known = np.maximum(D, least), np.maximum(self.D, least)
        same = ((D > 0) == (self.D > 0)).all()
        return bool(same and (now >= low * known).all() and (now <= high * known).all())

    def solve(self, rhs: np.ndarray, part: float) -> np.ndarray:
        """(K + e I)^-1 rhs, e = part max D."""
        if part not in self.systems:
            self.systems[part] = self.network.system(self.D, part * float(self.D.max()))
        return self.systems[part].solve_directly(rhs, self.stats)

    def step(self, g: np.ndarray, weak: bool) -> tuple[np.ndarray, np.ndarray]:
        """(d (n,), -B d (m,)), strongly or weakly regularized."""
        settings = self.settings
        d = -self.solve(g, settings.strong)
        if not weak:
            return d, -(self.network.B @ d)
        d = self.solve(settings.strong * float(self.D.max()) * d, settings.weak)
        dc = -(self.network.B @ d)
        if self.before is not None:
            before, change = self.before
            forces = self.now * change
            stiffness = dot(forces, change)
            part = dot(forces, dc) / stiffness if stiffness > 0.0 else 0.0
            rest = d - part * before
            # of a single motion whose stiffness has changed nothing is left
            if dot(g, rest) < settings.conjugate * dot(g, d):
                d, dc = rest, dc - part * change
        self.before = d, dc
        return d, dc


class _Record:
    """The iterates so far: the best, the one that will do, and when to stop.

    enough(x, force): whether an iterate within the tolerance will do.
    """

    def __init__(self, tolerance, enough, max_iterations, settings):
        self.tolerance, self.enough, self.settings = tolerance, enough, settings
        self.max_iterations = max_iterations
        self.best: Iterate | None = None
        self.answer: Iterate | None = None
        self.least, self.waited, self.beyond, self.history = np.inf, 0, 0, []

    def take(self, here: Iterate) -> None:
        size = here.size
        self.history.append(size)
        if size < self.least:
            self.best = here
        self.waited = 0 if size < 0.9 * self.least else self.waited + 1
        self.least = min(self.least, size)
        if self._better(here) and (self.enough is None or self.enough(here.x, here.force)):
            self.answer = here

    def _better(self, here):
        """Whether it is within the tolerance, and nearer than the answer by more than rounding."""
        if self.answer is None:
            return here.size <= self.tolerance
        moved = np.abs(here.force - self.answer.force).max(initial=0.0)
        nearer = self.answer.size - here.size
        return here.size <= self.tolerance and nearer > ROUNDING * moved

    def result(self, status: Status) -> Equilibrium:
        """The answer; without one the best, with the status in which it ended."""
        best = self.best if self.answer is None else self.answer
        status = status if self.answer is None else Status.CONVERGED
        steps, history = len(self.history) - 1, np.array(self.history)
        return Equilibrium(best.x, best.force, -best.overlap, status, best.size, steps, history)

    def over(self, stay: bool) -> Status | None:
        """How it ends here; None if it continues. stay: whether forces stay."""
        settings = self.settings
        if self.answer is not None:
            self.beyond += 1
            sure = self.answer.size <= settings.sure * self.tolerance
            if stay or self.beyond > settings.beyond or sure:
                return Status.CONVERGED
        if self.waited > settings.patience:
            return Status.STALLED
        return Status.MAX_ITERATIONS if len(self.history) > self.max_iterations else None


class _Turns:
    """Strongly and weakly regularized steps by turns.

    weak: kind of the next step. stay: whether forces stayed in those before. ended: whether one
    kind led no further from here.
    """

    def __init__(self, tolerance, settings):
        self.tolerance, self.settings = tolerance, settings
        self.weak = self.stay = self.ended = False

    def taken(self, before: Iterate, here: Iterate, far: bool) -> None:
        """After a step; far: whether it could have gone further."""
        # both kinds of steps have to leave the forces as they are
        moved = float(np.abs(here.force - before.force).max())
        same = not far and moved <= self.tolerance * here.force.max()
        self.stay, self.ended = same and (self.weak or self.stay), False
        gained_little = here.size > self.settings.gained * before.size
        self.weak = (same and not self.weak) or (far and gained_little)

    def other(self, answered: bool) -> bool:
        """Whether to try the other kind, as this one leads no further. answered: whether there is
        an iterate that will do."""
        if self.ended or (self.weak and answered):
            return False
        self.weak, self.ended = not self.weak, True
        return True


def solve(
    problem: SmoothNetwork,
    *,
    start: np.ndarray | None = None,
    tolerance: float,
    enough: Callable[[np.ndarray, np.ndarray], bool] | None = None,
    max_iterations: int = 100,
    stats: LinearStats | None = None,
    settings: Settings = Settings(),
) -> Equilibrium:
    """Minimize E(x) for p >= 2; loads of order one. Stops at |grad E|_inf <= tolerance, if
    ``enough(x, force)`` agrees and forces stay as they are to the tolerance.

    start (n,): taken if it is nearer to equilibrium than no displacement. displacement (m,) of the
    answer: -c as it was changed along with x. Raises OutOfMemory.
    """
    stats = LinearStats() if stats is None else stats
    here = _begin(problem, start)
    K = RegularizedHessian(problem.network, stats, settings)
    record = _Record(tolerance, enough, max_iterations, settings)
    turns = _Turns(tolerance, settings)
    while True:
        if not turns.ended:
            record.take(here)
            status = record.over(turns.stay)
            if status is not None:
                break
            cold = not (here.overlap > 0).any()
            if cold:
                K.update(problem.stiffness.astype(float))  # every contact a linear spring
            else:
                K.update(problem.tangent(here.overlap, settings.floor * here.overlap.max()))
        step = _step(problem, here, K, turns.weak, cold, settings)
        if step is Status.LOAD_NOT_CARRIED:
            status = step
            break
        if step is not None:
            turns.taken(here, *step)
            here = step[0]
        elif not turns.other(record.answer is not None):
            status = Status.STALLED
            break
    return record.result(status)


def _begin(problem, start) -> Iterate:
    """At ``start`` (n,) if that is nearer to equilibrium than no displacement."""
    m, n = problem.network.B.shape
    nothing = np.zeros(m) if problem.offset is None else problem.offset
    here = Iterate.at(problem, np.zeros(n), nothing)
    if start is None:
        return here
    there = Iterate.at(problem, start, nothing - problem.network.B @ start)
    return there if there.size <= here.size else here


def _step(problem, here, K, weak, cold, settings):
    """(next iterate, whether the step could have gone further), LOAD_NOT_CARRIED where E falls
    without end, or None where this kind of step leads no further."""
    B, k, p = problem.network.B, problem.stiffness, float(problem.exponent)
    d, dc = K.step(here.gradient, weak)
    slope = dot(here.gradient, d)
    # of loads that are rounding there is no end where motions are free
    way = np.abs(d)
    rounding = dot(here.force, absolute_product(B, d)) + dot(np.abs(problem.load), way)
    if not -slope > EPS * rounding:
        return None
    if cold and p != 2.0:
        # turn the linear springs' answer into overlaps of the power law's size
        ratio = stretch_to_law(dc, k, p)
        d, dc, slope, way = d * ratio, dc * ratio, slope * ratio, way * ratio
    t = minimum(here.overlap, dc, here.force, k, p, slope, settings.slope)
    if t < 0.0:
        return Status.LOAD_NOT_CARRIED
    far = not weak and t > settings.long
    if far:
        t = 1.0
    overlap = here.overlap + t * dc
    blur = t * EPS * float(absolute_product(B, way).max(initial=0.0))
    if not blur <= settings.blurred * float(overlap.max()):
        return None
    return Iterate.at(problem, here.x + t * d, overlap), far
