"""Seconds without compilation."""

import math
import time

import numba

from rigidlimit._support.stopwatch import Stopwatch


def test_compilation_is_not_counted():
    """Property: a call that compiles its kernel takes as long as one of a compiled kernel, while
    the clock passed much longer."""
    assert math.isnan(Stopwatch().seconds)
    kernel = numba.njit(lambda x: x + 1)
    start = time.perf_counter()
    with Stopwatch() as took:
        kernel(1)
        time.sleep(0.01)
    passed = time.perf_counter() - start
    # compiling takes 0.05 s at least; what comes before and after it is left
    assert 0.01 < took.seconds < passed - 0.02
