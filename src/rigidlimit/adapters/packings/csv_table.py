"""CSV with named columns: ``x [m], y [m], z [m], radius [mm], type, vx [m/s], ...``.

Names are followed by their unit in brackets, or are in SI units; commas, semicolons or tabs part
them. A file with x and y alone is a packing in the plane.
"""

import csv
import re
from collections.abc import Sequence

import numpy as np

from ...errors import InputError, nearest
from .balls import Balls, vectors
from .lines import Text, number

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
    """The balls of a table."""
    lines = [k for k, line in enumerate(text.lines) if line.strip() and line[0] != "#"]
    if not lines:
        raise InputError(f"{text.path}: an empty file; expected a line of names, then numbers")
    top, lines = lines[0], lines[1:]
    if not lines:
        raise InputError(f"{text.path}: a line of names alone; expected numbers below it")
    delimiter = max(",;\t", key=text.lines[top].count)
    table = list(csv.reader([text.lines[k] for k in (top, *lines)], delimiter=delimiter))
    names, factors = zip(*(_column(text, top, title) for title in table[0]), strict=True)
    _check_names(text, top, names)
    for k, row in zip(lines, table[1:], strict=True):
        if len(row) != len(names):
            raise text.wrong(k, f"{len(names)} entries: {', '.join(names)}")
    words = dict(zip(names, zip(*table[1:], strict=True), strict=True))
    given = words.pop("id", None)
    column = {
        name: _numbers(text, lines, words[name], name) * factor
        for name, factor in zip(names, factors, strict=True)
        if name != "id"
    }
    ids = {} if given is None else {"id": np.array([word.strip() for word in given])}
    return Balls.of_columns(
        text,
        lines,
        column,
        position=vectors(column, "xyz"),
        velocity=vectors(column, ("vx", "vy", "vz")),
        spin=vectors(column, ("wx", "wy", "wz")),
        planar="z" not in names,
        **ids,
    )


def _check_names(text: Text, line: int, names: Sequence[str]) -> None:
    for needed in ("x", "y"):
        if needed not in names:
            raise text.wrong(line, f"a column {needed} [m]")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise text.wrong(line, f"one column {twice}")
    if "radius" in names and "diameter" in names:
        raise text.wrong(line, "radius or diameter, one of them")


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
        values = np.array([number(word) for word in words])
    if name in KNOWN and not np.isfinite(values).all():
        raise text.wrong(lines[int(np.argmin(np.isfinite(values)))], f"a number for {name}")
    return values
