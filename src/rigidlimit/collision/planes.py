"""Exact contacts of a half-space with every shape, by the shape's support features.

A vertex, an end ball or a rim point of the body within reach of the plane is a contact of its own,
so that a box on a plane has four and a lying capsule two. Points lie midway between the surfaces.
"""

import numpy as np

from ..bodies import (
    Bodies,
    Box,
    Capsule,
    ConvexPolyhedron,
    Cylinder,
    Disk,
    Ellipsoid,
    HalfSpace,
    Polygon,
    Sphere,
    State,
    rotations,
)
from .pieces import Pieces

RIM_POINTS = 4
"""Contacts of a cylinder standing on a plane: rim points in the directions of its x and y axes."""

STANDING = 1e-3
"""Tilt [rad] up to which a cylinder stands on its end rather than on a point of its rim."""


def plane_normal(bodies: Bodies, state: State, plane: int) -> np.ndarray:
    """Outward unit normal of half-space ``plane`` in the world frame, (3,)."""
    local = bodies.shape(plane).local_normal
    return rotations.matrix(state.quaternion[plane]) @ local


def plane_body(bodies: Bodies, state: State, plane: int, others: np.ndarray, reach) -> Pieces:
    """Contacts of half-space ``plane`` with bodies ``others``; normals point to the bodies."""
    normal = plane_normal(bodies, state, plane)
    is_ball = bodies.are(Sphere, Disk)[others]
    pieces = [_plane_balls(bodies, state, plane, normal, others[is_ball], reach)]
    others = others[~is_ball]
    shape_of = bodies.shape_of[others]
    for row in np.unique(shape_of):
        shape = bodies.shapes[row]
        which = others[shape_of == row]
        if isinstance(shape, HalfSpace):
            continue
        turn = rotations.matrix(state.quaternion[which])
        local = np.einsum("kji,j->ki", turn, normal)  # the plane's normal in body axes
        arms, curvature = _lowest_points(shape, local)
        k, f = arms.shape[:2]
        world = np.einsum("kij,kfj->kfi", turn, arms) + state.position[which][:, None, :]
        gap = (world - state.position[plane]) @ normal
        near = gap <= reach[which][:, None] + reach[plane]  # NaN: not a contact in this pose
        body, feature = np.nonzero(near)
        gap = gap[near]
        pieces.append(
            Pieces.of(
                np.full(len(gap), plane),
                which[body],
                feature=feature,
                point=world[near] - 0.5 * gap[:, None] * normal,
                normal=normal,
                gap=gap,
                curvature=np.broadcast_to(curvature, (k, f))[near],
            )
        )
    return Pieces.joined(pieces)


def _plane_balls(bodies, state, plane, normal, balls, reach) -> Pieces:
    """Spheres or disks of any radii at once: gap = n . (x - x_plane) - R."""
    radius = bodies.bounding_radius[balls]
    gap = (state.position[balls] - state.position[plane]) @ normal - radius
    near = np.flatnonzero(gap <= reach[balls] + reach[plane])
    balls, radius, gap = balls[near], radius[near], gap[near]
    return Pieces.of(
        np.full(len(balls), plane),
        balls,
        point=state.position[balls] - (radius + 0.5 * gap)[:, None] * normal,
        normal=normal,
        gap=gap,
        curvature=1 / radius,
    )


def _lowest_points(shape, normal: np.ndarray):
    """Surface points (k, f, 3) that can be lowest along -normal, and curvature there (k, f) [1/m].

    normal (k, 3): the plane's unit normal in body axes.
    """
    k = len(normal)
    if isinstance(shape, Box):
        shape = shape.polytope
    if isinstance(shape, ConvexPolyhedron):
        return np.broadcast_to(shape.vertices, (k, *shape.vertices.shape)), 0.0
    if isinstance(shape, Polygon):
        corners = np.column_stack([shape.vertices, np.zeros(len(shape.vertices))])
        return np.broadcast_to(corners, (k, *corners.shape)), 0.0
    if isinstance(shape, Capsule):
        ends = np.array([[0, 0, -0.5], [0, 0, 0.5]]) * shape.length
        # the ends are balls; between them the side is curved one way only
        return ends[None] - shape.radius * normal[:, None, :], 1 / shape.radius
    if isinstance(shape, Ellipsoid):
        axes = np.array(shape.semi_axes)
        size = np.linalg.norm(axes * normal, axis=1, keepdims=True)
        point = -(axes**2) * normal / size
        return point[:, None, :], ellipsoid_curvature(axes, point)[:, None]
    if isinstance(shape, Cylinder):
        return _rim_points(shape, normal), 0.0
    raise TypeError(f"no plane contact for {type(shape).__name__}")


def _rim_points(shape: Cylinder, normal):
    """Lowest point of either rim (numbers 0, 1), or four fixed ones an end (2-5, 6-9), (k, 10, 3).

    A cylinder within STANDING radians of upright stands on the fixed points of its end; else it
    lies or leans on the lowest points of its rims. The other ones are NaN.
    """
    across = normal[:, :2]
    size = np.linalg.norm(across, axis=1, keepdims=True)
    standing = size[:, 0] < STANDING
    down = -across / np.where(size > 0, size, 1.0)
    angles = 0.5 * np.pi * np.arange(RIM_POINTS)
    fixed = shape.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    out = np.empty((len(normal), 2 + 2 * RIM_POINTS, 3))
    for end, z in enumerate((-0.5 * shape.length, 0.5 * shape.length)):
        rim = slice(2 + RIM_POINTS * end, 2 + RIM_POINTS * (end + 1))
        out[:, [end, *range(rim.start, rim.stop)], 2] = z
        out[:, end, :2] = shape.radius * down
        out[:, rim, :2] = fixed
    out[standing, :2] = np.nan
    out[~standing, 2:] = np.nan
    return out


def ellipsoid_curvature(axes: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Mean of the two principal curvatures [1/m] at surface points (k, 3) in body axes."""
    a2 = axes**2
    h = np.sqrt((point**2 / a2**2).sum(axis=1))
    square = (point**2).sum(axis=1)
    return (a2.sum() - square) / (2 * np.prod(a2) * h**3)
