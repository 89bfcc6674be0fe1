"""Arguments and options that several commands have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Solver(StrEnum):
    newton = "newton"
    pgs = "pgs"
    apgd = "apgd"


class Intervals(StrEnum):
    auto = "auto"
    exact = "exact"
    bounds = "bounds"
    none = "none"


SceneArgument = Annotated[
    str, typer.Argument(help="A gallery scene (see `rigidlimit scenes`) or a TOML file.")
]
SolverOption = Annotated[Solver, typer.Option(help="Solver of classic contact dynamics.")]
LawOption = Annotated[
    str | None, typer.Option(help="hooke, hertz or an exponent p > 1; default: the scene's.")
]
NewLawOption = Annotated[str, typer.Option(help="hooke, hertz or an exponent p > 1.")]
ContactsOption = Annotated[
    str | None,
    typer.Option(
        help="Whose intervals: all, largest, or numbers like 0,5,7-9. By default all of small "
        "systems, the largest forces of others, none beyond 20,000 contacts."
    ),
]
IntervalsOption = Annotated[
    Intervals,
    typer.Option(help="exact: linear programs; bounds: safe ones, for large systems."),
]
ResultsOption = Annotated[Path | None, typer.Option(help="Results as .json or .csv.")]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace the file of --out if there is one.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]
