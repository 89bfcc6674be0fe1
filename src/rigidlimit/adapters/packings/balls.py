"""What a file says of balls, and the scene made of it."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...bodies import Cell, Disk, HalfSpace, Material, Sphere, rotations
from ...bodies.bodies import PLANAR
from ...bodies.shapes import LEAST, MOST
from ...errors import InputError
from ...scenes.scene import Scene
from ..tolerances import TOLERANCES
from .box import FACES, Box
from .lines import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

UNITS = {
    "si": (1.0, 1.0, 1.0),
    "lj": (1.0, 1.0, 1.0),
    "cgs": (1e-2, 1e-3, 1.0),
    "micro": (1e-6, 1e-15, 1e-6),
    "nano": (1e-9, 1e-21, 1e-9),
}
"""LAMMPS' styles of units: metres, kilograms and seconds in one of length, mass and time."""


def newtons(units: str) -> float:
    """Newtons in one of LAMMPS' units of force."""
    length, mass, time = UNITS[units or "si"]
    return mass * length / time**2


@dataclass(frozen=True)
class Balls:
    """n balls as a file has them.

    id (n,): numbers or names. position (n, 3), radius (n,); type (n,) int, mass (n,), density
    (n,), velocity (n, 3), spin (n, 3) where they are given, else None; held (n,) bool: those that
    the file says not to move. columns: the other numbers
    of the file by name, as they stand. units: stated by the file, or "". planar: no z is given.
    """

    id: np.ndarray
    position: np.ndarray
    radius: np.ndarray | None
    type: np.ndarray | None = None
    mass: np.ndarray | None = None
    density: np.ndarray | None = None
    velocity: np.ndarray | None = None
    spin: np.ndarray | None = None
    box: Box | None = None
    held: np.ndarray | None = None
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    units: str = ""
    planar: bool = False

    @classmethod
    def of_columns(
        cls, text: Text, lines: "Sequence[int]", column: dict[str, np.ndarray], **known
    ) -> "Balls":
        """Balls that stand in these lines, their radius (or diameter), id, type, mass and density
        by columns of these names. Those are taken out, the others stay. known: all else, and ids
        that are no numbers. Raises InputError, with the line."""
        radius = column.pop("radius", None)
        if radius is None and "diameter" in column:
            radius = column.pop("diameter") / 2
        for name in ("id", "type"):
            if name in column:
                known[name] = text.whole(lines, name, column.pop(name))
        known.setdefault("id", np.arange(len(lines)))
        mass, density = column.pop("mass", None), column.pop("density", None)
        return cls(radius=radius, mass=mass, density=density, columns=column, **known)

    def __len__(self) -> int:
        return len(self.position)

    def sorted(self) -> "Balls":
        """In the order of their ids, which a parallel program does not keep when it writes."""
        order = np.argsort(self.id, kind="stable")
        arrays = ("id", "position", "radius", "type", "mass", "density", "velocity", "spin", "held")
        known = {k: getattr(self, k)[order] for k in arrays if getattr(self, k) is not None}
        return replace(self, columns={k: v[order] for k, v in self.columns.items()}, **known)

    def with_radius(self, radius: float | dict[int, float] | None) -> "Balls":
        """With radii (a number, or {type: number}) where the file has none."""
        if self.radius is not None:
            if radius is not None:
                raise InputError("radius is given, but the file has radii; remove radius=")
            return self
        if radius is None:
            raise InputError(
                "the file has no column radius or diameter; expected one, or radius=, a number or "
                "{type: number}"
            )
        return replace(self, radius=self._of_types("radius", radius))

    def _of_types(self, what: str, value) -> np.ndarray:
        if not isinstance(value, dict):
            return np.full(len(self), float(value))
        kinds = np.ones(len(self), int) if self.type is None else self.type
        missing = sorted(set(kinds.tolist()) - set(value))
        if missing:
            raise InputError(f"{what}: none for type {missing[0]}; expected one for each type")
        return np.array([value[kind] for kind in kinds.tolist()], float)

    def scaled(self, units: str | None) -> "Balls":
        """In SI units."""
        if units is not None and self.units and units != self.units:
            raise InputError(f"units is {units!r}, but the file says {self.units!r}; remove units=")
        style = units or self.units or "si"
        if style not in UNITS:
            raise InputError(f"units are {style!r}; expected one of {', '.join(UNITS)}")
        length, mass, time = UNITS[style]
        if (length, mass, time) == (1.0, 1.0, 1.0):
            return self
        factors = dict(
            position=length, radius=length, mass=mass, density=mass / length**3,
            velocity=length / time, spin=1 / time,
        )  # fmt: skip
        known = {
            k: getattr(self, k) * f for k, f in factors.items() if getattr(self, k) is not None
        }
        box = self.box
        if box is not None:
            box = Box(box.origin * length, box.edges * length, box.periodic)
        return replace(self, box=box, **known)

    def masses(self) -> np.ndarray | None:
        """(n,) [kg], of a ball also in the plane, as LAMMPS has it; None where unknown."""
        if self.mass is not None or self.density is None:
            return self.mass
        return self.density * 4 / 3 * np.pi * self.radius**3


def vectors(
    column: dict[str, np.ndarray], axes: "Sequence[str]", *, whole: bool = False
) -> np.ndarray | None:
    """(n, 3) of three columns, which are taken out, zero where one is missing; None without any, or
    with ``whole`` where one is missing."""
    there = [axis in column for axis in axes]
    if not (all(there) if whole else any(there)):
        return None
    zero = np.zeros(len(next(iter(column.values()))))
    return np.column_stack([column.pop(axis, zero) for axis in axes])


def as_scene(
    balls: Balls,
    name: str,
    *,
    dim: int | None,
    material: Material | dict | None,
    fixed: "Sequence[int]",
    walls: "bool | Sequence[str]",
    wall_material: Material | None,
    **of_scene,
) -> Scene:
    """The scene of balls in SI units, then its walls. Options as of ``read_packing``."""
    dim = dim or (2 if balls.planar else 3)
    cell = None
    if balls.box is not None and balls.box.periodic[:dim].any():
        along = balls.box.periodic[:dim].tolist()
        cell = Cell(balls.box.edges[:dim, :dim], periodic=along)
    scene = Scene(name=name, dim=dim, cell=cell, **of_scene)
    if not len(balls):
        raise InputError("the file has no balls; expected some")
    _check(balls, dim)
    kinds = np.ones(len(balls), int) if balls.type is None else balls.type
    materials, material_of = _materials(kinds, material)
    radii, shape_of = np.unique(balls.radius, return_inverse=True)
    shapes = [(Disk if dim == 2 else Sphere)(float(radius)) for radius in radii]
    mass = balls.masses()
    if mass is None:
        density = np.array([entry.density for entry in materials])[material_of]
        mass = density * np.array([s.measure for s in shapes])[shape_of]
    free = np.tile(PLANAR if dim == 2 else np.ones(6, bool), (len(balls), 1))
    free[np.isin(kinds, list(fixed))] = False
    if balls.held is not None:
        free[balls.held] = False
    lost = ~(np.isfinite(mass) & ((mass > 0.0) | ~free.any(axis=1)))
    if lost.any():
        k = int(np.argmax(lost))
        raise InputError(
            f"ball {balls.id[k]}: its radius and density make a mass of {mass[k]:g} kg; expected "
            "a positive number"
        )
    columns = dict(
        **_poses(balls, dim),
        shape_of=shape_of.astype(np.int64),
        material_of=material_of.astype(np.int64),
        mass=mass,
        free=free,
    )
    scene.fill([str(each) for each in balls.id.tolist()], shapes, materials, columns)
    faces = wall_faces(balls.box, walls, dim)
    of_walls = _wall_material(material, wall_material) if faces else None
    for face in faces:
        point, normal = (each[:dim] for each in balls.box.wall(face))
        placed = dict(position=point, normal=normal, name=f"wall-{face}")
        scene.add(HalfSpace(dim), material=of_walls, **placed)
    return scene


def _poses(balls: Balls, dim: int) -> dict[str, np.ndarray]:
    """Columns of a scene: where balls are, and how they move."""
    n = len(balls)
    position, velocity = balls.position.copy(), np.zeros((n, 6))
    for columns, values in ((slice(0, 3), balls.velocity), (slice(3, 6), balls.spin)):
        if values is not None:
            velocity[:, columns] = values
    if dim == 2:
        position[:, 2], velocity[:, 2:5] = 0.0, 0.0
    return dict(
        position=position,
        quaternion=rotations.identity(n),
        velocity=velocity,
        load=np.zeros((n, 6)),
    )


def _check(balls: Balls, dim: int) -> None:
    """What the numbers of a line do not show: each by the ball that has it."""

    def check(wrong: np.ndarray, what: str, values: np.ndarray, expected: str) -> None:
        if wrong.any():
            k = int(np.argmax(wrong))
            raise InputError(f"ball {balls.id[k]}: {what} is {values[k]}; expected {expected}")

    names, count = np.unique(balls.id, return_counts=True)
    if (count > 1).any():
        raise InputError(f"ball {names[count > 1][0]} is there twice; expected distinct ids")
    check(~(balls.radius > 0), "radius", balls.radius, "a positive one")
    size = f"one of {LEAST:g} to {MOST:g} m, of which there are masses"
    check((balls.radius < LEAST) | (balls.radius > MOST), "radius", balls.radius, size)
    if balls.mass is not None:
        check(~(balls.mass > 0), "mass", balls.mass, "a positive one")
    elif balls.density is not None:
        check(~(balls.density > 0), "density", balls.density, "a positive one")
    if dim == 2:
        z = balls.position[:, 2]
        off = np.abs(z - z[0]) > TOLERANCES.flat * balls.radius.mean()
        check(off, "z", z, f"{z[0]} as of the first: a scene of dim 2 lies in a plane")


def _materials(kinds: np.ndarray, material) -> tuple[list[Material], np.ndarray]:
    """(materials, (n,) which of them each ball has)."""
    types, row = np.unique(kinds, return_inverse=True)
    if not isinstance(material, dict):
        material = Material() if material is None else material
        if len(types) == 1:
            return [material], row
        # alike, but types go on to files that are written
        return [replace(material, name=f"{material.name} {kind}") for kind in types], row
    missing = [int(kind) for kind in types if int(kind) not in material]
    if missing:
        raise InputError(f"material: none for type {missing[0]}; expected one for each type")
    return [material[int(kind)] for kind in types], row


def _wall_material(material: Material | dict | None, own: Material | None) -> Material:
    """That of the walls: their own, or that of all balls."""
    if own is not None:
        return own
    if isinstance(material, dict):
        raise InputError("walls: the balls have materials by type; expected wall_material= too")
    return Material() if material is None else material


def wall_faces(box: Box | None, walls, dim: int) -> list[str]:
    """Names of the faces of the box that become walls."""
    if walls is False:
        return []
    if box is None:
        raise InputError("walls: the file has no box; remove walls=, or add half-spaces by hand")
    known = FACES[: 2 * dim]
    if walls is True:
        return [face for k, face in enumerate(known) if not box.periodic[k // 2]]
    for face in walls:
        if face not in known:
            raise InputError(f"walls: found {face!r}; expected True, or some of {', '.join(known)}")
    return list(walls)


def kept_axes(periodic: str) -> np.ndarray:
    """Along which axes a periodic box stays so, (3,) bool."""
    if periodic in ("keep", "ignore"):
        return np.full(3, periodic == "keep")
    axes = set(periodic) if isinstance(periodic, str) else set()
    if not axes or not axes <= set("xyz"):
        raise InputError(f"periodic is {periodic!r}; expected 'keep', 'ignore', or axes, like 'xy'")
    return np.array([axis in axes for axis in "xyz"])


def periodic_down(balls: Balls, dim: int | None) -> bool:
    """Whether the file's box is periodic along the axis that gravity has by default."""
    return balls.box is not None and bool(balls.box.periodic[(dim or 3) - 1])


def check_width(balls: Balls, dim: int) -> None:
    """Raise InputError for balls that reach around a periodic box, as around that of one layer."""
    if balls.box is None or not len(balls):
        return
    widest = int(np.argmax(balls.radius))
    across = 2.0 * balls.radius[widest]
    for k in np.flatnonzero(balls.box.periodic[:dim]):
        width = abs(np.linalg.det(balls.box.edges)) / np.linalg.norm(
            np.cross(balls.box.edges[k - 2], balls.box.edges[k - 1])
        )
        if across > width:
            axis = "xyz"[k]
            others = "xyz".replace(axis, "")
            raise InputError(
                f"ball {balls.id[widest]} measures {across:.4g} m, the periodic box {width:.4g} m "
                f"along {axis}; of one layer of balls give periodic={others!r}, or dim=2 for disks "
                "in the plane (--periodic, --dim); periodic='ignore' takes no box as periodic"
            )


def in_box(balls: Balls, along: np.ndarray) -> Balls:
    """With centres within the box along its periodic edges; then periodic along (3,) alone."""
    box = balls.box
    if box is None or not box.periodic.any():
        return balls
    balls = replace(balls, position=box.wrapped(balls.position))
    return replace(balls, box=Box(box.origin, box.edges, box.periodic & along))
