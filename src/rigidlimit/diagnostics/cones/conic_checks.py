"""What vectors x and y prove of a conic program, min c . x subject to A x = b, x in K.

- optimal: A x = b and x in K; c - A^T y in K*, by which no x has less than b . y; and both agree.
- infeasible (Farkas): -A^T y in K*, b . y = 1. What is left outside the cones, e, is paid by x: no
  x of which the sum of first components is below 1 / e is admissible.
- unbounded: x in K, A x = 0, c . x = -1.

K is its own dual. All is measured in the program's own numbers, which its maker has scaled.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from ..tolerances import TOLERANCES

OPTIMAL, INFEASIBLE, UNBOUNDED, FAILED = "optimal", "infeasible", "unbounded", "failed"


@dataclass(frozen=True)
class Program:
    """cost (N,), A (k, N), b (k,). The N variables are ``free`` free ones, then ``positive``
    half-lines, then ``cones`` second-order cones of ``width`` variables each; without cones, width
    says what they would have: 3 in space."""

    cost: np.ndarray
    A: sp.csr_array
    b: np.ndarray
    free: int = 0
    positive: int = 0
    cones: int = 0
    width: int = 1

    @property
    def linear(self) -> bool:
        return self.cones == 0


@dataclass(frozen=True)
class Answer:
    """outcome: "optimal", "infeasible", "unbounded", or "failed", where nothing is proved.

    x (N,), y (k,): forces and multipliers, or the certificate; zero where there is none. value: c .
    x; gap: c . x - b . y, not negative but for rounding; residual: largest of |A x - b| and of what
    x and c - A^T y lie outside their cones, or of the certificate.
    """

    outcome: str
    x: np.ndarray
    y: np.ndarray
    value: float
    gap: float
    residual: float

    @property
    def optimal(self) -> bool:
        return self.outcome == OPTIMAL

    @property
    def sharp(self) -> bool:
        """Whether no further attempt is worth while."""
        if self.outcome in (INFEASIBLE, UNBOUNDED):
            return True
        size = _measure(self.x)
        return self.optimal and max(self.residual, abs(self.gap)) <= TOLERANCES.sharp * size


def nothing_found(program: Program) -> Answer:
    nothing = np.zeros(len(program.cost)), np.zeros(len(program.b))
    return Answer(FAILED, *nothing, np.nan, np.nan, np.inf)


def better(one: Answer, other: Answer) -> Answer:
    """Of two answers the one that proves more."""
    if one.outcome == FAILED or (other.sharp and not one.sharp):
        return other
    if other.outcome == FAILED:
        return one
    return min(one, other, key=lambda a: max(a.residual, abs(a.gap)))


def judged(program: Program, x: np.ndarray, y: np.ndarray) -> Answer:
    """What x (N,) and y (k,) prove, of whatever a solver says of them."""
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return nothing_found(program)
    best = optimum(program, balanced(program, x), y)
    for other in (_refutation(program, y), ray(program, x)):
        if not best.sharp:
            best = better(best, other)
    return best


def optimum(program: Program, x: np.ndarray, y: np.ndarray) -> Answer:
    """ "optimal" if x and y prove it, else "failed"."""
    if not program.cost.any():  # any admissible x is an optimum
        y = np.zeros_like(y)
    residual = max(imbalance(program, x), outside(program, x), _dual_residual(program, y))
    value = float(program.cost @ x)
    gap = value - float(program.b @ y)
    size = _measure(x)
    good = max(residual, abs(gap)) <= TOLERANCES.accepted * size
    return Answer(OPTIMAL if good else FAILED, x, y, value, gap, residual)


def _measure(x: np.ndarray) -> float:
    """Scale of residuals: the largest force, capped so that unbounded forces, whose balance misses
    only the load, are not accepted as balancing it."""
    return min(max(1.0, float(np.abs(x).max(initial=0.0))), TOLERANCES.great)


def _dual_residual(program: Program, y: np.ndarray) -> float:
    slack = program.cost - program.A.T @ y
    free = np.abs(slack[: program.free]).max(initial=0.0)
    return max(float(free), outside(program, slack))


def _refutation(program: Program, y: np.ndarray) -> Answer:
    work = float(program.b @ y)
    if not work > 0.0:
        return nothing_found(program)
    y = y / work
    slack = -(program.A.T @ y)
    residual = max(float(np.abs(slack[: program.free]).max(initial=0.0)), outside(program, slack))
    if residual > TOLERANCES.refuted:
        return nothing_found(program)
    return Answer(INFEASIBLE, np.zeros(len(program.cost)), y, np.nan, np.nan, residual)


def ray(program: Program, x: np.ndarray) -> Answer:
    """ "unbounded" if x is a ray that proves it, else "failed"."""
    gain = -float(program.cost @ x)
    if not gain > 0.0:
        return nothing_found(program)
    homogeneous = replace(program, b=np.zeros_like(program.b))
    x = balanced(homogeneous, x / np.abs(x).max())
    gain, size = -float(program.cost @ x), float(np.abs(x).max())
    residual = max(imbalance(homogeneous, x), outside(program, x))
    # a gain within the rounding of x is none
    if residual > TOLERANCES.refuted * size or gain <= TOLERANCES.accepted * size:
        return nothing_found(program)
    nothing = np.zeros(len(program.b))
    return Answer(UNBOUNDED, x / gain, nothing, np.nan, np.nan, residual / gain)


def imbalance(program: Program, x: np.ndarray) -> float:
    return float(np.abs(program.A @ x - program.b).max(initial=0.0))


def outside(program: Program, x: np.ndarray) -> float:
    """How far x lies outside its half-lines and cones (which are their own duals)."""
    half = x[program.free : program.free + program.positive]
    worst = max(0.0, -float(half.min(initial=0.0)))
    if program.cones:
        cone = x[program.free + program.positive :].reshape(program.cones, program.width)
        short = np.linalg.norm(cone[:, 1:], axis=1) - cone[:, 0]
        worst = max(worst, float(short.max()))
    return worst


def balanced(program: Program, x: np.ndarray) -> np.ndarray:
    """x nearest to A x = b that solvers left, each variable corrected in measure of its cone."""
    size = max(1.0, float(np.abs(x).max(initial=0.0)))
    if imbalance(program, x) <= TOLERANCES.rounding * size or not len(program.b):
        return x
    weight = np.ones(len(x))
    half = slice(program.free, program.free + program.positive)
    weight[half] = np.maximum(x[half], 0.0)
    if program.cones:
        cone = x[half.stop :].reshape(program.cones, program.width)
        weight[half.stop :] = np.repeat(np.maximum(cone[:, 0], 0.0), program.width)
    D = sp.diags_array(weight**2)
    K = program.A @ D @ program.A.T
    shift = TOLERANCES.rounding * (abs(K).max() or 1.0)
    try:
        solve = splu(sp.csc_matrix(K + shift * sp.eye_array(len(program.b)))).solve
    except RuntimeError:
        return x
    best = x
    for _ in range(4):  # the shift, and rounding, are taken out by refinement
        x = x - D @ (program.A.T @ solve(program.A @ x - program.b))
        if not imbalance(program, x) < 0.5 * imbalance(program, best):
            break
        best = x
    return best
