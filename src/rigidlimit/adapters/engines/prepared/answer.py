"""What compiled code says of a state of MuJoCo: one array, taken apart when parts are asked for.

numpy makes each array of an answer in as long as compiled code takes for a contact.
"""

from functools import cached_property

import numpy as np
from numba import njit

HEAD = 12
"""Numbers that precede all arrays."""

CODE, ROUGH, SOLVES, RESIDUAL, ENGINE_RESIDUAL, OTHER_ROWS, DIRECT, LISTED = range(8)
"""Places of the first of them; the last four are the ``sizes``."""

PARTS = (
    "values", "column", "count", "normal", "tangential", "friction", "stiffness", "gap",
    "gap_tolerance", "reach", "load", "velocity", "row", "dim", "geom", "point", "frame", "centre",
    "took_part", "remembered",
)  # fmt: skip
"""What is kept of a state, one after another, behind the forces."""

WHOLE = ("column", "count", "row", "dim", "geom")
"""``PARTS`` that are integers."""


@njit(cache=True, nogil=True)
def shapes(m: int, s: int, c: int, n: int) -> np.ndarray:
    """Shapes (parts, 3) of ``PARTS``, of m contacts with rows of 1 + s directions and c columns."""
    return np.array([
        (m, 1 + s, c), (m, c, 1), (m, 1, 1), (m, 1, 1), (m, 5, 1), (m, 5, 1), (m, 1, 1), (m, 1, 1),
        (m, 1, 1), (n, 1, 1), (n, 1, 1), (n, 1, 1), (m, 1, 1), (m, 1, 1), (m, 2, 1), (m, 3, 1),
        (m, 9, 1), (m, 2, 3), (m, 1, 1), (m, 1, 1),
    ])  # fmt: skip


def without_contacts(velocity: np.ndarray, other: int) -> np.ndarray:
    """The array of a state without contacts. velocity (n,); other: constraint rows of no
    contact."""
    n = len(velocity)
    kept = np.zeros(HEAD + 3 * n)
    kept[OTHER_ROWS], kept[LISTED + 2 : HEAD] = other, (2, 1, n)
    kept[HEAD : HEAD + n] = 1.0  # arms
    kept[HEAD + 2 * n :] = velocity
    return kept


class Answer:
    """An answer by name.

    out : the array; count: contacts in MuJoCo's list. force (count,) and tangential (count, 5): new
    ones. rough: whether friction was found too; solves: linear systems; engine_residual: of
    MuJoCo's solver; other: constraint rows of no contact; direct: contacts with a spring of their
    own; sizes: (m, s, c, n) of the ``shapes``.
    """

    def __init__(self, out: np.ndarray):
        self.out, self.count = out, int(out[LISTED])

    @property
    def force(self) -> np.ndarray:
        return self.out[HEAD : HEAD + self.count]

    @property
    def tangential(self) -> np.ndarray:
        return self.out[HEAD + self.count : HEAD + 6 * self.count].reshape(-1, 5)

    @property
    def rough(self) -> bool:
        return bool(self.out[ROUGH])

    @property
    def solves(self) -> int:
        return int(self.out[SOLVES])

    @property
    def residual(self) -> float:
        return float(self.out[RESIDUAL])

    @property
    def engine_residual(self) -> float:
        return float(self.out[ENGINE_RESIDUAL])

    @property
    def other(self) -> int:
        return int(self.out[OTHER_ROWS])

    @property
    def direct(self) -> int:
        return int(self.out[DIRECT])

    @cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        return tuple(self.out[LISTED + 1 : HEAD].astype(int).tolist())

    @cached_property
    def _table(self):
        """Shapes of ``PARTS``, and where they begin and end."""
        table = shapes(*self.sizes)
        begin = HEAD + 6 * self.count
        return table.tolist(), [begin, *(begin + np.cumsum(table.prod(axis=1))).tolist()]

    def part(self, name: str) -> np.ndarray:
        """One of ``PARTS``."""
        shapes, ends = self._table
        place = PARTS.index(name)
        shape = shapes[place]
        while len(shape) > 1 and shape[-1] == 1 and name not in ("values", "column"):
            shape = shape[:-1]
        shape = shape[:2] if name == "column" else shape
        array = self.out[ends[place] : ends[place + 1]].reshape(shape)
        return array.astype(np.int64) if name in WHOLE else array
