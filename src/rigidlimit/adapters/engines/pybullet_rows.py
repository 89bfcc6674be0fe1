"""Velocities of contact points along directions, from the joints between them and the world."""

import numpy as np
from numba import njit


@njit(cache=True)
def velocity_rows(links, point, directions, parent, column, count, turns, axes, origin, n):
    """Compressed rows (m, n) of the first direction and ((d - 1) m, n) of the others.

    links (m, 2): numbers of both sides, the first less the second, -1 for none; point (m, 2, 3);
    directions (m, d, 3); of each number parent, column, count, turns, axes (3, 3), origin (3,): see
    ``pybullet_world.World``.
    """
    m, d = directions.shape[0], directions.shape[1]
    each = 0
    for i in range(m):
        for s in range(2):
            k = links[i, s]
            while k >= 0:
                each += count[k]
                k = parent[k]
    first = np.empty(each), np.empty(each, np.int32), np.zeros(m + 1, np.int32)
    each *= d - 1
    others = np.empty(each), np.empty(each, np.int32), np.zeros((d - 1) * m + 1, np.int32)
    last, sums, used = np.full(n, -1), np.zeros(n), np.empty(n, np.int64)
    sizes, along = np.zeros(2, np.int64), np.empty(3)
    for i in range(m):
        for b in range(d):
            row, found = i * d + b, 0
            e = directions[i, b]
            for s in range(2):
                k, sign = links[i, s], 1.0 - 2.0 * s
                while k >= 0:
                    x = point[i, s, 0] - origin[k, 0]
                    y = point[i, s, 1] - origin[k, 1]
                    z = point[i, s, 2] - origin[k, 2]
                    along[0] = y * e[2] - z * e[1]
                    along[1] = z * e[0] - x * e[2]
                    along[2] = x * e[1] - y * e[0]
                    for c in range(count[k]):
                        if count[k] == 6:
                            value = e[c] if c < 3 else along[c - 3]
                        else:
                            value = 0.0
                            for q in range(3):
                                value += axes[k, c, q] * (along[q] if turns[k] else e[q])
                        j = column[k] + c
                        if last[j] != row:
                            last[j], sums[j], used[found] = row, 0.0, j
                            found += 1
                        sums[j] += sign * value
                    k = parent[k]
            side = 0 if b == 0 else 1
            out, place, ends = first if b == 0 else others
            for q in range(found):
                if sums[used[q]] != 0.0:
                    out[sizes[side]], place[sizes[side]] = sums[used[q]], used[q]
                    sizes[side] += 1
            ends[i + 1 if b == 0 else i * (d - 1) + b] = sizes[side]
    return (
        (first[0][: sizes[0]].copy(), first[1][: sizes[0]].copy(), first[2]),
        (others[0][: sizes[1]].copy(), others[1][: sizes[1]].copy(), others[2]),
    )
