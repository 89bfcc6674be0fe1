"""LAMMPS and LIGGGHTS data files of spheres: https://docs.lammps.org/read_data.html.

Sections Atoms (atom_style sphere, in LIGGGHTS also granular: id type diameter density x y z;
bpm/sphere; or atomic without radii) and Velocities (id vx vy vz wx wy wz), box with tilts or edges.
Bounds may be periodic: the file does not say; ``boundary`` does.
"""

import re

import numpy as np

from ...errors import InputError
from .balls import Balls
from .box import Box, of_bounds
from .lines import Text, is_number

STYLES = {
    "sphere": "id type diameter density x y z",
    "granular": "id type diameter density x y z",
    "bpm/sphere": "id molecule type diameter density x y z",
    "atomic": "id type x y z",
}
IMAGES = 3
"""Counts of images that may stand at the end of a line of Atoms."""

SECTION = re.compile(r"^[A-Z][A-Za-z/ ]*$")
UNITS = re.compile(r"units = (\w+)")


def begins_data(text: Text) -> bool:
    """Whether there is a count of atoms among the lines of the head, as data files have it."""
    return any(re.match(r"^\s*\d+\s+atoms\s*(#.*)?$", line) for line in text.lines[1:40])


def read_data(text: Text, *, style: str | None, boundary: str | None) -> Balls:
    """style: of the atoms, where the file does not say; boundary: like "ppf", as LAMMPS has it."""
    head, sections = _parts(text)
    if "atoms" not in head or "Atoms" not in sections:
        raise InputError(
            f"{text.path}: no line 'N atoms' or no section Atoms; expected a data file"
        )
    count = int(head["atoms"][0])
    line, hint = sections["Atoms"]
    style = hint or style or "sphere"
    if style not in STYLES:
        raise InputError(
            f"{text.path}, line {line + 1}: atoms of style {style!r}; expected "
            f"{', '.join(STYLES)} (atom_style= where the file does not say)"
        )
    names = STYLES[style].split()
    table = text.table(line + 2, count, names, more=(IMAGES,))
    column = {name: table[:, k] for k, name in enumerate(names)}
    radius = column["diameter"] / 2 if "diameter" in column else None
    number = column["id"].astype(int)
    velocity, spin = _velocities(text, sections, number, "diameter" in column)
    units = UNITS.search(text.lines[0]) if text.lines else None
    return Balls(
        id=number,
        position=table[:, -3:].copy(),
        radius=radius,
        type=column["type"].astype(int),
        density=column.get("density"),
        velocity=velocity,
        spin=spin,
        box=_box(text, head, boundary),
        units=units[1] if units else "",
    ).sorted()


def _parts(text: Text):
    """({key of the head: its numbers as words}, {section: (line of its title, hint)})."""
    head, sections = {}, {}
    for k, full in enumerate(text.lines):
        line, _, hint = full.partition("#")
        line = line.strip()
        if k == 0 or not line:
            continue
        if SECTION.match(line):
            sections[line] = k, hint.strip()
        elif not sections:
            words = line.split()
            at = next((i for i, word in enumerate(words) if not is_number(word)), len(words))
            head[" ".join(words[at:])] = words[:at]
    return head, sections


def _box(text: Text, head: dict, boundary: str | None) -> Box:
    flags = "fff" if boundary is None else boundary.replace(" ", "")
    if len(flags) != 3 or not set(flags) <= set("pfsm"):
        raise InputError(f"boundary is {boundary!r}; expected three of p, f, s, m, like 'ppf'")
    periodic = [flag == "p" for flag in flags]

    def numbers(key: str, wanted: int) -> list[float]:
        try:
            values = [float(word) for word in head[key]]
        except (KeyError, ValueError):
            values = []
        if len(values) != wanted:
            found = " ".join(head.get(key, ["none"]))
            raise InputError(f"{text.path}: {key}: found {found}; expected {wanted} numbers")
        return values

    if "avec" in head:
        edges = np.array([numbers(key, 3) for key in ("avec", "bvec", "cvec")])
        return Box(np.array(numbers("abc origin", 3)), edges, np.array(periodic, bool))
    low, high = np.transpose([numbers(f"{axis}lo {axis}hi", 2) for axis in "xyz"])
    tilts = numbers("xy xz yz", 3) if "xy xz yz" in head else (0.0, 0.0, 0.0)
    try:
        return of_bounds(low, high, tilts, periodic)
    except InputError as error:
        raise InputError(f"{text.path}: {error}") from None


def _velocities(text: Text, sections: dict, number: np.ndarray, turn: bool):
    """(velocity, spin), rows in the order of ``number``; None where they are not given."""
    if "Velocities" not in sections:
        return None, None
    names = ["id", "vx", "vy", "vz", *(("wx", "wy", "wz") if turn else ())]
    line = sections["Velocities"][0]
    table = text.table(line + 2, len(number), names)
    mine, theirs = np.argsort(number), np.argsort(table[:, 0])
    if not np.array_equal(table[theirs, 0], number[mine]):
        raise text.wrong(line, "velocities of the ids of Atoms")
    out = np.zeros((len(number), 6))
    out[mine, : len(names) - 1] = table[theirs, 1:]
    return out[:, :3].copy(), out[:, 3:].copy()
