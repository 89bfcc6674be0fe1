"""Compiled kernels of the whole package."""

import ast
from pathlib import Path

import rigidlimit


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
