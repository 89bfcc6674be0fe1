"""What the page of a run draws of its bodies: surfaces, half-spaces, and the box around them.

Bodies are triangles ready to be drawn: a ``Facets`` holds the corners of t triangles one after the
other. normal: of the facet, or smooth where neighbouring facets meet at less than SMOOTH. edge:
in-plane distance of the corner from up to four edges of the face the triangle is part of, those
next to it; its interpolant is the distance of a pixel from an edge, also from one that borders only
the neighbouring triangle.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..bodies import Disk, HalfSpace, Shape, Sphere
from ..bodies.cell import CellFrame
from ..bodies.rotations import matrix
from .hdf5 import Run
from .limits import LIMITS
from .surfaces import surface
from .view_cells import edges, within

SMOOTH = np.cos(np.radians(35.0))
"""Facets that meet at a smaller angle are one smooth surface: rounds of SEGMENTS = 24 meet at 15
degrees."""

EDGES = 4


@dataclass(frozen=True)
class Facets:
    """corner (3 t, 3) [m], normal (3 t, 3), edge (3 t, EDGES) [m], inf where there are fewer."""

    corner: np.ndarray
    normal: np.ndarray
    edge: np.ndarray

    def __len__(self):
        return len(self.corner)


def facets(shape: Shape) -> Facets:
    """Triangles of a shape in its own frame; it has a surface, so no half-space."""
    points, triangles = surface(shape)
    corner = points[triangles]
    flat = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-300)
    return Facets(
        corner.reshape(-1, 3),
        _smooth(points, triangles, flat).reshape(-1, 3),
        _edges(points, triangles, flat).reshape(-1, EDGES),
    )


def _smooth(points, triangles, flat):
    """Normals at the corners, (t, 3, 3): mean over the facets there that are nearly parallel."""
    size = np.linalg.norm(
        np.cross(
            points[triangles[:, 1]] - points[triangles[:, 0]],
            points[triangles[:, 2]] - points[triangles[:, 0]],
        ),
        axis=1,
    )
    around: dict[int, list[int]] = {}
    for facet, corners in enumerate(triangles):
        for point in corners:
            around.setdefault(int(point), []).append(facet)
    out = np.empty((len(triangles), 3, 3))
    for facet, corners in enumerate(triangles):
        for k, point in enumerate(corners):
            near = np.array(around[int(point)])
            near = near[flat[near] @ flat[facet] > SMOOTH]
            total = size[near] @ flat[near]
            length = np.linalg.norm(total)
            out[facet, k] = total / length if length > 0 else flat[facet]
    return out


def _edges(points, triangles, flat):
    """Distances of the corners from the edges of their face, (t, 3, EDGES) [m]."""
    beside: dict[tuple[int, int], list[int]] = {}
    for facet, (a, b, c) in enumerate(triangles.tolist()):
        for side in ((b, c), (c, a), (a, b)):
            beside.setdefault((min(side), max(side)), []).append(facet)
    face = np.arange(len(triangles))  # number of the face: the least of its facets
    seen = []
    for (a, b), facets_there in beside.items():
        if len(facets_there) == 2:
            cosine = flat[facets_there[0]] @ flat[facets_there[1]]
            if cosine > 1 - 1e-9:
                one, other = sorted(face[facets_there])
                face[face == other] = one
            if cosine > SMOOTH:
                continue
        seen.append((a, b, facets_there))
    of_face: dict[int, list[tuple[int, int]]] = {}
    for a, b, facets_there in seen:
        for facet in facets_there:
            of_face.setdefault(int(face[facet]), []).append((a, b))
    out = np.full((len(triangles), 3, EDGES), np.inf)
    for facet, corners in enumerate(triangles):
        edges = np.array(of_face.get(int(face[facet]), []), int).reshape(-1, 2)
        start, direction = points[edges[:, 0]], points[edges[:, 1]] - points[edges[:, 0]]
        across = np.cross(flat[facet], direction)
        across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-300)
        # a face is convex and lies on one side of each of its edges
        distance = np.abs(np.einsum("cek,ek->ce", points[corners][:, None] - start, across))
        near = np.lexsort((distance.sum(axis=0), distance.min(axis=0)))[:EDGES]
        out[facet, :, : len(near)] = distance[:, near]
    return out


def plane_patch(
    normal: np.ndarray,
    point: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    planes: Sequence[tuple[np.ndarray, np.ndarray]] = (),
    *,
    dim: int = 3,
) -> Facets:
    """The part of a plane to draw: inside the box low..high and outside the other half-spaces.

    planes: pairs (normal, point) of other half-spaces, which hide what lies behind them. In 2D a
    strip below the line, a fiftieth of the box deep. A plane off the box is drawn beside it.
    """
    size = float(np.linalg.norm(high - low))
    centre = 0.5 * (low + high)
    foot = centre - normal * (normal @ (centre - point))
    u = np.cross(normal, np.eye(3)[2 if dim == 2 else np.argmin(np.abs(normal))])
    u /= np.linalg.norm(u)
    v = np.cross(normal, u)  # u, v, normal: right-handed
    outline = foot + 2 * size * np.array([-u - v, u - v, u + v, v - u])
    if not ((low <= foot) & (foot <= high)).all():
        low, high = np.minimum(low, foot), np.maximum(high, foot)
    axes = range(2 if dim == 2 else 3)
    cuts = [(np.eye(3)[k], low) for k in axes] + [(-np.eye(3)[k], high) for k in axes]
    # the parallel ones hide nothing
    cuts += [(n, p) for n, p in planes if abs(n @ normal) < 0.999]
    for n, p in cuts:
        kept = _clip(outline, n, p)
        if len(kept) >= 3:
            outline = kept
    if dim == 2:
        along = (outline - foot) @ u
        ends = foot + np.array([along.max(), along.min()])[:, None] * u
        outline = np.concatenate([ends, ends[::-1] - normal * size / 50])
        seen = np.cross(outline[1] - outline[0], outline[2] - outline[0])
        outline = outline if seen[2] > 0 else outline[::-1]
    k = len(outline)
    fan = np.column_stack([np.zeros(k - 2, int), np.arange(1, k - 1), np.arange(2, k)])
    flat = np.broadcast_to([0.0, 0.0, 1.0] if dim == 2 else normal, (k - 2, 3))
    edge = _edges(outline, fan, flat).reshape(-1, EDGES)
    return Facets(outline[fan].reshape(-1, 3), np.repeat(flat, 3, axis=0), edge)


def _clip(outline, normal, point):
    """The part of a convex polygon on the side n . (x - p) >= 0."""
    height = (outline - point) @ normal
    out = []
    for k in range(len(outline)):
        a, b = height[k - 1], height[k]
        if (a < 0) != (b < 0):
            out.append(outline[k - 1] + a / (a - b) * (outline[k] - outline[k - 1]))
        if b >= 0:
            out.append(outline[k])
    return np.array(out)


def box(run: Run, chosen: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the box around the finite bodies in all steps shown."""
    bodies = run.bodies
    radius = bodies.bounding_radius
    finite = np.flatnonzero(np.isfinite(radius))
    if not len(finite):
        return np.full(3, -1.0), np.full(3, 1.0)
    long = [b for b in finite if not isinstance(bodies.shape(b), Sphere | Disk)]
    if len(long) * len(chosen) > LIMITS.exact:
        long = []  # the balls that hold them will do
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for k in chosen:
        step = within(run[k], bodies)
        reach = np.repeat(radius[:, None], 3, axis=1)
        for b in long:
            points = surface(bodies.shape(b))[0]
            reach[b] = np.abs(points @ matrix(step.quaternion[b : b + 1])[0].T).max(axis=0)
        low = np.minimum(low, (step.position - reach)[finite].min(axis=0))
        high = np.maximum(high, (step.position + reach)[finite].max(axis=0))
        corners = edges(step, run.scene.dim).reshape(-1, 3)
        low = np.minimum(low, corners.min(axis=0, initial=np.inf))
        high = np.maximum(high, corners.max(axis=0, initial=-np.inf))
    if run.scene.dim == 2:
        low[2] = high[2] = 0.0
    return low, high


def arrays_of_bodies(
    run: Run, origin: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[dict, np.ndarray]:
    """Arrays of what does not change with time, and the indices of the bodies with a turn."""
    bodies, first = run.bodies, run[0]
    stands = (run[-1].position == first.position).all(axis=1)
    kinds = [bodies.shape(b) for b in range(len(bodies))]
    ball = np.array([b for b, s in enumerate(kinds) if isinstance(s, Sphere | Disk)], int)
    # a patch has one place: half-spaces that move are left out
    plane = [b for b, s in enumerate(kinds) if isinstance(s, HalfSpace) and stands[b]]
    solid = np.setdiff1d(np.flatnonzero(~bodies.are(HalfSpace, CellFrame)), ball)
    used, shape = np.unique(bodies.shape_of[solid], return_inverse=True)
    shapes = [facets(bodies.shapes[k]) for k in used]
    turn = matrix(first.quaternion)
    planes = [(turn[b] @ kinds[b].local_normal, first.position[b] - origin) for b in plane]
    margin = 0.04 * np.linalg.norm(high - low)
    patches = [
        plane_patch(
            *planes[k], low - margin, high + margin, planes[:k] + planes[k + 1 :], dim=run.scene.dim
        )
        for k in range(len(planes))
    ]
    arrays = {
        "ball": ball.astype(np.int32),
        "radius": np.array([kinds[b].radius for b in ball], np.float32),
        "solid": solid.astype(np.int32),
        "shape": shape.astype(np.int32),
        "fixed": (~bodies.free.any(axis=1)).astype(np.uint8),
        **_corners(shapes, ""),
        **_corners(patches, "patch_"),
        "solids": [len(f) for f in shapes],
        "patches": [len(f) for f in patches],
    }
    return arrays, solid


def _corners(parts: list[Facets], prefix: str) -> dict:
    def joined(name: str, width: int) -> np.ndarray:
        return np.concatenate([np.zeros((0, width)), *(getattr(part, name) for part in parts)])

    return {
        f"{prefix}corner": joined("corner", 3).astype(np.float32),
        f"{prefix}normal": (127 * joined("normal", 3)).round().astype(np.int8),
        f"{prefix}edge": np.minimum(joined("edge", EDGES), 1e30).astype(np.float32),
    }
