"""Which contacts of two states are the same, and what they remember."""

import numpy as np
from numba import njit

from ..._support.compiled import INNER


@njit(cache=True, nogil=True)
def matched(
    part: np.ndarray, point: np.ndarray, new_part: np.ndarray, new_point: np.ndarray
) -> np.ndarray:
    """(m,) int: for each new contact the old one that it continues, or -1.

    part (k, 2), point (k, 3) of the old, new_part (m, 2), new_point (m, 3) of the new ones.
    """
    k, m = len(part), len(new_part)
    nearest, found = np.full(k, -1), np.full(m, -1)
    to_old, to_new = np.full(m, np.inf), np.full(k, np.inf)
    for i in range(m):
        for j in range(k):
            if part[j, 0] != new_part[i, 0] or part[j, 1] != new_part[i, 1]:
                continue
            away = 0.0
            for a in range(3):
                away += (point[j, a] - new_point[i, a]) ** 2
            if away < to_old[i]:
                to_old[i], found[i] = away, j
            if away < to_new[j]:
                to_new[j], nearest[j] = away, i
    for i in range(m):
        if found[i] >= 0 and nearest[found[i]] != i:
            found[i] = -1
    return found


@njit(cache=True, nogil=True)
def remembered(
    springs: tuple[np.ndarray, ...], part: np.ndarray, point: np.ndarray, frame: np.ndarray
) -> np.ndarray:
    """(m, 3): normal force, and friction force along both tangents, of contacts between part (m, 2)
    at point (m, 3) with frame (m, 9), normal first; zeros for new ones.

    springs: ``ContactSprings.arrays`` of an earlier state, whose friction forces turn with the
    normals the shortest way.
    """
    old_part, at, normal, force, tangential = springs
    out, across = np.zeros((len(part), 3)), np.empty(3)
    old = matched(old_part, at, part, point)
    for i in range(len(part)):
        j = old[i]
        if j >= 0:
            out[i, 0] = force[j]
            _turn(normal[j], frame[i], tangential[j], across)
            for k in range(2):
                for a in range(3):
                    out[i, 1 + k] += frame[i, 3 + 3 * k + a] * across[a]
    return out


@njit(**INNER)
def _turn(before, after, force, out):
    """A vector across the unit normal ``before`` turned with it to ``after``, into ``out``."""
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
        # half a turn has no shortest way: there the force stays
        out[a] += along * axis[a] / max(1.0 + cosine, 1e-12)
