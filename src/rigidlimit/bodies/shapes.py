"""Shapes of rigid bodies, each in its own frame with the origin at the centre of mass.

A shape knows its measure (volume [m^3]; area [m^2] in 2D), its inertia per unit mass about the
centre of mass [m^2], and the radius of a ball about the origin that holds it [m]. Two-dimensional
shapes lie in the plane z = 0 and turn about z. Boxes and convex hulls of points stand in
``convex.py``.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._support.arrays import is_positive, number
from ..errors import SceneError

LEAST, MOST = 1e-60, 1e60
"""Lengths of shapes [m]: of others mass and moment of inertia, of their fifth powers, are 0 or
infinite in floating point."""


def check_positive(shape: str, **lengths: float) -> None:
    """Raises SceneError."""
    for name, value in lengths.items():
        if not is_positive(value):
            raise SceneError(f"{shape}: {name} is {value!r}; expected a positive length in metres")
        if not LEAST <= value <= MOST:
            raise SceneError(
                f"{shape}: {name} is {value!r}; expected a length of {LEAST:g} to {MOST:g} m, of "
                "which there are masses"
            )


def three_lengths(shape: str, name: str, value: Iterable) -> tuple[float, float, float]:
    """Three positive lengths [m]; raises SceneError."""
    try:
        lengths = tuple(number(v) for v in value)
    except TypeError:
        lengths = ()
    if isinstance(value, str) or len(lengths) != 3:
        raise SceneError(f"{shape}: {name} is {value!r}; expected three lengths in metres")
    check_positive(shape, **{f"{name}[{i}]": length for i, length in enumerate(lengths)})
    return lengths


class Shape:
    """Common interface of shapes, to ask whether something is one.

    Attributes
    ----------
    dim : int
        Of the space that it is in, 2 or 3.
    measure : float [m^3; m^2 in 2D]
        Volume, or area.
    inertia_per_mass : (3, 3) ndarray [m^2]
        About the centre of mass, in the body's axes.
    bounding_radius : float [m]
        Of a ball about the centre of mass that holds the shape.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> isinstance(rl.Sphere(0.5), rl.bodies.Shape), rl.Disk(0.5).dim
    (True, 2)
    """

    dim = 3
    measure: float
    inertia_per_mass: np.ndarray
    bounding_radius: float


@dataclass(frozen=True)
class Sphere(Shape):
    """Ball.

    Parameters
    ----------
    radius : float [m]

    Raises
    ------
    SceneError
        Unless the radius is positive and finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> round(rl.Sphere(0.5).measure, 4)  # m^3
    0.5236
    """

    radius: float

    def __post_init__(self) -> None:
        check_positive("sphere", radius=self.radius)

    @property
    def measure(self) -> float:
        return 4 / 3 * np.pi * self.radius**3

    @property
    def inertia_per_mass(self) -> np.ndarray:
        return 0.4 * self.radius**2 * np.eye(3)

    @property
    def bounding_radius(self) -> float:
        return self.radius


@dataclass(frozen=True)
class HalfSpace(Shape):
    """Everything on the inner side of a plane through the body's position.

    The outward normal is the body's z axis in 3D and its y axis in 2D. Fixed, or with a mass free
    along its normal.

    Parameters
    ----------
    dim : {3, 2}
        That of the scene.

    Raises
    ------
    SceneError
        For another dim; the normal is an argument of ``Scene.add``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(dim=2)
    >>> slope = scene.add(rl.HalfSpace(dim=2), position=(0, 0), normal=(-0.1, 1))
    >>> rl.HalfSpace(dim=2).local_normal
    array([0., 1., 0.])
    """

    dim: int = 3
    measure = 0.0
    bounding_radius = np.inf

    def __post_init__(self) -> None:
        if self.dim not in (2, 3):
            raise SceneError(
                f"half-space: dim is {self.dim!r}; expected 2 or 3 (its normal is for the scene: "
                "scene.add(HalfSpace(), position=..., normal=...))"
            )

    @property
    def inertia_per_mass(self) -> np.ndarray:
        return np.zeros((3, 3))

    @property
    def local_normal(self) -> np.ndarray:
        return np.array([0.0, 1.0, 0.0] if self.dim == 2 else [0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Capsule(Shape):
    """Cylinder along z between two half balls.

    Parameters
    ----------
    radius : float [m]
    length : float [m]
        Of the cylinder; over all it is ``length + 2 * radius``.

    Raises
    ------
    SceneError
        Unless both are positive and finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Capsule(radius=0.1, length=0.4).bounding_radius
    0.30000000000000004
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        check_positive("capsule", radius=self.radius, length=self.length)

    @property
    def measure(self) -> float:
        return np.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    @property
    def inertia_per_mass(self) -> np.ndarray:
        r, h = self.radius, self.length
        cylinder = np.pi * r**2 * h / self.measure
        balls = 1 - cylinder
        axial = cylinder * r**2 / 2 + balls * 0.4 * r**2
        across = cylinder * (r**2 / 4 + h**2 / 12) + balls * (0.4 * r**2 + h**2 / 4 + 0.375 * r * h)
        return np.diag([across, across, axial])

    @property
    def bounding_radius(self) -> float:
        return 0.5 * self.length + self.radius


@dataclass(frozen=True)
class Cylinder(Shape):
    """Cylinder along z.

    Parameters
    ----------
    radius : float [m]
    length : float [m]
        From one end to the other.

    Raises
    ------
    SceneError
        Unless both are positive and finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Cylinder(radius=0.1, length=0.4).inertia_per_mass.diagonal().round(6)  # m^2
    array([0.015833, 0.015833, 0.005   ])
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        check_positive("cylinder", radius=self.radius, length=self.length)

    @property
    def measure(self) -> float:
        return np.pi * self.radius**2 * self.length

    @property
    def inertia_per_mass(self) -> np.ndarray:
        r, h = self.radius, self.length
        across = r**2 / 4 + h**2 / 12
        return np.diag([across, across, r**2 / 2])

    @property
    def bounding_radius(self) -> float:
        return float(np.hypot(self.radius, 0.5 * self.length))


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """Ellipsoid.

    Parameters
    ----------
    semi_axes : (3,) [m]
        Along x, y and z.

    Raises
    ------
    SceneError
        Unless there are three, positive and finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.Ellipsoid((0.1, 0.2, 0.3)).bounding_radius
    0.3
    """

    semi_axes: tuple[float, float, float]

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "semi_axes", three_lengths("ellipsoid", "semi_axes", self.semi_axes)
        )

    @property
    def measure(self) -> float:
        return 4 / 3 * np.pi * float(np.prod(self.semi_axes))

    @property
    def inertia_per_mass(self) -> np.ndarray:
        s = np.square(self.semi_axes)
        return np.diag(s.sum() - s) / 5

    @property
    def bounding_radius(self) -> float:
        return max(self.semi_axes)


@dataclass(frozen=True)
class Disk(Shape):
    """Disk in the plane.

    Parameters
    ----------
    radius : float [m]

    Raises
    ------
    SceneError
        Unless the radius is positive and finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> round(rl.Disk(0.5).measure, 4)  # m^2
    0.7854
    """

    radius: float
    dim = 2

    def __post_init__(self) -> None:
        check_positive("disk", radius=self.radius)

    @property
    def measure(self) -> float:
        return np.pi * self.radius**2

    @property
    def inertia_per_mass(self) -> np.ndarray:
        return np.diag([0.25, 0.25, 0.5]) * self.radius**2

    @property
    def bounding_radius(self) -> float:
        return self.radius
