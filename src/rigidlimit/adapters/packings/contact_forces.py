"""Contact forces of other programs, as pairs of ids and a force.

- LIGGGHTS, LAMMPS: ``dump local`` of ``compute pair/gran/local pos id force`` (or ``id force``), or
  of two ids and three components (``property/local``, ``pair/local fx fy fz``).
- MercuryDPM: ``.fstat``, a contact a line: time, i, j, point (3), overlap, tangential displacement,
  normal force, tangential force, normal (3), tangent (3). Negative j are walls, which are left out.
- Tables with a line of names: ``id1, id2, fx, fy, fz`` in newtons, as a script of YADE writes.
"""

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from .lammps_local import local_table
from .lines import Text, number

FSTAT = 16
"""Words of a contact of an ``.fstat`` file."""

NAMES = ("id1", "id2", "fx", "fy", "fz")

BEFORE_IDS = (0, 6, 12)
"""Columns before the ids of ``pair/gran/local``: none, pos, pos and vel; six each."""


def read_contact_forces(
    text: Text, frame: int, known: set[str]
) -> tuple[list[tuple[str, str]], np.ndarray, int]:
    """(pairs of names, force (k, 3) on the first of each in the file's units, contacts left out).

    known: names of the balls. Which way forces point is for the caller. Raises InputError.
    """
    first = next((line for line in text.lines if line.strip()), "")
    if first.startswith("ITEM:"):
        return _of_dump(text, frame, known)
    words = first.replace(",", " ").replace(";", " ").split()
    if {name.lower() for name in words} >= set(NAMES):
        return _of_table(text, [name.lower() for name in words])
    return _of_fstat(text)


def _of_dump(text: Text, frame: int, known: set[str]):
    """Of the columns of a local dump that hold ids."""
    table = local_table(text, frame)
    width = table.shape[1]
    flag = 1 if width != len(NAMES) else 0  # pair/gran/local has a flag behind the ids
    for before in BEFORE_IDS:
        if before + 2 + flag + 3 > width:
            break
        ids = table[:, before : before + 2]
        if (ids == np.rint(ids)).all():
            names = [(str(int(a)), str(int(b))) for a, b in ids.tolist()]
            if all(a in known and b in known for a, b in names):
                start = before + 2 + flag
                return names, table[:, start : start + 3], 0
    raise InputError(
        f"{text.path}: no two columns of ids of the packing among {width}; expected those of "
        "compute pair/gran/local pos id force, or id1 id2 fx fy fz, of the same packing"
    )


def _of_table(text: Text, names: list[str]):
    rows, pairs = [], []
    for k, line in enumerate(text.lines):
        words = line.replace(",", " ").replace(";", " ").split()
        if not words or line.startswith("#") or (not pairs and words[0].lower() in names):
            continue
        entry = dict(zip(names, words, strict=False))
        force = [number(entry.get(name, "")) for name in NAMES[2:]]
        if len(words) != len(names) or not np.isfinite(force).all():
            raise text.wrong(k, f"{len(names)} words: {', '.join(names)}")
        pairs.append((entry["id1"], entry["id2"]))
        rows.append(force)
    return pairs, np.reshape(np.array(rows, float), (-1, 3)), 0


def _of_fstat(text: Text):
    """The last time of an ``.fstat`` file; forces on the first of each pair or on the second."""
    lines = [k for k, line in enumerate(text.lines) if line.strip() and line[0] != "#"]
    if not lines:
        raise InputError(
            f"{text.path}: no contacts; expected a dump, .fstat, or {', '.join(NAMES)}"
        )
    values = np.full((len(lines), FSTAT), np.nan)
    for row, k in enumerate(lines):
        words = text.lines[k].split()
        if len(words) == FSTAT:
            values[row] = [number(word) for word in words]
        if not np.isfinite(values[row]).all():
            raise text.wrong(
                k,
                f"{FSTAT} numbers of an .fstat file, a dump of pairs, or names {', '.join(NAMES)}",
            )
    values = values[values[:, 0] == values[-1, 0]]
    inner = (values[:, 1:3] >= 0).all(axis=1)
    left_out, values = int((~inner).sum()), values[inner]
    names = [(str(int(a)), str(int(b))) for a, b in values[:, 1:3].tolist()]
    force = values[:, 8:9] * values[:, 10:13] + values[:, 9:10] * values[:, 13:16]
    return names, force, left_out


def walls_left_out(count: int) -> tuple[str, ...]:
    """A note of contacts with walls that are not read."""
    return (f"given forces of {counted(count, 'contact')} with walls are left out",) * bool(count)
