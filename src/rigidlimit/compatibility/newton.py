"""Compatible forces by the dual of eq. 36: three methods, one after the other, and a verdict.

- Hardly more contacts are closed than the load determines: the active set method among forces that
  balance (``active_set.py``), from given ones, or at the end from those of the other methods: a
  balance to the tolerance does not determine forces along weakly constrained motions.
- Newton on the no-tension network (``equilibrium/smooth_newton.py``, or ``regularized_newton.py``
  where its linear systems are small or turn out hard), p >= 2, from an earlier displacement or from
  none.
- The interior path (``equilibrium/smooth_path.py``) where Newton makes no progress, and at once
  where stiffnesses are very unequal. It finds the active contacts, and Newton continues. Where
  Newton fails even so, and for p < 2, where a contact is infinitely stiff as it closes, the path is
  followed to its end, and its forces are balanced.

Where none arrives, the best forces are returned.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..equilibrium import regularized_newton, smooth_newton
from ..equilibrium.result import Equilibrium
from ..equilibrium.smooth_law import SmoothNetwork
from ..equilibrium.sums import WHOLE, Sums
from ..errors import OutOfMemory
from ..linear import LinearStats, cost
from ..linear.stiffness import SETTINGS as LINEAR
from ..status import Status
from . import active_set
from .attempts import SETTINGS, Attempts, Found, Settings
from .bearing import bearing
from .energy import duality_gap

UNLIKE = 30.0
"""Ratio of the largest to the smallest stiffness above which Newton alone tends to wander."""


def unlike(stiffness: np.ndarray, exponent: float, sums: Sums = WHOLE) -> bool:
    """Whether springs are very unlike, so that the path goes first; for p < 2 it does anyway."""
    top, least = sums.most(stiffness), sums.least(float(stiffness.min(initial=np.inf)))
    return exponent >= 2.0 and bool(top > UNLIKE * least)


def solve(
    problem: SmoothNetwork,
    *,
    tolerance: float,
    max_iterations: int,
    warm_start: np.ndarray | None = None,
    admissible: np.ndarray | None = None,
    unresolved: float = 0.0,
    stats: LinearStats,
    settings: Settings = SETTINGS,
) -> Found:
    """Forces of ``problem``, of stiffness with largest 1, and loads of order one.

    warm_start (n,): u of an earlier answer. admissible (m,): some forces f >= 0 that balance the
    load. unresolved: see ``weak_motions.py``.
    """
    search = Search(problem, tolerance, max_iterations, stats, settings)
    search.unresolved = unresolved
    status = search.run(warm_start, admissible)
    answer = search.u, search.force, status, search.iterations, search.history, search.weak
    return Found(*answer, search.balanced_load, search.left_open)


class Search(Attempts):
    """The methods in turn."""

    def run(self, warm_start: np.ndarray | None, admissible: np.ndarray | None) -> Status:
        """The methods in turn."""
        status = self.by_active_set(admissible)
        if status is not None:
            return status
        loaded, status = self.sums.any(self.load), Status.STALLED
        if self.problem.exponent >= 2.0:
            status = self.by_newton(warm_start, loaded)
        # where overlaps press without a load, p < 2 has no other way
        if (loaded or self.force is None) and not (self.arrived or self.spent):
            self.follow_to_the_end()
        if loaded and admissible is None and warm_start is None and not self.small:
            ended = self.by_active_set(self.force)
            if ended is Status.CONVERGED:
                return ended
        if self.arrived:
            return Status.CONVERGED
        # where no contact yields noticeably, forces stay wherever the springs left them
        return Status.STALLED if status is Status.CONVERGED else status

    # Newton

    def by_newton(self, warm_start: np.ndarray | None, loaded: bool) -> Status:
        """Newton from the start, and from where the path has found the active contacts."""
        status, stalled = Status.STALLED, False
        if self.stopped_at is not None:
            warm_start = self.stopped_at
        elif warm_start is not None and self.drifted(warm_start):
            warm_start = None
        if warm_start is not None or not (self.network.unlike_springs and loaded):
            status = self.newton(warm_start)
            stalled = self.history.min() < self.settings.near
        if loaded and not (self.arrived or self.spent or stalled):
            self.follow(self.settings.hint, self.settings.hint_gap)
            status = self.newton(self.point.u)
        return status

    def drifted(self, u: np.ndarray) -> bool:
        """Whether u has moved so far that rounding of B u would spoil forces of order one.

        Floating bodies move where nothing holds them; over many warm starts that adds up.
        """
        return self.sums.most(self.rounded(u)) > self.settings.common_rounding

    def newton(self, start: np.ndarray | None) -> Status:
        """Newton from ``start`` (n,) or None, for as long as a start is given."""
        size = self.sums.total(len(self.load))
        larger = max(1.0, size / self.settings.patience_size) ** (1 / 3)
        patience = round(self.settings.patience * larger)
        answer = self.attempt(start, patience if self.sums.any(self.load) else self.max_iterations)
        if answer.status is Status.MAX_ITERATIONS and answer.residual < self.settings.near:
            answer = self.attempt(answer.x, self.max_iterations)  # until it stalls
        if answer.status is Status.STALLED and answer.residual < self.settings.near:
            self.take_balanced(answer)
        else:
            self.take(answer.x, answer.force, answer.history)
        return answer.status

    def take_balanced(self, answer: Equilibrium):
        """An equilibrium that rounding of u kept from its end, with its forces balanced: what is
        left of the balance along a weakly determined motion may stand for large forces."""
        force, overlap = answer.force, -answer.displacement
        bears = (force > 0) & (overlap > 0)
        tangent = np.zeros(len(force))
        tangent[bears] = (self.problem.exponent - 1.0) * force[bears] / overlap[bears]
        force, motion = self.balanced(force, tangent, self.tolerance)
        u = answer.x + motion
        # c = -B u is known to the rounding of u, which is what these forces do without
        blurred = self.sums.most(tangent * self.rounded(u))
        wrong = self.violation(u, force) - blurred / (self.sums.most(force) or 1.0)
        self.take(u, force, answer.history, max(wrong, 0.0))

    def attempt(self, start: np.ndarray | None, limit: int) -> Equilibrium:
        """Newton from ``start``, with ``limit`` steps where its systems are solved loosely."""
        if not self.directly():
            self.stats.took("newton")
            options = dict(scale=1.0, leave=self.directly)
            answer = self.by(smooth_newton.solve, start, limit, **options)
            if answer.converged or not self.directly():
                return answer
            start = answer.x
        self.stats.took("regularized newton")
        enough = dict(enough=lambda u, f: self.gap(u, f) <= self.settings.gap * self.tolerance)
        try:
            return self.by(regularized_newton.solve, start, self.settings.factorized, **enough)
        except OutOfMemory:
            self.out_of_memory = True
            return self.attempt(start, limit)

    @property
    def small(self) -> bool:
        """Whether the cost of factorizations is negligible."""
        return len(self.load) <= LINEAR.direct_size

    def directly(self) -> bool:
        """Whether Newton should solve by factorizations: where their cost is negligible, and
        where conjugate gradients cost too much or failed, as where motions are almost free."""
        if self.out_of_memory or self.small:
            return not self.out_of_memory
        hard = self.stats.costly > 0 or self.stats.cg_failures > 0 or self.stopped_at is not None
        return hard and cost.affordable(self.network, self.stats.products)

    def by(
        self, newton: Callable[..., Equilibrium], start: np.ndarray | None, limit: int, **options
    ) -> Equilibrium:
        """The equilibrium from ``start`` by one way of Newton, in at most ``limit`` steps."""
        answer = newton(
            self.problem,
            start=start,
            tolerance=self.tolerance,
            max_iterations=min(limit, max(1, self.max_iterations - self.iterations)),
            stats=self.stats,
            **options,
        )
        self.iterations += answer.iterations
        return answer

    # among forces that balance the load

    def by_active_set(self, admissible: np.ndarray | None) -> Status | None:
        """From given forces by the active set method; None where that does not apply.

        OUT_OF_MEMORY: the given forces, if nothing was found before. Forces due to rounding,
        different in every run, would be taken as active contacts.
        """
        if admissible is None or self.problem.offset is not None:
            return None
        admissible = np.where(bearing(admissible), admissible, 0.0)
        load, imbalance = self.load, self.problem.imbalance(admissible)
        if not active_set.applies(admissible, len(load)) or imbalance > self.settings.balanced:
            return None
        self.stats.took("active set")
        try:
            status = self.among_forces(admissible, self.unresolved)
            left_out = self.met is not None and self.met.out.size
            if status is None and left_out:  # those that stay may not be carried without them
                status = self.among_forces(admissible, 0.0)
        except OutOfMemory:
            if self.force is not None:  # what the other ways have found stays
                return None
            # they have no hope here
            self.u, self.force, self.history = np.zeros(len(load)), admissible, [imbalance]
            return Status.OUT_OF_MEMORY
        return status

    def among_forces(self, admissible: np.ndarray, unresolved: float) -> Status | None:
        """By the active set method from forces that balance the load; None where it stops short."""
        found, weak, borne = active_set.solve(
            self.problem,
            tolerance=self.tolerance,
            admissible=admissible,
            unresolved=unresolved,
            stats=self.stats,
        )
        self.iterations += found.iterations
        self.max_iterations += found.iterations  # where it fails, not at the cost of the others
        gap = duality_gap(replace(self.problem, load=borne), found.x, found.force, weak)
        # the gap decides, also where linearisations had not converged
        if not (found.residual <= self.tolerance and gap <= self.settings.gap * self.tolerance):
            u = found.x if weak is None else weak.displacement(found.x)
            self.stopped_at, self.met = u if np.isfinite(u).all() else None, weak
            return None
        self.u, self.force, self.history = found.x, found.force, [found.residual]
        self.weak = weak
        if weak is not None and weak.out.size:
            self.balanced_load = borne
        return Status.CONVERGED
