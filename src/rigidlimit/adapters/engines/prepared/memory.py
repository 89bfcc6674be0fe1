"""What contacts remember of an earlier state, in compiled code as ``ContactSprings`` has it."""

import numpy as np
from numba import njit

from ..matching import matched
from .compiled import INNER


@njit(**INNER)
def remembered(springs, geom, point, frame):
    """(m, 3): normal force, and friction force along both tangents, of contacts between geom (m, 2)
    at point (m, 3) with frame (m, 9); zeros for new ones. springs: part, point, normal, normal
    force and tangential of the earlier contacts."""
    part, at, normal, force, tangential = springs
    m = len(geom)
    out, own, places = np.zeros((m, 3)), np.empty((m, 2), np.int64), np.empty((m, 3))
    for i in range(m):
        for k in range(2):
            own[i, k] = int(geom[i, k])
        for k in range(3):
            places[i, k] = point[i, k]
    old, turned = matched(part, at, own, places), np.empty(3)
    for i in range(m):
        j = old[i]
        if j >= 0:
            out[i, 0] = force[j]
            _turn(normal[j], frame[i], tangential[j], turned)
            for k in range(2):
                for a in range(3):
                    out[i, 1 + k] += frame[i, 3 + 3 * k + a] * turned[a]
    return out


@njit(**INNER)
def _turn(before, after, force, out):
    """``memory.turned`` of one vector, into ``out``; after: its first three are the normal."""
    axis, cosine, along = np.empty(3), 0.0, 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        axis[a] = before[b] * after[c] - before[c] * after[b]
        cosine += before[a] * after[a]
    for a in range(3):
        along += axis[a] * force[a]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        out[a] = force[a] * cosine + axis[b] * force[c] - axis[c] * force[b]
        out[a] += along * axis[a] / max(1.0 + cosine, 1e-12)
