"""Where the compiler of the kernels comes from: ``from ..kernels import njit``.

While numba compiles, Python's garbage collector looks seldom. It would otherwise go through
hundreds of thousands of objects of the compiler again and again, which is a fifth of the time.
"""

import gc

from numba import njit as njit
from numba.core import event

SELDOM = 50_000
"""Objects made before the garbage collector looks at new ones, while a kernel is compiled."""


class _SeldomCollected(event.Listener):
    """Raises the collector's first threshold from the start of the outermost compilation to its
    end. A collector that is off, or looks more seldom, is left as it is.

    Numba calls it with the lock held under which it compiles, so that no two threads meet here.
    """

    def __init__(self):
        self._depth = 0

    def on_start(self, _):
        self._depth += 1
        if self._depth == 1:
            self._usual = gc.get_threshold()
            if 0 < self._usual[0] < SELDOM:
                gc.set_threshold(SELDOM, *self._usual[1:])

    def on_end(self, _):
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._usual)


event.register("numba:compile", _SeldomCollected())
