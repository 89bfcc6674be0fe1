"""``write_packing``: balls, or the force network, in the format that the file's name says.

Numbers of LAMMPS' formats have all their digits: https://docs.lammps.org/dump.html,
https://docs.lammps.org/read_data.html.
"""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ... import __version__
from ..._support.atomic import whole_file, write_text
from ..._support.words import counted
from ...step.force_network import ForceNetwork
from ..endings import check_ending
from ..hdf5 import Run, read_run
from ..measures.selection import balls
from ..measures.tables import body_table
from ..sources import network_of
from .box import box_of, within_one_cell

if TYPE_CHECKING:
    from ..sources import Source

ENDINGS = (".dump", ".lammpstrj", ".data", ".csv", ".graphml")


def write_packing(path: str | Path, source: "Source", *, method: str | None = None) -> str:
    """Write the balls of a scene, step or run for another program, or its force network.

    Parameters
    ----------
    path : str or Path
        ``.dump`` or ``.lammpstrj``: a LAMMPS dump, which OVITO reads, of every stored step of a
        run, with velocities, spins, radius, mass, and where there are forces the contact force on
        each ball, its coordination and its stress. ``.data``: a LAMMPS data file (atom_style
        sphere). ``.csv``: a table with units. ``.graphml``: the force network (``force_graph``).
    source
        As of ``body_forces``, or a ``Scene``; of a scene without forces. Of a run dumps have all
        stored steps, others the last.
    method : {"classic", "compatible", "dem"}, optional
        Whose forces; by default the compatible ones.

    Returns
    -------
    str
        What was written and left out, in a line: bodies that are no balls are only in graphs.

    Raises
    ------
    InputError
        For another ending, and where there are no balls.
    MissingExtra
        For graphs, without networkx.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.write_packing("packing.dump", rl.scenes.packing(20))
    'packing.dump: 1 snapshot (5 bodies that are no balls left out)'
    """
    path = Path(path)
    check_ending("path", path, ENDINGS)
    kind = path.suffix.lower()
    if kind in (".dump", ".lammpstrj"):
        shown = list(_steps(source))
        texts = [_snapshot(each, *_table(each, method), number) for number, each in shown]
        write_text(path, "".join(texts))
        return f"{path}: {counted(len(texts), 'snapshot')}{_left_out(shown[-1][1])}"
    shown = within_one_cell(network_of(source))
    if kind == ".graphml":
        from ..measures.chains import force_graph

        graph = force_graph(shown, method=method)
        import networkx

        with whole_file(path) as temporary:
            networkx.write_graphml(graph, temporary)
        return (
            f"{path}: {counted(len(graph), 'loaded body')}, "
            f"{counted(graph.number_of_edges(), 'joint')}"
        )
    which, table = _table(shown, method)
    if kind == ".data":
        write_text(path, _data_text(shown, which, table))
    else:
        write_text(path, _csv_text(table, shown.bodies.material_of[which] + 1))
    return f"{path}: {counted(len(which), 'ball')}{_left_out(shown)}"


def _steps(source):
    """(number, network) of each snapshot."""
    source = read_run(source) if isinstance(source, str | Path) else source
    for step in source if isinstance(source, Run) else [source]:
        yield getattr(step, "number", 0), within_one_cell(network_of(step))


def _table(shown: ForceNetwork, method) -> tuple[np.ndarray, np.ndarray]:
    """(which bodies are balls (k,), their rows of ``body_table``); velocities with the motion of a
    periodic cell."""
    which = balls(shown)
    table = body_table(shown, method=method)[which]
    if shown.cell is not None:
        along = shown.position[which] @ shown.bodies.velocity_gradient(shown.speeds).T
        for k, axis in enumerate("xyz"[: shown.bodies.dim]):
            table[f"v{axis}"] += along[:, k]
    return which, table


def _left_out(shown: ForceNetwork) -> str:
    others = len(shown.bodies) - len(balls(shown)) - (shown.bodies.cell is not None)
    return f" ({counted(others, 'body')} that are no balls left out)" if others else ""


UNITS = {
    "x": "m", "y": "m", "z": "m", "radius": "m", "mass": "kg", "vx": "m/s", "vy": "m/s",
    "vz": "m/s", "wx": "rad/s", "wy": "rad/s", "wz": "rad/s", "fx": "N", "fy": "N", "fz": "N",
}  # fmt: skip


def _csv_text(table: np.ndarray, kind: np.ndarray) -> str:
    """The rows of a ``body_table``, with the types (k,) of the balls."""
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    planar = "z" not in table.dtype.names
    units = UNITS | {
        name: "N/m" if planar else "Pa" for name in table.dtype.names if name.startswith("stress")
    }
    writer.writerow(
        [f"{name} [{units[name]}]" if name in units else name for name in table.dtype.names]
        + ["type"]
    )
    writer.writerows((*row, each) for row, each in zip(table.tolist(), kind.tolist(), strict=True))
    return sheet.getvalue()


OTHER_NAMES = {"wx": "omegax", "wy": "omegay", "wz": "omegaz"}


def _snapshot(shown: ForceNetwork, which: np.ndarray, table: np.ndarray, number: int) -> str:
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


def _data_text(shown: ForceNetwork, which: np.ndarray, table: np.ndarray) -> str:
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
