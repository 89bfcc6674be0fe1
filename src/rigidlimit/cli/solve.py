"""``rigidlimit solve FILE``: a captured problem, its forces, and what can be said of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from .._support.words import counted
from ..errors import InputError
from .compiling import watch_compiler
from .contacts import Rigid, chosen_contacts, judge, show, store
from .coulomb import compatible_with_friction, solve_with_friction
from .folders import check_results
from .options import (
    ContactsOption,
    Intervals,
    IntervalsOption,
    NewLawOption,
    ResultsOption,
    Solver,
    SolverOption,
)

if TYPE_CHECKING:
    from ..adapters.frictionless import CapturedAnswer


def solve(
    file: Annotated[Path, typer.Argument(help="FCLIB file (.hdf5), or Siconos' text form (.dat).")],
    friction: Annotated[
        bool,
        typer.Option(
            "--friction",
            help="Solve the problem with its Coulomb friction, and say whether its impulses are "
            "unique (of the other options, --tolerance, on its residual, and --out count).",
        ),
    ] = False,
    compatible: Annotated[
        bool,
        typer.Option(
            "--compatible",
            help="With --friction: the impulses of stiff elastic bodies that make the same motion, "
            "the degree of indeterminacy and intervals (--law, --contacts, --intervals).",
        ),
    ] = False,
    solver: SolverOption = Solver.newton,
    law: NewLawOption = "hooke",
    cut: Annotated[
        float | None,
        typer.Option(
            help="Eigenvalues of a local W_NN below this part of the largest count as zero; by "
            "default the noise that the matrix shows."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="Of the certificate, relative to the largest impulse.")
    ] = 1e-8,
    contacts: ContactsOption = None,
    intervals: IntervalsOption = Intervals.auto,
    out: ResultsOption = None,
) -> None:
    """Solve a captured contact problem: compatible impulses of the frictionless part, or friction.

    Equal stiffness at every contact. Prints what the solvers say, the certificate of the answer,
    and which impulses were determined. Example: `rigidlimit solve problem.hdf5 --out answer.json`.
    """
    from ..diagnostics import certify
    from ..scenes.checks import law_exponent

    check_results(out)
    watch_compiler()
    if compatible and not friction:
        raise InputError("--compatible is for --friction; without it impulses are compatible ones")
    if friction:
        unused = {"solver": solver is not Solver.newton, "cut": cut is not None}
        if not compatible:
            unused |= {
                "law": law != "hooke",
                "contacts": contacts is not None,
                "intervals": intervals is not Intervals.auto,
            }
        if any(unused.values()):
            raise InputError(
                f"--{next(name for name, given in unused.items() if given)} has no meaning with "
                "--friction, which solves step 1 alone by one method; expected --tolerance or --out"
                + ("" if compatible else ", or --compatible for impulses of elastic bodies")
            )
        if compatible:
            compatible_with_friction(file, tolerance, law_exponent(law), contacts, intervals, out)
            return
        solve_with_friction(file, tolerance, out)
        return
    exponent = law_exponent(law)
    rigid, answer = solved(file, solver=str(solver), exponent=exponent, cut=cut)
    chosen_contacts(contacts, rigid)
    certificate = certify(
        rigid.B,
        rigid.load,
        rigid.compatible,
        exponent=exponent,
        data_error=answer.data_error,
        tolerance=tolerance,
    )
    _tell(answer, certificate)
    more = _summary(answer, certificate)
    store(out, rigid, None, more)
    found, chosen = judge(rigid, contacts, intervals)
    show(rigid, found, chosen)
    if found is not None:
        typer.echo(found.described(rigid.unit))
        store(out, rigid, found, more)
    if not answer.converged:
        raise typer.Exit(1)


def _tell(answer, certificate):
    """What was computed from, and what the solvers and the certificate say."""
    problem = answer.problem
    typer.echo(
        f"{counted(problem.B.shape[0], 'contact')}, {len(answer.closed)} of them closed at the end "
        "of the step"
        + (f", {answer.doubtful} only within the errors of the file" if answer.doubtful else "")
        + (
            f"; {answer.idle} more touch, but cannot carry force except by slight tilts"
            if answer.idle
            else ""
        )
    )
    if problem.local:
        typer.echo(
            f"W_NN: asymmetry {problem.asymmetry:.1e}, noise {problem.noise:.1e}; "
            f"{counted(problem.B.shape[1], 'eigenvalue')} kept, the least {problem.kept:.1e} of "
            f"the largest; largest left out {problem.cut:.1e} (threshold {problem.threshold:.1e})"
        )
    typer.echo(f"contact dynamics: {answer.classic.message}")
    typer.echo(f"compatible: {answer.compatible.message}")
    typer.echo(f"certificate: {certificate.message}")


def _summary(answer, certificate):
    """The same for the file of results."""
    return {
        "classic_status": str(answer.classic.status),
        "classic_residual": answer.classic.residual,
        "compatible_status": str(answer.compatible.status),
        "compatible_residual": answer.compatible.residual,
        "certificate": certificate.verdict,
        "balance": certificate.balance,
        "compatibility": certificate.compatibility,
        "duality_gap": certificate.duality_gap,
        "data_error": answer.data_error,
        "closed_within_errors": answer.doubtful,
        "closed_and_idle": answer.idle,
        "asymmetry": answer.problem.asymmetry,
        "noise": answer.problem.noise,
        "threshold": answer.problem.threshold,
    }


def solved(
    file: Path, *, solver: str = "newton", exponent: float = 2.0, cut: float | None = None
) -> "tuple[Rigid, CapturedAnswer]":
    """The closed contacts of a captured problem, and its answer."""
    from ..adapters import normal_problem, read_captured, solve_captured
    from ..output.hdf5 import looks_like_run

    if looks_like_run(file):
        raise InputError(
            f"{file} is a run, not a captured problem; try rigidlimit determinacy {file}"
        )
    captured = read_captured(file)
    if not captured.contacts:
        raise InputError(f"{file} has no contacts; there are no forces to be found")
    answer = solve_captured(normal_problem(captured, cut=cut), solver=solver, exponent=exponent)
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
