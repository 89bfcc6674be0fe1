"""K = B^T D B + e I of a part, assembled in blocks of bodies, and its products with B.

Rows of K are those of own bodies, columns those of all bodies that own contacts meet. The pattern
is that of all contacts, whichever bear, so that an order of elimination is found once.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from .part import Part
from .ranks import Ranks, Rows


@njit(cache=True, nogil=True)
def opening(body, rows, u):
    """B u (m, d) of displacements u (o + g, w)."""
    m, _, d, w = rows.shape
    out = np.zeros((m, d))
    for i in range(m):
        for side in range(2):
            b = body[i, side]
            if b >= 0:
                for a in range(d):
                    for k in range(w):
                        out[i, a] += rows[i, side, a, k] * u[b, k]
    return out


@njit(cache=True, nogil=True)
def load_of(body, rows, force, own):
    """B^T f (o, w) on own bodies of forces (m, d)."""
    m, _, d, w = rows.shape
    out = np.zeros((own, w))
    for i in range(m):
        for side in range(2):
            b = body[i, side]
            if 0 <= b < own:
                for a in range(d):
                    for k in range(w):
                        out[b, k] += rows[i, side, a, k] * force[i, a]
    return out


@njit(cache=True, nogil=True)
def _fill(body, rows, D, diagonal, starts, at, values):
    """values (blocks, w, w), row by row of own bodies, for D (m, d, d). at (m, 2, 2): which block
    of its row a pair of bodies has, -1 where there is none."""
    m, _, d, w = rows.shape
    left = np.empty((w, d))
    values[:] = 0.0
    for i in range(m):
        if not D[i].any():
            continue
        for side in range(2):
            if at[i, side, 0] < 0 and at[i, side, 1] < 0:
                continue
            for k in range(w):
                for c in range(d):
                    left[k, c] = 0.0
                    for a in range(d):
                        left[k, c] += rows[i, side, a, k] * D[i, a, c]
            for other in range(2):
                place = at[i, side, other]
                if place < 0:
                    continue
                block = starts[body[i, side]] + place
                for k in range(w):
                    for c in range(d):
                        for j in range(w):
                            values[block, k, j] += left[k, c] * rows[i, other, c, j]
    for b in range(len(diagonal)):
        block = starts[b] + at[m + b, 0, 0]
        for k in range(w):
            values[block, k, k] += diagonal[b, k]


class Openings:
    """B u on the contacts of a part, of displacements that all ranks have of their own bodies."""

    def __init__(self, part: Part, ranks: Ranks):
        self.part = part
        self.ghosts = Rows(ranks, part.own, part.width, part.number[part.own :])

    def of(self, u: np.ndarray, size: Callable = np.asarray) -> np.ndarray:
        """(m, d) of own displacements (o, w). size: what is taken of the entries of B, as |B|."""
        return opening(self.part.body, size(self.part.rows), np.vstack([u, self.ghosts.of(u)]))


class Assembly:
    """K of a part as a matrix of PETSc, whose values change and whose pattern stays."""

    def __init__(self, part: Part, ranks: Ranks, *, symmetric: bool):
        self.part, self.ranks, PETSc = part, ranks, ranks.PETSc
        own, w = part.own, part.width
        self.starts, columns, self.at = _pattern(part)
        width = np.diff(self.starts) * w
        index = PETSc.IntType
        self.block_starts = self.starts.astype(index)
        self.block_columns = columns.astype(index)
        self.values = np.zeros((len(columns), w, w))
        mine = (columns >= part.first) & (columns < part.first + own)
        row = np.repeat(np.arange(own), np.diff(self.starts))
        inside = np.bincount(row, weights=mine, minlength=own).astype(int) * w
        nonzeros = [np.repeat(count, w).astype(index) for count in (inside, width - inside)]
        matrix = PETSc.Mat().create(ranks.comm)
        matrix.setSizes(((own * w, None), (own * w, None)))
        matrix.setBlockSize(w)
        matrix.setType("aij")
        matrix.setPreallocationNNZ(tuple(nonzeros))
        if symmetric:
            for option in (PETSc.Mat.Option.SYMMETRIC, PETSc.Mat.Option.SPD):
                matrix.setOption(option, True)
        self.matrix = matrix

    def set(self, D: np.ndarray, shift: float) -> None:
        """K of tangents D (m, d, d) and shift e; what nothing moves has a diagonal of its own."""
        part = self.part
        own_diagonal = self.ranks.max(np.abs(D).max(initial=0.0)) or 1.0
        diagonal = np.where(part.moved, shift, own_diagonal)
        _fill(part.body, part.rows, D, diagonal, self.starts, self.at, self.values)
        self.matrix.setValuesBlockedIJV(self.block_starts, self.block_columns, self.values)
        self.matrix.assemble()


def _pattern(part: Part):
    """(starts (o + 1,) and columns of the blocks of each own body, numbered as all that move,
    ascending; at (m + o, 2, 2): place of each pair of a contact in its row, -1 where it has none,
    and at [m + b, 0, 0] that of body b with itself)."""
    own, m = part.own, len(part.body)
    pairs = np.full((m + own, 2, 2, 2), -1, np.int64)
    number = np.where(part.body >= 0, part.number[part.body], -1)
    for side in range(2):
        for other in range(2):
            both = (part.body[:, side] >= 0) & (part.body[:, side] < own) & (number[:, other] >= 0)
            pairs[:m, side, other, 0] = np.where(both, part.body[:, side], -1)
            pairs[:m, side, other, 1] = number[:, other]
    pairs[m:, 0, 0] = np.column_stack([np.arange(own), part.first + np.arange(own)])
    there = pairs[..., 0] >= 0
    total = int(part.number.max(initial=0)) + 1
    key = pairs[..., 0][there] * total + pairs[..., 1][there]
    kept, place = np.unique(key, return_inverse=True)
    starts = np.searchsorted(kept, np.arange(own + 1) * total)
    at = np.full((m + own, 2, 2), -1, np.int64)
    at[there] = place - starts[pairs[..., 0][there]]
    return starts, kept % total, at
