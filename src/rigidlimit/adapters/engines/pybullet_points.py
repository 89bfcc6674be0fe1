"""PyBullet's contact points as arrays, and whether they are those of the present poses.

A step finds points for the poses at its start, and ends with other poses. A body that was
moved by hand afterwards is elsewhere than its points, and its forces are of the other pose.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from .pybullet_world import BASE, World
from .tolerances import TOLERANCES


@dataclass(frozen=True)
class ContactPoints:
    """links (m, 2): numbers of ``World``, sides A and B; point (m, 2, 3) [m]; directions (m, 3, 3):
    normal from B to A, and both of friction; distance (m,) [m]; force (m,), rubs (m, 2) [N]."""

    links: np.ndarray
    point: np.ndarray
    directions: np.ndarray
    distance: np.ndarray
    force: np.ndarray
    rubs: np.ndarray


def contact_points(world: World) -> ContactPoints:
    """Of the last step, in PyBullet's order. Raises InputError for bodies that were moved since."""
    found = world.bullet.getContactPoints(**world.client)
    m, columns = len(found), list(zip(*found, strict=True)) or [()] * 14
    sides = (world.numbers(columns[1], columns[3]), world.numbers(columns[2], columns[4]))
    vectors = np.array([columns[7], columns[11], columns[13]], float).reshape(3, m, 3)
    points = ContactPoints(
        links=np.stack(sides, axis=1).reshape(m, 2),
        point=np.array([columns[5], columns[6]], float).reshape(2, m, 3).transpose(1, 0, 2),
        directions=np.ascontiguousarray(vectors.transpose(1, 0, 2)),
        distance=np.array(columns[8], float),
        force=np.array(columns[9], float),
        rubs=np.array([columns[10], columns[12]], float).reshape(2, m).T.copy(),
    )
    _check_places(world, points)
    return points


def _check_places(world, points):
    """Raises InputError where points are off the bounding boxes of their links."""
    box = np.zeros((len(world.links), 2, 3))
    for k in set(points.links.ravel().tolist()):
        box[k] = world.bullet.getAABB(*world.links[k], **world.client)
    low, high = box[points.links].transpose(2, 0, 1, 3)
    off = np.maximum(np.maximum(low - points.point, points.point - high), 0.0).max(axis=2)
    size = np.linalg.norm(box[:, 1] - box[:, 0], axis=1)
    for i, side in np.argwhere(off > TOLERANCES.aside * size[points.links]).tolist():
        k = int(points.links[i, side])
        way = world.dt * _speed(world, k, size[k])
        if off[i, side] > TOLERANCES.steps * way:
            raise InputError(
                f"from_pybullet: {world.name(k)} is {off[i, side]:.3g} m off its contact point {i} "
                f"(a step's motion is {way:.3g} m): it was moved after the last step, whose forces "
                "are of the other pose; call stepSimulation first"
            )


def _speed(world, k, size):
    """Of the fastest point of a link, about [m/s]."""
    body, link = world.links[k]
    if link == BASE:
        moves, turns = world.bullet.getBaseVelocity(body, **world.client)
    else:
        state = world.bullet.getLinkState(body, link, computeLinkVelocity=1, **world.client)
        moves, turns = state[6:8]
    return float(np.linalg.norm(moves) + size * np.linalg.norm(turns))
