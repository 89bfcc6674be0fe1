"""Ctrl-C in any command: one line that says what was written and what was not, exit code 130."""

import functools
from collections.abc import Callable
from pathlib import Path

import typer

from .._support.atomic import watched
from .._support.words import counted
from .limits import LIMITS


def stoppable(command: Callable) -> Callable:
    """The command, which says what it has written where Ctrl-C stops it."""

    @functools.wraps(command)
    def wrapped(*arguments, **options):
        with watched() as written:
            try:
                return command(*arguments, **options)
            except KeyboardInterrupt:
                typer.echo(f"stopped; {_account(written)}", err=True)
                raise typer.Exit(130) from None

    return wrapped


def _account(written: list[Path]) -> str:
    from ..output.stored import PARTS

    # the parts of a run are no result yet; `run` reports them itself
    files = list(dict.fromkeys(path for path in written if path.parent.suffix != PARTS))
    if not files:
        return "nothing was written"
    if len(files) > LIMITS.named:
        what = f"{counted(len(files), 'file')}, the last of them {files[-1]}"
    else:
        what = ", ".join(map(str, files))
    return f"written before that: {what}; nothing else"
