"""``rigidlimit solve FILE``: a captured problem, its forces, and what can be said of them."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..errors import InputError
from ..words import counted
from .compiling import tell_of_compiling
from .contacts import (
    ContactsOption,
    Intervals,
    IntervalsOption,
    ResultsOption,
    Rigid,
    judge,
    show,
    store,
)
from .folders import check_file
from .run import Solver


def solve(
    file: Annotated[Path, typer.Argument(help="FCLIB file (.hdf5), or Siconos' text form (.dat).")],
    solver: Annotated[Solver, typer.Option(help="Solver of classic contact dynamics.")] = (
        Solver.newton
    ),
    law: Annotated[str, typer.Option(help="hooke, hertz or an exponent p > 1.")] = "hooke",
    contacts: ContactsOption = None,
    intervals: IntervalsOption = Intervals.auto,
    out: ResultsOption = None,
) -> None:
    """Solve the frictionless part of a captured contact problem: compatible impulses.

    Equal stiffness at every contact. Prints what the solvers say, the certificate of the answer,
    and which impulses were determined. Example: `rigidlimit solve problem.hdf5 --out answer.json`.
    """
    from ..diagnostics import certify
    from ..output.results import check_name
    from ..scenes.scene import law_exponent

    check_name(out)
    check_file("--out", out)
    tell_of_compiling()
    exponent = law_exponent(law)
    rigid, answer = solved(file, solver=str(solver), exponent=exponent)
    problem = answer.problem
    found, chosen = judge(rigid, contacts, intervals)
    certificate = certify(rigid.B, rigid.load, rigid.compatible, exponent=exponent, tolerance=1e-8)
    show(rigid, found, chosen)
    m = problem.B.shape[0]
    typer.echo(
        f"{counted(m, 'contact')}, {len(answer.closed)} of them closed at the end of the step"
    )
    if problem.local:
        typer.echo(
            f"W_NN: asymmetry {problem.asymmetry:.1e}; "
            f"{counted(problem.B.shape[1], 'eigenvalue')} kept, the least "
            f"{problem.kept:.1e} of the largest; largest left out {problem.cut:.1e}"
        )
    typer.echo(f"contact dynamics: {answer.classic.message}")
    typer.echo(f"compatible: {answer.compatible.message}")
    typer.echo(f"certificate: {certificate.message}")
    typer.echo(found.message)
    more = {
        "classic_status": str(answer.classic.status),
        "classic_residual": answer.classic.residual,
        "compatible_status": str(answer.compatible.status),
        "compatible_residual": answer.compatible.residual,
        "certificate": certificate.verdict,
        "balance": certificate.balance,
        "compatibility": certificate.compatibility,
        "duality_gap": certificate.duality_gap,
        "asymmetry": problem.asymmetry,
    }
    store(out, rigid, found, more)
    if not answer.converged:
        raise typer.Exit(1)


def solved(file: Path, *, solver="newton", exponent=2.0):
    """(Rigid: the closed contacts of a captured problem, CapturedAnswer)."""
    from ..adapters.fclib import normal_problem, read_fclib, solve_captured
    from ..output.hdf5 import looks_like_run

    if looks_like_run(file):
        raise InputError(
            f"{file} is a run, not a captured problem; try rigidlimit determinacy {file}"
        )
    answer = solve_captured(normal_problem(read_fclib(file)), solver=solver, exponent=exponent)
    if not len(answer.closed):
        raise InputError(f"{file}: no contact closes; there are no forces to be found")
    n = answer.B.shape[1]
    return (
        Rigid(
            title=file.name,
            B=answer.B,
            load=answer.load,
            fixed=None,
            # the columns of a local problem are no bodies
            blocks=np.array([0, n]) if answer.problem.local else None,
            classic=answer.classic.force[answer.closed],
            compatible=answer.compatible.force,
            names=None,
            number=answer.closed,
            total=answer.problem.B.shape[0],
            unit="N s",
        ),
        answer,
    )
