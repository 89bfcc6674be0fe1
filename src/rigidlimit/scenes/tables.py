"""The tables of a scene file: which keys there are, what they may hold, the words for faults."""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import nearest
from ..words import counted
from .gallery import GALLERY

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
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
}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MaterialTable(_Strict):
    young: Positive = 50e9
    poisson: Annotated[float, Field(gt=-1, le=0.5)] = 0.25
    density: Positive = 2000.0


class BodyTable(_Strict):
    shape: Literal[tuple(SHAPES)]
    position: Vector | None = None
    name: str | None = None
    radius: Positive | None = None
    length: Positive | None = None
    size: list[Positive] | None = None
    semi_axes: list[Positive] | None = None
    points: list[Vector] | None = None
    mesh: str | None = None
    mesh_scale: Positive = 1.0
    orientation: float | list[float] | None = None
    normal: Vector | None = None
    velocity: Vector | None = None
    angular_velocity: float | Vector | None = None
    material: str | None = None
    mass: Positive | None = None
    fixed: bool | list[str] = False
    load: list[float] | None = None


class LatticeTable(BodyTable):
    counts: list[Annotated[int, Field(ge=1)]]
    spacing: list[Positive]


class PairTable(_Strict):
    bodies: Annotated[list[str], Field(min_length=2, max_length=2)]
    stiffness: Positive


class SceneTable(_Strict):
    name: str = "scene"
    description: str = ""
    gallery: Literal[tuple(GALLERY)] | None = None
    parameters: dict = {}
    dim: Literal[2, 3] = 3
    gravity: Vector | None = None
    restitution: Annotated[float, Field(ge=0, le=1)] = 0.0
    law: str | float = "hooke"
    dt: Positive = 1e-3
    duration: Positive = 0.1
    materials: dict[str, MaterialTable] = {}
    bodies: list[BodyTable] = []
    lattices: list[LatticeTable] = []
    pairs: list[PairTable] = []


def first_fault(error: ValidationError) -> str:
    """The first fault in one line: key path, what was found, what was expected."""
    fault = error.errors()[0]
    place = []
    for part in fault["loc"]:
        if isinstance(part, int):
            place[-1] += f"[{part}]"
        elif part in ("float", "bool", "str") or part.startswith("list["):
            continue  # a branch of a union, not a key
        else:
            place.append(part)
    key = ".".join(place) or "scene"
    others = error.error_count() - 1
    more = f" ({counted(others, 'more fault')})" if others else ""
    if fault["type"] == "extra_forbidden":
        return f"{key}: unknown key; {nearest(place[-1], _owner(fault['loc']).model_fields)}{more}"
    if fault["type"] == "missing":
        return f"{key}: missing; add {place[-1]} to this table{more}"
    found = f"found {fault['input']!r}; " if not isinstance(fault["input"], dict) else ""
    known = _choices(_owner(fault["loc"]), fault["loc"][-1])
    if fault["type"] == "literal_error" and known:
        return f"{key}: {found}{nearest(fault['input'], known)}{more}"
    said = fault["msg"].lower().replace("input should be", "expected")
    return f"{key}: {found}{said}{more}"


def _owner(loc: tuple) -> type[BaseModel]:
    """The table that a key of this place belongs to."""
    owners = {"bodies": BodyTable, "lattices": LatticeTable, "pairs": PairTable}
    owners["materials"] = MaterialTable
    return owners.get(str(loc[0]), SceneTable) if len(loc) > 1 else SceneTable


def _choices(table: type[BaseModel], key) -> list[str]:
    """The names that a key may have, if it is one of a few names."""
    field = table.model_fields.get(key)
    found = [] if field is None else [field.annotation, *get_args(field.annotation)]
    return [name for each in found for name in get_args(each) if isinstance(name, str)]
