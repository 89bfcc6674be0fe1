"""``rigidlimit solve FILE --friction``: impulses of a captured problem with Coulomb friction."""

from pathlib import Path

import numpy as np
import typer

from .._support.words import counted
from ..errors import InputError
from .contacts import Rough, largest_first, parts_of_force, tell
from .options import LIMITS
from .tables import new_table, terminal


def solve_with_friction(file: Path, tolerance: float, out: Path | None) -> None:
    """Print the largest impulses with their state and whether they are unique, and store all."""
    from ..output.results import write_results

    captured, answer = _solved(file, tolerance=tolerance)
    columns = _columns(captured, answer)
    _show(file.name, columns)
    states = columns["state"]
    counts = ", ".join(f"{states.count(name)} {name}" for name in ("open", "sticks", "slides"))
    typer.echo(f"{counted(captured.contacts, 'contact')}: {counts}")
    typer.echo(answer.message)
    degree = _tell_unique(captured, answer) if answer.converged else None
    if out is not None:
        summary = {
            "title": file.name,
            "unit": "N s",
            "velocity_unit": "m/s",
            "status": str(answer.status),
            "residual": answer.residual,
            "tolerance": answer.tolerance,
            "worst_contact": answer.worst,
        }
        if degree is not None:
            summary |= {"degree_of_indeterminacy_at_least": degree}
        write_results(out, summary, columns)
        typer.echo(f"written: {out}")
    if not answer.converged:
        raise typer.Exit(1)


def compatible_with_friction(
    file: Path, tolerance: float, exponent: float, contacts, intervals, out: Path | None
) -> None:
    """Print and store compatible impulses of the motion, with degree and intervals."""
    captured, answer = _solved(file, tolerance=tolerance)
    typer.echo(answer.message)
    if not answer.converged:
        raise InputError(f"{file}: the motion was not found, so that its impulses are not known")
    if not _tell_compatible(file, captured, answer, exponent, contacts, intervals, out):
        raise typer.Exit(1)


def captured_contacts(file: Path) -> Rough:
    """The closed contacts of a captured problem, with the impulses found."""
    captured, answer = _solved(file)
    typer.echo(answer.message)
    if not answer.converged:
        raise InputError(f"{file}: the motion was not found, so that its impulses are not known")
    return _rough(file.name, captured, answer)


def _solved(file: Path, **options):
    from ..adapters import read_captured

    captured = read_captured(file)
    if not captured.contacts:
        raise InputError(f"{file} has no contacts; there are no forces to be found")
    return captured, captured.solve(**options)


def _rough(title: str, captured, answer) -> Rough:
    from ..adapters import closed_contacts

    found = closed_contacts(captured, answer)
    return Rough(
        title=title,
        rows=found.rows,
        force=found.reaction,
        whose="found",
        names=None,
        number=found.number,
        total=found.total,
        unit="N s",
    )


def _tell_unique(captured, answer) -> int | None:
    """Say whether the impulses are the only ones of this motion; the least degree known."""
    from ..adapters import closed_contacts

    try:
        found = closed_contacts(captured, answer)
    except InputError as error:
        typer.echo(f"whether these impulses are unique is not known: {error}")
        return None
    if len(found.number) > LIMITS.degree:
        typer.echo(
            f"{len(found.number)} closed contacts: whether these impulses are unique is not "
            "computed; use rigidlimit determinacy FILE --friction"
        )
        return None
    degree = found.degree()
    if degree.most == 0:
        typer.echo("these impulses are unique: no others make this motion (degree 0)")
    elif degree.least == 0:
        typer.echo(f"whether these impulses are unique is open: {degree}")
    else:
        typer.echo(
            "these impulses are not unique, one choice of many that make the same motion: "
            f"{degree}; another solver, or order of contacts, may give others. --compatible gives "
            "those of stiff elastic bodies, and how far each is open"
        )
    return degree.least


def _tell_compatible(file, captured, answer, exponent: float, contacts, intervals, out) -> bool:
    """Compatible impulses of the motion found, degree and intervals; whether all were found."""
    from dataclasses import replace

    from ..adapters import closed_contacts

    found = closed_contacts(captured, answer)
    elastic = found.compatible_forces(exponent=exponent)
    typer.echo(f"compatible: {elastic.message}")
    rough = _rough(file.name, captured, answer)
    if elastic.converged:
        force = np.column_stack([elastic.force, elastic.tangential_force])
        largest = float(np.abs(force).max(initial=0.0)) or 1.0
        off = float(np.abs(force - found.reaction).max(initial=0.0)) / largest
        typer.echo(f"the impulses found are {off:.2g} of the largest off the compatible ones")
        rough = replace(rough, force=force, whose="compatible")
    return tell(rough, contacts, intervals, out) and elastic.converged


def _columns(captured, answer) -> dict:
    """One column a quantity: impulses, velocities, friction, state."""
    r, u = answer.reaction, answer.velocity
    slip = np.linalg.norm(u[:, 1:], axis=1)
    bears = r[:, 0] > 0
    states = np.where(bears, np.where(slip > answer.still, "slides", "sticks"), "open")
    names = parts_of_force(captured.dim)
    return (
        {name: r[:, k] for k, name in enumerate(names)}
        | {f"velocity_{name}": u[:, k] for k, name in enumerate(names)}
        | {"friction": captured.mu, "state": states.tolist()}
    )


def _show(title, columns):
    """Table of the largest impulses."""
    table = new_table(
        f"{title}: ten largest [N s]",
        ("contact", "normal", "tangential", "friction bound", "state"),
        names="",
        bold="normal",
    )
    normal = columns["normal"]
    size = np.sqrt(sum(v**2 for name, v in columns.items() if name.startswith("tangential")))
    for i in largest_first(normal)[: LIMITS.contacts]:
        values = normal[i], size[i], columns["friction"][i] * normal[i]
        table.add_row(str(i), *(f"{v:.6g}" for v in values), columns["state"][i])
    terminal().print(table)
