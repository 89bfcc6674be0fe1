"""Rigid links from PyBullet's constraints between bodies.

Fixed and point-to-point constraints, as long as they pull less than half of their largest force:
one near its limit is a drive. Both bodies move through the middle p of the pivots, or two
constraints of the same bodies, a little apart, would forbid them to turn:

    G v = v_parent(p) - v_child(p) [m/s],   and w_parent - w_child [rad/s] for a fixed one
"""

import numpy as np
import scipy.sparse as sp

from ..._support.matrices import Matrix
from .links import from_error
from .pybullet_world import BASE, World
from .tolerances import TOLERANCES


def constraint_rows(world: World, rigid: bool) -> tuple[Matrix, np.ndarray, np.ndarray, int]:
    """Rows (k, n) of rigid constraints; which are rates of turn (k,) bool; distance [m] and angle
    of their sides (k, 2); how many constraints are not among them."""
    bullet, client = world.bullet, world.client
    kinds = (bullet.JOINT_FIXED, bullet.JOINT_POINT2POINT)
    rows, turning, error, given = [np.zeros((0, world.columns))], [], [], 0
    for place in range(bullet.getNumConstraints(**client)):
        number = bullet.getConstraintUniqueId(place, **client)
        info = bullet.getConstraintInfo(number, **client)
        pull = np.linalg.norm(bullet.getConstraintState(number, **client))
        if not rigid or info[4] not in kinds or pull >= TOLERANCES.at_limit * info[10]:
            given += 1
            continue
        parts = info[0:2], info[2:4]
        first, second = (
            _frame(world, *part, info[6 + i], info[8 + i]) for i, part in enumerate(parts)
        )
        middle = 0.5 * (first[0] + second[0])
        numbers = [world.number.get(part, -1) for part in parts]  # -1: the world
        move = np.subtract(*(world.velocity_of(k, middle) for k in numbers))
        turn = np.subtract(*(world.spin_of(k) for k in numbers))
        fixed = info[4] == bullet.JOINT_FIXED
        apart = float(np.linalg.norm(first[0] - second[0]))
        askew = float(np.linalg.norm(first[1] - second[1])) if fixed else 0.0
        rows += [move, turn] if fixed else [move]
        turning += [False] * 3 + [True] * 3 * fixed
        error += [(apart, askew)] * (6 if fixed else 3)
    error = np.array(error).reshape(-1, 2)
    if len(rows) == 1:
        return rows[0], np.zeros(0, bool), error, given
    return sp.csr_array(np.vstack(rows)), np.array(turning, bool), error, given


def in_displacements(
    links: Matrix, turning: np.ndarray, error: np.ndarray, sizes: np.ndarray
) -> tuple[Matrix, np.ndarray]:
    """Rows (k, n) in displacements, and their accuracy (k,). turning (k,) bool: rates of turn;
    error (k, 2): distance [m] and angle of the two sides; sizes (n,): of the mechanisms [m]."""
    if not len(turning):
        return links, np.zeros(0)
    entries = sp.coo_array(links)
    span = np.zeros(len(turning))
    np.maximum.at(span, entries.row, sizes[entries.col])
    span = np.where(span > 0, span, 1.0)
    links = sp.csr_array(sp.diags_array(np.where(turning, span, 1.0)) @ links)
    return links, from_error(error[:, 0] / span + error[:, 1])


def _frame(world, body, link, place, turn):
    """Place (3,) and axes (3, 3) in the world of a frame given in a link's, or in the world."""
    bullet, client = world.bullet, world.client
    if (body, BASE) in world.number:
        if link == BASE:
            pose = bullet.getBasePositionAndOrientation(body, **client)
        else:
            pose = bullet.getLinkState(body, link, computeForwardKinematics=1, **client)
        place, turn = bullet.multiplyTransforms(*pose[:2], place, turn)
    return np.array(place), np.array(bullet.getMatrixFromQuaternion(turn)).reshape(3, 3)
