"""Who takes part: shapes, materials, mass, pose and velocity of rigid bodies."""

from .bodies import Bodies, State
from .cell import Cell
from .compound import Compound
from .convex import Box, ConvexPolyhedron, Polygon, rectangle
from .materials import Material
from .shapes import Capsule, Cylinder, Disk, Ellipsoid, HalfSpace, Shape, Sphere

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
