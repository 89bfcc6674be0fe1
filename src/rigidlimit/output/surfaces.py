"""Triangulated surfaces of shapes and their areas, for pictures and ParaView."""

from functools import lru_cache

import numpy as np

from ..bodies import (
    Box,
    Capsule,
    Compound,
    ConvexPolyhedron,
    Cylinder,
    Disk,
    Ellipsoid,
    HalfSpace,
    Polygon,
    Shape,
    Sphere,
    rotations,
)
from ..bodies.cell import CellFrame
from ..errors import InputError
from ..step.force_network import ForceNetwork

SEGMENTS = 24


@lru_cache(maxsize=4096)
def surface(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Points (k, 3) [m] in the body frame and outward triangles (t, 3); of compounds, those of
    each part, also where it lies within another."""
    if isinstance(shape, Compound):
        points, triangles, start = [], [], 0
        turns = rotations.matrix(shape.quaternions)
        for part, turn, offset in zip(shape.shapes, turns, shape.offsets, strict=True):
            corners, faces = surface(part)
            points.append(corners @ turn.T + offset)
            triangles.append(faces + start)
            start += len(corners)
        return np.concatenate(points), np.concatenate(triangles)
    _check_drawn(shape)
    if shape.dim == 2:
        outline = outline_2d(shape)
        k = len(outline)
        fan = np.column_stack([np.zeros(k - 2, int), np.arange(1, k - 1), np.arange(2, k)])
        return np.column_stack([outline, np.zeros(k)]), fan
    points = _surface_points(shape)
    # those of balls are the unit ball's: packings have as many shapes as balls
    return points, _ball_triangles() if isinstance(shape, Sphere) else _outward(points)


def _outward(points):
    """Triangles of the convex hull of points, (t, 3), counter-clockwise from outside."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    triangles = hull.simplices.copy()
    a, b, c = (points[triangles[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    triangles[inward] = triangles[inward, ::-1]
    return triangles


def _check_drawn(shape: Shape) -> None:
    if isinstance(shape, CellFrame):
        raise InputError("a periodic cell has no surface; expected the shape of a body")


def outline_2d(shape: Shape) -> np.ndarray:
    """Closed outline of a two-dimensional shape, counter-clockwise, (k, 2) [m]."""
    _check_drawn(shape)
    if isinstance(shape, Disk):
        angle = 2 * np.pi * np.arange(2 * SEGMENTS) / (2 * SEGMENTS)
        return shape.radius * np.column_stack([np.cos(angle), np.sin(angle)])
    if isinstance(shape, Polygon):
        return shape.vertices
    raise TypeError(f"{type(shape).__name__} has no outline")


def _surface_points(shape):
    if isinstance(shape, Box):
        return shape.polytope.vertices
    if isinstance(shape, ConvexPolyhedron):
        return shape.vertices
    ball = _ball()
    if isinstance(shape, Sphere):
        return shape.radius * ball
    if isinstance(shape, Ellipsoid):
        return ball * np.array(shape.semi_axes)
    if isinstance(shape, Capsule):
        end = np.where(ball[:, 2:] >= 0, 0.5, -0.5) * [[0, 0, shape.length]]
        return shape.radius * ball + end
    if isinstance(shape, Cylinder):
        angle = 2 * np.pi * np.arange(SEGMENTS) / SEGMENTS
        rim = shape.radius * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
        return np.concatenate([rim + [0, 0, z] for z in (-shape.length / 2, shape.length / 2)])
    raise TypeError(f"{type(shape).__name__} has no closed surface")


@lru_cache(maxsize=1)
def _ball(count: int = 162):
    """Points spread evenly over the unit sphere (Fibonacci lattice)."""
    i = np.arange(count) + 0.5
    z = 1 - 2 * i / count
    angle = np.pi * (1 + np.sqrt(5)) * i
    ring = np.sqrt(1 - z**2)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])


@lru_cache(maxsize=1)
def _ball_triangles():
    return _outward(_ball())


def surface_area(shape: Shape) -> float:
    """Surface of a shape [m^2]; length of its outline [m] in 2D; inf for a half-space, and a cell;
    of a compound the sum over its parts, with the faces where they join."""
    if isinstance(shape, Compound):
        return sum(surface_area(part) for part in shape.shapes)
    if isinstance(shape, HalfSpace | CellFrame):
        return np.inf
    if isinstance(shape, Disk):
        return 2 * np.pi * shape.radius
    if isinstance(shape, Polygon):
        return float(
            np.linalg.norm(shape.vertices - np.roll(shape.vertices, 1, axis=0), axis=1).sum()
        )
    if isinstance(shape, Sphere):
        return 4 * np.pi * shape.radius**2
    if isinstance(shape, Capsule):
        return 2 * np.pi * shape.radius * (shape.length + 2 * shape.radius)
    if isinstance(shape, Cylinder):
        return 2 * np.pi * shape.radius * (shape.length + shape.radius)
    if isinstance(shape, Ellipsoid):
        from scipy.special import elliprg

        a = np.array(shape.semi_axes)
        return float(4 * np.pi * a.prod() * elliprg(*a**-2.0))
    from scipy.spatial import ConvexHull

    return float(ConvexHull(_surface_points(shape)).area)


def surface_pressure(shown: ForceNetwork, force: np.ndarray) -> np.ndarray:
    """Sum of the contact forces on each body over its surface, (n,) [Pa; N/m in 2D].

    nan for half-spaces.
    """
    bodies = shown.bodies
    area = np.array([surface_area(shape) for shape in bodies.shapes])[bodies.shape_of]
    total = np.zeros(len(bodies))
    np.add.at(total, shown.contacts.body, force[:, None])
    return np.where(np.isfinite(area), total / area, np.nan)
