"""Small networks of rough contacts: Newton, secant starts and multipliers, dense and compiled.

    w = L x + offset,        r = a x - U f - c,        (a + U D L) dx = -r

with the unknowns x (n,): the Delassus matrix alone (L = 1, U = W, a = 1), bodies with inertia in
their velocities (L = B, U = M^-1 B^T, a = 1) or without it in their displacements (L = B,
U = B^T, a = 0). The loops are those of ``newton``, ``solve`` and
``multipliers``, which serve sparse systems of any size.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.linalg import lapack

from ..network.lapack import routine
from .law import ContactLaw, respond, secant_blocks, sticking_blocks
from .mechanics import Bodies
from .newton import DECREASE, HALVINGS, NEAR, RUNAWAY, SECANTS, Solution

_dgetrf = routine("cython_lapack", "dgetrf", 6)
_dgetrs = routine("cython_lapack", "dgetrs", 9)

NOT_TURNED = np.frombuffer(b"N", np.uint8)

WAYS = "newton", "secant"


CONVERGED, EXHAUSTED, UNSOLVED = 0, 1, 2
"""What ``ahead`` ends with: at the tolerance; out of iterations or of softer springs; at an inner
problem that Newton did not solve."""


SMALL = 150
"""Degrees of freedom up to which dense systems in compiled loops are faster than sparse ones."""


def between_bodies(B, g, d: int, *, M=None, inverse=None, offset=None, shift=0.0, unit=1.0):
    """``Bodies`` of these arguments, or the same as ``Dense`` where it is small; B may be a plain
    array."""
    if not isinstance(B, np.ndarray):
        if B.shape[1] > SMALL:
            return Bodies(B, g, d, M=M, inverse=inverse, offset=offset, shift=shift, unit=unit)
        B = B.toarray()
    if M is None:
        return Dense(B, g, d, rows=B, offset=offset, a=0.0, shift=shift, unit=unit)
    unit = unit * inverse.diagonal()
    return Dense(B @ inverse, inverse @ g, d, rows=B, offset=offset, unit=unit)


class Dense:
    """``mechanics.Mechanics`` of such a network.

    out (m d, n): U^T, what unit forces do to r, contact by contact; rows (m d, n): L, or None for
    L = 1; c (n,); offset (m, d) or None; a: 1 or 0. unit: of residuals, a number or (n,). shift:
    stiffness, far below all others, of motions that no contact resists, where a = 0.
    """

    def __init__(self, out, c, d: int, *, rows=None, offset=None, a=1.0, shift=0.0, unit=1.0):
        self.out = np.ascontiguousarray(out, float)
        self.rows = np.empty((0, 0)) if rows is None else np.ascontiguousarray(rows, float)
        self.shape = (len(self.out) // d, d)
        self.c = np.ascontiguousarray(c, float)
        self.offset = np.zeros(self.shape) if offset is None else offset
        self.a, self.shift = float(a), float(shift)
        self.unit = np.broadcast_to(np.asarray(unit, float), self.c.shape)

    @classmethod
    def delassus(cls, W, q, d: int) -> "Dense":
        """The contacts alone: w = W f + q with W (m d, m d), dense or sparse, and q (m d,)."""
        W = W.toarray() if sp.issparse(W) else np.asarray(W)
        return cls(W.T, q, d, unit=float(np.abs(q).max(initial=0.0)) or 1.0)

    @property
    def network(self):
        """What compiled code takes."""
        return self.a, self.shift, self.rows, self.out, self.c

    def shifted(self, lead) -> "Dense":
        """The same with displacements less ``lead`` (m, d)."""
        other = object.__new__(Dense)
        other.__dict__.update(self.__dict__, offset=self.offset - lead)
        return other

    def start(self, force):
        if self.a == 0.0:
            return np.zeros(len(self.c))
        return force.ravel() @ self.out + self.c

    def size(self, r):
        return float(np.abs(r / self.unit).max(initial=0.0))

    def change(self, dx):
        return (self.rows @ dx if self.rows.size else dx).reshape(self.shape)

    def displacement(self, x):
        return self.change(x) + self.offset

    def residual(self, x, force):
        return self.a * x - force.ravel() @ self.out - self.c

    def factorize(self, D):
        D = np.ascontiguousarray(D)
        K = np.empty((len(self.c), len(self.c)))
        _assemble(self.a + self.shift, self.rows, self.out, D, K)
        # stored row by row is the transpose stored column by column
        lu, pivots, wrong = lapack.dgetrf(K.T, overwrite_a=True)
        if wrong > 0 or not np.isfinite(K[0, 0] + lu[-1, -1]):
            raise np.linalg.LinAlgError("singular matrix")

        def solve(r, b=None, accuracy=None):
            rhs = -r if b is None else b.ravel() @ self.out - r
            return lapack.dgetrs(lu, pivots, rhs)[0]

        return solve

    def equilibrium(self, law: ContactLaw, x, tolerance, iterations, force_size):
        """(solution, way) of ``equilibrium`` from the start x."""
        x = np.array(x, float)
        w, force = np.empty(self.shape), np.empty(self.shape)
        solves, residual, by_secant = equilibrium(
            self.network, self.offset, law.compiled, self.unit, x, w, force, float(tolerance),
            iterations, float(force_size),
        )  # fmt: skip
        found = Solution(x, force, w, residual, solves, residual <= tolerance)
        return found, WAYS[by_secant]


@njit(cache=True, nogil=True)
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
def _assemble(a, rows, out, D, K):
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _room(m, d, n):
    """Arrays that the loops work in."""
    system = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n, np.int32)
    here = np.empty((m, d, d)), np.empty(n), np.empty(n)
    there = np.empty(n), np.empty((m, d)), np.empty((m, d)), np.empty((m, d, d)), np.empty(n)
    return system, here, there


@njit(cache=True, nogil=True)
def _step(network, D, r, dx, room):
    """dx = -(a + U D L)^-1 r; False if singular."""
    a, shift, rows, out, c = network
    a += shift
    K, answer, part, pivots = room
    n, d = len(c), D.shape[1]
    for k in range(n):
        dx[k] = -r[k]
    if rows.size > 0:
        _assemble(a, rows, out, D, K)
        return _lapack_solve(K, dx, n, pivots)
    # of a + U D only the columns of contacts that answer differ from those of a
    size = 0
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


@njit(cache=True, nogil=True)
def _displacement(rows, offset, x, w):
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
def _balance(network, x, force, r):
    """r = a x - U f - c; returns its norm."""
    a, _, _, out, c = network
    m, d = force.shape
    for k in range(len(r)):
        r[k] = a * x[k] - c[k]
    for i in range(m):
        if force[i, 0] == 0.0:
            continue
        for b in range(d):
            t, row = force[i, b], out[d * i + b]
            for k in range(len(r)):
                r[k] -= t * row[k]
    total = 0.0
    for k in range(len(r)):
        total += r[k] * r[k]
    return np.sqrt(total)


@njit(cache=True, nogil=True)
def _size(r, unit):
    largest = 0.0
    for k in range(len(r)):
        largest = max(largest, abs(r[k] / unit[k]))
        if np.isnan(r[k]):
            return np.inf
    return largest


@njit(cache=True, nogil=True)
def _look(network, offset, law, x, w, force, D, r):
    _displacement(network[2], offset, x, w)
    respond(w, *law, force, D)
    return _balance(network, x, force, r)


@njit(cache=True, nogil=True)
def _newton(network, offset, law, unit, x, w, force, tolerance, iterations, room):
    """(linear systems, residual); x, w and force in place: as ``newton.newton``."""
    system, (D, r, dx), (x2, w2, force2, D2, r2) = room
    norm, solves = _look(network, offset, law, x, w, force, D, r), 0
    residual = _size(r, unit)
    while residual > tolerance and solves < iterations:
        if not _step(network, D, r, dx, system):
            break
        solves += 1
        step, new = 1.0, np.inf
        for _ in range(HALVINGS + 1):
            for k in range(len(x)):
                x2[k] = x[k] + step * dx[k]
            new = _look(network, offset, law, x2, w2, force2, D2, r2)
            if new <= (1.0 - DECREASE * step) * norm:
                break
            step *= 0.5
        if not new < norm:
            break
        x[:], w[:], force[:], D[:], r[:] = x2, w2, force2, D2, r2
        norm, residual = new, _size(r, unit)
    return solves, residual


@njit(cache=True, nogil=True)
def _equilibrium(
    network, offset, law, unit, x, w, force, tolerance, iterations, force_size, secants, room
):
    """``equilibrium`` with its room; secants: how many at most."""
    system, (D, r, dx), _ = room
    start, spent = x.copy(), 0
    norm = _look(network, offset, law, x, w, force, D, r)
    bears = force.any()
    if bears:
        spent, residual = _newton(
            network, offset, law, unit, x, w, force, tolerance, iterations, room
        )
        if residual <= tolerance or secants == 0:
            return spent, residual, 0
        x[:] = start
        norm = _look(network, offset, law, x, w, force, D, r)
    first = norm
    for k in range(secants):
        if bears or k > 0:
            D[:] = 0.0
            secant_blocks(w, force, *law, D)
        else:
            sticking_blocks(force_size, *law, D)
        if not _step(network, D, r, dx, system):
            return spent, np.inf, 1
        spent += 1
        x += dx
        norm = _look(network, offset, law, x, w, force, D, r)
        if not norm < RUNAWAY * first:
            return spent, np.inf, 1
        if norm <= NEAR * first:
            break
    more, residual = _newton(network, offset, law, unit, x, w, force, tolerance, iterations, room)
    return spent + more, residual, 1


@njit(cache=True, nogil=True)
def equilibrium(network, offset, law, unit, x, w, force, tolerance, iterations, force_size):
    """(linear systems, residual, way) from the start x, as ``solve.solve`` before its path; x, w
    and force in place. way: 0 Newton from x, 1 from the end of secants."""
    room = _room(w.shape[0], w.shape[1], len(x))
    return _equilibrium(
        network, offset, law, unit, x, w, force, tolerance, iterations, force_size, SECANTS, room
    )


@njit(cache=True, nogil=True)
def errors(force, velocity, mu, rho, kept, w, back, D, e):
    """e_i (m,) of ``multipliers``, and the place of the largest."""
    _lead(force, rho, velocity, w, kept)
    nowhere = np.zeros(len(e), np.bool_)
    respond(w, rho, rho, mu, kept, 2.0, nowhere, kept, back, D)
    worst = 0
    for i in range(len(e)):
        total = 0.0
        for b in range(force.shape[1]):
            total += (force[i, b] - back[i, b]) ** 2
        e[i] = np.sqrt(total) / rho[i]
        if e[i] > e[worst] or np.isnan(e[i]):
            worst = i
    return worst


@njit(cache=True, nogil=True)
def _lead(force, springs, offset, shifted, kept):
    """Prestress by ``force``: displacements less those at which the springs bear it, and what is
    kept along the tangents."""
    shifted[:] = offset
    for i in range(len(force)):
        shifted[i, 0] -= force[i, 0] / springs[i]
        for b in range(1, force.shape[1]):
            kept[i, b - 1] = force[i, b]


@njit(cache=True, nogil=True)
def ahead(network, offset, unit, mu, rho, limits, s, modest, force, x, history, ways):
    """Outer iterations of ``multipliers`` as far as Newton and secants lead; force, x, history and
    ways in place. modest: the largest s that is not bold. Returns (end, s, iterations, linear
    systems, residual, worst contact)."""
    (
        scale, tolerance, growth, stiffest, softest, inner, loosest, iterations, bold, thrift,
        patience,
    ) = limits  # fmt: skip
    (m, d), n = force.shape, len(x)
    kept, shifted, w, back = (
        np.empty((m, d - 1)), np.empty((m, d)), np.empty((m, d)), np.empty((m, d))
    )  # fmt: skip
    e, springs, nowhere = np.empty(m), np.empty(m), np.zeros(m, np.bool_)
    nothing, usual, room = np.zeros(n), scale * np.median(rho), _room(m, d, n)
    y, solves = np.empty(n), 0
    for outer in range(len(history) + 1):
        _displacement(network[2], offset, x, shifted)
        worst = errors(force, shifted, mu, rho, kept, w, back, room[1][0], e)
        residual = e[worst] / scale
        if outer > 0:
            history[outer - 1] = residual
        if residual <= tolerance:
            return CONVERGED, s, outer, solves, residual, worst
        if s < softest or outer == len(history):
            return EXHAUSTED, s, outer, solves, residual, worst
        for i in range(m):
            springs[i] = s * rho[i]
        _lead(force, springs, offset, shifted, kept)
        law = springs, springs, mu, kept, 2.0, nowhere, kept
        goal = max(min(inner * residual, loosest), 0.1 * tolerance)
        y[:] = x
        try_only = s > modest
        spent, left, ways[outer] = _equilibrium(
            network, shifted, law, unit, y, w, back, goal, patience if try_only else iterations,
            max(usual, force[:, 0].mean()), 0 if try_only else SECANTS, room,
        )  # fmt: skip
        solves += spent
        if left > goal and not try_only:
            return UNSOLVED, s, outer, solves, residual, worst
        if left > goal:
            s, bold = modest, np.sqrt(bold)
            continue
        force[:] = back
        _balance(network, nothing, force, y)  # x that balances these forces
        for k in range(n):
            x[k] = -y[k]
        modest = min(growth * s, stiffest)
        s = min(max(growth, bold * thrift ** (spent - 1)) * s, stiffest)
    return EXHAUSTED, s, len(history), solves, residual, worst
