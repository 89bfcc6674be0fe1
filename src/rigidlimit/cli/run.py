"""``rigidlimit run SCENE``: compute a scene, show the forces, keep the run."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from .._support.words import counted
from ..errors import InputError
from .compiling import watch_compiler
from .folders import check_file, check_folder, same_file
from .forces import show_forces
from .options import LawOption, QuietOption, SceneArgument, Solver, SolverOption
from .stepping import advance
from .stepping import capture as write_problem


def run(
    scene: SceneArgument,
    until: Annotated[
        float | None, typer.Option(help="Simulated time [s]; default: the scene's duration.")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Time step [s]; default: the scene's.")] = None,
    solver: SolverOption = Solver.newton,
    law: LawOption = None,
    tangential_law: Annotated[
        str | None,
        typer.Option(
            help="Of Hertzian contacts that rub, mindlin or mindlin/force; default: the scene's."
        ),
    ] = None,
    increments: Annotated[
        int | None,
        typer.Option(min=1, help="Of rough contacts within a step; default: the scene's."),
    ] = None,
    forces: Annotated[
        str,
        typer.Option(help="When to compute compatible forces: every, end, never, or times 0.1,0.2"),
    ] = "every",
    tolerance: Annotated[float, typer.Option(help="Residual of both steps of the method.")] = 1e-10,
    out: Annotated[Path | None, typer.Option(help="HDF5 file for the run.")] = None,
    every: Annotated[int, typer.Option(min=1, help="Store each so many steps.")] = 1,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with a stopped run, or with a finished one to a later --until."
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Discard the stopped run of --out, and restart.")
    ] = False,
    vtk: Annotated[Path | None, typer.Option(help="Folder for ParaView files.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Force network as PNG, PDF or SVG.")] = None,
    capture: Annotated[
        Path | None,
        typer.Option(help="FCLIB file of the last step's contact problem, for `rigidlimit solve`."),
    ] = None,
    capture_hard: Annotated[
        Path | None,
        typer.Option(help="Folder for FCLIB files of the steps whose solve did not converge."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Compute a scene and show its largest contact forces, classic beside compatible.

    Example: `rigidlimit run pyramid --out pyramid.h5 --vtk paraview`. Ctrl-C stops a run that has
    `--out` so that `--resume` continues it; with a later `--until` it extends a finished run.
    A second Ctrl-C does not wait for the end of a long step; what came after the last checkpoint,
    one each 10 seconds, is then computed again. Without `--resume` a finished run of that name is
    replaced at the end.
    """
    from ..scenes import load
    from ..simulation import Simulation

    _check_options(scene, out, vtk, picture, capture, capture_hard, resume, overwrite)
    loaded = load(scene)
    watch_compiler(quiet=quiet)
    simulation = Simulation(
        loaded,
        dt=dt,
        solver=str(solver),
        law=law,
        tolerance=tolerance,
        tangential_law=tangential_law,
        increments=increments,
    )
    until = loaded.duration if until is None else until
    steps = _steps(until, simulation.dt)
    wanted = wanted_steps(forces, steps, simulation.dt)
    settings = {
        "until": until,
        "dt": simulation.dt,
        "solver": str(solver),
        "exponent": simulation.settings.exponent,
        "forces": forces,
        "tolerance": tolerance,
        "every": every,
    }
    if simulation.rough:
        rub = simulation.settings.friction
        settings |= {"tangential_law": rub.tangential_law, "increments": rub.increments}
    writer = None if out is None else _writer(out, simulation, settings, resume, overwrite)
    replaced = out is not None and out.exists()
    begun = simulation.time
    made = advance(simulation, steps, wanted, writer, quiet=quiet, hard=capture_hard)
    written = _write(simulation, made, out, vtk, capture, picture)
    if not quiet and made.result is not None:
        show_forces(simulation, made.result)
    earlier = " (an earlier run was replaced)" if replaced else ""
    if writer is not None and writer.extends:
        earlier = f" (extended from {begun:.6g} s to {simulation.time:.6g} s)"
    for path in () if quiet else written:
        typer.echo(f"written: {path}{earlier if path is out else ''}")
    if made.approximate:
        typer.echo(_approximate(made), err=True)
    _tell_of_troubles(made, begun, capture_hard)
    if capture is not None and made.result is None:
        typer.echo(
            f"not written: {capture}; --capture takes the last step that is computed, and no step "
            "was left of this run; expected a later --until, or a run without --resume",
            err=True,
        )
        raise typer.Exit(1)


def _steps(until: float, dt: float) -> int:
    """How many steps a run of ``until`` [s] has; says so where one is longer than all."""
    from ..simulation import steps_between

    if not (np.isfinite(until) and until > 0):
        raise InputError(f"--until is {until}; expected a positive, finite time in seconds")
    if dt > until * (1 + 1e-9):
        typer.echo(
            f"a step of {dt:g} s is longer than the run of {until:g} s; it ends after that step",
            err=True,
        )
    return max(1, steps_between(0.0, until, dt))


def _check_options(scene, out, vtk, picture, capture, capture_hard, resume, overwrite) -> None:
    """Before anything is computed: do the options go together, and can the files be written?"""
    for option, given in (("--resume", resume), ("--overwrite", overwrite), ("--vtk", vtk)):
        if given and out is None:
            raise InputError(f"{option} needs the run's file: add --out FILE")
    if resume and overwrite:
        raise InputError("--resume continues a run, --overwrite drops it; expected one of them")
    if out is not None and same_file(out, Path(scene)):
        raise InputError(f"--out is {out}, the scene itself; expected another file, like {out}.h5")
    if capture is not None:
        from ..output.hdf5 import looks_like_run

        check_file("--capture", capture, (".hdf5", ".h5"))
        if same_file(capture, out) or looks_like_run(capture):
            raise InputError(f"--capture is {capture}, the file of a run; expected another name")
    for option, path in (("--out", out), ("--picture", picture)):
        check_file(option, path)
    check_folder("--vtk", vtk)
    check_folder("--capture-hard", capture_hard)
    if picture is not None:
        from ..output.plots.style import figure_format

        figure_format(picture)


def _writer(out: Path, simulation, settings: dict, resume: bool, overwrite: bool):
    """The writer of a new run, or of the one that is taken up."""
    from ..output.hdf5 import RunWriter

    every, forces, until = settings["every"], settings["forces"], settings["until"]
    if not resume:
        return RunWriter.start(out, simulation, settings, every=every, overwrite=overwrite)
    writer = RunWriter.resume(
        out,
        simulation,
        settings,
        every=every,
        extending=lambda time: refuse_past(forces, time, simulation.dt),
    )
    if writer.until > until:
        typer.echo(
            f"the run was to end at {writer.until:.6g} s; with this --until it is at "
            f"{simulation.time:.6g} s and ends at {max(simulation.time, until):.6g} s",
            err=True,
        )
    return writer


def _write(simulation, made, out, vtk, capture, picture) -> list[Path]:
    """Further requested output, after the run itself; all files, in their order."""
    if vtk is not None:
        from ..output.hdf5 import read_run
        from ..output.vtk import write_paraview

        write_paraview(read_run(out), vtk)
    if made.result is None:
        capture = None
    elif capture is not None:
        write_problem(simulation, made, capture)
    if picture is not None:
        _save_picture(simulation, made.result, out, picture)
    return [path for path in (out, vtk, capture, picture) if path is not None]


def _approximate(made) -> str:
    """How many steps spent their budget, and what they left."""
    number, failed = len(made.approximate), len(made.troubles)
    residual = max(step.residual for step in made.approximate)
    return (
        f"{counted(made.steps, 'step')}: {made.steps - number - failed} converged, {number} "
        f"approximate (budget spent, residual up to {residual:.1e} of the fastest contact "
        f"without contact forces), {failed} failed"
    )


def _tell_of_troubles(made, begun: float, hard: Path | None) -> None:
    """Steps that did not converge; typer.Exit(1) if there are any. hard: where they are kept."""
    for number, message in made.troubles[:3]:
        typer.echo(f"step {number} did not converge: {message}", err=True)
    if made.troubles:
        since = f" since t = {begun:.6g} s" if begun > 0 else ""
        typer.echo(
            f"{len(made.troubles)} of {counted(made.steps, 'step')}{since} did not converge",
            err=True,
        )
        if hard is not None:
            typer.echo(f"written: {hard}/step-*.hdf5 (rigidlimit solve FILE)", err=True)
        raise typer.Exit(1)


def _save_picture(simulation, result, out: Path | None, path: Path) -> None:
    """Of the last step; where none was left to compute, of the last that is stored."""
    from ..output.plots import comparison, save_figure
    from .plot import drawn

    if result is not None:
        save_figure(drawn(comparison, result), path)
        return
    from ..output.hdf5 import read_run

    run = read_run(out)
    if run.times[-1] < simulation.time * (1 - 1e-9):  # rounding of the sum of the steps' dt
        typer.echo(
            f"the picture is of the last stored step, at t = {run.times[-1]:.6g} s", err=True
        )
    save_figure(drawn(comparison, run), path)


def wanted_steps(forces: str, steps: int, dt: float) -> Callable[[int], bool]:
    """Which steps (1, 2, ...) get compatible forces."""
    if forces == "every":
        return lambda k: True
    if forces == "never":
        return lambda k: False
    if forces == "end":
        return lambda k: k == steps
    chosen = _chosen(forces, dt)
    if max(chosen) > steps:
        raise InputError(
            f"--forces requests t = {max(chosen) * dt:.6g} s, but the run ends at "
            f"{steps * dt:.6g} s; expected times within the run; make it longer with --until"
        )
    return lambda k: k in chosen


def _chosen(forces: str, dt: float) -> set[int]:
    """The steps that end nearest the requested times."""
    try:
        times = [float(t) for t in forces.split(",")]
        if min(times) < 0.0:
            raise ValueError
        return {max(1, round(t / dt)) for t in times}
    except (ValueError, OverflowError):
        raise InputError(
            f"--forces is {forces!r}; expected every, end, never, or times in seconds like 0.1,0.2"
        ) from None


def refuse_past(forces: str, time: float, dt: float) -> None:
    """A finished run is extended at ``time`` [s]: its steps are not made again."""
    if forces in ("every", "never", "end"):
        return
    first = min(_chosen(forces, dt))
    if first <= round(time / dt):
        raise InputError(
            f"--forces requests t = {first * dt:.6g} s, but the run is finished up to {time:.6g} s"
            "; expected times after that; the steps before keep the forces that they have"
        )
