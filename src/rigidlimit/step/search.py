"""How far contacts are searched for: the way that bodies may go within a step."""

import numpy as np

from ..bodies import Bodies, State
from ..collision.contacts import Contacts
from ..kinematics import gap_gradient

LARGEST_STRAIN = 0.5
"""Strain of a periodic cell in a step, less 1, above which the reach of its bodies is too small and
the search is widened."""


NEAR = 1e-3
"""Part of the scene's length by which contacts are searched at least."""


def first_reach(bodies: Bodies, state: State, external_force: np.ndarray, dt: float) -> np.ndarray:
    """Distance to search around each body (n,) [m]: its travel at v + dt M^-1 F_ext, and a little
    more."""
    acceleration = np.zeros_like(state.velocity)
    mass = np.where(bodies.mass > 0, bodies.mass, np.inf)
    acceleration[:, :3] = external_force.reshape(-1, 6)[:, :3] / mass[:, None]
    moving = np.where(bodies.free, state.velocity + dt * acceleration, state.velocity)
    if bodies.cell is not None:  # contacts hold its stress: over a long step it falls much further
        moving[-1] = state.velocity[-1]
    return 1.2 * travel(bodies, moving, dt) + least_reach(bodies)


def least_reach(bodies: Bodies) -> np.ndarray:
    """Distance to search around each body that stands still, (n,) [m]."""
    return np.where(np.isfinite(bodies.bounding_radius), NEAR * bodies.length, 0.0)


def travel(bodies: Bodies, velocity: np.ndarray, dt: float) -> np.ndarray:
    """Upper bound on how far any point of each body moves in dt, (n,) [m]; in a periodic cell
    towards others, the affine motion of bodies that may touch among it."""
    spin = np.linalg.norm(velocity[:, 3:], axis=1)
    way = dt * (np.linalg.norm(velocity[:, :3], axis=1) + spin * bodies.turning_arm[:, 3])
    if bodies.cell is None:
        return way
    strain = dt * float(np.linalg.norm(bodies.velocity_gradient(velocity)))
    radius = np.where(np.isfinite(bodies.bounding_radius), bodies.bounding_radius, 0.0)
    # way + strain (gap + radii) >= gap, the distance at which two bodies may still meet
    way = (way + strain * radius) / max(1.0 - strain, LARGEST_STRAIN)
    way[-1] = 0.0
    return way


def closes_more(
    bodies: Bodies,
    state: State,
    wider: Contacts,
    contacts: Contacts,
    velocity: np.ndarray,
    dt: float,
) -> bool:
    """Whether a contact of ``wider`` that is not among ``contacts`` would close at ``velocity``
    (6 n,)."""
    new = np.flatnonzero(wider.carry_over(contacts, np.ones(len(contacts))) == 0.0)
    approach = gap_gradient(bodies, state, wider)[new] @ velocity
    return bool((wider.gap[new] + dt * approach < 0.0).any())
