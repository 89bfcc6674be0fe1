"""Pair properties of a scene: values in place of the materials', and whether they collide."""

import numpy as np

from .._support.arrays import is_positive, number
from ..bodies import Bodies
from ..errors import SceneError, nearest

PAIR_KEYS = ("stiffness", "friction", "tangential_stiffness")
"""Pair properties, in ``pair_...`` and by ``set_pair_...``."""


class Pairs:
    """Of a ``Scene``: bodies by index or name, and what is known of two of them.

    pair_stiffness, pair_friction, pair_tangential_stiffness: {(i, j): value}, i < j; excluded: the
    pairs that do not touch.
    """

    pair_stiffness: dict[tuple[int, int], float]
    pair_friction: dict[tuple[int, int], float]
    pair_tangential_stiffness: dict[tuple[int, int], float]
    excluded: dict[tuple[int, int], None]
    _index: dict[str, int]
    _bodies: Bodies | None

    def __init__(self):
        self.pair_stiffness, self.pair_friction, self.pair_tangential_stiffness = {}, {}, {}
        self.excluded = {}

    def index(self, body: int | str) -> int:
        """Index of a body given by index or name.

        Parameters
        ----------
        body : int or str

        Raises
        ------
        SceneError
            For a body that the scene does not have.
        """
        if isinstance(body, str):
            if body not in self._index:
                raise SceneError(f"no body is named {body!r}; {nearest(body, self._index)}")
            return self._index[body]
        whole = isinstance(body, int | np.integer)
        if not (whole and 0 <= number(body) < len(self)):
            raise SceneError(f"body {body} does not exist; expected an index below {len(self)}")
        return int(body)

    def set_pair_stiffness(self, first: int | str, second: int | str, stiffness: float) -> None:
        """Contact stiffness between two bodies, in place of their materials'.

        Parameters
        ----------
        first, second : int or str
            Index or name of each body.
        stiffness : float [N/m^(p-1)]
            k > 0, p the exponent of the scene's law.
        """
        pair = self._pair("stiffness", first, second, stiffness, is_positive(stiffness), "positive")
        self.pair_stiffness[pair] = float(stiffness)

    def set_pair_friction(self, first: int | str, second: int | str, friction: float) -> None:
        """Coefficient of friction between two bodies, in place of their materials'.

        Parameters
        ----------
        first, second : int or str
            Index or name of each body.
        friction : float
            mu >= 0.
        """
        good = 0 <= number(friction) < np.inf
        pair = self._pair("friction", first, second, friction, good, "a finite mu >= 0")
        self.pair_friction[pair] = float(friction)

    def set_pair_tangential_stiffness(
        self, first: int | str, second: int | str, ratio: float
    ) -> None:
        """Tangential over normal stiffness between two bodies, in place of what follows from their
        materials.

        Parameters
        ----------
        first, second : int or str
            Index or name of each body.
        ratio : float
            k_t/k_n > 0.
        """
        good = is_positive(ratio)
        pair = self._pair("tangential_stiffness", first, second, ratio, good, "a positive k_t/k_n")
        self.pair_tangential_stiffness[pair] = float(ratio)

    def exclude(self, first: int | str, second: int | str) -> None:
        """Let two bodies pass through one another: no contact between them is looked for.

        As two lids that cross, or a lid in a wall that it slides along. Many that keep apart from
        one another are a ``group`` of ``add``.

        Parameters
        ----------
        first, second : int or str
            Index or name of each body.
        """
        self.excluded[self._two("exclude", first, second)] = None
        self._bodies = None

    def _pair(
        self,
        what: str,
        first: int | str,
        second: int | str,
        value: float,
        good: bool,
        expected: str,
    ) -> tuple[int, int]:
        """Indices (i < j) of two bodies that a value is given for."""
        if not good:
            raise SceneError(
                f"{what} between {first!r} and {second!r} is {value!r}; expected {expected}"
            )
        return self._two(what, first, second)

    def _two(self, what: str, first: int | str, second: int | str) -> tuple[int, int]:
        """Indices (i < j) of two bodies that are not the same."""
        i, j = sorted((self.index(first), self.index(second)))
        if i == j:
            raise SceneError(
                f"{what} between {first!r} and itself; expected two bodies: a body does not "
                "touch itself"
            )
        return i, j
