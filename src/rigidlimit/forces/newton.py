"""Compatible forces by the dual of eq. 36: three methods, one after the other, and a verdict.

- Hardly more contacts are closed than the load determines: the active set method among forces that
  balance (``active_set.py``).
- Newton on the no-tension network (``equilibrium/smooth_newton.py``, or ``regularized_newton.py``
  where its linear systems are small or turn out hard), p >= 2, from an earlier displacement or from
  none.
- The interior path (``equilibrium/smooth_path.py``) where Newton wanders, and at once where
  stiffnesses are very unlike. It tells which contacts bear, and Newton goes on from there. Where
  Newton fails even so, and for p < 2, where a contact is infinitely stiff as it closes, the path is
  followed to its end, and its forces are balanced.

Where none arrives, the best forces are returned.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from .._support.products import absolute_product
from ..equilibrium import regularized_newton, smooth_newton
from ..equilibrium.smooth_law import SmoothNetwork
from ..equilibrium.smooth_path import LOOSE, follow
from ..errors import NoRoom
from ..linear import LinearStats, cost
from ..linear.stiffness import DIRECT_SIZE
from ..status import Status
from . import active_set
from .active_set import FEW
from .bearing import bearing
from .carried import nearest_carried
from .problem import ROUNDED, duality_gap
from .rebalance import rebalanced

GAP = 10.0
"""Duality gap, or violation of the law, over tolerance up to which balanced forces count as the
answer."""


UNLIKE = 30.0
"""Ratio of the largest to the smallest stiffness above which Newton alone tends to wander."""


def unlike(stiffness: np.ndarray, exponent: float) -> bool:
    """Whether springs are of two sorts, so that the path goes first; for p < 2 it does anyway."""
    top, least = stiffness.max(initial=0.0), stiffness.min(initial=np.inf)
    return exponent >= 2.0 and bool(top > UNLIKE * least)


@dataclass(frozen=True)
class Settings:
    """When one method leaves off and the next begins. Imbalances are over the load.

    newton: of ``smooth_newton``. slow: power of the residual to which its linear systems are solved
    for ``unlike`` springs. patience: Newton steps given to a start in networks of up to ``small``
    degrees of freedom; contacts close and open from neighbour to neighbour, so that in larger ones
    the steps grow like the linear size. factorized: Newton steps by factorizations, most of which
    keep the factor.
    blurred: rounding of overlaps, of those of forces of order one, that a warm start may bring
    along. balanced: imbalance up to which given forces count as admissible. hint, hint_gap:
    imbalance and gap at which the path tells nearly all contacts that bear. far: part of the
    way to the nearest bound that its steps may go then. about: imbalance of the forces of equal
    springs from which it begins. roughly: imbalance at its end. end: part of the tolerance to
    which the gap is followed to its end, and what is left there balanced: times displacements
    that are large where stiffnesses are unlike, it is part of the gap. softest: tangent
    stiffness at the largest force over the largest that is balanced with.
    """

    newton: smooth_newton.Settings = field(
        default_factory=lambda: smooth_newton.Settings(undershoot=0.3)
    )
    slow: float = 0.5
    patience: int = 25
    small: int = 100_000
    factorized: int = 300
    blurred: float = 1e-8
    balanced: float = 1e-6
    hint: float = 1e-2
    hint_gap: float = 1e-10
    far: float = 0.99
    about: float = 0.1
    roughly: float = 1e-6
    end: float = 1e-2
    softest: float = 1e-6


def solve(
    problem: SmoothNetwork,
    *,
    tolerance: float,
    max_iterations: int,
    warm_start: np.ndarray | None = None,
    admissible: np.ndarray | None = None,
    stats: LinearStats,
    settings: Settings = Settings(),
):
    """(u, force, status, iterations, history).

    problem: of stiffness with largest 1, and loads of order one. warm_start (n,): u of an earlier
    answer. admissible (m,): some forces f >= 0 that balance the load.
    """
    search = _Search(problem, tolerance, max_iterations, stats, settings)
    status = search.run(warm_start, admissible)
    return search.u, search.force, status, search.iterations, search.history


class _Search:
    """One problem, and the best of what the methods led to.

    u, force, history: of the best attempt. It is judged by the imbalance, as by the driver, and by
    the duality gap: where motions are soft u may be so large, or a path so lost, that balanced
    forces are far from the least energy. Those balanced by a last step are asked whether they obey
    the law, too. arrived: whether the best is the answer.
    """

    def __init__(self, problem, tolerance, max_iterations, stats, settings):
        self.problem, self.tolerance, self.settings = problem, tolerance, settings
        self.network, self.load, self.offset = problem.network, problem.load, problem.offset
        self.stiffness, self.exponent = problem.stiffness, problem.exponent
        self.max_iterations, self.iterations, self.stats = max_iterations, 0, stats
        self.unlike = problem.network.two_sorts
        self.u = self.force = self.history = self.point = None
        self.missed, self.arrived, self.no_room = np.inf, False, False

    def run(self, warm_start, admissible) -> Status:
        """The methods in turn."""
        if admissible is not None:  # rounding does not bear
            admissible = np.where(bearing(admissible), admissible, 0.0)
        status = self.among_forces(admissible)
        if status is None and admissible is None and warm_start is None:
            status = self.among_nearest()
        if status is not None:
            return status
        loaded, status = bool(self.load.any()), Status.STALLED
        if self.exponent >= 2.0:
            if warm_start is not None and self.drifted(warm_start):
                warm_start = None
            if warm_start is not None or not (self.unlike and loaded):
                status = self.newton(warm_start)
            lost = self.history is not None and self.history.min() < self.settings.newton.near
            if loaded and not (self.arrived or self.spent or lost):
                self.follow(self.settings.hint, self.settings.hint_gap)
                status = self.newton(self.point.u)
        if loaded and not (self.arrived or self.spent):
            self.follow_to_the_end()
        if self.arrived:
            return Status.CONVERGED
        # where all contacts yield next to nothing, forces stay wherever the springs left them
        return Status.STALLED if status is Status.CONVERGED else status

    @property
    def spent(self) -> bool:
        return self.iterations >= self.max_iterations

    def gap(self, u, force) -> float:
        law = self.stiffness, self.exponent
        found = duality_gap(self.network.B, u, force, *law, self.load, self.offset)
        return np.inf if np.isnan(found) else found

    def violation(self, u, force) -> float:
        """|f - k max(0, c)^(p-1)|_inf over the largest force."""
        law = self.problem.force(self.problem.overlap(u))
        worst = float(np.abs(force - law).max() / (force.max(initial=0.0) or 1.0))
        return np.inf if np.isnan(worst) else worst

    def take(self, u, force, history, violation=0.0):
        """Keep this attempt if it is better than those before. violation: of the law."""
        # for p < 2 overlaps tell next to nothing of forces, the energy tells
        wrong = max(self.gap(u, force), violation if self.exponent >= 2.0 else 0.0)
        missed = max(np.nan_to_num(self.problem.imbalance(force), nan=np.inf), wrong / GAP)
        if self.force is None or missed < self.missed:
            self.missed, self.u, self.force, self.history = missed, u, force, history
            self.arrived = missed <= self.tolerance

    def newton(self, start) -> Status:
        """Newton from ``start`` (n,) or None, for as long as a start is given."""
        larger = max(1.0, len(self.load) / self.settings.small) ** (1 / 3)
        patient = round(self.settings.patience * larger)
        answer = self.attempt(start, patient if self.load.any() else self.max_iterations)
        self.take(*self.finished(answer))
        return answer.status

    def directly(self) -> bool:
        """Whether Newton had better solve by factorizations: where they cost next to nothing, and
        where conjugate gradients proved dear or failed, as where motions are all but free."""
        if self.no_room:
            return False
        hard = self.stats.dear > 0 or self.stats.cg_failures > 0
        if len(self.load) <= DIRECT_SIZE:
            return True
        return hard and cost.affordable(self.network, self.stats.products)

    def attempt(self, start, limit):
        """Newton from ``start``, with ``limit`` steps where its systems are solved loosely."""
        if not self.directly():
            self.stats.took("newton")
            settings = self.settings.newton
            if self.unlike:
                settings = replace(settings, forcing_power=self.settings.slow)
            options = dict(scale=1.0, leave=self.directly, settings=settings)
            answer = self.by(smooth_newton.solve, start, limit, **options)
            if answer.converged or answer.blocked or not self.directly():
                return answer
            start = answer.x
        self.stats.took("soft newton")
        try:
            options = dict(enough=self.obeys)
            return self.by(regularized_newton.solve, start, self.settings.factorized, **options)
        except NoRoom:
            self.no_room = True
            return self.attempt(start, limit)

    def by(self, newton, start, limit, **options):
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

    def obeys(self, u, force) -> bool:
        return self.gap(u, force) <= GAP * self.tolerance

    def finished(self, answer):
        """(u, forces, history, violation of the law) of an equilibrium; where rounding of u kept it
        from its end, with its forces balanced."""
        u, force, p = answer.x, answer.force, self.exponent
        if answer.status is not Status.STALLED or answer.residual >= self.settings.newton.near:
            return u, force, answer.history, 0.0
        overlap = -answer.displacement
        bears = (force > 0) & (overlap > 0)
        tangent = np.zeros(len(force))
        tangent[bears] = (p - 1.0) * force[bears] / overlap[bears]
        force, motion = self.balanced(force, tangent, self.tolerance)
        u = u + motion
        # c = -B u is known to the rounding of u, which is what these forces do without
        blurred = 1e-15 * float((tangent * absolute_product(self.network.B, u)).max(initial=0.0))
        wrong = self.violation(u, force) - blurred / (force.max(initial=0.0) or 1.0)
        return u, force, answer.history, max(wrong, 0.0)

    def balanced(self, force, tangent, tolerance):
        """(forces, what is added to u): ``rebalanced`` by the tangent stiffness (m,)."""
        top = float(tangent.max(initial=0.0))
        if not top > 0.0:
            return force, 0.0
        self.stats.took("rebalanced")
        system = self.network.system(tangent / top, 1e-12)

        def solve(missing):
            return system.solve(missing, target=0.01 * tolerance, stats=self.stats)

        force, motion, _ = rebalanced(
            self.network, force, self.load, tangent / top, solve, tolerance=tolerance
        )
        return force, motion / top

    def follow(self, imbalance, gap):
        """Go on along the central path to these."""
        self.stats.took("central path")
        self.point = follow(
            self.problem,
            tolerance=imbalance,
            gap_tolerance=gap,
            start=self.point,
            guess=self.guess() if self.point is None and self.unlike else None,
            settings=replace(LOOSE, fraction=self.settings.far) if self.unlike else LOOSE,
            stats=self.stats,
        )
        self.iterations += self.point.iterations

    def guess(self):
        """Forces that about balance the load: those of equal springs."""
        equal = SmoothNetwork(self.network, np.ones(len(self.stiffness)), 2.0, self.load)
        answer = smooth_newton.solve(
            equal,
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
        q, small = 1.0 / (self.exponent - 1.0), self.settings.end * self.tolerance
        self.follow(self.settings.roughly, small)
        if self.point.imbalance > 2 * self.settings.roughly and self.exponent >= 2.0:
            return  # the load is not carried
        point = self.point
        least = 0.0
        if q > 1.0:  # contacts are the stiffer the less they bear, as f^(1 - q)
            least = self.settings.softest ** (1.0 / (q - 1.0)) * point.force.max()
        with np.errstate(all="ignore"):  # a path that lost its way
            yielding = (np.maximum(point.force, least) / self.stiffness) ** q
            tangent = point.force / (point.slack + q * yielding)
        # on the path no force is zero
        force = np.where(point.force > small * point.force.max(), point.force, 0.0)
        force, _ = self.balanced(force, tangent, small)
        history = np.array([self.problem.imbalance(force)])
        self.take(point.u, force, history, self.violation(point.u, force))

    def among_nearest(self) -> Status | None:
        """``among_forces`` from forces that balance the load, found like step 1; those that are
        rounding's, other ones in every run, would be taken for bearing contacts."""
        m, n = self.network.B.shape
        few = n > DIRECT_SIZE and m <= n + FEW
        if not (few and self.offset is None and self.load.any()):
            return None
        self.stats.took("nearest carried first")
        force = nearest_carried(self.network, self.load).force
        return self.among_forces(np.where(bearing(force), force, 0.0))

    def among_forces(self, admissible) -> Status | None:
        """By the active set method; None where that is no way. NO_ROOM: forces as given."""
        network, load = self.network, self.load
        if self.offset is not None or not active_set.applies(admissible, len(load)):
            return None
        if self.problem.imbalance(admissible) > self.settings.balanced:
            return None
        self.stats.took("active set")
        try:
            u, force, steps, balanced = active_set.solve(
                network,
                load,
                self.stiffness,
                self.exponent,
                tolerance=self.tolerance,
                admissible=admissible,
                stats=self.stats,
            )
        except NoRoom:  # the other ways have no hope here
            self.u, self.force = np.zeros(len(load)), admissible
            self.history = np.array([self.problem.imbalance(admissible)])
            return Status.NO_ROOM
        self.iterations += steps
        self.max_iterations += steps  # where it fails, not at the cost of the others
        if not balanced or self.gap(u, force) > GAP * self.tolerance:
            return None
        self.u, self.force, self.history = u, force, np.array([self.problem.imbalance(force)])
        return Status.CONVERGED

    def drifted(self, u) -> bool:
        """Whether u has moved so far that rounding of B u would spoil forces of order one.

        Floating bodies move where nothing holds them; over many warm starts that adds up. Soft
        motions may be as large as they are: rounding of what they have in common is no more than
        the rounding that they bring along in any case.
        """
        felt = ROUNDED * np.abs(self.network.B @ u).max(initial=0.0)
        common = ROUNDED * absolute_product(self.network.B, u).max(initial=0.0)
        return felt > 0.01 * self.tolerance or common > self.settings.blurred
