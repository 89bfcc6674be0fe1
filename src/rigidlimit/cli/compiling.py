"""One line while numba compiles the kernels: the first run on a machine would look stuck."""

import sys
import threading
import time

PATIENCE = 2.0
"""Seconds of compiling after which it is told; on a terminal a quarter of them."""


def tell_of_compiling() -> None:
    """From here on, say on stderr, once, when compiling takes long; kernels from the cache do
    not compile."""
    from numba.core import event

    event.register("numba:compile", _listener(event.Listener))


def _listener(base):
    class Told(base):
        depth, begun, spent, timer, told = 0, 0.0, 0.0, None, False

        def on_start(self, _):
            self.depth += 1
            if self.depth > 1 or self.told:
                return
            patience = PATIENCE / 4 if sys.stderr.isatty() else PATIENCE
            self.begun = time.monotonic()
            self.timer = threading.Timer(max(0.0, patience - self.spent), self.tell)
            self.timer.daemon = True
            self.timer.start()

        def on_end(self, _):
            self.depth -= 1
            if self.depth == 0 and self.timer is not None:
                self.timer.cancel()
                self.spent += time.monotonic() - self.begun

        def tell(self):
            self.told = True
            print(
                "rigidlimit: compiling its kernels, 15 s to a minute; later runs find them in the "
                "cache",
                file=sys.stderr,
                flush=True,
            )

    return Told()
