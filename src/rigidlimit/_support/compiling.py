"""One line while numba compiles the kernels of this library, since the first call on a machine
would look stuck. Kernels from the cache do not compile."""

import gc
import logging
import sys
import threading
import time
from collections.abc import Callable

PATIENCE = 2.0
"""Seconds of compiling after which the line comes; on a terminal a quarter of them."""

SELDOM = 50_000
"""Objects made before the garbage collector looks at new ones, while a kernel is compiled: else it
goes through hundreds of thousands of objects of the compiler again and again, a fifth of the
time."""

LINE = "rigidlimit: compiling its kernels, 15 s to two minutes; later runs find them in the cache"

_watch = None


def announce() -> None:
    """Registers the line as a warning of the logger "rigidlimit", which goes to stderr where a
    program has not set logging up, unless a line is registered or numba is not imported yet."""
    if _watch is None and "numba" in sys.modules:
        watch(logging.getLogger("rigidlimit").warning)


def watch(say: Callable[[str], object] | None, *, collect_seldom: bool = False) -> None:
    """Calls ``say`` with a line once where kernels compile for long; None: never.

    collect_seldom: whether the garbage collector looks seldom while numba compiles.
    """
    from numba.core import event

    global _watch
    if _watch is not None:
        event.unregister("numba:compile", _watch)
    _watch = listener(event.Listener, say, collect_seldom)
    event.register("numba:compile", _watch)


def listener(base: type, say: Callable[[str], object] | None, collect_seldom: bool):
    """Of numba's events, for ``watch``; base: ``event.Listener``, which takes long to import."""

    class Watch(base):
        """Numba calls it with the lock held under which it compiles: no two threads meet here."""

        depth, usual, begun, spent, timer = 0, None, 0.0, 0.0, None

        def on_start(self, event) -> None:
            self.depth += 1
            if self.depth > 1:
                return
            usual = gc.get_threshold()
            if collect_seldom and 0 < usual[0] < SELDOM:
                self.usual = usual
                gc.set_threshold(SELDOM, *usual[1:])
            if say is not None and self.spent is not None and _is_ours(event):
                patience = PATIENCE / 4 if sys.stderr.isatty() else PATIENCE
                self.begun = time.monotonic()
                self.timer = threading.Timer(max(0.0, patience - self.spent), self.say)
                self.timer.daemon = True
                self.timer.start()

        def on_end(self, _: object) -> None:
            self.depth -= 1
            if self.depth > 0:
                return
            if self.usual is not None:
                gc.set_threshold(*self.usual)
                self.usual = None
            if self.timer is not None:
                self.timer.cancel()
                self.timer = None
                if self.spent is not None:
                    self.spent += time.monotonic() - self.begun

        def say(self) -> None:
            self.spent = None  # once is enough
            say(LINE)

    return Watch()


def _is_ours(event) -> bool:
    """Whether the kernel that numba compiles is one of this library, not of a user's program."""
    return event.data["dispatcher"].py_func.__module__.startswith("rigidlimit.")
