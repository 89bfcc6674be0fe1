"""The interior path of smooth contacts, where Newton alone wanders (eq. 36).

With springs of very unlike stiffness, or hardly more contacts than degrees of freedom, Newton on
the no-tension network can spend fifty and more steps between wrong active sets. The path

    B^T f = F,    w = (f/k)^(1/(p-1)) + B u - s,    f_i w_i = t,    f, w > 0,    t -> 0

leads to the answer of ``smooth_newton.py`` in about twenty steps whatever the stiffness ratios.
Each is a predictor and a corrector (``interior.py``). Eliminating f and w leaves the network's own
matrix,

    B^T D B du = rhs,    D_i = f_i / (w_i + q (f_i/k_i)^q),    q = 1/(p-1),

smooth in the contacts instead of on or off, and solved loosely: only a start is wanted. It is
``rough_path.py`` without friction, where what is a block a contact there is one division.

``Tangent`` is also used for rigid contacts: contact dynamics (``dynamics/interior.py``, with M u
for F) and the sets of admissible forces (``diagnostics/analytic_centre.py``, ``force_bounds.py``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit

from ..linear import LinearStats, Network
from ..linear.protocol import LinearSystem
from .interior import Settings, predictor_corrector
from .smooth_law import SmoothNetwork
from .sums import WHOLE, Sums

LOOSE = Settings(fraction=0.95, predictor=0.1, corrector=0.02)
"""Loose linear systems: of the end of this path only a start for Newton is wanted."""

SHIFT = 1e-12
"""Proximal term over the largest D: motions that no contact resists."""


class Step(NamedTuple):
    """Changes of u (n,), f and w (m,)."""

    u: np.ndarray
    force: np.ndarray
    slack: np.ndarray


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


class Tangent:
    """``interior.Tangent`` at u, forces f and slacks w (m,).

    compliance (m,): f d/df (f/k)^q = q (f/k)^q, zero for rigid contacts. imbalance (n,):
    B^T f - F. mismatch (m,): (f/k)^q + B u - s - w. solve(rhs, accuracy): with M + B^T D B,
    D = f / (w + compliance). refined: take the rounding of D out again, by one more solve; this
    needs residuals of f by itself, not of D B u. sums: over what other processes have too.
    """

    def __init__(
        self,
        network: Network,
        f: np.ndarray,
        w: np.ndarray,
        compliance: np.ndarray,
        imbalance: np.ndarray,
        mismatch: np.ndarray,
        solve: Callable[[np.ndarray, float], np.ndarray],
        *,
        refined: bool = False,
        sums: Sums = WHOLE,
    ):
        self.network, self.f, self.w, self.compliance = network, f, w, compliance
        self.imbalance, self.mismatch = imbalance, mismatch
        self.solve, self.refined, self.sums = solve, refined, sums
        self.mean = _mean_product(f, w, sums)

    def direction(self, target: float, accuracy: float, after: Step | None = None) -> Step:
        f, B = self.f, self.network.B
        second = 0.0 if after is None else after.force * after.slack
        push = target - second - f * self.w - f * self.mismatch
        du, df, opening = self._solved(self.imbalance, push, accuracy)
        if self.refined:
            slope = self.w + self.compliance
            imbalance = self.imbalance + self.network.load_of(df) - self.network.mass @ du
            more = self._solved(imbalance, push - f * opening - slope * df, accuracy)
            du, df = du + more[0], df + more[1]
            opening = B @ du
        return Step(du, df, self.compliance / f * df + opening + self.mismatch)

    def _solved(self, imbalance, push, accuracy):
        """(du, df, B du) of M du - B^T df = imbalance, f B du + (w + compliance) df = push."""
        slope = self.w + self.compliance
        du = self.solve(imbalance + self.network.load_of(push / slope), accuracy)
        opening = self.network.B @ du
        return du, (push - self.f * opening) / slope, opening

    def length(self, direction: Step, fraction: float) -> float:
        t = min(room(self.f, direction.force), room(self.w, direction.slack))
        return min(1.0, fraction * self.sums.least(t))

    def mean_after(self, direction: Step, length: float) -> float:
        f, w = self.f + length * direction.force, self.w + length * direction.slack
        return _mean_product(f, w, self.sums)


def _mean_product(f: np.ndarray, w: np.ndarray, sums: Sums) -> float:
    """Of forces and slacks (m,), over all contacts."""
    f, w = sums.own(f), sums.own(w)
    return sums.mean(float(f @ w), len(f))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a load that is not carried
def follow(
    problem: SmoothNetwork,
    *,
    tolerance: float = 1e-6,
    gap_tolerance: float | None = None,
    max_iterations: int = 60,
    start: PathPoint | None = None,
    guess: np.ndarray | None = None,
    settings: Settings = LOOSE,
    stats: LinearStats,
) -> PathPoint:
    """Follow the path until imbalance and gap are below ``tolerance``; loads of order one.

    gap_tolerance: another one for the gap. start: point of an earlier path to continue. guess
    (m,): forces f >= 0 that about balance the load, to begin with.
    """
    gap_tolerance = tolerance if gap_tolerance is None else gap_tolerance
    network, k, load, sums = problem.network, problem.stiffness, problem.load, problem.sums
    B, q = network.B, 1.0 / (problem.exponent - 1.0)
    s = np.zeros(B.shape[0]) if problem.offset is None else problem.offset
    if start is not None:
        u, f, w = start.u, start.force, start.slack
    elif guess is not None and sums.any(guess):
        u, f, w = _begin_from(guess, k, q, load, sums)
    else:
        u, f, w = _begin(problem, s, q, stats)
    for iteration in range(max_iterations + 1):
        yielding = (f / k) ** q
        imbalance = network.load_of(f) - load
        energy, total = (sums.total(sums.own(f) @ sums.own(x)) for x in (yielding, w))
        size, gap = sums.largest(imbalance), float(np.divide(total, energy))
        arrived = size <= tolerance and gap <= gap_tolerance
        if arrived or iteration == max_iterations or not np.isfinite(size + gap):
            break
        D = f / (w + q * yielding)
        system = network.system(D, SHIFT * max(sums.most(D), 1e-300))
        solve = partial(solve_loosely, system, stats=stats, sums=sums)
        mismatch = yielding + B @ u - s - w
        tangent = Tangent(network, f, w, q * yielding, imbalance, mismatch, solve, sums=sums)
        t, step = predictor_corrector(tangent, settings)
        u, f, w = u + t * step.u, f + t * step.force, w + t * step.slack
    return PathPoint(u, f, w, size, gap, iteration)


def _begin(problem, s, q, stats):
    """(u, f, w) of every contact as a linear spring, as in a cold start of Newton, lifted."""
    network, k, sums = problem.network, problem.stiffness, problem.sums
    system = network.system(k.astype(float), SHIFT * sums.most(k))
    u = solve_loosely(system, -problem.load, LOOSE.corrector, stats=stats, sums=sums)
    f = -k * (network.B @ u)
    # 1: where the linear solve could not even begin
    f = np.maximum(f, 0.1 * (sums.largest(f) or 1.0))
    if q != 1.0:
        u = np.zeros_like(u)
    yielding = (f / k) ** q
    return u, f, np.maximum(network.B @ u - s + yielding, 0.1 * yielding)


def _begin_from(guess, k, q, load, sums):
    """(u, f, w) with f w = t everywhere, and forces near those of ``guess``."""

    def mean(values: np.ndarray) -> float:
        mine = sums.own(values)
        return sums.mean(float(mine.sum()), len(mine))

    f = np.maximum(guess, mean(guess))
    return np.zeros(len(load)), f, mean(f * (f / k) ** q) / f


def forces_at_end(
    problem: SmoothNetwork, point: PathPoint, *, negligible: float, softest: float
) -> tuple[np.ndarray, np.ndarray]:
    """(forces (m,), tangent stiffness (m,)) at the end of the path, to be balanced with it.

    negligible: part of the largest force below which a force is none: on the path no force is zero.
    softest: tangent stiffness at the largest force over the largest, for p < 2, where contacts are
    the stiffer the less force they carry, as f^(1 - q).
    """
    q, most = 1.0 / (problem.exponent - 1.0), problem.sums.most(point.force)
    least = softest ** (1.0 / (q - 1.0)) * most if q > 1.0 else 0.0
    with np.errstate(all="ignore"):  # a path that lost its way
        yielding = (np.maximum(point.force, least) / problem.stiffness) ** q
        tangent = point.force / (point.slack + q * yielding)
    return np.where(point.force > negligible * most, point.force, 0.0), tangent


def solve_loosely(
    system: LinearSystem, rhs: np.ndarray, accuracy: float, *, stats: LinearStats,
    sums: Sums = WHOLE,
) -> np.ndarray:  # fmt: skip
    """x of K x = rhs to that relative accuracy."""
    return system.solve(rhs, target=accuracy * sums.largest(rhs), stats=stats)


@njit(cache=True, nogil=True)
def room(x: np.ndarray, dx: np.ndarray) -> float:
    """The largest t with x + t dx >= 0."""
    t = np.inf
    for i in range(len(x)):
        if dx[i] < 0.0:
            t = min(t, -x[i] / dx[i])
    return t
