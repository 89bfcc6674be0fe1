"""Edges of a compound's parts that lie within the body: they stop nothing.

Problem: where two parts join flush, the edges of one lie in the other. The search knows convex
pairs only, and finds contacts with such an edge: what slides over the seam, or lands beside it,
would be pushed along the face. Contacts of one compound with one other part k:

A contact c of part j is left out, if
- its place on j lies in another part i of the body,
- some part but j has a contact e with k, of another normal and with no larger gap, beyond whose
  plane j does not reach: k, held off that plane, does not get to j by that edge; and
- e is a contact of i, or its plane goes through the place of c, as where a face is made of many.

If that leaves j no contact with k, the corners of k over the plane of e have contacts where j has a
face in it: the edge had hidden them from the search, which has them where the face is one.

Equal and zero are up to a length for each contact (``FLUSH`` of the smaller part's radius).
"""

import numpy as np
from numba import njit

from ..bodies import Bodies, Capsule, Cylinder, HalfSpace, Polygon, State, rotations
from .balls import from_capsule, from_cylinder
from .contacts import Contacts, Pieces
from .kinds import BALL, kind_of
from .polytope_table import as_polytope
from .tolerances import TOLERANCES


def without_inner_edges(
    bodies: Bodies,
    owner: np.ndarray,
    state: State,
    reach: np.ndarray,
    contacts: Contacts,
    same: np.ndarray,
):
    """(which contacts stay (m,) bool, list of Pieces: contacts of corners).

    bodies, state, reach (parts,), contacts: of parts; owner (parts,): the body of each; same (m,).
    """
    body = contacts.body
    keep, inner = np.ones(len(contacts), bool), []
    count = np.bincount(owner)[owner]
    plane = bodies.are(HalfSpace)
    for side in (0, 1):
        mine, other = body[:, side], body[:, 1 - side]
        # contacts with a half-space have one normal, and the rule needs two
        which = np.flatnonzero((count[mine] > 1) & ~plane[other])
        order = which[np.lexsort((mine[which], owner[mine[which]], other[which]))]
        part, k, tol, gap = mine[order], other[order], same[order], contacts.gap[order]
        out = (1.0 - 2.0 * side) * contacts.normal[order]  # out of part j
        at = contacts.point[order] - 0.5 * gap[:, None] * out
        c, e, bounds = _pairs(starts(owner[part], k), part, out, gap, tol)
        depth = _of_shapes(_height, bodies, part[e], _local(state, part[e], at[c]))
        least = np.full(len(order), np.inf)
        np.minimum.at(least, c, depth)
        c, e, depth = c[bounds], e[bounds], depth[bounds]
        on_plane = np.abs(np.einsum("ck,ck->c", out[e], at[c] - at[e])) <= tol[c]
        depth = np.where(on_plane, np.minimum(least[c], depth), depth)
        turned = np.einsum("qji,qj->qi", rotations.matrix(state.quaternion[part[c]]), out[e])
        beyond = _of_shapes(_extent, bodies, part[c], turned)
        beyond -= np.einsum("ck,ck->c", out[e], at[e] - state.position[part[c]])
        redundant = np.flatnonzero((depth <= tol[c]) & (beyond <= tol[c]))
        redundant = redundant[np.argsort(depth[redundant], kind="stable")]
        c, e = c[redundant], e[redundant]
        keep[order] &= _kept(c, e, gap, tol)
        inner.append((part[c], k[c], out[e], at[e], tol[c], order[e]))
    # pairs (part, k) that lost all their contacts
    n = len(bodies)
    left = np.concatenate([body[keep] @ [n, 1], body[keep] @ [1, n]])
    pieces = []
    for j, k, *rest in inner:
        *rest, e = rest
        lost = np.flatnonzero(~np.isin(j * n + k, left) & keep[e])
        if len(lost):
            pieces.append(_corners_over(bodies, state, reach, *(x[lost] for x in (j, k, *rest))))
    return keep, pieces


def _corners_over(bodies, state, reach, j, k, normal, at, tol) -> Pieces:
    """Contacts of the corners of polytopes k (q,) with faces of parts j that lie in the planes
    through points at (q, 3) with outward normals (q, 3); each corner once."""
    pair, number, place = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros((0, 3))]
    for row, shape in enumerate(bodies.shapes):
        solid = shape if isinstance(shape, Polygon) else as_polytope(shape)
        mine = np.flatnonzero(bodies.shape_of[k] == row)
        if solid is None or not len(mine):
            continue
        corners = np.pad(solid.vertices, ((0, 0), (0, 3 - solid.vertices.shape[1])))
        turn = rotations.matrix(state.quaternion[k[mine]])
        places = np.einsum("qij,vj->qvi", turn, corners) + state.position[k[mine], None]
        pair.append(np.repeat(mine, len(corners)))
        number.append(np.tile(np.arange(len(corners)), len(mine)))
        place.append(places.reshape(-1, 3))
    pair, number, place = (np.concatenate(x) for x in (pair, number, place))
    height = np.einsum("ck,ck->c", normal[pair], place - at[pair])
    foot = place - height[:, None] * normal[pair]
    depth = _of_shapes(_height, bodies, j[pair], _local(state, j[pair], foot))
    near = np.flatnonzero((height <= (reach[j] + reach[k])[pair]) & (np.abs(depth) <= tol[pair]))
    label = np.column_stack([j[pair], k[pair], number])[near]
    near = near[np.sort(np.unique(label, axis=0, return_index=True)[1])]
    pair = pair[near]
    return Pieces.of(
        j[pair],
        k[pair],
        feature=2 * number[near] + 1,
        point=0.5 * (place[near] + foot[near]),
        normal=normal[pair],
        gap=height[near],
    )


def _of_shapes(measure, bodies: Bodies, part: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """``measure`` of the shape of each part (q,) and a vector (q, 3) in its axes, (q,)."""
    out = np.empty(len(part))
    for row in np.unique(bodies.shape_of[part]):
        mine = bodies.shape_of[part] == row
        out[mine] = measure(bodies.shapes[row], vector[mine])
    return out


def starts(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where rows sorted by (a, b) change, with the ends."""
    change = np.flatnonzero((a[1:] != a[:-1]) | (b[1:] != b[:-1])) + 1
    return np.concatenate([[0], change, [len(a)]]).astype(np.int64)


def _local(state: State, part: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Places (q, 3) in the frames of their parts (q,)."""
    arm = place - state.position[part]
    return np.einsum("qji,qj->qi", rotations.matrix(state.quaternion[part]), arm)


def _height(shape, x: np.ndarray) -> np.ndarray:
    """Height (q,) [m] of points (q, 3) over a shape: a lower bound of the distance, <= 0 inside."""
    if kind_of(shape) == BALL:
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
    if kind_of(shape) == BALL:
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
def _pairs(first, part, out, gap, same):
    """(c, e, whether e may bound what c is for): contacts of one body, by different parts, with one
    part of another body, if c has such an e: one of another normal whose gap is not larger.

    first: where the groups of contacts begin.
    """
    pairs, bounds = np.empty((16, 2), np.int64), np.empty(16, np.bool_)
    count = 0
    for g in range(len(first) - 1):
        for c in range(first[g], first[g + 1]):
            before, any_bounds = count, False
            for e in range(first[g], first[g + 1]):
                if part[c] == part[e]:
                    continue
                off = 0.0
                for k in range(3):
                    off += (out[c, k] - out[e, k]) ** 2
                if count == len(pairs):
                    grown, more = np.empty((2 * count, 2), np.int64), np.empty(2 * count, np.bool_)
                    for q in range(count):
                        grown[q, 0], grown[q, 1], more[q] = pairs[q, 0], pairs[q, 1], bounds[q]
                    pairs, bounds = grown, more
                pairs[count, 0], pairs[count, 1] = c, e
                # the nearest contact of a plane that j lies behind has no larger gap than c
                bounds[count] = (
                    off > TOLERANCES.rounding * TOLERANCES.rounding and gap[e] <= gap[c] + same[c]
                )
                any_bounds = any_bounds or bounds[count]
                count += 1
            if not any_bounds:
                count = before
    return pairs[:count, 0].copy(), pairs[:count, 1].copy(), bounds[:count].copy()


@njit(cache=True)
def _kept(c, e, gap, same):
    """The rule for pairs (c, e), first those of which c lies deepest in the part of e: True for the
    contacts that stay. Of contacts with one gap one is kept, though each may make the other
    redundant, and so are those made redundant only by contacts that are removed themselves."""
    keep = np.ones(len(gap), np.bool_)
    tied = np.ones(len(gap), np.bool_)
    for q in range(len(c)):
        if gap[e[q]] < gap[c[q]] - same[c[q]]:
            keep[c[q]] = False
        elif tied[e[q]]:
            tied[c[q]] = False
    redundant = np.zeros(len(gap), np.bool_)  # by a contact that stays
    for q in range(len(c)):
        redundant[c[q]] |= keep[e[q]] and tied[e[q]]
    for k in range(len(gap)):
        tied[k] |= not redundant[k]
        keep[k] = keep[k] and tied[k]
    return keep
