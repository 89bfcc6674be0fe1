"""Moving rough bodies apart that overlap where a scene begins, before its first step.

Nothing is known of such overlaps: they make no forces and no velocities. Each pass moves bodies as
``increments/separation.py`` does, undoing all, and searches contacts anew, since bodies that are
moved meet others.
"""

import numpy as np

from ..bodies import Bodies, State
from ..bodies.mass import mass_matrix
from ..bodies.motion import move
from ..collision.contacts import Contacts
from ..collision.search import find_contacts
from ..increments.separation import separation
from ..kinematics import gap_gradient
from .increment import of_all, prepared
from .search import least_reach
from .settings import Problem, StepSettings

PASSES, GAIN = 10, 0.99
"""Passes in a row that leave the deepest overlap above ``GAIN`` of itself, after which bodies count
as having no room left: in a column some passes only hand the overlap on."""


def near_contacts(bodies: Bodies, state: State) -> Contacts:
    """Contacts of bodies that stand still."""
    return find_contacts(bodies, state, least_reach(bodies))


def moved_apart(
    bodies: Bodies, state: State, settings: StepSettings, contacts: Contacts
) -> tuple[State, float]:
    """(the state with positions in which no bodies overlap by more than those that move may, where
    they have room; the deepest overlap that is left [m]). Velocities stay. contacts: those near
    at this state."""
    if not (contacts.gap < 0.0).any():
        return state, 0.0
    still = np.zeros((len(bodies), 6))
    posed = best = state.moved(velocity=still)
    least, vain = np.inf, 0
    while vain < PASSES:
        M = mass_matrix(bodies, posed)
        problem = Problem(bodies, posed, still.ravel(), settings, M, settings.tolerance)
        increment = prepared(problem, contacts, gap_gradient(bodies, posed, contacts), None)[0]
        m, n = len(increment.gap), len(increment.dofs)
        deepest = -increment.gap.min(initial=0.0)
        vain = 0 if deepest < GAIN * least else vain + 1
        if deepest < least:
            least, best = deepest, posed
        found = separation(increment, np.zeros(n), np.zeros(m), all_of_it=True)
        if found is None:
            break
        posed = move(bodies, posed, still, 0.0, of_all(increment, found, still.size))
        contacts = near_contacts(bodies, posed)
    return best.moved(velocity=state.velocity), least
