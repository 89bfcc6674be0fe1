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


def _is_kernel(node, options="njit"):
    return isinstance(node, ast.FunctionDef) and any(
        "njit" in ast.unparse(d) and options in ast.unparse(d) for d in node.decorator_list
    )


def _outside_kernels(node):
    """All nodes of programs of Python."""
    for child in ast.iter_child_nodes(node):
        if not _is_kernel(child):
            yield child
            yield from _outside_kernels(child)


def test_python_calls_no_kernel_without_an_entry():
    """Property: calls from Python of a kernel of ``INNER``, which ends the process, are nowhere in
    the package; kernels are known by their module and name."""
    package = Path(rigidlimit.__file__).parent
    trees = {path: ast.parse(path.read_text()) for path in package.rglob("*.py")}
    inner = {
        (path.with_suffix(""), node.name)
        for path, tree in trees.items()
        for node in tree.body
        if _is_kernel(node, "INNER") or _is_kernel(node, "FLAT")
    }
    assert len(inner) > 200  # the test sees them
    found = []
    for path, tree in trees.items():
        known = {name for module, name in inner if module == path.with_suffix("")}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                module = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
                for alias in node.names:
                    if (module, alias.name) in inner:
                        known.add(alias.asname or alias.name)
        found += [
            f"{path.name}:{node.lineno} {node.id}"
            for node in _outside_kernels(tree)
            if isinstance(node, ast.Name) and node.id in known
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
