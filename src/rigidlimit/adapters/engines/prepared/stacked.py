"""Stacks of environments from arrays to new forces in compiled code, for ``ArrayMender``."""

import numpy as np
from numba import njit

from ..tolerances import TOLERANCES
from . import codes
from .columns import compacted
from .compiled import FLAT, INNER
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
        own = mask[min(e, len(mask) - 1)]
        chosen = np.flatnonzero(own)
        one = _one(e, chosen, model, stack, numbers)
        out[0][e] = _solved(e, chosen, one, model, numbers, law, out)


@njit(**FLAT)
def _one(e, chosen, model, stack, numbers):
    """The arrays of one environment without what its mask leaves out: dense rows (m, 1 + s, n),
    then as of ``Given``, and points."""
    _, B, sliding, force, tangential, friction, stiffness, gap, tolerance, load, point = stack
    m, s, n, k = len(chosen), sliding.shape[2], B.shape[2], tangential.shape[2]
    own_rows = np.empty((m, 1 + s, n))
    own = np.empty(m), np.empty((m, k)), np.empty((m, k)), np.empty(m), np.empty(m), np.empty(m)
    points = np.zeros((m, 3))
    for i in range(m):
        c = chosen[i]
        for j in range(n):
            own_rows[i, 0, j] = B[min(e, len(B) - 1), c, j]
        for a in range(s):
            for j in range(n):
                own_rows[i, 1 + a, j] = sliding[min(e, len(sliding) - 1), c, a, j]
        own[0][i] = force[min(e, len(force) - 1), c]
        for a in range(k):
            own[1][i, a] = tangential[min(e, len(tangential) - 1), c, a]
            own[2][i, a] = friction[min(e, len(friction) - 1), c, a]
        own[3][i] = stiffness[min(e, len(stiffness) - 1), c]
        own[4][i] = gap[min(e, len(gap) - 1), c]
        own[5][i] = tolerance[min(e, len(tolerance) - 1), c]
        if numbers[1]:
            for a in range(3):
                points[i, a] = point[min(e, len(point) - 1), c, a]
    own_load = np.zeros(n)
    for j in range(n):
        own_load[j] = load[min(e, len(load) - 1), j]
    return own_rows, own, own_load, points


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
    total = 0.0
    for i in range(len(rows)):
        total += normal[i]
        for a in range(rows.shape[1]):
            for j in range(rows.shape[2]):
                total += rows[i, a, j]
        for k in range(rubs.shape[1]):
            total += rubs[i, k]
        for k in range(min(2, friction.shape[1])):
            total += friction[i, k]
        if gap[i] != -np.inf:  # given
            total += gap[i]
    for j in range(len(load)):
        total += load[j]
    return np.isfinite(total)
