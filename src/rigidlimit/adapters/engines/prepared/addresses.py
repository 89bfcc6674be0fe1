"""Arrays at addresses, in compiled code.

Taking apart an array of numpy costs compiled code some 0.2 microseconds at each call, and asking
MuJoCo's bindings for one as much again: with the fifty that a state has, more than finding forces.
"""

import numpy as np
from numba import carray, njit, types
from numba.extending import intrinsic

from ...._support.compiled import INNER


@intrinsic
def _pointer(typing, address):
    """An address as a pointer to anything."""

    def generate(context, builder, signature, arguments):
        kind = context.get_value_type(signature.return_type)
        return builder.inttoptr(arguments[0], kind)

    return types.voidptr(types.int64), generate


@njit(**INNER)
def floats(address, n):
    """(n,) float at an address."""
    return carray(_pointer(address), (n,), np.float64)


@njit(**INNER)
def rows(address, n, width):
    """(n, width) float."""
    return carray(_pointer(address), (n, width), np.float64)


@njit(**INNER)
def whole(address, n):
    """(n,) int64."""
    return carray(_pointer(address), (n,), np.int64)


@njit(**INNER)
def whole_rows(address, n, width):
    """(n, width) int64."""
    return carray(_pointer(address), (n, width), np.int64)


@njit(**INNER)
def short(address, n):
    """(n,) int32."""
    return carray(_pointer(address), (n,), np.int32)


@njit(**INNER)
def short_rows(address, n, width):
    """(n, width) int32."""
    return carray(_pointer(address), (n, width), np.int32)


@njit(**INNER)
def truths(address, n):
    """(n,) bool."""
    return carray(_pointer(address), (n,), np.bool_)
