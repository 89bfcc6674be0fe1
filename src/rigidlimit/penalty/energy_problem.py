"""The problem of the pose of least energy, and the settings of the path to it.

``Near`` finds the contacts that bodies may meet in within one round.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..bodies import Bodies, HalfSpace, State
from ..bodies.motion import shifted
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..kinematics import gap_gradient

TRUST = 0.05
"""Longest way of a body in one round over the scene's length, in each direction."""

HELD = 1e-12
"""Gap gradients below which no motion changes a gap, as walls a quarter turn apart have by
rounding."""


class Near:
    """The contacts that bodies may meet in when none goes further than ``trust``."""

    def __init__(self, bodies: Bodies, dofs: np.ndarray):
        self.bodies, self.dofs, self.trust = bodies, dofs, TRUST
        self.solid = ~bodies.are(HalfSpace)

    def __call__(self, state: State) -> tuple[Contacts, np.ndarray, sp.csr_array]:
        """(contacts, gaps (m,), B (m, n)) in units of the scene's length."""
        bodies = self.bodies
        # no two bodies can meet in a round that are not listed: each moves sqrt(3) r l at most
        reach = np.where(self.solid, 1.8 * self.trust * bodies.length, 0.0)
        if bodies.cell is not None:  # strains of sqrt(6)/2 of the trust at most
            radius = np.where(np.isfinite(bodies.bounding_radius), bodies.bounding_radius, 0.0)
            reach += 1.3 * self.trust * (radius + reach)
        contacts = find_contacts(bodies, state, reach)
        B = gap_gradient(bodies, state, contacts)[:, self.dofs].tocsr()
        # a platen in a wall that it slides along: no motion changes that gap, and it carries no
        # force
        largest = abs(B).max(axis=1).toarray().ravel() if B.shape[0] else np.zeros(0)
        moves = np.flatnonzero(largest > HELD)
        if len(moves) < len(contacts):
            contacts, B = contacts.select(moves), B[moves]
        return contacts, contacts.gap / bodies.length, B

    def moved(self, state: State, d: np.ndarray) -> State:
        """The pose after the displacements d (n,) of what shifts."""
        way = np.zeros(6 * len(self.bodies))
        way[self.dofs] = self.bodies.length * d
        return shifted(self.bodies, state, way.reshape(-1, 6))


@dataclass(frozen=True)
class Settings:
    """Of the path to the least potential energy. Imbalances are over the heaviest load.

    closest: way that contacts are listed for at least, when steps become short.
    begin: mu at the start: gaps of active contacts are mu over their force, and must stay well
        above the rounding of places, 1e-14, also under a hundred times the heaviest load.
    end: mu at the end.
    light: least force of an active contact, where forces are given.
    open: largest initial force of an open one.
    rounded: slack by which a gap may miss what a step was to make of it, as places are rounded.
    fall: mu over what it was, after a round that kept to the path.
    near_path: a round kept to the path if the imbalance is below near_path sqrt(mu).
    off: and below this.
    last: and no product f w is off by more than last mu.
    slides: rounds off the path after which mu grows again: a packing that slides moves to its next
        rest, in steps as short as its gaps, mu over forces.
    widen: its factor then.
    widest: the most over where it began.
    farthest: largest mu to which it grows again, unless it began above: with more, bodies would be
        held apart by contacts that come and go at the largest listed distance.
    spread: factor within which forces are kept about mu/w.
    interior: part of the way to the nearest bound that a step may go.
    parting: the same while overlaps are undone.
    least_hold: least weight of P over what a load moves through the trust.
    most_hold: the largest.
    far: fraction of the trust region above which a body is held back more.
    slight: stiffness of a near contact over the stiffest ones of both its bodies, below which it is
        left out of the matrix: open contacts, which only fill it.
    hold: least weight of P over the stiffest contact: with less a loose body has no pivot left.
    unloaded: part of the heaviest load that a body without a load counts as having, in P.
    kept: most rounds with one order of elimination: finding an order takes as long as a
        factorization, and one that is a little old adds little fill.
    new: part of the contacts that may be new to it.
    bisections: steps of the line search.
    closings: steps from the end of the path to the corner.
    """

    closest: float = 1e-3
    begin: float = 1e-3
    end: float = 1e-10
    light: float = 1e-3
    open: float = 2e-2
    rounded: float = 1e-12
    fall: float = 0.5
    near_path: float = 10.0
    off: float = 0.3
    last: float = 30.0
    slides: int = 10
    widen: float = 2.0
    widest: float = 10.0
    farthest: float = 1e-2
    spread: float = 10.0
    interior: float = 0.99
    parting: float = 0.9
    least_hold: float = 1e-6
    most_hold: float = 30.0
    far: float = 0.7
    slight: float = 1e-7
    hold: float = 1e-14
    unloaded: float = 1e-3
    kept: int = 20
    new: float = 0.02
    bisections: int = 12
    closings: int = 4


SETTINGS = Settings()


BALANCED = SETTINGS.end / SETTINGS.closest
"""Imbalance at the end of the path over the heaviest load: what contacts at the least distance
they are listed to still push, mostly bodies that lie loose. The last steps take it away."""


@dataclass(frozen=True)
class Problem:
    """The data. n degrees of freedom that shift.

    external_force (6 bodies,) [N]; load [N]: the heaviest, over which forces are. dofs (n,): those
    that shift; body (n,): whose they are; starts: first of each body, and the end. weight (n,): of
    a body's load, in P; shares (n,): over which the imbalance counts.
    """

    bodies: Bodies
    external_force: np.ndarray
    load: float
    dofs: np.ndarray
    body: np.ndarray
    starts: np.ndarray
    weight: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, bodies: Bodies, external_force: np.ndarray, load: float) -> "Problem":
        """That of these bodies; load: of ``force_scale``."""
        dofs = np.flatnonzero(bodies.shifts)
        body = dofs // 6
        starts = np.r_[np.flatnonzero(np.r_[True, body[1:] != body[:-1]]), len(dofs)]
        size = np.linalg.norm(external_force.reshape(-1, 6)[:, :3], axis=1) / load
        weight = np.maximum(size, SETTINGS.unloaded)[body] / TRUST
        shares = np.ones(len(dofs))
        if bodies.cell is not None:  # the balance of a stress is a sum over all contacts
            shares[body == len(bodies) - 1] = np.abs(external_force[dofs] / load).max()
        return cls(bodies, external_force, load, dofs, body, starts, weight, shares)

    def force(self, state: State) -> np.ndarray:
        """External forces (n,) over the load."""
        return with_stress(self.bodies, state, self.external_force)[self.dofs] / self.load


def with_stress(bodies: Bodies, state: State, external_force: np.ndarray) -> np.ndarray:
    """External forces (6 n,) [N] with those of the cell's stress at its present volume."""
    if bodies.cell is None:
        return external_force
    push = bodies.cell.force(state.cell, bodies.cell_length)
    return np.concatenate([external_force[:-6], push])
