"""The loops of accelerated projected gradient descent, compiled (``gradient_steps.py``)."""

from typing import NamedTuple

import numpy as np
from numba import njit

from .._support.barrier import wait
from .._support.compiled import INNER
from .rows import onto_bodies, onto_contacts


class Settings(NamedTuple):
    """Of threads. (Compiled code reads tuples.)

    parts: of the loops over contacts, from ``least`` contacts on; no more threads than that.
    least: number of contacts above which more than one thread is worth its start.
    looks: at a barrier before sleeping, for each contact of a thread: some times the work.
    naps: at barriers in one call after which the cores count as crowded.
    alone: seconds for which one thread does all parts once the cores were crowded.
    """

    parts: int = 8
    least: int = 4000
    looks: int = 20
    naps: int = 3
    alone: float = 1.0


SETTINGS = Settings()


class Terms(NamedTuple):
    """c, a, h (m,) and the exponent e of ``apgd.minimize``."""

    c: np.ndarray
    a: np.ndarray
    e: float
    h: np.ndarray


class Iterates(NamedTuple):
    """x, y (m,) with N x and N y; new, d, Nd (m,) and v (as B takes it): work space."""

    x: np.ndarray
    y: np.ndarray
    Nx: np.ndarray
    Ny: np.ndarray
    new: np.ndarray
    d: np.ndarray
    Nd: np.ndarray
    v: np.ndarray


class Share(NamedTuple):
    """What one of ``threads`` does: parts part ... end - 1 of the contacts, which ``ends``
    (parts + 1,) divides, and bodies low ... high - 1. gate: see ``barrier``. shared (2, parts, 4):
    partial sums of each part for the others."""

    ends: np.ndarray
    part: int
    end: int
    low: int
    high: int
    gate: np.ndarray
    threads: int
    shared: np.ndarray


@njit(cache=True, nogil=True)
def _prox(z, a, e, weight):
    """Minimizer over x >= 0 of weight/2 (x - z)^2 + a/(e+1) x^(e+1), by Newton's method from the
    side on which the equation is monotone and convex."""
    if z <= 0.0 or a == 0.0:
        return max(0.0, z)
    if e == 1.0:
        return z / (1.0 + a / weight)
    b = a / weight  # solve b x^e + x = z
    if e > 1.0:
        x = min(z, (z / b) ** (1.0 / e))
        for _ in range(60):
            power = b * x ** (e - 1.0)
            dx = (power * x + x - z) / (e * power + 1.0)
            x -= dx
            if abs(dx) <= 1e-15 * x:
                break
        return x
    q = 1.0 / e  # in s = x^e: b s + s^q = z
    s = min(z**e, z / b)
    for _ in range(60):
        power = s ** (q - 1.0)
        ds = (b * s + power * s - z) / (b + q * power)
        s -= ds
        if abs(ds) <= 1e-15 * s:
            break
    return s**q


@njit(**INNER, fastmath={"reassoc", "contract", "nsz"})
def _towards(y, Ny, terms, L, plain, new, d):
    """new = prox(y - g(y) / (L h)), d = new - y; returns d^T H d."""
    c, a, e, h = terms
    size = 0.0
    if plain:
        for i in range(len(y)):
            new[i] = max(0.0, y[i] - (c[i] + Ny[i]) / (L * h[i]))
            d[i] = new[i] - y[i]
            size += d[i] * d[i] * h[i]
    else:
        for i in range(len(y)):
            weight = L * h[i]
            new[i] = _prox(y[i] - (c[i] + Ny[i]) / weight, a[i], e, weight)
            d[i] = new[i] - y[i]
            size += d[i] * d[i] * h[i]
    return size


@njit(**INNER, fastmath={"reassoc", "contract", "nsz"})
def _judge(d, Nd, h, new, x):
    """(d^T N d, generalized gradient times the step from x): curvature and climb."""
    curvature = 0.0
    climb = 0.0
    for i in range(len(d)):
        curvature += d[i] * Nd[i]
        climb -= h[i] * d[i] * (new[i] - x[i])
    return curvature, climb


@njit(**INNER)
def _advance(beta, new, Nd, x, y, Nx, Ny):
    """x = new and y = new + beta (new - old x), with their products."""
    for i in range(len(x)):
        Nnew = Ny[i] + Nd[i]
        y[i] = new[i] + beta * (new[i] - x[i])
        Ny[i] = Nnew + beta * (Nnew - Nx[i])
        x[i] = new[i]
        Nx[i] = Nnew


@njit(**INNER)
def _product(matrices, d, v, out, share, patience):
    """out = B R^T d, this thread its bodies and its contacts."""
    B, R = matrices
    naps = wait(share.gate, share.threads, patience)
    onto_bodies(R, d, v, share.low, share.high)
    naps += wait(share.gate, share.threads, patience)
    onto_contacts(B, v, out, share.ends[share.part], share.ends[share.end])
    return naps


@njit(cache=True, nogil=True)
def descend(
    steps: int, matrices: tuple, terms: Terms, at: Iterates, share: Share, theta: float, L: float
) -> tuple[float, float, int, int]:
    """Up to ``steps`` accelerated steps in place on x, y, N x, N y, which are renewed at the end.

    Stops where threads had to sleep. Returns momentum theta, L, the steps made and products with N,
    the same in every thread. matrices: rows of B, columns of R (``rows.py``).
    """
    (c, a, e, h), (x, y, Nx, Ny, new, d, Nd, v) = terms, at
    ends, part, end, _, _, gate, threads, both_shared = share
    low, high = ends[part], ends[end]
    patience = SETTINGS.looks * (high - low)
    products, naps = 0, 0
    plain = not a.any()
    made, crowd = 0, 0.0
    while made < steps and crowd <= SETTINGS.naps:
        while True:
            shared = both_shared[products % 2]  # others may still read the half before
            for p in range(part, end):
                i, j = ends[p], ends[p + 1]
                own = c[i:j], a[i:j], e, h[i:j]
                shared[p, 0] = _towards(y[i:j], Ny[i:j], own, L, plain, new[i:j], d[i:j])
            naps += _product(matrices, d, v, Nd, share, patience)
            for p in range(part, end):
                i, j = ends[p], ends[p + 1]
                shared[p, 1], shared[p, 2] = _judge(d[i:j], Nd[i:j], h[i:j], new[i:j], x[i:j])
                shared[p, 3] = naps
            naps += wait(gate, threads, patience)
            size = curvature = climb = 0.0
            for p in range(len(shared)):
                size += shared[p, 0]
                curvature += shared[p, 1]
                climb += shared[p, 2]
                crowd = max(crowd, shared[p, 3])
            products += 1
            if not curvature > L * size * (1.0 + 1e-12):  # also leaves on NaN
                break
            L *= 2.0
        following = 0.5 * theta * (np.sqrt(theta * theta + 4.0) - theta)
        beta = theta * (1.0 - theta) / (theta * theta + following)
        if climb > 0.0:
            beta = 0.0
            following = 1.0
        _advance(
            beta, new[low:high], Nd[low:high], x[low:high], y[low:high], Nx[low:high], Ny[low:high]
        )
        theta = following
        L *= 0.9
        made += 1
    if made == steps:
        # the running sums collect rounding; both are renewed, since an error in only one grows
        _product(matrices, x, v, Nx, share, patience)
        _product(matrices, y, v, Ny, share, patience)
    return theta, L, made, products
