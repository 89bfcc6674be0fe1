"""Conjugate gradients on the active contacts, between projected gradient steps.

Once gradient steps no longer change the active set, what is left of eq. 22 is linear, N_FF df
= -w_F for the active contacts F, and conjugate gradients preconditioned by diag N solve it in a
third of the steps. Whether F is right shows soon: where it is not, forces come to pull, or
others close, and the residual of the forces cut off at 0 stops falling. Then gradient steps go
on from the best forces. (The idea is that of J. J. More and G. Toraldo, SIAM J. Optim. 1 (1991)
93, who alternate both kinds of steps.)

Forces as small as the residual come and go with every step where contacts need no force at all, as
the sides of blocks that stand side by side in a wall. They are left out of F, and what a solve has
of them at its end is cleared away the same way: step 2 would have to carry such rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit


@dataclass(frozen=True)
class Settings:
    """begin: residual below which the active contacts may be the right ones. near: residual of
    a start, as of the step before, whose active contacts are assumed right at once.

    stride: steps from one look at the residual to the next; gained, part: what must be left of it,
    at most, after this part of the steps that were made before: where those were many the residual
    rises at first. wait: gradient steps after an attempt that failed, before the next; twice as
    many after each.

    rounding, clear: fractions of the tolerance: of the largest force, below which a force may be
    rounding (as in ``compatibility/bearing.py``), and the residual to be reached without those.
    clear_steps, clear_patience: steps to be spent on that, and those without a gain.
    """

    begin: float = 2e-4
    near: float = 1e-6
    stride: int = 10
    gained: float = 0.8
    part: float = 0.2
    wait: int = 40
    rounding: float = 10.0
    clear: float = 0.1
    clear_steps: int = 200
    clear_patience: int = 50


class Face:
    """When to try, and one attempt after another.

    product(f): N f. c (m,): the constant term. measure(f, N f): the residual of forces. h (m,):
    diag N or another metric, positive. n: degrees of freedom; with no more active contacts than
    that, a factorization reaches full accuracy (``active_set.py``).
    """

    def __init__(
        self,
        product: Callable[[np.ndarray], np.ndarray],
        c: np.ndarray,
        measure: Callable[[np.ndarray, np.ndarray], float],
        h: np.ndarray,
        n: int,
        settings: Settings = Settings(),
    ):
        self.product, self.c, self.measure, self.h, self.n = product, c, measure, h, n
        self.settings, self.wait, self.next, self.before = settings, settings.wait, 0, None

    def due(self, x: np.ndarray, done: int, residual: float) -> np.ndarray | None:
        """The contacts (m,) bool to try it with now, after ``done`` gradient steps, at forces x
        (m,); or None."""
        bears = x > 0.0
        firmly = x > residual * x.max(initial=0.0)
        before, self.before = self.before, (bears, firmly)
        if before is None and residual <= self.settings.near:
            before = self.before
        if before is None or not residual <= self.settings.begin or done < self.next:
            return None
        changed = (firmly & ~before[0]).any() or (before[1] & ~bears).any()
        return None if changed or np.count_nonzero(firmly) <= self.n else firmly

    def descend(
        self,
        bears: np.ndarray,
        x: np.ndarray,
        residual: float,
        tolerance: float,
        most: int,
        patience: int,
    ) -> tuple[np.ndarray, float, int]:
        """(forces, residual, steps): the best forces on the way from x, of this residual, with the
        contacts ``bears`` (m,) bool alone. Ends after ``patience`` steps that gain too little."""
        f = np.where(bears, x, 0.0)
        r = np.where(bears, -(self.product(f) + self.c), 0.0)
        z = r / self.h
        p, rz = z.copy(), float(r @ z)
        best, least, done = x, residual, 0
        mark, marked = residual, 0
        while done < most and least > tolerance and done - marked < patience:
            for _ in range(min(self.settings.stride, most - done)):
                done += 1
                rz = _step(self.h, bears, self.product(p), f, r, p, rz)
            cut = np.maximum(f, 0.0)
            now = self.measure(cut, self.product(cut))
            if now < least:
                best, least = cut, now
            if now <= self.settings.gained * mark:
                mark, marked = now, done
        return best, least, done

    def attempt(
        self,
        bears: np.ndarray,
        x: np.ndarray,
        residual: float,
        tolerance: float,
        done: int,
        most: int,
    ):
        """``descend`` after ``done`` steps, and whether something came of it."""
        patience = max(self.settings.stride, self.settings.part * done)
        force, reached, more = self.descend(bears, x, residual, tolerance, most, patience)
        gained = reached <= max(0.1 * residual, tolerance)
        if not gained:
            self.next, self.wait = done + more + self.wait, 2 * self.wait
        return force, reached, more, gained

    def cleared(self, x: np.ndarray, tolerance: float, most: int) -> tuple[np.ndarray, float, int]:
        """(forces, residual, steps): x without any of the forces that are rounding; residual inf
        if there are none, or no way without all of them was found. Within the tolerance it may be
        above that of x: forces that are none are worth more to step 2 than its last digits."""
        settings = self.settings
        bears = x > settings.rounding * tolerance * x.max(initial=0.0)
        if not (x[~bears] > 0.0).any() or np.count_nonzero(bears) <= self.n:
            return x, np.inf, 0
        limits = settings.clear * tolerance, min(settings.clear_steps, most)
        return self.descend(bears, x, np.inf, *limits, settings.clear_patience)


@njit(cache=True, nogil=True)
def _step(h, bears, Np, f, r, p, rz):
    """One step of conjugate gradients in place on f, r and p; the new r . z, 0 at its end."""
    curvature = 0.0
    for i in range(len(f)):
        curvature += p[i] * Np[i]
    if not (curvature > 0.0 and rz > 0.0):
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
