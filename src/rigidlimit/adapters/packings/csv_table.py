"""CSV with named columns: ``x [m], y [m], z [m], radius [mm], type, vx [m/s], ...``.

Names are followed by their unit in brackets, or are in SI units; commas, semicolons or tabs part
them. A file with x and y alone is a packing in the plane.
"""

import csv
import re

import numpy as np

from ...errors import InputError, nearest
from .balls import Balls
from .lines import Text

LENGTH = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "nm": 1e-9}
MASS = {"kg": 1.0, "g": 1e-3, "mg": 1e-6}
DENSITY = {"kg/m^3": 1.0, "kg/m3": 1.0, "g/cm^3": 1e3, "g/cm3": 1e3}
SPEED = {f"{unit}/s": factor for unit, factor in LENGTH.items()}
TURN = {"rad/s": 1.0, "1/s": 1.0}
NONE = {"": 1.0, "-": 1.0}

KNOWN = {
    "x": LENGTH, "y": LENGTH, "z": LENGTH, "radius": LENGTH, "diameter": LENGTH, "mass": MASS,
    "density": DENSITY, "vx": SPEED, "vy": SPEED, "vz": SPEED, "wx": TURN, "wy": TURN, "wz": TURN,
    "id": NONE, "type": NONE,
}  # fmt: skip
"""Units of each column, and what one of them is in SI."""

OTHER = {"r": "radius", "d": "diameter", "name": "id", "material": "type"} | {
    f"omega{axis}": f"w{axis}" for axis in "xyz"
}
HEAD = re.compile(r"^([^\[\(]*?)\s*(?:[\[\(]\s*(.*?)\s*[\]\)])?$")


def read_csv(text: Text) -> Balls:
    lines = [k for k, line in enumerate(text.lines) if line.strip() and line[0] != "#"]
    if not lines:
        raise InputError(f"{text.path}: an empty file; expected a line of names, then numbers")
    head = text.lines[lines[0]]
    delimiter = max(",;\t", key=head.count)
    titles = next(csv.reader([head], delimiter=delimiter))
    names, factors = zip(*(_column(text, lines[0], title) for title in titles), strict=True)
    for needed in ("x", "y"):
        if needed not in names:
            raise text.wrong(lines[0], f"a column {needed} [m]")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise text.wrong(lines[0], f"one column {twice}")
    rows = [next(csv.reader([text.lines[k]], delimiter=delimiter)) for k in lines[1:]]
    for k, row in zip(lines[1:], rows, strict=True):
        if len(row) != len(names):
            raise text.wrong(k, f"{len(names)} entries: {', '.join(names)}")
    column = {
        name: _numbers(text, lines[1:], [row[j] for row in rows], name) * factors[j]
        for j, name in enumerate(names)
        if name != "id"
    }
    if "id" in names:
        at = names.index("id")
        given = np.array([row[at].strip() for row in rows])
    else:
        given = np.arange(len(rows))
    zero, planar = np.zeros(len(rows)), "z" not in names
    radius = column.pop("radius", None)
    if "diameter" in column:
        if radius is not None:
            raise text.wrong(lines[0], "radius or diameter, one of them")
        radius = column.pop("diameter") / 2
    kinds = column.pop("type", None)
    vectors = {}
    for key, axes in (
        ("position", "xyz"),
        ("velocity", ("vx", "vy", "vz")),
        ("spin", ("wx", "wy", "wz")),
    ):
        if any(axis in column for axis in axes):
            vectors[key] = np.column_stack([column.pop(axis, zero) for axis in axes])
    return Balls(
        id=given,
        radius=radius,
        type=None if kinds is None else text.whole(lines[1:], "type", kinds),
        mass=column.pop("mass", None),
        density=column.pop("density", None),
        columns=column,
        planar=planar,
        **vectors,
    )


def _column(text: Text, line: int, title: str) -> tuple[str, float]:
    """(name, factor to SI) of a title."""
    name, unit = HEAD.match(title.strip()).groups()
    name = OTHER.get(name.strip().lower(), name.strip().lower())
    if name not in KNOWN or unit is None:
        return name, 1.0
    if unit not in KNOWN[name]:
        raise text.wrong(line, f"a unit of {name}: {nearest(unit, KNOWN[name])}")
    return name, KNOWN[name][unit]


def _numbers(text: Text, lines, words, name) -> np.ndarray:
    try:
        values = np.array(words, float)
    except ValueError:
        values = np.array([_number(word) for word in words])
    if name in KNOWN and not np.isfinite(values).all():
        raise text.wrong(lines[int(np.argmin(np.isfinite(values)))], f"a number for {name}")
    return values


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan
