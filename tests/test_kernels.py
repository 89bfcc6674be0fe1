"""Compiled kernels of the whole package."""

import ast
import gc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numba.core.errors import TypingError
from numba.extending import overload

import rigidlimit
from rigidlimit.arrays import with_short_indices
from rigidlimit.kernels import SELDOM, njit


def test_no_kernel_is_made_by_a_function():
    """Property: a kernel that captures another one is compiled anew by every process, and leaves
    a new file in numba's cache each time, for the captured one is part of its name there."""
    found = []
    for path in Path(rigidlimit.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        for outer in ast.walk(tree):
            if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = [node for node in ast.walk(outer) if isinstance(node, ast.FunctionDef)]
                found += [
                    f"{path.name}:{kernel.lineno} {kernel.name}"
                    for kernel in inner
                    if kernel is not outer
                    and any("njit" in ast.unparse(d) for d in kernel.decorator_list)
                ]
    assert not found


def test_the_compiler_comes_from_one_place():
    """Property: what is set there holds for every kernel."""
    files = Path(rigidlimit.__file__).parent.rglob("*.py")
    assert [p.name for p in files if "numba import njit" in p.read_text()] == ["kernels.py"]


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
    usual = gc.get_threshold()
    assert 0 < usual[0] < SELDOM
    try:
        for chosen, expected in ((usual, SELDOM), ((0, 10, 10), 0)):
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
        gc.set_threshold(*usual)


def test_one_type_of_index():
    """Reference twin: scipy's product of two arrays with long indices, entry by entry; one too
    large for short ones stays as it is."""
    long = np.array([0, 1, 3]), np.array([1, 0, 1])
    A = sp.csr_array((np.array([1.0, 2.0, 3.0]), long[1], long[0]), shape=(2, 2))
    product = A @ A
    assert product.indices.dtype == np.int64  # else there is nothing to do
    short = with_short_indices(product)
    assert short.indices.dtype == short.indptr.dtype == np.int32
    assert (short.toarray() == product.toarray()).all()
    assert short.has_sorted_indices == product.has_sorted_indices
    assert with_short_indices(short) is short
    wide = sp.csr_array((np.ones(3), long[1], long[0]), shape=(2, 2**31))
    assert with_short_indices(wide) is wide and wide.indices.dtype == np.int64
