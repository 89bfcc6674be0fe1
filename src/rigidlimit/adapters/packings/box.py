"""The box of a packing: a parallelepiped, periodic along some of its edges."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..._support.display import Brief
from ...errors import InputError

FACES = ("xlo", "xhi", "ylo", "yhi", "zlo", "zhi")
"""Names of the faces, as LAMMPS has them: across the first, second and third edge."""


@dataclass(frozen=True, repr=False)
class Box(Brief):
    """origin (3,) [m]: one corner. edges (3, 3) [m]: a row an edge from there. periodic (3,) bool:
    along which of them."""

    origin: np.ndarray
    edges: np.ndarray
    periodic: np.ndarray

    @property
    def message(self) -> str:
        return self.in_words(3)

    def in_words(self, dim: int) -> str:
        """Size and periodic axes; of a plane packing (dim 2) those of its plane."""
        lengths = np.linalg.norm(self.edges, axis=1)[:dim]
        size = " x ".join(f"{length:.6g}" for length in lengths)
        along = "".join(a for a, p in zip("xyz"[:dim], self.periodic[:dim], strict=True) if p)
        return f"{size} m, " + (f"periodic along {along}" if along else "not periodic")

    @property
    def volume(self) -> float:
        """[m^3]."""
        return abs(float(np.linalg.det(self.edges)))

    def fractions(self, position: np.ndarray) -> np.ndarray:
        """Coordinates (n, 3) along the edges, 0 to 1 within the box."""
        return np.linalg.solve(self.edges.T, (position - self.origin).T).T

    def wrapped(self, position: np.ndarray) -> np.ndarray:
        """Positions (n, 3) [m], those outside moved into the box along the periodic edges.

        Positions within it are not changed at all.
        """
        turns = np.where(self.periodic, np.floor(self.fractions(position)), 0.0)
        moved = turns.any(axis=1)
        out = position.copy()
        out[moved] -= turns[moved] @ self.edges
        return out

    def wall(self, face: str) -> tuple[np.ndarray, np.ndarray]:
        """(a point, the unit normal inward) of a face."""
        axis, far = divmod(FACES.index(face), 2)
        normal = np.cross(self.edges[axis - 2], self.edges[axis - 1])
        normal *= np.sign(normal @ self.edges[axis]) / np.linalg.norm(normal)
        point = self.origin + far * self.edges[axis]
        return point, -normal if far else normal


def of_bounds(
    low: ArrayLike,
    high: ArrayLike,
    tilts: Sequence[float] = (0.0, 0.0, 0.0),
    periodic: Sequence[bool] = (False, False, False),
) -> Box:
    """LAMMPS' box of lower and upper bounds (3,) [m] and tilt factors xy, xz, yz [m]."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    if not (high > low).all():
        raise InputError(f"the box goes from {low} to {high}; expected upper bounds above lower")
    edges = np.diag(high - low)
    edges[1, 0], edges[2, 0], edges[2, 1] = tilts
    return Box(low, edges, np.array(periodic, bool))
