"""Number of digits to which the coordinates of a scene were rounded, if it can be detected.

Coordinates that were computed have as many digits as the machine. Where all are multiples of one
10^-k they were rounded to k digits, or drawn on a grid, where they are exact. Numbers drawn on a
grid seldom need its last digit; of rounded ones nine in ten do.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Settings:
    """When coordinates count as rounded when they were written down.

    fine: last digit over the scene's length below which nobody draws on purpose.
    often: part of the distinct coordinates other than zero that need the last digit where they were
        rounded.
    fewest: their number.
    coarse: last digit over the scene's length above which coordinates are not informative: any
        sketch has it.
    digits: digits of a coordinate beyond which a multiple of 10^-k is any number: doubles have 16.
    """

    fine: float = 1e-6
    often: float = 0.3
    fewest: int = 3
    coarse: float = 1e-3
    digits: int = 13


SETTINGS = Settings()


class Written(NamedTuple):
    """position (n, 3) [m]: as written. digit [m]: unit of its last digit."""

    position: np.ndarray
    digit: float

    def here(self, position: np.ndarray) -> np.ndarray:
        """Which bodies (n,) bool still are where they were written, by a hundred last digits: what
        moved on has its place from the motion."""
        return np.abs(position - self.position).max(axis=1) <= 100.0 * self.digit


def written(position: np.ndarray, length: float) -> Written | None:
    """``Written`` of the places (n, 3) [m] of bodies, the scene's reference length [m] given; None
    where they have all digits, or may be meant as they are."""
    size = np.abs(position)
    size = size[size > 0.0]
    if len(size) < SETTINGS.fewest or not np.isfinite(length):
        return None
    finest = SETTINGS.digits - int(np.ceil(np.log10(size.max())))
    places = next(
        (k for k in range(finest, -SETTINGS.digits, -1) if not _multiples(size, k).all()), None
    )
    if places is None or places == finest:
        return None
    digit = 10.0 ** -(places + 1)
    size = np.unique(size)
    needed = np.count_nonzero(~_multiples(size, places))
    rounded = needed >= max(SETTINGS.fewest, SETTINGS.often * len(size))
    if digit > SETTINGS.coarse * length or not (rounded or digit <= SETTINGS.fine * length):
        return None
    return Written(position, digit)


def _multiples(size, places):
    """Which numbers (k,) are multiples of 10^-places, but for their last bits."""
    scaled = size * 10.0**places
    return np.abs(scaled - np.rint(scaled)) <= 4.0 * np.finfo(float).eps * scaled
