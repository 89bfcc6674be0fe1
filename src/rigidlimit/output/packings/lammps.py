"""LAMMPS' text formats of spheres: dump snapshots and data files, numbers with all their digits.

https://docs.lammps.org/dump.html, https://docs.lammps.org/read_data.html
"""

import numpy as np

from ... import __version__
from ...step.force_network import ForceNetwork
from .box import box_of

OTHER_NAMES = {"wx": "omegax", "wy": "omegay", "wz": "omegaz"}


def snapshot(shown: ForceNetwork, which: np.ndarray, table: np.ndarray, number: int) -> str:
    """One snapshot of a dump, rows in the order of bodies. number: of the step."""
    columns = _in_space({name: table[name] for name in table.dtype.names if name != "name"})
    columns = {OTHER_NAMES.get(name, name): values for name, values in columns.items()}
    ids, kinds = _ids(table["name"]), shown.bodies.material_of[which] + 1
    columns = {"id": ids, "type": kinds} | columns
    head = (
        f"ITEM: UNITS\nsi\nITEM: TIME\n{float(shown.time)!r}\nITEM: TIMESTEP\n{number}\n"
        f"ITEM: NUMBER OF ATOMS\n{len(ids)}\n"
        f"{box_of(shown, which).of_dump}ITEM: ATOMS {' '.join(columns)}\n"
    )
    return head + _rows(columns.values())


def data_text(shown: ForceNetwork, which: np.ndarray, table: np.ndarray) -> str:
    """A data file of atom_style sphere; density is that of a ball, in the plane too."""
    columns = _in_space({name: table[name] for name in table.dtype.names})
    ids, kinds = _ids(table["name"]), shown.bodies.material_of[which] + 1
    diameter = 2 * columns["radius"]
    density = columns["mass"] / (4 / 3 * np.pi * columns["radius"] ** 3)
    place = [columns[axis] for axis in "xyz"]
    moving = [columns[name] for name in ("vx", "vy", "vz", "wx", "wy", "wz")]
    return (
        f"LAMMPS data file via rigidlimit {__version__}, timestep = 0, units = si\n\n"
        f"{len(ids)} atoms\n{int(kinds.max())} atom types\n\n{box_of(shown, which).of_data}\n"
        f"Atoms # sphere\n\n{_rows([ids, kinds, diameter, density, *place])}\n"
        f"Velocities\n\n{_rows([ids, *moving])}"
    )


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
