"""Compatible forces of nearly determinate packings: from admissible forces, contact by contact.

In a generic packing of smooth bodies hardly more contacts are closed than the load determines.
There the forces have next to no freedom while the displacements have soft motions without end, and
Newton on the displacements (``newton.py``) adds one contact after another. This solver walks the
other way, among forces that balance: the primal active set method for eq. 36 (J. Nocedal and
S. Wright, Numerical Optimization, 2nd ed., algorithm 16.3).

With the contacts of the working set W as two-sided springs, linearised at the forces f,

    K u = B_W^T D s - F~,    K = B_W^T D B_W,    f+ = D (s - B_W u),    D = df/dc,   s = f/D - c(f),

f+ is the answer if no force pulls. Else f goes towards it until a contact lets go, which leaves W.
When f+ is reached, the contact outside W that overlaps most under u enters. K is factorized once;
contacts that entered or left since are taken in by the Woodbury formula, one solve each. For p = 2
the linearisation is exact; otherwise it is renewed until the forces stay.
"""

import numpy as np

from ..network.changing import ChangingSystem
from ..network.dissection import has_metis
from ..network.stiffness import LinearStats
from .settle import settle

FEW = 200
"""Closed contacts without force, and changes of W, up to which this way is taken."""

SHIFT = 1e-12
"""Proximal term over the largest D; motions that no contact of W resists need it."""

FLOOR = 1e-2
"""D and s are taken at this part of the largest force, at least: for p != 2, D is 0 or infinite
at no force."""

WITHOUT_METIS = 75_000
"""Degrees of freedom up to which a factorization is made without METIS. With it, as long as memory
lasts: conjugate gradients are no way out here."""

LINEARISATIONS = 30
"""Renewals of D for p != 2; one or two are the rule."""

TELLING = 3
"""Renewals after which their gain tells whether they lead on."""


def determined(admissible, n) -> bool:
    """Whether forces (m,), if any, bear by no more contacts than there are degrees of freedom n."""
    return admissible is not None and 0 < np.count_nonzero(admissible) <= n


def applies(admissible, n) -> bool:
    """Whether hardly more contacts are closed than the load determines: ``determined``, and few
    contacts without force. admissible (m,): f >= 0."""
    if not determined(admissible, n) or not (has_metis() or n <= WITHOUT_METIS):
        return False
    return np.count_nonzero(admissible == 0) <= FEW


def solve(network, load, stiffness, exponent, *, tolerance, admissible, stats: LinearStats):
    """(u, force, steps, balanced): forces to ``tolerance``, or ``balanced`` False if not found.

    Raises NoRoom.

    admissible (m,): forces f >= 0 that balance the load; loads and stiffness of order one.
    """
    force, steps, before = admissible, 0, np.inf
    q = 1.0 / (exponent - 1.0)
    for iteration in range(LINEARISATIONS):
        size = float(force.max())
        held = np.maximum(force, FLOOR * size)
        D = held / (q * (held / stiffness) ** q)
        if exponent != 2.0 and iteration == 0:
            # forces without freedom stay whatever D is; unlike D would only make K worse
            D = np.full(len(force), np.median(D[force > 0]))
        offset = np.where(force > 0, force / D - (force / stiffness) ** q, 0.0)
        walk = _Walk(network, load, D, offset, force, 0.1 * tolerance, stats)
        arrived = walk.run() and walk.settle(tolerance)
        steps += walk.steps
        change = walk.force - force
        now, goal = float(np.abs(change).max()), tolerance * size
        if not arrived or exponent == 2.0 or now <= goal:
            return walk.u, walk.force, steps, arrived
        if iteration >= TELLING and _too_slow(now / before, now / goal, iteration):
            break
        before = now
        balanced = np.abs(network.BT @ force - load).max() <= tolerance
        force = force + (_damping(force, change, stiffness, q) if balanced else 1.0) * change
    return walk.u, force, steps, False


def _too_slow(rate, missing, iteration):
    """Whether changes that shrink by ``rate`` are still ``missing`` times too large in the end."""
    return rate >= 1.0 or missing * rate ** (LINEARISATIONS - iteration) > 1.0


def _damping(force, change, stiffness, q):
    """Part of the way to go: the energy sum f c(f) / (q + 1) must not rise along it."""

    def slope(t):
        return float(change @ ((force + t * change) / stiffness) ** q)

    t = 1.0
    while slope(t) > 0.1 * abs(slope(0.0)) and t > 1e-3:
        t *= 0.7
    return t


class _Walk:
    """The active set method on one linearisation; ``force`` and ``u`` are where it stands."""

    def __init__(self, network, load, D, offset, force, tolerance, stats):
        self.network, self.load, self.D, self.offset = network, load, D, offset
        self.tolerance, self.steps, self.force = tolerance, 0, force
        shift = SHIFT * float(D.max())
        self.system = ChangingSystem(network, D, force > 0, shift, stats)
        self.start = self.system.first(network.BT @ np.where(force > 0, D * offset, 0.0) - load)

    def run(self) -> bool:
        """Whether the optimum was reached within a few changes."""
        system = self.system
        while self.steps <= 2 * FEW:
            self.steps += 1
            entered = system.sign * (self.D * self.offset)[system.changed]
            self.u = system.now(self.start + system.motions @ entered)
            spring = self.D * (self.offset - self.network.B @ self.u)
            if not np.isfinite(spring).all():
                return False
            aim = np.where(system.held, spring, 0.0)
            pulling = np.flatnonzero(aim < -self.tolerance)
            if len(pulling):
                now = self.force[pulling]
                way = now / (now - aim[pulling])
                first = int(way.argmin())
                self.force = np.maximum(self.force + way[first] * (aim - self.force), 0.0)
                self.force[pulling[first]] = 0.0
                if not system.would_serve([pulling[first]]):
                    return False
                system.toggle([pulling[first]])
                continue
            self.force = np.maximum(aim, 0.0)
            outside = np.where(system.held, 0.0, spring)
            worst = int(outside.argmax())
            if outside[worst] <= self.tolerance:
                return True
            if not system.would_serve([worst]):
                return False
            system.toggle([worst])
        return False

    def settle(self, tolerance) -> bool:
        """Whether the forces of the working set could be balanced.

        By one step at least: what the walk leaves is rounding of u, large where motions are soft.
        """
        D = np.where(self.system.held, self.D, 0.0)
        self.force, motion, imbalance = settle(
            self.network,
            self.force,
            self.load,
            D,
            self.system.solve,
            tolerance=tolerance,
            at_least=1,
        )
        self.u = self.u + motion
        return imbalance <= tolerance
