"""The contacts that bodies may meet in within one round of the search for the least energy."""

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
        moves = np.flatnonzero(_largest_entry(B) > HELD)
        if len(moves) < len(contacts):
            contacts, B = contacts.select(moves), B[moves]
        return contacts, contacts.gap / bodies.length, B

    def moved(self, state: State, d: np.ndarray) -> State:
        """The pose after the displacements d (n,) of what shifts."""
        way = np.zeros(6 * len(self.bodies))
        way[self.dofs] = self.bodies.length * d
        return shifted(self.bodies, state, way.reshape(-1, 6))


def _largest_entry(B: sp.csr_array) -> np.ndarray:
    """Largest magnitude in each row of a sparse matrix, (m,)."""
    return abs(B).max(axis=1).toarray().ravel() if B.shape[0] else np.zeros(0)
