"""LAMMPS' text formats of spheres: dump snapshots and data files, numbers with all their digits.

https://docs.lammps.org/dump.html, https://docs.lammps.org/read_data.html
"""

import numpy as np

from ... import __version__
from ...bodies import rotations
from ..plots.frames import Frame

ALONG = 1e-12
"""Component of a wall's normal across an axis up to which it is one of the box."""

OTHER_NAMES = {"wx": "omegax", "wy": "omegay", "wz": "omegaz"}


def snapshot(shown: Frame, which: np.ndarray, table: np.ndarray, number: int) -> str:
    """One snapshot of a dump, rows in the order of bodies. number: of the step."""
    low, high = box(shown, which)
    columns = _in_space({name: table[name] for name in table.dtype.names if name != "name"})
    columns = {OTHER_NAMES.get(name, name): values for name, values in columns.items()}
    ids, kinds = _ids(table["name"]), shown.bodies.material_of[which] + 1
    columns = {"id": ids, "type": kinds} | columns
    bounds = "\n".join(f"{a!r} {b!r}" for a, b in zip(low.tolist(), high.tolist(), strict=True))
    head = (
        f"ITEM: UNITS\nsi\nITEM: TIME\n{float(shown.time)!r}\nITEM: TIMESTEP\n{number}\n"
        f"ITEM: NUMBER OF ATOMS\n{len(ids)}\n"
        f"ITEM: BOX BOUNDS ff ff ff\n{bounds}\nITEM: ATOMS {' '.join(columns)}\n"
    )
    return head + _rows(columns.values())


def data_text(shown: Frame, which: np.ndarray, table: np.ndarray) -> str:
    """A data file of atom_style sphere; density is that of a ball, in the plane too."""
    low, high = box(shown, which)
    columns = _in_space({name: table[name] for name in table.dtype.names})
    ids, kinds = _ids(table["name"]), shown.bodies.material_of[which] + 1
    diameter = 2 * columns["radius"]
    density = columns["mass"] / (4 / 3 * np.pi * columns["radius"] ** 3)
    place = [columns[axis] for axis in "xyz"]
    moving = [columns[name] for name in ("vx", "vy", "vz", "wx", "wy", "wz")]
    bounds = "".join(
        f"{a!r} {b!r} {axis}lo {axis}hi\n"
        for a, b, axis in zip(low.tolist(), high.tolist(), "xyz", strict=True)
    )
    return (
        f"LAMMPS data file via rigidlimit {__version__}, timestep = 0, units = si\n\n"
        f"{len(ids)} atoms\n{int(kinds.max())} atom types\n\n{bounds}\n"
        f"Atoms # sphere\n\n{_rows([ids, kinds, diameter, density, *place])}\n"
        f"Velocities\n\n{_rows([ids, *moving])}"
    )


def box(shown: Frame, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) corner (3,) [m]: half-spaces along the axes where they hold all balls, else
    the smallest box; a tenth of a radius more where balls have no room in it."""
    radius = shown.bodies.bounding_radius[which][:, None]
    place = shown.position[which]
    low, high = (place - radius).min(axis=0), (place + radius).max(axis=0)
    inside = place.min(axis=0), place.max(axis=0)
    normals = np.zeros((len(shown.bodies), 3))
    walls = np.flatnonzero(shown.half_space)
    for body in walls:
        turn = rotations.matrix(shown.quaternion[body])
        local = np.zeros(3)
        given = shown.bodies.shape(body).local_normal
        local[: len(given)] = given
        normals[body] = turn @ local
    for axis in range(3):
        for body in walls:
            towards, at = normals[body, axis], shown.position[body, axis]
            if towards > 1 - ALONG and at <= inside[0][axis]:
                low[axis] = at
            elif towards < ALONG - 1 and at >= inside[1][axis]:
                high[axis] = at
    return low, high


def _ids(names: np.ndarray) -> np.ndarray:
    """Numbers of the balls: their names where these are distinct numbers from 1 on."""
    words = names.tolist()
    if all(word.isascii() and word.isdigit() for word in words):
        ids = np.array([int(word) for word in words])
        if ids.min() >= 1 and len(np.unique(ids)) == len(ids):
            return ids
    return np.arange(1, len(words) + 1)


def _in_space(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """With what scenes in the plane leave out, which is zero, in LAMMPS' usual order."""
    zero = np.zeros(len(columns["x"]))
    out = {}
    for name, values in columns.items():
        if name[0] in "vw" and name[1:] in tuple("xyz"):
            for axis in "xyz":
                out.setdefault(name[0] + axis, columns.get(name[0] + axis, zero))
        else:
            out[name] = values
            if name == "y":
                out["z"] = columns.get("z", zero)
            if name == "fy":
                out["fz"] = columns.get("fz", zero)
    return out


def _rows(columns) -> str:
    """Lines of numbers, each in the fewest digits that give it back."""
    return "".join(
        " ".join(map(repr, row)) + "\n"
        for row in zip(*(values.tolist() for values in columns), strict=True)
    )
