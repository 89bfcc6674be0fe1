"""x = L^-T L^-1 b with the dense fronts of a factor, for several right sides at a time.

L is one array ``values``; each front's L_PP (k, k) and L_RP (r, k) lie in it column by column, one
after the other (``multifrontal.py``). It is far larger than a cache: one right side takes as long
as reading it twice, several together hardly longer each than a quarter of that. Loops run over four
columns and two right sides, flat and side by side in memory: that is what vectorizes. One right
side takes rounded factors (single precision) column by column: one stream is read faster than four
short ones.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER

SHORT = 48
"""Largest number of columns of a front that are taken one by one on the way down, for one
right-hand side."""


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, inline="always")
def _less_products(columns, by, out, length, sides):
    """Less four columns of ``values`` times four factors each, two right sides at a time.

    columns, by, out: (array, first entry, stride), all flat, so that the loops run over neighbours
    in memory. Column j: the ``length`` entries from at + j stride on; its factor for right side e:
    factors[f + e f_stride + j]; what it is taken from: to[o + e o_stride] and on.
    """
    (values, at, stride), (factors, f, f_stride), (to, o, o_stride) = columns, by, out
    a, b = values[at : at + length], values[at + stride : at + stride + length]
    at += 2 * stride
    c, d = values[at : at + length], values[at + stride : at + stride + length]
    for _ in range(sides // 2):
        g = f + f_stride
        s, t, u, v = factors[f], factors[f + 1], factors[f + 2], factors[f + 3]
        p, q, y, z = factors[g], factors[g + 1], factors[g + 2], factors[g + 3]
        one, two = to[o : o + length], to[o + o_stride : o + o_stride + length]
        for i in range(length):
            one[i] -= a[i] * s + b[i] * t + c[i] * u + d[i] * v
            two[i] -= a[i] * p + b[i] * q + c[i] * y + d[i] * z
        f += 2 * f_stride
        o += 2 * o_stride
    if sides % 2:
        s, t, u, v = factors[f], factors[f + 1], factors[f + 2], factors[f + 3]
        one = to[o : o + length]
        for i in range(length):
            one[i] -= a[i] * s + b[i] * t + c[i] * u + d[i] * v


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, inline="always")
def _less_dots(columns, by, out, length, sides):
    """The same columns' products with ``length`` factors each, from four neighbours of ``out``."""
    (values, at, stride), (factors, f, f_stride), (to, o, o_stride) = columns, by, out
    a, b = values[at : at + length], values[at + stride : at + stride + length]
    at += 2 * stride
    c, d = values[at : at + length], values[at + stride : at + stride + length]
    for _ in range(sides):
        known = factors[f : f + length]
        s = t = u = v = 0.0
        for i in range(length):
            s += a[i] * known[i]
            t += b[i] * known[i]
            u += c[i] * known[i]
            v += d[i] * known[i]
        to[o] -= s
        to[o + 1] -= t
        to[o + 2] -= u
        to[o + 3] -= v
        f += f_stride
        o += o_stride


@njit(cache=True, nogil=True, inline="always")
def _grouped(values, k, sides):
    """How many of the k columns of L_RP are taken four at a time."""
    return 0 if sides == 1 and values.itemsize == 4 else k - k % 4


@njit(**INNER, fastmath={"reassoc", "contract"})
def _down(values, begin, own, k, change, r, sides):
    """own = L_PP^-1 own, change -= L_RP own. own (sides, k) and change (sides, r), flat."""
    few = sides == 1 and k < SHORT  # quicker by single columns
    for j in range(k):
        group = k if few else min(j - j % 4 + 4, k)
        at = begin + j * k
        for e in range(sides):
            below, down = own[e * k + j : e * k + group], values[at + j : at + group]
            t = below[0] / down[0]
            below[0] = t
            for i in range(1, len(down)):
                below[i] -= down[i] * t
        if j % 4 == 3 and group < k:
            first = j - 3
            at = begin + first * k + group
            _less_products((values, at, k), (own, first, k), (own, group, k), k - group, sides)
    grouped = _grouped(values, k, sides)
    for first in range(0, grouped, 4):
        at = begin + k * k + first * r
        _less_products((values, at, r), (own, first, k), (change, 0, r), r, sides)
    for j in range(grouped, k):
        column = values[begin + k * k + j * r : begin + k * k + (j + 1) * r]
        for e in range(sides):
            t, one = own[e * k + j], change[e * r : (e + 1) * r]
            for i in range(r):
                one[i] -= column[i] * t


@njit(**INNER, fastmath={"reassoc", "contract"})
def _up(values, begin, own, k, known, r, sides):
    """own = L_PP^-T (own - L_RP^T known). own (sides, k) and known (sides, r), flat."""
    grouped = _grouped(values, k, sides)
    for j in range(grouped, k):
        column = values[begin + k * k + j * r : begin + k * k + (j + 1) * r]
        for e in range(sides):
            t, one = 0.0, known[e * r : (e + 1) * r]
            for i in range(r):
                t += column[i] * one[i]
            own[e * k + j] -= t
    for first in range(0, grouped, 4):
        at = begin + k * k + first * r
        _less_dots((values, at, r), (known, 0, r), (own, first, k), r, sides)
    for j in range(k - 1, -1, -1):
        group = min(j - j % 4 + 4, k)
        if j % 4 == 3 and group < k:
            first = j - 3
            at = begin + first * k + group
            _less_dots((values, at, k), (own, group, k), (own, first, k), k - group, sides)
        at = begin + j * k
        for e in range(sides):
            below, down = own[e * k + j : e * k + group], values[at + j : at + group]
            t = below[0]
            for i in range(1, len(down)):
                t -= down[i] * below[i]
            below[0] = t / down[0]


@njit(cache=True, nogil=True)
def substitute(
    values: np.ndarray,
    fronts: np.ndarray,
    panels: tuple[np.ndarray, ...],
    low: int,
    x: np.ndarray,
    upwards: bool,
):
    """x[e] = L^-1 x[e] in place for right sides e, or L^-T x[e] if ``upwards``, as far as these
    ``fronts`` lead, ascending. Places are in the order of elimination, less ``low``; those of rows
    as ``x`` has them.

    Fronts that no right side reaches on its way to the root are passed over: those of a single
    contact reach few.
    """
    begins, column, row_starts, rows = panels
    sides, count = len(x), len(fronts)
    most = 0
    for s in fronts:
        most = max(most, row_starts[s + 1] - row_starts[s], column[s + 1] - column[s])
    own, other = np.empty(sides * most), np.empty(sides * most)
    for at in range(count):
        s = fronts[count - 1 - at] if upwards else fronts[at]
        begin, k = column[s] - low, column[s + 1] - column[s]
        mine = rows[row_starts[s] : row_starts[s + 1]]
        r = len(mine)
        reached = upwards
        for e in range(sides):  # slices compile for seconds
            for i in range(k):
                own[e * k + i] = x[e, begin + i]
                reached |= own[e * k + i] != 0.0
        if not reached:
            continue
        if upwards:
            for e in range(sides):
                for i in range(r):
                    other[e * r + i] = x[e, mine[i]]
            _up(values, begins[s], own, k, other, r, sides)
        else:
            for i in range(sides * r):
                other[i] = 0.0
            _down(values, begins[s], own, k, other, r, sides)
            for e in range(sides):
                for i in range(r):
                    x[e, mine[i]] += other[e * r + i]
        for e in range(sides):
            for i in range(k):
                x[e, begin + i] = own[e * k + i]
