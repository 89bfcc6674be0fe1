"""Bodies as triangles ready to be drawn: corners with normals, and which sides are edges to see.

A ``Facets`` holds the corners of t triangles one after the other. normal: of the facet, or smooth
where neighbouring facets meet at less than SMOOTH. edge[c, i]: 1 at corner i of a triangle, 0 at
the two others, so that its interpolant is the distance from the side opposite corner i; 1 at all
three where that side is no edge of the body but runs across a face or a smooth part.
"""

from dataclasses import dataclass

import numpy as np

from ..bodies import Shape
from .surfaces import surface

SMOOTH = np.cos(np.radians(35.0))
"""Facets that meet at a smaller angle are one smooth surface: rounds of SEGMENTS = 24 meet at 15
degrees."""


@dataclass(frozen=True)
class Facets:
    """corner (3 t, 3) [m], normal (3 t, 3), edge (3 t, 3) of 0 and 1."""

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
        _edges(triangles, flat).reshape(-1, 3),
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


def _edges(triangles, flat):
    sides: dict[tuple[int, int], list[int]] = {}
    for facet, (a, b, c) in enumerate(triangles.tolist()):
        for side in ((b, c), (c, a), (a, b)):
            sides.setdefault((min(side), max(side)), []).append(facet)
    out = np.broadcast_to(np.eye(3), (len(triangles), 3, 3)).copy()
    for facet, (a, b, c) in enumerate(triangles.tolist()):
        for k, side in enumerate(((b, c), (c, a), (a, b))):
            there = sides[min(side), max(side)]
            if len(there) == 2 and flat[there[0]] @ flat[there[1]] > SMOOTH:
                out[facet, :, k] = 1.0
    return out


def plane_patch(
    normal: np.ndarray, point: np.ndarray, low: np.ndarray, high: np.ndarray, planes=(), *, dim=3
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
    return Facets(
        outline[fan].reshape(-1, 3), np.repeat(flat, 3, axis=0), _edges(fan, flat).reshape(-1, 3)
    )


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
