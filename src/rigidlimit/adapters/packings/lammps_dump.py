"""LAMMPS and LIGGGHTS dumps of atoms: https://docs.lammps.org/dump.html.

    ITEM: TIMESTEP, ITEM: NUMBER OF ATOMS, ITEM: BOX BOUNDS ff ff pp,
    ITEM: ATOMS id type x y z radius ...

Of triclinic boxes a dump has the bounds of the box around it, and the tilts xy, xz, yz:

    xlo_bound = xlo + min(0, xy, xz, xy + xz),   ylo_bound = ylo + min(0, yz),   and so on
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from .balls import Balls, vectors
from .box import Box, of_bounds
from .lines import Text, is_number

ITEM = "ITEM:"
OMEGA = ("omegax", "omegay", "omegaz")
POSITIONS = {"": False, "u": False, "s": True, "su": True}
"""Endings of the columns of positions, and whether these are scaled by the box."""

NUMBERS = {axis + ending for axis in "xyz" for ending in POSITIONS} | {
    "id", "radius", "diameter", "mass", "density"
}  # fmt: skip
"""Columns in which a word is a mistake."""


@dataclass
class _Snapshot:
    """Where the parts of one snapshot begin (lines from 0)."""

    atoms: int = -1
    count: int = -1
    box: int = -1
    units: str = ""


def begins_dump(text: Text) -> bool:
    return bool(text.lines) and text.lines[0].startswith(ITEM)


def read_dump(text: Text, frame: int) -> Balls:
    """The balls of snapshot ``frame`` (-1: the last)."""
    snapshot = text.snapshot(list(snapshots(text)), frame)
    for what, at in (("NUMBER OF ATOMS", snapshot.count), ("ATOMS", snapshot.atoms)):
        if at < 0:
            raise InputError(f"{text.path}: a snapshot without {ITEM} {what}; expected a dump")
    if snapshot.count == 0:
        raise InputError(f"{text.path}: the snapshot has no atoms; expected some")
    box = _box(text, snapshot.box) if snapshot.box >= 0 else None
    return _atoms(text, snapshot, box).sorted()


def snapshots(text: Text) -> Iterator[_Snapshot]:
    """Each snapshot of the file; the lines of atoms are passed over."""
    line, snapshot, units = 0, None, ""
    while line < len(text.lines):
        head = text.lines[line]
        if not head.startswith(ITEM):
            if head.strip():
                raise text.wrong(line, f"a line that begins with {ITEM}")
            line += 1
            continue
        what = head[len(ITEM) :].strip()
        ended = snapshot is None or snapshot.atoms >= 0
        if what in ("TIMESTEP", "TIME", "UNITS", "LABEL") and ended:
            if snapshot is not None:
                yield snapshot
            snapshot = _Snapshot(units=units)
        elif snapshot is None and not what.startswith("ENTRIES"):
            raise text.wrong(line, f"{ITEM} TIMESTEP first")
        if what == "UNITS":
            units = snapshot.units = text.lines[line + 1].strip()
        line = _item(text, line, what, snapshot)
    if snapshot is not None:
        yield snapshot


def _item(text: Text, line: int, what: str, snapshot: _Snapshot) -> int:
    """Note where an item of a snapshot begins; the line of the next one."""
    if what.startswith("ENTRIES"):
        raise text.wrong(line, f"{ITEM} ATOMS, a dump of atoms (this one is of pairs)")
    if what.startswith("BOX BOUNDS"):
        snapshot.box = line
        return line + 4
    if what == "NUMBER OF ATOMS":
        snapshot.count = text.numbers(line + 1, 1, "the number of atoms", int)[0]
        if snapshot.count < 0:
            raise text.wrong(line + 1, "the number of atoms")
    elif what.startswith("ATOMS"):
        if snapshot.count < 0:
            raise text.wrong(line, f"{ITEM} NUMBER OF ATOMS before")
        snapshot.atoms = line
        return line + 1 + snapshot.count
    return line + 2


def _periodic(text: Text, line: int, flags: list[str]) -> list[bool]:
    """Along which axes, by the flags of a box; along none without them."""
    known = all(len(flag) == 2 and set(flag) <= set("pfsm") for flag in flags)
    if flags and not (len(flags) == 3 and known):
        raise text.wrong(line, "three pairs of pp, ff, fs, ss, mm, ... after BOX BOUNDS")
    return [flag == "pp" for flag in flags] or [False] * 3


def _box(text: Text, line: int) -> Box:
    words = text.lines[line].split()[3:]
    tilted = words[:3] == ["xy", "xz", "yz"]
    general = words[:2] == ["abc", "origin"]
    periodic = _periodic(text, line, words[3:] if tilted else words[2:] if general else words)
    wanted = 4 if general else 3 if tilted else 2
    names = {2: "lo hi", 3: "lo_bound hi_bound tilt", 4: "an edge (3) and the origin"}[wanted]
    rows = np.array([text.numbers(line + 1 + k, wanted, names) for k in range(3)])
    if general:
        return Box(rows[:, 3].copy(), rows[:, :3].copy(), np.array(periodic, bool))
    low, high = rows[:, 0].copy(), rows[:, 1].copy()
    xy, xz, yz = rows[:, 2] if tilted else (0.0, 0.0, 0.0)
    along_x = (0.0, xy, xz, xy + xz)
    low[:2] -= min(along_x), min(0.0, yz)
    high[:2] -= max(along_x), max(0.0, yz)
    if not (high > low).all():
        raise text.wrong(line + 1 + int(np.argmin(high > low)), "an upper bound above the lower")
    return of_bounds(low, high, (xy, xz, yz), periodic)


def _atoms(text: Text, snapshot: _Snapshot, box: Box | None) -> Balls:
    names = text.lines[snapshot.atoms].split()[2:]
    first = snapshot.atoms + 1
    words = text.lines[first].split() if snapshot.count else names
    if len(words) != len(names):
        raise text.wrong(first, f"{counted(len(names), 'word')}: {' '.join(names)}")
    # words among the numbers, as of elements, are left out
    keep = [k for k, word in enumerate(words) if is_number(word) or names[k] in NUMBERS]
    table = text.table(first, snapshot.count, names, keep=keep)
    column = {name: table[:, k] for k, name in enumerate(names[j] for j in keep)}
    position = _position(text, snapshot, column, box)
    column.setdefault("id", np.arange(1.0, snapshot.count + 1))
    return Balls.of_columns(
        text,
        range(first, first + snapshot.count),
        column,
        position=position,
        velocity=vectors(column, ("vx", "vy", "vz"), whole=True),
        spin=vectors(column, OMEGA, whole=True),
        box=box,
        units=snapshot.units,
    )


def _position(text: Text, snapshot: _Snapshot, column: dict, box: Box | None) -> np.ndarray:
    """Centres in the box: x y z, else xu, xs, xsu; image counts ix iy iz are left as columns."""
    for ending, scaled in POSITIONS.items():
        found = vectors(column, [axis + ending for axis in "xyz"], whole=True)
        if found is None:
            continue
        if scaled:
            if box is None:
                raise InputError(f"{text.path}: scaled positions without BOX BOUNDS")
            found = box.origin + found @ box.edges
        return found
    raise text.wrong(snapshot.atoms, "columns x y z (or xu, xs, xsu and so on)")
