"""Ctrl-C in any command: one line that says what was written and what was not, exit code 130. It
strikes neither within the compiler of the kernels nor an import."""

import contextlib
import functools
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import typer

from .._support.atomic import watched
from .._support.words import counted
from .options import LIMITS

UNINTERRUPTED = ("numba", "llvmlite", "importlib")
"""Packages within which Ctrl-C waits, a second or two: callbacks from LLVM lose it, and what is
half compiled or half imported fails later with an error of its own."""

LOST = ("__del__", "_numba_unpickle")
"""Functions called by those who do not look whether they raise: by Python, as objects go; by
compiled kernels, as they return arrays, which is where Ctrl-C in a long kernel would strike."""


class _Interrupt:
    """Handler of signals: KeyboardInterrupt, once the main thread is where it does no harm."""

    def __init__(self):
        self._waits = False

    def __call__(self, number, frame) -> None:
        entered = _entered(frame)
        if entered is None:
            raise KeyboardInterrupt
        if self._waits:
            return
        self._waits, before = True, sys.getprofile()

        def left(frame: FrameType, event: str, _: object) -> None:
            nonlocal entered
            if entered is None:
                entered = _entered(frame)
            returns = frame is entered and event == "return"
            if entered is None or (returns and not _is_lost(frame)):
                self._waits = False
                sys.setprofile(before)
                raise KeyboardInterrupt
            if returns:
                entered = None

        sys.setprofile(left)


def _entered(frame):
    """The outermost frame of those that must not be interrupted."""
    found = None
    while frame is not None:
        package = (frame.f_globals.get("__name__") or "").partition(".")[0]
        leaves = package == "contextlib" and frame.f_code.co_name == "__exit__"  # as ``deferred``
        if package in UNINTERRUPTED or _is_lost(frame) or leaves:
            found = frame
        frame = frame.f_back
    return found


def _is_lost(frame) -> bool:
    """Whether what the frame raises is ignored, or an error of another kind."""
    return frame.f_code.co_name in LOST


interrupt = _Interrupt()


@contextlib.contextmanager
def deferred():
    """Ctrl-C within waits for the end of what it would break: see ``UNINTERRUPTED``."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ours = usual and threading.current_thread() is threading.main_thread()
    if ours:
        signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


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
