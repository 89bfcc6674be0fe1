"""Rigid bodies as arrays: what stays (``Bodies``) and what moves (``State``).

Positions are of the centre of mass. Everything is stored in three dimensions; a two-dimensional
scene is the same arrays with z, and the turns about x and y, in the set Gamma_D of fixed degrees
of freedom, so that one code path serves both.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from .._support.display import Brief
from . import rotations
from .cell import Cell, velocity_gradient
from .materials import Material
from .shapes import Disk, HalfSpace, Shape, Sphere
from .written import Written, written

T = TypeVar("T")

PLANAR = np.array([True, True, False, False, False, True])
"""The degrees of freedom of a body in 2D: x, y and the turn about z."""


@dataclass(frozen=True, repr=False)
class Bodies(Brief):
    """Constant data of n bodies, as a scene makes them.

    Attributes
    ----------
    dim : int
        2 or 3.
    names : tuple of str
        One a body.
    shapes : tuple of Shape
        Table of the shapes that occur.
    shape_of : (n,) int ndarray
        Row in the table of shapes.
    materials : tuple of Material
        Table of the materials that occur.
    material_of : (n,) int ndarray
        Row in the table of materials.
    mass : (n,) ndarray [kg]
    inertia : (n, 3, 3) ndarray [kg m^2]
        About the centre of mass, in the body's frame.
    free : (n, 6) bool ndarray
        False for degrees of freedom in Gamma_D (vx, vy, vz, wx, wy, wz, world frame).
    placed : (n, 3) ndarray [m] or None
        Where the scene has put them, if that is known.
    group : (n,) int ndarray or None
        Bodies of one number above 0 do not collide with one another.
    excluded : (k, 2) int ndarray or None
        Pairs, lower body first, that do not collide either.
    cell : Cell or None
        The periodic cell, whose degrees of freedom are those of the last body (``cell.py``).

    Examples
    --------
    >>> import rigidlimit as rl
    >>> bodies = rl.scenes.beam(weight=10.0).bodies
    >>> bodies.names[-1], len(bodies), round(float(bodies.mass[-1]), 3)
    ('beam', 4, 1.0)
    """

    dim: int
    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    shape_of: np.ndarray
    materials: tuple[Material, ...]
    material_of: np.ndarray
    mass: np.ndarray
    inertia: np.ndarray
    free: np.ndarray
    placed: np.ndarray | None = None
    group: np.ndarray | None = None
    excluded: np.ndarray | None = None
    cell: Cell | None = None

    def __len__(self) -> int:
        return len(self.mass)

    def shape(self, body: int) -> Shape:
        """Shape of one body.

        Parameters
        ----------
        body : int
        """
        return self.shapes[self.shape_of[body]]

    @cached_property
    def bounding_radius(self) -> np.ndarray:
        """Radius of a ball about each centre that holds the body, (n,) [m]; inf for half-spaces."""
        radius = np.array([s.bounding_radius for s in self.shapes], float)[self.shape_of]
        radius.setflags(write=False)
        return radius

    @cached_property
    def turning_arm(self) -> np.ndarray:
        """Way of a body's farthest point per unit of each degree of freedom, (n, 6): 1 for
        translations, the bounding radius for turns; 0 for turns of balls and half-spaces."""
        still = self.are(Sphere, Disk, HalfSpace)
        arm = np.ones((len(self), 6))
        arm[:, 3:] = np.where(still, 0.0, self.bounding_radius)[:, None]
        if self.cell is not None:
            arm[-1] = 1.0
        arm.setflags(write=False)
        return arm

    @cached_property
    def length(self) -> float:
        """Reference length of the scene [m]: the median bounding radius of the finite bodies."""
        radius = self.bounding_radius
        radius = radius[np.isfinite(radius)]
        return float(np.median(radius)) if len(radius) else 1.0

    @cached_property
    def shifts(self) -> np.ndarray:
        """Free degrees of freedom that turn no body: displacements, and strains of the cell,
        (n, 6) bool."""
        shifts = self.free.copy()
        shifts[: len(self) - (self.cell is not None), 3:] = False
        return shifts

    @property
    def cell_length(self) -> float:
        """Length l [m] by which rates of strain of the cell are velocities."""
        return 2.0 * self.length

    def velocity_gradient(self, velocity: np.ndarray) -> np.ndarray:
        """L (3, 3) [1/s] of the cell.

        Parameters
        ----------
        velocity : (n, 6) [m/s, rad/s]
            Of its bodies and itself.
        """
        return velocity_gradient(velocity[-1], self.cell_length)

    @cached_property
    def written(self) -> Written | None:
        """With how many digits the scene's coordinates were written down; None where they have all
        digits, or may be meant as they are."""
        return None if self.placed is None else written(self.placed, self.length)

    @property
    def blocks(self) -> np.ndarray:
        """First degree of freedom of each body, ending with 6 n, (n + 1,)."""
        return np.arange(0, 6 * len(self) + 1, 6)

    @cached_property
    def has_apart(self) -> bool:
        """Whether any two bodies do not collide, by their group or as an excluded pair."""
        grouped = self.group is not None and bool(self.group.any())
        return grouped or (self.excluded is not None and len(self.excluded) > 0)

    def derived(self, make: Callable[["Bodies"], T]) -> T:
        """A table that a later stage draws from the constant data, made once.

        Parameters
        ----------
        make : callable
            Called as make(bodies).
        """
        tables = self.__dict__.setdefault("_derived", {})
        if make not in tables:
            tables[make] = make(self)
        return tables[make]

    def of_shapes(self, make: Callable[["Bodies"], T]) -> T:
        """The same of a table that depends on ``shapes`` alone; ``rows`` share it.

        Parameters
        ----------
        make : callable
            Called as make(bodies).
        """
        tables = self.__dict__.setdefault("_of_shapes", {})
        if make not in tables:
            tables[make] = make(self)
        return tables[make]

    def rows(self, which: np.ndarray) -> "Bodies":
        """Some bodies; without a cell, and without those pairs that do not collide.

        Parameters
        ----------
        which : (k,) int
            Each as often as it is named.
        """
        out = replace(
            self,
            names=tuple(map(self.names.__getitem__, which.tolist())),
            shape_of=self.shape_of[which],
            material_of=self.material_of[which],
            mass=self.mass[which],
            inertia=self.inertia[which],
            free=self.free[which],
            placed=None,
            group=None,
            excluded=None,
            cell=None,
        )
        # what takes a look at each shape of the table
        for shared in ("_of_shapes", "_shapes_are"):
            out.__dict__[shared] = self.__dict__.setdefault(shared, {})
        out.__dict__["bounding_radius"] = self.bounding_radius[which]
        return out

    def are(self, *kinds: type[Shape]) -> np.ndarray:
        """Which bodies have a shape of these kinds, (n,), read-only; looked up once.

        Parameters
        ----------
        *kinds : subclasses of Shape
        """
        masks = self.__dict__.setdefault("_are", {})
        if kinds not in masks:
            of_shapes = self.__dict__.setdefault("_shapes_are", {})
            if kinds not in of_shapes:
                of_shapes[kinds] = np.array([isinstance(s, kinds) for s in self.shapes], bool)
            mask = of_shapes[kinds][self.shape_of]
            mask.setflags(write=False)
            masks[kinds] = mask
        return masks[kinds]


@dataclass(frozen=True, repr=False)
class State(Brief):
    """Pose and generalized velocity of n bodies at one time.

    Attributes
    ----------
    position : (n, 3) ndarray [m]
        Of the centres of mass. Positions go on beyond a periodic cell.
    quaternion : (n, 4) ndarray
        Unit (w, x, y, z), turns body axes into world axes.
    velocity : (n, 6) ndarray [m/s, rad/s]
        Linear, then angular, world frame; in a periodic cell relative to its affine motion.
    time : float [s]
    cell : (3, 3) ndarray [m] or None
        Vectors of the periodic cell, row by row.
    angle : (n,) ndarray [rad]
        Planar angle about z: the orientation of two-dimensional bodies.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> state = rl.scenes.beam().state
    >>> later = state.moved(time=2.0)
    >>> later.time, later.velocity.shape
    (2.0, (4, 6))
    """

    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    time: float = 0.0
    cell: np.ndarray | None = None

    @property
    def angle(self) -> np.ndarray:
        """Planar angle about z [rad], (n,): the orientation of two-dimensional bodies."""
        return rotations.angle_about_z(self.quaternion)

    def moved(self, **changes: Any) -> "State":
        """A copy with other values.

        Parameters
        ----------
        **changes
            By the names of the fields.
        """
        return replace(self, **changes)
