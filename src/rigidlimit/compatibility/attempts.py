"""Attempts to solve one problem of eq. 36: the best so far, and those by the interior path.

``newton.py`` decides which attempts are made, and when.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from .._support.products import absolute_product
from ..equilibrium import smooth_newton
from ..equilibrium.smooth_path import PathPoint, follow, forces_at_end
from ..status import Status
from .energy import EPS, duality_gap
from .rebalance import rebalanced
from .weak_motions import WeakMotions


@dataclass(frozen=True)
class Settings:
    """When one method ends and the next begins. Imbalances are over the load.

    gap: largest duality gap, or violation of the law, over tolerance, at which balanced forces are
    accepted.

    Newton. patience: steps given to a start in networks of up to ``patience_size`` degrees of
    freedom; contacts close and open from neighbour to neighbour, so that in larger ones the steps
    grow like the linear size. factorized: steps by factorizations, most of which keep the factor.
    near: a residual below which the path does not help: Newton continues until it stalls, as
    contacts that touch without a force open and close because of linear-solver error.
    common_rounding: rounding of overlaps, of those of forces of order one, that a warm start may
    bring along.

    Active set. balanced: largest imbalance at which given forces count as admissible.

    Path. hint, hint_gap: imbalance and gap at which it identifies nearly all active contacts.
    about: imbalance of the forces of equal springs at which it begins where springs are very
    unequal. end,
    end_gap: imbalance at its end, and the gap over the tolerance. softest: tangent stiffness at the
    largest force over the largest that its forces are balanced with.
    """

    gap: float = 10.0
    patience: int = 25
    patience_size: int = 100_000
    factorized: int = 300
    near: float = 1e-6
    common_rounding: float = 1e-8
    balanced: float = 1e-6
    hint: float = 1e-2
    hint_gap: float = 1e-10
    about: float = 0.1
    end: float = 1e-6
    end_gap: float = 1e-2
    softest: float = 1e-6


SETTINGS = Settings()


@dataclass(frozen=True)
class Found:
    """u (n,), force (m,) of the best attempt, with its status, the iterations of all attempts and
    the residuals of the best. weak: weak motions appended to u, (n + k,). load (n,): the
    one that is balanced, where motions were excluded. open: force error along weak motions, as a
    fraction of the largest force."""

    u: np.ndarray
    force: np.ndarray
    status: Status
    iterations: int
    history: np.ndarray = field(default_factory=lambda: np.zeros(0))
    weak: WeakMotions | None = None
    load: np.ndarray | None = None
    open: float = 0.0

    @property
    def displacement(self) -> np.ndarray:
        """u (n,) including weak motions."""
        return self.u if self.weak is None else self.weak.displacement(self.u)


class Attempts:
    """One problem, and the best result of the methods.

    u, force, history: of the best attempt. It is judged by the imbalance, as by the driver, and by
    the duality gap: along weakly constrained motions u may be so large, or a path so inaccurate,
    that balanced forces are far from the least energy. arrived: whether the best is the solution.
    """

    def __init__(self, problem, tolerance, max_iterations, stats, settings):
        self.problem, self.tolerance, self.settings = problem, tolerance, settings
        self.network, self.load, self.sums = problem.network, problem.load, problem.sums
        self.max_iterations, self.iterations, self.stats = max_iterations, 0, stats
        self.u = self.force = self.history = None
        self.point: PathPoint | None = None
        # where the active set method stopped early, and the weak motions it ended with
        self.stopped_at: np.ndarray | None = None
        self.weak: WeakMotions | None = None
        self.unresolved, self.balanced_load = 0.0, None
        self.met: WeakMotions | None = None  # by the active set method where it stopped short
        self.missed, self.arrived, self.out_of_memory = np.inf, False, False

    @property
    def spent(self) -> bool:
        return self.iterations >= self.max_iterations

    @property
    def left_open(self) -> float:
        """Part of the largest force that the best forces miss along weak motions: their balance to
        the tolerance, over how gaps change in these."""
        if self.met is None or self.weak is not None:
            return 0.0
        missed = np.abs(self.met.missing(self.force)).max(initial=0.0)
        return min(float(missed / (self.force.max(initial=0.0) or 1.0)), 1.0)

    def gap(self, u: np.ndarray, force: np.ndarray) -> float:
        """The duality gap, inf where it is no number."""
        found = duality_gap(self.problem, u, force)
        return np.inf if np.isnan(found) else found

    def violation(self, u: np.ndarray, force: np.ndarray) -> float:
        """|f - k max(0, c)^(p-1)|_inf over the largest force."""
        law = self.problem.force(self.problem.overlap(u))
        worst = self.sums.largest(force - law) / (self.sums.most(force) or 1.0)
        return np.inf if np.isnan(worst) else worst

    def rounded(self, u: np.ndarray) -> np.ndarray:
        """Rounding of B u, (m,)."""
        return EPS * absolute_product(self.network.B, u)

    def take(
        self, u: np.ndarray, force: np.ndarray, history: Sequence[float], violation: float = 0.0
    ):
        """Keep this attempt if it is better than those before. violation: of the law, by forces
        that were balanced by themselves."""
        imbalance = np.nan_to_num(self.problem.imbalance(force), nan=np.inf)
        missed = max(imbalance, self.gap(u, force) / self.settings.gap)
        if self.problem.exponent >= 2.0:  # else overlaps hardly determine forces
            missed = max(missed, violation / self.settings.gap)
        if self.force is None or missed < self.missed:
            self.missed, self.u, self.force, self.history = missed, u, force, history
            self.arrived = missed <= self.tolerance

    def follow(self, imbalance: float, gap: float):
        """Go on along the path to these."""
        self.stats.took("central path")
        begins = self.point is None and self.network.unlike_springs
        self.point = follow(
            self.problem,
            tolerance=imbalance,
            gap_tolerance=gap,
            start=self.point,
            guess=self.equal_springs() if begins else None,
            stats=self.stats,
        )
        self.iterations += self.point.iterations

    def equal_springs(self) -> np.ndarray:
        """Forces (m,) of springs of one stiffness, which about balance the load."""
        answer = smooth_newton.solve(
            replace(
                self.problem,
                stiffness=np.ones_like(self.problem.stiffness),
                exponent=2.0,
                offset=None,
            ),
            tolerance=self.settings.about,
            scale=1.0,
            max_iterations=self.settings.patience,
            stats=self.stats,
        )
        self.iterations += answer.iterations
        return answer.force

    def follow_to_the_end(self):
        """The path to its end, its forces balanced."""
        self.stats.took("end of the path")
        settings, problem = self.settings, self.problem
        small = settings.end_gap * self.tolerance
        self.follow(settings.end, small)
        point = self.point
        if point.imbalance > 2 * settings.end and problem.exponent >= 2.0:
            return  # the load is not carried
        options = dict(negligible=small, softest=settings.softest)
        force, tangent = forces_at_end(problem, point, **options)
        force, _ = self.balanced(force, tangent, small)
        history = np.array([problem.imbalance(force)])
        self.take(point.u, force, history, self.violation(point.u, force))

    def balanced(
        self, force: np.ndarray, tangent: np.ndarray, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray | float]:
        """(forces (m,), what is added to u): ``rebalanced`` with the tangent stiffness (m,)."""
        top = self.sums.most(tangent)
        if not top > 0.0:
            return force, 0.0
        self.stats.took("rebalanced")
        system = self.network.system(tangent / top, 1e-12)

        def solve(missing: np.ndarray) -> np.ndarray:
            return system.solve(missing, target=0.01 * tolerance, stats=self.stats)

        D, options = tangent / top, dict(tolerance=tolerance, sums=self.sums)
        force, motion, _ = rebalanced(self.network, force, self.load, D, solve, **options)
        return force, motion / top
