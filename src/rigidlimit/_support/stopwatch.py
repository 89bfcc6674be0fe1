"""Seconds that a piece of work takes once its kernels are compiled."""

import time

from numba.core import event


class Stopwatch:
    """Wall seconds of a ``with`` block, less those in which numba compiled kernels: the first run
    on a machine would count a minute of them."""

    seconds = float("nan")

    def __enter__(self) -> "Stopwatch":
        self._compiling = event.TimingListener()
        event.register("numba:compile", self._compiling)
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_) -> None:
        passed = time.perf_counter() - self._start
        event.unregister("numba:compile", self._compiling)
        self.seconds = passed - (self._compiling.duration if self._compiling.done else 0.0)
