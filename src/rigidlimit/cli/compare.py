"""``rigidlimit compare SCENE``: classic, compatible and DEM forces of one scene at rest."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .._support.words import counted
from .compiling import watch_compiler
from .folders import check_file
from .options import LIMITS
from .tables import new_table, terminal


class Settle(StrEnum):
    dynamics = "dynamics"
    dem = "dem"


def compare(
    scene: Annotated[str, typer.Argument(help="A gallery scene or a TOML file that settles.")],
    stiffness_scale: Annotated[
        float, typer.Option(help="Factor on the DEM's stiffness: softer is faster.")
    ] = 1.0,
    stiffness_sweep: Annotated[
        bool, typer.Option("--stiffness-sweep", help="Show the DEM converge as it gets stiffer.")
    ] = False,
    whole_run: Annotated[
        bool, typer.Option("--whole-run", help="Start the DEM from the scene, not from rest.")
    ] = False,
    settle: Annotated[
        Settle,
        typer.Option(help="Who finds the rest; dem is quicker for large random packings of balls."),
    ] = Settle.dynamics,
    sweeps: Annotated[
        int, typer.Option(min=1, help="Most Gauss-Seidel sweeps at rest, where it creeps.")
    ] = 100_000,
    picture: Annotated[
        Path | None, typer.Option(help="Histograms of the forces as PNG, PDF or SVG.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="HDF5 file for the state of rest, for `rigidlimit view`.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Compare contact forces at rest: Gauss-Seidel, projected gradient, compatible, DEM.

    Errors are relative to the DEM, in the norm of the paper's table 1. Examples:
    `rigidlimit compare pyramid`, `rigidlimit compare packing --settle dem`. Another size of a
    gallery scene is a TOML file: `gallery = "packing"`, `parameters = {count = 2000}`.
    """
    from rich.console import Console

    from ..penalty import compare as run_comparison
    from ..penalty import stiffness_sweep as run_sweep
    from ..scenes import load

    if picture is not None:
        from ..output.plots.style import figure_format

        figure_format(picture)
    check_file("--picture", picture)
    check_file("--out", out)
    replaced = out is not None and out.exists()
    if out is not None:
        from ..output.hdf5 import check_place

        check_place(out)
    loaded = load(scene)
    watch_compiler(quiet=quiet)
    with Console(stderr=True, quiet=quiet).status("starting") as status:
        answer = run_comparison(
            loaded,
            settle=str(settle),
            stiffness_scale=stiffness_scale,
            whole_run=whole_run,
            sweeps=sweeps,
            callback=status.update,
        )
        sweep = None
        if stiffness_sweep:
            sweep = run_sweep(
                loaded,
                scales=[stiffness_scale * s for s in (1e-4, 1e-3, 1e-2)],
                result=answer.result,
                loaded=answer.loaded,
                callback=status.update,
            )
    _show(loaded.name, answer)
    if sweep is not None:
        _show_sweep(*sweep)
    if picture is not None:
        from ..output.plots import force_histogram, save_figure

        save_figure(force_histogram(answer, log=True), picture)
        typer.echo(f"written: {picture}")
    if out is not None:
        from ..output.hdf5 import write_comparison

        write_comparison(out, loaded, answer)
        typer.echo(f"written: {out}{' (an earlier run was replaced)' if replaced else ''}")
    if not answer.dem.at_rest:
        raise typer.Exit(1)


def _show(scene: str, answer) -> None:
    """Table of the methods, what of them did not converge, and how the rest was found."""
    dem, console = answer.dem, terminal()
    table = new_table(
        f"{scene}: forces at rest against the DEM",
        ("method", "floor forces", "all contacts", "largest force", "time [s]"),
        names="method",
    )
    names = {
        "pgs": "classic, Gauss-Seidel",
        "apgd": "classic, projected gradient",
        "compatible": "compatible",
    }
    for name, label in names.items():
        table.add_row(
            label,
            f"{answer.floor_error[name]:.1e}",
            f"{answer.contact_error[name]:.1e}",
            f"{round(100 * answer.overshoot[name], 4) + 0.0:+.4f} %",  # no -0
            f"{answer.seconds[name]:.2f}",
        )
    table.add_row("DEM", "0", "0", "0", f"{answer.seconds['dem']:.2f}")
    console.print(table)
    for name in ("pgs", "apgd"):
        found = answer.classic_results[name]
        if not found.converged:
            more = "; --sweeps allows more" if name == "pgs" else ""
            console.print(
                f"NOT converged: {names[name]}, residual {found.residual:.0e} (tolerance "
                f"{found.tolerance:.0e}) after {counted(found.iterations, 'iteration')}{more}",
                highlight=False,
            )
    rest = "at rest" if dem.at_rest else "NOT at rest"
    console.print(
        f"DEM: {counted(dem.steps, 'step')} of {dem.dt:.3g} s, {rest}, unbalanced force "
        f"{dem.unbalanced:.1e} of the largest, kinetic energy {dem.kinetic_energy:.1e} J",
        highlight=False,
    )
    if answer.unrest:
        console.print(
            f"{answer.unrest}; its forces are no reference", highlight=False, markup=False
        )
    console.print(
        f"rest found by {answer.how}; active contacts: {answer.bears('compatible').sum()} "
        f"compatible, {answer.bears('dem').sum()} DEM, {answer.shared.sum()} in both, where the "
        f"compatible forces are within {answer.shared_error:.1e}",
        highlight=False,
    )


def _show_sweep(scales, errors, slope) -> None:
    console = terminal()
    for scale, error in zip(scales, errors, strict=True):
        console.print(f"stiffness x {scale:.0e}: compatible against DEM {error:.2e}")
    if max(errors) < LIMITS.rests:
        console.print("nothing to fit: these differences are the accuracy of the DEM at rest")
    else:
        console.print(f"fitted: error ~ stiffness^{slope:.3f}")
