"""Tables of numbers without names of columns, whose meaning is given: ``columns="x y z diameter"``.

Words are parted by blanks, tabs, commas or semicolons; lines that begin with # are left out.
"""

import numpy as np

from ...errors import InputError, nearest
from .balls import Balls, vectors
from .lines import Text, number

LENGTHS = ("x", "y", "z", "radius", "diameter")
KNOWN = (*LENGTHS, "mass", "density", "vx", "vy", "vz", "wx", "wy", "wz", "id", "type")
OTHER = {"r": "radius", "d": "diameter"}
LEFT_OUT = "-"


def read_raw(text: Text, columns: str) -> Balls:
    """The balls of a table with these columns, in SI units; "-" for one that is left out, and more
    at the end of a line are left out. Raises InputError."""
    names = [OTHER.get(name, name) for name in columns.replace(",", " ").split()]
    _check(names)
    lines = [k for k, line in enumerate(text.lines) if line.strip() and line.lstrip()[0] != "#"]
    if not lines:
        raise InputError(f"{text.path}: no line with numbers; expected {' '.join(names)}")
    wanted = f"{len(names)} numbers or more: {' '.join(names)}"
    values = np.empty((len(lines), len(names)))
    for row, line in enumerate(lines):
        words = text.lines[line].replace(",", " ").replace(";", " ").split()
        missing = ["nan"] * (len(names) - len(words))
        values[row] = [number(word) for word in (words + missing)[: len(names)]]
        used = [value for value, name in zip(values[row], names, strict=True) if name != LEFT_OUT]
        if not np.isfinite(used).all():
            raise text.wrong(line, wanted)
    column = {name: values[:, k] for k, name in enumerate(names) if name != LEFT_OUT}
    return Balls.of_columns(
        text,
        lines,
        column,
        planar="z" not in column,
        position=vectors(column, "xyz"),
        velocity=vectors(column, ("vx", "vy", "vz")),
        spin=vectors(column, ("wx", "wy", "wz")),
    )


def _check(names: list[str]) -> None:
    for name in names:
        if name not in (*KNOWN, LEFT_OUT):
            raise InputError(
                f"columns: found {name!r}; {nearest(name, KNOWN)}, or - for one that is left out"
            )
    given = [name for name in names if name != LEFT_OUT]
    if len(set(given)) < len(given) or not {"x", "y"} <= set(given):
        raise InputError(f"columns are {' '.join(names)!r}; expected x and y, and each once")
    if {"radius", "diameter"} <= set(given):
        raise InputError("columns: found radius and diameter; expected one of them")
