"""Shapes that are convex hulls of points: boxes, polyhedra, and polygons in the plane."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._support.arrays import number
from .._support.words import counted
from ..errors import SceneError
from .flat import flattened, pieces_of_faces, straightened
from .hulls import (
    SETTINGS,
    around,
    faces_of,
    hull_of,
    is_centred,
    points_of,
    solid_moments,
    warn_of_dents,
)
from .shapes import Shape, check_positive, three_lengths


@dataclass(frozen=True)
class Box(Shape):
    """Box.

    Parameters
    ----------
    size : (3,) [m]
        Full side lengths along x, y and z.

    Raises
    ------
    SceneError
        Unless there are three, positive and finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Box((1.0, 2.0, 3.0)).measure  # m^3
    6.0
    """

    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", three_lengths("box", "size", self.size))

    @property
    def measure(self) -> float:
        return float(np.prod(self.size))

    @property
    def inertia_per_mass(self) -> np.ndarray:
        s = np.square(self.size)
        return np.diag(s.sum() - s) / 12

    @property
    def bounding_radius(self) -> float:
        return 0.5 * float(np.linalg.norm(self.size))

    @cached_property
    def polytope(self) -> "ConvexPolyhedron":
        corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5], indexing="ij"))
        return ConvexPolyhedron(corners.reshape(3, 8).T * self.size)


@dataclass(frozen=True, eq=False)
class ConvexPolyhedron(Shape):
    """Convex hull of points, moved so that its centre of mass is the origin.

    Parameters
    ----------
    points : (m, 3) [m]
        Four or more, not in one plane.
    flat : float [m], optional
        Corners closer than this to a plane are moved into it and form one face, for coordinates of
        few digits; 0: none are moved; by default those within 1e-6 of the body's size.

    Attributes
    ----------
    centre : (3,) ndarray [m]
        Where the centre of mass was in the given frame.
    vertices : (k, 3) ndarray [m]
        The hull's corners.
    faces : tuple of int arrays
        Each flat face's corner indices, counter-clockwise from outside.
    normals : (f, 3) ndarray
        Outward unit normals of the faces.
    measure : float [m^3]
        The volume.
    inertia_per_mass : (3, 3) ndarray [m^2]
        About the centre of mass.
    stays : bool
        Whether the default of ``flat`` does not move ``vertices``, so that they make the same body
        again.

    Raises
    ------
    SceneError
        For points that are no array (m, 3) of finite numbers or have no volume; for a ``flat``
        below 0, or as large as faces are.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> wedge = rl.ConvexPolyhedron([(0, 0, 0), (3, 0, 0), (0, 3, 0), (0, 0, 3)])
    >>> wedge.centre, len(wedge.faces)
    (array([0.75, 0.75, 0.75]), 4)
    """

    points: np.ndarray
    flat: float | None = None
    centre: np.ndarray = field(init=False)
    vertices: np.ndarray = field(init=False)
    faces: tuple[np.ndarray, ...] = field(init=False)
    normals: np.ndarray = field(init=False)
    measure: float = field(init=False)
    inertia_per_mass: np.ndarray = field(init=False)
    stays: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.flat is not None and not 0 <= number(self.flat) < np.inf:
            raise SceneError(f"polyhedron: flat is {self.flat!r}; expected a distance [m], or 0")
        points = points_of("polyhedron", self.points, 3)
        size = float(np.ptp(points, axis=0).max(initial=0.0))
        if self.flat is not None and self.flat > SETTINGS.coarse * size > 0.0:
            raise SceneError(
                f"polyhedron: flat is {self.flat:g} m of a body of {size:.3g} m; expected how far "
                "corners are off their faces, as by rounding: is it in metres?"
            )
        centre = np.zeros(3)
        for turn in range(SETTINGS.rounds):
            hull, vertices, triangles = hull_of(points, 0 if turn else self.flat)
            volume, middle, inertia = solid_moments(vertices, triangles)
            if turn == SETTINGS.rounds - 1 or is_centred(middle, size, vertices, points):
                break
            points, centre = vertices - middle, centre + middle
        faces, normals = faces_of(hull, vertices, triangles)
        stays = flattened(vertices, hull) is vertices
        for name, value in dict(
            vertices=vertices,
            centre=centre,
            faces=faces,
            normals=normals,
            measure=volume,
            inertia_per_mass=inertia,
            stays=stays,
        ).items():
            object.__setattr__(self, name, value)

    @property
    def bounding_radius(self) -> float:
        return float(np.linalg.norm(self.vertices, axis=1).max())

    @property
    def doubt(self) -> str:
        """What looks like flat faces in pieces, and what to try; or ""."""
        found = None if self.flat == 0 else pieces_of_faces(self.vertices, self.faces, self.normals)
        if found is None:
            return ""
        pieces, whole, off = found
        return (
            f"{pieces} of {len(self.faces)} faces lie within {off:.1g} m of "
            f"{counted(whole, 'plane')}, as of coordinates with few digits: other bodies rest on "
            "one piece of such a face only, and may tip; give more digits, or "
            f"ConvexPolyhedron(points, flat={2 * off:.1g}) to have them flat (flat=0: they are "
            "meant as they are)"
        )


@dataclass(frozen=True, eq=False)
class Polygon(Shape):
    """Convex hull of points in the plane, moved so that its centre of mass is the origin.

    Parameters
    ----------
    points : (m, 2) [m]
        Three or more, not on one line.

    Attributes
    ----------
    centre : (2,) ndarray [m]
        Where the centre of mass was in the given frame.
    vertices : (k, 2) ndarray [m]
        The hull's corners, counter-clockwise.
    normals : (k, 2) ndarray
        Outward unit normals of the edges; edge i goes from vertex i to i + 1.
    measure : float [m^2]
        The area.
    inertia_per_mass : (3, 3) ndarray [m^2]
        About the centre of mass.

    Raises
    ------
    SceneError
        For points that are no array (m, 2) of finite numbers, or have no area.

    Warns
    -----
    SceneWarning
        Where points lie inside the hull, as of a shape that is not convex.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Polygon([(0, 0), (3, 0), (0, 3)]).centre
    array([1., 1.])
    """

    points: np.ndarray
    dim = 2
    centre: np.ndarray = field(init=False)
    vertices: np.ndarray = field(init=False)
    normals: np.ndarray = field(init=False)
    measure: float = field(init=False)
    inertia_per_mass: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        points = points_of("polygon", self.points, 2)
        middle, size = np.zeros(2), np.ptp(points, axis=0).max() if len(points) else 0.0
        for turn in range(SETTINGS.rounds):
            hull = around(points)
            if turn == 0:
                warn_of_dents(points, hull)
            start = int(np.argmin(hull.vertices))  # the first point given comes first
            vertices = straightened(points[np.roll(hull.vertices, -start)])
            origin = vertices.mean(axis=0)
            a = vertices - origin
            b = np.roll(a, -1, axis=0)
            twice = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
            area = twice.sum() / 2
            centre = ((a + b) * twice[:, None]).sum(axis=0) / (6 * area)
            away = origin + centre
            if turn == SETTINGS.rounds - 1 or is_centred(away, size, vertices, points):
                break
            points, middle = vertices - away, middle + away
        xx, yy = ((a * a + a * b + b * b) * twice[:, None]).sum(axis=0) / (12 * area) - centre**2
        edge = b - a
        normals = np.column_stack([edge[:, 1], -edge[:, 0]])
        for name, value in dict(
            centre=middle,
            vertices=vertices,
            normals=normals / np.linalg.norm(normals, axis=1, keepdims=True),
            measure=float(area),
            inertia_per_mass=np.diag([yy, xx, xx + yy]),
        ).items():
            object.__setattr__(self, name, value)

    @property
    def bounding_radius(self) -> float:
        return float(np.linalg.norm(self.vertices, axis=1).max())


def rectangle(width: float, height: float) -> Polygon:
    """The two-dimensional box.

    Parameters
    ----------
    width, height : float [m]
        Along x and y.

    Raises
    ------
    SceneError
        Unless both are positive and finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.rectangle(2.0, 1.0).measure  # m^2
    2.0
    """
    check_positive("rectangle", width=width, height=height)
    x, y = width / 2, height / 2
    return Polygon(np.array([[-x, -y], [x, -y], [x, y], [-x, y]]))
