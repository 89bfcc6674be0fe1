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

from ..linear import LinearStats
from ..linear.dissection import has_metis
from ..linear.low_rank_update import ChangingSystem
from .rebalance import rebalanced

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

    def walked(system):
        nonlocal steps
        walk = _Walk(system, load, _offset(force, stiffness, q, system.D), force, tolerance)
        arrived = walk.run() and walk.rebalance(tolerance)
        steps += walk.steps
        return walk.u, walk.force, arrived

    # forces without freedom stay whatever D is
    usual = float(np.median(tangent(force, stiffness, q, FLOOR)[force > 0]))
    for iteration in range(LINEARISATIONS):
        D = tangent(force, stiffness, q, FLOOR)
        if exponent != 2.0 and iteration == 0:
            D = np.full(len(force), usual)  # unlike D would only make K worse
        system = None  # its factor is large: gone before there is another
        system = ChangingSystem(network, D, force > 0, SHIFT * float(D.max()), stats)
        u, new, arrived = walked(system)
        change = new - force
        now, goal = float(np.abs(change).max()), tolerance * float(force.max())
        if not arrived or exponent == 2.0 or now <= goal:
            return u, new, steps, arrived
        if iteration >= TELLING and _too_slow(now / before, now / goal, iteration):
            break
        before = now
        balanced = np.abs(network.carried(force) - load).max() <= tolerance
        force = force + (damping(force, change, stiffness, q) if balanced else 1.0) * change
    return u, new, steps, False


def tangent(force, stiffness, q, floor):
    """D = df/dc (m,) of the law at the forces, at ``floor`` of the largest at least."""
    held = np.maximum(force, floor * float(force.max()))
    return held / (q * (held / stiffness) ** q)


def _offset(force, stiffness, q, D):
    """s = f/D - c(f), (m,): where springs D go through the law at the forces f."""
    return np.where(force > 0, force / D - (force / stiffness) ** q, 0.0)


def _too_slow(rate, missing, iteration):
    """Whether changes that shrink by ``rate`` are still ``missing`` times too large in the end."""
    return rate >= 1.0 or missing * rate ** (LINEARISATIONS - iteration) > 1.0


def damping(force, change, stiffness, q):
    """Part of the way to go: the energy sum f c(f) / (q + 1) must not rise along it."""

    def slope(t):
        return float(change @ ((force + t * change) / stiffness) ** q)

    t = 1.0
    while slope(t) > 0.1 * abs(slope(0.0)) and t > 1e-3:
        t *= 0.7
    return t


class _Walk:
    """The active set method on one linearisation; ``force`` and ``u`` are where it stands.

    system: K of the contacts that bear, with D of all.
    """

    def __init__(self, system, load, offset, force, tolerance):
        self.system, self.load, self.offset, self.force = system, load, offset, force
        self.tolerance, self.steps = 0.1 * tolerance, 0
        system.load_with(system.D * offset, load)

    def run(self) -> bool:
        """Whether the optimum was reached within a few changes."""
        system = self.system
        while self.steps <= 2 * FEW:
            self.steps += 1
            self.u = system.displacement()
            spring = system.D * (self.offset - system.network.B @ self.u)
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

    def rebalance(self, tolerance) -> bool:
        """Whether the forces of the working set could be balanced.

        By one step at least: what the walk leaves is rounding of u, large where motions are soft.
        """
        system = self.system
        D = np.where(system.held, system.D, 0.0)
        self.force, motion, imbalance = rebalanced(
            system.network,
            self.force,
            self.load,
            D,
            system.solve,
            tolerance=tolerance,
            at_least=1,
        )
        self.u = self.u + motion
        return imbalance <= tolerance
