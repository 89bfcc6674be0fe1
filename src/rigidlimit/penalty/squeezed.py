"""Balls in a periodic cell that a stress presses together: how soft their DEM may be, and the room
from which the least energy is sought."""

from dataclasses import dataclass

import numpy as np

from ..bodies import Bodies, Disk, Sphere, State
from ..bodies.motion import shifted
from ..collision.contacts import Contacts
from ..compatibility.law import contact_stiffness
from ..step.warnings import largest_pull


@dataclass(frozen=True)
class Settings:
    """heaviest: largest contact force, in packings of alike balls, over that of the stress on a
        body's area.
    stretch: strain by which the cell is stretched over what undoes the deepest overlap.
    """

    heaviest: float = 4.0
    stretch: float = 1.05


SETTINGS = Settings()


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
    return (
        SETTINGS.heaviest
        * push_of_stress(bodies)
        / float(np.median(k) * deepest ** (exponent - 1.0))
    )


def stretched(bodies: Bodies, state: State, strain: float) -> State:
    """The state after the free directions of the cell were stretched."""
    way = np.zeros((len(bodies), 6))
    way[-1, :3] = np.where(bodies.free[-1, :3], strain * bodies.cell_length, 0.0)
    return shifted(bodies, state, way)


def parting_strain(bodies: Bodies, contacts: Contacts) -> float:
    """Strain that undoes all overlaps of these contacts, and a little more."""
    between = bodies.bounding_radius[contacts.body].sum(axis=1)
    return SETTINGS.stretch * float((-contacts.gap / between).max(initial=0.0))


def largest_loads(bodies: Bodies, external: np.ndarray) -> tuple[float, float]:
    """(largest force on a body [N], largest acceleration [m/s^2] by one), of forces and moments
    (6 n,). A periodic cell that is held under a stress loads each body as the stress does on the
    area of one."""
    if bodies.cell is None:
        force = np.linalg.norm(external.reshape(-1, 6)[:, :3], axis=1)
        return float(force.max(initial=0.0)), largest_pull(bodies, external)
    of_bodies = external.copy()
    of_bodies[-6:] = 0.0
    force = np.linalg.norm(of_bodies.reshape(-1, 6)[:, :3], axis=1).max(initial=0.0)
    push = push_of_stress(bodies)
    moving = bodies.mass[:-1][bodies.free[:-1].any(axis=1)]
    pull = push / float(np.median(moving)) if len(moving) else 0.0
    return max(float(force), push), max(largest_pull(bodies, of_bodies), pull)
