"""The periodic cell: vectors, what is prescribed of its strain and stress, and its motion.

Images of a body at x stand at x + n V for whole numbers n, V (3, 3) the cell's vectors, row by row.
The cell has a velocity gradient L, and everything in it moves along: with v the velocity of a body
relative to this affine motion,

    dx/dt = v + L x,      dV/dt = V L^T.

L is upper triangular: a cell that turns as well has the same forces in a turned frame. Its six
components xx, yy, zz, yz, xz, xy (L_xy = dv_x/dy: simple shear) are the degrees of freedom of one
more body, the last one of the scene, as velocities q = l L of two points a length l apart, l the
scene's reference diameter. So a contact between centres with the branch vector d opens at

    n . (v_b + w_b x r_b) - n . (v_a + w_a x r_a) + n . L d,

a component whose strain is prescribed is a held degree of freedom that is driven, and one whose
stress is prescribed a free one that is pushed by the force -V sigma_ab / l, V the volume. In
balance the contacts answer with V sigma = sum of f d^T: the stress is the prescribed one.
(M. Parrinello and A. Rahman, J. Appl. Phys. 52 (1981) 7182; for contact dynamics F. Radjai,
C. R. Mecanique 346 (2018) 263.) Pressure is positive, as in soil mechanics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import is_positive, number, short
from ..errors import SceneError
from .shapes import Shape

COMPONENTS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""Row and column of L of each degree of freedom of the cell; in the plane 0, 1 and 5 are left."""

FIRST, SECOND = (np.array(index) for index in zip(*COMPONENTS, strict=True))

Entries: TypeAlias = ArrayLike | Sequence[Sequence[float | None]]
"""A tensor, in which None may stand for what is not prescribed."""

NAME = "cell"
"""Name of the cell as a body."""


@dataclass(frozen=True)
class CellFrame(Shape):
    """The shape of the cell as a body: it has none, and touches nothing."""

    dim: int = 3
    measure = 0.0
    bounding_radius = np.inf

    @property
    def inertia_per_mass(self) -> np.ndarray:
        return np.eye(3)


@dataclass(frozen=True, eq=False, init=False)
class Cell:
    """A periodic cell.

    Parameters
    ----------
    vectors : (dim,) or (dim, dim) [m]
        Side lengths of a rectangular cell, or its vectors, row by row. The volume is theirs; in
        directions that are not periodic they bound nothing.
    periodic : bool or (dim,) bool
        In which of the vectors' directions the cell repeats.
    stress : number or (dim, dim) [Pa; N/m in 2D], optional
        Stress to be held, pressure positive; a number is the same pressure in all periodic
        directions. nan or None, and what is left out, has its strain prescribed by ``rate``.
    rate : (dim, dim) [1/s], optional
        Velocity gradient L, upper triangular, of the components without a stress; 0 by default.
    inertia : float [kg m^2], optional
        Resistance of the cell to a change of L. By default that of the bodies moved affinely,
        total mass times volume^(2/dim) / 12.

    Attributes
    ----------
    dim : int
    vectors : (3, 3) ndarray [m]
        Row by row; like all that follows in three dimensions.
    periodic : (3,) bool ndarray
    stress : (3, 3) ndarray [Pa; N/m in 2D]
        Symmetric; nan where the strain is prescribed.
    rate : (3, 3) ndarray [1/s]
        0 where the stress is prescribed.
    inertia : float or None

    Raises
    ------
    SceneError
        For vectors without a volume or not right-handed, a stress that is not symmetric, a rate
        that is not upper triangular, stress or rate along directions that are not periodic, and
        periodic vectors that lean along these.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> cell = rl.Cell((1.0, 1.0), stress=[[2.0, None], [None, 3.0]], rate=[[0, 0.1], [0, 0]])
    >>> cell.volume, cell.free.tolist()
    (1.0, [True, True, False, False, False, False])
    """

    dim: int
    vectors: np.ndarray
    periodic: np.ndarray
    stress: np.ndarray
    rate: np.ndarray
    inertia: float | None = field(default=None)

    def __init__(
        self,
        vectors: ArrayLike,
        *,
        periodic: ArrayLike = True,
        stress: Entries | None = None,
        rate: Entries | None = None,
        inertia: float | None = None,
    ):
        A = _numbers(vectors)
        if A.ndim == 1 and len(A) in (2, 3):
            A = np.diag(A)
        if A.shape not in ((2, 2), (3, 3)) or not np.isfinite(A).all():
            raise SceneError(
                f"cell: vectors are {short(vectors)}; expected side lengths, or as many vectors "
                "as the scene has dimensions, row by row"
            )
        dim = len(A)
        full = np.eye(3)
        full[:dim, :dim] = A
        if not np.linalg.det(full) > 0.0:
            raise SceneError(
                f"cell: the determinant of its vectors is {np.linalg.det(full):.3g}; expected "
                "vectors of a right-handed cell with a volume; change their order"
            )
        if inertia is not None and not is_positive(inertia):
            raise SceneError(f"cell: inertia is {inertia!r}; expected a positive one [kg m^2]")
        put = object.__setattr__
        put(self, "dim", dim)
        put(self, "vectors", full)
        put(self, "periodic", _directions(periodic, full, dim))
        put(self, "stress", self._checked_stress(stress))
        put(self, "rate", self._checked_rate(rate))
        put(self, "inertia", None if inertia is None else float(inertia))

    def changed(self, **changes: Any) -> "Cell":
        """A copy with other values.

        Parameters
        ----------
        **changes
            Any of ``vectors``, ``stress``, ``rate`` and ``inertia``.
        """
        d = self.dim
        kept = {
            "vectors": self.vectors[:d, :d],
            "periodic": self.periodic[:d],
            "stress": self.stress[:d, :d],
            "rate": self.rate[:d, :d],
            "inertia": self.inertia,
        }
        return Cell(**kept | changes)

    @property
    def volume(self) -> float:
        """Volume [m^3], or area [m^2] in 2D."""
        return volume_of(self.vectors)

    @property
    def free(self) -> np.ndarray:
        """Components of L that the stress decides, (6,) bool, in the order of ``COMPONENTS``."""
        return np.isfinite(self.stress[FIRST, SECOND])

    def row(self, length: float) -> np.ndarray:
        """The prescribed velocities l L (6,) [m/s] of the cell as a body.

        Parameters
        ----------
        length : float [m]
            l, of the scene.
        """
        return length * self.rate[FIRST, SECOND]

    def force(self, vectors: np.ndarray, length: float) -> np.ndarray:
        """-V sigma / l (6,) [N], of the prescribed stress.

        Parameters
        ----------
        vectors : (3, 3) [m]
            Of the cell as it is.
        length : float [m]
            l, of the scene.
        """
        return -volume_of(vectors) / length * np.where(self.free, self.stress[FIRST, SECOND], 0.0)

    def _allowed(self) -> np.ndarray:
        """Which entries of L keep directions that are not periodic as they are, (3, 3) bool."""
        return np.outer(self.periodic, self.periodic)

    def _checked_stress(self, stress) -> np.ndarray:
        full = np.full((3, 3), np.nan)
        if stress is None:
            return full
        given = _numbers(stress)
        if np.isinf(given).any():
            raise SceneError(f"cell: stress is {short(stress)}; expected finite numbers")
        if given.ndim == 0:
            given = np.diag(np.where(self.periodic, given, np.nan)[: self.dim])
            given[~np.eye(self.dim, dtype=bool)] = 0.0
            given[~self._allowed()[: self.dim, : self.dim]] = np.nan
        if given.shape != (self.dim, self.dim):
            raise SceneError(
                f"cell: stress has shape {given.shape}; expected a pressure, or "
                f"{(self.dim, self.dim)}"
            )
        known = np.isfinite(given)
        given = np.where(known, given, given.T)  # one of two symmetric entries is enough
        size = np.abs(given[np.isfinite(given)]).max(initial=0.0)
        apart = np.abs(given - given.T)
        if (apart[np.isfinite(apart)] > 1e-12 * size).any():
            raise SceneError(f"cell: stress is {given.tolist()}; expected a symmetric tensor")
        full[: self.dim, : self.dim] = given
        if (np.isfinite(full) & ~self._allowed()).any():
            raise SceneError(
                "cell: a stress is given along a direction that is not periodic; expected one of "
                "periodic directions, and walls that are loaded in the others"
            )
        return full

    def _checked_rate(self, rate) -> np.ndarray:
        full = np.zeros((3, 3))
        if rate is None:
            return full
        given = _numbers(rate)
        if given.shape != (self.dim, self.dim) or not np.isfinite(given).all():
            raise SceneError(
                f"cell: rate is {short(rate)}; expected {(self.dim, self.dim)} finite numbers [1/s]"
            )
        full[: self.dim, : self.dim] = given
        if np.tril(full, -1).any():
            raise SceneError(
                f"cell: rate is {given.tolist()}; expected an upper triangular velocity gradient: "
                "add its lower entries to the upper ones, which is the same motion in a turned "
                "frame"
            )
        if (full != 0.0)[~self._allowed()].any():
            raise SceneError(
                "cell: a rate is given along a direction that is not periodic; expected rates of "
                "periodic directions, and walls that are driven in the others"
            )
        return np.where(np.isfinite(self.stress), 0.0, full)


def volume_of(vectors: np.ndarray) -> float:
    """Volume [m^3] of a cell with these vectors (3, 3); in 2D, where the third is 1, its area."""
    return float(np.linalg.det(vectors))


def velocity_gradient(row: np.ndarray, length: float) -> np.ndarray:
    """L (3, 3) [1/s] from the velocities l L (6,) of the cell as a body."""
    L = np.zeros((3, 3))
    L[FIRST, SECOND] = row / length
    return L


def _directions(periodic, vectors, dim) -> np.ndarray:
    given = np.asarray(periodic)
    if given.dtype != bool or given.shape not in ((), (dim,)) or not given.any():
        raise SceneError(
            f"cell: periodic is {periodic!r}; expected true, or true or false for each of "
            f"{dim} directions, one of them true"
        )
    out = np.zeros(3, bool)
    out[:dim] = given
    if not out[:dim].all():
        leans = vectors[out][:, ~out].any() or vectors[~out][:, out].any()
        if leans:
            raise SceneError(
                f"cell: vectors {vectors[:dim, :dim].tolist()} are periodic in {given.tolist()}; "
                "expected periodic vectors without components along the axes that are not periodic"
            )
    return out


def _numbers(value) -> np.ndarray:
    """An array of floats: nan for None and nan, inf for what is no finite number."""

    def entry(x):
        if x is None or (isinstance(x, float) and np.isnan(x)):
            return np.nan
        found = number(x)
        return found if np.isfinite(found) else np.inf

    try:
        return np.vectorize(entry, otypes=[float])(np.asarray(value, object))
    except ValueError:  # ragged
        return np.array(np.inf)
