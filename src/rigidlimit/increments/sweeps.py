"""Gauss-Seidel sweeps of an increment over its contacts, with Nesterov's momentum, compiled.

With bodies in mass-scaled velocities, v = L y, y = y_free + J^T f, J = B L, each contact is solved
for its force with those of the others as they are, normal first, then tangential:

    u_n + w_n + C_n(f_n) >= 0  _|_  f_n >= 0,        u = J y
    f_t = P_[|.| <= mu f_n]( f_t - (u_t + w_t + C_t (f_t - s)) / (W_tt + C_t) )

w: offset, s: tangential force kept, C_n(f) the overlap of the spring under f, C_t its tangential
compliance. Compliance makes sweeps converge: rigid contacts of a rough network pass on forces that
no body feels for thousands of sweeps.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from ..equilibrium.law import CompiledLaw


class Blocks(NamedTuple):
    """m contacts in the order in which sweeps go over them. (Compiled code reads tuples.)

    columns (m, c): of J, each once, padded with n. rows (m, 3, c): entries of J there, zero where
    padded, and of the third direction in the plane. W (m, d, d): J_i J_i^T. tangential (m,):
    largest eigenvalue of its tangential part.
    """

    columns: np.ndarray
    rows: np.ndarray
    W: np.ndarray
    tangential: np.ndarray


class Sweeps(NamedTuple):
    """most: momentum at most. every: each so many sweeps one goes over all contacts, the others
    over those that are active."""

    most: float = 0.98
    every: int = 10


def packed(rows: sp.csr_array, d: int) -> Blocks:
    """Blocks of J (m d, n), contact by contact."""
    m, n = rows.shape[0] // d, rows.shape[1]
    most = _most_columns(rows.indptr, rows.indices, d)
    columns = np.full((m, most), n, np.int32)
    entries = np.zeros((m, 3, most))
    W, tangential = np.zeros((m, d, d)), np.zeros(m)
    _pack(rows.indptr, rows.indices, rows.data, columns, entries, W, tangential)
    return Blocks(columns, entries, W, tangential)


@njit(cache=True, nogil=True)
def _distinct(indptr, indices, d, i, out):
    """The columns of contact i, each once, into ``out``; their number."""
    count = 0
    for e in range(indptr[d * i], indptr[d * i + d]):
        known = False
        for c in range(count):
            known = known or out[c] == indices[e]
        if not known:
            out[count] = indices[e]
            count += 1
    return count


@njit(cache=True, nogil=True)
def _most_columns(indptr, indices, d):
    most = 1
    for i in range((len(indptr) - 1) // d):
        room = np.empty(indptr[d * i + d] - indptr[d * i], np.int64)
        most = max(most, _distinct(indptr, indices, d, i, room))
    return most


@njit(cache=True, nogil=True)
def _pack(indptr, indices, data, columns, entries, W, tangential):
    m, d = W.shape[:2]
    for k in range(m):
        room = np.empty(indptr[d * k + d] - indptr[d * k], np.int64)
        count = _distinct(indptr, indices, d, k, room)
        room = np.sort(room[:count])
        columns[k, :count] = room
        for a in range(d):
            for e in range(indptr[d * k + a], indptr[d * k + a + 1]):
                entries[k, a, np.searchsorted(room, indices[e])] += data[e]
        for a in range(d):
            for b in range(d):
                for c in range(count):
                    W[k, a, b] += entries[k, a, c] * entries[k, b, c]
        if d == 2:
            tangential[k] = W[k, 1, 1]
        else:
            mean, half = 0.5 * (W[k, 1, 1] + W[k, 2, 2]), 0.5 * (W[k, 1, 1] - W[k, 2, 2])
            tangential[k] = mean + np.sqrt(half * half + W[k, 1, 2] * W[k, 1, 2])


@njit(cache=True, nogil=True, inline="always")
def _pressed(p, k, w, a):
    """f >= 0 with a + w f + (f/k)^(1/(p-1)) = 0, or 0 where a >= 0."""
    if not a < 0.0:
        return 0.0
    if p == 2.0:
        return -a / (w + 1.0 / k)
    # overlap c with a + w k c^(p-1) + c = 0: increasing, Newton from above where it is convex
    c = -a
    for _ in range(60):
        power = k * c ** (p - 2.0)
        g = a + w * power * c + c
        step = g / (w * (p - 1.0) * power + 1.0)
        new = c - step
        if not new > 0.0:
            new = 0.5 * c
        if abs(new - c) <= 1e-15 * c:
            c = new
            break
        c = new
    return k * c ** (p - 1.0)


@njit(cache=True, nogil=True, inline="always")
def _softness(law, i, f):
    """Tangential compliance of contact i [m/(s N)] under the normal force f > 0."""
    if law.exponent == 2.0:
        return 1.0 / law.tangential[i]
    p = law.exponent
    return (law.normal[i] / f) ** ((p - 2.0) / (p - 1.0)) / law.tangential[i]


@njit(cache=True, nogil=True)
def _gives(blocks: Blocks, law: CompiledLaw):
    """1/(W_nn + C_n), 1/(W_tt + C_t) and C_t (m, 3) of Hooke's springs, whose compliances are
    constant; the latter two are zero without friction."""
    m = len(law.normal)
    out = np.zeros((m, 3))
    for i in range(m):
        out[i, 0] = 1.0 / (blocks.W[i, 0, 0] + 1.0 / law.normal[i])
        if law.friction[i] > 0.0:
            out[i, 2] = 1.0 / law.tangential[i]
            out[i, 1] = 1.0 / (blocks.tangential[i] + out[i, 2])
    return out


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _sweep(which, blocks: Blocks, law: CompiledLaw, gives, offset, f, y):
    """One sweep over the contacts ``which``; f (m, d), y (n + 1,) in place.

    Returns the sum over contacts of tr(W_ii) |change of f|^2. Numbers by name and loops over
    columns alone: with loops over directions inside it takes nearly twice as long.
    """
    columns, rows, W, widest = blocks
    k_n, mu, kept, p = law.normal, law.friction, law.kept, law.exponent
    most, space, hooke = rows.shape[2], f.shape[1] == 3, p == 2.0
    near, u2, f2, t2, d2, change = np.empty(most), 0.0, 0.0, 0.0, 0.0, 0.0
    for i in which:
        u0, u1 = offset[i, 0], offset[i, 1]
        if space:
            u2 = offset[i, 2]
        for c in range(most):
            near[c] = y[columns[i, c]]
        for c in range(most):
            u0 += rows[i, 0, c] * near[c]
        for c in range(most):
            u1 += rows[i, 1, c] * near[c]
        for c in range(most):
            u2 += rows[i, 2, c] * near[c]
        w, f0, f1 = W[i, 0, 0], f[i, 0], f[i, 1]
        a = u0 - w * f0
        n = max(-a * gives[i, 0], 0.0) if hooke else _pressed(p, k_n[i], w, a)
        if n == 0.0 and f0 == 0.0:
            continue
        d0, bound, t1, t2 = n - f0, mu[i] * n, 0.0, 0.0
        if space:
            f2 = f[i, 2]
        if bound > 0.0:
            r, give = gives[i, 2], gives[i, 1]
            if not hooke:
                r = _softness(law, i, n)
                give = 1.0 / (widest[i] + r)
            t1 = f1 - give * (u1 + W[i, 1, 0] * d0 + r * (f1 - kept[i, 0]))
            if space:
                t2 = f2 - give * (u2 + W[i, 2, 0] * d0 + r * (f2 - kept[i, 1]))
            size = t1 * t1 + t2 * t2
            if size > bound * bound:
                size = bound / np.sqrt(size)
                t1 *= size
                t2 *= size
        d1 = t1 - f1
        f[i, 0], f[i, 1] = n, t1
        w += W[i, 1, 1]
        if space:
            d2 = t2 - f2
            f[i, 2] = t2
            w += W[i, 2, 2]
        change += w * (d0 * d0 + d1 * d1 + d2 * d2)
        for c in range(most):
            push = rows[i, 0, c] * d0 + rows[i, 1, c] * d1 + rows[i, 2, c] * d2
            y[columns[i, c]] = near[c] + push
    return change


@njit(cache=True, nogil=True)
def into_cones(friction, f):
    """Forces f (m, d) into the friction cones, along the tangents, in place."""
    for i in range(len(f)):
        if not f[i, 0] > 0.0:
            f[i] = 0.0
            continue
        size, bound = 0.0, friction[i] * f[i, 0]
        for a in range(1, f.shape[1]):
            size += f[i, a] * f[i, a]
        if size > bound * bound:
            for a in range(1, f.shape[1]):
                f[i, a] *= bound / np.sqrt(size)


@njit(cache=True, nogil=True)
def pushed(blocks: Blocks, y_free, f):
    """y (n + 1,) of forces f (m, d)."""
    (m, d), most = f.shape, blocks.rows.shape[2]
    y = np.zeros(len(y_free) + 1)
    y[:-1] = y_free
    for i in range(m):
        for c in range(most):
            for a in range(d):
                y[blocks.columns[i, c]] += blocks.rows[i, a, c] * f[i, a]
    return y


@njit(cache=True, nogil=True)
def residuals(blocks: Blocks, law: CompiledLaw, offset, rho, f, y, out):
    """How far each contact is off its law, (m,) [m/s] into ``out``: |f - P(f - r g)|/r,
    g_n = u_n + w_n + C_n(f_n), g_t = u_t + w_t + C_t (f_t - s), r = 1/(1/rho + C)."""
    (m, d), most = f.shape, blocks.rows.shape[2]
    p = law.exponent
    g = np.empty(d)
    worst = 0.0
    for i in range(m):
        for a in range(d):
            g[a] = offset[i, a]
        for c in range(most):
            for a in range(d):
                g[a] += blocks.rows[i, a, c] * y[blocks.columns[i, c]]
        n = f[i, 0]
        soft = 1.0 / law.normal[i]
        if p != 2.0:
            soft = (n / law.normal[i]) ** (1.0 / (p - 1.0)) / (n * (p - 1.0)) if n > 0.0 else 0.0
        if n > 0.0:
            g[0] += soft * n * (p - 1.0)
        along = 0.0
        if law.friction[i] > 0.0 and n > 0.0:
            along = _softness(law, i, n)
            for a in range(1, d):
                g[a] += along * (f[i, a] - law.kept[i, a - 1])
        r = 1.0 / (1.0 / rho[i] + max(soft, along))
        normal = max(n - r * g[0], 0.0)
        bound, size = law.friction[i] * normal, 0.0
        for a in range(1, d):
            g[a] = f[i, a] - r * g[a]
            size += g[a] * g[a]
        part = bound / np.sqrt(size) if size > bound * bound else 1.0
        off = (n - normal) ** 2
        for a in range(1, d):
            off += (f[i, a] - part * g[a]) ** 2
        out[i] = np.sqrt(off) / r
        worst = max(worst, out[i])
    return worst


@njit(cache=True, nogil=True)
def accelerate(blocks: Blocks, law: CompiledLaw, offset, f, y, count, settings):
    """``count`` sweeps with momentum, f (m, d) and y (n + 1,) in place.

    The momentum starts anew where a sweep changes the forces by more than the one before it.
    Contacts without a force before and after a sweep over all are passed over until the next one.
    """
    m, d = f.shape
    every = np.arange(m)
    active = every
    ahead, y_ahead = f.copy(), y.copy()
    theta, last = 1.0, np.inf
    gives = _gives(blocks, law)
    for k in range(count):
        whole = k % settings.every == 0
        change = _sweep(every if whole else active, blocks, law, gives, offset, ahead, y_ahead)
        if whole:
            active = np.flatnonzero((ahead[:, 0] != 0.0) | (f[:, 0] != 0.0))
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * theta * theta))
        beta = min((theta - 1.0) / following, settings.most)
        if change > last:
            beta, following = 0.0, 1.0
        last, theta = change, following
        for i in active:
            for a in range(d):
                now = ahead[i, a]
                ahead[i, a] = now + beta * (now - f[i, a])
                f[i, a] = now
        for j in range(len(y)):
            now = y_ahead[j]
            y_ahead[j] = now + beta * (now - y[j])
            y[j] = now
