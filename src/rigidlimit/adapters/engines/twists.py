"""Velocities of contact points along directions, from the twists of bodies.

With rows J_v, J_w for the velocity of a point c of a body and its angular velocity, in world axes,
direction e at a point x of it has the row  e . J_v + ((x - c) x e) . J_w.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ..._support.matrices import from_rows


@dataclass(frozen=True)
class Twists:
    """blocks (sets, rows, columns): Jacobians of twists (v, w), each over the degrees of freedom
    dofs[first] to dofs[first + count] (sets,); part, row (bodies,): the set of each body, or -1,
    and the first of its six rows there; centre (bodies, 3) [m]; columns: degrees of freedom in
    all."""

    blocks: np.ndarray
    dofs: np.ndarray
    first: np.ndarray
    count: np.ndarray
    part: np.ndarray
    row: np.ndarray
    centre: np.ndarray
    columns: int

    def rows(self, body, point, directions):
        """Velocities of the second side less those of the first along d ``directions`` (m, d, 3):
        (m, n) of the first direction, ((d - 1) m, n) of the others.

        body (m, 2): numbers, -1 for none; point (m, 2, 3).
        """
        m, d = directions.shape[:2]
        first, others = _rows(
            np.ascontiguousarray(body), np.ascontiguousarray(point),
            np.ascontiguousarray(directions), self.blocks, self.dofs, self.first, self.count,
            self.part, self.row, self.centre, self.columns,
        )  # fmt: skip
        return from_rows(*first, (m, self.columns)), from_rows(*others, ((d - 1) * m, self.columns))

    def delivered(self, force):
        """What forces (bodies, 3) at the centres of mass do to the joint velocities, (n,)."""
        moving = np.flatnonzero(self.part >= 0)
        body = np.stack([np.full(len(moving), -1), moving], axis=1)
        point = np.repeat(self.centre[moving][:, None], 2, axis=1)
        return self.rows(body, point, force[moving][:, None])[0].T @ np.ones(len(moving))


@njit(cache=True)
def _rows(body, point, directions, blocks, dofs, start, count, part, place, centre, n):
    """Compressed rows of ``Twists.rows``: of the first direction, and of the others."""
    m, d = directions.shape[0], directions.shape[1]
    each = 0
    for i in range(m):
        for s in range(2):
            if body[i, s] >= 0 and part[body[i, s]] >= 0:
                each += count[part[body[i, s]]]
    first = np.empty(each), np.empty(each, np.int32), np.zeros(m + 1, np.int32)
    each *= d - 1
    others = np.empty(each), np.empty(each, np.int32), np.zeros((d - 1) * m + 1, np.int32)
    sizes, turn = np.zeros(2, np.int64), np.empty(3)
    seen, at = np.full(n, -1), np.zeros(n, np.int64)
    for i in range(m):
        for b in range(d):
            side = 0 if b == 0 else 1
            values, column, ends = first if b == 0 else others
            e = directions[i, b]
            for s in range(2):
                k = body[i, s]
                a = part[k] if k >= 0 else -1
                if a < 0:
                    continue
                x = point[i, s, 0] - centre[k, 0]
                y = point[i, s, 1] - centre[k, 1]
                z = point[i, s, 2] - centre[k, 2]
                turn[0] = y * e[2] - z * e[1]
                turn[1] = z * e[0] - x * e[2]
                turn[2] = x * e[1] - y * e[0]
                r = place[k]
                for c in range(count[a]):
                    value = 0.0
                    for q in range(3):
                        value += e[q] * blocks[a, r + q, c] + turn[q] * blocks[a, r + 3 + q, c]
                    j = dofs[start[a] + c]
                    if seen[j] != i * d + b:
                        seen[j], at[j] = i * d + b, sizes[side]
                        values[at[j]], column[at[j]] = 0.0, j
                        sizes[side] += 1
                    values[at[j]] += value if s == 1 else -value
            ends[i + 1 if b == 0 else i * (d - 1) + b] = sizes[side]
    return (
        (first[0][: sizes[0]].copy(), first[1][: sizes[0]].copy(), first[2]),
        (others[0][: sizes[1]].copy(), others[1][: sizes[1]].copy(), others[2]),
    )
