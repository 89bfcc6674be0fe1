"""The tables of a scene file: which keys there are, what they may hold, the words for faults."""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .._support.words import counted
from ..bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..errors import nearest
from .names import GALLERY

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Vector = Annotated[list[float], Field(min_length=2, max_length=3)]

SHAPES = {
    "sphere": ("radius",),
    "half-space": (),
    "box": ("size",),
    "capsule": ("radius", "length"),
    "cylinder": ("radius", "length"),
    "ellipsoid": ("semi_axes",),
    "polyhedron": ("points", "mesh"),
    "disk": ("radius",),
    "rectangle": ("size",),
    "polygon": ("points",),
    "compound": ("parts",),
}
PARTS = tuple(shape for shape in SHAPES if shape not in ("half-space", "compound"))
"""Shapes that the parts of a compound may have."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class MaterialTable(_Strict):
    young: Positive = 50e9
    poisson: Annotated[float, Field(gt=-1, le=0.5)] = 0.25
    density: Positive = 2000.0
    friction: NotNegative = 0.0
    tangential_stiffness: Positive | None = None


class ShapeTable(_Strict):
    position: Vector | None = None
    radius: Positive | None = None
    length: Positive | None = None
    size: list[Positive] | None = None
    semi_axes: list[Positive] | None = None
    points: list[Vector] | None = None
    mesh: str | None = None
    mesh_scale: Positive = 1.0
    flat: NotNegative | None = None
    orientation: float | list[float] | None = None


class PartTable(ShapeTable):
    shape: Literal[PARTS]
    density: Positive = 1.0


class BodyTable(ShapeTable):
    shape: Literal[tuple(SHAPES)]
    parts: Annotated[list[PartTable], Field(min_length=1)] | None = None
    centre: Vector | None = None
    inertia_per_mass: float | list[float] | list[list[float]] | None = None
    name: str | None = None
    normal: Vector | None = None
    velocity: Vector | None = None
    angular_velocity: float | Vector | None = None
    material: str | None = None
    mass: Positive | None = None
    fixed: bool | list[str] = False
    load: list[float] | None = None
    group: str | None = None


class LatticeTable(BodyTable):
    counts: list[Annotated[int, Field(ge=1)]]
    spacing: Positive | list[Positive]
    radii: Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    jitter: NotNegative = 0.0
    seed: Annotated[int, Field(ge=0)] = 0


class PairTable(_Strict):
    bodies: Annotated[list[str], Field(min_length=2, max_length=2)]
    stiffness: Positive | None = None
    friction: NotNegative | None = None
    tangential_stiffness: Positive | None = None
    collide: Literal[False] | None = None


class SceneTable(_Strict):
    name: str = "scene"
    description: str = ""
    gallery: Literal[tuple(GALLERY)] | None = None
    parameters: dict = {}
    dim: Literal[2, 3] = 3
    gravity: Vector | None = None
    restitution: Annotated[float, Field(ge=0, le=1)] = 0.0
    law: str | float = "hooke"
    tangential_law: Literal[TANGENTIAL_LAWS] = MINDLIN
    increments: Annotated[int, Field(ge=1)] = 1
    dt: Positive = 1e-3
    duration: Positive = 0.1
    materials: dict[str, MaterialTable] = {}
    bodies: list[BodyTable] = []
    lattices: list[LatticeTable] = []
    pairs: list[PairTable] = []


EITHER = {
    "fixed": 'true, false, or some of ["x", "y", "z", "rx", "ry", "rz"]',
    "orientation": "a quaternion [w, x, y, z], or an angle in 2D",
    "inertia_per_mass": "three numbers, three rows of them, or one in 2D",
    "angular_velocity": "three numbers, or one in 2D",
    "law": "'hooke', 'hertz' or an exponent p > 1",
    "spacing": "a positive number, or one per axis",
}
"""Keys of more than one type, and what they may hold."""


WORDS = (
    ("input should be", "expected"),
    ("valid dictionary or instance of materialtable", "table"),
    ("valid dictionary", "table"),
    ("list should have", "expected"),
    (" after validation", ""),
    ("valid integer", "whole number"),
    ("valid ", ""),
)
"""What pydantic says, and what is said here."""


def first_fault(error: ValidationError) -> str:
    """The first fault in one line: key path, what was found, what was expected."""
    fault = error.errors()[0]
    loc, key, name = fault["loc"], _key(fault["loc"]), _names(fault["loc"])[-1]
    # the branches of a union fail one by one, and are one fault
    others = {_key(each["loc"]) for each in error.errors()} - {key}
    others = {other for other in others if not other.startswith(key + "[")}
    more = f" ({counted(len(others), 'more fault')})" if others else ""
    if fault["type"] == "extra_forbidden":
        return f"{key}: unknown key; {_instead(name, _owner(loc))}{more}"
    if fault["type"] == "missing":
        return f"{key}: missing; add {name} to this table{more}"
    if fault["type"] == "list_type" and isinstance(fault["input"], dict):
        return f"{key}: found one table; expected [[{name}]], with two brackets, for each{more}"
    found = f"found {fault['input']!r}; " if not isinstance(fault["input"], dict) else ""
    if name in EITHER:
        return f"{key}: {found}expected {EITHER[name]}{more}"
    known = _choices(_owner(loc), name)
    if fault["type"] == "literal_error" and known:
        return f"{key}: {found}{nearest(fault['input'], known)}{more}"
    said = fault["msg"].lower()
    for pydantics, ours in WORDS:
        said = said.replace(pydantics, ours)
    return f"{key}: {found}{said}{more}"


def _instead(name: str, table: type[BaseModel]) -> str:
    """What to write in place of an unknown key."""
    if name in MaterialTable.model_fields and name in PairTable.model_fields:
        return f"{name} belongs to materials, [materials.NAME], or to two bodies, [[pairs]]"
    if table is not SceneTable and name in SceneTable.model_fields:
        return f"{name} is one for the whole scene; put it above the tables"
    return nearest(name, table.model_fields)


def _names(loc: tuple) -> list:
    """The keys on the way to a fault, without the branches of a union, which pydantic names by
    their type after the key: ("bodies", 0, "fixed", "list[str]"). A user's own name stays."""
    if loc[0] == "materials":
        return list(loc)
    return [
        part
        for part, before in zip(loc, (None, *loc), strict=False)
        if not (before in EITHER and isinstance(part, str))
    ]


def _key(loc: tuple) -> str:
    """The way to a fault as a user reads it: bodies[0].radius."""
    place = []
    for part in _names(loc):
        if isinstance(part, int):
            place[-1] += f"[{part}]"
        else:
            place.append(part)
    return ".".join(place) or "scene"


def _owner(loc: tuple) -> type[BaseModel]:
    """The table that a key of this place belongs to."""
    owners = {"bodies": BodyTable, "lattices": LatticeTable, "pairs": PairTable}
    owners["materials"] = MaterialTable
    if len(loc) > 3 and loc[2] == "parts":
        return PartTable
    return owners.get(str(loc[0]), SceneTable) if len(loc) > 1 else SceneTable


def _choices(table: type[BaseModel], key) -> list[str]:
    """The names that a key may have, if it is one of a few names."""
    field = table.model_fields.get(key)
    found = [] if field is None else [field.annotation, *get_args(field.annotation)]
    return [name for each in found for name in get_args(each) if isinstance(name, str)]
