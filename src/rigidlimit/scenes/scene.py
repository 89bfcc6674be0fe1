"""A scene in plain words: which bodies, where they are, what pushes them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import is_positive, number
from .._support.display import Displayed
from .._support.words import counted
from ..bodies import (
    Bodies,
    Cell,
    Compound,
    ConvexPolyhedron,
    HalfSpace,
    Material,
    Shape,
    State,
    rotations,
)
from ..bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..errors import SceneError, nearest
from . import checks
from .body_columns import COLUMNS, BodyColumns, DistinctEntries, of_each, whole_columns
from .doubtful_shapes import warn_of_facets, warn_of_overlap
from .periodic import cell_of, check_across, state_with_cell, with_cell

if TYPE_CHECKING:
    from ..step.friction import Memory

LAWS = {"hooke": 2.0, "hertz": 2.5}

PAIR_KEYS = ("stiffness", "friction", "tangential_stiffness")
"""What a scene may know of two bodies, in ``pair_...`` and by ``set_pair_...``."""


def law_exponent(law: str | float) -> float:
    """Exponent p of a contact law given as "hooke", "hertz" or a number p > 1."""
    if isinstance(law, str) and law.lower() in LAWS:
        return LAWS[law.lower()]
    try:
        p = float(law)
    except (TypeError, ValueError):
        p = np.nan
    if not (np.isfinite(p) and p > 1):
        raise SceneError(f"law is {law!r}; expected 'hooke', 'hertz' or an exponent p > 1")
    return p


class Scene(Displayed):
    """A set of bodies with gravity and a contact law; units are SI.

    Parameters
    ----------
    name
        For files and pictures.
    dim
        2 or 3.
    gravity
        (dim,) [m/s^2]; 9.81 along -y in 2D and -z in 3D by default.
    restitution
        e_n, 0 to 1.
    law
        "hooke", "hertz" or the exponent p > 1 of the contact law (eq. 33).
    tangential_law
        Of contacts with friction: "mindlin" or "mindlin/force" (as in LAMMPS; alike for Hooke).
    increments
        Parts of a step's way that contacts with friction go one after the other.
    dt, duration
        Suggested step and time [s].
    description
        A line for lists and files.
    reference
        Known answers by name, for tests and readers.
    cell
        A periodic ``Cell``, or its side lengths or vectors [m]. There is no gravity by default
        where it is periodic downwards. The cell is the last one of ``bodies``. ``path`` holds the
        loading paths of a scene file, tables of a kind and its keys; ``memory`` what rough contacts
        remember to begin with, as of ``Simulation.memory``, or None.

    Raises
    ------
    SceneError
        For a value out of range.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.Scene(name="ball on a plane")
    >>> scene.add(rl.HalfSpace(), position=(0, 0, 0))
    0
    >>> scene.add(rl.Sphere(0.1), position=(0, 0, 0.1))
    1
    """

    def __init__(
        self,
        *,
        name: str = "scene",
        dim: int = 3,
        gravity: ArrayLike | None = None,
        restitution: float = 0.0,
        law: str | float = "hooke",
        tangential_law: str = MINDLIN,
        increments: int = 1,
        dt: float = 1e-3,
        duration: float = 0.1,
        description: str = "",
        reference: dict | None = None,
        cell: Cell | ArrayLike | None = None,
    ):
        if dim not in (2, 3):
            raise SceneError(f"dim is {dim!r}; expected 2 or 3")
        if not 0 <= number(restitution) <= 1:
            raise SceneError(f"restitution is {restitution!r}; expected 0 <= e_n <= 1")
        if tangential_law not in TANGENTIAL_LAWS:
            raise SceneError(
                f"tangential_law is {tangential_law!r}; expected {' or '.join(TANGENTIAL_LAWS)}"
            )
        if not (is_positive(increments) and increments == int(increments)):
            raise SceneError(f"increments is {increments!r}; expected a positive integer")
        for what, value in (("dt", dt), ("duration", duration)):
            if not is_positive(value):
                raise SceneError(f"{what} is {value!r}; expected a positive time in seconds")
        self.name, self.dim = name, dim
        self.cell = cell_of(cell, dim)
        default = (0.0, -9.81) if dim == 2 else (0.0, 0.0, -9.81)
        if self.cell is not None and self.cell.periodic[dim - 1]:
            default = (0.0,) * dim
        self.gravity = checks.vector("gravity", default if gravity is None else gravity, dim)
        self.restitution = float(restitution)
        self.law, self.exponent = law, law_exponent(law)
        self.tangential_law, self.increments = tangential_law, int(increments)
        self.dt, self.duration = float(dt), float(duration)
        self.description, self.reference = description, dict(reference or {})
        self.pair_stiffness: dict[tuple[int, int], float] = {}
        self.pair_friction: dict[tuple[int, int], float] = {}
        self.pair_tangential_stiffness: dict[tuple[int, int], float] = {}
        self.path: list[dict] = []
        self.memory: Memory | None = None
        self.groups: dict[str, list[int]] = {}
        self.excluded: dict[tuple[int, int], None] = {}
        self._columns = BodyColumns()
        self._names: list[str] = []
        self._index: dict[str, int] = {}
        self._shapes = DistinctEntries()
        self._materials = DistinctEntries()
        self._bodies: Bodies | None = None

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return f"<Scene {self.name!r}: {counted(len(self), 'body')} in {self.dim}D, law {self.law}>"

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
            The body's number by default.
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
        # only now, so that a body refused leaves no trace and can be added again, corrected
        self._index.update((name, first + i) for i, name in enumerate(names))
        self._names.extend(names)
        if group is not None:
            self.groups.setdefault(group, []).extend(range(first, first + k))
        self._bodies = None
        return list(range(first, first + k))

    def _new_names(self, names: list[str] | None, k: int) -> list[str]:
        """Names of k bodies that no other body has; their numbers where none are given."""
        first = len(self)
        names = [f"{first + i}" for i in range(k)] if names is None else [str(x) for x in names]
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
        """Give a scene without bodies those of another: ``columns`` and the tables of ``bodies``.

        Raises ValueError or KeyError for columns that are not a scene's.
        """
        self._columns = BodyColumns(whole_columns(names, shapes, materials, columns, self.dim))
        self._names, self._index = list(names), {name: i for i, name in enumerate(names)}
        self._shapes, self._materials = DistinctEntries(shapes), DistinctEntries(materials)
        self._bodies = None

    def index(self, body: int | str) -> int:
        """Index of a body given by index or name."""
        if isinstance(body, str):
            if body not in self._index:
                raise SceneError(f"no body is named {body!r}; {nearest(body, self._index)}")
            return self._index[body]
        if not (0 <= number(body) < len(self) and number(body) == int(number(body))):
            raise SceneError(f"body {body} does not exist; expected an index below {len(self)}")
        return int(body)

    def set_pair_stiffness(self, first: int | str, second: int | str, stiffness: float) -> None:
        """Contact stiffness [N/m^(p-1)] between two bodies, in place of their materials'."""
        pair = self._pair("stiffness", first, second, stiffness, is_positive(stiffness), "positive")
        self.pair_stiffness[pair] = float(stiffness)

    def set_pair_friction(self, first: int | str, second: int | str, friction: float) -> None:
        """Coefficient of friction mu >= 0 between two bodies, in place of their materials'."""
        good = 0 <= number(friction) < np.inf
        pair = self._pair("friction", first, second, friction, good, "a finite mu >= 0")
        self.pair_friction[pair] = float(friction)

    def set_pair_tangential_stiffness(
        self, first: int | str, second: int | str, ratio: float
    ) -> None:
        """Tangential over normal stiffness k_t/k_n between two bodies, in place of what follows
        from their materials."""
        good = is_positive(ratio)
        pair = self._pair("tangential_stiffness", first, second, ratio, good, "a positive k_t/k_n")
        self.pair_tangential_stiffness[pair] = float(ratio)

    def exclude(self, first: int | str, second: int | str) -> None:
        """Let two bodies pass through one another: no contact between them is looked for.

        As two lids that cross, or a lid in a wall that it slides along. Many that keep apart from
        one another are a ``group`` of ``add``.
        """
        self.excluded[self._two("exclude", first, second)] = None
        self._bodies = None

    def _pair(
        self,
        what: str,
        first: int | str,
        second: int | str,
        value: float,
        good: bool,
        expected: str,
    ) -> tuple[int, int]:
        """Indices (i < j) of two bodies that a value is given for."""
        if not good:
            raise SceneError(
                f"{what} between {first!r} and {second!r} is {value!r}; expected {expected}"
            )
        return self._two(what, first, second)

    def _two(self, what: str, first: int | str, second: int | str) -> tuple[int, int]:
        """Indices (i < j) of two bodies that are not the same."""
        i, j = sorted((self.index(first), self.index(second)))
        if i == j:
            raise SceneError(
                f"{what} between {first!r} and itself; expected two bodies: a body does not "
                "touch itself"
            )
        return i, j

    def load_of(self, load: ArrayLike) -> np.ndarray:
        """A load as ``add`` takes it, as force and moment (6,) [N, N m]."""
        return checks.loads([load], self.dim, 1)[0]

    def gravity_of(self, gravity: ArrayLike) -> np.ndarray:
        """Gravity as a scene takes it, (dim,), as (3,) [m/s^2]."""
        return checks.vector("gravity", gravity, self.dim)

    def velocity_of(
        self, velocity: ArrayLike, angular_velocity: ArrayLike | None, before: np.ndarray
    ) -> np.ndarray:
        """Velocities as ``add`` takes them, as (6,) [m/s, rad/s]; without a turn that of before."""
        out = before.copy()
        out[:3] = checks.vector("velocity", velocity, self.dim)
        if angular_velocity is not None:
            out[3:] = checks.spins("angular_velocity", [angular_velocity], self.dim, 1)[0]
        return out

    @property
    def bodies(self) -> Bodies:
        """Constant data of the bodies."""
        if self._bodies is None:
            if not self._names:
                raise SceneError(f"scene {self.name!r} has no bodies; add some first")
            columns = self._columns
            self._bodies = Bodies(
                dim=self.dim,
                names=tuple(self._names),
                shapes=tuple(self._shapes.entries),
                shape_of=columns["shape_of"],
                materials=tuple(self._materials.entries),
                material_of=columns["material_of"],
                mass=columns["mass"],
                inertia=columns["inertia"],
                free=columns["free"],
                placed=columns["position"],
                group=self._group_of() if self.groups else None,
                excluded=np.array(list(self.excluded), np.int64) if self.excluded else None,
            )
            if self.cell is not None:
                self._bodies = with_cell(self._bodies, self.cell)
        return self._bodies

    def _group_of(self) -> np.ndarray:
        """Number of each body's collision group, 0 for none, (n,)."""
        number = np.zeros(len(self), np.int64)
        for k, bodies in enumerate(self.groups.values()):
            number[bodies] = k + 1
        return number

    @property
    def state(self) -> State:
        """Poses and velocities at t = 0."""
        state = State(
            *(self._columns[c].copy() for c in ("position", "quaternion", "velocity")), 0.0
        )
        if self.cell is None:
            return state
        return state_with_cell(state, self.cell, self.bodies.cell_length)

    def external_force(self) -> np.ndarray:
        """Gravity and loads on every degree of freedom, (6 n,) [N, N m]."""
        force = self._columns["load"].copy()
        force[:, :3] += self._columns["mass"][:, None] * self.gravity
        if self.cell is not None:
            pushed = self.cell.force(self.cell.vectors, self.bodies.cell_length)
            force = np.concatenate([force, pushed[None]])
        return force.ravel()
