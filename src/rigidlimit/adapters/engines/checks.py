"""Checks of what an engine's contacts are given as."""

import numpy as np

from ..._support import arrays
from ...errors import InputError


def given(contacts, names, m, what):
    """Vectors (m,) of those that are given."""
    found = {name: getattr(contacts, name) for name in names}
    return {
        name: value if value is None else arrays.vector(name, value, m, what=what)
        for name, value in found.items()
    }


def rows(row, contacts, m):
    """(row (m,), number of contacts in the engine's list)."""
    row = np.arange(m) if row is None else arrays.integers("row", row, m, what="row of B")
    if contacts is None:
        contacts = row.max(initial=-1) + 1
    contacts = int(arrays.integers("contacts", contacts, 1, what="list")[0])
    apart = not m or (row.min() >= 0 and row.max() < contacts and np.bincount(row).max() == 1)
    if not apart:
        raise InputError(f"row must give each of {m} rows of B its own contact of {contacts}")
    return row, contacts


def parts(name, value, size, *, what):
    """``arrays.vector`` of parts of something, (size,)."""
    value = arrays.vector(name, value, size, what=what)
    if (value < 0).any() or (value >= 1).any():
        raise InputError(f"{name} is {value.max():.6g}; expected 0 <= {name} < 1")
    return value


def lengths(name, value, n):
    """``arrays.vector`` of positive lengths, (n,)."""
    value = arrays.vector(name, value, n, what="degree of freedom (column of B)")
    if (value <= 0).any():
        raise InputError(f"{name}[{value.argmin()}] is {value.min()}; expected positive lengths")
    return value
