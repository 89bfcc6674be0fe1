"""Smooth contacts, d = 1: no-tension springs, f = k max(0, c)^(p-1) (eq. 31), and their network.

    min over x of  E(x) = sum_i k_i/p max(0, c_i)^p + F . x,     c = s - B x

Contact i resists closing: its overlap c_i [m] gives the force f_i (eqs 28, 31). E is convex and
once differentiable (p > 1) with

    grad E = F - B^T f(c),        Hessian = B^T D B,   D_i = (p-1) k_i max(0, c_i)^(p-2).

With s = 0 this is eq. 32, the dual of eq. 36. (The load's sign there: stationarity must give
B^T f = F~, so F = F~ for c = -B x.) In the words of ``law.py``, the displacement is w = -c.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from ..linear import Network
from .sums import WHOLE, Sums


@dataclass(frozen=True)
class SmoothNetwork:
    """The problem above: network of the rows B (m, n), stiffness k (m,) [N/m^(p-1)], exponent p,
    load F (n,) [N], offset s (m,) [m] or None. sums: over what other processes have too."""

    network: Network
    stiffness: np.ndarray
    exponent: float
    load: np.ndarray
    offset: np.ndarray | None = None
    sums: Sums = WHOLE

    def overlap(self, x: np.ndarray) -> np.ndarray:
        """c (m,) of x (n,)."""
        moved = self.network.B @ x
        return -moved if self.offset is None else self.offset - moved

    def force(self, overlap: np.ndarray) -> np.ndarray:
        """f (m,) of overlaps c (m,)."""
        return forces_of(overlap, self.stiffness, self.exponent)

    def tangent(self, overlap: np.ndarray, floor: float) -> np.ndarray:
        """D (m,), with overlaps of closed contacts lifted to ``floor`` [m]."""
        return tangents(overlap, self.stiffness, self.exponent, floor)

    def gradient(self, force: np.ndarray) -> np.ndarray:
        """F - B^T f (n,)."""
        return self.load - self.network.load_of(force)

    def imbalance(self, force: np.ndarray) -> float:
        """|B^T f - F|_inf."""
        return self.sums.largest(self.gradient(force))


@dataclass(frozen=True)
class Iterate:
    """x (n,) with overlaps c (m,), their forces (m,) and the gradient of E (n,); size:
    |grad E|_inf."""

    x: np.ndarray
    overlap: np.ndarray
    force: np.ndarray
    gradient: np.ndarray
    size: float

    @classmethod
    def at(
        cls, problem: SmoothNetwork, x: np.ndarray, overlap: np.ndarray | None = None
    ) -> "Iterate":
        """overlap: c as it was changed along with x; None: that of x."""
        overlap = problem.overlap(x) if overlap is None else overlap
        force = problem.force(overlap)
        gradient = problem.gradient(force)
        return cls(x, overlap, force, gradient, problem.sums.largest(gradient))


@njit(cache=True)
def law(c: float, k: float, p: float) -> float:
    """f > 0 of an overlap c > 0: k c^(p-1), eq. 31."""
    return k * c if p == 2.0 else k * c ** (p - 1.0)


@njit(cache=True, nogil=True)
def forces_of(c: np.ndarray, k: np.ndarray, p: float) -> np.ndarray:
    """Forces (m,) of the overlaps (m,)."""
    f = np.zeros(len(c))
    for i in range(len(c)):
        if c[i] > 0.0:
            f[i] = law(c[i], k[i], p)
    return f


@njit(cache=True, nogil=True)
def tangents(c: np.ndarray, k: np.ndarray, p: float, floor: float) -> np.ndarray:
    """D = df/dc of closed contacts, with c lifted to ``floor`` [m]; 0 where open."""
    d = np.zeros(len(c))
    for i in range(len(c)):
        if c[i] > 0.0:
            d[i] = k[i] if p == 2.0 else (p - 1.0) * k[i] * max(c[i], floor) ** (p - 2.0)
    return d


def stretch_to_law(dc: np.ndarray, k: np.ndarray, p: float, sums: Sums = WHOLE) -> float:
    """Factor by which overlaps dc (m,) of linear springs k become those of the power law, at the
    largest of their forces."""
    force = k * np.maximum(dc, 0.0)
    most = sums.most(force)
    softest = sums.least(float(k[force == most].min(initial=np.inf)))
    return (most / softest) ** (1 / (p - 1)) / max(sums.most(dc), 1e-300)
