"""Arguments and options that several commands have."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError

if TYPE_CHECKING:
    from ..bodies import Material


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
    Intervals, typer.Option(help="exact: linear programs; bounds: safe ones, for large systems.")
]
ResultsOption = Annotated[Path | None, typer.Option(help="Results as .json or .csv.")]
OverwriteOption = Annotated[
    bool, typer.Option("--overwrite", help="Replace the file of --out if there is one.")
]
TouchOption = Annotated[
    float, typer.Option(help="Gaps up to this [m] are closed, of packings that do not quite touch.")
]
# of packings that are read
GravityOption = Annotated[
    str | None, typer.Option(help="Like 0,0,-9.81 (the default), or 0,0,0 [m/s^2].")
]
WallsOption = Annotated[
    str | None,
    typer.Option(help="Faces of the box that are walls: all, or some, like xlo,xhi,zlo."),
]
PeriodicOption = Annotated[
    str,
    typer.Option(
        help="keep a periodic box; ignore: it is taken as one that is not; or axes along which "
        "it stays periodic, like xy of one layer of balls."
    ),
]
FrictionOption = Annotated[float, typer.Option(help="Coefficient of friction.")]
WallFrictionOption = Annotated[
    float | None, typer.Option(help="Coefficient of friction at walls; default: the balls'.")
]
YoungOption = Annotated[float, typer.Option(help="Young's modulus [Pa].")]
PoissonOption = Annotated[float, typer.Option(help="Poisson's ratio.")]
DensityOption = Annotated[
    float, typer.Option(help="Where the file has neither mass nor density [kg/m^3].")
]
RadiusOption = Annotated[
    float | None, typer.Option(help="Of all balls, where the file has none [m].")
]
FixedOption = Annotated[str | None, typer.Option(help="Types whose balls are held, like 2 or 2,3.")]
UnitsOption = Annotated[
    str | None,
    typer.Option(help="LAMMPS units: si, cgs, micro, nano or lj, if the file does not say."),
]
FrameOption = Annotated[int, typer.Option(help="Snapshot of a dump: 0 the first, -1 the last.")]
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


def numbers(option: str, text: str | None, kind: type) -> list | None:
    """Numbers separated by commas."""
    if text is None:
        return None
    try:
        return [kind(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"{option} is {text!r}; expected numbers separated by commas") from None


def faces(walls: str | None) -> bool | list[str]:
    """Of ``--walls`` what ``read_packing`` takes."""
    return walls == "all" or (walls.split(",") if walls else False)


def material_of(young: float, poisson: float, density: float, friction: float) -> "Material":
    """That of all balls, named by its friction."""
    from ..bodies import Material

    name = "default" if friction == 0 else f"mu {friction:g}"
    return Material(young, poisson, density, name, friction)


def wall_material_of(balls: "Material", friction: float | None) -> "Material | None":
    """That of the walls, where their friction is another one than that of the balls."""
    if friction is None:
        return None
    return replace(balls, friction=friction, name=f"mu {friction:g} of walls")
