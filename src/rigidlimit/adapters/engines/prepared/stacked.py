"""Stacks of environments from arrays to new forces in compiled code, for ``ArrayMender``."""

import numpy as np
from numba import njit

from ...._support.compiled import INNER
from ..tolerances import TOLERANCES
from . import codes
from .columns import compacted
from .compiled import FLAT
from .shares import ENGINE, Given, Law, shared
from .sizes import tree_sizes

_TOUCHING = TOLERANCES.touching

MOST = 40_000
"""Entries of the rows of one environment, zeros included, up to which compiled code takes it."""


@njit(cache=True, nogil=True)
def mend_stack(begin, end, model, stack, numbers, law, out):
    """Environments begin to end - 1, into ``out``.

    model: held (n,) bool, mechanism (n,) int or of no size, reach and accuracy (n,). stack, of c
    contacts, each with an axis of environments of their number or 1: mask (c,), B (c, n), sliding
    (c, s, n), normal_force (c,), tangential (c, k), friction (c, k), stiffness, gap, gap_tolerance
    (c,; below zero: not given), load (n,), point (c, 3). numbers: kind of load, whether points are
    given. out, of all environments: code, force (c,), tangential (c, k), took_part (c,), rough,
    solves, residual.
    """
    mask = stack[0]
    for e in range(begin, end):
        chosen = np.flatnonzero(_of(mask, e))
        one = _one(e, chosen, model, stack, numbers)
        out[0][e] = _solved(e, chosen, one, model, numbers, law, out)


@njit(**FLAT)
def _one(e, chosen, model, stack, numbers):
    """The arrays of one environment without what its mask leaves out: dense rows (m, 1 + s, n),
    then as of ``Given``, and points."""
    _, B, sliding, force, tangential, friction, stiffness, gap, tolerance, load, point = stack
    rows = np.empty((len(chosen), 1 + sliding.shape[2], B.shape[2]))
    rows[:, 0], rows[:, 1:] = _of(B, e)[chosen], _of(sliding, e)[chosen]
    own = (
        _of(force, e)[chosen], _of(tangential, e)[chosen], _of(friction, e)[chosen],
        _of(stiffness, e)[chosen], _of(gap, e)[chosen], _of(tolerance, e)[chosen],
    )  # fmt: skip
    points = _of(point, e)[chosen] if numbers[1] else np.zeros((len(chosen), 3))
    return rows, own, _of(load, e).copy(), points


@njit(**INNER)
def _of(array, e):
    """Of one environment."""
    return array[min(e, len(array) - 1)]


@njit(**FLAT)
def _solved(e, chosen, one, model, numbers, law, out):
    """The code of one environment, whose answer is written."""
    rows, (normal, rubs, friction, stiffness, gap, tolerance), load, points = one
    held, mechanism, reach, accuracy = model
    m = len(chosen)
    out[5][e], out[6][e] = 0, 0.0
    if not _finite(rows, normal, rubs, friction, gap, load):
        return codes.NO_NUMBER
    if m == 0 and numbers[0] == ENGINE:
        return codes.SOLVED
    if m == 0:
        return codes.NOTHING_BEARS
    if rows.size > MOST:
        return codes.OTHER
    values, column, count = compacted(rows)
    if numbers[1] and tolerance[0] < 0.0:
        tree = mechanism if len(mechanism) > 0 else np.zeros(len(held), np.int64)
        centre = np.empty((m, 2, 3))
        for i in range(m):
            centre[i, 0], centre[i, 1] = points[i], points[i]
        tree_sizes(values, column, count, tree, points, centre, tolerance)
        for i in range(m):
            tolerance[i] *= _TOUCHING
    elif tolerance[0] < 0.0:
        tolerance[:] = _TOUCHING
    given = Given(
        values, column, count, normal, rubs, friction, stiffness, gap, tolerance, load,
        numbers[0], held, mechanism, reach, accuracy, 1.0 if numbers[1] else 0.0,
        np.zeros((0, 3)),
    )  # fmt: skip
    found = shared(given, Law(law[0], law[1], law[2], law[3], law[4]))
    out[4][e], out[5][e], out[6][e] = found.rough, found.solves, found.residual
    if found.code != codes.SOLVED:
        return found.code
    for i in range(m):
        c = chosen[i]
        out[1][e, c], out[3][e, c] = found.force[i], found.took_part[i]
        for k in range(rubs.shape[1]):
            out[2][e, c, k] = found.tangential[i, k]
    return found.code


@njit(**INNER)
def _finite(rows, normal, rubs, friction, gap, load):
    total = rows.sum() + normal.sum() + rubs.sum() + friction[:, :2].sum() + load.sum()
    for i in range(len(gap)):
        if gap[i] != -np.inf:  # given
            total += gap[i]
    return np.isfinite(total)
