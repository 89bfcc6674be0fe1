"""Which format a file of balls has, and its reader."""

from ...errors import InputError
from .balls import Balls
from .csv_table import read_csv
from .lammps_data import begins_data, read_data
from .lammps_dump import begins_dump, read_dump
from .lines import Text, is_number
from .mercury import begins_mercury, begins_restart, read_mercury, read_restart
from .raw_table import read_raw
from .vtk_points import begins_vtk, read_vtk
from .yade_text import read_yade, says_format

FORMATS = {
    "lammps-dump": "LAMMPS or LIGGGHTS dump",
    "lammps-data": "LAMMPS or LIGGGHTS data file",
    "yade": "YADE text",
    "mercury-data": "MercuryDPM data",
    "mercury-restart": "MercuryDPM restart",
    "vtk": "legacy VTK",
    "csv": "CSV",
    "raw": "a table with columns=",
    "mjcf": "MJCF or URDF",
}

BEGINNINGS = {
    "lammps-dump": begins_dump,
    "vtk": begins_vtk,
    "mercury-restart": begins_restart,
    "mercury-data": begins_mercury,
    "lammps-data": begins_data,
}
"""Formats recognised by their first lines, in the order in which they are tried."""


def read_balls(
    text: Text,
    format: str,
    *,
    frame: int,
    columns: str | None,
    style: str | None,
    boundary: str | None,
) -> Balls:
    """The balls of a file. Options as of ``read_packing``; raises InputError."""
    if format == "raw" and columns is None:
        raise InputError('format is "raw"; expected columns= as well, like "x y z radius"')
    return {
        "lammps-dump": lambda: read_dump(text, frame),
        "lammps-data": lambda: read_data(text, style=style, boundary=boundary),
        "yade": lambda: read_yade(text),
        "mercury-data": lambda: read_mercury(text, frame),
        "mercury-restart": lambda: read_restart(text),
        "vtk": lambda: read_vtk(text),
        "csv": lambda: read_csv(text),
        "raw": lambda: read_raw(text, columns),
    }[format]()


def notes_of(text: Text, format: str, boundary: str | None) -> tuple[str, ...]:
    """What of a file is not in the scene, or was taken as something that it does not say."""
    if format == "lammps-data" and boundary is None:
        return ("data files do not say what is periodic, boundary= does",)
    if format == "mercury-restart":
        return ("walls, boundaries and laws of the file are not read",)
    if format == "yade" and not says_format(text):
        return ("the fourth column is read as radius (columns='x y z diameter' says otherwise)",)
    return ()


def format_of(text: Text) -> str:
    """The format, by contents and, of tables, by a line of names."""
    head = next((line for line in text.lines if line.strip()), "").strip()
    if not head:
        raise InputError(
            f"{text.path}: an empty file; expected one of {', '.join(FORMATS.values())}"
        )
    if head.startswith("<"):
        return "mjcf"
    for name, begins in BEGINNINGS.items():
        if begins(text):
            return name
    first = next((k for k in text.lines if k.strip() and not k.startswith("#")), "")
    words = first.replace(",", " ").replace(";", " ").split()
    if words and any(word[0].isalpha() for word in words):
        if any(word.lower() in ("x", "x[m]") for word in words):
            return "csv"
    elif says_format(text) or (len(words) in (4, 5) and "," not in first):
        return "yade"
    elif len(words) >= 3 and all(map(is_number, words)):
        raise InputError(
            f"{text.path}: a table without names of columns; expected {len(words)} of them, like "
            'columns="x y z radius" (--columns), "-" for each that is left out'
        )
    raise InputError(
        f"{text.path}: begins with {head[:60]!r}, which is none of {', '.join(FORMATS.values())}; "
        "a table begins with the names of its columns, x, y, z, radius; a mesh is a shape of a "
        'scene file (shape = "polyhedron", mesh = ...)'
    )
