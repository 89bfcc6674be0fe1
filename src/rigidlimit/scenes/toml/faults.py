"""Faults in the tables of a scene file, in words: the key, what was found, what was expected."""

from typing import get_args

from pydantic import BaseModel, ValidationError

from ..._support.words import counted
from ...errors import nearest
from .tables import (
    BodyTable,
    CellTable,
    ContactTable,
    LatticeTable,
    MaterialTable,
    PairTable,
    PartTable,
    PathTable,
    SceneTable,
)

EITHER = {
    "fixed": 'true, false, or some of ["x", "y", "z", "rx", "ry", "rz"]',
    "orientation": "a quaternion [w, x, y, z], or an angle in 2D",
    "inertia_per_mass": "three numbers, three rows of them, or one in 2D",
    "angular_velocity": "three numbers, or one in 2D",
    "law": "'hooke', 'hertz' or an exponent p > 1",
    "spacing": "a positive number, or one per axis",
    "vectors": "side lengths, or vectors row by row",
    "periodic": "true, or true and false for each direction",
    "stress": "a pressure, or a tensor row by row",
    "path": "a table [path], or several [[path]]",
    "pressures": "positive numbers, one a stage",
    "stresses": "positive numbers, one a stage",
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
    faults = error.errors()
    # a list where one table may stand as well is no fault, but what is in it
    fault = next((f for f in faults if f["type"] not in ("model_type", "dict_type")), faults[0])
    loc, key, name = fault["loc"], _key(fault["loc"]), _names(fault["loc"])[-1]
    # the branches of a union fail one by one, and are one fault
    others = {_key(each["loc"]) for each in faults} - {key}
    others = {
        o for o in others if not (o.startswith(key + "[") or key.startswith((o + ".", o + "[")))
    }
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
    owners |= {"materials": MaterialTable, "cell": CellTable, "path": PathTable}
    owners["contacts"] = ContactTable
    if len(loc) > 3 and loc[2] == "parts":
        return PartTable
    return owners.get(str(loc[0]), SceneTable) if len(loc) > 1 else SceneTable


def _choices(table: type[BaseModel], key: str) -> list[str]:
    """The names that a key may have, if it is one of a few names."""
    field = table.model_fields.get(key)
    found = [] if field is None else [field.annotation, *get_args(field.annotation)]
    return [name for each in found for name in get_args(each) if isinstance(name, str)]
