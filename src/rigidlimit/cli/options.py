"""Arguments and options that several commands have."""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Limits:
    """
    Attributes
    ----------
    rows : rows of a table of motions or of a path.
    contacts : rows of a table of contacts.
    named : files that a line names one by one.
    intervals : contacts beyond which an interval takes seconds to minutes.
    cones : the same of rough contacts in space: six second-order cone programs each, of some
        milliseconds.
    degree : largest number of closed contacts for which the degree of indeterminacy is computed: a
        second or two.
        Random packings of 20,000 take half a minute.
    rests : difference of forces below which it is the accuracy of the DEM, at rest to 1e-8.
    """

    rows: int = 12
    contacts: int = 10
    named: int = 3
    intervals: int = 20_000
    cones: int = 60
    degree: int = 2_000
    rests: float = 1e-7


LIMITS = Limits()
