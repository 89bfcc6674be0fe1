"""The garbage collector and the line on stderr while kernels are compiled."""

import gc
import subprocess
import sys

import pytest
from numba import njit
from numba.core import event
from numba.core.errors import TypingError
from numba.extending import overload

from rigidlimit._support import compiling
from rigidlimit._support.compiling import SELDOM


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
    listener = compiling.listener(event.Listener, None, True)
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
import sys, numba
from rigidlimit._support import compiling
{begin}
for compiling.PATIENCE, module in {cases}:
    twice = lambda x: 2 * x
    twice.__module__ = module
    twice = numba.njit(twice)
    twice(1), twice(1.0)
"""

OURS = "rigidlimit.kernels"

COMMAND = "from rigidlimit.cli.compiling import watch_compiler; watch_compiler()"

LIBRARY = "import rigidlimit; rigidlimit.Scene"


@pytest.mark.parametrize("begin", [COMMAND, LIBRARY])
@pytest.mark.parametrize(
    ("cases", "lines"), [([(0.01, OURS)], 1), ([(60.0, OURS), (0.01, "program")], 0)]
)
def test_compiling_is_announced_once_and_only_if_long(cases, lines, begin):
    """Property: two kernels of the library that compile longer than the patience give one line,
    else none, in a command and in a program; kernels of a program itself give none."""
    program = COMPILES.format(cases=cases, begin=begin)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert done.stderr.count("compiling its kernels") == done.stderr.count("\n") == lines


def test_a_program_that_logs_gets_the_line_as_a_warning():
    """Property: what a program has set up for its log is used, and can be turned off there; above
    it was not."""
    off = 'import logging; logging.getLogger("rigidlimit").setLevel("ERROR"); '
    program = COMPILES.format(cases=[(0.01, OURS)], begin=off + LIBRARY)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and "compiling its kernels" not in done.stderr, done.stderr
