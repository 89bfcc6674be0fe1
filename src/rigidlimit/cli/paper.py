"""``rigidlimit paper``: section 8 of the paper, run anew, as one report."""

import time
from pathlib import Path
from typing import Annotated

import typer

from .compiling import watch_compiler
from .folders import check_folder


def paper(
    out: Annotated[Path, typer.Option(help="Folder for report, figures and kept results.")] = Path(
        "paper-report"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Base 10 instead of 20.")] = False,
    base: Annotated[int | None, typer.Option(min=2, help="Spheres along the base.")] = None,
    whole_run: Annotated[
        bool,
        typer.Option(
            "--whole-run",
            help="Let the DEM drop the packing itself, not start at rest: five minutes at base 20.",
        ),
    ] = False,
) -> None:
    """Reproduce the paper's experiments: report.html with every figure and table 1.

    A stopped run can be resumed: results of each case are kept in the folder.
    """
    check_folder("--out", out)
    watch_compiler()
    from rich.console import Console

    from ..output.report import write_report
    from ..penalty.paper import CASES, run_beam, run_case, run_snapshots

    base = base or (10 if quick else 20)
    start = time.perf_counter()
    with Console(stderr=True).status("beam") as status:
        kept = out / "results"
        beams = run_beam(kept)
        status.update("settling")
        snapshots = run_snapshots(base, kept)
        cases = [run_case(name, base, kept, status.update, whole_run=whole_run) for name in CASES]
        status.update("figures")
        path = write_report(out, cases, beams, snapshots, time.perf_counter() - start)
    for case in cases:
        typer.echo(
            f"{case.name:22} floor forces against DEM: compatible "
            f"{case.floor_error['compatible']:.1e}, PGS {case.floor_error['pgs']:.2g}, "
            f"APGD {case.floor_error['apgd']:.2g}"
        )
    typer.echo(f"written: {path}")
