"""Step 2 with friction in units in which loads, stiffness and arms are of order one.

One increment is solved by Newton or the interior path of ``equilibrium.solve``. Where these find no
equilibrium of the law, forces are those of least energy; where no forces in the cones balance the
load either, those of the nearest load that some do (``rough_nearest.py``).
"""

from dataclasses import dataclass, replace

import numpy as np

from .._support.deadline import cut, late
from .._support.matrices import scaled
from ..equilibrium.dense import between_bodies
from ..equilibrium.law import ContactLaw
from ..equilibrium.relaxation import Relaxation
from ..equilibrium.result import Equilibrium
from ..equilibrium.solve import Settings, solve
from ..equilibrium.stability import growth, stable_beside
from ..linear import body_starts, column_arms, kept_starts
from ..status import Status
from .increment_law import kept_normal, law_of_increment
from .rough_increment import Increment, RoughContacts, Solved
from .rough_light import light_bodies_balanced
from .rough_nearest import NEAREST, nearest_forces
from .rough_result import ContactHistory

PATH = 120
"""Iterations of the interior path at most; random packings take 40 to 90."""

FREE = 1e-4
"""Stiffness of motions that no contact resists in the search for least energy, over that elsewhere,
which is the tolerance. Near the edge of what friction carries displacements grow to 1e5, and this
stiffness times their last step is what of the load stays unbalanced."""


@dataclass(frozen=True)
class _Found:
    """Result of one increment, in scaled units; mechanism (n,) as it is reported."""

    equilibrium: Equilibrium
    law: ContactLaw
    status: Status
    solves: int
    routes: tuple[str, ...]
    nearest_status: Status | None = None
    mechanism: np.ndarray | None = None
    several: bool = False


class ScaledRough:
    """The problem of these contacts. load (n,) [N]; free (n,) bool; gap (m,) [m] or None; blocks:
    first degree of freedom of each body, or None.

    dofs: free degrees of freedom that contacts move. arm_full (n,): their arms, 1 elsewhere. size
    [N]: of the load over arms, and of what overlaps press with. untouched (n,): load that no
    contact takes.
    """

    def __init__(
        self,
        contacts: RoughContacts,
        load: np.ndarray,
        free: np.ndarray,
        gap: np.ndarray | None,
        blocks: np.ndarray | None = None,
    ):
        self.contacts, self.free = contacts, free
        arm, touched = column_arms(contacts.rows, contacts.shape[1])
        self.dofs = np.flatnonzero(free & touched)
        self.arm_full = np.where(free & touched, arm, 1.0)
        self.arm = arm[self.dofs]
        self.starts = kept_starts(body_starts(len(free), blocks), self.dofs)
        self.n = len(free)
        used = contacts.rows if len(self.dofs) == self.n else contacts.rows[:, self.dofs]
        self.rows = scaled(used, columns=1.0 / self.arm)
        self.stiffness_size = float(contacts.normal.max(initial=0.0)) or 1.0
        self.stiffness = (
            contacts.normal / self.stiffness_size,
            contacts.tangential / self.stiffness_size,
        )
        self.size = float((np.abs(load) / self.arm_full).max(initial=0.0))
        if gap is not None:
            # where overlaps press harder than the load, rounding is that of their forces
            overlap = np.maximum(-gap, 0.0) ** (contacts.exponent - 1.0)
            self.size = max(self.size, float((contacts.normal * overlap).max(initial=0.0)))
        self.untouched = np.where(free & ~touched, load, 0.0)

    def carried(self, history: ContactHistory) -> np.ndarray:
        """Load (n,) that the kept forces carry."""
        force = np.column_stack([np.maximum(history.normal, 0.0), history.tangential])
        return np.where(self.free, self.contacts.rows.T @ force.ravel(), 0.0)

    def imbalance(self, force: np.ndarray, load: np.ndarray) -> np.ndarray:
        """What forces (m, d) leave of the load (n,)."""
        return np.where(self.free, self.contacts.rows.T @ force.ravel() - load, 0.0)

    def solve(self, increment: Increment) -> Solved:
        """One increment.

        Motions that no contact resists have the stiffness ``tolerance``, over the largest of the
        contacts: loads along them too small to count do not move bodies into other contacts.
        """
        unit, history, p = self.size, increment.history, self.contacts.exponent
        if history is not None:
            unit = max(unit, float(np.abs(history.normal).max(initial=0.0)))
        length = (unit / self.stiffness_size) ** (1.0 / (p - 1.0))
        law, offset = self._law(increment, unit, length)
        goal = increment.load[self.dofs] / self.arm / unit
        size = (self.size or unit) / unit  # no load: in parts of what the contacts remember
        known = dict(shift=increment.tolerance, unit=max(size, 1e-30))
        mechanics = between_bodies(self.rows, -goal, self.contacts.shape[1], offset=offset, **known)
        x = np.zeros(len(self.dofs))
        if increment.warm_start is not None:
            x = increment.warm_start[self.dofs] * self.arm / length
        sizes = dict(
            tolerance=0.5 * increment.tolerance,
            force_size=max(float(np.abs(goal).max(initial=0.0)), 1e-3),
        )
        settings = Settings(path=PATH, relaxation=Relaxation())
        first, routes = solve(mechanics, law, x, **sizes, settings=settings)
        grows = None
        if first.converged:
            known_bodies = dict(starts=self.starts, tolerance=increment.tolerance)
            first = light_bodies_balanced(mechanics, self.rows, law, first, goal, **known_bodies)
            if increment.slide is None:  # what is known to slide moves on: no state of rest
                grows = growth(mechanics, law, first.x)
        if grows is not None:
            first = stable_beside(mechanics, law, first, grows, **sizes)
            routes = (*routes, "disturbance")
        found = _Found(
            first, law, first.status, first.iterations, routes, several=grows is not None
        )
        if not (first.converged or first.status is Status.UNSTABLE):
            if first.status is Status.NO_EQUILIBRIUM:
                found = replace(found, mechanism=self._motion(first.x - x))
            found = self._least_energy(found, goal, increment, known)
        return self._solved(self._with_untouched(found, increment.tolerance), unit, length)

    def _law(self, increment, unit, length) -> tuple[ContactLaw, np.ndarray | None]:
        """The law of the contacts, and how far they are apart (m, d) before the increment."""
        return law_of_increment(
            self.stiffness,
            self.contacts.friction,
            self.contacts.exponent,
            self.contacts.shape[1],
            history=increment.history,
            gap=increment.gap,
            tangential_law=increment.tangential_law,
            unit=unit,
            length=length,
            slide=increment.slide,
        )

    def _least_energy(self, before: _Found, goal, increment, known) -> _Found:
        """Forces of least energy, where no equilibrium of the law was found."""
        m, d = self.contacts.shape
        none = np.zeros((m, d - 1))
        law = ContactLaw(
            *self.stiffness, self.contacts.friction, none, slide=increment.slide, associated=True
        )
        known = known | dict(shift=FREE * increment.tolerance)
        found, routes = solve(
            between_bodies(self.rows, -goal, d, **known),
            law,
            np.zeros(len(self.dofs)),
            tolerance=0.5 * increment.tolerance,
            force_size=1.0,
            settings=Settings(newton=0, path=PATH),
        )
        solves, routes = before.solves + found.iterations, (*before.routes, "least energy", *routes)
        if not found.converged and late():
            nearer = before.equilibrium.residual < found.residual
            end = before if nearer else _Found(found, law, before.status, solves, routes)
            return replace(end, status=Status.APPROXIMATE, solves=solves, routes=routes)
        if not found.converged:
            return self._nearest(_Found(found, law, Status.STALLED, solves, routes), goal)
        status = Status.APPROXIMATE if cut() else Status.NO_EQUILIBRIUM
        return _Found(found, law, status, solves, routes, mechanism=before.mechanism)

    def _nearest(self, found: _Found, goal) -> _Found:
        """Forces for the nearest load that is carried, if a motion shows that this one is not."""
        near = nearest = None
        if found.equilibrium.residual > NEAREST.missing:
            near, nearest, more = nearest_forces(self.rows, goal, found.law)
            found = replace(
                found, solves=found.solves + more, routes=(*found.routes, "nearest load")
            )
        for way in (found.equilibrium, near):  # what is missing of the nearest load is a motion too
            mechanism = None if way is None else self._mechanism(way, found.law, goal)
            if mechanism is not None:
                return replace(
                    found,
                    equilibrium=near or found.equilibrium,
                    status=Status.LOAD_NOT_CARRIED,
                    nearest_status=nearest,
                    mechanism=mechanism,
                )
        return found

    def _with_untouched(self, found: _Found, tolerance) -> _Found:
        """The same where a load that no contact takes is more than rounding."""
        most = np.abs(self.untouched).max(initial=0.0)
        if not most > tolerance * self.size:
            return found
        if found.status is not Status.LOAD_NOT_CARRIED:
            found = replace(found, nearest_status=found.status, mechanism=-self.untouched / most)
        return replace(found, status=Status.LOAD_NOT_CARRIED)

    def _mechanism(self, found, law, goal) -> np.ndarray | None:
        """The motion (n,) that the load drives and no contact resists, or None.

        Admissible forces do no work f . w < 0 in it, as w_n >= mu |w_t| at every contact (w_n >=
        -mu e . w_t where it slides along a given e), and so cannot balance a load with F~ . u < 0
        (Farkas' lemma for cones).
        """
        u = found.x / (np.abs(found.x).max(initial=0.0) or 1.0)
        w = (self.rows @ u).reshape(self.contacts.shape)
        along = np.linalg.norm(w[:, 1:], axis=1)
        if law.slide is not None:
            along = np.where(law.sliding, -(law.slide * w[:, 1:]).sum(axis=1), along)
        resists = law.friction * along - w[:, 0]
        driven = -float(goal @ u)
        if driven <= 0.0 or resists.max(initial=0.0) > 1e-3 * driven:
            return None
        return self._motion(u)

    def _motion(self, u):
        """Scaled displacements as a motion (n,) of largest entry 1."""
        motion = np.zeros(self.n)
        motion[self.dofs] = u / self.arm
        return motion / np.abs(motion).max()

    def _solved(self, found: _Found, unit, length) -> Solved:
        """In newtons and metres."""
        equilibrium, law = found.equilibrium, found.law
        force, u = equilibrium.force * unit, np.zeros(self.n)
        u[self.dofs] = equilibrium.x / self.arm * length
        kept = kept_normal(law, equilibrium.displacement, equilibrium.force) * unit
        gap, off = _nearness(equilibrium, law)
        return Solved(
            force=force,
            displacement=u,
            kept=kept,
            unit=unit,
            status=found.status,
            least_energy=law.associated,
            solves=found.solves,
            routes=found.routes,
            nearest_status=found.nearest_status,
            mechanism=found.mechanism,
            several=found.several,
            duality_gap=gap,
            force_error=off,
        )


def _nearness(found: Equilibrium, law: ContactLaw) -> tuple[float, float]:
    """(energy gap over the energy, how far a force can be from the one of least energy by it over
    the largest): energies differ by half of the squared difference of forces in their metric."""
    energy, most = 0.5 * law.work(found.force), float(np.abs(found.force).max(initial=0.0))
    if not (law.associated and energy > 0.0):
        return float("nan"), float("nan")
    gap = law.energy_gap(found.displacement, found.force)
    stiffest = max(float(law.normal.max()), float(law.tangential.max()))
    return gap / energy, float(np.sqrt(2.0 * gap * stiffest)) / most
