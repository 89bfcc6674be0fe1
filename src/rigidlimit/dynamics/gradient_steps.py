"""The steps of accelerated projected gradient descent (``apgd.py``), on one or several threads.

A step is three loops: over contacts (the projection, f+ - y = d), over bodies (v = R^T d), over
contacts again (B v). Threads have contacts and bodies of their own and wait for one another after
each loop. Sums over contacts are made of the same parts whatever the number of threads, and so is
the answer, to the last digit.
"""

import time

import numpy as np

from .._support.barrier import CannotStart, new_gate, together
from .._support.threads import thread_count
from .gradient_kernels import SETTINGS, Iterates, Share, Terms, descend
from .rows import columns_of, onto_bodies, onto_contacts, rows_of

_alone_until = 0.0


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
        self.terms = Terms(c, a, e, h)
        self.v = np.zeros(shape)
        self.room = np.empty(m), np.empty(m), np.empty(m)
        parts = SETTINGS.parts if m >= SETTINGS.least else 1
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
        h = self.terms.h
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
                _alone_until = time.monotonic() + SETTINGS.alone

    def _advance(self, steps, threads):
        parts, gate = len(self.ends) - 1, new_gate()
        shared = np.zeros((2, parts, 4))
        at = Iterates(self.x, self.y, self.Nx, self.Ny, *self.room, self.v)
        entries = self.matrices[1][0]  # as many for each thread
        cuts = np.searchsorted(entries, np.arange(threads + 1) / threads * entries[-1])
        cuts[0], cuts[-1] = 0, self._bodies

        def work(t: int) -> tuple[float, float, int, int]:
            part, end = t * parts // threads, (t + 1) * parts // threads
            share = Share(
                self.ends, part, end, int(cuts[t]), int(cuts[t + 1]), gate, threads, shared
            )
            return descend(steps, self.matrices, self.terms, at, share, self.theta, self.L)

        self.theta, self.L, made, products = together(work, threads, gate)
        self.products += products
        return made
