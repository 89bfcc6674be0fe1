"""A budget of time for a piece of work, which its loops look at."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Deadline:
    """begin, seconds; cut: whether a loop has ended because of it."""

    def __init__(self, seconds: float):
        self.begin, self.seconds, self.cut = time.perf_counter(), seconds, False


_now: ContextVar[_Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """So many seconds for the work in this block, unless a limit around it ends earlier; None: no
    limit of its own."""
    before = _now.get()
    if seconds is not None and seconds < left():
        _now.set(_Deadline(seconds))
    try:
        yield
    finally:
        _now.set(before)


def late(part: float = 1.0) -> bool:
    """Whether this part of the time is spent; the caller ends its loop then."""
    deadline = _now.get()
    if deadline is None or time.perf_counter() - deadline.begin < part * deadline.seconds:
        return False
    deadline.cut = True
    return True


def left() -> float:
    """Seconds left; infinite without a limit, zero when it is over."""
    deadline = _now.get()
    if deadline is None:
        return math.inf
    return max(0.0, deadline.begin + deadline.seconds - time.perf_counter())


def cut() -> bool:
    """Whether a loop has ended because its time was spent."""
    deadline = _now.get()
    return deadline is not None and deadline.cut
