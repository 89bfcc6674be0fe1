"""``rigidlimit study FILE``: one computation over many seeds and parameters."""

import re
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError, MissingExtra
from .folders import check_file, same_file
from .options import QuietOption
from .stepping import stopped_by_signals
from .tables import new_table, terminal

HEADING = 12
"""Letters of a line of a heading, as many as a number like -1.23457e-05 has."""


def study(
    file: Annotated[Path, typer.Argument(help="A TOML file: scene, seeds, parameters, measures.")],
    out: Annotated[
        Path | None, typer.Option(help="HDF5 file of all samples; while under way OUT.parts.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="HTML page with statistics and pictures.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes; by default one a core.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, like tcp://host:8786.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on: samples that are done are kept.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew.")] = False,
    quiet: QuietOption = False,
) -> None:
    """Compute a scene over many seeds and parameters, and take statistics.

    Example: `rigidlimit study study.toml --out study.h5 --workers 2`. The numbers are the same for
    any number of workers. Ctrl-C, or the loss of a worker or of this program, loses no finished
    sample: the same command with --resume continues. A failed sample is reported, with exit code 1.
    """
    from ..studies import study as compute
    from ..studies import write_report
    from ..studies.file import read_study_file

    check_file("--out", out)
    check_file("--report", report, (".html",))
    if same_file(out, file):
        raise InputError(f"--out is {out}, the study itself; expected another file")
    if scheduler is not None and workers is not None:
        raise InputError("--workers and --scheduler are both given; expected one of the two")
    given = read_study_file(file)
    client = None if scheduler is None else _client(scheduler)
    try:
        with stopped_by_signals():
            found = compute(
                given.plan,
                seeds=given.seeds,
                parameters=given.parameters,
                out=out,
                resume=resume,
                overwrite=overwrite,
                workers=workers,
                executor=None if client is None else client.get_executor(),
                progress=not quiet,
            )
    except KeyboardInterrupt:
        kept = "nothing was kept" if out is None else "the same command with --resume continues"
        typer.echo(f"stopped; {kept}", err=True)
        raise typer.Exit(130) from None
    finally:
        if client is not None:
            client.close()
    if report is not None:
        write_report(report, found, name=file.stem)
    if not quiet:
        _show(file.stem, found)
        typer.echo(found.message)
        for path in filter(None, (out, report)):
            typer.echo(f"written: {path}")
    if len(found.failed):
        if quiet:
            typer.echo(found.message, err=True)
        raise typer.Exit(1)


def _client(address: str):
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra(
            f"Dask cannot be loaded ({error}); install it with pip install 'rigidlimit[dask]'"
        ) from error
    try:
        client = Client(address, timeout=20)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--scheduler {address}: no scheduler answers ({error}); expected its address, like "
            "tcp://host:8786, as `dask scheduler` prints it"
        ) from None
    try:
        client.wait_for_workers(1, timeout=20)
    except TimeoutError:
        client.close()
        raise InputError(
            f"--scheduler {address}: it has no workers; start some with `dask worker {address}`"
        ) from None
    return client


def _in_lines(name: str) -> str:
    """A heading in lines, broken behind dots and underscores: columns are as wide as numbers."""
    lines = [""]
    for part in re.findall(r"[^._]*[._]?", name):
        if lines[-1] and len(lines[-1] + part) > HEADING:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _show(name: str, found) -> None:
    """A row a measure, for each combination of parameters; what is alike in all stands above."""
    names = [key for key, values in found.parameters.items() if len(set(map(repr, values))) > 1]
    alike = [f"{key} {v[0]}" for key, v in found.parameters.items() if key not in names]
    name = f"{name}: {', '.join(alike)}" if alike else name
    heads = (*map(_in_lines, names), "samples", "failed", "measure", "mean", "error")
    table = new_table(name, heads, names="measure")
    for row in found.statistics():
        about = [f"{row[n]}" for n in (*names, "samples", "failed")]
        for measure in found.scalars:
            numbers = f"{row[measure]:.6g}", f"{row[f'{measure}_error']:.2g}"
            table.add_row(*about, measure.replace("_", " "), *numbers)
            about = [""] * len(about)
        if not found.scalars:
            table.add_row(*about, "", "", "")
        table.add_section()
    terminal().print(table)
