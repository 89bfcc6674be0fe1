"""Conjugate gradients among the contacts that bear, between projected gradient steps.

Once gradient steps no longer change which contacts bear, what is left of eq. 22 is linear, N_FF df
= -w_F for the bearing contacts F, and conjugate gradients preconditioned by diag N solve it in a
third of the steps. Whether F is right shows soon: where it is not, forces come to pull, or
others close, and the residual of the forces cut off at 0 stops falling. Then gradient steps go
on from the best forces. (The idea is that of J. J. More and G. Toraldo, SIAM J. Optim. 1 (1991)
93, who alternate both kinds of steps.)
"""

import numpy as np
from numba import njit

FROM = 1e-3
"""Residual from which on the contacts that bear may be the right ones."""

LOOK, GAINED = 10, 0.8
"""Steps from one look at the residual to the next, and the part of it that may be left then."""

WAIT = 40
"""Gradient steps after an attempt that failed, before the next; twice as many after each."""


class Face:
    """When to try, and one attempt after another.

    h (m,): diag N or another metric, positive. n: degrees of freedom; with no more contacts than
    that bearing, a factorization finds the last digits (``active_set.py``).
    """

    def __init__(self, h, n):
        self.h, self.n, self.bore, self.wait, self.next = h, n, None, WAIT, 0

    def due(self, x, done, residual) -> bool:
        """Whether to try now: after ``done`` gradient steps, at forces x (m,)."""
        before, self.bore = self.bore, x > 0.0
        if before is None or not residual <= FROM or done < self.next:
            return False
        return np.count_nonzero(self.bore) > self.n and not (self.bore ^ before).any()

    def descend(self, product, x, Nx, c, measure, residual, tolerance, most):
        """(forces, residual, steps) from x with N x; the best forces on the way."""
        f, r = x.copy(), np.where(self.bore, -(Nx + c), 0.0)
        z = r / self.h
        p, rz = z.copy(), float(r @ z)
        best, least, done = x, residual, 0
        while done < most and least > tolerance:
            for _ in range(min(LOOK, most - done)):
                done += 1
                rz = _step(self.h, self.bore, product(p), f, r, p, rz)
            cut = np.maximum(f, 0.0)
            now = measure(cut, product(cut))
            before, best, least = least, *((cut, now) if now < least else (best, least))
            if not now <= GAINED * before:
                break
        return best, least, done

    def failed(self, done):
        """Take note that nothing came of the attempt after ``done`` gradient steps."""
        self.next, self.wait = done + self.wait, 2 * self.wait


@njit(cache=True, nogil=True)
def _step(h, bears, Np, f, r, p, rz):
    """One step of conjugate gradients in place on f, r and p; the new r . z."""
    curvature = 0.0
    for i in range(len(f)):
        curvature += p[i] * Np[i]
    if not curvature > 0.0:
        return 0.0
    alpha = rz / curvature
    new = 0.0
    for i in range(len(f)):
        f[i] += alpha * p[i]
        if bears[i]:
            r[i] -= alpha * Np[i]
            new += r[i] * r[i] / h[i]
    beta = new / rz
    for i in range(len(f)):
        p[i] = r[i] / h[i] + beta * p[i]
    return new
