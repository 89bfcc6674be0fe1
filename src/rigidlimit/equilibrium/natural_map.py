"""The natural map of Coulomb's law with rigid contacts, contact by contact, compiled.

    F(f) = f - P(z),    z = f - rho u(f)

with P: max(0, .) along the normal, the disc of radius mu max(0, z_n) in the tangent plane (Alart &
Curnier 1991). F = 0 is exact Coulomb friction with u_n >= 0 complementary to f_n. Its size in
velocities, |F_i| / rho_i with rho_i = d/tr(W_ii), is the residual by which solvers are judged.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

HALVINGS = 5
"""Step lengths tried: 1, 1/2, ... 1/32."""

DECREASE = 1e-4
"""Armijo's constant on the norm of F."""


@njit(cache=True, nogil=True)
def natural_map(f: np.ndarray, u: np.ndarray, mu: np.ndarray, rho: np.ndarray, F: np.ndarray):
    """F (m, d) in place; returns the norm of F/rho over all contacts, the largest |F_i|/rho_i and
    its contact."""
    m, d = f.shape
    total, worst, place = 0.0, 0.0, 0
    for i in range(m):
        size = 0.0
        for a in range(d):
            F[i, a] = f[i, a] - rho[i] * u[i, a]  # z
            if a > 0:
                size += F[i, a] * F[i, a]
        size = np.sqrt(size)
        normal = max(F[i, 0], 0.0)
        bound = mu[i] * normal
        part = 1.0 if size <= bound else bound / size
        e = (f[i, 0] - normal) ** 2
        F[i, 0] = f[i, 0] - normal
        for a in range(1, d):
            F[i, a] = f[i, a] - part * F[i, a]
            e += F[i, a] * F[i, a]
        e /= rho[i] * rho[i]
        total += e
        if e > worst or np.isnan(e):
            worst, place = e, i
    return np.sqrt(total), np.sqrt(worst), place


@njit(cache=True, nogil=True)
def into_cones(f: np.ndarray, mu: np.ndarray):
    """P(f) in place: no pull, no friction beyond mu times the normal force."""
    for i in range(len(f)):
        f[i, 0] = max(f[i, 0], 0.0)
        size, bound = 0.0, mu[i] * f[i, 0]
        for a in range(1, f.shape[1]):
            size += f[i, a] * f[i, a]
        size = np.sqrt(size)
        if size > bound:
            for a in range(1, f.shape[1]):
                f[i, a] *= bound / size


@njit(cache=True, nogil=True)
def linearized(
    f: np.ndarray,
    u: np.ndarray,
    mu: np.ndarray,
    rho: np.ndarray,
    delta: float,
    F: np.ndarray,
    D: np.ndarray,
    b: np.ndarray,
):
    """Blocks D (m, d, d) and b (m, d) of df = b - D du, in place, that solve

        (1 - (1 - delta) P') df + rho P' du = -F

    with P' the derivative of P at z: Newton's step for delta = 0; a contact with springs
    rho/delta and the prestress f else."""
    m, d = f.shape
    z = np.empty(d)
    for i in range(m):
        size = 0.0
        for a in range(d):
            z[a] = f[i, a] - rho[i] * u[i, a]
            b[i, a] = -F[i, a]
            for c in range(d):
                D[i, a, c] = 0.0
            if a > 0:
                size += z[a] * z[a]
        if not z[0] > 0.0:
            continue
        stiff, bound = rho[i] / delta, mu[i] * z[0]
        size = np.sqrt(size)
        D[i, 0, 0] = stiff
        b[i, 0] /= delta
        if bound > 0.0 and size <= bound:
            for a in range(1, d):
                D[i, a, a] = stiff
                b[i, a] /= delta
            continue
        part = bound / size if size > 0.0 else 0.0
        across, along = 1.0 / (1.0 - (1.0 - delta) * part), 0.0
        for a in range(1, d):
            z[a] = z[a] / size if size > 0.0 else 0.0
            along += z[a] * b[i, a]
        for a in range(1, d):
            for c in range(1, d):
                D[i, a, c] = -rho[i] * part * across * z[a] * z[c]
            D[i, a, a] += rho[i] * part * across
            D[i, a, 0] = mu[i] * z[a] * stiff
            b[i, a] = across * b[i, a] + (1.0 - across) * along * z[a]
            b[i, a] += (1.0 - delta) * mu[i] * z[a] * b[i, 0]


@njit(cache=True, nogil=True)
def forces_along(D: np.ndarray, b: np.ndarray, du: np.ndarray, df: np.ndarray):
    """df = b - D du (m, d), in place."""
    for i in range(len(D)):
        for a in range(df.shape[1]):
            df[i, a] = b[i, a]
            for c in range(df.shape[1]):
                df[i, a] -= D[i, a, c] * du[i, c]


class AtContacts(NamedTuple):
    """Forces and velocities of contacts (m, d), or changes of both."""

    force: np.ndarray
    velocity: np.ndarray


@njit(cache=True, nogil=True)
def line_search(
    here: AtContacts,
    way: AtContacts,
    mu: np.ndarray,
    rho: np.ndarray,
    reference: float,
    there: AtContacts,
    F: np.ndarray,
):
    """The longest of the steps 1, 1/2, ... along ``way`` that lowers the norm of F/rho below
    ``reference``, or zero; ``there`` and F in place."""
    (f, u), (df, du), (f_there, u_there), step = here, way, there, 1.0
    for _ in range(HALVINGS + 1):
        for i in range(len(f)):
            for a in range(f.shape[1]):
                f_there[i, a] = f[i, a] + step * df[i, a]
                u_there[i, a] = u[i, a] + step * du[i, a]
        norm = natural_map(f_there, u_there, mu, rho, F)[0]
        if norm <= (1.0 - DECREASE * step) * reference:
            return step
        step *= 0.5
    return 0.0
