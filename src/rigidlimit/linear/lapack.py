"""Cholesky's steps by LAPACK and BLAS from compiled code, without the interpreter's lock.

SciPy's functions for Python hold that lock, so that threads of one program wait for one another;
the same routines are offered to Cython, whose addresses compiled code can call.
"""

import numpy as np
from llvmlite import binding
from numba import njit, types
from numba.extending import get_cython_function_address


def routine(module: str, name: str, arguments: int):
    """A routine whose arguments are all pointers, under a name that cached code finds again."""
    symbol = f"rigidlimit_{name}"
    binding.add_symbol(symbol, get_cython_function_address(f"scipy.linalg.{module}", name))
    return types.ExternalFunction(symbol, types.void(*[types.voidptr] * arguments))


_dpotrf = routine("cython_lapack", "dpotrf", 5)
_dtrsm = routine("cython_blas", "dtrsm", 11)
_dsyrk = routine("cython_blas", "dsyrk", 10)

LETTERS = np.frombuffer(b"LRTN", np.uint8)
"""Lower, right, transposed; no."""


@njit(cache=True, nogil=True)
def eliminate(panel: np.ndarray, k: int, r: int, rest: np.ndarray):
    """L_PP L_PP^T = F_PP, L_RP = F_RP L_PP^-T, U = F_RR - L_RP L_RP^T in place, as in
    ``multifrontal.py``. False if F_PP is not positive definite.

    panel: F_PP (k, k) and F_RP (r, k), rest: F_RR (r, r); column by column, lower triangles.
    """
    low, right, turned, no = LETTERS[0:1], LETTERS[1:2], LETTERS[2:3], LETTERS[3:4]
    ones = np.array([1.0, -1.0])
    one, less = ones[0:1], ones[1:2]
    sizes = np.array([k, r, 0], np.int32)
    columns, below, wrong = sizes[0:1], sizes[1:2], sizes[2:3]
    _dpotrf(low.ctypes, columns.ctypes, panel.ctypes, columns.ctypes, wrong.ctypes)
    if wrong[0] != 0:
        return False
    if r > 0:
        left = panel[k * k :]
        _dtrsm(
            right.ctypes, low.ctypes, turned.ctypes, no.ctypes, below.ctypes, columns.ctypes,
            one.ctypes, panel.ctypes, columns.ctypes, left.ctypes, below.ctypes,
        )  # fmt: skip
        _dsyrk(
            low.ctypes, no.ctypes, below.ctypes, columns.ctypes, less.ctypes, left.ctypes,
            below.ctypes, one.ctypes, rest.ctypes, below.ctypes,
        )  # fmt: skip
    return True
