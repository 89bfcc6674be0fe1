"""Rows and forces of MuJoCo's constraints in compiled code, as ``engines.mujoco_rows`` and
``engines.mujoco_state`` have them."""

import numpy as np
from numba import njit

from ...._support.compiled import INNER
from ..mujoco_state import off_law
from ..tolerances import TOLERANCES

_SAME = TOLERANCES.same_state


@njit(**INNER)
def spans_of(geom, row, geom_body, body_tree, body_column, tree):
    """Columns (m, 4) of the trees of both sides of contacts ``row`` (m,) of geom (ncon, 2): from
    a to b and from c to d, which are of no length for what cannot move, or what is of the same
    tree."""
    out = np.zeros((len(row), 4), np.int64)
    for i in range(len(row)):
        for side in range(2):
            b = geom_body[geom[row[i], side]]
            if body_tree[b] >= 0:
                stop = body_column[b]
                while stop < len(tree) and tree[stop] == body_tree[b]:
                    stop += 1
                out[i, 2 * side], out[i, 2 * side + 1] = body_column[b], stop
        if out[i, 1] > 0 and out[i, 2] == out[i, 0]:
            out[i, 3] = out[i, 2]
        elif out[i, 3] > 0 and out[i, 2] < out[i, 0]:
            a, b = out[i, 0], out[i, 1]
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = out[i, 2], out[i, 3], a, b
    return out


@njit(**INNER)
def columns_moved(efc, first, dim, pyramidal, sparse, n, spans):
    """Columns (m, n) and count (m,) that each contact moves, and the largest count. spans (m, 4):
    of ``spans_of``."""
    m, widest = len(first), 1
    count, column, last = np.zeros(m, np.int64), np.empty((m, n), np.int64), np.full(n, -1)
    J, length, begin, of_entry = efc[0], efc[1], efc[2], efc[3]
    for i in range(m):
        a, size = first[i], 0
        edges = 2 * (dim[i] - 1) if pyramidal[i] else dim[i]
        if sparse:
            for k in range(a, a + edges):
                for e in range(begin[k], begin[k] + length[k]):
                    j = of_entry[e]
                    if last[j] != i:
                        last[j] = i
                        at = size  # in ascending order
                        while at > 0 and column[i, at - 1] > j:
                            column[i, at] = column[i, at - 1]
                            at -= 1
                        column[i, at] = j
                        size += 1
        else:
            for side in range(2):
                for j in range(spans[i, 2 * side], spans[i, 2 * side + 1]):
                    for k in range(a, a + edges):
                        if J[k * n + j] != 0.0:
                            column[i, size] = j
                            size += 1
                            break
        count[i] = size
        widest = max(widest, size)
    return column[:, :widest].copy(), count, widest


@njit(**INNER)
def fill_rows(efc, first, dim, friction, pyramidal, sparse, column, count, n, values):
    """Rows of B and T, contact by contact, into values (m, 1 + s, c), which are zero."""
    J, length, begin, of_entry = efc[0], efc[1], efc[2], efc[3]
    place = np.empty(n, np.int64)
    for i in range(len(first)):
        a, size = first[i], count[i]
        edged = pyramidal[i]
        for e in range(size):
            place[column[i, e]] = e
        for k in range(2 * (dim[i] - 1) if edged else dim[i]):
            # of edges: to the normal row from the first two, and to the row of their direction
            out, part, along = k, 1.0, 0.0
            if edged:
                out, part = 1 + k // 2, (0.5 if k % 2 == 0 else -0.5) / friction[i, k // 2]
                along = 0.5 if k < 2 else 0.0
            if sparse:
                for e in range(begin[a + k], begin[a + k] + length[a + k]):
                    at = place[of_entry[e]]
                    values[i, out, at] += part * J[e]
                    values[i, 0, at] += along * J[e]
            else:
                for e in range(size):
                    value = J[(a + k) * n + column[i, e]]
                    values[i, out, e] += part * value
                    values[i, 0, e] += along * value


@njit(**INNER, fastmath={"reassoc", "contract"})
def _products(efc, state, sparse, passed, moved, smooth):
    """passed (n,) = J^T f, moved = J qacc and smooth = J qacc_smooth, (rows,), in place."""
    J, length, begin, of_entry, force = efc[0], efc[1], efc[2], efc[3], efc[4]
    acceleration, free, n = state[1], state[2], len(passed)
    for k in range(len(force)):
        f, now, before = force[k], 0.0, 0.0
        if sparse:
            for e in range(begin[k], begin[k] + length[k]):
                j = of_entry[e]
                now += J[e] * acceleration[j]
                before += J[e] * free[j]
                passed[j] += J[e] * f
        else:
            row = J[k * n : (k + 1) * n]
            for j in range(n):
                now += row[j] * acceleration[j]
                before += row[j] * free[j]
            if f != 0.0:
                for j in range(n):
                    passed[j] += row[j] * f
        moved[k], smooth[k] = now, before


@njit(**INNER)
def engine_residual(efc, state, first, dim, friction, pyramidal, sparse, mu, row, noslip):
    """(whether rows and forces are of one state, how far MuJoCo's forces are off its equations)."""
    force, aref, b, D = efc[4], efc[7], efc[8], efc[9]
    passed, moved, smooth = np.zeros(len(state[0])), np.empty(len(force)), np.empty(len(force))
    _products(efc, state, sparse, passed, moved, smooth)
    off, size = 0.0, 0.0
    for k in range(len(force)):
        missing = abs(smooth[k] - aref[k] - b[k])
        if not missing <= np.inf:  # no number
            return False, np.nan
        off, size = max(off, missing), max(size, abs(b[k]))
    if not off / (size if size > 0.0 else 1.0) <= _SAME:
        return False, np.nan
    off, size = 0.0, 0.0
    for j in range(len(passed)):
        off = max(off, abs(state[4][j] - state[3][j] - passed[j]))
        size = max(size, abs(passed[j]), abs(state[4][j]))
    balance = off / (size if size > 0.0 else 1.0)
    if noslip:
        return True, balance
    of_contact = np.empty(len(row))
    for k in range(len(force)):
        moved[k] -= aref[k]
    for i in range(len(row)):
        of_contact[i] = mu[row[i]]
    law = off_law(moved, D, force, (first, dim, pyramidal, friction), of_contact)
    return True, max(balance, law)
