"""The columns of B mechanism by mechanism: their dense blocks, and new motions in their place.

A mechanism is a body, or bodies that joints connect. Mechanisms with equally many columns and about
as many contacts are stacked and decomposed at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._support.matrices import Matrix
from .matrices import entries
from .tolerances import TOLERANCES


@dataclass(frozen=True)
class Stack:
    """Mechanisms alike. columns (g, c): the degrees of freedom of each; rows (g, r): contacts that
    touch it, -1 beyond the last; dense (g, r, c): their part of the matrix over reach, r >= c."""

    columns: np.ndarray
    rows: np.ndarray
    dense: np.ndarray


@dataclass(frozen=True)
class BlockMotions:
    """A change of basis of n degrees of freedom, the identity except for
    ``blocks``: columns (g, c) and motions (g, c, c), one a column."""

    n: int
    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]

    @property
    def changed(self) -> np.ndarray:
        """(n,) bool: degrees of freedom that are in a block."""
        changed = np.zeros(self.n, bool)
        for columns, _ in self.blocks:
            changed[columns.ravel()] = True
        return changed

    def of(self, A: Matrix) -> Matrix:
        """A (m, n) in these motions."""
        if sp.issparse(A):
            return sp.csr_array(A @ self.matrix())
        out = A.copy()
        for columns, motions in self.blocks:
            part = A[:, columns].transpose(1, 0, 2) @ motions
            out[:, columns] = part.transpose(1, 0, 2)
        return out

    def load(self, load: np.ndarray) -> np.ndarray:
        """A load (n,) on these motions."""
        out = load.copy()
        for columns, motions in self.blocks:
            out[columns] = np.einsum("gcd,gc->gd", motions, load[columns])
        return out

    def velocities(self, x: np.ndarray) -> np.ndarray:
        """Velocities (n,) of amounts (n,) of these motions."""
        out = x.copy()
        for columns, motions in self.blocks:
            out[columns] = np.einsum("gcd,gd->gc", motions, x[columns])
        return out

    def matrix(self) -> sp.csr_array:
        """(n, n)."""
        same = np.flatnonzero(~self.changed)
        row, column, value = [same], [same], [np.ones(len(same))]
        for columns, motions in self.blocks:
            full = np.broadcast_to(columns[:, :, None], motions.shape)
            row.append(full.ravel())
            column.append(full.transpose(0, 2, 1).ravel())
            value.append(motions.ravel())
        places = np.concatenate(row), np.concatenate(column)
        return sp.csr_array((np.concatenate(value), places), shape=(self.n, self.n))


@dataclass(frozen=True)
class Reduction:
    """New motions, and which of them are left out: gone (n,) bool: of B; unloaded (n,) bool: of the
    load; count: how many of them are worth telling."""

    motions: BlockMotions
    gone: np.ndarray
    unloaded: np.ndarray
    count: int = 0


def partition(mechanism: np.ndarray, use: np.ndarray) -> tuple[np.ndarray, ...]:
    """Columns (g, c) of all mechanisms with c columns that are looked at, for each c.

    mechanism (n,) int >= 0: of each column; use (n,) bool: columns that are looked at.
    """
    columns = np.flatnonzero(use)
    order = np.argsort(mechanism[columns], kind="stable")
    columns = columns[order]
    count = np.bincount(mechanism[columns])
    count = count[count > 0]
    begins = np.cumsum(count) - count
    sizes = sorted(set(count.tolist()))
    return tuple(columns[begins[count == c][:, None] + np.arange(c)] for c in sizes)


def stacks(A: Matrix, parts: Sequence[np.ndarray], reach: np.ndarray) -> Iterator[Stack]:
    """Dense blocks of all mechanisms that A (m, n) touches, by ``parts`` as from ``partition``."""
    for columns in parts:
        yield from (_from_sparse if sp.issparse(A) else _from_dense)(A, columns, reach[columns])


def _from_dense(A, columns, reach):
    dense = (A[:, columns] / reach).transpose(1, 0, 2)
    touched = dense.any(axis=2)
    count = touched.sum(axis=1)
    if not count.any():
        return
    if not count.all():
        some = count > 0
        columns, dense, touched = columns[some], dense[some], touched[some]
    c = dense.shape[2]
    r = int(count.max())
    rows = np.argsort(~touched, axis=1, kind="stable")[:, :r]
    each = np.arange(len(rows))[:, None]
    dense, rows = dense[each, rows], np.where(touched[each, rows], rows, -1)
    if r < c:
        dense = np.pad(dense, ((0, 0), (0, c - r), (0, 0)))
        rows = np.pad(rows, ((0, 0), (0, c - r)), constant_values=-1)
    yield Stack(columns, rows, dense)


def _from_sparse(A, columns, reach):
    g, c = columns.shape
    of = np.full(A.shape[1], -1)
    of[columns] = np.arange(g)[:, None]
    place, arm = np.zeros(A.shape[1], int), np.ones(A.shape[1])
    place[columns], arm[columns] = np.arange(c), reach
    row, column, value = entries(A)
    picked = of[column] >= 0
    row, column, value = row[picked], column[picked], value[picked]
    part = of[column]
    by = np.lexsort((row, part))
    row, column, value, part = row[by], column[by], value[by], part[by]
    new = np.ones(len(row), bool)  # first entry of a row of a mechanism
    new[1:] = (row[1:] != row[:-1]) | (part[1:] != part[:-1])
    touching = np.bincount(part[new], minlength=g)
    number = np.cumsum(new) - 1 - (np.cumsum(touching) - touching)[part]
    # of about one size: a decomposition takes longer to begin with than to do
    padded = 2 ** np.ceil(np.log2(np.maximum(np.maximum(touching, c), 1))).astype(int)
    slot = np.zeros(g, int)
    for r in np.unique(padded[touching > 0]):
        members = np.flatnonzero((touching > 0) & (padded == r))
        slot[members] = np.arange(len(members))
        mine = padded[part] == r
        dense, rows = np.zeros((len(members), r, c)), np.full((len(members), r), -1)
        at = slot[part[mine]], number[mine]
        dense[*at, place[column[mine]]] = value[mine] / arm[column[mine]]
        rows[at] = row[mine]
        yield Stack(columns[members], rows, dense)


def leave_nothing(dense: np.ndarray, motions: np.ndarray, small: np.ndarray) -> np.ndarray:
    """Whether ``small`` (g, c) bool ones of the motions (g, c, c), one a row, move only columns of
    ``dense`` (g, r, c) that are zero. Of all others something is left, if only 1e-17, and that is
    an equation of balance like any other. (g,) bool."""
    pushed = np.abs(dense).max(axis=1, initial=0.0) > 0.0
    moved = np.abs(motions * pushed[:, None, :]).max(axis=2, initial=0.0)
    return np.where(small, moved, 0.0).max(axis=1, initial=0.0) <= TOLERANCES.rounding
