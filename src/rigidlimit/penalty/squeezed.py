"""Balls in a periodic cell that a stress presses together: how soft their DEM may be, and the room
from which the least energy is sought."""

import numpy as np

from ..bodies import Bodies, Disk, Sphere, State
from ..bodies.motion import shifted
from ..collision.contacts import Contacts
from ..forces.law import contact_stiffness

HEAVIEST = 4.0
"""Largest contact force, in packings of alike balls, over that of the stress on a body's area."""

ROOM = 1.05
"""Strain by which the cell is stretched over what undoes the deepest overlap."""


def is_squeezed(bodies: Bodies) -> bool:
    """Whether a stress presses bodies together."""
    return bodies.cell is not None and bool(bodies.free[-1].any())


def push_of_stress(bodies: Bodies) -> float:
    """Force [N] of the prescribed stress on the area of a body; 0 without one."""
    if not is_squeezed(bodies):
        return 0.0
    stress = bodies.cell.stress
    largest = np.abs(stress[np.isfinite(stress)]).max()
    return float(largest * bodies.cell_length ** (bodies.dim - 1))


def softness(bodies: Bodies, exponent: float, pair_stiffness: dict | None, sunk: float) -> float:
    """Stiffness scale at which balls under the stress sink by ``sunk`` of their radius at most,
    f = k c^(p-1)."""
    balls = np.flatnonzero(bodies.are(Sphere, Disk))
    pair = np.column_stack([balls, np.roll(balls, -1)])[: max(len(balls) - 1, 1)]
    radius, none = bodies.bounding_radius[pair], np.zeros((len(pair), 3))
    curvature = (1.0 / radius).sum(axis=1)
    neighbours = Contacts(
        pair, np.zeros(len(pair), np.int64), none, none, none[:, 0], curvature, len(bodies)
    )
    k = contact_stiffness(bodies, neighbours, exponent, pair_stiffness)
    deepest = sunk * np.median(radius)
    return HEAVIEST * push_of_stress(bodies) / float(np.median(k) * deepest ** (exponent - 1.0))


def stretched(bodies: Bodies, state: State, strain: float) -> State:
    """The state after the free directions of the cell were stretched."""
    way = np.zeros((len(bodies), 6))
    way[-1, :3] = np.where(bodies.free[-1, :3], strain * bodies.cell_length, 0.0)
    return shifted(bodies, state, way)


def parting_strain(bodies: Bodies, contacts: Contacts) -> float:
    """Strain that undoes all overlaps of these contacts, and a little more."""
    between = bodies.bounding_radius[contacts.body].sum(axis=1)
    return ROOM * float((-contacts.gap / between).max(initial=0.0))
