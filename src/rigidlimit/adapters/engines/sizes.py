"""How far the contacts of each body or mechanism reach.

That is the length by which turns compare with displacements. What is far away says nothing of a
body: with a length of the whole scene the turns of a millimetre's part were noise as soon as
another stood ten kilometres from it. For a mechanism with contacts i at the points x_i (one on each
side) and centres c_i of what they touch,

    size = max( max |x_i - mean x|, max min over sides |x_i - c_i| )   [m]

the second for bodies whose contacts lie close together.
"""

import numpy as np
from numba import njit

from .matrices import compressed, numbered


def mechanism_sizes(B, mechanism, geometry):
    """(n,) for each column of B the size of its mechanism, (m,) for each row the smallest of those
    it joins; both [m].

    B (m, n); mechanism (n,) int; geometry: of the rows. Where a mechanism's contacts and centres
    are all one point, or it has none: ``geometry.size``.
    """
    label = numbered(mechanism)
    row, count = compressed(B), int(label.max(initial=-1)) + 1
    point, centre = _points(geometry), geometry.centre
    centre = point[:0] if centre is None else np.ascontiguousarray(centre, float)
    size = _sizes(*row, label, count, point, centre)
    known = (size > 0.0) & (size < np.inf)
    if not known.all():
        size[~known] = geometry.size
    smallest = _least_of_rows(*row, label, size)
    alone = smallest == np.inf
    if alone.any():
        smallest[alone] = geometry.size
    return size[label], smallest


def mechanism_distances(B, mechanism, geometry):
    """(n,) for each column of B how far its mechanism's contacts are from the origin [m]."""
    label = numbered(mechanism)
    far = np.linalg.norm(_points(geometry), axis=2).max(axis=1)
    values, column, ends = compressed(B)
    row = np.repeat(np.arange(B.shape[0]), np.diff(ends))
    most = np.zeros(int(label.max(initial=-1)) + 1)
    np.maximum.at(most, label[column], np.where(values != 0.0, far[row], 0.0))
    return most[label]


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


def _points(geometry):
    """(m, 1 or 2, 3): of the contacts, or of both of their sides."""
    point = np.ascontiguousarray(geometry.point, float)
    return point if point.ndim == 3 else point.reshape(len(point), 1, 3)


@njit(cache=True)
def _sizes(values, column, ends, label, count, point, centre):
    """Size (count,) of each mechanism, 0 or infinite where that is not known. Rows compressed;
    point (m, 1 or 2, 3); centre (m, 2, 3), or of no rows."""
    m, sides = point.shape[0], point.shape[1]
    middle, number = np.zeros((count, 3)), np.zeros(count)
    size, last = np.zeros(count), np.full(count, -1)
    for i in range(m):
        for e in range(ends[i], ends[i + 1]):
            p = label[column[e]]
            if values[e] == 0.0 or last[p] == i:
                continue
            last[p] = i
            number[p] += sides
            for s in range(sides):
                for k in range(3):
                    middle[p, k] += point[i, s, k]
    last[:] = -1
    for i in range(m):
        arm = np.inf
        for s in range(2 if len(centre) else 0):
            away = 0.0
            for k in range(3):
                away += (point[i, min(s, sides - 1), k] - centre[i, s, k]) ** 2
            if away < arm:  # not for one that is no number
                arm = away
        for e in range(ends[i], ends[i + 1]):
            p = label[column[e]]
            if values[e] == 0.0 or last[p] == i:
                continue
            last[p] = i
            if len(centre):
                size[p] = max(size[p], arm)
            for s in range(sides):
                away = 0.0
                for k in range(3):
                    away += (point[i, s, k] - middle[p, k] / number[p]) ** 2
                size[p] = max(size[p], away)
    return np.sqrt(size)


@njit(cache=True)
def _least_of_rows(values, column, ends, label, size):
    """The least size of the mechanisms that each row joins, (m,); infinite for none."""
    least = np.full(len(ends) - 1, np.inf)
    for i in range(len(least)):
        for e in range(ends[i], ends[i + 1]):
            if values[e] != 0.0:
                least[i] = min(least[i], size[label[column[e]]])
    return least
