"""What a shape is to the contact search, whatever it is called: its kind, and the lengths that say
how large it is. Kernels take both as arrays, a row for each shape of the scene."""

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
    Shape,
    Sphere,
)
from ..bodies.cell import CellFrame

KINDS = 7
BALL, POLYGON, POLYTOPE, CAPSULE, CYLINDER, ELLIPSOID, PLANE = range(KINDS)
NOTHING = KINDS

_OF_TYPE = {
    Sphere: BALL,
    Disk: BALL,
    Polygon: POLYGON,
    Box: POLYTOPE,
    ConvexPolyhedron: POLYTOPE,
    Capsule: CAPSULE,
    Cylinder: CYLINDER,
    Ellipsoid: ELLIPSOID,
    HalfSpace: PLANE,
    CellFrame: NOTHING,
}


def kind_of(shape: Shape) -> int:
    """An ellipsoid of three equal axes is a ball, and a disk is one in the plane."""
    kind = next((kind for made, kind in _OF_TYPE.items() if isinstance(shape, made)), None)
    if kind is None:
        raise TypeError(f"no contacts for {type(shape).__name__}")
    if kind == ELLIPSOID and min(shape.semi_axes) == max(shape.semi_axes):
        return BALL
    return kind


def shape_kinds(bodies: Bodies) -> np.ndarray:
    """The kind of each shape, (shapes,). Use ``bodies.of_shapes``."""
    return np.array([kind_of(shape) for shape in bodies.shapes], int)


def shape_sizes(bodies: Bodies) -> np.ndarray:
    """Semi-axes of balls and ellipsoids; half sides of boxes; radius, 0, half length of capsules
    and cylinders; 0 of the others, (shapes, 3) [m]. Use ``bodies.of_shapes``."""
    out = np.zeros((len(bodies.shapes), 3))
    for row, shape in enumerate(bodies.shapes):
        kind = kind_of(shape)
        if kind == BALL:
            out[row] = shape.bounding_radius
        elif kind == ELLIPSOID:
            out[row] = shape.semi_axes
        elif kind in (CAPSULE, CYLINDER):
            out[row] = shape.radius, 0.0, 0.5 * shape.length
        elif isinstance(shape, Box):
            out[row] = 0.5 * np.array(shape.size)
    return out
