"""The garbage collector and the word on stderr while kernels are compiled."""

import gc
import subprocess
import sys

import pytest
from numba import njit
from numba.core import event
from numba.core.errors import TypingError
from numba.extending import overload

from rigidlimit.cli import compiling
from rigidlimit.cli.compiling import SELDOM


def looks(fails):
    """A kernel that calls another one, and the collector's thresholds while they are compiled."""
    seen = []

    def stub(x):
        raise NotImplementedError

    @overload(stub)
    def _stub(x):
        seen.append(gc.get_threshold())
        return None if fails else lambda x: 2 * x

    inner = njit(lambda x: stub(x))
    return njit(lambda x: inner(x) + stub(x)), seen


@pytest.mark.parametrize("fails", [False, True])
def test_garbage_is_left_while_kernels_are_compiled(fails):
    """Property: in a kernel within another as well; as it was after the end, and after a failure.
    A program's own choice, not to collect at all, stands."""
    listener = compiling._listener(event.Listener, True)
    event.register("numba:compile", listener)
    usual = gc.get_threshold()
    pythons = (700, 10, 10)
    assert 0 < pythons[0] < SELDOM
    try:
        for chosen, expected in ((pythons, SELDOM), ((0, 10, 10), 0)):
            gc.set_threshold(*chosen)
            kernel, seen = looks(fails)
            if fails:
                with pytest.raises(TypingError):
                    kernel(1.0)
            else:
                assert kernel(1.0) == 4.0
            assert seen and {first for first, *_ in seen} == {expected}
            assert gc.get_threshold() == chosen
    finally:
        event.unregister("numba:compile", listener)
        gc.set_threshold(*usual)


COMPILES = """
import numba
from rigidlimit.cli import compiling
compiling.PATIENCE = {patience}
compiling.watch_compiler()
twice = numba.njit(lambda x: 2 * x)
twice(1), twice(1.0)
"""


@pytest.mark.parametrize(("patience", "lines"), [(0.01, 1), (60.0, 0)])
def test_compiling_is_told_once_and_only_if_long(patience, lines):
    """Property: two kernels that compile longer than the patience give one line, else none."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILES.format(patience=patience)], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout == ""
    assert done.stderr.count("compiling its kernels") == done.stderr.count("\n") == lines
