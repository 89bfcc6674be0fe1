"""``rigidlimit determinacy SCENE|FILE``: which contact forces rigid mechanics determines.

FILE is a scene (.toml), a run of ``rigidlimit run --out`` or a captured problem.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..errors import InputError
from ..status import Status
from .compiling import watch_compiler
from .contacts import Rigid, Rough, judge, show, store, tell
from .coulomb import captured_contacts
from .folders import check_results
from .options import ContactsOption, Intervals, IntervalsOption, ResultsOption

CAPTURED = (".hdf5", ".h5", ".dat")
"""Files that hold a captured problem; other names are scenes."""


def determinacy(
    scene: Annotated[
        str,
        typer.Argument(
            help="A gallery scene, a TOML file, a run (.h5), or a captured problem (.hdf5, .dat)."
        ),
    ],
    frame: Annotated[
        int | None,
        typer.Option(help="Which step of a run, counted from 0; -1, the default, is the last."),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(help="Time of the step judged [s]; default: at rest, or the scene's end."),
    ] = None,
    contacts: ContactsOption = None,
    intervals: IntervalsOption = Intervals.auto,
    friction: Annotated[
        bool, typer.Option("--friction", help="Of a captured problem: with its Coulomb friction.")
    ] = False,
    out: ResultsOption = None,
) -> None:
    """Degree of indeterminacy, determined forces, and how far the others are open.

    Of scenes with friction: within its cones, with the least friction that balances the load, and
    whether contacts can be wedged.

    Example: `rigidlimit determinacy beam`, `rigidlimit determinacy problem.hdf5 --contacts 0-9`.
    """
    from ..output.hdf5 import looks_like_run

    check_results(out)
    path = Path(scene)
    if path.suffix.lower() in CAPTURED and not path.is_file() and not looks_like_run(path):
        raise InputError(f"no file {path}; expected a run or a captured problem of that name")
    is_run = path.suffix.lower() in CAPTURED and looks_like_run(path)
    is_captured = path.suffix.lower() in CAPTURED and not is_run
    _check_options(scene, is_run, is_captured, frame, until, friction)
    watch_compiler()
    if is_run:
        rigid = _stored(path, -1 if frame is None else frame)
    elif is_captured and friction:
        rigid = captured_contacts(path)
    elif is_captured:
        from .solve import solved

        rigid = solved(path)[0]
    else:
        rigid = _settled(scene, until)
    if isinstance(rigid, Rough):
        found = tell(rigid, contacts, intervals, out)
    else:
        found, chosen = judge(rigid, contacts, intervals)
        show(rigid, found, chosen)
        if found is not None:
            typer.echo(found.described(rigid.unit))
        store(out, rigid, found)
    if not found:
        raise typer.Exit(1)


def _check_options(scene, is_run, is_captured, frame, until, friction) -> None:
    """Do the options go with what ``scene`` names?"""
    if frame is not None and not is_run:
        other = "" if is_captured else "; --until chooses the time of a scene"
        raise InputError(f"--frame counts the steps of a run, and {scene} is none{other}")
    if until is not None and (is_run or is_captured):
        other = "; --frame chooses a step of a run" if is_run else ""
        raise InputError(f"--until is for scenes, and {scene} is none{other}")
    if friction and not is_captured:
        raise InputError(
            f"--friction is for captured problems, and {scene} is none; expected friction in its "
            "materials"
        )


def _stored(path, index) -> Rigid | Rough:
    """The contacts closed in one step of a run."""
    from ..compatibility import compatible_forces
    from ..output.hdf5 import read_run

    run = read_run(path)
    step = run[index]
    shown = step.network
    closed = np.flatnonzero(shown.closed)
    title = f"{path.name} at t = {shown.time:.6g} s"
    if "classic" in shown.tangential:
        return _rough_frame(title, shown, closed)
    forces, balance = dict(shown.forces), shown.balance
    if "compatible" not in forces:  # steps between those that have them
        answer = compatible_forces(
            *balance,
            stiffness=step.stiffness[closed],
            exponent=run.scene.exponent,
            fixed=~shown.bodies.free.ravel(),
        )
        forces["compatible"] = np.zeros(len(shown.contacts))
        forces["compatible"][closed] = answer.force
    return _rigid(title, shown.bodies, balance, shown.contacts, closed, forces)


def _rigid(title, bodies, balance, contacts, closed, forces) -> Rigid:
    """The closed contacts (indices) of a scene. balance: their B and load. forces: classic and
    compatible, (m,) each."""
    _refuse_nothing(title, closed)
    return Rigid(
        title=title,
        B=balance[0],
        load=balance[1],
        fixed=~bodies.free.ravel(),
        blocks=bodies.blocks,
        classic=forces["classic"][closed],
        compatible=forces["compatible"][closed],
        names=[f"{bodies.names[a]} - {bodies.names[b]}" for a, b in contacts.body[closed]],
        number=np.arange(len(closed)),
        total=len(closed),
    )


def _rough_frame(title, shown, closed) -> Rough:
    """The closed contacts (indices) of a frame with friction, and its best forces."""
    from ..output.plots.determinacy import rough_rows

    _refuse_nothing(title, closed)
    rows, force = rough_rows(shown, closed)
    names = shown.bodies.names
    return Rough(
        title=title,
        rows=rows,
        force=force,
        whose=shown.best,
        names=[f"{names[a]} - {names[b]}" for a, b in shown.contacts.body[closed]],
        number=np.arange(len(closed)),
        total=len(closed),
    )


def _refuse_nothing(title, closed) -> None:
    if not len(closed):
        raise InputError(
            f"{title}: no contact is closed; try another time (scenes: --until, runs: --frame)"
        )


def _tell_unsolved(name, result) -> None:
    """Check a step that is not solved: forces of least energy are as admissible as any, and
    which forces balance determines does not depend on springs; others are an InputError."""
    if result.converged:
        return
    if not (result.classic.converged and result.compatible.status is Status.NO_EQUILIBRIUM):
        raise InputError(f"{name} at t = {result.time:.6g} s: {result.message}")
    typer.echo(
        f"at t = {result.time:.6g} s no equilibrium of springs with Coulomb's law was found: the "
        "compatible forces are the admissible ones of least energy"
    )


def _settled(name, until) -> Rigid | Rough:
    """The contacts that are closed in the scene at rest, or at its end."""
    from rich.console import Console

    from ..scenes import load
    from ..simulation import Simulation

    loaded = load(name)
    simulation = Simulation(loaded, compatible="never")
    end = loaded.duration if until is None else until
    if not (np.isfinite(end) and end > 0):
        raise InputError(f"--until is {until}; expected a positive, finite time in seconds")
    with Console(stderr=True).status("settling") as status:
        while simulation.time < end - 1.5 * simulation.dt and not (
            until is None and simulation.stands_still
        ):
            simulation.step()
            status.update(f"settling, t = {simulation.time:.4g} s")
        result = simulation.step(compatible=True)
    _tell_unsolved(name, result)
    if motion := result.motion:
        typer.echo(f"not at rest at t = {result.time:.6g} s: {motion}; this is for that pose")
    closed = np.flatnonzero(result.closed)
    if result.T is not None:
        return _rough_frame(f"{loaded.name} at t = {result.time:.6g} s", result.network, closed)
    return _rigid(
        f"{loaded.name} at t = {result.time:.6g} s",
        simulation.bodies,
        result.balance,
        result.contacts,
        closed,
        {"classic": result.classic.force, "compatible": result.force},
    )
