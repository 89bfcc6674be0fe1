"""The friction forces nearest to given ones that Coulomb's law admits and that keep the balance.

Of contacts i with normal forces f_i and friction forces measured by the normal force that they
need, y_i = f_t / mu (k,) [N],

    min 1/2 sum |y_i - w_i|^2   subject to   A y = b,   |y_i| <= f_i

|.| is the norm of the cone: 2 (elliptic), 1 (pyramid) or inf (box). Its dual is smooth: with P the
projection onto the balls, y = P(w + A^T lambda), and A y = b is solved for lambda by a semismooth
Newton method with a line search on the slope, within steps of the proximal point method, which also
end where no y balances: then y is the one that comes nearest to it.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

PROXIMAL = 1e-9
"""Of the proximal steps, beside the mean diagonal of A A^T: small, and no matrix is singular."""

STEPS = 30
NEWTON = 60
HALVINGS = 40

NO_LONGER = 0.5
"""Proximal steps that shrink what is missing by less than this lead to no balance."""


def nearest_admissible(A, b, wanted, bound, norm, tolerance, near):
    """Friction forces (m, k) in normal forces needed [N], and what is missing of b, (n,).

    A (n, m k) sparse, columns contact by contact; b (n,); wanted (m, k); bound (m,) [N];
    norm: 2, 1 or inf; tolerance: on what is missing [N]; near (n,): what may be missing where the
    tolerance cannot be had.
    """
    n = A.shape[0]
    A = sp.csr_array(A)
    diagonal = np.asarray(A.multiply(A).sum(axis=1)).ravel()
    shift = PROXIMAL * (float(diagonal.mean()) if n else 0.0) or 1.0
    steps, last = np.zeros(n), np.inf
    y = _project(wanted, bound, norm)[0]
    missing = b - A @ y.ravel()
    enough = None
    for _ in range(STEPS):
        if np.abs(missing).max(initial=0.0) <= tolerance:
            return y, missing
        if enough is None and (np.abs(missing) <= near).all():
            enough = y, missing
        y, steps = _proximal_step(A, b, wanted, bound, norm, steps, shift, 0.1 * tolerance)
        missing = b - A @ y.ravel()
        off = float(np.abs(missing).max(initial=0.0))
        if off > NO_LONGER * last:
            break
        last = off
    # those that go on towards a balance that there is not move far for next to nothing
    return (y, missing) if enough is None else enough


def _proximal_step(A, b, wanted, bound, norm, centre, shift, tolerance):
    """y and lambda with A P(w + A^T lambda) + shift (lambda - centre) = b."""
    free = A @ sp.csr_array(A.T)  # where no bound is met: the pattern of all systems
    eye = sp.eye_array(A.shape[0], format="csr")

    def slope(steps):
        z = wanted + (A.T @ steps).reshape(wanted.shape)
        y, derivative = _project(z, bound, norm)
        return y, derivative, A @ y.ravel() - b + shift * (steps - centre)

    steps = centre
    y, derivative, g = slope(steps)
    for _ in range(NEWTON):
        if np.abs(g).max(initial=0.0) <= tolerance:
            break
        K = free if derivative is None else A @ _block_diagonal(derivative) @ A.T
        way = -_solved(sp.csc_array(K + shift * eye), g)
        ahead = float(g @ way)
        if not ahead < 0.0:
            break  # rounding
        part = 1.0
        for _ in range(HALVINGS):
            y, derivative, new = slope(steps + part * way)
            if float(new @ way) <= 0.5 * abs(ahead):
                break
            part *= 0.5
        steps, g = steps + part * way, new
    return y, steps


DENSE = 150
"""Equations up to which a dense system takes less time than setting up a sparse one."""


def _solved(K, g):
    if len(g) <= DENSE:
        return np.linalg.solve(K.toarray(), g)
    return spsolve(K, g)


def _block_diagonal(blocks):
    """(m k, m k) of blocks (m, k, k)."""
    m, k, _ = blocks.shape
    return sp.bsr_array((blocks, np.arange(m), np.arange(m + 1)), shape=(m * k, m * k))


def _project(z, bound, norm):
    """Nearest points y (m, k) with |y_i| <= bound_i, and dy/dz (m, k, k); None if y = z."""
    size = np.linalg.norm(z, ord=norm, axis=1)
    out = size > bound
    if not out.any():
        return z, None
    k = z.shape[1]
    y, derivative = z.copy(), np.tile(np.eye(k), (len(z), 1, 1))
    z, bound, size = z[out], bound[out], size[out]
    if norm == 2:
        unit = z / size[:, None]
        y[out] = bound[:, None] * unit
        flat = np.eye(k) - unit[:, :, None] * unit[:, None, :]
        derivative[out] = (bound / size)[:, None, None] * flat
    elif norm == 1:
        less = _shrinkage(np.abs(z), bound)[:, None]
        left = np.abs(z) > less
        y[out] = np.sign(z) * np.where(left, np.abs(z) - less, 0.0)
        sign = np.sign(z) * left
        mean = sign[:, :, None] * sign[:, None, :] / np.maximum(left.sum(axis=1), 1)[:, None, None]
        derivative[out] = left[:, :, None] * np.eye(k) - mean
    else:
        y[out] = np.clip(z, -bound[:, None], bound[:, None])
        derivative[out] = (np.abs(z) < bound[:, None])[:, :, None] * np.eye(k)
    return y, derivative


def _shrinkage(size, bound):
    """By how much entries (m, k) >= 0 shrink, down to zero, so that they sum to bound (m,)."""
    falling = -np.sort(-size, axis=1)
    excess = (np.cumsum(falling, axis=1) - bound[:, None]) / np.arange(1, size.shape[1] + 1)
    last = np.maximum((falling > excess).sum(axis=1) - 1, 0)
    return np.maximum(excess[np.arange(len(size)), last], 0.0)
