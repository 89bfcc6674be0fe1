"""``rigidlimit forces SCENE``: forces of a scene's pose with the overlaps that it has.

``rigidlimit forces NETWORK.h5`` are those of a network file, on one or more processes.
"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from ..errors import InputError
from .compiling import watch_compiler
from .folders import check_file, check_results
from .options import LawOption, ResultsOption, SceneArgument, TouchOption
from .tables import new_table, terminal

if TYPE_CHECKING:
    from ..pose import PoseForces


NETWORKS = ".h5", ".hdf5"
"""Endings of network files, and of their forces."""


class LinearSolver(StrEnum):
    auto = "auto"
    mumps = "mumps"
    gamg = "gamg"
    both = "gamg+mumps"


def forces(
    scene: SceneArgument,
    stiffness: Annotated[
        float | None,
        typer.Option(
            help="Of every contact [N/m^(p-1)], as in the DEM that made the pose; default: of the "
            "scene's materials and pairs."
        ),
    ] = None,
    law: LawOption = None,
    touch: TouchOption = 0.0,
    largest: Annotated[int, typer.Option(min=1, help="How many forces the table shows.")] = 10,
    solver: Annotated[
        LinearSolver | None,
        typer.Option(
            help="Of a network file: mumps (exact), gamg (less memory), gamg+mumps (with friction: "
            "mumps where gamg is slow); default: by size and memory."
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(help="Of a network file: forces of an earlier call, to begin with."),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(
            help="Of a network file with friction: forces of an earlier call, whose springs and "
            "sliding contacts the load goes on from."
        ),
    ] = None,
    increments: Annotated[
        int | None,
        typer.Option(min=1, help="Of a network file with friction: steps from its springs."),
    ] = None,
    out: ResultsOption = None,
) -> None:
    """Contact forces at a given pose of rest, whose overlaps are what contacts press with.

    For packings from a DEM: no step is made, no overlap is undone. Example: `rigidlimit forces
    packing.toml --stiffness 1e6 --out forces.csv`.

    A network file (HDF5, of rigidlimit.distributed) is solved by PETSc, on as many processes as
    there are: `mpiexec -n 4 rigidlimit forces huge.h5 --out forces.h5`.
    """
    if Path(scene).suffix in NETWORKS:
        of_scenes = {"--stiffness": stiffness, "--law": law, "--touch": touch or None}
        name = (solver or LinearSolver.auto).value
        network_forces(scene, name, start, history, increments, out, of_scenes)
        return
    of_networks = {"--solver": solver, "--start": start, "--history": history}
    check_file("--out", out)
    _refuse("a scene", of_networks | {"--increments": increments})
    check_results(out)

    from ..pose import forces_at_pose
    from ..scenes import load

    watch_compiler()
    found = forces_at_pose(load(scene), stiffness=stiffness, law=law, touch=touch)
    report(found, largest, out)


def _refuse(what: str, options: dict) -> None:
    """Raises InputError for the first option that was given and does not go with ``what``."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is given with {what}, which does not take it; leave it out")


def report(found: "PoseForces", largest: int, out: Path | None) -> None:
    """Table of the largest forces of a pose, the message, and the file of results; ends the
    program with 1 where they are not solved."""
    from ..compatibility.friction import mobilised_friction
    from ..output.results import write_results
    from ..status import Status

    names, contacts = found.bodies.names, found.contacts
    a, b = ([names[i] for i in contacts.body[:, k]] for k in (0, 1))
    _show(found, a, b, largest)
    typer.echo(found.message)
    if out is not None:
        summary = {
            "status": str(found.status),
            "residual": found.residual,
            "largest_imbalance": float(np.abs(found.imbalance).max(initial=0.0)),
            "deepest_overlap": found.overlap,
            "shift": found.shift,
        }
        columns = {"body_a": a, "body_b": b, "gap": contacts.gap, "force": found.force}
        axes = "xyz"[: found.bodies.dim]
        for k, axis in enumerate(axes):
            columns[f"normal_{axis}"] = contacts.normal[:, k]
        if found.friction is not None:
            for k, axis in enumerate(axes):
                columns[f"force_{axis}"] = found.force_vectors[:, k]
            columns["mobilised"] = mobilised_friction(
                found.force, found.tangential_force, found.friction
            )
        write_results(out, summary, columns)
        typer.echo(f"written: {out}")
    if not found.converged and found.status is not Status.UNBALANCED:  # as requested
        raise typer.Exit(1)


def _show(found, a, b, largest: int) -> None:
    from rich.markup import escape

    from ..compatibility.friction import mobilised_friction

    rough = found.friction is not None
    heads = ("bodies", "gap [m]", "force [N]", *(("along [N]", "mobilised") if rough else ()))
    table = new_table(f"largest of {len(found.force)} forces", heads, names="bodies")
    if rough:
        size = np.linalg.norm(found.tangential_force, axis=1)
        mobilised = mobilised_friction(found.force, found.tangential_force, found.friction)
    for i in np.argsort(-found.force, kind="stable")[:largest]:
        row = [escape(f"{a[i]} - {b[i]}"), f"{found.contacts.gap[i]:.2e}", f"{found.force[i]:.6g}"]
        row += [f"{size[i]:.6g}", f"{mobilised[i]:.3f}"] if rough else []
        table.add_row(*row)
    terminal().print(table)


def network_forces(
    path: str, solver: str, start: Path | None, history: Path | None, increments: int | None,
    out: Path | None, of_scenes: dict,
) -> None:  # fmt: skip
    """Compatible forces of a file of ``ContactNetwork``; ends the program with 1 where they are not
    solved. Of several processes the first one speaks, or the one that found an error. of_scenes:
    options that are refused where they are given."""
    from ..distributed import OtherRankError, forces_of_file
    from ..distributed.ranks import said_once

    try:
        with said_once():
            _refuse("a network file", of_scenes)
            check_file("--out", out)
            if out is not None and out.suffix not in NETWORKS:
                raise InputError(
                    f"--out is {out}; expected a name that ends in .h5 for a network file"
                )
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
