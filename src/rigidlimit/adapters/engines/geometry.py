"""Where contacts are, between what, and what their forces add up to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..._support.display import Brief
from ...errors import InputError
from .parts import OUTSIDE, NamedParts, Pairs
from .sizes import distance_from_middle, middles


@njit(cache=True)
def frames_along(normal: np.ndarray) -> np.ndarray:
    """Each unit normal (m, 3) and two unit vectors across it and each other, (m, 3, 3)."""
    frame = np.empty((len(normal), 3, 3))
    for i in range(len(normal)):
        n, least = normal[i], 0
        for k in range(1, 3):
            if abs(n[k]) < abs(n[least]):
                least = k
        # n x e of the axis e that is least along n
        first = np.zeros(3)
        a, b = (least + 1) % 3, (least + 2) % 3
        size = max(np.sqrt(n[a] ** 2 + n[b] ** 2), 1e-300)
        first[a], first[b] = n[b] / size, -n[a] / size
        frame[i, 0], frame[i, 1] = n, first
        cross(n, first, frame[i, 2])
    return frame


@njit(cache=True)
def cross(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """a x b of two vectors (3,) into ``out``."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True, repr=False)
class Places(Brief):
    """Where m contacts are.

    Parameters
    ----------
    point : (m, 3) or (m, 2, 3) [m]
        One, or one on each side.
    normal : (m, 3)
        From the first to the second body.
    names : sequence of (str, str)
        First and second of each.
    system : (m, 2) int
        The freely moving body or mechanism of each side, or OUTSIDE for what cannot move or is
        carried by a base: its total is not kept by B^T f alone.
    centre : (m, 2, 3) [m], optional
        Of the body or mechanism of each side, nan where that cannot move.
    tangents : (m, 2, 3), optional
        The two directions of friction forces.
    parts : NamedParts, optional
        Geoms and bodies of both sides, by name; None: only ``names`` are known.

    Raises
    ------
    InputError
        By ``mend_forces``, for wrong shapes.

    Examples
    --------
    >>> import numpy as np
    >>> from rigidlimit.adapters import Places, mend_forces
    >>> beam = [[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]]  # columns: rise, turn
    >>> places = Places(
    ...     point=np.array([[-0.5, 0, 0], [0, 0, 0], [0.5, 0, 0]]),
    ...     normal=np.array([[0, 0, 1.0]] * 3),
    ...     names=[("left", "beam"), ("middle", "beam"), ("right", "beam")],
    ...     system=np.array([[-1, 0]] * 3),
    ... )
    >>> mended = mend_forces(beam, [5.0, 0.0, 5.0], places=places, stiffness={"middle": 3.0})
    >>> mended.force.round(4), mended.on("middle").force.round(4) + 0.0
    (array([2., 6., 2.]), array([ 0.,  0., -6.]))
    """

    point: np.ndarray
    normal: np.ndarray
    names: Sequence[tuple[str, str]]
    system: np.ndarray
    centre: np.ndarray | None = None
    tangents: np.ndarray | None = None
    parts: NamedParts | None = None

    @property
    def named_parts(self) -> NamedParts:
        """``parts``, or those of ``names``."""
        return NamedParts.of_pairs(self.names) if self.parts is None else self.parts

    def vectors(self, normal_force: np.ndarray, tangential: np.ndarray) -> np.ndarray:
        """Forces on the second bodies (m, 3) [N].

        Parameters
        ----------
        normal_force : (m,) [N]
        tangential : (m, k) [N]
            Its first two columns are along the tangents.
        """
        push = normal_force[:, None] * self.normal
        both = tangential[:, :2]
        if both.any():
            push += np.einsum("ik,ikj->ij", both, self._tangents()[:, : both.shape[1]])
        return push

    def moments(self, tangential: np.ndarray) -> np.ndarray:
        """Moments on the second bodies (m, 3) [N m]: spin about the normal and rolling about both
        tangents.

        Parameters
        ----------
        tangential : (m, k) [N, N m]
            Whose columns after the second these moments are.
        """
        spin = np.zeros((len(self.normal), 3))
        rest = tangential[:, 2:]
        if rest.any():
            axes = np.concatenate([np.asarray(self.normal)[:, None], self._tangents()], axis=1)
            spin += np.einsum("ik,ikj->ij", rest, axes[:, : rest.shape[1]])
        return spin

    def _tangents(self):
        if self.tangents is None:
            raise InputError("friction forces as vectors need the tangents of places=")
        return self.tangents

    @property
    def frames(self) -> np.ndarray | None:
        """Normal and both tangents as rows, (m, 3, 3)."""
        if self.tangents is None:
            return None
        return np.concatenate([np.asarray(self.normal, float)[:, None], self.tangents], axis=1)

    def between(self, row: int) -> str:
        """ " (first and second)" of one contact, for messages.

        Parameters
        ----------
        row : int
        """
        return f" ({' and '.join(self.names[row])})"

    def totals(self, force: np.ndarray) -> np.ndarray:
        """Force on each system, and moment about the middle of its own points, (systems, 6) [N, N
        m].

        Parameters
        ----------
        force : (m,) or (m, 3) [N]
            Along the normals, or on the second bodies.
        """
        if force.ndim == 1:
            force = force[:, None] * self.normal
        side, row, part = self._of_systems
        count = int(part.max(initial=OUTSIDE)) + 1
        middle = middles(self.sides[row], part, count)
        push = np.where(side, 1.0, -1.0)[:, None] * force[row]
        arm = self.sides[row, side] - middle[part]
        total = np.zeros((count, 6))
        np.add.at(total, part, np.hstack([push, np.cross(arm, push)]))
        return total

    @property
    def sides(self) -> np.ndarray:
        """Points on both sides, (m, 2, 3) [m]."""
        point = np.asarray(self.point, float)
        return point if point.ndim == 3 else np.stack([point, point], axis=1)

    @property
    def _of_systems(self):
        """Side, contact and system of every side that belongs to one."""
        side, row = np.nonzero(self.system.T > OUTSIDE)
        return side, row, self.system[row, side]

    def __getitem__(self, rows) -> "Places":
        """Those of some rows: indices."""
        centre = None if self.centre is None else self.centre[rows]
        tangents = None if self.tangents is None else self.tangents[rows]
        parts = None if self.parts is None else self.parts[rows]
        if isinstance(self.names, Pairs):
            names = self.names[np.asarray(rows)]
        else:
            names = tuple(self.names[i] for i in rows)
        return Places(
            self.point[rows], self.normal[rows], names, self.system[rows], centre, tangents, parts
        )

    @property
    def size(self) -> float:
        """Largest distance of a contact from the middle of all [m]; 1 for a single point."""
        return float(distance_from_middle(self.sides, np.zeros(len(self.point), int), 1)[0]) or 1.0

    @property
    def sizes(self) -> np.ndarray:
        """The same of each system's own contacts, (systems,) [m]."""
        _, row, part = self._of_systems
        count = int(part.max(initial=OUTSIDE)) + 1
        size = distance_from_middle(self.sides[row], part, count)
        return np.where(size > 0, size, 1.0)
