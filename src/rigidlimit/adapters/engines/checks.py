"""Checks of what an engine's contacts are given as."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.matrices import matrix
from ...errors import InputError
from .coulomb import CONES, friction_forces
from .geometry import Places
from .matrices import refused_shape

if TYPE_CHECKING:
    from .contacts import EngineContacts


def checked(contacts: "EngineContacts") -> "EngineContacts":
    """``EngineContacts`` of arrays as callers give them, in its documented shapes.

    Raises InputError for wrong shapes and numbers that are not finite.
    """
    arrays.one_of("cone", contacts.cone, CONES)
    if contacts.engine_force is None and contacts.load is None:
        raise InputError("neither engine_force nor load is given; expected one of them")
    B = matrix("B", contacts.B)
    m, n = B.shape
    row, count = _rows(contacts.row, contacts.contacts, m)
    if contacts.places is not None and not isinstance(contacts.places, Places):
        kind = type(contacts.places).__name__
        raise InputError(f"places is a {kind}; expected Places of the rows of B")
    by_contact = {
        name: value if value is None else arrays.vector(name, value, m, what="row of B")
        for name in ("engine_force", "gap")
        for value in [getattr(contacts, name)]
    }
    mechanism = contacts.mechanism
    if mechanism is not None:
        mechanism = arrays.integers("mechanism", mechanism, n, what="column of B")
        mechanism = np.unique(mechanism, return_inverse=True)[1]
    adhesion = arrays.vector("adhesion", contacts.adhesion, m, what="row of B")
    held = 0.0 if contacts.held is None else contacts.held
    links = contacts.links
    if links is not None:
        links = matrix("links", links, columns=n)
    sliding, directions = contacts.sliding, 0
    if sliding is not None:
        sliding = matrix("sliding", sliding, columns=n)
        directions = sliding.shape[0] // max(m, 1)
        if sliding.shape[0] % max(m, 1) or sliding.shape[0] < 2 * m:
            raise refused_shape("sliding", sliding, f"({2 * m}, {n})")
    tangential, friction = friction_forces(contacts.tangential, contacts.friction, m, directions)
    return replace(
        contacts,
        B=B,
        **by_contact,
        adhesion=adhesion,
        sliding=sliding,
        tangential=tangential,
        friction=friction,
        held=arrays.vector("held", held, n, what="column of B") != 0,
        mechanism=mechanism,
        reach=lengths("reach", contacts.reach, n),
        links=links,
        row=row,
        contacts=count,
    )


OF_ENGINES = ("engine_force", "adhesion", "B", "sliding", "tangential", "gap", "reach")
"""Arrays that readers fill."""


def check_finite(contacts: "EngineContacts") -> None:
    """Raises InputError where an engine left numbers that are not finite."""
    for name in OF_ENGINES:
        value = getattr(contacts, name)
        if value is None:
            continue
        value = getattr(value, "data", value) if not isinstance(value, np.ndarray) else value
        # a sum is finite where all of it is
        if not np.isfinite(np.add.reduce(value, axis=None)):
            flat = np.ravel(value)
            bad = np.flatnonzero(~np.isfinite(flat))
            if len(bad):
                raise InputError(
                    f"{contacts.engine}: {name} has {len(bad)} of {len(flat)} numbers not finite, "
                    f"first {flat[bad[0]]}; expected finite ones: is the simulation unstable?"
                )


def _rows(row, contacts, m):
    """(row (m,), number of contacts in the engine's list)."""
    row = np.arange(m) if row is None else arrays.integers("row", row, m, what="row of B")
    if contacts is None:
        contacts = row.max(initial=-1) + 1
    contacts = int(arrays.integers("contacts", contacts, 1, what="list")[0])
    apart = not m or (row.min() >= 0 and row.max() < contacts and np.bincount(row).max() == 1)
    if not apart:
        raise InputError(f"row must give each of {m} rows of B its own contact of {contacts}")
    return row, contacts


def parts(name: str, value: ArrayLike, size: int, *, what: str) -> np.ndarray:
    """``arrays.vector`` of parts of something, (size,)."""
    value = arrays.vector(name, value, size, what=what)
    if not ((value >= 0) & (value < 1)).all():
        raise InputError(f"{name} is {value.max():.6g}; expected 0 <= {name} < 1")
    return value


def lengths(name: str, value: ArrayLike, n: int) -> np.ndarray:
    """``arrays.vector`` of positive lengths, (n,)."""
    value = arrays.vector(name, value, n, what="degree of freedom (column of B)")
    if (value <= 0).any():
        raise InputError(f"{name}[{value.argmin()}] is {value.min()}; expected positive lengths")
    return value
