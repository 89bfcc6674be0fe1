"""Shapes of rigid bodies, each in its own frame with the origin at the centre of mass.

A shape knows its measure (volume [m^3]; area [m^2] in 2D), its inertia per unit mass about the
centre of mass [m^2], and the radius of a ball about the origin that holds it [m]. Two-dimensional
shapes lie in the plane z = 0 and turn about z.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._support.arrays import is_positive, number
from .._support.warned import warn
from .._support.words import counted
from ..errors import SceneError, SceneWarning
from .flat import flattened, pieces_of_faces, straightened


def _positive(shape: str, **lengths: float) -> None:
    for name, value in lengths.items():
        if not is_positive(value):
            raise SceneError(f"{shape}: {name} is {value!r}; expected a positive length in metres")


def _three(shape: str, name: str, value) -> tuple[float, float, float]:
    """Three positive lengths [m]."""
    try:
        lengths = tuple(number(v) for v in value)
    except TypeError:
        lengths = ()
    if isinstance(value, str) or len(lengths) != 3:
        raise SceneError(f"{shape}: {name} is {value!r}; expected three lengths in metres")
    _positive(shape, **{f"{name}[{i}]": length for i, length in enumerate(lengths)})
    return lengths


def _points(shape: str, points, dim: int) -> np.ndarray:
    try:
        array = np.asarray(points, float)
    except (TypeError, ValueError):
        raise SceneError(f"{shape}: points are no numbers; expected (m, {dim}) of them") from None
    if array.ndim != 2 or array.shape[1] != dim or not np.isfinite(array).all():
        raise SceneError(
            f"{shape}: points have shape {array.shape}; expected (m, {dim}) finite coordinates"
        )
    return array


class Shape:
    """Common interface: ``dim``, ``measure``, ``inertia_per_mass`` (3, 3), ``bounding_radius``."""

    dim = 3
    measure: float
    inertia_per_mass: np.ndarray
    bounding_radius: float


@dataclass(frozen=True)
class Sphere(Shape):
    """Ball of ``radius`` [m]."""

    radius: float

    def __post_init__(self):
        _positive("sphere", radius=self.radius)

    @property
    def measure(self):
        return 4 / 3 * np.pi * self.radius**3

    @property
    def inertia_per_mass(self):
        return 0.4 * self.radius**2 * np.eye(3)

    @property
    def bounding_radius(self):
        return self.radius


@dataclass(frozen=True)
class HalfSpace(Shape):
    """Everything on the inner side of a plane through the body's position.

    The outward normal is the body's z axis in 3D and its y axis in 2D. Always fixed.
    """

    dim: int = 3
    measure = 0.0
    bounding_radius = np.inf

    def __post_init__(self):
        if self.dim not in (2, 3):
            raise SceneError(
                f"half-space: dim is {self.dim!r}; expected 2 or 3 (its normal is for the scene: "
                "scene.add(HalfSpace(), position=..., normal=...))"
            )

    @property
    def inertia_per_mass(self):
        return np.zeros((3, 3))

    @property
    def local_normal(self):
        return np.array([0.0, 1.0, 0.0] if self.dim == 2 else [0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Box(Shape):
    """Box with full side lengths ``size`` = (x, y, z) [m]."""

    size: tuple[float, float, float]

    def __post_init__(self):
        object.__setattr__(self, "size", _three("box", "size", self.size))

    @property
    def measure(self):
        return float(np.prod(self.size))

    @property
    def inertia_per_mass(self):
        s = np.square(self.size)
        return np.diag(s.sum() - s) / 12

    @property
    def bounding_radius(self):
        return 0.5 * float(np.linalg.norm(self.size))

    @cached_property
    def polytope(self) -> "ConvexPolyhedron":
        corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5], indexing="ij"))
        return ConvexPolyhedron(corners.reshape(3, 8).T * self.size)


@dataclass(frozen=True)
class Capsule(Shape):
    """Cylinder of ``radius`` and ``length`` [m] along z between two half balls."""

    radius: float
    length: float

    def __post_init__(self):
        _positive("capsule", radius=self.radius, length=self.length)

    @property
    def measure(self):
        return np.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    @property
    def inertia_per_mass(self):
        r, h = self.radius, self.length
        cylinder = np.pi * r**2 * h / self.measure
        balls = 1 - cylinder
        axial = cylinder * r**2 / 2 + balls * 0.4 * r**2
        across = cylinder * (r**2 / 4 + h**2 / 12) + balls * (0.4 * r**2 + h**2 / 4 + 0.375 * r * h)
        return np.diag([across, across, axial])

    @property
    def bounding_radius(self):
        return 0.5 * self.length + self.radius


@dataclass(frozen=True)
class Cylinder(Shape):
    """Cylinder of ``radius`` and full ``length`` [m] along z."""

    radius: float
    length: float

    def __post_init__(self):
        _positive("cylinder", radius=self.radius, length=self.length)

    @property
    def measure(self):
        return np.pi * self.radius**2 * self.length

    @property
    def inertia_per_mass(self):
        r, h = self.radius, self.length
        across = r**2 / 4 + h**2 / 12
        return np.diag([across, across, r**2 / 2])

    @property
    def bounding_radius(self):
        return float(np.hypot(self.radius, 0.5 * self.length))


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """Ellipsoid with ``semi_axes`` = (a, b, c) [m] along x, y, z."""

    semi_axes: tuple[float, float, float]

    def __post_init__(self):
        object.__setattr__(self, "semi_axes", _three("ellipsoid", "semi_axes", self.semi_axes))

    @property
    def measure(self):
        return 4 / 3 * np.pi * float(np.prod(self.semi_axes))

    @property
    def inertia_per_mass(self):
        s = np.square(self.semi_axes)
        return np.diag(s.sum() - s) / 5

    @property
    def bounding_radius(self):
        return max(self.semi_axes)


@dataclass(frozen=True, eq=False)
class ConvexPolyhedron(Shape):
    """Convex hull of ``points`` (m, 3) [m], moved so that its centre of mass is the origin.

    ``centre`` is where the centre of mass was in the given frame; ``vertices`` are the hull's
    corners; ``faces`` lists each flat face's corner indices, counter-clockwise from outside;
    ``normals`` (f, 3) are the outward unit normals of the faces. ``flat`` [m]: distance of corners
    from a plane up to which they are put into it, as one face's, for coordinates of few digits; 0:
    no corner is; by default those within 1e-6 of the body's size. ``stays``: whether the default
    leaves ``vertices`` where they are, so that they make the same body again.
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

    def __post_init__(self):
        if self.flat is not None and not 0 <= number(self.flat) < np.inf:
            raise SceneError(f"polyhedron: flat is {self.flat!r}; expected a distance [m], or 0")
        points = _points("polyhedron", self.points, 3)
        size = float(np.ptp(points, axis=0).max(initial=0.0))
        if self.flat is not None and self.flat > SETTINGS.coarse * size > 0.0:
            raise SceneError(
                f"polyhedron: flat is {self.flat:g} m of a body of {size:.3g} m; expected how far "
                "corners are off their faces, as by rounding: is it in metres?"
            )
        centre = np.zeros(3)
        for turn in range(SETTINGS.rounds):
            hull, vertices, triangles = _hull(points, 0 if turn else self.flat)
            volume, middle, inertia = _solid_moments(vertices, triangles)
            if turn == SETTINGS.rounds - 1 or _centred(middle, size, vertices, points):
                break
            points, centre = vertices - middle, centre + middle
        faces, normals = _faces(hull, vertices, triangles)
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
    def bounding_radius(self):
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
            f"{counted(whole, 'plane')}, as of coordinates with few digits: other bodies bear on "
            "one piece of such a face only, and may tip; give more digits, or "
            f"ConvexPolyhedron(points, flat={2 * off:.1g}) to have them flat (flat=0: they are "
            "meant as they are)"
        )


@dataclass(frozen=True)
class Settings:
    """Of polyhedra as they are given.

    coarse: part of a polyhedron's size above which its ``flat`` is a mistake.
    centred: distance of the centre of mass from the origin, over the body's size, up to which
        corners stay where they are.
    rounds: times that they are moved.
    dent: depth of a point inside the hull, over the hull's size, that is taken for a dent.
    rounded: difference of a face's normals, of its first triangle and of its area, that is
        rounding's.
    paired: triangles of a hull up to which each is compared with each at once.
    """

    coarse: float = 0.1
    centred: float = 1e-14
    rounds: int = 6
    dent: float = 0.01
    rounded: float = 1e-8
    paired: int = 500


SETTINGS = Settings()


def _centred(middle, size, vertices, points) -> bool:
    """Whether the corners of a hull are the points given, and their centre of mass the origin."""
    return np.abs(middle).max() <= SETTINGS.centred * size and np.array_equal(vertices, points)


def _warn_of_dents(points: np.ndarray, hull) -> None:
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


TINY = float(np.finfo(float).tiny)


def _hull(points: np.ndarray, margin: float | None = None):
    """(hull of qhull's, corners, outward triangles) of a convex hull."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
        flat = points if margin == 0 else flattened(points, hull, margin)
        if flat is not points:  # points just below the faces would now lie above
            points = flat[hull.vertices]
            hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise SceneError(
            f"polyhedron: {counted(len(points), 'point')}, flat or too few to enclose a volume; "
            "expected at least four points that do not lie in one plane"
        ) from error
    corner = -np.ones(len(points), int)
    corner[hull.vertices] = np.arange(len(hull.vertices))
    vertices = points[hull.vertices]
    triangles = corner[hull.simplices]
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)
    outward = np.einsum("ij,ij->i", area, hull.equations[:, :3])[:, None] > 0
    return hull, vertices, np.where(outward, triangles, triangles[:, ::-1])


def _faces(hull, vertices: np.ndarray, triangles: np.ndarray):
    """Flat faces (corner loops) and their normals of ``_hull``."""
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


def _solid_moments(vertices: np.ndarray, triangles: np.ndarray):
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


@dataclass(frozen=True)
class Disk(Shape):
    """Disk of ``radius`` [m] in the plane."""

    radius: float
    dim = 2

    def __post_init__(self):
        _positive("disk", radius=self.radius)

    @property
    def measure(self):
        return np.pi * self.radius**2

    @property
    def inertia_per_mass(self):
        return np.diag([0.25, 0.25, 0.5]) * self.radius**2

    @property
    def bounding_radius(self):
        return self.radius


@dataclass(frozen=True, eq=False)
class Polygon(Shape):
    """Convex hull of ``points`` (m, 2) [m], moved so that its centre of mass is the origin.

    ``vertices`` (k, 2) run counter-clockwise; edge i goes from vertex i to i + 1 and ``normals``
    (k, 2) holds its outward unit normal. ``centre`` is the centre of mass in the given frame.
    """

    points: np.ndarray
    dim = 2
    centre: np.ndarray = field(init=False)
    vertices: np.ndarray = field(init=False)
    normals: np.ndarray = field(init=False)
    measure: float = field(init=False)
    inertia_per_mass: np.ndarray = field(init=False)

    def __post_init__(self):
        from scipy.spatial import ConvexHull, QhullError

        points = _points("polygon", self.points, 2)
        middle, size = np.zeros(2), np.ptp(points, axis=0).max() if len(points) else 0.0
        for turn in range(SETTINGS.rounds):
            try:
                hull = ConvexHull(points)
            except (QhullError, ValueError) as error:
                raise SceneError(
                    f"polygon: {counted(len(points), 'point')}, on a line or too few; "
                    "expected at least three points that enclose an area"
                ) from error
            if turn == 0:
                _warn_of_dents(points, hull)
            start = int(np.argmin(hull.vertices))  # the first point given comes first
            vertices = straightened(points[np.roll(hull.vertices, -start)])
            origin = vertices.mean(axis=0)
            a = vertices - origin
            b = np.roll(a, -1, axis=0)
            twice = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
            area = twice.sum() / 2
            centre = ((a + b) * twice[:, None]).sum(axis=0) / (6 * area)
            away = origin + centre
            if turn == SETTINGS.rounds - 1 or _centred(away, size, vertices, points):
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
    def bounding_radius(self):
        return float(np.linalg.norm(self.vertices, axis=1).max())


def rectangle(width: float, height: float) -> Polygon:
    """The two-dimensional box: ``width`` along x, ``height`` along y [m]."""
    _positive("rectangle", width=width, height=height)
    x, y = width / 2, height / 2
    return Polygon(np.array([[-x, -y], [x, -y], [x, y], [-x, y]]))
