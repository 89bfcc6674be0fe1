"""Stiffness and friction of contacts as a user gives them: numbers, arrays, or by names of parts.

By name, {"pad": 2.0, ("pad", "cube"): 3.0}, or a function of the names of both parts. A pair is
what the contact itself has. Single names are of one part each: stiffness of two that touch is in
series, k_1 k_2 / (k_1 + k_2), with one that is not named rigid; friction is the smaller of both.
"""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.words import counted
from ...errors import InputError

if TYPE_CHECKING:
    from .contacts import EngineContacts
    from .geometry import Places


ByContact = ArrayLike | Mapping[Any, float] | Callable[[str, str], float]
"""Values of contacts: a number, one a contact, or by names of parts."""


def by_name(given: ByContact | None) -> bool:
    """Whether values are given by name, or by a function of names."""
    return callable(given) or isinstance(given, Mapping)


def given_stiffness(
    stiffness: ByContact, count: int, what: str, rows: np.ndarray | slice = slice(None)
) -> ByContact:
    """One of each row (indices) of ``count`` entries of an engine's list; by name as it is."""
    if by_name(stiffness):
        return stiffness
    return arrays.vector("stiffness", stiffness, count, what=what)[rows]


def stiffness_of(
    given: ByContact, places: "Places | None", m: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Stiffness (m,), and what to say of it; contacts that no name speaks of have 1."""
    if not by_name(given):
        return arrays.vector("stiffness", given, m, what="row of B"), ()
    value, known = _named("stiffness", given, places, m, lambda a, b: a * b / (a + b))
    wrong = np.flatnonzero(known & ~(value > 0.0))
    if len(wrong):
        raise InputError(f"stiffness by name is {value[wrong[0]]:.6g}; expected positive numbers")
    others = int(m - known.sum())
    more = f", 1 at {counted(others, 'contact')} that it does not name" if others else ""
    return np.where(known, value, 1.0), (f"stiffness: by name{more}",)


def friction_of(
    given: ByContact | None, friction: np.ndarray, contacts: "EngineContacts"
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Coefficients (m, k) with those ``given`` for both sliding directions, and what to say.

    friction (m, k): the engine's, which stay where no name speaks of a contact; contacts:
    ``EngineContacts``, for the places of its rows in the engine's list.
    """
    if given is None:
        return friction, ()
    m = len(friction)
    if by_name(given):
        value, known = _named("friction", given, contacts.places, m, np.minimum)
    else:
        every, row = contacts.contacts, contacts.row
        value = arrays.vector("friction", given, m if every is None else every, what="contact")
        value, known = value if row is None else value[row], np.ones(m, bool)
    if (value[known] < 0.0).any():
        raise InputError(f"friction is {value[known].min():.6g}; expected coefficients >= 0")
    friction = friction.copy()
    friction[known, :2] = value[known, None]
    kept = int(m - known.sum())
    more = f", the engine's at {counted(kept, 'contact')}" if kept else ""
    return friction, (f"friction: as given{more}",)


def _named(what, given, places, m, combine):
    """One value a contact (m,), nan where none is given, and which are known, (m,) bool."""
    if places is None:
        raise InputError(f"{what} is given by name, and contacts have no names; give places=")
    parts = places.named_parts
    if callable(given):
        names = parts.pairs
        try:
            value = np.array([arrays.number(given(*pair)) for pair in names]).reshape(m)
        except TypeError as error:
            if _takes_two(given):
                raise
            raise InputError(
                f"{what} is a function that does not take two arguments; it is called with the "
                f"names of both parts, as {what}({names[0][0]!r}, {names[0][1]!r})"
            ) from error
        if np.isnan(value).any():
            pair = names[int(np.isnan(value).argmax())]
            raise InputError(f"{what} is no number for {pair[0]} and {pair[1]}; expected one")
        return value, np.ones(m, bool)
    side, own = np.full((m, 2), np.nan), np.full(m, np.nan)
    for key, value in given.items():
        number = arrays.number(value)
        if np.isnan(number):
            raise InputError(f"{what} of {key!r} is {value!r}; expected a number")
        if not isinstance(key, tuple):
            side[parts.find(key)[1]] = number
            continue
        if len(key) != 2:
            raise InputError(f"{what} names {key!r}; expected a name, or a pair of names")
        a, b = (parts.find(name)[1] for name in key)
        own[(a[:, 0] & b[:, 1]) | (a[:, 1] & b[:, 0])] = number
    single = np.where(np.isnan(side[:, 0]), side[:, 1], side[:, 0])
    both = ~np.isnan(side).any(axis=1)
    single[both] = combine(side[both, 0], side[both, 1])
    value = np.where(np.isnan(own), single, own)
    return value, ~np.isnan(value)


def _takes_two(function):
    """Whether it may be called with two arguments; True where that is not known."""
    try:
        signature(function).bind("", "")
    except TypeError:
        return False
    except ValueError:  # of a function in C
        pass
    return True
