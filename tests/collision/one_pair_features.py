"""Reference twin: the face, straight line or point of a convex body that looks along a direction.

Used to spread a contact of flat or straight surfaces over a patch. Directions and results are in
the body's own frame.
"""

from dataclasses import dataclass

import numpy as np

from rigidlimit.bodies import Box, Capsule, ConvexPolyhedron, Cylinder, Ellipsoid, Sphere
from rigidlimit.collision.planes import RIM_POINTS, ellipsoid_curvature
from rigidlimit.collision.tolerances import TOLERANCES


@dataclass(frozen=True)
class Feature:
    """corners (k, 3): k >= 3 a face, counter-clockwise about ``normal``; 2 a straight line.

    numbers (k,): names of the corners, stable from step to step. normal (3,) of a face, or None.
    """

    corners: np.ndarray
    numbers: np.ndarray
    normal: np.ndarray | None


def facing(shape, direction: np.ndarray, start=((1, 0, 0), (0, 1, 0))) -> Feature | None:
    """The face or line of ``shape`` that looks along ``direction`` (unit), None for a point.

    The points of a round end begin in the direction of the first row of ``start``, or the second.
    """
    if isinstance(shape, Box):
        shape = shape.polytope
    if isinstance(shape, ConvexPolyhedron):
        face = int(np.argmax(shape.normals @ direction))
        loop = shape.faces[face]
        return Feature(shape.vertices[loop], loop, shape.normals[face])
    if isinstance(shape, Capsule) and abs(direction[2]) < TOLERANCES.parallel:
        return _side(shape, direction)
    if isinstance(shape, Cylinder):
        if abs(direction[2]) < TOLERANCES.parallel:
            return _side(shape, direction)
        if abs(direction[2]) > np.cos(TOLERANCES.parallel):
            up = np.sign(direction[2])
            first = np.array(start[0 if np.hypot(*start[0][:2]) > 0.5 else 1])
            angles = up * 2 * np.pi / RIM_POINTS * np.arange(RIM_POINTS)
            angles += np.arctan2(first[1], first[0])
            corners = np.column_stack(
                [
                    shape.radius * np.cos(angles),
                    shape.radius * np.sin(angles),
                    np.full(RIM_POINTS, up * shape.length / 2),
                ]
            )
            return Feature(corners, np.arange(RIM_POINTS), np.array([0, 0, up]))
    return None


def _side(shape, direction):
    """The line of a capsule's or cylinder's side that looks along ``direction``."""
    across = np.array([direction[0], direction[1], 0.0])
    offset = shape.radius * across / np.linalg.norm(across)
    ends = np.array([[0, 0, -0.5], [0, 0, 0.5]]) * shape.length + offset
    return Feature(ends, np.arange(2), None)


def support_height(shape, directions: np.ndarray) -> np.ndarray:
    """Largest extent of ``shape`` along unit directions (k, 3) of its frame, (k,) [m]."""
    if isinstance(shape, Box):
        return np.abs(directions) @ (0.5 * np.array(shape.size))
    if isinstance(shape, ConvexPolyhedron):
        return (directions @ shape.vertices.T).max(axis=1)
    if isinstance(shape, Sphere):
        return np.full(len(directions), shape.radius)
    if isinstance(shape, Ellipsoid):
        return np.linalg.norm(directions * shape.semi_axes, axis=1)
    along = 0.5 * shape.length * np.abs(directions[:, 2])
    if isinstance(shape, Capsule):
        return along + shape.radius
    return along + shape.radius * np.linalg.norm(directions[:, :2], axis=1)


def best_face(shape, other, turn, turn_other, arm):
    """(separation, outward normal) of the face of ``shape`` that separates the bodies most.

    arm (3,): from the centre of ``shape`` to that of ``other``; normal in the world frame. Bodies
    without flat faces give (-inf, None).
    """
    if isinstance(shape, Box):
        shape = shape.polytope
    if not isinstance(shape, ConvexPolyhedron):
        return -np.inf, None
    normals = shape.normals @ turn.T
    heights = np.einsum("ij,ij->i", shape.normals, shape.vertices[[f[0] for f in shape.faces]])
    separation = normals @ arm - heights - support_height(other, -normals @ turn_other)
    face = int(np.argmax(separation))
    return separation[face], normals[face]


def curvature_at(shape, point: np.ndarray) -> float:
    """Mean curvature [1/m] of the surface near ``point`` (body frame); 0 on faces and edges."""
    if isinstance(shape, Sphere):
        return 1 / shape.radius
    if isinstance(shape, Ellipsoid):
        return float(ellipsoid_curvature(np.array(shape.semi_axes), point))
    if isinstance(shape, Capsule):
        return (0.5 if abs(point[2]) < shape.length / 2 else 1.0) / shape.radius
    if isinstance(shape, Cylinder):
        return 0.5 / shape.radius if np.hypot(point[0], point[1]) > 0.999 * shape.radius else 0.0
    return 0.0
