"""How many threads BLAS and LAPACK take in a loop over matrices of all sizes.

They start all their threads for small matrices too, in which these gain nothing, and they wait for
one another by spinning: where other programs hold the cores, that costs many times the work itself.
"""

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from time import perf_counter


@dataclass(frozen=True)
class Settings:
    """When BLAS takes several threads.

    wide: size of a matrix from which several threads are tried.
    gain: how many times as fast several threads must be to stay.
    """

    wide: int = 1500
    gain: float = 1.2


SETTINGS = Settings()


@cache
def _libraries():
    """The loaded BLAS libraries whose threads can be set."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


_lock, _loops, _found = threading.Lock(), 0, []
"""How many loops run now, and the numbers of threads that the first of them found."""


class BlasThreads:
    """One thread for small matrices, all that there are for large ones as long as that is faster.

    A context manager about the loop; ``work`` is one about the work on each matrix. The number of
    threads is that of the whole process, which other threads of it see too.
    """

    def __enter__(self):
        global _loops
        with _lock:
            if _loops == 0:
                _found[:] = [(library, library.num_threads) for library in _libraries()]
            _loops += 1
            self._before = list(_found)
        self._many = any(count > 1 for _, count in self._before)
        self._alone = None  # operations a second of one thread, on the last of some size
        self._set(False)
        return self

    def __exit__(self, *_):
        global _loops
        with _lock:
            _loops -= 1
            if _loops == 0:
                self._set(True)

    def _set(self, many):
        for library, count in self._before:
            library.set_num_threads(count if many else 1)

    @contextmanager
    def work(self, size: int, operations: float):
        """About the work on a matrix of this size. The first is done by one thread in any case, for
        the others to be measured by."""
        many = self._many and size >= SETTINGS.wide and self._alone is not None
        if many:
            self._set(True)
        elif not (self._many and size >= SETTINGS.wide // 2):
            yield
            return
        begin = perf_counter()
        try:
            yield
        finally:
            if many:
                self._set(False)
        rate = operations / max(perf_counter() - begin, 1e-9)
        if not many:
            self._alone = rate
            return
        if self._alone is not None and rate < SETTINGS.gain * self._alone:
            self._many = False
