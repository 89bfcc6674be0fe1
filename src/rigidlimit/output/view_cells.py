"""What the page of a run shows of a periodic cell: bodies put back into it, images of those that
reach across its sides, its outline."""

from dataclasses import replace
from itertools import product

import numpy as np

from ..bodies import Bodies, State
from ..collision.images import images_of, wrapped
from .stored_step import StoredStep


def within(step: StoredStep, bodies: Bodies) -> StoredStep:
    """The same step with all bodies in the cell, contacts beside the first ones."""
    if step.cell is None:
        return step
    position, _ = wrapped(bodies, _pose(step))
    moved = (position - step.position)[step.contacts.body[:, 0]]
    contacts = replace(step.contacts, point=step.contacts.point + moved)
    return replace(step, position=position, contacts=contacts)


def images(step: StoredStep, bodies: Bodies) -> tuple[np.ndarray, np.ndarray]:
    """(bodies (k,), where images of them stand (k, 3) [m]): those outside that reach into the
    cell."""
    if step.cell is None:
        return np.zeros(0, int), np.zeros((0, 3))
    found, _ = images_of(bodies, _pose(step), np.zeros(len(bodies)), None)
    count = len(bodies) - 1
    origin, place = found.origin[count:], found.state.position[count:]
    inverse = np.linalg.inv(step.cell)
    part, width = place @ inverse, 1.0 / np.linalg.norm(inverse, axis=0)
    beyond = np.maximum(-part, part - 1.0)[:, bodies.cell.periodic] * width[bodies.cell.periodic]
    reaches = beyond.max(axis=1, initial=0.0) < bodies.bounding_radius[origin]
    return origin[reaches], place[reaches]


def edges(step: StoredStep, dim: int) -> np.ndarray:
    """Edges of the cell (k, 2, 3) [m], 4 in the plane and 12 in space; none without one."""
    if step.cell is None:
        return np.zeros((0, 2, 3))
    corners = {
        sides: np.asarray(sides, float) @ step.cell[:dim] for sides in product((0, 1), repeat=dim)
    }
    pairs = [
        (corners[sides], corners[(*sides[:k], 1, *sides[k + 1 :])])
        for sides in corners
        for k in range(dim)
        if sides[k] == 0
    ]
    return np.array(pairs)


def _pose(step: StoredStep) -> State:
    return State(step.position, step.quaternion, step.velocity, step.time, step.cell)
