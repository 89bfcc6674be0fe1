"""Checks of arrays that come from outside: one clear error for a wrong shape or value."""

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..errors import InputError

MatrixLike = ArrayLike | sp.sparray | sp.spmatrix
"""A matrix as users give it: full or sparse."""


def floats(value: object) -> np.ndarray:
    """``value`` as an array of floats. TypeError or ValueError where it is none: ragged, masked,
    text, complex numbers, dates."""
    array = np.asarray(value)
    if array.dtype.kind in "cmM" or np.ma.is_masked(value):
        raise TypeError(f"{array.dtype} is no array of real numbers")
    return np.asarray(array, dtype=float)


def finite(name: str, value: object, *, expected: str) -> np.ndarray:
    """``value`` as an array of finite floats of any shape; ``expected``: in words."""
    try:
        array = floats(value)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not np.isfinite(array).all():
        raise InputError(f"{name} is {short(value)}; expected {expected}")
    return array


def vector(name: str, value: object, size: int, *, what: str) -> np.ndarray:
    """``value`` as a finite float array (size,); a number is repeated. ``what``: one per ..."""
    try:
        array = floats(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {short(value)}; expected numbers, one per {what}") from None
    if array.ndim == 0:
        array = np.full(size, float(array))
    if array.shape != (size,):
        raise InputError(f"{name} has shape {array.shape}; expected ({size},), one per {what}")
    finite = np.isfinite(array)
    if not finite.all():
        bad = np.flatnonzero(~finite)
        raise InputError(
            f"{name}[{bad[0]}] is {array[bad[0]]} ({len(bad)} of {size} not finite); "
            f"expected finite numbers, one per {what}"
        )
    return array


def point(name: str, value: object) -> np.ndarray:
    """``value`` as a point (3,) [m]."""
    try:
        array = floats(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {short(value)}; expected a point (3,) [m]") from None
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(
            f"{name} has shape {array.shape}; expected a point (3,) [m], finite numbers"
        )
    return array


def points(name: str, value: object) -> np.ndarray:
    """``value`` as points (k, 3) [m], one or more."""
    try:
        array = floats(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} are {short(value)}; expected points (k, 3) [m]") from None
    if array.ndim != 2 or array.shape[1] != 3 or not len(array) or not np.isfinite(array).all():
        raise InputError(
            f"{name} have shape {array.shape}; expected points (k, 3) [m], finite numbers"
        )
    return array


_NO_NUMBERS = str | bytes | bool | np.bool_ | np.datetime64 | np.timedelta64 | np.complexfloating


def number(value: object) -> float:
    """``value`` as a float; nan where it is none: text, true or false, None, a list, a date."""
    try:
        return np.nan if isinstance(value, _NO_NUMBERS) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def is_positive(value: object) -> bool:
    """Whether ``value`` is a positive finite number."""
    return 0.0 < number(value) < np.inf


def positive(name: str, value: float) -> float:
    """``value`` as a positive finite float."""
    if not is_positive(value):
        raise InputError(f"{name} is {short(value)}; expected a positive number")
    return number(value)


def whole(name: str, value: object, least: int = 1) -> int:
    """``value`` as an integer of at least so much."""
    found = number(value)
    if not (least <= found < np.inf and found == np.floor(found)):
        expected = "a positive integer" if least == 1 else f"an integer, {least} or more"
        raise InputError(f"{name} is {short(value)}; expected {expected}")
    return int(found)


def one_of(name: str, value: object, choices: Iterable[str]) -> None:
    """Raises InputError where ``value`` is none of these words."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} is {short(value)}; expected one of {', '.join(choices)}")


def at_least_zero(name: str, value: object) -> float:
    """``value`` as a finite float that is not negative."""
    if not 0.0 <= number(value) < np.inf:
        raise InputError(f"{name} is {short(value)}; expected a number >= 0")
    return number(value)


def generator(seed: object) -> np.random.Generator:
    """Random numbers of a seed."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed is {short(seed)}; expected an integer, 0 or more") from None


def flags(name: str, value: object, size: int, *, what: str) -> np.ndarray:
    """``value`` as (size,) bool. ``what``: one per ..."""
    try:
        array = floats(value)
    except (TypeError, ValueError):
        array = np.full(size, np.nan)
    if array.shape != (size,):
        raise InputError(f"{name} has shape {array.shape}; expected ({size},), one per {what}")
    if not ((array == 0.0) | (array == 1.0)).all():
        raise InputError(f"{name} is {short(value)}; expected true or false per {what}")
    return array.astype(bool)


def short(value: object) -> str:
    """What was found, in a few words."""
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"


def integers(name: str, value: object, size: int, *, what: str) -> np.ndarray:
    """``value`` as an integer array (size,); a number is repeated. ``what``: one per ..."""
    array = vector(name, value, size, what=what)
    whole = array.astype(int)
    bad = array != whole
    if bad.any():
        raise InputError(f"{name}[{bad.argmax()}] is {array[bad.argmax()]}; expected an integer")
    return whole


def indices(name: str, value: object, size: int | None) -> np.ndarray | None:
    """Indices from 0 to ``size - 1`` (None: any), ascending, each once; None as it is."""
    if value is None:
        return None
    try:
        chosen = np.unique(np.asarray(value))
    except (TypeError, ValueError):
        raise InputError(f"{name} is {short(value)}; expected whole numbers, indices") from None
    if len(chosen) and not np.issubdtype(chosen.dtype, np.integer):
        raise InputError(f"{name} has entries like {chosen[0]}; expected whole numbers, indices")
    chosen = chosen.astype(int)
    if size is not None and len(chosen) and (chosen[0] < 0 or chosen[-1] >= size):
        raise InputError(
            f"{name} reaches from {chosen[0]} to {chosen[-1]}; expected indices from 0 to "
            f"{size - 1}"
        )
    return chosen


def free_columns(fixed: object, n: int) -> np.ndarray:
    """The degrees of freedom that are not held, (n,) bool; fixed: (n,) bool (Gamma_D), or None."""
    held = np.zeros(n, bool) if fixed is None else flags("fixed", fixed, n, what="column of B")
    return ~held


def sparse(
    name: str, value: object, *, columns: int | None = None, square: bool = False
) -> sp.csr_array:
    """``value`` as a CSR array of finite floats with sorted, distinct entries.

    ``value`` itself if it is one with short indices (``with_short_indices``): not to be changed.
    """
    if not sp.issparse(value):
        try:
            value = np.atleast_2d(floats(value))
        except (TypeError, ValueError):
            raise InputError(f"{name} is not a matrix of numbers; expected rows alike") from None
    if value.dtype.kind == "c":
        raise InputError(f"{name} has complex entries; expected real ones")
    if type(value) is sp.csr_array and value.dtype == float and value.has_canonical_format:
        matrix = value
    else:
        try:
            matrix = sp.csr_array(value, dtype=float, copy=True)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} is not a matrix of numbers: {error}") from error
        matrix.sum_duplicates()
    if columns is not None and matrix.shape[1] != columns:
        raise InputError(f"{name} has shape {matrix.shape}; expected {columns} columns")
    if square and matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} has shape {matrix.shape}; expected a square matrix")
    if not np.isfinite(matrix.data).all():
        entry = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise InputError(
            f"{name}[{row}, {matrix.indices[entry]}] is {matrix.data[entry]}; expected finite"
        )
    return with_short_indices(matrix)


def with_short_indices(matrix: sp.csr_array) -> sp.csr_array:
    """The matrix with indices of 32 bits if it is not too large for them; shares the entries.

    Products of sparse arrays have longer ones. Kernels are compiled once a type of index, and
    short ones are read faster.
    """
    if matrix.indices.dtype == np.int32 and matrix.indptr.dtype == np.int32:
        return matrix
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    starts, columns = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return sp.csr_array((matrix.data, columns, starts), shape=matrix.shape)


def contiguous(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy that is writable and has its entries in a row: kernels are
    compiled once a kind of array."""
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable else np.array(array, order="C")
