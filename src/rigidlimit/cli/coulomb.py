"""``rigidlimit solve FILE --friction``: impulses of a captured problem with Coulomb friction."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
import typer

from .._support.words import counted
from ..errors import InputError
from .contacts import largest_first
from .limits import LIMITS
from .rough_contacts import Rough
from .tables import new_table, terminal


def solve_with_friction(file: Path, tolerance: float, out: Path | None) -> None:
    """Print the largest impulses with their state, and store all of them."""
    from ..adapters import read_captured
    from ..output.results import write_results

    captured = read_captured(file)
    if not captured.contacts:
        raise InputError(f"{file} has no contacts; there are no forces to be found")
    answer = captured.solve(tolerance=tolerance)
    columns = _columns(captured, answer)
    _show(file.name, columns)
    states = columns["state"]
    counts = ", ".join(f"{states.count(name)} {name}" for name in ("open", "sticks", "slides"))
    typer.echo(f"{counted(captured.contacts, 'contact')}: {counts}")
    typer.echo(answer.message)
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
        write_results(out, summary, columns)
        typer.echo(f"written: {out}")
    if not answer.converged:
        raise typer.Exit(1)


def captured_contacts(file: Path) -> Rough:
    """The contacts of a captured problem that its motion leaves closed, with the impulses found.

    Admissible are all impulses that make the same motion, B^T r = B^T r_found (of local problems
    W r = W r_found); those of sliding contacts lie against the slip.
    """
    from ..adapters import read_captured

    captured = read_captured(file)
    if not captured.contacts:
        raise InputError(f"{file} has no contacts; there are no forces to be found")
    answer = captured.solve()
    typer.echo(answer.message)
    if not answer.converged:
        raise InputError(f"{file}: the motion was not found, so that its impulses are not known")
    r, u, d = answer.reaction, answer.velocity, captured.dim
    rows = sp.csr_array(captured.W if captured.kind == "local" else captured.H.T)
    largest = max(float(np.abs(u).max(initial=0.0)), 1e-300)
    closed = np.flatnonzero((r[:, 0] > 0.0) | (u[:, 0] <= LIMITS.slides * largest))
    at = d * closed[:, None] + np.arange(d)
    part = sp.csr_array(rows[at.ravel()])
    slides = np.linalg.norm(u[closed, 1:], axis=1, keepdims=True) > LIMITS.slides * largest
    return Rough(
        title=file.name,
        rows=dict(
            B=sp.csr_array(rows[at[:, 0]]),
            load=part.T @ r[closed].ravel(),
            tangential=sp.csr_array(rows[at[:, 1:].ravel()]),
            friction=captured.mu[closed],
            sliding_direction=np.where(slides, -u[closed, 1:], 0.0),
        ),
        force=r[closed],
        whose="found",
        names=None,
        number=closed,
        total=captured.contacts,
        unit="N s",
    )


def _columns(captured, answer) -> dict:
    """One column a quantity: impulses, velocities, friction, state."""
    r, u = answer.reaction, answer.velocity
    slip = np.linalg.norm(u[:, 1:], axis=1)
    # in the measure of the residual: impulses and velocities over the largest velocity
    largest = max(np.abs(u).max(), 1e-300)
    bears = r[:, 0] > 0
    states = np.where(bears, np.where(slip > LIMITS.slides * largest, "slides", "sticks"), "open")
    tangential = ("tangential",) if captured.dim == 2 else ("tangential_1", "tangential_2")
    names = ("normal", *tangential)
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
