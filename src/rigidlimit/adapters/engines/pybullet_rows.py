"""Velocities of contact points along directions, from the joints between them and the world."""

import numpy as np
from numba import njit

from .geometry import cross
from .matrices import Rows

Joints = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Of each number parent, column, count, turns, axes (3, 3), origin (3,): see
``pybullet_world.World``."""


@njit(cache=True)
def velocity_rows(
    links: np.ndarray, point: np.ndarray, directions: np.ndarray, joints: Joints
) -> Rows:
    """Compressed rows (m d, n), joint by joint from both sides down to the world.

    links (m, 2): numbers of both sides, the first less the second, -1 for none; point (m, 2, 3);
    directions (m, d, 3).
    """
    parent, column, count, turns, axes, origin = joints
    m, d = directions.shape[0], directions.shape[1]
    ends = np.zeros(m * d + 1, np.int32)
    for i in range(m):
        both = 0
        for s in range(2):
            k = links[i, s]
            while k >= 0:
                both += count[k]
                k = parent[k]
        for b in range(i * d, i * d + d):
            ends[b + 1] = ends[b] + both
    values, place, size = np.empty(ends[-1]), np.empty(ends[-1], np.int32), 0
    turn = np.empty(3)
    for i in range(m):
        for b in range(d):
            e = directions[i, b]
            for s in range(2):
                k, sign = links[i, s], 1.0 - 2.0 * s
                while k >= 0:
                    cross(point[i, s] - origin[k], e, turn)
                    for c in range(count[k]):
                        axis = axes[k, c % 3]
                        along = turn if c >= 3 or (turns[k] and count[k] < 6) else e
                        values[size] = sign * (
                            axis[0] * along[0] + axis[1] * along[1] + axis[2] * along[2]
                        )
                        place[size] = column[k] + c
                        size += 1
                    k = parent[k]
    return values, place, ends
