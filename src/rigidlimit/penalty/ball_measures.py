"""Forces, overlaps and closing speeds of listed balls, and what forces make of their motion."""

import numpy as np
from numba import njit

from .ball_on_box import box_contact
from .ball_records import Lists
from .law import contact_force
from .moving_cell import CellMotion, six


@njit(cache=True, inline="always")
def _change(motion, i, j, pair, e, E):
    """Change of the branch vector of pair e, from i to j, since it was listed."""
    x, y, z = motion[j, 0] - motion[i, 0], motion[j, 1] - motion[i, 1], motion[j, 2] - motion[i, 2]
    dx, dy, dz = pair[e, 0] + x, pair[e, 1] + y, pair[e, 2] + z
    return (x + E[0] * dx + E[5] * dy + E[4] * dz, y + E[1] * dy + E[3] * dz, z + E[2] * dz)


@njit(cache=True, error_model="numpy")
def measure(motion: np.ndarray, lists: Lists, p: float, tensile: bool, cell: CellMotion):
    """Force (m,), overlap (m,), closing speed (m,) of every pair, then of every wall pair, then of
    every ball near a box."""
    first, other, pair, wall, wall_pair, box, box_pair, frame = lists
    E, flow = six(cell.strain), six(cell.rate)
    m, w = len(other), len(wall)
    out = np.zeros((3, m + w + len(box)))
    for i in range(len(first) - 1):
        for e in range(first[i], first[i + 1]):
            j = other[e]
            x, y, z = _change(motion, i, j, pair, e, E)
            s = (2.0 * pair[e, 0] + x) * x + (2.0 * pair[e, 1] + y) * y
            s += (2.0 * pair[e, 2] + z) * z
            L0 = pair[e, 4]
            L = np.sqrt(L0 * L0 + s)
            c = -(pair[e, 5] + s / (L + L0))
            x, y, z = pair[e, 0] + x, pair[e, 1] + y, pair[e, 2] + z
            rate = x * (motion[i, 3] - motion[j, 3] - flow[0] * x - flow[5] * y - flow[4] * z)
            rate += y * (motion[i, 4] - motion[j, 4] - flow[1] * y - flow[3] * z)
            rate += z * (motion[i, 5] - motion[j, 5] - flow[2] * z)
            rate /= L
            out[1, e], out[2, e] = c, rate
            if c > 0.0:
                out[0, e] = contact_force(c, rate, pair[e, 6], pair[e, 7], p, tensile)
    for e in range(w):
        i, plane = wall[e, 0], wall[e, 1]
        c = -wall_pair[e, 3]
        rate = 0.0
        for k in range(3):
            c += (motion[plane, k] - motion[i, k]) * wall_pair[e, k]
            rate += (motion[plane, 3 + k] - motion[i, 3 + k]) * wall_pair[e, k]
        out[1, m + e], out[2, m + e] = c, rate
        if c > 0.0:
            out[0, m + e] = contact_force(c, rate, wall_pair[e, 4], wall_pair[e, 5], p, tensile)
    for e in range(len(box)):
        c, rate, _, _, _ = box_contact(e, box, box_pair, frame, motion)
        out[1, m + w + e], out[2, m + w + e] = c, rate
        if c > 0.0:
            k, g = box_pair[e, 6], box_pair[e, 7]
            out[0, m + w + e] = contact_force(c, rate, k, g, p, tensile)
    return out


@njit(cache=True)
def response(
    body: np.ndarray, normal: np.ndarray, free: np.ndarray, x: np.ndarray, push: np.ndarray
):
    """B M^-1 B^T x (m,) of pairs ``body`` (m, 2) with normals (m, 3). push (n, 3) is overwritten.

    The gap gradient of balls is the normal, on both bodies; nothing needs to be assembled.
    """
    push[:] = 0.0
    for e in range(len(x)):
        for k in range(3):
            f = x[e] * normal[e, k]
            push[body[e, 0], k] -= f
            push[body[e, 1], k] += f
    out = np.empty(len(x))
    for e in range(len(x)):
        i, j = body[e, 0], body[e, 1]
        s = 0.0
        for k in range(3):
            s += normal[e, k] * (free[j, k] * push[j, k] - free[i, k] * push[i, k])
        out[e] = s
    return out
