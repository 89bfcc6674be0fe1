"""Compiled kernels of the whole package."""

import ast
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rigidlimit
from rigidlimit._support.arrays import with_short_indices


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
