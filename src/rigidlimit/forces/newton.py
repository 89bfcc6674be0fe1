"""Compatible forces by the dual of eq. 36: Newton on the no-tension network.

Packings in which hardly more contacts are closed than the load determines are settled among forces
(``active_set.py``). Otherwise one equilibrium of ``network/equilibrium.py``, or of
``network/soft.py`` where its linear systems are small or turn out hard; the starts are tried in
turn until one converges:

- from admissible forces with no more contacts bearing than there are degrees of freedom: those
  contacts as linear springs. Such packings are nearly determinate, and the answer is near;
- from the displacement of an earlier answer;
- cold: every contact a linear spring;
- from the central path (``network/central_path.py``), which always gets there but costs about
  three times as much. It goes first for p < 2, and where stiffnesses are very unlike. There it
  begins with the forces of equal springs, and ends when it tells which contacts bear.

Where motions are so soft that displacements lose their digits, few contacts are solved among their
forces (``null_space.py``).

Newton may fail even from there: for 1 < p < 2 a contact is infinitely stiff as it closes; and in
walls of blocks that touch side by side, rounding of the load is all that their sides carry, 1e-10
of the forces in the beds, and Newton closes a few of them a step. Then the central path is followed
to its end and its forces are balanced; for p < 2 springs in series (``proximal.py``) are the last
resort. Where no attempt converges, the best is returned.
"""

import numpy as np

from ..errors import NoRoom
from ..network import Network, equilibrium
from ..network.central_path import INTERIOR, follow
from ..network.equilibrium import NEAR
from ..network.handover import Handover
from ..network.price import affordable
from ..network.soft import soft_equilibrium
from ..network.stiffness import DIRECT_SIZE, LinearStats, StiffnessSystem
from ..products import absolute_product
from ..status import Status
from . import active_set, null_space, proximal
from .active_set import FEW
from .bearing import bearing
from .carried import nearest_carried
from .problem import ROUNDED, duality_gap
from .rebalance import rebalanced

UNLIKE = 30.0
"""Ratio of the largest to the smallest stiffness above which Newton alone tends to wander."""

SLOW = 0.5
"""Power of the residual to which linear systems are solved then."""

LET_BE = 0.3
"""Part of the tolerance that a start near the answer may leave as it is."""

WANDERING = 25
"""Newton steps after which a start has shown that it is not near; more in large networks."""

SMALL = 100_000
"""Degrees of freedom of a network that is not large; ``patience``."""

BLURRED = 1e-8
"""Rounding of overlaps, of those of forces of order one, that a warm start may bring along."""

BALANCED = 1e-6
"""Imbalance up to which given forces count as admissible."""

GAP = 10.0
"""Duality gap, or violation of the law, over tolerance up to which balanced forces count as the
answer."""

HINTED, HINTED_GAP = 1e-2, 1e-10
"""Imbalance and gap at which the path tells nearly all contacts that bear."""

FAR = 0.99
"""Part of the way to the nearest bound that its steps may go then."""

ABOUT = 0.1
"""Imbalance of forces from which the path begins."""

ROUGHLY = 1e-6
"""Imbalance and gap at which the path is a start for Newton."""

TO_THE_END = 1e-2, 1e-5, 1e-8
"""Parts of the tolerance to which the path is followed to its end, one after the other if need be;
to the first its forces are balanced: what is left, times displacements that are large where
stiffnesses are unlike, is part of the gap."""


FACTORIZED = 100
"""Steps of Newton by factorizations, most of which keep the factor."""


def patience(n: int) -> int:
    """Newton steps given to a start, for n degrees of freedom.

    Contacts close and open from neighbour to neighbour, so that Newton steps grow like the linear
    size, and so does the cost of the path, which would come next.
    """
    return round(WANDERING * max(1.0, n / SMALL) ** (1 / 3))


def solve(
    network: Network,
    load,
    stiffness,
    exponent,
    *,
    tolerance,
    max_iterations,
    warm_start,
    admissible=None,
    given=None,
    offset=None,
):
    """(u, force, status, iterations, history, stats); loads and stiffness of order one.

    warm_start (n,): u of an earlier answer. admissible (m,): some forces f >= 0 that balance the
    load. given: a ``Handover`` of this network; it is empty afterwards. offset (m,): s of the
    overlaps c = s - B u, initial gaps with the other sign.
    """
    search = _Search(network, load, stiffness, exponent, tolerance, max_iterations, offset)
    status = search.run(warm_start, admissible, given or Handover())
    status = search.sharpened(status, admissible)
    return search.u, search.force, status, search.iterations, search.history, search.stats


class _Search:
    """One problem, the ways tried on it, and the best of what they led to.

    u, force, history: of the best attempt. It is judged by the imbalance, as by the driver, and by
    the duality gap: where motions are soft u may be so large, or a path so lost, that balanced
    forces are far from the least energy. Those balanced by a last step are asked whether they obey
    the law, too. arrived: whether the best is the answer.
    """

    def __init__(self, network, load, stiffness, exponent, tolerance, max_iterations, offset):
        self.network, self.load, self.offset = network, load, offset
        self.stiffness, self.exponent, self.tolerance = stiffness, exponent, tolerance
        self.max_iterations, self.iterations, self.stats = max_iterations, 0, LinearStats()
        top, least = stiffness.max(initial=0.0), stiffness.min(initial=np.inf)
        self.unlike = network.two_sorts = exponent >= 2.0 and top > UNLIKE * least
        self.u = self.force = self.history = self.point = None
        self.missed, self.arrived, self.no_room = np.inf, False, False
        self.blurred = False  # whether displacements are so long that overlaps are rounding

    def run(self, warm_start, admissible, given) -> Status:
        """Try the ways in turn."""
        load, exponent, n = self.load, self.exponent, len(self.load)
        balanced = admissible
        if balanced is not None:  # rounding does not bear
            admissible = np.where(bearing(balanced), balanced, 0.0)
        # hardly more contacts than the load can determine: forces that balance it may be the way
        plain = self.offset is None
        seek = admissible is None and plain and load.any() and len(self.stiffness) <= n + FEW
        status = self.among_forces(admissible, given)
        given.taken()  # no more use, and large
        if seek and warm_start is None and n > DIRECT_SIZE:
            seek, status = False, self.among_given()
        if status is not None:
            return status

        lost = False  # near the answer, and never there: no start helps
        for start in self.starts(warm_start, admissible):
            if start == self.from_path and seek:
                status = self.among_given()
                if status is not None:
                    return status
            answer = self.attempt(start(), patience(n) if load.any() else self.max_iterations)
            status = answer.status
            lost = status is not Status.CONVERGED and answer.history.min() < NEAR
            self.take(*self.finished(answer))
            if self.arrived or lost or self.spent:
                break
        self.among_few(balanced)
        lost |= self.blurred
        if load.any() and not self.blurred:
            self.follow_to_the_end()
        if exponent >= 2.0 and not (self.arrived or lost or self.spent):
            answer = self.attempt(self.u, self.max_iterations)
            status = answer.status
            self.take(answer.x, answer.force, answer.history)
        if exponent < 2.0 and not self.arrived:
            answer = proximal.solve(
                self.network,
                load,
                self.stiffness,
                exponent,
                tolerance=self.tolerance,
                max_iterations=self.max_iterations,
                stats=self.stats,
                offset=self.offset,
            )
            status = answer.status
            self.iterations += answer.iterations
            self.take(answer.u, answer.force, answer.history)
        if self.arrived:
            return Status.CONVERGED
        # where all contacts yield next to nothing, forces stay wherever the springs left them
        return Status.STALLED if status is Status.CONVERGED else status

    def sharpened(self, status, admissible) -> Status:
        """The status once few contacts have got what a balance to the tolerance does not tell."""
        solved = status in (Status.CONVERGED, Status.STALLED)
        looked_at = null_space.looked_at(self.network, self.exponent, self.offset)
        if not (solved and looked_at) or self.imbalance(self.force) > BALANCED:
            return status
        self.u, self.force, known = null_space.sharpened(
            self.network,
            self.load,
            self.stiffness,
            self.exponent,
            self.u,
            self.force,
            converged=status is Status.CONVERGED,
            admissible=admissible,
            tolerance=self.tolerance,
            gap=GAP * self.tolerance,
        )
        self.history = np.append(self.history, self.imbalance(self.force))
        return Status.CONVERGED if known else Status.STALLED

    def starts(self, warm_start, admissible):
        """Functions that return u to start Newton from, or None."""
        load = self.load
        found = []
        few = active_set.determined(admissible, len(load)) and affordable(len(load))
        if few and self.exponent >= 2.0 and self.offset is None:
            found.append(lambda: self.on(admissible > 0))
        if warm_start is not None and not self.drifted(warm_start):
            found.append(lambda: warm_start)
        if not load.any() or (self.exponent >= 2.0 and not self.unlike):
            found.append(lambda: None)
        if load.any():
            found += [self.from_path, *([self.from_near_its_end] if self.unlike else [])]
        return found

    @property
    def spent(self) -> bool:
        return self.iterations >= self.max_iterations

    def imbalance(self, force) -> float:
        return float(np.abs(self.network.carried(force) - self.load).max(initial=0.0))

    def gap(self, u, force) -> float:
        network, law = self.network, (self.stiffness, self.exponent)
        found = duality_gap(network.B, u, force, *law, self.load, self.offset)
        return np.inf if np.isnan(found) else found

    def violation(self, u, force) -> float:
        """|f - k max(0, c)^(p-1)|_inf over the largest force."""
        moved = self.network.B @ u
        overlap = -moved if self.offset is None else self.offset - moved
        law = self.stiffness * np.maximum(overlap, 0.0) ** (self.exponent - 1.0)
        worst = float(np.abs(force - law).max() / (force.max(initial=0.0) or 1.0))
        return np.inf if np.isnan(worst) else worst

    def take(self, u, force, history, violation=0.0):
        """Keep this attempt if it is better than those before. violation: of the law."""
        # for p < 2 overlaps tell next to nothing of forces, the energy tells
        wrong = max(self.gap(u, force), violation if self.exponent >= 2.0 else 0.0)
        missed = max(np.nan_to_num(self.imbalance(force), nan=np.inf), wrong / GAP)
        if self.force is None or missed < self.missed:
            self.missed, self.u, self.force, self.history = missed, u, force, history
            self.arrived = missed <= self.tolerance

    def directly(self) -> bool:
        """Whether Newton had better solve by factorizations: where they cost next to nothing, and
        where conjugate gradients proved dear or failed, as where motions are all but free."""
        network = self.network
        if self.exponent < 2.0 or self.no_room:
            return False
        hard = network.direct or self.stats.cg_failures > 0
        return len(self.load) <= DIRECT_SIZE or (hard and network.price.affordable)

    def attempt(self, start, limit):
        """Newton from ``start``, with ``limit`` steps where its systems are solved loosely."""
        if not self.directly():
            rate = SLOW if self.unlike else 1.0
            options = dict(scale=1.0, rate=rate, leave=self.directly, let_be=LET_BE)
            answer = self.by(equilibrium, start, limit, **options)
            if answer.status is Status.CONVERGED or answer.held or not self.directly():
                return answer
            start = answer.x
        try:
            return self.by(soft_equilibrium, start, FACTORIZED, enough=self.obeys)
        except NoRoom:
            self.no_room = True
            return self.attempt(start, limit)

    def by(self, newton, start, limit, **options):
        """The equilibrium from ``start`` by one way of Newton, in at most ``limit`` steps."""
        answer = newton(
            self.network,
            self.stiffness,
            self.exponent,
            load=self.load,
            offset=self.offset,
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
        if answer.status is not Status.STALLED or answer.residual >= NEAR or p < 2.0:
            return u, force, answer.history, 0.0
        bears = (force > 0) & (answer.overlap > 0)
        tangent = np.zeros(len(force))
        tangent[bears] = (p - 1.0) * force[bears] / answer.overlap[bears]
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
        system = StiffnessSystem(self.network, tangent / top, 1e-12)

        def solve(missing):
            return system.solve(missing, target=0.01 * tolerance, stats=self.stats)

        force, motion, _ = rebalanced(
            self.network, force, self.load, tangent / top, solve, tolerance=tolerance
        )
        return force, motion / top

    def follow(self, imbalance, gap):
        """Go on along the central path to these."""
        self.point = follow(
            self.network,
            self.stiffness,
            self.exponent,
            load=self.load,
            offset=self.offset,
            tolerance=imbalance,
            gap_tolerance=gap,
            start=self.point,
            guess=self.guess() if self.point is None and self.unlike else None,
            interior=FAR if self.unlike else INTERIOR,
            stats=self.stats,
        )
        self.iterations += self.point.iterations

    def guess(self):
        """Forces that about balance the load: those of equal springs."""
        answer = equilibrium(
            self.network,
            np.ones(len(self.stiffness)),
            2.0,
            load=self.load,
            tolerance=ABOUT,
            scale=1.0,
            max_iterations=WANDERING,
            stats=self.stats,
        )
        self.iterations += answer.iterations
        return answer.force

    def from_path(self):
        if self.point is None:
            self.follow(*((HINTED, HINTED_GAP) if self.unlike else (self.roughly, self.roughly)))
        return self.point.u

    def from_near_its_end(self):
        self.follow(self.roughly, self.roughly)
        return self.point.u

    @property
    def roughly(self) -> float:
        return max(ROUGHLY, self.tolerance)

    def follow_to_the_end(self):
        """The path to its end, its forces balanced."""
        if self.exponent >= 2.0 and not (self.arrived or self.spent):
            self.from_near_its_end()
            if self.point.imbalance > 2 * ROUGHLY:
                return  # the load is not carried
        q = 1.0 / (self.exponent - 1.0)
        for part in TO_THE_END if q <= 1.0 else TO_THE_END[:1]:
            if self.arrived or self.spent:
                return
            small = part * self.tolerance
            sharp = max(1e3 * small, 0.1 * self.tolerance) if q <= 1.0 else self.roughly
            self.follow(sharp, small)
            point = self.point
            with np.errstate(all="ignore"):  # a path that lost its way
                tangent = point.force / (point.slack + q * (point.force / self.stiffness) ** q)
            # on the path no force is zero
            force = np.where(point.force > small * point.force.max(), point.force, 0.0)
            force, _ = self.balanced(force, tangent, TO_THE_END[0] * self.tolerance)
            history = np.array([self.imbalance(force)])
            self.take(point.u, force, history, self.violation(point.u, force))
            if point.imbalance > sharp:
                return  # rounding keeps the path from going further

    def among_given(self):
        """``among_forces`` from forces that balance the load, found like step 1; those that are
        rounding's, other ones in every run, would be taken for bearing contacts."""
        force = nearest_carried(self.network, self.load).force
        return self.among_forces(np.where(bearing(force), force, 0.0), Handover())

    def among_forces(self, admissible, given) -> Status | None:
        """By the active set method; None where that is no way. NO_ROOM: forces as given."""
        network, load = self.network, self.load
        if self.offset is not None or not active_set.applies(admissible, len(load)):
            return None
        if self.imbalance(admissible) > BALANCED:
            return None
        try:
            u, force, steps, balanced = active_set.solve(
                network,
                load,
                self.stiffness,
                self.exponent,
                tolerance=self.tolerance,
                admissible=admissible,
                given=given,
                stats=self.stats,
            )
        except NoRoom:  # the other ways have no hope here
            self.u, self.force = np.zeros(len(load)), admissible
            self.history = np.array([self.imbalance(admissible)])
            return Status.NO_ROOM
        self.iterations += steps
        self.max_iterations += steps  # where it fails, not at the cost of the others
        if not balanced or self.gap(u, force) > GAP * self.tolerance:
            return None
        self.u, self.force, self.history = u, force, np.array([self.imbalance(force)])
        return Status.CONVERGED

    def among_few(self, admissible):
        """By the forces of few contacts, where Newton stopped short."""
        if self.arrived or admissible is None or not admissible.any():
            return
        if not null_space.applies(self.network, self.exponent, self.offset):
            return
        law = self.stiffness, self.exponent
        found = null_space.solve(
            self.network, self.load, *law, admissible=admissible, tolerance=self.tolerance
        )
        if found is None:
            return
        self.take(*found, np.array([self.imbalance(found[1])]))
        # balanced, and overlaps are rounding: no way by displacements tells more
        blur = ROUNDED * float(absolute_product(self.network.B, found[0]).max(initial=0.0))
        self.blurred = blur > BLURRED and self.imbalance(found[1]) <= self.tolerance

    def on(self, chosen):
        """u of the ``chosen`` contacts (m,) bool alone, as two-sided springs of their stiffness."""
        k, p = self.stiffness, self.exponent
        system = StiffnessSystem(self.network, np.where(chosen, k, 0.0), 1e-12)
        u = system.solve(-self.load, target=1e-9, stats=self.stats)
        if p == 2.0:
            return u
        # the same forces through the power law
        force = np.where(chosen, k * -(self.network.B @ u), 0.0)
        overlap = np.sign(force) * (np.abs(force) / k) ** (1 / (p - 1))
        weight = np.where(chosen, 1.0, 0.0)
        return StiffnessSystem(self.network, weight, 1e-12).solve(
            -self.network.carried(weight * overlap), target=1e-9, stats=self.stats
        )

    def drifted(self, u) -> bool:
        """Whether u has moved so far that rounding of B u would spoil forces of order one.

        Floating bodies move where nothing holds them; over many warm starts that adds up. Soft
        motions may be as large as they are: rounding of what they have in common is no more than
        the rounding that they bring along in any case.
        """
        felt = ROUNDED * np.abs(self.network.B @ u).max(initial=0.0)
        common = ROUNDED * absolute_product(self.network.B, u).max(initial=0.0)
        return felt > 0.01 * self.tolerance or common > BLURRED
