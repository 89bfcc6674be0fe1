"""Ctrl-C waits for the end of what it would break, and strikes then."""

import contextlib
import ctypes
import importlib
import os
import signal
import subprocess
import sys
import types

import numpy as np
import pytest
from numba import njit

from rigidlimit.cli import main
from rigidlimit.cli.interrupts import deferred


@pytest.fixture(autouse=True)
def heard():
    """A shell's background jobs are deaf to Ctrl-C, and so would the tests be."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def within(package, body, **names):
    """A function ``work`` of a module of ``package``."""
    module = types.ModuleType(f"{package}.within")
    module.__dict__.update(names)
    exec(body, module.__dict__)
    return module.work


NESTED = """
def work():
    inner()
    done.append("work")

def inner():
    strike()
    strike()  # whoever waits strikes again
    done.append("inner")
"""


def strike():
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("package", ["numba.core", "llvmlite", "importlib"])
def test_waits_for_the_end(package):
    """Property: to the end of the outermost call, not a statement further."""
    done, before = [], sys.getprofile()
    work = within(package, NESTED, done=done, strike=strike)
    with pytest.raises(KeyboardInterrupt), deferred():
        work()
        done.append("after")
    assert done == ["inner", "work"]
    assert sys.getprofile() is before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_waits_for_the_end_of_an_import(tmp_path, monkeypatch):
    """Property: the module is there, whole."""
    (tmp_path / "struck_within.py").write_text("import signal\nsignal.raise_signal(2)\nwhole = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt), deferred():
        import struck_within  # noqa: F401
    assert sys.modules.pop("struck_within").whole == 1
    importlib.invalidate_caches()


def test_failure_of_what_it_waits_for():
    """Property: what the user asked for counts, not the error that comes of it."""
    work = within("numba", "def work():\n    strike()\n    1 / 0", strike=strike)
    with pytest.raises(KeyboardInterrupt), deferred():
        work()


def test_is_not_lost_in_a_finalizer():
    """Property: Python ignores what __del__ raises; the next call raises it instead."""

    class Gone:
        def __del__(self):
            strike()

    done = []
    with pytest.raises(KeyboardInterrupt), deferred():
        Gone()
        done.append(len(done))
        done.append(len(done))
    assert len(done) < 2


def test_strikes_at_once_elsewhere():
    with pytest.raises(KeyboardInterrupt), deferred():
        strike()
        pytest.fail("not struck")


def test_strikes_after_the_kernel_that_is_compiled():
    """Property: Ctrl-C while numba compiles is neither lost nor cuts the compiler short: the kernel
    is there, and then the interrupt."""
    script = """
import signal
from numba import njit
from numba.extending import overload
from rigidlimit.cli.interrupts import deferred

def twice(x):
    pass

@overload(twice)
def _twice(x):
    signal.raise_signal(signal.SIGINT)
    return lambda x: 2 * x

@njit
def kernel(x):
    return twice(x)

try:
    with deferred():
        kernel(1.0)
except KeyboardInterrupt:
    print("struck", len(kernel.signatures), signal.getsignal(signal.SIGINT).__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert done.stdout == "struck 1 default_int_handler\n" and not done.stderr


def test_leaves_contexts_whole():
    """Property: what a context does as it is left is done, as taking back this handler itself."""
    done = []

    @contextlib.contextmanager
    def context():
        yield
        strike()
        done.append("left")

    with pytest.raises(KeyboardInterrupt), deferred():
        with context():
            pass
        done.append("after")
    assert done == ["left"]


def of_libc(name):
    function = ctypes.CDLL(None)[name]
    function.argtypes, function.restype = [ctypes.c_int], ctypes.c_int
    return function


@pytest.fixture(scope="module")
def struck_kernel():
    """A kernel that returns arrays and raises the signal of a number."""
    if os.name != "posix":
        pytest.skip("raise() of the C library by its POSIX name")
    strikes = of_libc("raise")

    @njit
    def kernel(number):
        if number > 0:
            strikes(number)
        return np.zeros(1), np.zeros((1, 1)), np.zeros(1, np.int64)

    kernel(0)
    return kernel


def test_strikes_after_a_kernel_that_returns_arrays(struck_kernel):
    """Property: a kernel wraps each of its arrays by a function of Python, the first to see a
    signal that came while it ran, and does not look whether that raises: a SystemError, were the
    interrupt not to wait for the end of the last."""
    done = []
    with pytest.raises(KeyboardInterrupt), deferred():
        struck_kernel(int(signal.SIGINT))
        done.append(len(done))
        done.append(len(done))
    assert len(done) < 2 and sys.getprofile() is None


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("settle", "rigidlimit.penalty.rest._Settling.run"),
        ("demo", "rigidlimit.simulation.simulation.step"),
    ],
)
def test_commands_are_interrupted(tmp_path, monkeypatch, struck_kernel, command, place):
    """Property: Ctrl-C in a kernel of a command is one line, and the handler of before is back."""
    monkeypatch.chdir(tmp_path)

    def struck(*_, **__):
        struck_kernel(int(signal.SIGINT))
        pytest.fail("not struck")

    monkeypatch.setattr(place, struck)
    with pytest.raises(SystemExit) as end:
        main([command, *(["beam"] if command == "settle" else [])])
    assert end.value.code == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
