"""A start for Newton where Newton alone wanders: the central path of eq. 36 (interior point).

With springs of very unlike stiffness, or hardly more contacts than degrees of freedom, Newton on
the no-tension network can spend fifty and more steps between wrong active sets. The path

    B^T f = F,    w = (f/k)^(1/(p-1)) + B u - s,    f_i w_i = mu,    f, w > 0,    mu -> 0

leads to the answer of ``equilibrium`` for M = 0 in about twenty steps whatever the stiffness
ratios. Each step is Newton on these equations, predictor and corrector (S. Mehrotra, SIAM J.
Optim. 2 (1992) 575). Eliminating f and w leaves the network's own matrix,

    B^T D B du = rhs,    D_i = f_i / (w_i + q (f_i/k_i)^q),    q = 1/(p-1),

smooth in the contacts instead of on or off, and solved loosely: only a start is wanted.

``Tangent`` and ``mehrotra`` serve contact dynamics as well (``dynamics/interior.py``): M u for F,
and rigid contacts.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import njit

from ..linear import LinearStats

ROUGH, FAIR = 0.1, 0.02
"""Relative accuracy of the linear solves: of the predictor, which only sets the centring, and of
the step taken."""

INTERIOR = 0.95
"""Part of the way to the nearest bound that a step may go."""


@dataclass(frozen=True)
class PathPoint:
    """Where the path was left: u (n,), forces f (m,) and slacks w (m,), all positive.

    imbalance: |B^T f - F|_inf; gap: f . w over the energy sum of f (f/k)^q.
    """

    u: np.ndarray
    force: np.ndarray
    slack: np.ndarray
    imbalance: float
    gap: float
    iterations: int


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a load that is not carried
def follow(
    network,
    stiffness,
    exponent,
    *,
    load,
    offset=None,
    tolerance=1e-6,
    gap_tolerance=None,
    max_iterations=60,
    start: PathPoint | None = None,
    guess: np.ndarray | None = None,
    interior: float = INTERIOR,
    stats: LinearStats,
) -> PathPoint:
    """Follow the path until imbalance and gap are below ``tolerance``; loads of order one.

    gap_tolerance: another one for the gap. start: where it was left, to go on from there. guess
    (m,): forces f >= 0 that about balance the load, to begin with. interior: see ``mehrotra``.
    """
    gap_tolerance = tolerance if gap_tolerance is None else gap_tolerance
    B, k = network.B, stiffness
    s = np.zeros(B.shape[0]) if offset is None else offset
    q = 1.0 / (exponent - 1.0)
    if start is not None:
        u, f, w = start.u, start.force, start.slack
    elif guess is not None and guess.any():
        u, f, w = _begin_from(guess, k, q, len(load))
    else:
        u, f, w = _begin(network, k, s, q, load, stats)
    for iteration in range(max_iterations + 1):
        yielding = (f / k) ** q
        imbalance = network.carried(f) - load
        total = float(f @ w)
        size, gap = float(np.abs(imbalance).max()), float(np.divide(total, f @ yielding))
        arrived = size <= tolerance and gap <= gap_tolerance
        if arrived or iteration == max_iterations or not np.isfinite(size + gap):
            break
        D = f / (w + q * yielding)
        matrix = network.system(D, 1e-12 * float(D.max(initial=1e-300)))
        solve = partial(_solve, matrix, stats=stats)
        mismatch = yielding + B @ u - s - w
        tangent = Tangent(network, f, w, q * yielding, imbalance, mismatch, solve)
        t, du, df, dw = mehrotra(tangent, interior=interior)
        u, f, w = u + t * du, f + t * df, w + t * dw
    return PathPoint(u, f, w, size, gap, iteration)


def _begin(network, k, s, q, load, stats):
    """(u, f, w) of every contact as a linear spring, as in a cold start of Newton, lifted."""
    u = _solve(network.system(k.astype(float), 1e-12 * k.max()), -load, FAIR, stats=stats)
    f = -k * (network.B @ u)
    # 1: where the linear solve could not even begin
    f = np.maximum(f, 0.1 * (np.abs(f).max() or 1.0))
    if q != 1.0:
        u = np.zeros_like(u)
    yielding = (f / k) ** q
    return u, f, np.maximum(network.B @ u - s + yielding, 0.1 * yielding)


def _begin_from(guess, k, q, n):
    """(u, f, w) with f w = mu everywhere, and forces near those of ``guess``."""
    f = np.maximum(guess, guess.mean())
    mu = float(np.mean(f * (f / k) ** q))
    return np.zeros(n), f, mu / f


class Tangent:
    """The equations linearised at one point of the path; ``step`` is Newton's for f w = target.

    compliance: f d/df (f/k)^q = q (f/k)^q. imbalance: B^T f - F. mismatch: (f/k)^q + B u - s - w.
    solve(rhs, accuracy): with M + B^T D B, D = f / (w + compliance). refined: take the rounding of
    D out again, by one more solve; this needs residuals of f by itself, not of D B u.
    """

    def __init__(self, network, f, w, compliance, imbalance, mismatch, solve, *, refined=False):
        self.network, self.f, self.w, self.compliance = network, f, w, compliance
        self.imbalance, self.mismatch = imbalance, mismatch
        self.solve, self.refined = solve, refined

    def step(self, target, accuracy):
        """(du, df, dw)."""
        f, B = self.f, self.network.B
        push = target - f * self.w - f * self.mismatch
        du, df, opening = self._solved(self.imbalance, push, accuracy)
        if self.refined:
            slope = self.w + self.compliance
            imbalance = self.imbalance + self.network.carried(df) - self.network.mass @ du
            more = self._solved(imbalance, push - f * opening - slope * df, accuracy)
            du, df = du + more[0], df + more[1]
            opening = B @ du
        return du, df, self.compliance / f * df + opening + self.mismatch

    def _solved(self, imbalance, push, accuracy):
        """(du, df, B du) of M du - B^T df = imbalance, f B du + (w + compliance) df = push."""
        slope = self.w + self.compliance
        du = self.solve(imbalance + self.network.carried(push / slope), accuracy)
        opening = self.network.B @ du
        return du, (push - self.f * opening) / slope, opening


def mehrotra(tangent: Tangent, *, interior):
    """(t, du, df, dw): predictor, corrector, and the part t <= 1 of the step to go.

    interior: part of the way to the nearest bound that a step may go.
    """
    f, w = tangent.f, tangent.w
    du, df, dw = tangent.step(0.0, ROUGH)
    t = min(room(f, df), room(w, dw))
    total = float(f @ w)
    ahead = float((f + t * df) @ (w + t * dw))
    centring = min(ahead / total, 1.0) ** 3 * total / len(f)
    du, df, dw = tangent.step(centring - df * dw, FAIR)
    return min(1.0, interior * min(room(f, df), room(w, dw))), du, df, dw


def _solve(matrix, rhs, accuracy, *, stats):
    return matrix.solve(rhs, target=accuracy * float(np.abs(rhs).max()), stats=stats)


@njit(cache=True, nogil=True)
def room(x, dx):
    """The largest t <= 1/INTERIOR with x + t dx >= 0."""
    t = 1.0 / INTERIOR
    for i in range(len(x)):
        if dx[i] < 0.0:
            t = min(t, -x[i] / dx[i])
    return t
