"""Which degrees of freedom share a dense front of a factorization, from the couplings of bodies.

A body is coupled, as it is eliminated, to all later bodies of the contacts that begin with it, and
to those that its children in the elimination tree were coupled to; its parent is the first of them.
Small subtrees become one front, and a front takes in its parent where few zeros are stored for it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._support.threads import thread_count
from .dissection import Pattern, coupled_bodies, grouped
from .elimination_tree import (
    columns_of_factor,
    dofs_of,
    first_of,
    last_columns,
    postorder,
    rows_of_fronts,
    sums,
)
from .front_kernels import Structure, cut_into_parts, most_waiting


@dataclass(frozen=True)
class Settings:
    """How the work of a factorization is cut into fronts and parts.

    leaf: largest number of degrees of freedom for which all bodies below one in the elimination
        tree share its front.
    padding: up to so many columns, the part of a front that may be zeros: few large fronts are
        faster.
    parts: parts of the work of a factorization, about, that threads do each on its own.
    small: multiplications that are not worth cutting into parts: some ten milliseconds.
    long: entries of L from which a solve is worth sharing among threads: some milliseconds.
    large: entries of L from which it is kept in single precision: 160 MB in double. The time is the
        same within a tenth.
    move: multiplications that take as long as moving one entry of a front.
    call: multiplications that take as long as what is done once a front; both measured on pyramids,
        packings and walls of 12,000 to 240,000 contacts.
    """

    leaf: int = 36
    padding: tuple[tuple[float, float], ...] = ((64, 0.4), (256, 0.1), (np.inf, 0.03))
    parts: int = 16
    small: float = 1e8
    long: float = 4e6
    large: float = 2e7
    move: int = 40
    call: int = 800_000


SETTINGS = Settings()


@dataclass(frozen=True)
class Fronts:
    """Fronts in the order of elimination; places are degrees of freedom in that order.

    dofs (n,): degree of freedom at each place. column (fronts + 1,): first place of each front's
    columns P. rows, row_starts (fronts + 1,): places R of each. parent (fronts,): the front that
    assembles the update of each, -1 for none. contacts, contact_starts (fronts + 1,): contacts
    added in each. begins (fronts + 1,): where the panel of each, (k + r) k entries, begins.
    """

    dofs: np.ndarray
    column: np.ndarray
    rows: np.ndarray
    row_starts: np.ndarray
    parent: np.ndarray
    contacts: np.ndarray
    contact_starts: np.ndarray
    begins: np.ndarray

    @cached_property
    def structure(self) -> Structure:
        return Structure(*(getattr(self, name) for name in Structure._fields))

    @cached_property
    def panels(self) -> tuple[np.ndarray, ...]:
        """What ``substitute`` reads of the fronts, with the rows of parts."""
        return self.begins, self.column, self.row_starts, self.rows_within

    @property
    def operations(self) -> float:
        """Work of a factorization, in multiplications that LAPACK would do in the same time."""
        return float(self._work.sum())

    @cached_property
    def _work(self) -> np.ndarray:
        k, r = np.diff(self.column).astype(float), np.diff(self.row_starts)
        return k * (k * k / 3 + k * r + r * r) + SETTINGS.move * (k + r) ** 2 + SETTINGS.call

    @property
    def large(self) -> bool:
        """Whether L is worth keeping in single precision."""
        return bool(self.begins[-1] >= SETTINGS.large)

    @property
    def long(self) -> bool:
        """Whether a solve is worth sharing among threads."""
        return bool(self.begins[-1] >= SETTINGS.long)

    def bytes(self, single_precision: bool) -> float:
        """Memory at the peak of a factorization: L, the front at work, and what fronts left that
        waits for others."""
        each = 4.0 if single_precision else 8.0
        return each * float(self.begins[-1]) + 8.0 * self._most_at_work

    @cached_property
    def _most_at_work(self) -> float:
        """Entries beside L at the peak."""
        r = np.diff(self.row_starts).astype(float)
        panel = np.diff(self.begins).astype(float)
        left = r * (r + 1) / 2
        taken = np.zeros(len(left) + 1)  # by each front; the last place is of none
        mine, next_one = self._part[:-1], self._part[self.parent]
        handed_on = np.flatnonzero((mine >= 0) & (next_one != mine) & (left > 0.0))
        np.add.at(taken, self.parent[handed_on], left[handed_on])
        now = left[handed_on].sum()
        apart = max((self.most_in(*part) for part in self.parts), default=0)
        most = now + min(thread_count(), len(self.parts)) * apart
        for s in self.above:
            most = max(most, now + panel[s] + r[s] ** 2)
            now += left[s] - taken[s]
            most = max(most, now + panel[s] + r[s] ** 2)
            taken[self.parent[s]] += left[s]
        return most

    def most_in(self, first: int, last: int) -> int:
        """Entries at work at once, at most, in this part."""
        return self.most_waiting(first, last) + self.widest_panel(first, last)

    def widest_panel(self, first: int, last: int) -> int:
        """Entries of the largest panel of these fronts."""
        return int(np.diff(self.begins[first : last + 2]).max())

    def most_waiting(self, first: int, last: int) -> int:
        """Entries of the updates that exist at once, at most, while these fronts are eliminated
        that take in nothing from others."""
        rows = np.diff(self.row_starts[first : last + 2])
        return int(most_waiting(rows, self.parent[first : last + 1] - first))

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """(first, last) fronts of parts that need nothing from one another: neighbouring subtrees
        of at most 1/``parts`` of the work in all, or ``small``."""
        most = max(self._work.sum() / SETTINGS.parts, SETTINGS.small)
        first, last = cut_into_parts(self._work, self.parent, most)
        return list(zip(first.tolist(), last.tolist(), strict=True))

    @cached_property
    def _part(self):
        """The part of each front, (fronts + 1,); -1 in none, and at the end."""
        part = np.full(len(self.parent) + 1, -1)
        for number, (first, last) in enumerate(self.parts):
            part[first : last + 1] = number
        return part

    @cached_property
    def above(self) -> np.ndarray:
        """The fronts that are in no part, ascending."""
        return np.flatnonzero(self._part[:-1] < 0)

    @property
    def in_one_part(self) -> bool:
        return len(self.parts) == 1 and not len(self.above)

    def places(self, first: int, last: int) -> tuple[int, int]:
        """The first place of the columns of these fronts, and the first after them."""
        return int(self.column[first]), int(self.column[last + 1])

    @cached_property
    def outside(self) -> list[np.ndarray]:
        """Places of the rows of each part that lie beyond it, ascending."""
        return [np.unique(rows[rows >= end]) for rows, end in self._rows_of_parts()]

    @cached_property
    def rows_within(self) -> np.ndarray:
        """``rows``, with those inside a part counted from its first place, and those beyond it
        after its last, in the order of ``outside``."""
        if self.in_one_part:
            return self.rows
        within = self.rows.copy()
        for (rows, end), part, outside in zip(
            self._rows_of_parts(), self.parts, self.outside, strict=True
        ):
            low = self.column[part[0]]
            beyond = end - low + np.searchsorted(outside, rows)
            at = slice(self.row_starts[part[0]], self.row_starts[part[1] + 1])
            within[at] = np.where(rows < end, rows - low, beyond)
        return within

    def _rows_of_parts(self):
        """(rows, first place after the part) of each."""
        starts = self.row_starts
        for first, last in self.parts:
            yield self.rows[starts[first] : starts[last + 1]], self.column[last + 1]


def dense_fronts(rows: Pattern, mass: Pattern, starts: np.ndarray, order: np.ndarray) -> Fronts:
    """rows, mass: (ptr, idx) of the contacts and the inertia. starts (bodies + 1,): first degree
    of freedom of each body. order (bodies,): place of each body in the order of elimination."""
    width = np.diff(starts)
    coupled = coupled_bodies(rows, mass, starts)
    later_starts, later, parent = columns_of_factor(order, *coupled)
    # renumber, so that every subtree of the elimination tree is in one piece
    new = postorder(parent)
    place = new[order]
    body_at, before = np.argsort(place), np.argsort(new)
    column = np.concatenate([[0], np.cumsum(width[body_at])])
    parent = np.where(parent >= 0, new[parent], -1)[before]
    height = sums(later_starts, np.diff(column)[new[later]])[before]
    limits, parts = (np.array(values, float) for values in zip(*SETTINGS.padding, strict=True))
    last = last_columns(parent, np.diff(column), height, SETTINGS.leaf, limits, parts)
    row_starts, front_rows = rows_of_fronts(last, later_starts, later, new, before, column)

    fronts = len(last)
    front_of = np.repeat(np.arange(fronts), np.diff(last, prepend=-1))
    first = first_of(*coupled, place)[: len(rows[0]) - 1]
    contact_starts, contacts = grouped(np.where(first >= 0, front_of[first], -1), fronts)
    of_front = np.concatenate([[0], column[last + 1]])
    k, r = np.diff(of_front), np.diff(row_starts)
    return Fronts(
        dofs=dofs_of(starts, body_at),
        column=of_front,
        rows=front_rows,
        row_starts=row_starts,
        parent=np.where(parent[last] >= 0, front_of[parent[last]], -1),
        contacts=contacts,
        contact_starts=contact_starts,
        begins=np.concatenate([[0], np.cumsum(k * (k + r))]),
    )
