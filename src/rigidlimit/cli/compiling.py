"""While numba compiles the kernels: one line, since the first run on a machine would look stuck,
and a garbage collector that looks seldom.

The collector would go through hundreds of thousands of objects of the compiler again and again,
a fifth of the time.
"""

import gc
import sys
import threading
import time

PATIENCE = 2.0
"""Seconds of compiling after which the line comes; on a terminal a quarter of them."""

SELDOM = 50_000
"""Objects made before the garbage collector looks at new ones, while a kernel is compiled."""


def watch_compiler(*, quiet: bool = False) -> None:
    """From here on the collector looks seldom while numba compiles, and, if not ``quiet``, one line
    on stderr says when that takes long. Kernels from the cache do not compile."""
    from numba.core import event

    event.register("numba:compile", _listener(event.Listener, quiet))


def _listener(base, quiet):
    class Watch(base):
        """Numba calls it with the lock held under which it compiles: no two threads meet here."""

        depth, usual, begun, spent, timer = 0, None, 0.0, 0.0, None

        def on_start(self, _: object) -> None:
            self.depth += 1
            if self.depth > 1:
                return
            usual = gc.get_threshold()
            if 0 < usual[0] < SELDOM:
                self.usual = usual
                gc.set_threshold(SELDOM, *usual[1:])
            if not quiet and self.spent is not None:
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
                if self.spent is not None:
                    self.spent += time.monotonic() - self.begun

        def say(self) -> None:
            self.spent = None  # once is enough
            print(
                "rigidlimit: compiling its kernels, 15 s to a minute; later runs find them in the "
                "cache",
                file=sys.stderr,
                flush=True,
            )

    return Watch()
