"""Compatible forces of nearly determinate packings: from admissible forces, by working sets.

In a generic packing of smooth bodies hardly more contacts are closed than the load determines.
There the forces have next to no freedom while the displacements have soft motions without end, and
Newton on the displacements (``newton.py``) adds one contact after another. This solver walks the
other way, among forces that balance: the primal active set method for eq. 36 (J. Nocedal and
S. Wright, Numerical Optimization, 2nd ed., algorithm 16.3).

With the contacts of the working set W as two-sided springs, linearised at the forces f,

    K u = B_W^T D s - F~,    K = B_W^T D B_W,    f+ = D (s - B_W u),    D = df/dc,   s = f/D - c(f),

f+ is the answer if no force pulls and no contact outside W overlaps under u. Contacts for which
that is not so change sides all at once, as long as they become fewer (block principal pivoting: L.
Portugal, J. Judice and L. Vicente, Math. Comp. 63, 1994): some five times are the rule. Where they
do not, f goes towards f+ until a contact opens, which leaves W, and when f+ is reached, the
contact outside W that overlaps most enters. K is factorized once; contacts that changed since are
taken in by the Woodbury formula, one solve each, until a new factorization is cheaper. Motions that
contacts hardly resist are degrees of freedom of their own (``weak_motions.py``). For p = 2 the
linearisation is exact; otherwise it is renewed until the forces stay.
"""

from dataclasses import dataclass

import numpy as np

from ..equilibrium.result import Equilibrium
from ..equilibrium.smooth_law import SmoothNetwork
from ..linear import LinearStats
from ..linear.dissection import has_metis
from ..linear.low_rank_update import ChangingSystem
from ..status import Status
from .rebalance import rebalanced
from .weak_motions import Springs, WeakMotions, weak_motions

FEW = 200
"""Largest number of closed contacts without force, and of changes of W, for this method."""

WITHOUT_METIS = 75_000
"""Largest number of degrees of freedom that are factorized without METIS. With it, as long as
memory
lasts: conjugate gradients are no alternative here."""


@dataclass(frozen=True)
class Settings:
    """shift: proximal term over the largest D, for motions that no contact of W resists. floor: D
    and s are taken at this part of the largest force, at least: for p != 2, D is 0 or infinite at
    no force. linearisations: renewals of D for p != 2; one or two are typical. telling: renewals
    after which progress is judged by their gain. decrease: required fraction of the slope in the
    line search; shorten: factor of its trials, to the ``shortest``. borne: load that the shift may
    carry, over the tolerance, before weakly constrained motions are looked for, which may hold
    forces of that size.
    rounded: contacts that entered and pull by rounding, after which the method has no way on.
    tries: exchanges of many contacts at once in a row that need not leave fewer of them wrong.
    """

    shift: float = 1e-12
    floor: float = 1e-2
    linearisations: int = 30
    telling: int = 3
    decrease: float = 0.1
    shorten: float = 0.7
    shortest: float = 1e-3
    borne: float = 1e-3
    rounded: int = 4
    tries: int = 3


def determined(admissible: np.ndarray | None, n: int) -> bool:
    """Whether forces (m,), if given, have no more active contacts than there are degrees of freedom
    n."""
    return admissible is not None and 0 < np.count_nonzero(admissible) <= n


def applies(admissible: np.ndarray, n: int) -> bool:
    """Whether hardly more contacts are closed than the load determines: ``determined``, and few
    contacts without force. admissible (m,): f >= 0."""
    if not determined(admissible, n) or not (has_metis() or n <= WITHOUT_METIS):
        return False
    return np.count_nonzero(admissible == 0) <= FEW


def solve(
    problem: SmoothNetwork,
    *,
    tolerance: float,
    admissible: np.ndarray,
    unresolved: float = 0.0,
    stats: LinearStats,
    settings: Settings = Settings(),
) -> tuple[Equilibrium, WeakMotions | None, np.ndarray]:
    """Forces of ``problem``, of stiffness with largest 1, and loads of order one; the weak motions,
    if any, that x of the answer has at its end, (n + k,); and the load (n,) that is balanced.

    admissible (m,): forces f >= 0 that balance the load. unresolved: see ``weak_motions.py``.
    iterations of the answer: changes of W.
    Raises OutOfMemory.
    """
    network, k, q = problem.network, problem.stiffness, 1.0 / (problem.exponent - 1.0)
    force, iterations, before, status = admissible, 0, np.inf, Status.STALLED
    for renewal in range(settings.linearisations):
        D = tangent(force, k, q, settings.floor)
        if q != 1.0 and renewal == 0:  # unlike D would only make K worse
            D = np.full(len(force), float(np.median(D[force > 0])))
        system = None  # its factor is large: gone before there is another
        system = ChangingSystem(network, D, force > 0, settings.shift * float(D.max()), stats)
        # s = f/D - c(f), where springs D go through the law at the forces
        offset = np.where(force > 0, force / D - (force / k) ** q, 0.0)
        springs = Springs(system, offset, problem.load)
        spring = _Linearised(springs, force, tolerance, unresolved, settings)
        optimal = spring.minimize() and spring.rebalance(tolerance)
        iterations += spring.changes
        change = spring.force - force
        moved, goal = float(np.abs(change).max()), tolerance * float(force.max())
        if not optimal or q == 1.0 or moved <= goal:
            status = Status.CONVERGED if optimal else Status.STALLED
            break
        left = settings.linearisations - renewal
        if renewal >= settings.telling and _too_slow(moved / before, moved / goal, left):
            break
        before = moved
        balanced = spring.imbalance(force) <= tolerance
        force = force + (damping(force, change, k, q, settings) if balanced else 1.0) * change
    moved, force, springs = spring.moved, spring.force, spring.springs
    load = springs.balanced(force)
    residual = float(np.abs(network.load_of(force) - load).max(initial=0.0))
    answer = Equilibrium(moved, force, springs.B @ moved, status, residual, iterations)
    return answer, springs.weak, load


def tangent(force: np.ndarray, stiffness: np.ndarray, q: float, floor: float) -> np.ndarray:
    """D = df/dc (m,) of the law at the forces, at ``floor`` of the largest at least."""
    lifted = np.maximum(force, floor * float(force.max()))
    return lifted / (q * (lifted / stiffness) ** q)


def _too_slow(rate, missing, left):
    """Whether changes that shrink by ``rate`` are too large after so many renewals more."""
    return rate >= 1.0 or missing * rate**left > 1.0


def damping(
    force: np.ndarray,
    change: np.ndarray,
    stiffness: np.ndarray,
    q: float,
    settings: Settings = Settings(),
) -> float:
    """Part of the way to go: the energy sum f c(f) / (q + 1) must not rise along it."""

    def slope(t: float) -> float:
        return float(change @ ((force + t * change) / stiffness) ** q)

    t = 1.0
    while slope(t) > settings.decrease * abs(slope(0.0)) and t > settings.shortest:
        t *= settings.shorten
    return t


class _Linearised:
    """The active set method on one linearisation; ``force`` and ``moved`` are where it stands."""

    def __init__(self, springs, force, tolerance, unresolved, settings):
        self.springs, self.system = springs, springs.system
        self.force = self.admissible = force
        self.tolerance, self.unresolved, self.settings = tolerance, unresolved, settings
        self.noise, self.moved = 0.1 * tolerance, springs.moved
        self.looked, self.changes = False, 0

    def in_blocks(self) -> bool:
        """Whether the optimum was reached by exchanging all contacts at once that pull or overlap,
        as long as these become fewer; else the working set is as it was."""
        system, before = self.system, self.system.working.copy()
        fewest, tries = np.inf, self.settings.tries
        while tries:
            self.changes += 1
            spring = self._spring_forces()
            if not np.isfinite(spring).all():
                break
            wrong = np.where(system.working, -spring, spring) > self.noise
            count = np.count_nonzero(wrong)
            if not count:
                self.force = np.where(system.working, np.maximum(spring, 0.0), 0.0)
                return True
            tries = self.settings.tries if count < fewest else tries - 1
            fewest = min(fewest, count)
            system.toggle(np.flatnonzero(wrong))
        back = np.flatnonzero(system.working != before)
        if len(back):
            system.toggle(back)
        return False

    def minimize(self) -> bool:
        """Whether the optimum was reached within a few changes of the working set."""
        if self.in_blocks():
            return True
        system, entered, rounded = self.system, -1, 0
        while self.changes <= 2 * FEW and rounded <= self.settings.rounded:
            self.changes += 1
            spring = self._spring_forces()
            if entered >= 0 and spring[entered] < -self.noise:
                system.renew()  # it overlapped, so it presses, but for rounding of many changes
                spring = self._spring_forces()
                rounded += bool(spring[entered] < -self.noise)
            if not np.isfinite(spring).all():
                return False
            aim, entered = np.where(system.working, spring, 0.0), -1
            if (aim < -self.noise).any():
                contact = self._towards(aim)
            else:
                self.force = np.maximum(aim, 0.0)
                outside = np.where(system.working, 0.0, spring)
                contact = entered = int(outside.argmax())
                if outside[contact] <= self.noise:
                    return True
            system.toggle([contact])
        return False

    def _spring_forces(self) -> np.ndarray:
        """Forces (m,) of all contacts as springs, held by the working set alone. Where the shift
        carries the load of weak motions, these are removed."""
        springs = self.springs
        spring = springs.forces()
        borne = self.system.shift * float(np.abs(springs.moved).max(initial=0.0))
        if not self.looked and borne > self.settings.borne * self.tolerance:
            self.looked = True
            weak = weak_motions(self.system, springs.load, self.admissible, self.unresolved)
            if weak is not None:
                self.springs = springs = Springs(self.system, springs.offset, springs.load, weak)
                spring = springs.forces()
        self.moved = springs.moved
        return spring

    def _towards(self, aim) -> int:
        """Go towards forces ``aim`` (m,) until a contact opens, which is returned."""
        pulling = np.flatnonzero(aim < -self.noise)
        now = self.force[pulling]
        way = now / (now - aim[pulling])
        first = int(way.argmin())
        self.force = np.maximum(self.force + way[first] * (aim - self.force), 0.0)
        self.force[pulling[first]] = 0.0
        return int(pulling[first])

    def imbalance(self, force: np.ndarray) -> float:
        """|B^T f - F~|_inf, but for motions that are left out."""
        missing = self.system.network.load_of(force) - self.springs.balanced(force)
        return float(np.abs(missing).max(initial=0.0))

    def rebalance(self, tolerance: float) -> bool:
        """Whether the forces of the working set could be balanced.

        At least one step: the remaining error is rounding of u, large along weakly constrained
        motions.
        """
        springs = self.springs
        springs.bear_as(self.force)
        D = np.where(self.system.working, self.system.D, 0.0)
        self.force, motion, imbalance = rebalanced(
            springs, self.force, springs.loads, D, springs.solve, tolerance=tolerance, at_least=1
        )
        self.moved = springs.moved + motion
        if imbalance > tolerance and springs.weak is not None:
            along = np.abs(springs.weak.missing(self.force)).max(initial=0.0)
            imbalance = max(self.imbalance(self.force), float(along))
        return imbalance <= tolerance
