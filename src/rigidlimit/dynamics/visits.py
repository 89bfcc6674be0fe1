"""The order in which sweeps visit contacts: forces depend on it where contacts are redundant."""

from collections.abc import Iterator, Sequence

import numpy as np

from .._support import arrays
from .._support.words import counted
from ..errors import InputError

ORDERS = ("natural", "reverse", "symmetric", "random")


def visits(order: str | Sequence[int] | np.ndarray, seed: int, m: int) -> Iterator[np.ndarray]:
    """Endless sequence of contact permutations, one for each sweep."""
    if isinstance(order, str):
        if order not in ORDERS:
            raise InputError(
                f"order is {order!r}; expected one of {', '.join(ORDERS)}, or a permutation of the "
                f"{counted(m, 'contact')}"
            )
    else:
        order = permutation(order, m)
    return _visit_sequence(order, seed, m)


def permutation(order: str | Sequence[int] | np.ndarray, m: int) -> np.ndarray:
    """The given order of m contacts; InputError if it does not name each of them once."""
    try:
        given = arrays.floats(order)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (m,) or (np.sort(given) != np.arange(m)).any():
        raise InputError(
            f"order is an array of shape {given.shape} that is not a permutation of the {m} "
            f"contacts; expected each of 0 ... {m - 1} once"
        )
    return given.astype(int)


def _visit_sequence(order, seed, m):
    natural = np.arange(m)
    if not isinstance(order, str):
        cycle = [np.ascontiguousarray(order, dtype=natural.dtype)]
    elif order == "random":
        rng = np.random.default_rng(seed)
        while True:
            yield rng.permutation(m)
    else:
        back = natural[::-1].copy()
        cycle = {"natural": [natural], "reverse": [back], "symmetric": [natural, back]}[order]
    while True:
        yield from cycle
