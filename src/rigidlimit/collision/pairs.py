"""Pairs of convex solids as arrays, and what a search finds of them; k pairs, a and b of each.

All positions and directions are in the axes of a about its centre.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

Rows = TypeVar("Rows", bound=tuple)


class Pairs(NamedTuple):
    """shape_a, shape_b (k,): rows among the shapes; turn (k, 3, 3), arm (k, 3): pose of b; reach
    (k,) [m]: largest gap of contacts; radius_a, radius_b (k,) [m]: bounding radii."""

    shape_a: np.ndarray
    shape_b: np.ndarray
    turn: np.ndarray
    arm: np.ndarray
    reach: np.ndarray
    radius_a: np.ndarray
    radius_b: np.ndarray


class Faces(NamedTuple):
    """separation (k,): the largest along the normal of a face; normal (k, 3): that normal; of_b
    (k,): whether the face is one of b."""

    separation: np.ndarray
    normal: np.ndarray
    of_b: np.ndarray


class Nearest(NamedTuple):
    """separation (k,), along the unit normal (k, 3) from a to b; on_a, on_b (k, 3): the points at
    that distance; exact (k,): to rounding, not to the tolerance of the search."""

    separation: np.ndarray
    normal: np.ndarray
    on_a: np.ndarray
    on_b: np.ndarray
    exact: np.ndarray

    @classmethod
    def unknown(cls, k: int) -> "Nearest":
        """Of k pairs of which nothing is known: separations of -inf."""
        points = np.zeros((k, 3)), np.zeros((k, 3)), np.zeros((k, 3))
        return cls(np.full(k, -np.inf), *points, np.zeros(k, bool))


def rows_of(table: Rows, rows: np.ndarray) -> Rows:
    """These rows of every array."""
    return type(table)(*(column[rows] for column in table))


def put_rows(table: Sequence[np.ndarray], rows: np.ndarray, values: Sequence[np.ndarray]) -> None:
    """Sets these rows of every array."""
    for column, part in zip(table, values, strict=True):
        column[rows] = part
