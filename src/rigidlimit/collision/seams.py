"""Seams of compounds: what parts that meet there tell of twice, or of a corner that is none.

Problem: where two parts of a body join, each has its own contacts with a third body k. Taken
together, they would make the body twice as stiff at a seam, and would stop what slides over it at
edges that lie within the body.

Three rules, for contacts with one and the same k; p and n are place and normal of a contact.
1. Inner edges. A contact of part j is left out if its place on j lies in part i, and i has a
   contact with k of another normal and no larger gap beyond whose plane j does not reach: that
   contact keeps k off j as well, as the face of a plate does over the edges of the next one.
2. The same place. Of contacts of two bodies with equal p, n and gap the first is kept.
3. No corner. A place that rule 2 found is left out if it lies between two others of the same
   parts, with the same n and the gap of the line between them: the corners of a face that goes on
   through the seam are those of the whole face. What the body can carry does not change.

Equal and zero are up to ``SAME`` of the smaller part's radius, and ``NORMALS`` for rule 1.
"""

import numpy as np
from numba import njit

from ..bodies import Bodies, Capsule, Cylinder, HalfSpace, Polygon, State, rotations
from .balls import is_ball
from .polytope_table import as_polytope
from .solids import from_capsule, from_cylinder
from .widthless import SAME

NORMALS = 1e-12
"""Difference of unit normals up to which faces are flush, and their edges corners of one patch."""


def kept_at_seams(bodies: Bodies, owner: np.ndarray, state: State, contacts) -> np.ndarray:
    """Indices, ascending, of the contacts that three rules leave.

    bodies, state, contacts: of parts; owner (parts,): the body of each.
    """
    m, body = len(contacts), contacts.body
    same = SAME * bodies.bounding_radius[body].min(axis=1, initial=np.inf)
    keep = np.ones(m, bool)
    count = np.bincount(owner)[owner]
    plane = bodies.are(HalfSpace)
    for side in (0, 1):
        mine, other = body[:, side], body[:, 1 - side]
        # contacts with a half-space have one normal, and rule 1 asks for two
        which = np.flatnonzero((count[mine] > 1) & ~plane[other])
        order = which[np.lexsort((mine[which], owner[mine[which]], other[which]))]
        out = (1.0 - 2.0 * side) * contacts.normal[order]  # out of part j
        at = contacts.point[order] - 0.5 * contacts.gap[order, None] * out
        first = _starts(owner[mine[order]], other[order])
        c, e = _candidates(first, mine[order], out, contacts.gap[order], same[order])
        j, i, tol = mine[order[c]], mine[order[e]], same[order[c]]
        depth, reach = np.empty(len(c)), np.empty(len(c))
        place = _local(state, i, at[c] - state.position[i])
        way = _local(state, j, out[e])
        for row, shape in enumerate(bodies.shapes):
            inside, behind = bodies.shape_of[i] == row, bodies.shape_of[j] == row
            if inside.any():
                depth[inside] = _height(shape, place[inside])
            if behind.any():
                reach[behind] = _extent(shape, way[behind])
        beyond = reach - np.einsum("ck,ck->c", out[e], at[e] - state.position[j])
        told = np.flatnonzero((depth <= tol) & (beyond <= tol))
        told = told[np.argsort(depth[told], kind="stable")]
        keep[order] &= _without_inner(c[told], e[told], contacts.gap[order], same[order])
    left = np.flatnonzero(keep)
    order = left[np.lexsort((*body[left].T[::-1], *owner[body[left]].T[::-1]))]
    first = _starts(*owner[body[order]].T)
    keep[order] = _without_repeats(
        first, body[order], contacts.point[order], contacts.normal[order], contacts.gap[order],
        same[order],
    )  # fmt: skip
    return np.flatnonzero(keep)


def _starts(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where rows sorted by (a, b) change, with the ends."""
    change = np.flatnonzero((a[1:] != a[:-1]) | (b[1:] != b[:-1])) + 1
    return np.concatenate([[0], change, [len(a)]]).astype(np.int64)


def _local(state: State, part: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """World vectors (q, 3) in the axes of their parts (q,)."""
    return np.einsum("qji,qj->qi", rotations.matrix(state.quaternion[part]), vector)


def _height(shape, x: np.ndarray) -> np.ndarray:
    """Height (q,) [m] of points (q, 3) over a shape: a lower bound of the distance, <= 0 inside."""
    if is_ball(shape):
        return np.linalg.norm(x, axis=1) - shape.bounding_radius
    if isinstance(shape, Capsule | Cylinder):
        size = np.array([[shape.radius, 0.0, 0.5 * shape.length]])
        away = from_capsule if isinstance(shape, Capsule) else from_cylinder
        return away(x, size)[0]
    solid = shape if isinstance(shape, Polygon) else as_polytope(shape)
    if solid is None:
        return (np.linalg.norm(x / shape.semi_axes, axis=1) - 1) * min(shape.semi_axes)
    n = solid.normals
    return (x[:, : n.shape[1]] @ n.T - (n @ solid.vertices.T).max(axis=1)).max(axis=1)


def _extent(shape, n: np.ndarray) -> np.ndarray:
    """How far a shape reaches from its centre along unit vectors (q, 3), (q,) [m]."""
    if is_ball(shape):
        return np.full(len(n), shape.bounding_radius)
    if isinstance(shape, Capsule | Cylinder):
        flat = 1.0 if isinstance(shape, Capsule) else np.hypot(n[:, 0], n[:, 1])
        return 0.5 * shape.length * np.abs(n[:, 2]) + shape.radius * flat
    solid = shape if isinstance(shape, Polygon) else as_polytope(shape)
    if solid is None:
        return np.linalg.norm(n * shape.semi_axes, axis=1)
    v = solid.vertices
    return (n[:, : v.shape[1]] @ v.T).max(axis=1)


@njit(cache=True)
def _candidates(first, part, out, gap, same):
    """Pairs (c, e) of contacts of one body, by different parts, with one part of another body:
    normals differ, and the gap of e is not larger. first: where the groups begin."""
    pairs = np.empty((16, 2), np.int64)
    count = 0
    for g in range(len(first) - 1):
        for c in range(first[g], first[g + 1]):
            for e in range(first[g], first[g + 1]):
                if part[c] == part[e] or gap[e] > gap[c] + same[c]:
                    continue
                off = 0.0
                for k in range(3):
                    off += (out[c, k] - out[e, k]) ** 2
                if off <= NORMALS * NORMALS:
                    continue
                if count == len(pairs):
                    grown = np.empty((2 * count, 2), np.int64)
                    for q in range(count):
                        grown[q, 0], grown[q, 1] = pairs[q, 0], pairs[q, 1]
                    pairs = grown
                pairs[count, 0], pairs[count, 1] = c, e
                count += 1
    return pairs[:count, 0].copy(), pairs[:count, 1].copy()


@njit(cache=True)
def _without_inner(c, e, gap, same):
    """Rule 1 for pairs (c, e), first those of which c lies deepest in the part of e: True for the
    contacts that stay. Of contacts with one gap one is left, though each may tell of the other."""
    keep = np.ones(len(gap), np.bool_)
    tied = np.ones(len(gap), np.bool_)
    for q in range(len(c)):
        if gap[e[q]] < gap[c[q]] - same[c[q]]:
            keep[c[q]] = False
        elif tied[e[q]]:
            tied[c[q]] = False
    for k in range(len(gap)):
        keep[k] = keep[k] and tied[k]
    return keep


@njit(cache=True)
def _alike(normal, c, e):
    off = 0.0
    for k in range(3):
        off += (normal[c, k] - normal[e, k]) ** 2
    return off <= SAME * SAME


@njit(cache=True)
def _away(point, c, e):
    square = 0.0
    for k in range(3):
        square += (point[c, k] - point[e, k]) ** 2
    return np.sqrt(square)


@njit(cache=True)
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
def _without_repeats(first, part, point, normal, gap, same):
    """Rules 2 and 3, for contacts in groups by pair of bodies; True for those that stay."""
    keep = np.ones(len(gap), np.bool_)
    again = np.zeros(len(gap), np.int64)  # the contact that is kept in its place, from 1
    for g in range(len(first) - 1):
        begin, end = first[g], first[g + 1]
        found = False
        for c in range(begin, end):
            for e in range(begin, c):
                if not keep[e] or (part[c, 0] == part[e, 0] and part[c, 1] == part[e, 1]):
                    continue
                if not _alike(normal, c, e) or _away(point, c, e) > same[c]:
                    continue
                if abs(gap[c] - gap[e]) <= same[c]:
                    keep[c], again[c], again[e], found = False, e + 1, e + 1, True
                    break
        if not found:
            continue
        for c in range(begin, end):
            if again[c] != c + 1:
                continue
            for x in range(begin, end):
                if again[x] == c + 1 or not _alike(normal, c, x):
                    continue
                if not _shares(part, again, begin, end, c, x):
                    continue
                for y in range(begin, x):
                    if again[y] == c + 1 or not _alike(normal, c, y):
                        continue
                    if _between(point, gap, c, x, y, same[c]) and _shares(
                        part, again, begin, end, c, y
                    ):
                        again[c] = -c - 1
                        break
                if again[c] < 0:
                    break
    for c in range(len(gap)):
        keep[c] = keep[c] and again[c] >= 0
    return keep


@njit(cache=True)
def _shares(part, again, begin, end, c, x):
    """Whether contact x is of a pair of parts that has a contact in the place of c."""
    for d in range(begin, end):
        if again[d] == c + 1 and part[d, 0] == part[x, 0] and part[d, 1] == part[x, 1]:
            return True
    return False
