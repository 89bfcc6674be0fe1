"""Velocities of contact points along directions, from the twists of bodies.

With rows J_v, J_w for the velocity of a point c of a body and its angular velocity, in world axes,
direction e at a point x of it has the row  e . J_v + ((x - c) x e) . J_w.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ..._support.arrays import contiguous
from ..._support.matrices import Matrix, from_rows
from .geometry import cross
from .matrices import by_direction


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

    def rows(
        self, body: np.ndarray, point: np.ndarray, directions: np.ndarray
    ) -> tuple[Matrix, Matrix]:
        """Velocities of the second side less those of the first along d ``directions`` (m, d, 3):
        (m, n) of the first direction, ((d - 1) m, n) of the others.

        body (m, 2): numbers, -1 for none; point (m, 2, 3).
        """
        m, d = directions.shape[:2]
        sets = self.blocks, self.dofs, self.first, self.count
        bodies = self.part, self.row, self.centre
        first, others = by_direction(
            *_rows(
                contiguous(body), contiguous(point),
                contiguous(directions), sets, bodies,
            ),
            d, self.columns,
        )  # fmt: skip
        return from_rows(*first, (m, self.columns)), from_rows(*others, ((d - 1) * m, self.columns))

    def velocity(self, body: int, point: np.ndarray) -> np.ndarray:
        """(3, n): velocity of a point (3,) of a body, -1 for none."""
        sides = np.repeat([[-1, body]], 3, axis=0)
        rows = self.rows(sides, np.broadcast_to(point, (3, 2, 3)), np.eye(3)[:, None])[0]
        return rows if isinstance(rows, np.ndarray) else rows.toarray()

    def spin(self, body: int) -> np.ndarray:
        """(3, n): angular velocity of a body, -1 for none."""
        spin, k = np.zeros((3, self.columns)), self.part[body] if body >= 0 else -1
        if k >= 0:
            own = slice(self.first[k], self.first[k] + self.count[k])
            turning = self.blocks[k, self.row[body] + 3 : self.row[body] + 6]
            spin[:, self.dofs[own]] = turning[:, : self.count[k]]
        return spin

    def delivered(self, force: np.ndarray) -> np.ndarray:
        """What forces (bodies, 3) at the centres of mass do to the joint velocities, (n,)."""
        moving = np.flatnonzero(self.part >= 0)
        body = np.stack([np.full(len(moving), -1), moving], axis=1)
        point = np.repeat(self.centre[moving][:, None], 2, axis=1)
        return self.rows(body, point, force[moving][:, None])[0].T @ np.ones(len(moving))


@njit(cache=True)
def _rows(body, point, directions, sets, bodies):
    """Compressed rows (m d, n), both sides one after the other. sets: blocks, dofs, first, count of
    ``Twists``; bodies: part, row, centre."""
    blocks, dofs, first, count = sets
    part, place, centre = bodies
    m, d = directions.shape[0], directions.shape[1]
    ends = np.zeros(m * d + 1, np.int32)
    for i in range(m):
        both = 0
        for s in range(2):
            if body[i, s] >= 0 and part[body[i, s]] >= 0:
                both += count[part[body[i, s]]]
        for b in range(i * d, i * d + d):
            ends[b + 1] = ends[b] + both
    values, column, size = np.empty(ends[-1]), np.empty(ends[-1], np.int32), 0
    turn = np.empty(3)
    for i in range(m):
        for b in range(d):
            e = directions[i, b]
            for s in range(2):
                a = part[body[i, s]] if body[i, s] >= 0 else -1
                if a < 0:
                    continue
                cross(point[i, s] - centre[body[i, s]], e, turn)
                twist = blocks[a, place[body[i, s]] :]
                for c in range(count[a]):
                    value = 0.0
                    for q in range(3):
                        value += e[q] * twist[q, c] + turn[q] * twist[3 + q, c]
                    values[size], column[size] = value * (2.0 * s - 1.0), dofs[first[a] + c]
                    size += 1
    return values, column, ends
