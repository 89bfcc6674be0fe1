"""Who takes part: shapes, materials, mass, pose and velocity of rigid bodies."""

from .bodies import Bodies, State
from .cell import Cell
from .compound import Compound
from .materials import Material
from .shapes import (
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
    rectangle,
)

__all__ = [
    "Bodies",
    "Box",
    "Capsule",
    "Cell",
    "Compound",
    "ConvexPolyhedron",
    "Cylinder",
    "Disk",
    "Ellipsoid",
    "HalfSpace",
    "Material",
    "Polygon",
    "Shape",
    "Sphere",
    "State",
    "rectangle",
]
