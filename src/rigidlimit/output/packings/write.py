"""``write_packing``: balls, or the force network, in the format that the file's name says."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._support.atomic import whole_file, write_text
from ..._support.words import counted
from ..endings import check_ending
from ..frames import Frame
from ..hdf5 import Run, read_run
from ..measures.selection import balls
from ..measures.tables import body_table
from ..sources import frame
from .box import within_one_cell

if TYPE_CHECKING:
    from ...scenes.scene import Scene
    from ..sources import Source

ENDINGS = (".dump", ".lammpstrj", ".data", ".csv", ".graphml")


def write_packing(
    path: str | Path,
    source: "Source",
    *,
    method: str | None = None,
    scene: "Scene | None" = None,
    index: int | None = None,
) -> str:
    """Write the balls of a scene, step or run for another program, or its force network.

    Parameters
    ----------
    path : str or Path
        ``.dump`` or ``.lammpstrj``: a LAMMPS dump, which OVITO reads, of every stored step of a
        run, with velocities, spins, radius, mass, and where there are forces the contact force on
        each ball, its coordination and its stress. ``.data``: a LAMMPS data file (atom_style
        sphere). ``.csv``: a table with units. ``.graphml``: the force network (``force_graph``).
    source
        As of ``body_forces``, or a ``Scene``; of a scene without forces.
    method : {"classic", "compatible", "dem"}, optional
        Whose forces; by default the compatible ones.
    scene : Scene, optional
        Of a source that does not know its bodies.
    index : int, optional
        Which stored step of a run; by default the last, of dumps all.

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
        from .lammps import snapshot

        shown = list(_steps(source, scene, index))
        texts = [snapshot(each, *_table(each, method), number) for number, each in shown]
        write_text(path, "".join(texts))
        return f"{path}: {counted(len(texts), 'snapshot')}{_left_out(shown[-1][1])}"
    shown = within_one_cell(frame(source, scene=scene, index=-1 if index is None else index))
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
        from .lammps import data_text

        write_text(path, data_text(shown, which, table))
    else:
        from .table import csv_text

        write_text(path, csv_text(table, shown.bodies.material_of[which] + 1))
    return f"{path}: {counted(len(which), 'ball')}{_left_out(shown)}"


def _steps(source, scene, index):
    """(number, frame) of each snapshot."""
    run = read_run(source) if isinstance(source, str | Path) else source
    if isinstance(run, Run):
        chosen = range(len(run)) if index is None else [index]
        for k in chosen:
            step = run[k]
            yield step.number, within_one_cell(frame(step, scene=run.scene))
        return
    yield 0, within_one_cell(frame(source, scene=scene))


def _table(shown: Frame, method) -> tuple[np.ndarray, np.ndarray]:
    """(which bodies are balls (k,), their rows of ``body_table``); velocities with the motion of a
    periodic cell."""
    which = balls(shown)
    table = body_table(shown, method=method)[which]
    if shown.cell is not None:
        along = shown.position[which] @ shown.bodies.velocity_gradient(shown.speeds).T
        for k, axis in enumerate("xyz"[: shown.bodies.dim]):
            table[f"v{axis}"] += along[:, k]
    return which, table


def _left_out(shown: Frame) -> str:
    others = len(shown.bodies) - len(balls(shown)) - (shown.bodies.cell is not None)
    return f" ({counted(others, 'body')} that are no balls left out)" if others else ""
