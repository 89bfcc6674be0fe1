"""The loop of ``rigidlimit run``: step by step to the end, or until somebody stops it.

The first signal to stop is heeded between two steps, so that nothing is lost. Whoever does not
want to wait for a long step sends a second one: it stops at once, as Ctrl-C does elsewhere, and
the run can be resumed from its last checkpoint.
"""

import contextlib
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import OutputError
from ..status import Status
from .interrupts import interrupt

if TYPE_CHECKING:
    from ..increments import IncrementResult
    from ..output.writer import RunWriter
    from ..simulation import Simulation

STOPPING = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
"""Signals that stop a run so that it can go on. Windows has no SIGHUP."""

TOGETHER = 0.5
"""Signals that come within this time [s] are one: closed terminals and timeout(1) send two."""


class _Asked:
    """What to do on a signal. Falsy until the first has come."""

    def __init__(self):
        self._first = None

    def __bool__(self):
        return self._first is not None

    def __call__(self, number, frame):
        now = time.monotonic()
        if self._first is None:
            self._first = now
        elif now - self._first > TOGETHER:
            interrupt(number, frame)


@contextlib.contextmanager
def stopped_by_signals():
    """SIGTERM and the end of the terminal stop the block as Ctrl-C does."""
    before = {
        number: signal.signal(number, interrupt)
        for number in STOPPING
        if number != signal.SIGINT and signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass
class Made:
    """What a loop came to: its steps, the last of them, the state before it, (number, message) of
    those that did not converge. approximate: results of step 1 whose budget was spent."""

    steps: int = 0
    approximate: "list[IncrementResult]" = field(default_factory=list)
    result: object = None
    before: object = None
    troubles: list[tuple[int, str]] = field(default_factory=list)


def advance(
    simulation: "Simulation",
    steps: int,
    wanted: Callable[[int], bool],
    writer: "RunWriter | None",
    *,
    quiet: bool,
    hard: Path | None,
) -> Made:
    """Run to the end, after ``steps`` in all, and finish the file. Stopped: typer.Exit(130).

    wanted(number): whether the step gets compatible forces. hard: folder for the problems of steps
    that did not converge.
    """
    asked = _Asked()
    # a signal that is ignored, as under nohup, stays so
    handlers = {
        number: signal.signal(number, asked)
        for number in STOPPING
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        made = _steps(simulation, steps, wanted, writer, asked, quiet, hard)
        complete = simulation.steps >= steps
        if writer is not None:
            if complete:
                writer.finish()
            else:
                writer.checkpoint()
                writer.close()
    except KeyboardInterrupt:
        if writer is None or writer.finished:  # the command reports what was written
            raise
        writer.close()
        typer.echo(
            "stopped at once; the same command with --resume continues from the last checkpoint, "
            f"at t = {writer.saved:.6g} s",
            err=True,
        )
        raise typer.Exit(130) from None
    except OutputError as error:
        if writer is None or writer.finished:
            raise
        writer.close()
        raise OutputError(
            f"{error}; after fixing that, the same command with --resume continues from t = "
            f"{writer.saved:.6g} s"
        ) from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if asked:
        kept = "the same command with --resume continues"
        if writer is None:
            kept = "nothing was kept"
        elif complete:
            kept = f"the run is complete, written: {writer.path}; nothing else"
        typer.echo(f"stopped at t = {simulation.time:.6g} s; {kept}", err=True)
        raise typer.Exit(130)
    return made


def _steps(simulation, steps, wanted, writer, asked, quiet, hard) -> Made:
    from .._support.progress import Pace, progress

    made, name = Made(), simulation.scene.name
    pace = Pace(steps - simulation.steps, simulation.dt)
    with progress(name, steps, completed=simulation.steps, shown=not quiet) as update:
        while simulation.steps < steps and not asked:
            made.before = simulation.state
            made.result = result = simulation.step(compatible=wanted(simulation.steps + 1))
            made.steps += 1
            if word := pace.word():
                typer.echo(word, err=True)
            if result.classic.status is Status.APPROXIMATE:
                made.approximate.append(result.classic)
            elif not result.converged:
                made.troubles.append((simulation.steps, result.message))
                if hard is not None:
                    capture(simulation, made, hard / f"step-{simulation.steps:06d}.hdf5")
            if writer is not None:
                writer.add(result)
            update(simulation.steps, result.summary)
    return made


def capture(simulation: "Simulation", made: Made, path: Path) -> None:
    """The contact problem of the last step as an FCLIB file."""
    from ..adapters import capture_step, write_fclib

    problem = capture_step(
        simulation.bodies,
        made.before,
        simulation.external_force,
        made.result,
        title=f"{simulation.scene.name}, step {simulation.steps}",
    )
    write_fclib(problem, path)
