"""``rigidlimit forces NETWORK.h5``: of a network file, on one or more processes."""

from pathlib import Path

import typer

from ..errors import InputError


def network_forces(
    path: str, solver: str, start: Path | None, history: Path | None, increments: int | None,
    out: Path | None,
) -> None:  # fmt: skip
    """Compatible forces of a file of ``ContactNetwork``; ends the program with 1 where they are not
    solved. Of several processes the first one speaks, or the one that found an error."""
    from ..distributed import OtherRankError, forces_of_file

    if out is not None and out.suffix not in (".h5", ".hdf5"):
        raise InputError(f"--out is {out}; expected a name that ends in .h5 for a network file")
    try:
        found = forces_of_file(
            path, out=out, solver=solver, start=start, history=history, increments=increments or 1,
            tell=typer.echo,
        )  # fmt: skip
    except OtherRankError:
        raise typer.Exit(2) from None
    if found.first:
        typer.echo(found.message)
        if out is not None:
            typer.echo(f"written: {out}")
    if not found.converged:
        raise typer.Exit(1)
