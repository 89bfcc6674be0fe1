"""Faces that are flat, and edges that are straight, but for rounded coordinates, made so.

Problem: the corners of a body from a mesh file (4-byte floats) or a text with six digits lie 1e-8
to 1e-6 of its size off the planes of its faces, and the hull of such points has each face in
pieces: a block would stand on one triangle of another's top, and tip. Corners are moved onto the
planes of their faces, in turns with fitting these, by the least way. In the plane a corner in the
middle of an edge, which stands out by rounding, would be the only point that the edge rests on: it
is removed.

Symbols: points x (m, 3) [m]; of each face that is more than one triangle of the hull: its corners,
unit normal n, height h = mean of n . x. Where more than three planes meet in a corner they may not
have a common point; what is left after ``Settings.rounds`` is left.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull


@dataclass(frozen=True)
class Settings:
    """When coordinates of few digits are mended.

    flat: corners closer than this to a plane, over the body's size, belong to one face.
    exact: the same for a face to count as flat as it is.
    spared: fraction of flat faces above which the others are intended as they are: a
        rounded corner spoils all faces around it.
    rounds: most turns.
    farthest: way of a corner over the margin beyond which all stay put.
    most: faces of a hull that are looked at; more are a round body's.
    many: part of all faces that are pieces where coordinates are rounded; a few may be meant.
    coarse: distance of a face's corners from its neighbour's plane, over the body's size, up to
        which both may have been one face.
    clear: what is next over it at least: others are facets of something round.
    """

    flat: float = 1e-6
    exact: float = 1e-13
    spared: float = 0.75
    rounds: int = 100
    farthest: float = 10.0
    most: int = 1000
    many: float = 0.25
    coarse: float = 0.01
    clear: float = 30.0


SETTINGS = Settings()


def flattened(points: np.ndarray, hull: ConvexHull, margin: float | None = None) -> np.ndarray:
    """The points (m, 3) [m], with the corners of each nearly flat face of their ``hull``, scipy's,
    in one plane; those given where nothing is to be mended.

    margin [m]: corners closer than this to a plane belong to one face, as given by the user;
    None: ``Settings.flat`` of the size, if most faces need it.
    """
    size = np.ptp(points, axis=0).max()
    given, margin = margin is not None, SETTINGS.flat * size if margin is None else margin
    faces = _faces(points, hull, margin)
    at = _faces_at(faces)
    x = points
    for turn in range(SETTINGS.rounds):
        n, h = _planes(x, faces)
        off = _farthest(x, faces, n, h)
        flat = off <= SETTINGS.exact * size
        if flat.all() or (turn == 0 and flat.mean() >= SETTINGS.spared and not given):
            break
        x = x.copy()
        for i, of in at:  # corners of as many faces
            missing = h[of] - np.einsum("ckj,cj->ck", n[of], x[i])
            x[i] += np.einsum("cjk,ck->cj", np.linalg.pinv(n[of], rcond=1e-2), missing)
    return x if np.abs(x - points).max() <= SETTINGS.farthest * margin else points


def _faces(points, hull, margin) -> list[list[int]]:
    """Corners of all faces that are several triangles: the largest triangles say in which plane."""
    triangles, normals = hull.simplices, hull.equations[:, :3]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    # the corner beyond each side, of the triangle that shares it
    beyond = triangles[hull.neighbors].sum(axis=2) - triangles.sum(axis=1)[:, None] + triangles
    rise = np.einsum("tkc,tc->tk", points[beyond] - a[:, None], normals)
    left, faces = np.ones(len(triangles), bool), []
    alone = (np.abs(rise) > margin).all(axis=1)
    for t in np.argsort(-np.linalg.norm(np.cross(b - a, c - a), axis=1), kind="stable"):
        if alone[t] or not left[t]:
            continue
        near = np.abs((points - a[t]) @ normals[t]) <= margin
        same = left & near[triangles].all(axis=1) & (normals @ normals[t] > 0)
        left &= ~same
        left[t] = False
        if same.sum() > 1:
            faces.append(np.unique(triangles[same]).tolist())
    return faces


def pieces_of_faces(vertices: np.ndarray, faces: np.ndarray, normals: np.ndarray):
    """(number of faces that look like pieces, of how many, distance [m] of their corners from one
    another's planes), or None: of a hull's corners (m, 3), corner loops, and normals (f, 3).

    Faces whose corners lie nearly in the planes of their neighbours, far nearer than those of any
    others, are pieces if all that hang together so lie nearly in one plane.
    """
    size, n = np.ptp(vertices, axis=0).max(), len(faces)
    if n > SETTINGS.most:
        return None
    loops, starts = np.concatenate(faces), np.cumsum([0, *map(len, faces[:-1])])
    following = np.roll(loops, -1)
    following[np.append(starts[1:], len(loops)) - 1] = loops[starts]
    of = np.repeat(np.arange(n), [len(loop) for loop in faces])
    sides = zip(loops.tolist(), following.tolist(), strict=True)
    sides = dict(zip(sides, of.tolist(), strict=True))
    pairs = np.array([(f, sides[b, a]) for (a, b), f in sides.items() if f < sides.get((b, a), -1)])
    heights = vertices @ normals.T
    heights = np.abs(heights[loops] - heights[loops[starts], np.arange(n)])
    apart = np.maximum.reduceat(heights, starts)  # of face f's corners from face g's plane
    rise = np.maximum(apart, apart.T)[tuple(pairs.T)]
    near = rise <= SETTINGS.coarse * size
    if not near.any() or not rise[~near].min(initial=np.inf) >= SETTINGS.clear * rise[near].max():
        return None
    joined = sp.coo_array((np.ones(near.sum()), tuple(pairs[near].T)), shape=(n, n))
    group = connected_components(joined, directed=False)[1]
    pieces, whole, off = 0, 0, float(rise[near].max())
    for number in np.flatnonzero(np.bincount(group) > 1):
        own = np.flatnonzero(group == number)
        corners = np.unique(np.concatenate([faces[f] for f in own]))
        (normal,), (height,) = _planes(vertices, [corners])
        away = np.abs(vertices[corners] @ normal - height).max()
        if away > off:
            return None
        pieces, whole = pieces + len(own), whole + 1
    return (pieces, whole, off) if pieces >= SETTINGS.many * n else None


def _planes(x, faces):
    """Unit normals (f, 3) and heights (f,) of the planes nearest to the corners of each face."""
    n, h = np.zeros((len(faces), 3)), np.zeros(len(faces))
    for which, corners in _alike(faces):
        middle = x[corners].mean(axis=1)
        n[which] = np.linalg.svd(x[corners] - middle[:, None], full_matrices=False)[2][:, 2]
        h[which] = np.einsum("fj,fj->f", n[which], middle)
    return n, h


def _farthest(x, faces, n, h):
    """(f,): distance of the farthest corner of each face from its plane."""
    off = np.zeros(len(faces))
    for which, corners in _alike(faces):
        height = np.einsum("fkj,fj->fk", x[corners], n[which]) - h[which, None]
        off[which] = np.abs(height).max(axis=1)
    return off


def _alike(lists) -> list[tuple[np.ndarray, np.ndarray]]:
    """(numbers (f,), entries (f, k)) of lists of the same length, for each length."""
    length = np.array([len(one) for one in lists], int)
    groups = (np.flatnonzero(length == k) for k in np.unique(length))
    return [(which, np.array([lists[f] for f in which])) for which in groups]


def _faces_at(faces) -> list[tuple[np.ndarray, np.ndarray]]:
    """(corners (c,), the faces (c, k) that each is of), for each number k of faces."""
    of = {}
    for f, corners in enumerate(faces):
        for i in corners:
            of.setdefault(i, []).append(f)
    corners = np.array(list(of), int)
    return [(corners[which], faces_of) for which, faces_of in _alike(list(of.values()))]


def straightened(ring: np.ndarray) -> np.ndarray:
    """The corners (k, 2) [m] of a convex outline without those that hardly stand out."""
    size = np.ptp(ring, axis=0).max()
    while len(ring) > 3:
        before, after = np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0)
        (x, y), (u, v) = (ring - before).T, (after - before).T
        height = np.abs(u * y - v * x) / np.hypot(u, v)
        if height.min() > SETTINGS.flat * size:
            break
        ring = np.delete(ring, height.argmin(), axis=0)
    return ring
