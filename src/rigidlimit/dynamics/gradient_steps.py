"""The steps of accelerated projected gradient descent (``apgd.py``), on one or several threads.

A step is three loops: over contacts (the projection, f+ - y = d), over bodies (v = R^T d), over
contacts again (B v). Threads have contacts and bodies of their own and wait for one another after
each loop. Sums over contacts are made of the same parts whatever the number of threads, and so is
the answer, to the last digit.
"""

import time

import numpy as np
from numba import njit

from .._support.barrier import CannotStart, new_gate, together, wait
from .._support.threads import thread_count
from .rows import columns_of, onto_bodies, onto_contacts, rows_of

PARTS = 8
"""Parts of the loops over contacts, from LEAST contacts on; no more threads than that."""

LEAST = 4000
"""Contacts from which on more threads than one are worth their start."""

LOOKS = 20
"""Looks at a barrier before sleeping, for each contact of a thread: some times the work."""

NAPS = 3
"""Naps at barriers in one call after which the cores count as crowded."""

ALONE = 1.0
"""Seconds for which one thread does all parts once the cores were crowded."""

_alone_until = 0.0


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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _towards(y, Ny, c, a, e, h, L, plain, new, d):
    """new = prox(y - g(y) / (L h)), d = new - y; returns d^T H d."""
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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _judge(d, Nd, h, new, x):
    """(d^T N d, generalized gradient times the step from x): curvature and climb."""
    curvature = 0.0
    climb = 0.0
    for i in range(len(d)):
        curvature += d[i] * Nd[i]
        climb -= h[i] * d[i] * (new[i] - x[i])
    return curvature, climb


@njit(cache=True, nogil=True)
def _advance(beta, new, Nd, x, y, Nx, Ny):
    """x = new and y = new + beta (new - old x), with their products."""
    for i in range(len(x)):
        Nnew = Ny[i] + Nd[i]
        y[i] = new[i] + beta * (new[i] - x[i])
        Ny[i] = Nnew + beta * (Nnew - Nx[i])
        x[i] = new[i]
        Nx[i] = Nnew


@njit(cache=True, nogil=True)
def _product(B, R, d, v, out, bodies, contacts, gate, threads, patience):
    """out = B R^T d, this thread its bodies and its contacts."""
    naps = wait(gate, threads, patience)
    onto_bodies(R, d, v, bodies[0], bodies[1])
    naps += wait(gate, threads, patience)
    onto_contacts(B, v, out, contacts[0], contacts[1])
    return naps


@njit(cache=True, nogil=True)
def _descend(
    steps, B, R, c, a, e, h, x, y, Nx, Ny, new, d, Nd, v, ends, bodies, part, end, gate, threads,
    share, theta, L,
):  # fmt: skip
    """Up to ``steps`` accelerated steps in place on x, y, N x, N y, which are renewed at the end.

    This thread does parts part ... end - 1 of the contacts, which ``ends`` (parts + 1,) divides,
    and bodies[0] ... bodies[1] - 1. share (2, parts, 4): what each part tells the others. new, d,
    Nd (m,) and v are work space. Stops where threads had to sleep. Returns momentum theta, L, the
    steps made and products with N, the same in every thread.
    """
    low, high = ends[part], ends[end]
    mine = (low, high)
    patience = LOOKS * (high - low)
    products, naps = 0, 0
    plain = not a.any()
    made, crowd = 0, 0.0
    while made < steps and crowd <= NAPS:
        while True:
            told = share[products % 2]  # others may still read the half before
            for p in range(part, end):
                i, j = ends[p], ends[p + 1]
                told[p, 0] = _towards(
                    y[i:j], Ny[i:j], c[i:j], a[i:j], e, h[i:j], L, plain, new[i:j], d[i:j]
                )
            naps += _product(B, R, d, v, Nd, bodies, mine, gate, threads, patience)
            for p in range(part, end):
                i, j = ends[p], ends[p + 1]
                told[p, 1], told[p, 2] = _judge(d[i:j], Nd[i:j], h[i:j], new[i:j], x[i:j])
                told[p, 3] = naps
            naps += wait(gate, threads, patience)
            size = curvature = climb = 0.0
            for p in range(len(told)):
                size += told[p, 0]
                curvature += told[p, 1]
                climb += told[p, 2]
                crowd = max(crowd, told[p, 3])
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
        _product(B, R, x, v, Nx, bodies, mine, gate, threads, patience)
        _product(B, R, y, v, Ny, bodies, mine, gate, threads, patience)
    return theta, L, made, products


class GradientSteps:
    """The iterates x, y with N x and N y, N = B R^T, the Lipschitz estimate L and the work so far.

    See ``apgd.minimize`` for B, R, c, a, e, h and blocks.
    """

    def __init__(self, B, R, c, a, e, h, blocks):
        rows, shape = rows_of(B, blocks)
        others, same = rows_of(R, blocks)
        if same != shape:
            (rows, shape), (others, _) = rows_of(B), rows_of(R)
        m = B.shape[0]
        self.matrices = rows, columns_of(others, shape)
        self.terms = c, a, e, h
        self.v = np.zeros(shape)
        self.room = np.empty(m), np.empty(m), np.empty(m)
        parts = PARTS if m >= LEAST else 1
        self.ends = np.linspace(0, m, parts + 1).astype(np.int64)
        self.threads = min(thread_count(), parts)
        self.products = 0

    def begin(self, x: np.ndarray, lipschitz: float | None):
        """Start from forces x (m,), with a first guess of L."""
        self.x, self.y = x, x.copy()
        self.Nx = self.product(x)
        self.Ny = self.Nx.copy()
        self.theta, self.L = 1.0, lipschitz or self._first_lipschitz()

    def product(self, f: np.ndarray) -> np.ndarray:
        """N f."""
        rows, columns = self.matrices
        out = np.empty(len(f))
        onto_bodies(columns, f, self.v, 0, self._bodies)
        onto_contacts(rows, self.v, out, 0, len(f))
        return out

    @property
    def _bodies(self):
        return len(self.matrices[1][0]) - 1

    def _first_lipschitz(self):
        """Rayleigh quotient of N against H at the vector of ones, as Mazhar et al. start."""
        h = self.terms[3]
        guess = float(np.linalg.norm(self.product(np.ones(len(h))) / h) / np.sqrt(max(len(h), 1)))
        return guess if guess > 0 else 1.0

    def take(self, steps: int):
        """Make ``steps`` steps."""
        global _alone_until
        while steps:
            threads = self.threads if time.monotonic() >= _alone_until else 1
            try:
                made = self._advance(steps, threads)
            except CannotStart:
                self.threads, made = 1, 0
            steps -= made
            if steps:  # other programs hold the cores
                _alone_until = time.monotonic() + ALONE

    def _advance(self, steps, threads):
        parts, gate = len(self.ends) - 1, new_gate()
        share = np.zeros((2, parts, 4))
        entries = self.matrices[1][0]  # as many for each thread
        cuts = np.searchsorted(entries, np.arange(threads + 1) / threads * entries[-1])
        cuts[0], cuts[-1] = 0, self._bodies

        def work(t: int):
            return _descend(
                steps, *self.matrices, *self.terms, self.x, self.y, self.Nx, self.Ny, *self.room,
                self.v, self.ends, (int(cuts[t]), int(cuts[t + 1])),
                t * parts // threads, (t + 1) * parts // threads, gate, threads,
                share, self.theta, self.L,
            )  # fmt: skip

        self.theta, self.L, made, products = together(work, threads, gate)
        self.products += products
        return made
