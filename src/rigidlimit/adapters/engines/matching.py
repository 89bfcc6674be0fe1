"""Which contacts of two states are the same."""

import numpy as np
from numba import njit


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
