"""A scene in plain words: which bodies, where they are, what pushes them."""

import warnings
from collections.abc import Iterable

import numpy as np

from .._support.arrays import is_positive, number
from .._support.display import Displayed
from .._support.warned import warn
from .._support.words import counted
from ..bodies import (
    Bodies,
    Compound,
    ConvexPolyhedron,
    HalfSpace,
    Material,
    Shape,
    State,
    rotations,
)
from ..bodies.bodies import PLANAR
from ..bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..collision.search import find_contacts
from ..errors import ContactError, SceneError, SceneWarning, nearest

LAWS = {"hooke": 2.0, "hertz": 2.5}
COLUMNS = {
    "position": (float, 3), "quaternion": (float, 4), "velocity": (float, 6), "load": (float, 6),
    "shape_of": (int,), "material_of": (int,), "mass": (float,), "free": (bool, 6),
}  # fmt: skip
"""What a scene keeps of each body: type, and shape of a row."""

PIECES = 1000
"""Arrays of which a column may consist before they are joined, and as many as it has rows."""

PAIR_KEYS = ("stiffness", "friction", "tangential_stiffness")
"""What a scene may know of two bodies, in ``pair_...`` and by ``set_pair_...``."""

DEGREES = ("x", "y", "z", "rx", "ry", "rz")


def law_exponent(law) -> float:
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

    dim: 2 or 3. gravity (dim,) [m/s^2], along -y in 2D and -z in 3D by default. restitution: e_n.
    law: "hooke", "hertz" or the exponent p > 1. tangential_law: of contacts that rub, "mindlin" or
    "mindlin/force" (as in LAMMPS; alike for Hooke). increments: of what they remember within a
    step. dt [s], duration [s]: suggested step and time.
    reference: known answers by name, for tests and readers.

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
        gravity=None,
        restitution: float = 0.0,
        law="hooke",
        tangential_law: str = MINDLIN,
        increments: int = 1,
        dt: float = 1e-3,
        duration: float = 0.1,
        description: str = "",
        reference: dict | None = None,
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
        default = (0.0, -9.81) if dim == 2 else (0.0, 0.0, -9.81)
        self.gravity = self._vector("gravity", default if gravity is None else gravity)
        self.restitution = float(restitution)
        self.law, self.exponent = law, law_exponent(law)
        self.tangential_law, self.increments = tangential_law, int(increments)
        self.dt, self.duration = float(dt), float(duration)
        self.description, self.reference = description, dict(reference or {})
        self.pair_stiffness: dict[tuple[int, int], float] = {}
        self.pair_friction: dict[tuple[int, int], float] = {}
        self.pair_tangential_stiffness: dict[tuple[int, int], float] = {}
        self.groups: dict[str, list[int]] = {}
        self.excluded: dict[tuple[int, int], None] = {}
        self._columns: dict[str, list[np.ndarray]] = {}
        self._names: list[str] = []
        self._index: dict[str, int] = {}
        self._shapes = _Table()
        self._materials = _Table()
        self._bodies: Bodies | None = None

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return f"<Scene {self.name!r}: {counted(len(self), 'body')} in {self.dim}D, law {self.law}>"

    def add(
        self,
        shape: Shape,
        *,
        position,
        orientation=None,
        normal=None,
        velocity=None,
        angular_velocity=None,
        material: Material | None = None,
        mass: float | None = None,
        fixed: bool | Iterable[str] = False,
        name: str | None = None,
        load=None,
        group: str | None = None,
    ) -> int:
        """Add one body; returns its index.

        position (dim,) [m]: of the centre of mass; any point of a half-space's plane.
        orientation: quaternion (w, x, y, z) in 3D, angle [rad] in 2D. normal (dim,): outward
        normal of a half-space, instead of an orientation. velocity (dim,) [m/s].
        angular_velocity [rad/s]: (3,) in 3D, a number in 2D. mass [kg]: else density times volume.
        fixed: True, or the held degrees of freedom among x, y, z, rx, ry, rz. load: constant
        force (dim,) [N], or force and moment: (6,) in 3D, (fx, fy, moment) in 2D. group: name of a
        collision group; its bodies do not touch one another, as the platens of a cell (see also
        ``exclude``).
        """
        label = f"body {name or len(self)!r}"
        quaternion = self._orientation(label, shape, orientation, normal)
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
        positions,
        *,
        quaternions=None,
        velocities=None,
        angular_velocities=None,
        material: Material | None = None,
        mass=None,
        fixed: bool | Iterable[str] = False,
        names: list[str] | None = None,
        loads=None,
        group: str | None = None,
    ) -> list[int]:
        """Add k bodies of one material at positions (k, dim); returns their indices.

        shape: of all, or k shapes, one each, as of balls of unequal size; half-spaces have a call
        of their own. mass [kg]: a number or (k,). quaternions (k, 4): orientations (w, x, y, z), in
        2D as well. velocities (k, dim), angular_velocities (k, 3) or (k,), loads (k, ...), names:
        one each; all else as in ``add``.

        >>> import rigidlimit as rl
        >>> scene = rl.Scene()
        >>> scene.add_many([rl.Sphere(r) for r in (0.1, 0.2)], [(0, 0, 0.1), (1, 0, 0.2)])
        [0, 1]
        """
        shapes = self._checked_shapes(shape)
        halved = isinstance(shape, HalfSpace)
        if halved:
            for key, given in (("mass", mass), ("load", loads)):
                if given is not None:
                    raise SceneError(
                        f"{key}: found {given!r}; a half-space is always fixed, and its {key} "
                        f"has no meaning; remove {key}, or take a box"
                    )
        first = len(self)
        positions = self._vectors("position", positions)
        k = len(positions)
        if not isinstance(shape, Shape) and len(shapes) != k:
            raise SceneError(
                f"{counted(len(shapes), 'shape')} given; expected one for all bodies, or one for "
                f"each of {k}"
            )
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
        material = Material() if material is None else material
        if not isinstance(material, Material):
            raise SceneError(f"material is {material!r}; expected a Material, or None")
        held = self._held(halved, fixed)
        given_mass = mass is not None
        if mass is None:
            mass = material.density * _of_each(shapes, "measure")
        else:
            mass = self._masses(mass, names)
        if group is not None and not (isinstance(group, str) and group):
            raise SceneError(f"group is {group!r}; expected a name, like 'platens'")
        velocity = np.zeros((k, 6))
        if velocities is not None:
            velocity[:, :3] = self._vectors("velocity", velocities, k)
        if angular_velocities is not None:
            velocity[:, 3:] = self._turns("angular_velocity", angular_velocities, k)
        load = np.zeros((k, 6)) if loads is None else self._loads(loads, k)
        quaternion = rotations.identity(k) if quaternions is None else self._turned(quaternions, k)
        for i, one in enumerate(shapes[:k]):
            if isinstance(one, Compound | ConvexPolyhedron) and one not in self._shapes:
                _warn_of_pieces(names[i], one)
                if isinstance(one, Compound) and not held.all():
                    _warn_of_overlap(names[i], one, given_mass)
        rows = [self._shapes.row(one) for one in shapes]
        inertia = np.multiply(np.reshape(mass, (-1, 1, 1)), _of_each(shapes, "inertia_per_mass"))
        for column, value in dict(
            position=positions,
            quaternion=quaternion,
            velocity=velocity,
            load=load,
            shape_of=np.array(np.broadcast_to(np.array(rows, np.int64), k)),
            material_of=np.full(k, self._materials.row(material)),
            mass=np.array(np.broadcast_to(np.asarray(mass, float), k)),
            inertia=np.broadcast_to(inertia, (k, 3, 3)),
            free=np.array(np.broadcast_to(~held, (k, 6)), order="C"),
        ).items():
            pieces = self._columns.setdefault(column, [])
            pieces.append(value)
            # bodies added one by one: a small array each takes ten times the room of its numbers
            if len(pieces) > max(PIECES, len(pieces[0])):
                self._join(column)
        # only now, so that a body refused leaves no trace and can be added again, corrected
        self._index.update((name, first + i) for i, name in enumerate(names))
        self._names.extend(names)
        if group is not None:
            self.groups.setdefault(group, []).extend(range(first, first + k))
        self._bodies = None
        return list(range(first, first + k))

    def _checked_shapes(self, shape) -> list[Shape]:
        """[shape], or the shapes of several bodies, one each."""
        many = isinstance(shape, Iterable) and not isinstance(shape, Shape | str | bytes)
        shapes = list(shape) if many else [shape]
        for one in shapes:
            if not isinstance(one, Shape):
                raise SceneError(f"shape is {one!r}; expected one of rigidlimit's shapes")
            if one.dim != self.dim:
                raise SceneError(
                    f"{type(one).__name__} is a shape in {one.dim}D; expected one for this "
                    f"{self.dim}D scene"
                )
            if many and isinstance(one, HalfSpace):
                raise SceneError(
                    "a half-space is among the shapes; expected shapes of bodies; add half-spaces "
                    "by a call of their own"
                )
        return shapes

    @staticmethod
    def _masses(mass, names):
        """A positive number, or one for each of the bodies named, (k,)."""
        if np.ndim(mass) == 0 or isinstance(mass, str):
            if not is_positive(mass):
                raise SceneError(f"mass of body {names[0]!r} is {mass!r}; expected a positive mass")
            return mass
        try:
            masses = np.asarray(mass, float)
        except (TypeError, ValueError):
            masses = np.full(len(names), np.nan)
        if masses.shape != (len(names),):
            raise SceneError(
                f"mass: found an array of shape {masses.shape}; expected a number, or one for each "
                f"of {counted(len(names), 'body')}"
            )
        wrong = np.flatnonzero(~((masses > 0) & (masses < np.inf)))
        if len(wrong):
            raise SceneError(
                f"mass of body {names[wrong[0]]!r} is {mass[wrong[0]]!r}; expected a positive mass"
            )
        return masses

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """One row a body: position (n, 3), quaternion (n, 4), velocity, load (n, 6), shape_of,
        material_of: rows of the tables of ``bodies``, mass (n,), free (n, 6)."""
        return {name: self._column(name).copy() for name in COLUMNS}

    def fill(self, names, shapes, materials, columns: dict[str, np.ndarray]) -> None:
        """Give a scene without bodies those of another: ``columns`` and the tables of ``bodies``.

        Raises ValueError or KeyError for columns that are not a scene's.
        """
        n = len(names)
        found = {}
        for name, (kind, *row) in COLUMNS.items():
            array = np.asarray(columns[name])
            if array.shape != (n, *row) or array.dtype.kind != np.dtype(kind).kind:
                raise ValueError(f"scene/{name} is {array.dtype} {array.shape}, not {(n, *row)}")
            if not np.isfinite(array).all():
                raise ValueError(f"scene/{name} is not finite")
            found[name] = array
        for name, table in (("shape_of", shapes), ("material_of", materials)):
            if n == 0 or not 0 <= found[name].min() <= found[name].max() < len(table):
                raise ValueError(f"scene/{name} names rows that are not there")
        if len(set(names)) != n or not (found["mass"] >= 0.0).all():
            raise ValueError("scene/names or mass cannot be")
        wrong = rotations.no_rotations(found["quaternion"])
        if len(wrong):
            q = found["quaternion"][wrong[0]].tolist()
            raise ValueError(
                f"scene/quaternion of body {names[wrong[0]]!r} is {q}, not of unit length"
            )
        if any(shape.dim != self.dim for shape in shapes):
            raise ValueError(f"scene/shapes are not all of a {self.dim}D scene")
        moves = found["free"].any(axis=1)
        endless = np.array([isinstance(shape, HalfSpace) for shape in shapes])
        if (moves & (endless[found["shape_of"]] | (found["mass"] == 0.0))).any():
            raise ValueError("scene/free lets move what has no mass, or no end")
        per_mass = np.array([shape.inertia_per_mass for shape in shapes])[found["shape_of"]]
        found["inertia"] = found["mass"][:, None, None] * per_mass
        self._columns = {name: [values] for name, values in found.items()}
        self._names, self._index = list(names), {name: i for i, name in enumerate(names)}
        self._shapes, self._materials = _Table(shapes), _Table(materials)
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

    def _pair(self, what, first, second, value, good, expected) -> tuple[int, int]:
        """Indices (i < j) of two bodies that a value is given for."""
        if not good:
            raise SceneError(
                f"{what} between {first!r} and {second!r} is {value!r}; expected {expected}"
            )
        return self._two(what, first, second)

    def _two(self, what, first, second) -> tuple[int, int]:
        i, j = sorted((self.index(first), self.index(second)))
        if i == j:
            raise SceneError(
                f"{what} between {first!r} and itself; expected two bodies: a body does not "
                "touch itself"
            )
        return i, j

    def load_of(self, load) -> np.ndarray:
        """A load as ``add`` takes it, as force and moment (6,) [N, N m]."""
        return self._loads([load], 1)[0]

    def gravity_of(self, gravity) -> np.ndarray:
        """Gravity as a scene takes it, (dim,), as (3,) [m/s^2]."""
        return self._vector("gravity", gravity)

    def velocity_of(self, velocity, angular_velocity, before: np.ndarray) -> np.ndarray:
        """Velocities as ``add`` takes them, as (6,) [m/s, rad/s]; without a turn that of before."""
        out = before.copy()
        out[:3] = self._vector("velocity", velocity)
        if angular_velocity is not None:
            out[3:] = self._turns("angular_velocity", [angular_velocity], 1)[0]
        return out

    @property
    def bodies(self) -> Bodies:
        """Constant data of the bodies."""
        if self._bodies is None:
            if not self._names:
                raise SceneError(f"scene {self.name!r} has no bodies; add some first")
            column = self._column
            self._bodies = Bodies(
                dim=self.dim,
                names=tuple(self._names),
                shapes=tuple(self._shapes.entries),
                shape_of=column("shape_of"),
                materials=tuple(self._materials.entries),
                material_of=column("material_of"),
                mass=column("mass"),
                inertia=column("inertia"),
                free=column("free"),
                placed=column("position"),
                group=self._group_of() if self.groups else None,
                excluded=np.array(list(self.excluded), np.int64) if self.excluded else None,
            )
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
        return State(*(self._column(c).copy() for c in ("position", "quaternion", "velocity")), 0.0)

    def external_force(self) -> np.ndarray:
        """Gravity and loads on every degree of freedom, (6 n,) [N, N m]."""
        force = self._column("load").copy()
        force[:, :3] += self._column("mass")[:, None] * self.gravity
        return force.ravel()

    def _column(self, name) -> np.ndarray:
        """One row a body; what the scene keeps itself, so a copy for who may change it."""
        if len(self._columns[name]) > 1:
            self._join(name)
        return self._columns[name][0]

    def _join(self, name):
        self._columns[name] = [np.concatenate(self._columns[name])]

    def _held(self, halved, fixed) -> np.ndarray:
        held = np.zeros(6, bool) if self.dim == 3 else ~PLANAR
        if halved:
            if fixed is not True and fixed is not False:
                raise SceneError(
                    f"fixed: found {fixed!r}; a half-space is always fixed, in all its degrees of "
                    "freedom; remove fixed, or take a box"
                )
            return np.ones(6, bool)
        if fixed is True:
            return np.ones(6, bool)
        if fixed is False:
            return held
        names = [fixed] if isinstance(fixed, str) or not isinstance(fixed, Iterable) else fixed
        for degree in names:
            if degree not in DEGREES:
                raise SceneError(
                    f"fixed names {degree!r}; expected true, or some of {', '.join(DEGREES)}"
                )
            held[DEGREES.index(degree)] = True
        return held

    def _orientation(self, label, shape, orientation, normal):
        if normal is not None:
            if not isinstance(shape, HalfSpace):
                raise SceneError(f"{label}: normal is for half-spaces; give an orientation")
            n = self._vector("normal", normal)
            size = np.linalg.norm(n)
            if not size > 0:
                raise SceneError(f"{label}: normal is zero; expected a direction")
            n = n / size
            if self.dim == 2:
                return rotations.about_z(np.arctan2(n[1], n[0]) - np.pi / 2)
            return rotations.aligning_z(n)
        quaternion = rotations.from_orientation(label, orientation, self.dim)
        if self.dim == 2 and orientation is not None and abs(orientation) > 2 * np.pi:
            warn(
                f"{label}: orientation is {orientation:g}, more than a turn; expected an angle "
                f"in radians: {orientation:g} degrees are {np.radians(orientation):.6g}",
                SceneWarning,
            )
        return quaternion

    def _vector(self, what, value):
        return self._vectors(what, [value])[0]

    def _vectors(self, what, values, count=None):
        """(k, dim) finite numbers as (k, 3)."""
        try:
            array = np.asarray(values, float)
        except (TypeError, ValueError):
            array = np.full((1, 1), np.nan)
        if array.ndim != 2 or array.shape[1] != self.dim or not np.isfinite(array).all():
            shown = values[0] if len(values) == 1 else f"an array of shape {array.shape}"
            raise SceneError(f"{what}: found {shown!r}; expected {self.dim} finite numbers each")
        if count is not None and len(array) != count:
            raise SceneError(f"{what}: found {counted(len(array), 'row')}; expected {count}")
        out = np.zeros((len(array), 3))
        out[:, : self.dim] = array
        return out

    def _turns(self, what, values, count):
        if self.dim == 3:
            return self._vectors(what, values, count)
        try:
            array = np.asarray(values, float)
        except (TypeError, ValueError):
            array = np.zeros((0, 0))
        if array.shape != (count,) or not np.isfinite(array).all():
            raise SceneError(f"{what}: found {values!r}; expected one number [rad/s] each in 2D")
        return np.column_stack([np.zeros((count, 2)), array])

    @staticmethod
    def _turned(quaternions, count):
        """(k, 4) unit quaternions."""
        try:
            q = np.asarray(quaternions, float)
        except (TypeError, ValueError):
            q = np.zeros(0)
        if q.shape != (count, 4) or not np.isfinite(q).all() or not q.any(axis=1).all():
            raise SceneError(
                f"quaternions: found an array of shape {q.shape}; expected {counted(count, 'row')} "
                "(w, x, y, z), finite and not zero"
            )
        return rotations.unit(q)

    def _loads(self, loads, count):
        try:
            array = np.asarray(loads, float)
        except (TypeError, ValueError):
            array = np.zeros(0)
        columns = {2: {2: (0, 1), 3: (0, 1, 5)}, 3: {3: (0, 1, 2), 6: tuple(range(6))}}[self.dim]
        good = array.ndim == 2 and len(array) == count and array.shape[1] in columns
        if not good or not np.isfinite(array).all():
            sizes = " or ".join(str(s) for s in columns)
            raise SceneError(f"load: found {loads!r}; expected {sizes} finite numbers each")
        out = np.zeros((count, 6))
        out[:, columns[array.shape[1]]] = array
        return out


class _Table:
    """Distinct shapes or materials, each with its row: equal ones share theirs."""

    def __init__(self, entries=()):
        self.entries, self._rows = list(entries), {}
        for row, entry in enumerate(self.entries):
            self._rows.setdefault(entry, row)

    def __contains__(self, entry):
        return entry in self._rows

    def row(self, entry) -> int:
        """Row of ``entry``, added if new."""
        row = self._rows.setdefault(entry, len(self.entries))
        if row == len(self.entries):
            self.entries.append(entry)
        return row


def _of_each(shapes, name):
    """An attribute of each shape, (k, ...)."""
    return np.array([getattr(shape, name) for shape in shapes])


OVERLAP = 1e-6
"""Overlap of two parts, over the smaller one's radius, from which it is told of."""


def _warn_of_pieces(name: str, shape: Shape) -> None:
    """Faces that look as if they had fallen into pieces by rounding."""
    parts = [p for p, _, _ in shape.parts] if isinstance(shape, Compound) else [shape]
    for place, part in enumerate(parts):
        doubt = getattr(part, "doubt", "")
        if doubt:
            where = f", part {place}" if part is not shape else ""
            warn(f"body {name!r}{where}: {doubt}", SceneWarning)
            break


def _warn_of_overlap(name: str, shape: Compound, mass_given: bool) -> None:
    """Mass properties of a compound are sums over its parts, wrong where they overlap."""
    twice = [] if mass_given else ["mass"]
    twice += [] if "inertia_per_mass" in shape.given else ["inertia"]
    if not twice:
        return
    parts = Scene(dim=shape.dim)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)  # told with the body's name
        for part, at, turn in shape.parts:
            parts.add(part, position=at, orientation=turn)
    try:
        contacts = find_contacts(parts.bodies, parts.state, 0.0)
    except ContactError:  # of parts with one centre
        found = "two parts have the same centre"
    else:
        size = parts.bodies.bounding_radius[contacts.body].min(axis=1)
        deep = -contacts.gap / size
        if not deep.max(initial=0.0) > OVERLAP:
            return
        i, j = contacts.body[deep.argmax()]
        found = f"parts {i} and {j} overlap by {-contacts.gap[deep.argmax()]:.3g} m"
    remedy = {"mass": "the body's mass", "inertia": "the compound's inertia_per_mass"}
    warn(
        f"body {name!r}: {found}, which counts twice in {' and '.join(twice)}; give "
        f"{' and '.join(remedy[what] for what in twice)} if that matters",
        SceneWarning,
    )
