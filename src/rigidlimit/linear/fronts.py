"""Which degrees of freedom share a dense front of a factorization, from the couplings of bodies.

A body is coupled, as it is eliminated, to all later bodies of the contacts that begin with it, and
to those that its children in the elimination tree were coupled to; its parent is the first of them.
Small subtrees become one front, and a front takes in its parent where few zeros are stored for it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from .._support.threads import thread_count
from .dissection import Pattern, coupled_bodies, grouped

LEAF = 36
"""Degrees of freedom up to which all bodies below one in the elimination tree share its front."""

PADDING = (64, 0.4), (256, 0.1), (np.inf, 0.03)
"""Up to so many columns, the part of a front that may be zeros: few large fronts are faster."""


PARTS = 16
"""Parts of the work of a factorization, about, that threads do each on its own."""

SMALL = 1e8
"""Multiplications that are not worth cutting into parts: some ten milliseconds."""

LONG = 4e6
"""Entries of L from which a solve is worth sharing among threads: some milliseconds."""

LARGE = 2e7
"""Entries of L from which it is kept in single precision: 160 MB in double. The time is the same
within a tenth."""

MOVE, CALL = 40, 800_000
"""Multiplications that take as long as moving one entry of a front, and as what is done once a
front; measured on pyramids, packings and walls of 12,000 to 240,000 contacts."""


@dataclass(frozen=True)
class Fronts:
    """Fronts in the order of elimination; places are degrees of freedom in that order.

    dofs (n,): degree of freedom at each place. column (fronts + 1,): first place of each front's
    columns P. rows, row_starts (fronts + 1,): places R of each. parent (fronts,): the front that
    takes in what each leaves, -1 for none. contacts, contact_starts (fronts + 1,): contacts added
    in each. begins (fronts + 1,): where the panel of each, (k + r) k entries, begins.
    """

    dofs: np.ndarray
    column: np.ndarray
    rows: np.ndarray
    row_starts: np.ndarray
    parent: np.ndarray
    contacts: np.ndarray
    contact_starts: np.ndarray
    begins: np.ndarray

    @property
    def operations(self) -> float:
        """Work of a factorization, in multiplications that LAPACK would do in the same time."""
        return float(self._work.sum())

    @cached_property
    def _work(self) -> np.ndarray:
        k, r = np.diff(self.column).astype(float), np.diff(self.row_starts)
        return k * (k * k / 3 + k * r + r * r) + MOVE * (k + r) ** 2 + CALL

    @property
    def large(self) -> bool:
        """Whether L is worth keeping in single precision."""
        return bool(self.begins[-1] >= LARGE)

    @property
    def long(self) -> bool:
        """Whether a solve is worth sharing among threads."""
        return bool(self.begins[-1] >= LONG)

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
        return int(_most_waiting(rows, self.parent[first : last + 1] - first))

    @cached_property
    def parts(self) -> list[tuple[int, int]]:
        """(first, last) fronts of parts that need nothing from one another: neighbouring subtrees
        of at most 1/PARTS of the work in all, or SMALL."""
        most = max(self._work.sum() / PARTS, SMALL)
        return list(zip(*(e.tolist() for e in _parts(self._work, self.parent, most)), strict=True))

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
        """``rows``, with those of a part told from its first place on, and those beyond it after
        its last, in the order of ``outside``."""
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
    later_starts, later, parent = _columns(order, *coupled)
    # renumber, so that every subtree of the elimination tree is in one piece
    new = _postorder(parent)
    place = new[order]
    body_at, before = np.argsort(place), np.argsort(new)
    column = np.concatenate([[0], np.cumsum(width[body_at])])
    parent = np.where(parent >= 0, new[parent], -1)[before]
    height = _sums(later_starts, np.diff(column)[new[later]])[before]
    limits, parts = (np.array(values, float) for values in zip(*PADDING, strict=True))
    last = _last_columns(parent, np.diff(column), height, LEAF, limits, parts)
    row_starts, front_rows = _rows(last, later_starts, later, new, before, column)

    fronts = len(last)
    front_of = np.repeat(np.arange(fronts), np.diff(last, prepend=-1))
    first = _first_of(*coupled, place)[: len(rows[0]) - 1]
    contact_starts, contacts = grouped(np.where(first >= 0, front_of[first], -1), fronts)
    of_front = np.concatenate([[0], column[last + 1]])
    k, r = np.diff(of_front), np.diff(row_starts)
    return Fronts(
        dofs=_dofs(starts, body_at),
        column=of_front,
        rows=front_rows,
        row_starts=row_starts,
        parent=np.where(parent[last] >= 0, front_of[parent[last]], -1),
        contacts=contacts,
        contact_starts=contact_starts,
        begins=np.concatenate([[0], np.cumsum(k * (k + r))]),
    )


@njit(cache=True, nogil=True)
def _most_waiting(rows, parent):
    """Entries of the updates that exist at once, at most: a front's own (r, r), and the triangles
    of its children's and those of the subtrees before it. rows (fronts,): r."""
    fronts = len(rows)
    taken = np.zeros(fronts)
    now = most = 0.0
    for s in range(fronts):
        most = max(most, now + float(rows[s]) ** 2)
        own = rows[s] * (rows[s] + 1) / 2
        now -= taken[s]
        if parent[s] >= 0:
            now += own
        if 0 <= parent[s] < fronts:
            taken[parent[s]] += own
    return most


@njit(cache=True, nogil=True)
def _parts(work, parent, most):
    """(first, last) front of parts made of neighbouring subtrees that are no more work than
    ``most``, alone and together. Fronts are in postorder."""
    fronts = len(work)
    below, lowest = work.copy(), np.arange(fronts)
    for s in range(fronts):
        if parent[s] >= 0:
            below[parent[s]] += below[s]
            lowest[parent[s]] = min(lowest[parent[s]], lowest[s])
    first, last = np.empty(fronts, np.int64), np.empty(fronts, np.int64)
    count, gathered = 0, 0.0
    for s in range(fronts):
        if below[s] > most or (parent[s] >= 0 and below[parent[s]] <= most):
            continue
        if count > 0 and last[count - 1] == lowest[s] - 1 and gathered + below[s] <= most:
            gathered += below[s]
        else:
            first[count], gathered = lowest[s], below[s]
            count += 1
        last[count - 1] = s
    return first[:count].copy(), last[:count].copy()


def _sums(starts, values):
    """Sum of each piece of ``values``, (pieces,)."""
    return np.diff(np.concatenate([[0], np.cumsum(values)])[starts])


@njit(cache=True, nogil=True)
def _first_of(starts, bodies, place):
    """Place of the body of each row that is eliminated first; -1 of an empty row."""
    first = np.full(len(starts) - 1, -1, np.int64)
    for i in range(len(first)):
        for e in range(starts[i], starts[i + 1]):
            p = place[bodies[e]]
            if first[i] < 0 or p < first[i]:
                first[i] = p
    return first


@njit(cache=True, nogil=True)
def _columns(place, row_starts, row_bodies):
    """Structure of L by bodies: (starts (bodies + 1,), later bodies by place, parent).

    The bodies coupled to one as it is eliminated are those of the rows that begin with it and those
    of its children in the elimination tree; the first of them is its parent.
    """
    nb = len(place)
    groups, members = grouped(_first_of(row_starts, row_bodies, place), nb)
    parent = np.full(nb, -1, np.int64)
    child = np.full(nb, -1, np.int64)
    sibling = np.full(nb, -1, np.int64)
    seen = np.full(nb, -1, np.int64)
    starts = np.zeros(nb + 1, np.int64)
    later = np.empty(max(16, 8 * nb), np.int32)
    at = 0
    for j in range(nb):
        seen[j] = j
        if len(later) - at < nb:
            longer = np.empty(max(2 * len(later), len(later) + nb), np.int32)
            for e in range(at):  # a slice compiles for 3 s
                longer[e] = later[e]
            later = longer
        for e in range(groups[j], groups[j + 1]):
            i = members[e]
            for g in range(row_starts[i], row_starts[i + 1]):
                p = place[row_bodies[g]]
                if seen[p] != j:
                    seen[p] = j
                    later[at] = p
                    at += 1
        c = child[j]
        while c >= 0:
            for e in range(starts[c], starts[c + 1]):
                p = later[e]
                if seen[p] != j:
                    seen[p] = j
                    later[at] = p
                    at += 1
            c = sibling[c]
        starts[j + 1] = at
        least = nb
        for e in range(starts[j], at):
            least = min(least, later[e])
        if least < nb:
            parent[j] = least
            sibling[j] = child[least]
            child[least] = j
    return starts, later[:at], parent


@njit(cache=True, nogil=True)
def _postorder(parent):
    """New place of each column, with every subtree of the elimination tree in one piece."""
    nb = len(parent)
    child = np.full(nb, -1, np.int64)
    sibling = np.full(nb, -1, np.int64)
    for j in range(nb - 1, -1, -1):
        if parent[j] >= 0:
            sibling[j] = child[parent[j]]
            child[parent[j]] = j
    new = np.empty(nb, np.int64)
    stack = np.empty(nb, np.int64)
    count = 0
    for root in range(nb):
        if parent[root] >= 0:
            continue
        top = 0
        stack[0] = root
        while top >= 0:
            j = stack[top]
            if child[j] >= 0:
                top += 1
                stack[top] = child[j]
                child[j] = sibling[stack[top]]
            else:
                new[j] = count
                count += 1
                top -= 1
    return new


@njit(cache=True, nogil=True)
def _last_columns(parent, width, height, leaf, limits, parts):
    """Last column of each front, ascending. Columns are in postorder.

    width (bodies,): degrees of freedom of a column. height (bodies,): those coupled to it later.
    limits, parts: part of a front that may be zeros up to so many columns.
    """
    nb = len(parent)
    below = width.copy()  # degrees of freedom of the subtree
    first = np.arange(nb)  # first column of the subtree
    for j in range(nb):
        if parent[j] >= 0:
            below[parent[j]] += below[j]
            first[parent[j]] = min(first[parent[j]], first[j])
    last = np.empty(nb, np.int64)
    cols = np.empty(nb, np.int64)  # columns of each front so far, in degrees of freedom
    entries = np.empty(nb, np.float64)  # entries of L that are not zeros by structure
    count = 0
    for j in range(nb):
        own = width[j] * (width[j] + 1) / 2 + width[j] * height[j]
        if below[j] <= leaf:
            k = width[j]
            while count > 0 and last[count - 1] >= first[j]:
                count -= 1
                k += cols[count]
            last[count] = j
            cols[count] = k
            entries[count] = k * (k + 1) / 2 + k * height[j]  # a small front is taken as full
            count += 1
            continue
        merged = False
        if count > 0 and last[count - 1] == j - 1 and parent[j - 1] == j:
            k = cols[count - 1] + width[j]
            full = k * (k + 1) / 2 + k * height[j]
            allowed = 0.0
            for step in range(len(limits)):
                if k <= limits[step]:
                    allowed = parts[step]
                    break
            if full - entries[count - 1] - own <= allowed * full:
                last[count - 1] = j
                cols[count - 1] = k
                entries[count - 1] += own
                merged = True
        if not merged:
            last[count] = j
            cols[count] = width[j]
            entries[count] = own
            count += 1
    return last[:count].copy()


@njit(cache=True, nogil=True)
def _rows(last, starts, later, new, before, column):
    """Rows R of each front, in ascending new places of degrees of freedom: (starts, rows)."""
    fronts = len(last)
    row_starts = np.zeros(fronts + 1, np.int64)
    for s in range(fronts):
        j = before[last[s]]
        size = 0
        for e in range(starts[j], starts[j + 1]):
            p = new[later[e]]
            size += column[p + 1] - column[p]
        row_starts[s + 1] = row_starts[s] + size
    rows = np.empty(row_starts[fronts], np.int32)
    for s in range(fronts):
        j = before[last[s]]
        places = np.empty(starts[j + 1] - starts[j], np.int64)
        for e in range(len(places)):
            places[e] = new[later[starts[j] + e]]
        places.sort()
        at = row_starts[s]
        for p in places:
            for d in range(column[p], column[p + 1]):
                rows[at] = d
                at += 1
    return row_starts, rows


@njit(cache=True, nogil=True)
def _dofs(starts, bodies):
    """Degrees of freedom of the bodies, one after the other."""
    dofs = np.empty(starts[-1], np.int64)
    at = 0
    for b in bodies:
        for d in range(starts[b], starts[b + 1]):
            dofs[at] = d
            at += 1
    return dofs
