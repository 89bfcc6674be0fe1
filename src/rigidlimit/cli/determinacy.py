"""``rigidlimit determinacy SCENE|FILE``: which contact forces rigid mechanics determines."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..errors import InputError
from .contacts import Intervals, Rigid, columns, judge, show, summary

CAPTURED = (".hdf5", ".h5", ".dat")
"""Files that hold a captured problem; other names are scenes."""


def determinacy(
    scene: Annotated[
        str,
        typer.Argument(help="A gallery scene, a TOML file, or a captured problem (.hdf5, .dat)."),
    ],
    until: Annotated[
        float | None,
        typer.Option(help="Time of the step judged [s]; default: at rest, or the scene's end."),
    ] = None,
    contacts: Annotated[
        str | None,
        typer.Option(help="Whose intervals: all, largest, or numbers like 0,5,7-9."),
    ] = None,
    intervals: Annotated[
        Intervals,
        typer.Option(help="exact: linear programs; bounds: safe ones, for large systems."),
    ] = Intervals.auto,
    out: Annotated[Path | None, typer.Option(help="Results as .json or .csv.")] = None,
) -> None:
    """Degree of indeterminacy, determined forces, and how far the others are open.

    Example: `rigidlimit determinacy beam`, `rigidlimit determinacy problem.hdf5 --contacts 0-9`.
    """
    from ..output.results import check_name, write_results

    check_name(out)
    if Path(scene).suffix.lower() in CAPTURED:
        from .solve import solved

        rigid = solved(Path(scene))[0]
    else:
        rigid = _settled(scene, until)
    found, chosen = judge(rigid, contacts, intervals)
    show(rigid, found, chosen)
    typer.echo(found.message)
    if out is not None:
        write_results(out, summary(rigid, found), columns(rigid, found))
        typer.echo(f"written: {out}")


def _settled(name, until) -> Rigid:
    """The contacts that are closed in the scene at rest, or at its end."""
    from rich.console import Console

    from ..scenes import load
    from ..simulation import Simulation

    loaded = load(name)
    simulation = Simulation(loaded, compatible="never")
    end = loaded.duration if until is None else until
    if not end > 0:
        raise InputError(f"--until is {until}; expected a positive time")
    with Console(stderr=True).status("settling") as status:
        while simulation.time < end - 1.5 * simulation.dt and not (
            until is None and simulation.at_rest
        ):
            simulation.step()
            status.update(f"settling, t = {simulation.time:.4g} s")
        result = simulation.step(compatible=True)
    if not result.converged:
        raise InputError(f"{name} at t = {result.time:.6g} s: {result.message}")
    closed = np.flatnonzero(result.closed)
    if not len(closed):
        raise InputError(
            f"{name} has no closed contacts at t = {result.time:.6g} s; try a later --until"
        )
    names = simulation.bodies.names
    return Rigid(
        title=f"{loaded.name} at t = {result.time:.6g} s",
        B=result.B[closed],
        load=result.load,
        fixed=~simulation.bodies.free.ravel(),
        blocks=np.arange(0, 6 * len(simulation.bodies) + 1, 6),
        classic=result.classic.force[closed],
        compatible=result.compatible.force,
        names=[f"{names[a]} - {names[b]}" for a, b in result.contacts.body[closed]],
        number=np.arange(len(closed)),
        total=len(closed),
    )
