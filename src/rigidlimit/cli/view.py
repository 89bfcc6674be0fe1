"""``rigidlimit view FILE``: a run in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .folders import check_file, check_folder


def view(
    file: Annotated[Path, typer.Argument(help="A run: the HDF5 file of `rigidlimit run --out`.")],
    out: Annotated[
        Path | None, typer.Option(help="HTML file to write; default: beside the run.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Take so many steps, spread evenly; default: what 100 MB hold."),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Write the page; do not open it.")
    ] = False,
    vtk: Annotated[
        Path | None, typer.Option(help="Folder for ParaView files, instead of the page.")
    ] = None,
) -> None:
    """Look at a run in the browser: bodies and force network in space, step by step.

    The page is one file that works offline and can be passed on. Example:
    `rigidlimit run pyramid --out pyramid.h5` then `rigidlimit view pyramid.h5`. With `--vtk FOLDER`
    the run is written for ParaView instead.
    """
    import webbrowser

    from ..output.hdf5 import read_run
    from ..output.view import PAGES, write_view

    if vtk is not None:
        from ..output.vtk import write_paraview

        if out is not None or steps is not None:
            raise InputError("--vtk writes no page, so that --out and --steps say nothing")
        check_folder("--vtk", vtk)
        for path in write_paraview(read_run(file), vtk):
            typer.echo(f"written: {path}")
        return
    check_file("--out", out, PAGES)
    page = write_view(read_run(file), out or file.with_suffix(".view.html"), steps=steps)
    typer.echo(f"written: {page}")
    if not no_open and not webbrowser.open(page.resolve().as_uri()):
        typer.echo("no browser was found; open the page by hand", err=True)
