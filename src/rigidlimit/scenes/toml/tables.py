"""The tables of a scene file: which keys there are, and what they may hold."""

import json
from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ...bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..names import GALLERY

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


class ContactTable(_Strict):
    bodies: Annotated[list[str], Field(min_length=2, max_length=2)]
    feature: Annotated[int, Field(ge=0)] = 0
    normal: Vector
    tangent: Vector | None = None
    force: NotNegative
    tangential_force: Vector
    kept_force: float | None = None
    kept_tangential_force: Vector | None = None


class CellTable(_Strict):
    vectors: list[float] | list[list[float]]
    periodic: bool | list[bool] = True
    stress: float | list[list[float]] | None = None
    rate: list[list[float]] | None = None
    inertia: Positive | None = None


class PathTable(_Strict):
    kind: Literal[
        "isotropic", "oedometer", "uniaxial", "triaxial", "simple-shear", "pure-shear", "free"
    ]
    pressures: Positive | list[Positive] | None = None
    stresses: Positive | list[Positive] | None = None
    strain: float | None = None
    steps: Annotated[int, Field(ge=1)] | None = None
    pressure: Positive | None = None
    inertial_number: Positive | None = None
    dt: Positive | None = None
    axis: Literal["x", "y", "z"] | None = None
    stress: list[list[float]] | None = None
    rate: list[list[float]] | None = None


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
    contacts: list[ContactTable] = []
    cell: CellTable | None = None
    path: PathTable | list[PathTable] = []


def toml_value(value: object) -> str:
    """One TOML value; floats in the shortest form that reads back the same."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(v)}" for key, v in value.items()) + " }"
    if np.ndim(value) == 0 and isinstance(value, np.ndarray):
        return toml_value(value[()])
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join(f"    {toml_value(v)},\n" for v in value) + "]"
    return "[" + ", ".join(toml_value(v) for v in value) + "]"


def lines_of(keys: Mapping[str, object], heading: str = "") -> list[str]:
    """Lines of a table, below its heading if it has one: a key each, but for values of None."""
    head = ["", heading] if heading else []
    return head + [f"{key} = {toml_value(v)}" for key, v in keys.items() if v is not None]
