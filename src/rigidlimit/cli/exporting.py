"""``rigidlimit export FILE``: a run or a scene for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from .folders import check_file


def export(
    file: Annotated[
        str,
        typer.Argument(
            help="A run (HDF5 file of `rigidlimit run --out`), a scene file, or a gallery scene."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="FILE.dump: LAMMPS dump (OVITO), all stored steps; .data: LAMMPS data file; .csv: "
            "table of balls; .graphml: force network with its chains."
        ),
    ],
    frame: Annotated[
        int | None,
        typer.Option(help="Which stored step: 0 the first, -1 the last; default: all of a dump."),
    ] = None,
) -> None:
    """Write a run or a scene for LAMMPS, OVITO, spreadsheets or graph programs.

    For ParaView: `rigidlimit view FILE --vtk FOLDER`. Example: `rigidlimit export packing.h5 --out
    packing.dump`.
    """
    from ..output.hdf5 import looks_like_run, read_run
    from ..output.packings.write import ENDINGS, write_packing
    from ..scenes import load

    check_file("--out", out, ENDINGS)
    run = Path(file).suffix in (".h5", ".hdf5") or looks_like_run(file)
    source = read_run(file) if run else load(file)
    if run and frame is not None:
        source = source[frame]
    typer.echo(f"written: {write_packing(out, source)}")
