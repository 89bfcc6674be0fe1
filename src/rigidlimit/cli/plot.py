"""``rigidlimit plot FILE``: pictures and charts of a stored run."""

import warnings
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .folders import check_file, check_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..output.sources import Source


class Kind(StrEnum):
    network = "network"
    histogram = "histogram"
    density = "density"
    floor = "floor"
    compare = "compare"
    determinacy = "determinacy"
    rose = "rose"
    chains = "chains"
    field = "field"
    all = "all"


class View(StrEnum):
    space = "3d"
    front = "front"
    side = "side"
    top = "top"


class Colour(StrEnum):
    force = "force"
    mobilised = "mobilised"


class Format(StrEnum):
    pdf = "pdf"
    png = "png"
    svg = "svg"


FUNCTIONS = {
    Kind.network: "force_network",
    Kind.histogram: "force_histogram",
    Kind.density: "force_density",
    Kind.floor: "floor_forces",
    Kind.compare: "comparison",
    Kind.determinacy: "determinacy_map",
}
OF_PACKINGS = {Kind.rose: "rose", Kind.chains: "force_chains", Kind.field: "stress_field"}
"""Not among all: pictures of many bodies, which say nothing of few."""


def plot(
    file: Annotated[Path, typer.Argument(help="A run written by `rigidlimit run --out`.")],
    kind: Annotated[
        Kind,
        typer.Option(
            help="network: force network; histogram, density: forces over their mean; floor: force "
            "on the floor; compare: classic beside compatible; determinacy: which forces "
            "mechanics determines; of packings rose: directions of contacts and forces, chains: "
            "force chains, field: coarse-grained pressure. all: but these three."
        ),
    ] = Kind.network,
    frame: Annotated[int, typer.Option(help="Which stored step: 0 the first, -1 the last.")] = -1,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder, or a file ending in .pdf, .png or .svg; default: beside FILE."),
    ] = None,
    format: Annotated[
        Format, typer.Option(help="Kind of file, where --out does not say.")
    ] = Format.pdf,
    view: Annotated[
        View | None,
        typer.Option(help="Of scenes in space; default: 3d where PyVista is installed."),
    ] = None,
    log: Annotated[
        bool | None,
        typer.Option("--log/--linear", help="Axis of numbers; default: log for density."),
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="For dark pages and slides.")] = False,
    colour: Annotated[
        Colour,
        typer.Option(
            help="What colours of lines show: forces, or how near contacts are to sliding."
        ),
    ] = Colour.force,
) -> None:
    """Draw a run: force network, charts of forces, floor forces, determinacy.

    Example: `rigidlimit plot pyramid.h5 --kind all --out figures`.
    """
    from ..output import plots
    from ..output.hdf5 import read_run

    run = read_run(file)
    single = out is not None and out.suffix != "" and not out.is_dir()
    kinds = list(FUNCTIONS) if kind is Kind.all else [kind]
    if single and kind is Kind.all:
        raise InputError(f"--kind all writes several files; --out is {out}; expected a folder")
    if single and out.suffix.lstrip(".").lower() not in list(Format):
        raise InputError(f"--out ends in {out.suffix}; expected .pdf, .png or .svg, or a folder")
    (check_file if single else check_folder)("--out", out)
    shown = run[frame]
    folder = file.parent if out is None else out
    reported: set[str] = set()
    for each in kinds:
        path = out if single else folder / f"{file.stem}-{each}.{format}"
        try:
            figure = _draw(plots, shown, each, view, log, dark, reported, colour)
        except InputError as error:
            if kind is not Kind.all:
                raise
            typer.echo(f"no {each}: {error}", err=True)
            continue
        plots.save_figure(figure, path)
        typer.echo(f"written: {path}")


def _draw(plots, shown, kind: Kind, view, log, dark, reported: set[str], colour: Colour):
    options = {"dark": dark}
    if kind in (Kind.network, Kind.compare):
        options["colour"] = str(colour)
    if kind in (Kind.network, Kind.compare, Kind.determinacy):
        options["view"] = None if view is None else str(view)
    elif kind in OF_PACKINGS:
        if view is View.space:
            raise InputError(f"--view 3d is not for --kind {kind}; expected front, side or top")
        options["view"] = str(view or View.front)
    elif kind is not Kind.floor and log is not None:
        options["log"] = log
    return drawn(
        getattr(plots, (FUNCTIONS | OF_PACKINGS)[kind]), shown, reported=reported, **options
    )


def drawn(
    function: "Callable[..., Figure]",
    source: "Source",
    *,
    reported: set[str] | None = None,
    **options,
) -> "Figure":
    """The figure; what could not be drawn as requested is reported in one line, once."""
    from ..output.plots import Fallback

    reported = set() if reported is None else reported
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", Fallback)
        figure = function(source, **options)
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        if text not in reported:
            reported.add(text)
            typer.echo(text, err=True)
    return figure
