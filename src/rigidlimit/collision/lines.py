"""Straight lines of two bodies side by side: edges, and the sides of cylinders and capsules."""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .tolerances import TOLERANCES


@njit(cache=True)
def dot(x: np.ndarray, y: np.ndarray):
    """x . y of three numbers each."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@njit(**INNER)
def common_stretch(a: np.ndarray, b: np.ndarray, n: np.ndarray, point: np.ndarray, gap: np.ndarray):
    """Ends of the common stretch of lines a, b (2, 3) into point (2, 3), gap (2,); their number."""
    length = cross = other = s0 = s1 = 0.0
    for k in range(3):
        u, w = a[1, k] - a[0, k], b[1, k] - b[0, k]
        i, j = (k + 1) % 3, (k + 2) % 3
        c = (a[1, i] - a[0, i]) * (b[1, j] - b[0, j]) - (a[1, j] - a[0, j]) * (b[1, i] - b[0, i])
        length, other, cross = length + u * u, other + w * w, cross + c * c
        s0 += (b[0, k] - a[0, k]) * u
        s1 += (b[1, k] - a[0, k]) * u
    if not cross < TOLERANCES.parallel**2 * length * other:
        return 0
    s0, s1 = s0 / length, s1 / length
    low, high = max(0.0, min(s0, s1)), min(1.0, max(s0, s1))
    if high - low < TOLERANCES.common:
        return 0
    for c in range(2):
        at = low if c == 0 else high
        share = (at - s0) / (s1 - s0)
        gap[c] = 0.0
        for k in range(3):
            on_a = a[0, k] + at * (a[1, k] - a[0, k])
            on_b = b[0, k] + share * (b[1, k] - b[0, k])
            point[c, k] = 0.5 * (on_a + on_b)
            gap[c] += (on_b - on_a) * n[k]
    return 2


@njit(**INNER)
def is_line(
    corners: np.ndarray, names: np.ndarray, count: int, round_end: bool, n: np.ndarray, sign: float
):
    """Whether a line lies furthest along sign * n: one of two corners, or the edge of a face that
    is across n, if that is no round end: between the points of a rim there is no edge. Its ends
    become the first two corners, ordered by their names."""
    if count <= 2 or round_end:
        return count == 2
    first, second = -1, -1
    for c in range(count):
        if first < 0 or sign * (dot(corners[c], n) - dot(corners[first], n)) > 0:
            first, second = c, first
        elif second < 0 or sign * (dot(corners[c], n) - dot(corners[second], n)) > 0:
            second = c
    length = 0.0
    for k in range(3):
        length += (corners[first, k] - corners[second, k]) ** 2
    lower = abs(dot(corners[first], n) - dot(corners[second], n))
    neighbours = abs(first - second) in (1, count - 1)
    if not neighbours or lower > TOLERANCES.parallel * np.sqrt(length):
        return False
    if names[first] > names[second]:
        first, second = second, first
    for k in range(3):
        a, b = corners[first, k], corners[second, k]
        corners[0, k], corners[1, k] = a, b
    return True
