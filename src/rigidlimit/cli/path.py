"""``rigidlimit path SCENE``: load a periodic packing along the paths of its file."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .compiling import watch_compiler
from .folders import check_file, same_file
from .options import LIMITS, QuietOption
from .stepping import stopped_by_signals
from .tables import new_table, terminal


def path(
    scene: Annotated[str, typer.Argument(help="A TOML file with tables [cell] and [path].")],
    out: Annotated[
        Path | None, typer.Option(help="Table to write: .csv, or .h5 with scene and path.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Stress and void ratio by strain: .pdf, .png or .svg.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a path that was stopped.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the table, or begin anew.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Load a periodic packing along quasi-static paths: stages at rest and shear at a rate.

    Example: `rigidlimit path shear.toml --out shear.csv`. The table has stress, strain, void ratio,
    coordination, fabric and sliding contacts, a row a stage or step. Ctrl-C keeps what is done:
    the same command with --resume continues.
    """
    from ..output import plots
    from ..output.plots.style import figure_format
    from ..paths.follow import follow
    from ..paths.legs import legs_of
    from ..paths.table_files import unfinished_of
    from ..scenes import load

    check_file("--out", out)
    check_file("--picture", picture)
    if picture is not None:
        figure_format(picture)
    if same_file(out, Path(scene)):
        raise InputError(f"--out is {out}, the scene itself; expected another file")
    loaded = load(scene)
    if not loaded.path:
        raise InputError(
            f"{scene}: there is no path; add a table [path] with a kind, like "
            '[path] kind = "isotropic", pressures = [1.0, 2.0]'
        )
    legs = legs_of(loaded.bodies, loaded.path)
    watch_compiler(quiet=quiet)
    try:
        with stopped_by_signals():
            found = follow(
                loaded, legs, out=out, resume=resume, overwrite=overwrite, progress=not quiet
            )
    except KeyboardInterrupt:
        saved = out is not None and unfinished_of(out).exists()
        kept = "the same command with --resume continues" if saved else "nothing was kept"
        typer.echo(f"stopped; {kept}", err=True)
        raise typer.Exit(130) from None
    if picture is not None:
        plots.save_figure(plots.stress_strain(found), picture)
    if not quiet:
        _show(loaded, found)
        typer.echo(found.message)
        for name in filter(None, (out, picture)):
            typer.echo(f"written: {name}")
    if not found.converged:
        raise typer.Exit(1)


def _show(loaded, found) -> None:
    table = found.table
    headings = ("leg", "pressure", "deviator", "void ratio", "coordination", "strain")
    shown = new_table(loaded.name, headings, names="leg")
    strains = [name for name in table.dtype.names if name.startswith("strain_")]
    step = max(1, -(-len(table) // LIMITS.rows))
    for line in [*table[:-1:step], table[-1]]:
        leg = found.legs[line["leg"]]
        driven = [name for name in strains if leg.drives(name.removeprefix("strain_"))]
        largest = max(driven or strains, key=lambda name: abs(line[name]))
        shown.add_row(
            leg.name,
            f"{line['pressure']:.6g}",
            f"{line['deviator']:.4g}",
            f"{line['void_ratio']:.5f}",
            f"{line['coordination']:.3f}",
            f"{line[largest]:.4g} {largest.removeprefix('strain_')}",
        )
    terminal().print(shown)
