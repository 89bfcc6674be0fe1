"""Equilibrium of few contacts in compiled code: Newton's method by contact-wise columns.

The loops are those of ``equilibrium.small_newton`` for bodies without inertia,

    w = B x,      r = g - B^T f(w),      (B^T D B + shift) dx = -r

but rows are kept with the columns that each contact moves, 6 or 12 for free bodies, and the system
is factorized within its band, which is narrow in a stack of bodies: by Cholesky's factor as long as
no contact slides, else with partial pivoting.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ...._support.compiled import INNER
from ....equilibrium.law import CompiledLaw, respond, secant_blocks, sticking_blocks
from ....equilibrium.rough_newton import SETTINGS
from .compiled import FLAT

PIVOT = 0.1
"""Part of the largest entry from which on the diagonal one serves as pivot: rows that stay in place
keep the band narrow."""


ALONE = 1e-14
"""Residual to which normal forces without friction are found, or not at all: the general path finds
them by another method, and where a motion is hardly resisted a balance to less does not decide."""

AFTER = 2
"""Steps beyond the tolerance for that."""


class Network(NamedTuple):
    """b contacts of d rows. values (b, d, c): entries of each contact; column (b, c): where these
    belong among n unknowns; count (b,): how many it has; goal (n,): load; band: largest distance of
    two columns of a contact; shift: stiffness of motions that no contact resists; apart (b,): how
    far contacts are open before they move, below zero where they press already."""

    values: np.ndarray
    column: np.ndarray
    count: np.ndarray
    goal: np.ndarray
    band: int
    shift: float
    apart: np.ndarray


class Room(NamedTuple):
    """Arrays that the loops work in: K (n, n); D here and there (b, d, d); r here and there, dx,
    x ahead (n,); w and force ahead (b, d). factored (b, d, d): the symmetric D of which K holds the
    factor, known (1,) whether there is one."""

    K: np.ndarray
    D: np.ndarray
    D2: np.ndarray
    r: np.ndarray
    r2: np.ndarray
    dx: np.ndarray
    x2: np.ndarray
    w2: np.ndarray
    force2: np.ndarray
    factored: np.ndarray
    known: np.ndarray


class Found(NamedTuple):
    """x (n,), w and force (b, d), linear systems solved, largest entry of r. stable: known to be,
    as the tangent's symmetric part is positive definite (``equilibrium.stability`` decides where it
    is not)."""

    x: np.ndarray
    w: np.ndarray
    force: np.ndarray
    solves: int
    residual: float
    stable: bool


@njit(**INNER)
def assemble(network: Network, D: np.ndarray, K: np.ndarray, lower: bool):
    """K = B^T D B + shift, within its band; of one row a contact, or three. lower: of symmetric D,
    that half alone."""
    values, column, count, goal, band, shift, _ = network
    n, d = len(goal), D.shape[1]
    for j in range(n):
        for k in range(max(0, j - band), j + 1 if lower else min(n, j + 2 * band + 1)):
            K[j, k] = 0.0
        K[j, j] = shift
    y, z = 0.0, 0.0
    for i in range(len(count)):
        if D[i, 0, 0] == 0.0:  # an open contact
            continue
        size = count[i]
        for e in range(size):
            j, last = column[i, e], e + 1 if lower else size
            x = values[i, 0, e] * D[i, 0, 0]
            if d == 1:
                for f in range(last):
                    K[j, column[i, f]] += x * values[i, 0, f]
                continue
            x += values[i, 1, e] * D[i, 1, 0] + values[i, 2, e] * D[i, 2, 0]
            y = values[i, 0, e] * D[i, 0, 1] + values[i, 1, e] * D[i, 1, 1]
            y += values[i, 2, e] * D[i, 2, 1]
            z = values[i, 0, e] * D[i, 0, 2] + values[i, 1, e] * D[i, 1, 2]
            z += values[i, 2, e] * D[i, 2, 2]
            for f in range(last):
                K[j, column[i, f]] += (
                    x * values[i, 0, f] + y * values[i, 1, f] + z * values[i, 2, f]
                )


@njit(**INNER, fastmath={"reassoc", "contract"})
def solve_symmetric(K: np.ndarray, x: np.ndarray, band: int) -> bool:
    """x := K^-1 x by a factor K = L L^T of the lower half of K, which is overwritten; False: K is
    not positive definite."""
    n = len(x)
    for i in range(n):
        first, row = max(0, i - band), K[i]
        for j in range(first, i):
            total, other = row[j], K[j]
            for k in range(max(first, j - band), j):
                total -= row[k] * other[k]
            row[j] = total * other[j]  # which holds 1 / L_jj
        total = row[i]
        for k in range(first, i):
            total -= row[k] * row[k]
        if not total > 0.0:
            return False
        row[i] = 1.0 / np.sqrt(total)
    substitute(K, x, band)
    return True


@njit(**INNER, fastmath={"reassoc", "contract"})
def substitute(K: np.ndarray, x: np.ndarray, band: int):
    """x := (L L^T)^-1 x of the factor that ``solve_symmetric`` leaves in K."""
    n = len(x)
    for i in range(n):
        total, row = x[i], K[i]
        for k in range(max(0, i - band), i):
            total -= row[k] * x[k]
        x[i] = total * row[i]
    for i in range(n - 1, -1, -1):
        row = K[i]
        x[i] *= row[i]
        for k in range(max(0, i - band), i):
            x[k] -= row[k] * x[i]


@njit(**INNER)
def _symmetric(D):
    for i in range(len(D)):
        for a in range(D.shape[1]):
            for b in range(a):
                if D[i, a, b] != D[i, b, a]:
                    return False
    return True


@njit(**INNER)
def solve_banded(K: np.ndarray, x: np.ndarray, band: int) -> bool:
    """x := K^-1 x for K (n, n) of this half band, which is overwritten; False: singular."""
    n, end = len(x), 0
    for k in range(n):
        last = min(n, k + band + 1)
        end = max(end, last)  # of row k, by the rows that came in its place
        best, most = k, abs(K[k, k])
        for i in range(k + 1, last):
            size = abs(K[i, k])
            if size > most:
                best, most = i, size
        if not most > 0.0:
            return False
        if abs(K[k, k]) < PIVOT * most:
            end = max(end, min(n, best + band + 1))
            for j in range(k, end):
                K[k, j], K[best, j] = K[best, j], K[k, j]
            x[k], x[best] = x[best], x[k]
        top = K[k]
        over = 1.0 / top[k]
        for i in range(k + 1, last):
            row = K[i]
            t = row[k] * over
            if t != 0.0:
                for j in range(k + 1, end):
                    row[j] -= t * top[j]
                x[i] -= t * x[k]
    for k in range(n - 1, -1, -1):
        total, row = x[k], K[k]
        for j in range(k + 1, min(n, k + 2 * band + 1)):
            total -= row[j] * x[j]
        x[k] = total / row[k]
    return True


@njit(**INNER)
def motions_of(network: Network, x: np.ndarray, w: np.ndarray):
    """w = B x, and how far contacts are apart, in place."""
    values, column, count = network.values, network.column, network.count
    apart = network.apart
    for i in range(w.shape[0]):
        for a in range(w.shape[1]):
            total = apart[i] if a == 0 else 0.0
            for e in range(count[i]):
                total += values[i, a, e] * x[column[i, e]]
            w[i, a] = total


@njit(**INNER)
def missing(network: Network, force: np.ndarray, r: np.ndarray) -> float:
    """r = g - B^T f, in place; returns its norm."""
    values, column, count, goal = network.values, network.column, network.count, network.goal
    for k in range(len(r)):
        r[k] = goal[k]
    for i in range(force.shape[0]):
        for a in range(force.shape[1]):
            t = force[i, a]
            if t != 0.0:
                for e in range(count[i]):
                    r[column[i, e]] -= t * values[i, a, e]
    return _size(r)


@njit(**INNER)
def _size(r):
    total = 0.0
    for k in range(len(r)):
        total += r[k] * r[k]
    return np.sqrt(total)


@njit(**INNER)
def largest(r: np.ndarray) -> float:
    """The largest |entry|; infinite if one is no number."""
    most = 0.0
    for k in range(len(r)):
        most = max(most, abs(r[k]))
        if np.isnan(r[k]):
            return np.inf
    return most


@njit(**INNER)
def _look(network, law, x, w, force, D, r):
    motions_of(network, x, w)
    respond(law, w, force, D)
    return missing(network, force, r)


@njit(**INNER)
def _step(network, D, r, room):
    """room.dx = -K^-1 r; False if K is singular. Where contacts stay as they are, D does, and K is
    factorized already: a step that takes back rounding and the shift costs a tenth."""
    K, dx, band = room.K, room.dx, network.band
    for j in range(len(r)):
        dx[j] = -r[j]
    if room.known[0] and _alike(D, room.factored):
        substitute(K, dx, band)
        return True
    lower = _symmetric(D)
    while True:
        assemble(network, D, K, lower)
        room.known[0] = False
        if not lower:
            return solve_banded(K, dx, band)
        if solve_symmetric(K, dx, band):
            _copy(D, room.factored)
            room.known[0] = True
            return True
        for j in range(len(r)):
            dx[j] = -r[j]
        lower = False


@njit(**INNER)
def _alike(D, other):
    for i in range(len(D)):
        for a in range(D.shape[1]):
            for c in range(D.shape[1]):
                if D[i, a, c] != other[i, a, c]:
                    return False
    return True


@njit(**INNER)
def _copy(D, out):
    for i in range(len(D)):
        for a in range(D.shape[1]):
            for c in range(D.shape[1]):
                out[i, a, c] = D[i, a, c]


@njit(**INNER)
def _newton(network, law, x, w, force, tolerance, iterations, room):
    """(linear systems, residual) from x, in place, as ``small_newton``; w, force, room.D and room.r
    are those of x."""
    D, D2, r, r2, dx = room.D, room.D2, room.r, room.r2, room.dx
    norm, solves = _size(r), 0
    residual = largest(r)
    least, after = tolerance if D.shape[1] > 1 else ALONE, 0
    while residual > least and solves < iterations and after < AFTER:
        if not _step(network, D, r, room):
            break
        solves += 1
        step, new = 1.0, np.inf
        after += residual <= tolerance
        for _ in range(SETTINGS.halvings + 1):
            for k in range(len(dx)):
                room.x2[k] = x[k] + step * dx[k]
            new = _look(network, law, room.x2, room.w2, room.force2, D2, r2)
            if new <= (1.0 - SETTINGS.decrease * step) * norm:
                break
            step *= 0.5
        if not new < norm:
            break
        for k in range(len(x)):
            x[k], r[k] = room.x2[k], r2[k]
        for i in range(len(w)):
            for a in range(w.shape[1]):
                w[i, a], force[i, a] = room.w2[i, a], room.force2[i, a]
        _copy(D2, D)
        norm, residual = new, largest(r)
    return solves, residual


@njit(**FLAT)
def equilibrium(
    network: Network, law: CompiledLaw, tolerance: float, iterations: int, force_size: float
) -> Found:
    """From no displacement: Newton where contacts press already; secant iterations, from all
    contacts stuck where none does, then Newton."""
    b, d = network.values.shape[0], network.values.shape[1]
    n = len(network.goal)
    room = Room(
        np.empty((n, n)), np.empty((b, d, d)), np.empty((b, d, d)), np.empty(n), np.empty(n),
        np.empty(n), np.empty(n), np.empty((b, d)), np.empty((b, d)), np.empty((b, d, d)),
        np.zeros(1, np.bool_),
    )  # fmt: skip
    x, w, force, spent = np.zeros(n), np.zeros((b, d)), np.zeros((b, d)), 0
    first = _look(network, law, x, w, force, room.D, room.r)
    bears = force.any()
    if bears:
        spent, residual = _newton(network, law, x, w, force, tolerance, iterations, room)
        if residual <= tolerance:
            return Found(x, w, force, spent, residual, _stable(network, room))
        x[:] = 0.0
        first = _look(network, law, x, w, force, room.D, room.r)
    for k in range(SETTINGS.secants):
        if bears or k > 0:
            room.D[:] = 0.0
            secant_blocks(law, w, force, room.D)
        else:
            sticking_blocks(law, force_size, room.D)
        if not _step(network, room.D, room.r, room):
            return Found(x, w, force, spent, np.inf, True)
        spent += 1
        for j in range(n):
            x[j] += room.dx[j]
        norm = _look(network, law, x, w, force, room.D, room.r)
        if not norm < SETTINGS.runaway * first:
            return Found(x, w, force, spent, np.inf, True)
        if norm <= SETTINGS.near * first:
            break
    more, residual = _newton(network, law, x, w, force, tolerance, iterations, room)
    return Found(x, w, force, spent + more, residual, _stable(network, room))


@njit(**INNER)
def _stable(network, room):
    """Whether the symmetric part of K = B^T D B is positive definite. D is overwritten."""
    D = room.D
    if _symmetric(D):
        return True
    for i in range(len(D)):
        for a in range(D.shape[1]):
            for b in range(a):
                mean = 0.5 * (D[i, a, b] + D[i, b, a])
                D[i, a, b], D[i, b, a] = mean, mean
    assemble(network, D, room.K, _symmetric(D))
    room.dx[:] = 0.0
    return solve_symmetric(room.K, room.dx, network.band)
