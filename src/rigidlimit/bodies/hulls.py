"""Convex hulls of points as they are given: corners, flat faces, moments of the solid."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from .._support import arrays
from .._support.warned import warn
from .._support.words import counted
from ..errors import SceneError, SceneWarning
from .flat import flattened

TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Settings:
    """Of polyhedra as they are given.

    coarse: part of a polyhedron's size above which its ``flat`` is a mistake.
    centred: distance of the centre of mass from the origin, over the body's size, below which
        corners are not moved.
    rounds: times that they are moved.
    dent: depth of a point inside the hull, over the hull's size, that is taken for a dent.
    rounded: difference of a face's normals, of its first triangle and of its area, that is
        rounding's.
    paired: largest number of triangles of a hull for which all pairs are compared at once.
    """

    coarse: float = 0.1
    centred: float = 1e-14
    rounds: int = 6
    dent: float = 0.01
    rounded: float = 1e-8
    paired: int = 500


SETTINGS = Settings()


def points_of(shape: str, points: ArrayLike, dim: int) -> np.ndarray:
    """``points`` as an array (m, dim); raises SceneError."""
    try:
        array = arrays.floats(points)
    except (TypeError, ValueError):
        raise SceneError(f"{shape}: points are no numbers; expected (m, {dim}) of them") from None
    if array.ndim != 2 or array.shape[1] != dim or not np.isfinite(array).all():
        raise SceneError(
            f"{shape}: points have shape {array.shape}; expected (m, {dim}) finite coordinates"
        )
    return array


def is_centred(middle: np.ndarray, size: float, vertices: np.ndarray, points: np.ndarray) -> bool:
    """Whether the corners of a hull are the points given, and their centre of mass the origin."""
    return np.abs(middle).max() <= SETTINGS.centred * size and np.array_equal(vertices, points)


def warn_of_dents(points: np.ndarray, hull: ConvexHull) -> None:
    """An outline with a dent would lose it without a word. (Corners of solids are often clouds.)"""
    depth = -(points @ hull.equations[:, :2].T + hull.equations[:, 2]).max(axis=1)
    size = np.ptp(points, axis=0).max()
    inside = np.flatnonzero(depth > SETTINGS.dent * size)
    if len(inside):
        warn(
            f"polygon: {len(inside)} of {counted(len(points), 'point')}, first {inside[0]} at "
            f"{points[inside[0]].tolist()}, lie inside the convex hull of all, which is the shape "
            "taken; expected the corners of a convex outline; cut others into convex parts "
            "(rigidlimit.Compound)",
            SceneWarning,
        )


NO_HULL = {
    2: "polygon: {}, on a line or too few; expected at least three points that enclose an area",
    3: "polyhedron: {}, flat or too few to enclose a volume; expected at least four points that do "
    "not lie in one plane",
}
"""What is wrong with points that have no hull, by their dimension."""


def around(points: np.ndarray) -> ConvexHull:
    """Qhull's hull of points (n, d); SceneError where there is none."""
    try:
        return ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise SceneError(NO_HULL[points.shape[1]].format(counted(len(points), "point"))) from error


def hull_of(
    points: np.ndarray, margin: float | None = None
) -> tuple[ConvexHull, np.ndarray, np.ndarray]:
    """(hull of qhull's, corners, outward triangles) of a convex hull."""
    hull = around(points)
    flat = points if margin == 0 else flattened(points, hull, margin)
    if flat is not points:  # points just below the faces would now lie above
        points = flat[hull.vertices]
        hull = around(points)
    corner = -np.ones(len(points), int)
    corner[hull.vertices] = np.arange(len(hull.vertices))
    vertices = points[hull.vertices]
    triangles = corner[hull.simplices]
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)
    outward = np.einsum("ij,ij->i", area, hull.equations[:, :3])[:, None] > 0
    return hull, vertices, np.where(outward, triangles, triangles[:, ::-1])


def faces_of(
    hull: ConvexHull, vertices: np.ndarray, triangles: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Flat faces (corner loops) and their normals of ``hull_of``."""
    # Triangles with one plane form one flat face; its corners are ordered by angle. The first
    # triangle's normal is rounding over its width: that of the whole area is taken, if flatter.
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)
    size = np.ptp(vertices, axis=0).max()
    faces, normals, begin = [], [], []
    left = np.ones(len(triangles), bool)
    alone = _alone(hull.equations)
    loops, flattest = _triangular_faces(vertices, triangles, area, hull.equations[:, :3], alone)
    for t in np.argsort(-np.linalg.norm(area, axis=1), kind="stable"):  # slivers know no plane
        if not left[t]:
            continue
        if alone[t]:
            faces.append(loops[t])
            normals.append(flattest[t])
            begin.append(t)
            continue
        normal, offset = hull.equations[t, :3], hull.equations[t, 3]
        same = left & (hull.equations[:, :3] @ normal > 1 - 1e-10)
        # by its corners: planes a little askew have one height over a point between them
        off = np.abs(vertices[triangles[same]] @ normal + offset).max(axis=1)
        same[same] = off < 1e-9 * size
        left &= ~same
        loop = np.unique(triangles[same])
        whole = area[same].sum(axis=0)
        whole /= max(np.linalg.norm(whole), TINY)
        uneven = np.ptp(vertices[loop] @ np.column_stack([whole, normal]), axis=0)
        if np.abs(whole - normal).max() < SETTINGS.rounded and uneven[0] < uneven[1]:
            normal = whole
        arm = vertices[loop] - vertices[loop].mean(axis=0)
        across = np.cross(normal, arm[0])
        faces.append(loop[np.argsort(np.arctan2(arm @ across, arm @ arm[0]))])
        normals.append(normal)
        begin.append(np.flatnonzero(same)[0])
    order = np.argsort(begin)
    return tuple(faces[f] for f in order), np.array(normals)[order]


def _alone(equations: np.ndarray) -> np.ndarray:
    """Triangles of a hull that surely share their plane with no other, (t,) bool; none of large
    hulls."""
    if len(equations) > SETTINGS.paired:
        return np.zeros(len(equations), bool)
    return (equations[:, :3] @ equations[:, :3].T > 1 - 1e-10).sum(axis=1) == 1


def _triangular_faces(vertices, triangles, area, normals, alone):
    """(corner loops (t, 3), normals (t, 3)) of faces that are one triangle each, ``alone`` (t,);
    other rows mean nothing. As for all faces, for a stone's all at once: a call of NumPy each took
    ten times as long."""
    loops, normals = np.sort(triangles, axis=1), normals.copy()
    corners = vertices[loops]
    whole = area / np.maximum(np.sqrt((area[:, None] @ area[:, :, None])[:, 0]), TINY)
    uneven = np.ptp(corners @ np.stack([whole, normals], axis=2), axis=1)
    flatter = np.abs(whole - normals).max(axis=1) < SETTINGS.rounded
    flatter &= alone & (uneven[:, 0] < uneven[:, 1])
    normals[flatter] = whole[flatter]
    arm = corners - corners.mean(axis=1, keepdims=True)
    across = np.cross(normals, arm[:, 0])
    angle = np.arctan2(
        np.einsum("tik,tk->ti", arm, across), np.einsum("tik,tk->ti", arm, arm[:, 0])
    )
    return np.take_along_axis(loops, np.argsort(angle, axis=1), axis=1), normals


def solid_moments(
    vertices: np.ndarray, triangles: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centre of mass and inertia per mass of the solid inside outward triangles."""
    origin = vertices.mean(axis=0)
    a, b, c = (vertices[triangles[:, i]] - origin for i in range(3))
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = six_volumes.sum() / 6
    centre = ((a + b + c) * six_volumes[:, None]).sum(axis=0) / (24 * volume)
    total = a + b + c
    second = sum(np.einsum("t,ti,tj->ij", six_volumes, p, p) for p in (a, b, c, total)) / 120
    second = second / volume - np.outer(centre, centre)
    return float(volume), origin + centre, np.trace(second) * np.eye(3) - second
