"""Newton and secant starts for the networks of ``dense``, compiled.

The loops are those of ``newton`` and ``solve``, which serve sparse systems of any size: a system of
few contacts is solved in less time than Python takes to call its solver.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..linear.lapack import routine
from .law import CompiledLaw, respond, secant_blocks, sticking_blocks
from .rough_newton import SETTINGS

_dgetrf = routine("cython_lapack", "dgetrf", 6)
_dgetrs = routine("cython_lapack", "dgetrs", 9)

NOT_TURNED = np.frombuffer(b"N", np.uint8)

WAYS = "newton", "secant"


class SmallNetwork(NamedTuple):
    """r = a x - U f - c, with Newton's systems (a + shift) + U D L: out (m d, n) is U^T, rows
    (m d, n) L, empty for L = 1; c (n,)."""

    a: float
    shift: float
    rows: np.ndarray
    out: np.ndarray
    c: np.ndarray


class Problem(NamedTuple):
    """w = L x + offset, offset (m, d); unit (n,): of residuals."""

    network: SmallNetwork
    offset: np.ndarray
    law: CompiledLaw
    unit: np.ndarray


class Point(NamedTuple):
    """x (n,), w and force (m, d), which loops move on in place."""

    x: np.ndarray
    w: np.ndarray
    force: np.ndarray


@njit(**INNER)
def _answer(D, out, first, b, g):
    """g = U D e_b: what an approach of one contact along its row b adds to r."""
    g[:] = 0.0
    for a in range(len(D)):
        t = D[a, b]
        if t != 0.0:
            row = out[first + a]
            for k in range(len(g)):
                g[k] += t * row[k]


@njit(cache=True, nogil=True)
def assemble(a: float, rows: np.ndarray, out: np.ndarray, D: np.ndarray, K: np.ndarray):
    """The transpose of a + U D L."""
    m, d, n = D.shape[0], D.shape[1], len(K)
    g = np.empty(n)
    K[:] = 0.0
    for k in range(n):
        K[k, k] = a
    for i in range(m):
        if D[i, 0, 0] == 0.0:  # an open contact
            continue
        for b in range(d):
            _answer(D[i], out, d * i, b, g)
            if rows.size == 0:
                K[d * i + b] += g
                continue
            for k in range(n):
                t = rows[d * i + b, k]
                if t != 0.0:
                    row = K[k]
                    for j in range(n):
                        row[j] += t * g[j]


@njit(**INNER)
def _lapack_solve(K, x, size, pivots):
    """x := A^-1 x, where K holds the transpose of A (size, size) row by row; False: singular."""
    sizes = np.array([size, 1, 0], np.int32)
    n, one, wrong = sizes[0:1], sizes[1:2], sizes[2:3]
    _dgetrf(n.ctypes, n.ctypes, K.ctypes, n.ctypes, pivots.ctypes, wrong.ctypes)
    if wrong[0] != 0:
        return False
    letter = NOT_TURNED[0:1]
    _dgetrs(
        letter.ctypes, n.ctypes, one.ctypes, K.ctypes, n.ctypes, pivots.ctypes, x.ctypes,
        n.ctypes, wrong.ctypes,
    )  # fmt: skip
    return True


@njit(**INNER)
def _room_for(m, d, n):
    """Arrays that the loops work in: for linear systems, D, r and dx here, and D and r there."""
    system = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n, np.int32)
    here = np.empty((m, d, d)), np.empty(n), np.empty(n)
    there = np.empty((m, d, d)), np.empty(n)
    return system, here, there


@njit(cache=True, nogil=True)
def _step(network, D, r, dx, room):
    """dx = -(a + U D L)^-1 r; False if singular."""
    a, shift, rows, out, c = network
    a += shift
    for k in range(len(c)):
        dx[k] = -r[k]
    if rows.size == 0:
        return _step_of_forces(a, out, D, dx, room)
    K, _, _, pivots = room
    assemble(a, rows, out, D, K)
    return _lapack_solve(K, dx, len(c), pivots)


@njit(**INNER)
def _step_of_forces(a, out, D, dx, room):
    """dx := (a + U D)^-1 dx, in place; False if singular. Only the columns of contacts that answer
    differ from those of a."""
    K, answer, part, pivots = room
    n, d = len(dx), D.shape[1]
    size = np.int64(0)  # a kernel that takes a constant is compiled for it too
    for i in range(len(D)):
        if D[i, 0, 0] != 0.0:
            for b in range(d):
                _answer(D[i], out, d * i, b, answer[size])
                part[size] = dx[d * i + b]
                size += 1
    flat, k = K.reshape(-1), 0
    for p in range(size):
        for i in range(len(D)):
            if D[i, 0, 0] != 0.0:
                for b in range(d):
                    flat[k] = answer[p, d * i + b]
                    k += 1
        flat[p * size + p] += a
    if size > 0 and not _lapack_solve(K, part, size, pivots):
        return False
    for p in range(size):
        for k in range(n):
            dx[k] -= part[p] * answer[p, k]
    size = 0
    for i in range(len(D)):
        for b in range(d):
            if D[i, 0, 0] != 0.0:
                dx[d * i + b] = part[size]
                size += 1
            else:
                dx[d * i + b] /= a
    return True


@njit(**INNER)
def step_for(
    network: SmallNetwork, D: np.ndarray, b: np.ndarray, dx: np.ndarray, room: tuple
) -> bool:
    """dx = (a + U D L)^-1 U b; False if singular."""
    d, out = D.shape[1], network[3]
    r = np.zeros(len(dx))
    for i in range(len(D)):
        for c in range(d):
            if b[i, c] != 0.0:
                row = out[d * i + c]
                for k in range(len(r)):
                    r[k] -= b[i, c] * row[k]
    return _step(network, D, r, dx, room)


@njit(cache=True, nogil=True)
def displacement(rows: np.ndarray, offset: np.ndarray, x: np.ndarray, w: np.ndarray):
    """w = L x + offset, in place."""
    m, d = w.shape
    for i in range(m):
        for b in range(d):
            total = offset[i, b]
            if rows.size == 0:
                total += x[d * i + b]
            else:
                row = rows[d * i + b]
                for k in range(len(x)):
                    total += row[k] * x[k]
            w[i, b] = total


@njit(cache=True, nogil=True)
def balance(network: SmallNetwork, x: np.ndarray, force: np.ndarray, r: np.ndarray) -> float:
    """r = a x - U f - c; returns its norm."""
    a, _, _, out, c = network
    m, d = force.shape
    for k in range(len(r)):
        r[k] = a * x[k] - c[k]
    for i in range(m):
        for b in range(d):
            t, row = force[i, b], out[d * i + b]
            if t != 0.0:
                for k in range(len(r)):
                    r[k] -= t * row[k]
    total = 0.0
    for k in range(len(r)):
        total += r[k] * r[k]
    return np.sqrt(total)


@njit(**INNER)
def _size(r, unit):
    largest = 0.0
    for k in range(len(r)):
        largest = max(largest, abs(r[k] / unit[k]))
        if np.isnan(r[k]):
            return np.inf
    return largest


@njit(**INNER)
def _look(problem, at, D, r):
    """w, force, D and r at ``at.x``, in place; returns the norm of r."""
    displacement(problem.network.rows, problem.offset, at.x, at.w)
    respond(problem.law, at.w, at.force, D)
    return balance(problem.network, at.x, at.force, r)


@njit(**INNER)
def _newton(problem, at, tolerance, iterations, room):
    """(linear systems, residual), as ``rough_newton.newton``."""
    system, (D, r, dx), (D2, r2) = room
    ahead = Point(np.empty_like(at.x), np.empty_like(at.w), np.empty_like(at.force))
    norm, solves = _look(problem, at, D, r), 0
    residual = _size(r, problem.unit)
    while residual > tolerance and solves < iterations:
        if not _step(problem.network, D, r, dx, system):
            break
        solves += 1
        step, new = 1.0, np.inf
        for _ in range(SETTINGS.halvings + 1):
            for k in range(len(dx)):
                ahead.x[k] = at.x[k] + step * dx[k]
            new = _look(problem, ahead, D2, r2)
            if new <= (1.0 - SETTINGS.decrease * step) * norm:
                break
            step *= 0.5
        if not new < norm:
            break
        at.x[:], at.w[:], at.force[:], D[:], r[:] = ahead.x, ahead.w, ahead.force, D2, r2
        norm, residual = new, _size(r, problem.unit)
    return solves, residual


@njit(cache=True, nogil=True)
def equilibrium(
    problem: Problem, at: Point, tolerance: float, iterations: int, force_size: float, secants: int
) -> tuple[int, float, int]:
    """(linear systems, residual, way) from the start ``at.x``, as ``solve.solve`` before its path.
    way: 0 Newton from x, 1 from the end of so many secants at most."""
    room = _room_for(at.w.shape[0], at.w.shape[1], len(at.x))
    system, (D, r, dx), _ = room
    start, spent = at.x.copy(), 0
    norm = _look(problem, at, D, r)
    bears = at.force.any()
    if bears or secants == 0:
        spent, residual = _newton(problem, at, tolerance, iterations, room)
        if residual <= tolerance or secants == 0:
            return spent, residual, 0
        at.x[:] = start
        norm = _look(problem, at, D, r)
    first = norm
    for k in range(secants):
        if bears or k > 0:
            D[:] = 0.0
            secant_blocks(problem.law, at.w, at.force, D)
        else:
            sticking_blocks(problem.law, force_size, D)
        if not _step(problem.network, D, r, dx, system):
            return spent, np.inf, 1
        spent += 1
        at.x[:] += dx
        norm = _look(problem, at, D, r)
        if not norm < SETTINGS.runaway * first:
            return spent, np.inf, 1
        if norm <= SETTINGS.near * first:
            break
    more, residual = _newton(problem, at, tolerance, iterations, room)
    return spent + more, residual, 1
