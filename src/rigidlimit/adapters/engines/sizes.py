"""How far the contacts of each body or mechanism reach.

That is the length by which turns compare with displacements. What is far away says nothing of a
body: with a length of the whole scene the turns of a millimetre's part were noise as soon as
another stood ten kilometres from it. For a mechanism with contacts i at the points x_i (one on each
side) and centres c_i of what they touch,

    size = max( max |x_i - mean x|, max min over sides |x_i - c_i| )   [m]

the second for bodies whose contacts lie close together.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from ..._support.compiled import INNER
from ..._support.matrices import Matrix
from .matrices import compressed, touching

if TYPE_CHECKING:
    from .geometry import Places


def mechanism_sizes(
    B: Matrix, mechanism: np.ndarray, geometry: "Places"
) -> tuple[np.ndarray, np.ndarray]:
    """(n,) for each column of B the size of its mechanism, (m,) for each row the smallest of those
    it joins; both [m].

    B (m, n); mechanism (n,) int >= 0; geometry: of the rows. Where a mechanism's contacts and
    centres are all one point, or it has none: of all contacts.
    """
    point, centre = _points(geometry), geometry.centre
    centre = point[:0] if centre is None else np.ascontiguousarray(centre, float)
    row, touched = touching(*compressed(B), mechanism, np.ones(len(mechanism), bool))
    smallest = np.empty(len(point))
    size = sizes_of(row, touched, _count(mechanism), point, centre, smallest)
    return size[mechanism], smallest


def mechanism_distances(B: Matrix, mechanism: np.ndarray, geometry: "Places") -> np.ndarray:
    """(n,) for each column of B how far its mechanism's contacts are from the origin [m]."""
    point = _points(geometry)
    row, touched = touching(*compressed(B), mechanism, np.ones(len(mechanism), bool))
    return _farthest(row, touched, point, np.zeros((_count(mechanism), 3)))[mechanism]


def middles(point: np.ndarray, part: np.ndarray, count: int) -> np.ndarray:
    """(count, 3): mean of the points (k, sides, 3) of each part (k,); zero for one without any."""
    total, number = np.zeros((count, 3)), np.bincount(part, minlength=count)
    np.add.at(total, part, point.mean(axis=1))
    return total / np.maximum(number, 1)[:, None]


def distance_from_middle(point: np.ndarray, part: np.ndarray, count: int) -> np.ndarray:
    """(count,): largest distance of the points (k, sides, 3) of each part (k,) from their mean."""
    size = np.zeros(count)
    away = np.linalg.norm(point - middles(point, part, count)[part][:, None], axis=2)
    np.maximum.at(size, part, away.max(axis=1))
    return size


def _points(geometry):
    """(m, 1 or 2, 3): of the contacts, or of both of their sides."""
    point = np.ascontiguousarray(geometry.point, float)
    return point if point.ndim == 3 else point.reshape(len(point), 1, 3)


def _count(mechanism):
    return int(mechanism.max(initial=-1)) + 1


@njit(cache=True, nogil=True)
def sizes_of(
    row: np.ndarray,
    touched: np.ndarray,
    count: int,
    point: np.ndarray,
    centre: np.ndarray,
    least: np.ndarray,
) -> np.ndarray:
    """Size (count,) of each mechanism, and into ``least`` (m,) the least of those that each row
    joins; of all contacts where that is not known.

    row, touched (k,): what ``matrices.touching`` finds; point (m, 1 or 2, 3); centre (m, 2, 3), or
    of no rows.
    """
    size, every = _sizes(row, touched, count, point, centre), 0.0
    for p in range(count):
        if not 0.0 < size[p] < np.inf:
            every = every or _of_all(point)
            size[p] = every
    for i in range(len(point)):
        least[i] = np.inf
    for k in range(len(row)):
        least[row[k]] = min(least[row[k]], size[touched[k]])
    for i in range(len(point)):
        if least[i] == np.inf:
            every = every or _of_all(point)
            least[i] = every
    return size


@njit(**INNER)
def _of_all(point):
    """Size of all contacts, 1 for a single point."""
    m = len(point)
    nothing, one = np.zeros((0, 2, 3)), np.int64(1)  # compiled anew for a constant
    size = _sizes(np.arange(m), np.zeros(m, np.int64), one, point, nothing)[0]
    return size if size > 0.0 else 1.0


@njit(**INNER)
def _sizes(row, touched, count, point, centre):
    """Size (count,) of each mechanism, 0 or infinite where that is not known."""
    sides = point.shape[1]
    middle, number = np.zeros((count, 3)), np.zeros(count)
    for k in range(len(row)):
        number[touched[k]] += sides
        for s in range(sides):
            for a in range(3):
                middle[touched[k], a] += point[row[k], s, a]
    for p in range(count):
        for a in range(3):
            middle[p, a] /= max(number[p], 1.0)
    size = _farthest(row, touched, point, middle)
    if len(centre):
        for k in range(len(row)):
            arm = np.inf
            for s in range(2):
                away = _distance(point[row[k], min(s, sides - 1)], centre[row[k], s])
                if away < arm:  # not for one that is no number
                    arm = away
            size[touched[k]] = max(size[touched[k]], arm)
    return size


@njit(cache=True)
def _farthest(row, touched, point, middle):
    """Largest distance of the points of each mechanism from ``middle`` (count, 3); (count,)."""
    far = np.zeros(len(middle))
    for k in range(len(row)):
        for s in range(point.shape[1]):
            away = _distance(point[row[k], s], middle[touched[k]])
            far[touched[k]] = max(far[touched[k]], away)
    return far


@njit(**INNER)
def _distance(a, b):
    return np.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)
