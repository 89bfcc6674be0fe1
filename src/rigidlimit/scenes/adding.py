"""The bodies of a scene as they are added: checked, one row each."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._support.words import counted
from ..bodies import Bodies, Cell, Compound, ConvexPolyhedron, HalfSpace, Material, Shape, rotations
from ..errors import SceneError
from . import checks
from .body_columns import COLUMNS, BodyColumns, DistinctEntries, of_each, whole_columns
from .checks import warn_of_facets, warn_of_overlap
from .periodic import check_across


class Adding:
    """Of a ``Scene``: the tables that bodies are added to.

    groups: numbers of the bodies of each collision group, by its name.
    """

    dim: int
    cell: Cell | None
    groups: dict[str, list[int]]

    def __init__(self) -> None:
        self.groups = {}
        self._columns = BodyColumns()
        self._names: list[str] = []
        self._index: dict[str, int] = {}
        self._shapes, self._materials = DistinctEntries(), DistinctEntries()
        self._bodies: Bodies | None = None

    def __len__(self) -> int:
        return len(self._names)

    def add(
        self,
        shape: Shape,
        *,
        position: ArrayLike,
        orientation: ArrayLike | None = None,
        normal: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        material: Material | None = None,
        mass: float | None = None,
        fixed: bool | Iterable[str] = False,
        name: str | None = None,
        load: ArrayLike | None = None,
        group: str | None = None,
    ) -> int:
        """Add one body; returns its index.

        Parameters
        ----------
        shape
            A shape of the scene's dimension.
        position
            (dim,) [m]: of the centre of mass; any point of a half-space's plane.
        orientation
            Quaternion (w, x, y, z) in 3D, angle [rad] in 2D.
        normal
            (dim,): outward normal of a half-space, instead of an orientation.
        velocity
            (dim,) [m/s].
        angular_velocity
            [rad/s]: (3,) in 3D, a number in 2D.
        material
            ``Material()`` by default.
        mass
            [kg]; density times volume by default. A half-space with a mass moves along its normal,
            which must be an axis; without one it is fixed.
        fixed
            True, or the held degrees of freedom among x, y, z, rx, ry, rz.
        name
            The body's number by default ("body-12" where a body has the name "12").
        load
            Constant force (dim,) [N], or force and moment: (6,) in 3D, (fx, fy, moment) in 2D.
        group
            Name of a collision group: its bodies do not touch one another, as the platens of a
            cell (see also ``exclude``).

        Raises
        ------
        SceneError
            For a value of the wrong kind; the scene is left as it was.
        """
        label = f"body {name or len(self)!r}"
        quaternion = checks.quaternion(label, self.dim, shape, orientation, normal)
        return self.add_many(
            shape,
            [position],
            quaternions=[quaternion],
            velocities=None if velocity is None else [velocity],
            angular_velocities=None if angular_velocity is None else [angular_velocity],
            material=material,
            mass=mass,
            fixed=fixed,
            names=None if name is None else [name],
            loads=None if load is None else [load],
            group=group,
        )[0]

    def add_many(
        self,
        shape: Shape | Iterable[Shape],
        positions: ArrayLike,
        *,
        quaternions: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        material: Material | None = None,
        mass: ArrayLike | None = None,
        fixed: bool | Iterable[str] = False,
        names: list[str] | None = None,
        loads: ArrayLike | None = None,
        group: str | None = None,
    ) -> list[int]:
        """Add k bodies of one material; returns their indices.

        Parameters
        ----------
        shape
            Of all, or k shapes, one each, as of balls of unequal size; half-spaces have a call of
            their own.
        positions
            (k, dim) [m].
        quaternions
            (k, 4): orientations (w, x, y, z), in 2D as well.
        velocities
            (k, dim) [m/s].
        angular_velocities
            (k, 3) in 3D, (k,) in 2D [rad/s].
        material, fixed, group
            Of all, as in ``add``.
        mass
            [kg]: a number or (k,).
        names
            One each.
        loads
            (k, ...), a row each as in ``add``.

        Raises
        ------
        SceneError
            For a value of the wrong kind; the scene is left as it was.

        Examples
        --------
        >>> import rigidlimit as rl
        >>> scene = rl.Scene()
        >>> scene.add_many([rl.Sphere(r) for r in (0.1, 0.2)], [(0, 0, 0.1), (1, 0, 0.2)])
        [0, 1]
        """
        shapes = checks.shapes(shape, self.dim)
        half_space = isinstance(shape, HalfSpace)
        if half_space:
            checks.load_of_half_space(mass, loads)
        first = len(self)
        positions = checks.vectors("position", positions, self.dim)
        k = len(positions)
        checks.shape_of_each(shapes, isinstance(shape, Shape), k)
        names = self._new_names(names, k)
        material = checks.material(material)
        held = checks.held_degrees(self.dim, fixed, half_space)
        mass_given = mass is not None
        if mass_given:
            mass = checks.masses(mass, names)
        else:
            mass = material.density * of_each(shapes, "measure")
        checks.group_name(group)
        turned = quaternions is not None
        quaternions = checks.quaternions(quaternions, k) if turned else rotations.identity(k)
        if half_space and mass_given and fixed is not True:
            held = ~checks.free_along_normal(shapes[0], quaternions)
        rows = dict(
            position=positions,
            quaternion=quaternions,
            velocity=checks.velocities(velocities, angular_velocities, self.dim, k),
            load=np.zeros((k, 6)) if loads is None else checks.loads(loads, self.dim, k),
        )
        if half_space and self.cell is not None:
            check_across(self.cell, shapes[0], rows["quaternion"], names[0])
        self._warn_of_new(shapes[:k], names, mass_given, moves=not held.all())
        inertia = np.multiply(np.reshape(mass, (-1, 1, 1)), of_each(shapes, "inertia_per_mass"))
        shape_rows = np.array([self._shapes.row(one) for one in shapes], np.int64)
        rows |= dict(
            shape_of=np.array(np.broadcast_to(shape_rows, k)),
            material_of=np.full(k, self._materials.row(material)),
            mass=np.array(np.broadcast_to(np.asarray(mass, float), k)),
            inertia=np.broadcast_to(inertia, (k, 3, 3)),
            free=np.array(np.broadcast_to(~held, (k, 6)), order="C"),
        )
        self._columns.append(rows)
        # only now, so that a rejected body has no effect and can be added again, corrected
        self._index.update((name, first + i) for i, name in enumerate(names))
        self._names.extend(names)
        if group is not None:
            self.groups.setdefault(group, []).extend(range(first, first + k))
        self._bodies = None
        return list(range(first, first + k))

    def _new_names(self, names: list[str] | None, k: int) -> list[str]:
        """Names of k bodies that no other body has; their numbers where none are given."""
        first = len(self)
        if names is None:
            names = [self._free_name(first + i) for i in range(k)]
        names = [str(x) for x in names]
        if len(names) != k:
            raise SceneError(
                f"{counted(len(names), 'name')} given; expected one for each of {k} bodies"
            )
        given = set()
        for name in names:
            if name in self._index or name in given:
                raise SceneError(f"body name {name!r} is taken; expected distinct names")
            given.add(name)
        return names

    def _free_name(self, number: int) -> str:
        """The number of a body as its name; where it is taken, as by a ball of an imported packing
        whose names are ids, one made of it."""
        name = f"{number}"
        while name in self._index:
            name = f"body-{name}"
        return name

    def _warn_of_new(
        self, shapes: list[Shape], names: list[str], mass_given: bool, moves: bool
    ) -> None:
        """Warnings about shapes that the scene does not have yet."""
        for name, shape in zip(names, shapes, strict=False):
            if isinstance(shape, Compound | ConvexPolyhedron) and shape not in self._shapes:
                warn_of_facets(name, shape)
                if isinstance(shape, Compound) and moves:
                    warn_of_overlap(name, shape, mass_given)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The distinct shapes of the bodies."""
        return tuple(self._shapes.entries)

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """One row a body: position (n, 3), quaternion (n, 4), velocity, load (n, 6), shape_of,
        material_of: rows of the tables of ``bodies``, mass (n,), free (n, 6)."""
        return {name: self._columns[name].copy() for name in COLUMNS}

    def fill(
        self,
        names: Sequence[str],
        shapes: Sequence[Shape],
        materials: Sequence[Material],
        columns: dict[str, np.ndarray],
    ) -> None:
        """Give a scene without bodies those of another.

        Parameters
        ----------
        names : sequence of str
        shapes, materials : sequence
            Tables of ``bodies``.
        columns : dict of (n, ...) arrays
            As a scene keeps them.

        Raises
        ------
        ValueError, KeyError
            For columns that are not a scene's.
        """
        self._columns = BodyColumns(whole_columns(names, shapes, materials, columns, self.dim))
        self._names, self._index = list(names), {name: i for i, name in enumerate(names)}
        self._shapes, self._materials = DistinctEntries(shapes), DistinctEntries(materials)
        self._bodies = None
