"""Duplicate and spurious contacts at the seams of compound bodies.

Problem: where two parts of a body join, each has its own contacts with a third body. Taken
together, they would make the body twice as stiff at a seam, and would stop what slides over it at
edges that lie within the body.

Three rules; p and n are place and normal of a contact.
1. Inner edges: ``inner_edges``.
2. The same place. Of contacts of two bodies with equal p, n and gap the first is kept.
3. No corner. A place that rule 2 found is left out if it lies between two others of the same
   parts, with the same n and the gap of the line between them: the corners of a face that continues
   through the seam are those of the whole face. What the body can carry does not change.

Equal is up to ``flush`` of the smaller part's radius.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Bodies, State
from .contacts import Contacts, Pieces
from .inner_edges import starts, without_inner_edges
from .tolerances import TOLERANCES


class _Places(NamedTuple):
    """Contacts in groups by pair of bodies, and in these by pair of parts.

    part (m, 2); point, normal (m, 3); gap (m,) [m]; same (m,) [m]: distance below which places
    are the same.
    """

    part: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    same: np.ndarray


def at_seams(
    bodies: Bodies, owner: np.ndarray, state: State, reach: np.ndarray, contacts: Contacts
) -> Contacts:
    """The contacts that the three rules leave, in no particular order.

    bodies, state, reach, contacts: of parts; owner (parts,): the body of each.
    """
    same = _same(bodies, contacts.body)
    keep, pieces = without_inner_edges(bodies, owner, state, reach, contacts, same)
    contacts = contacts.select(keep)
    if pieces:
        contacts = _joined(contacts, Pieces.joined(pieces))
    body = contacts.body
    order = np.lexsort((*body.T[::-1], *owner[body].T[::-1]))
    places = _Places(
        body[order], contacts.point[order], contacts.normal[order], contacts.gap[order],
        _same(bodies, body[order]),
    )  # fmt: skip
    keep = _without_repeats(starts(*owner[body[order]].T), places)
    return contacts.select(order[keep])


def _same(bodies: Bodies, body: np.ndarray) -> np.ndarray:
    """Distance [m] below which places of pairs of parts (m, 2) are the same, (m,)."""
    return TOLERANCES.flush * bodies.bounding_radius[body].min(axis=1, initial=np.inf)


def _joined(contacts: Contacts, more: Pieces) -> Contacts:
    """The contacts and more of them, from the lower to the higher part."""
    turned = more.a > more.b
    both = np.column_stack([more.a, more.b])
    both[turned] = both[turned, ::-1]
    sign = np.where(turned, -1.0, 1.0)[:, None]
    columns = (both, more.feature, more.point, sign * more.normal, more.gap, more.curvature)
    names = ("body", "feature", "point", "normal", "gap", "curvature")
    return Contacts(
        *(np.concatenate([getattr(contacts, n), c]) for n, c in zip(names, columns, strict=True)),
        contacts.bodies,
    )


@njit(**INNER)
def _alike(normal, c, e):
    off = 0.0
    for k in range(3):
        off += (normal[c, k] - normal[e, k]) ** 2
    return off <= TOLERANCES.flush * TOLERANCES.flush


@njit(**INNER)
def _away(point, c, e):
    square = 0.0
    for k in range(3):
        square += (point[c, k] - point[e, k]) ** 2
    return np.sqrt(square)


@njit(**INNER)
def _between(point, gap, c, x, y, same):
    """Whether contact c lies on the line between x and y, in place and gap."""
    length, far = _away(point, x, y), _away(point, x, c)
    if far <= same or _away(point, c, y) <= same or length <= far:
        return False
    share, off = far / length, 0.0
    for k in range(3):
        off += (point[x, k] + share * (point[y, k] - point[x, k]) - point[c, k]) ** 2
    level = gap[x] + share * (gap[y] - gap[x])
    return np.sqrt(off) <= same and abs(level - gap[c]) <= same


@njit(cache=True)
def _without_repeats(first, places):
    """Rules 2 and 3; True for places that stay. first: of each group of places, and the end."""
    point, gap, same = places.point, places.gap, places.same
    keep = np.ones(len(gap), np.bool_)
    again = np.zeros(len(gap), np.int64)  # the contact that is kept in its place, from 1
    # contacts in the place of c, itself as well: head[c], after[head[c]], ...
    head, after = np.full(len(gap), -1), np.empty(len(gap), np.int64)
    near, seen = np.empty(len(gap), np.int64), np.full(len(gap), -1)
    for g in range(len(first) - 1):
        begin, end = first[g], first[g + 1]
        if not _drop_repeats(begin, end, places, keep, again):
            continue
        for d in range(begin, end):
            if again[d] > 0:
                after[d], head[again[d] - 1] = head[again[d] - 1], d
        for c in range(begin, end):
            if again[c] != c + 1:
                continue
            count, d = 0, head[c]
            while d >= 0:
                low, high = _of_same_parts(places.part, d, begin, end)
                for x in range(low, high):
                    if again[x] != c + 1 and seen[x] != c and _alike(places.normal, c, x):
                        near[count], seen[x] = x, c
                        count += 1
                d = after[d]
            if _has_between(point, gap, c, near[:count], same[c]):
                keep[c] = False
    return keep


@njit(**INNER)
def _drop_repeats(begin, end, places, keep, again):
    """Rule 2 in the group begin : end; whether there were any."""
    part, point, normal, gap, same = places
    found = False
    for c in range(begin, end):
        for e in range(begin, c):
            if not keep[e] or _of_one_pair(part, c, e) or not _alike(normal, c, e):
                continue
            if _away(point, c, e) <= same[c] and abs(gap[c] - gap[e]) <= same[c]:
                keep[c], again[c], again[e], found = False, e + 1, e + 1, True
                break
    return found


@njit(**INNER)
def _of_same_parts(part, d, begin, end):
    """(first, end) of the contacts of the parts of d in the group begin : end."""
    low, high = d, d + 1
    while low > begin and _of_one_pair(part, low - 1, d):
        low -= 1
    while high < end and _of_one_pair(part, high, d):
        high += 1
    return low, high


@njit(**INNER)
def _of_one_pair(part, c, e):
    return part[c, 0] == part[e, 0] and part[c, 1] == part[e, 1]


@njit(**INNER)
def _has_between(point, gap, c, near, same):
    """Whether contact c lies between any two of those ``near`` (k,)."""
    for p in range(len(near)):
        for q in range(p):
            x, y = max(near[p], near[q]), min(near[p], near[q])
            if _between(point, gap, c, x, y, same):
                return True
    return False
