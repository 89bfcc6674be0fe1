"""Eq. 21 of a few contacts solved to rounding, dense, for many systems of one size at once.

For each system, with N = dt B M^-1 B^T scaled to a diagonal of ones, N = G G^T:

    w = p + N f,   0 <= f  _|_  w >= 0,

by the least distance problem (below) and from there by active sets,

    N_PP f_P = -p_P,  f_P >= 0,   w >= 0 elsewhere,

with residuals in long double and corrections by the triangular factor of G_P^T, until only rounding
remains. Thousands of wedges are as many systems of two contacts: all operations are on arrays whose
first axis is the system, g of them; r contacts, d degrees of freedom.

Least distance programming is the shortest vector in a polyhedron, dense and exact to rounding:

    min |z|   subject to   G z >= low

C. Lawson and R. Hanson (Solving Least Squares Problems, ch. 23) turn it into nonnegative least
squares, min over y >= 0 of |E y - e|, E = [G^T; low^T], e = (0, ..., 0, 1); with the last entry
rest of e - E y the multipliers are l = y / rest, and z = G^T l. There |e - E y|^2 = rest; where
nothing satisfies the inequalities both are 0 up to rounding.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from .tolerances import TOLERANCES


def multipliers(G: np.ndarray, low: np.ndarray, size: float) -> np.ndarray | None:
    """l >= 0 (m,) of the inequalities, where z = G^T l; or None if none is found.

    G (m, n), low (m,). size: of |z|, about; e is measured by it.
    """
    E = np.vstack([G.T, low / size])
    target = np.zeros(len(E))
    target[-1] = 1.0
    try:
        y, length = nnls(E, target, maxiter=30 * E.shape[1])
    except RuntimeError:  # too many iterations
        return None
    rest = 1.0 - E[-1] @ y
    if not rest > 0.0 or abs(rest - length**2) > TOLERANCES.solved * rest:
        return None
    return y * size / rest


DIGIT = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Systems:
    """B (g, r, d); response (g, r, d): B M^-1, p (g, r), both in long double; free_velocity (g, d),
    dt; root (g, r): of the diagonal of N, G (g, d, r): M^-1/2 B^T over it, load (g, d): M^1/2
    v_free. Forces (g, r) [N]."""

    B: np.ndarray
    response: np.ndarray
    p: np.ndarray
    free_velocity: np.ndarray
    root: np.ndarray
    G: np.ndarray
    load: np.ndarray
    dt: float

    @classmethod
    def of(
        cls,
        B: np.ndarray,
        mass: np.ndarray,
        response: np.ndarray,
        bias: np.ndarray,
        free_velocity: np.ndarray,
        diagonal: np.ndarray,
        dt: float,
    ) -> "Systems":
        """mass (g, d, d), diagonal (g, r): of N."""
        lower, root = np.linalg.cholesky(mass), np.sqrt(diagonal)
        moved = (mass @ free_velocity[:, :, None])[:, :, 0]
        both = np.concatenate([np.swapaxes(B, 1, 2), moved[:, :, None]], axis=2)
        both = _lower_solve(lower, both)
        G = np.sqrt(dt) * both[:, :, :-1] / root[:, None, :]
        p = bias + _times(B.astype(np.longdouble), free_velocity)
        return cls(B, response, p, free_velocity, root, G, both[:, :, -1], dt)

    def some(self, which: np.ndarray) -> "Systems":
        """The systems ``which``: bool (g,) or indices."""
        kept = (getattr(self, field.name) for field in fields(self))
        return Systems(*(a[which] if isinstance(a, np.ndarray) else a for a in kept))

    @cached_property
    def diagonal(self):
        return self.root**2

    def slack(self, force: np.ndarray) -> np.ndarray:
        """w (g, r) [m/s], in long double."""
        moved = self.dt * np.einsum("grd,gr->gd", self.response, force)
        return self.p + _times(self.B.astype(np.longdouble), moved)

    def wrong(self, force: np.ndarray) -> np.ndarray:
        """|min(f_i, w_i / N_ii)| (g, r) [N]."""
        return np.abs(np.minimum(force, self.slack(force) / self.diagonal)).astype(float)

    def solved(self):
        """(the forces, (g,) bool: whether they are found)."""
        start, going = self._least_distance()
        best, found = np.zeros(start.shape, np.longdouble), np.zeros(len(start), bool)
        active, least = start > 0.0, self.wrong(start).max(axis=1)
        at = np.flatnonzero(going)
        for _ in range(TOLERANCES.active_sets):
            force, good = self.some(at)._on(active[at])
            at, force = at[good], force[good]
            if not len(at):
                break
            slack = self.some(at).slack(force)
            ratio = slack / self.diagonal[at]
            wrong = np.abs(np.minimum(force, ratio)).max(axis=1)
            better = ~found[at] | (wrong < least[at])
            best[at[better]] = np.maximum(force[better], 0.0)
            least[at[better]], found[at] = wrong[better], True
            pulls = force.min(axis=1) < 0.0
            active[at[pulls]] &= force[pulls] > 0.0
            idle = np.where(active[at], 0.0, ratio)
            closes = ~pulls & (idle.min(axis=1) < -(DIGIT**1.2) * force.max(axis=1))
            active[at[closes], idle[closes].argmin(axis=1)] = True
            at = at[pulls | closes]
        return best.astype(float), found

    def _least_distance(self):
        """(forces, (g,) bool: whether they are found)."""
        low = -self.p.astype(float) / self.root
        moved = np.linalg.norm(self.load, axis=1) / np.sqrt(self.dt)
        size = np.maximum(moved, np.abs(low).max(axis=1))
        answers = [multipliers(G.T, l, s) for G, l, s in zip(self.G, low, size, strict=True)]
        found = np.array([answer is not None for answer in answers], bool)
        start = np.zeros(low.shape)
        if found.any():
            start[found] = np.array([a for a in answers if a is not None]) / self.root[found]
        return start, found

    def _on(self, active):
        """(forces on the ``active`` contacts (g, r) bool that leave these no slack, (g,) bool:
        whether there are such)."""
        force = np.zeros(active.shape, np.longdouble)
        count = active.sum(axis=1)
        good = (count > 0) & (count <= self.G.shape[1])
        at = np.flatnonzero(good)
        columns = active[at].any(axis=0)
        bears = active[at][:, columns]
        R, regular = _factor(self.G[at][:, :, columns], bears)
        good[at[~regular]] = False
        at, bears, upward = at[regular], bears[regular], np.linalg.inv(R[regular])
        last = np.full(len(at), np.inf)
        for _ in range(TOLERANCES.corrections):
            if not len(at):
                break
            missing = -self.some(at).slack(force[at]).astype(float) / self.root[at]
            # as many more digits as one product with the inverse has right
            more = _times(np.swapaxes(upward, 1, 2), missing[:, columns] * bears)
            more = _times(upward, more) * bears
            size = np.abs(more).max(axis=1)
            gains = size < 0.5 * last
            at, bears, upward, last = at[gains], bears[gains], upward[gains], size[gains]
            step = np.zeros((len(at), len(columns)))
            step[:, columns] = more[gains]
            force[at] += step / self.root[at]
        return force, good


def _lower_solve(lower, right):
    """lower^-1 right: (g, d, d), (g, d, k)."""
    if len(lower) == 1:
        return solve_triangular(lower[0], right[0], lower=True)[None]
    return np.linalg.solve(lower, right)


def _times(A, x):
    """A (g, i, j) times x (g, j)."""
    return np.einsum("gij,gj->gi", A, x)


def _factor(G, bears):
    """(R (g, k, k), whether it is regular (g,)): triangular factors of the columns of G (g, d, k)
    that bear; the others count as unit vectors across, so that all systems have one size."""
    if not G.size:
        return np.zeros((len(G), 0, 0)), np.zeros(len(G), bool)
    idle = ~bears
    G = np.where(bears[:, None, :], G, 0.0)
    if idle.any():
        G = np.concatenate([G, idle[:, None, :] * np.eye(idle.shape[1])], axis=1)
    R = np.linalg.qr(G, mode="r")
    size = np.abs(np.diagonal(R, axis1=1, axis2=2))
    largest = np.where(bears, size, 0.0).max(axis=1)
    return R, np.where(bears, size, np.inf).min(axis=1) > TOLERANCES.zero * largest
