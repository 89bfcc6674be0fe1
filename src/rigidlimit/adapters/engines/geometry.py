"""Where contacts are, and how far those of each body or mechanism reach.

That reach is the length by which turns compare with displacements. What is far away says nothing of
a body: with a length of the whole scene the turns of a millimetre's part were noise as soon as
another stood ten kilometres from it. For a mechanism with contacts i at the points x_i (one on each
side) and centres c_i of what they touch,

    size = max( max |x_i - mean x|, max min over sides |x_i - c_i| )   [m]

the second for bodies whose contacts lie close together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ..._support.display import Brief
from ...errors import InputError
from .matrices import entries, numbered
from .parts import NamedParts, Pairs

OUTSIDE = -1
"""System of what cannot move, or is carried by a base: its total is not kept by B^T f alone."""


def across(normal):
    """Two unit vectors across each normal and each other, (2, m, 3)."""
    least = np.abs(normal).argmin(axis=1)
    first = np.cross(normal, np.eye(3)[least])
    first /= np.maximum(np.linalg.norm(first, axis=1), 1e-300)[:, None]
    return np.stack([first, np.cross(normal, first)])


@dataclass(frozen=True, repr=False)
class ContactGeometry(Brief):
    """Where m contacts are.

    Attributes
    ----------
    point : (m, 3), or (m, 2, 3) with one on each side [m].
    normal : (m, 3), from the first to the second body.
    names : (first, second) of each, a sequence of pairs.
    system : (m, 2) int, the freely moving body or mechanism of each side, or OUTSIDE.
    centre : (m, 2, 3) [m], of the body or mechanism of each side, nan where that cannot move.
    tangents : (m, 2, 3), the two directions of friction forces.
    parts : geoms and bodies of both sides, by name; None: only ``names`` are known.
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

    def vectors(self, normal_force, tangential) -> np.ndarray:
        """Forces on the second bodies (m, 3) [N] of normal ones (m,) and those along the tangents,
        the first two columns of ``tangential`` (m, k)."""
        push = normal_force[:, None] * self.normal
        both = tangential[:, :2]
        if both.any():
            push += np.einsum("ik,ikj->ij", both, self._tangents()[:, : both.shape[1]])
        return push

    def moments(self, tangential) -> np.ndarray:
        """Moments on the second bodies (m, 3) [N m]: spin about the normal and rolling about both
        tangents, the columns of ``tangential`` (m, k) after the second."""
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
        """ " (first and second)" of one contact, for messages."""
        return f" ({' and '.join(self.names[row])})"

    def totals(self, force: np.ndarray) -> np.ndarray:
        """Force on each system, and moment about the middle of its own points, (systems, 6); force
        (m,) [N]: along the normals, or (m, 3): on the second bodies."""
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

    def __getitem__(self, rows) -> "ContactGeometry":
        """Those of some rows: indices."""
        centre = None if self.centre is None else self.centre[rows]
        tangents = None if self.tangents is None else self.tangents[rows]
        parts = None if self.parts is None else self.parts[rows]
        if isinstance(self.names, Pairs):
            names = self.names[np.asarray(rows)]
        else:
            names = tuple(self.names[i] for i in rows)
        return ContactGeometry(
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


def mechanism_sizes(B, mechanism, geometry):
    """(n,) for each column of B the size of its mechanism, (m,) for each row the smallest of those
    it joins; both [m].

    B (m, n); mechanism (n,) int; geometry: of the rows. Where a mechanism's contacts and centres
    are all one point, or it has none: ``geometry.size``.
    """
    label, count, part, row = _parts(B, mechanism)
    point = geometry.sides
    size = distance_from_middle(point[row], part, count)
    if geometry.centre is not None:
        arm = np.linalg.norm(point - np.asarray(geometry.centre, float), axis=2)
        np.maximum.at(size, part, np.where(np.isnan(arm), np.inf, arm).min(axis=1)[row])
    unknown = ~((size > 0) & np.isfinite(size))
    if unknown.any():
        size[unknown] = geometry.size
    smallest = np.full(B.shape[0], np.inf)
    np.minimum.at(smallest, row, size[part])
    alone = np.isinf(smallest)
    if alone.any():
        smallest[alone] = geometry.size
    return size[label], smallest


def mechanism_distances(B, mechanism, geometry):
    """(n,) for each column of B how far its mechanism's contacts are from the origin [m]."""
    label, count, part, row = _parts(B, mechanism)
    far = np.zeros(count)
    np.maximum.at(far, part, np.linalg.norm(geometry.sides, axis=2).max(axis=1)[row])
    return far[label]


def _parts(B, mechanism):
    """Mechanism of each column, from 0; their number; mechanism and row of each that meet."""
    label = numbered(mechanism)
    count = int(label.max(initial=-1)) + 1
    if sp.issparse(B):
        rows = max(B.shape[0], 1)
        row, column, _ = entries(B)
        pair = label[column].astype(np.int64) * rows + row
        new = np.ones(len(pair), bool)  # most columns of a mechanism follow one another
        new[1:] = pair[1:] != pair[:-1]
        return label, count, *np.divmod(np.unique(pair[new]), rows)
    meets = (B != 0.0).astype(float) @ (label[:, None] == np.arange(count))
    return label, count, *np.nonzero(meets.T)


def middles(point, part, count):
    """(count, 3): mean of the points (k, sides, 3) of each part; zero for a part without any."""
    total, number = np.zeros((count, 3)), np.bincount(part, minlength=count)
    np.add.at(total, part, point.mean(axis=1))
    return total / np.maximum(number, 1)[:, None]


def distance_from_middle(point, part, count):
    """(count,): largest distance of the points (k, sides, 3) of each part from their mean."""
    size = np.zeros(count)
    away = np.linalg.norm(point - middles(point, part, count)[part][:, None], axis=2)
    np.maximum.at(size, part, away.max(axis=1))
    return size
