"""The program's commands, gathered."""

from typing import Annotated

import typer

from .. import __version__
from .collapse import collapse
from .compare import compare
from .demo import demo
from .determinacy import determinacy
from .exporting import export
from .importing import import_packing
from .interrupts import stoppable
from .network import network
from .path import path
from .plot import plot
from .pose_forces import forces
from .run import run
from .scenes import scenes
from .settle import settle
from .solve import solve
from .study import study
from .view import view

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help=(
        "Contact forces of rigid bodies, unique: those of stiff elastic bodies in the limit of "
        "infinite stiffness.\n\n"
        "To begin: `rigidlimit demo` shows the main job, `rigidlimit scenes` lists scenes, "
        "`rigidlimit run beam` computes one, and `rigidlimit scenes beam --write beam.toml` gives "
        "a file to change and run: `rigidlimit run beam.toml --out beam.h5`. "
        "`rigidlimit plot beam.h5` draws it."
    ),
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rigidlimit {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


JUDGEMENTS = determinacy, collapse, solve, settle, forces, network
for _command in (run, path, study, plot, scenes, demo, view, export, compare, *JUDGEMENTS):
    app.command()(stoppable(_command))
app.command("import")(stoppable(import_packing))
