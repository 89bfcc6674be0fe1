"""Conic programs over forces in friction cones: min c . x subject to A x = b, x in K.

K is a product of free variables, half-lines x >= 0 and cones x_0 >= |x_1, x_2|. Without the last
(in the plane, or without friction) it is a linear program, for SciPy's HiGHS; with them a
second-order cone program, for Clarabel (P. J. Goulart, Y. Chen, arXiv:2405.12762). Both give y, the
multiplier of A x = b:  c - A^T y in K*,  and b . y <= c . x, equal at the optimum.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ..tolerances import TOLERANCES

OPTIMAL, INFEASIBLE, UNBOUNDED, FAILED = "optimal", "infeasible", "unbounded", "failed"


@dataclass(frozen=True)
class Program:
    """cost (N,), A (k, N), b (k,). The N variables are ``free`` free ones, then ``positive``
    half-lines, then ``cones`` second-order cones of ``width`` variables each."""

    cost: np.ndarray
    A: sp.csr_array
    b: np.ndarray
    free: int = 0
    positive: int = 0
    cones: int = 0
    width: int = 3

    @property
    def linear(self) -> bool:
        return self.cones == 0


@dataclass(frozen=True)
class Answer:
    """outcome: "optimal", "infeasible", "unbounded" or "failed". x (N,), y (k,): forces and
    multipliers, zero unless optimal. value: c . x; gap: c . x - b . y, not negative but for
    rounding; residual: largest of |A x - b| and of what x and c - A^T y lie outside their cones."""

    outcome: str
    x: np.ndarray
    y: np.ndarray
    value: float
    gap: float
    residual: float

    @property
    def optimal(self) -> bool:
        return self.outcome == OPTIMAL


def solve(program: Program) -> Answer:
    """The optimum. Raises InputError where cones ask for Clarabel and it is not installed."""
    if program.linear:
        return _by_highs(program)
    return Series(program).solve(program.cost)


class Series:
    """Programs that differ in their cost alone, by Clarabel, which keeps what it has set up."""

    def __init__(self, program: Program):
        clarabel = _clarabel()
        self.program = program
        N, k = len(program.cost), len(program.b)
        bounded = N - program.free
        A = sp.vstack(
            [
                program.A,
                sp.hstack([sp.csr_array((bounded, program.free)), -sp.eye_array(bounded)]),
            ],
            format="csc",
        )
        cones = [clarabel.ZeroConeT(k)] if k else []
        if program.positive:
            cones.append(clarabel.NonnegativeConeT(program.positive))
        cones += [clarabel.SecondOrderConeT(program.width)] * program.cones
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.presolve_enable = False, False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCES.solved
        self.solver = clarabel.DefaultSolver(
            sp.csc_matrix((N, N)),
            np.asarray(program.cost, float),
            sp.csc_matrix(A),
            np.concatenate([program.b, np.zeros(bounded)]),
            cones,
            settings,
        )

    def solve(self, cost: np.ndarray) -> Answer:
        """The optimum for the cost (N,)."""
        self.solver.update(q=np.asarray(cost, float))
        found = self.solver.solve()
        told = str(found.status)
        if told in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            return _none(self.program, INFEASIBLE)
        if told in ("DualInfeasible", "AlmostDualInfeasible"):
            return _none(self.program, UNBOUNDED)
        k = len(self.program.b)
        x, y = np.array(found.x), -np.array(found.z)[:k]
        return judged(self.program, np.asarray(cost, float), x, y)


def _clarabel():
    try:
        import clarabel
    except ImportError:
        raise InputError(
            "friction in space makes second-order cones, and no solver for them is installed; "
            "expected Clarabel: pip install 'rigidlimit[determinacy]'"
        ) from None
    return clarabel


def _by_highs(program: Program) -> Answer:
    from scipy.optimize import linprog

    bounds = [(None, None)] * program.free + [(0.0, None)] * program.positive
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    for presolve in (True, False):  # presolve cannot always tell infeasible from unbounded
        found = linprog(
            program.cost,
            A_eq=sp.csc_array(program.A),
            b_eq=program.b,
            bounds=bounds,
            method="highs",
            options=tight | {"presolve": presolve},
        )
        if found.status in (0, 3) or (found.status == 2 and not presolve):
            break
    if found.status == 2:
        return _none(program, INFEASIBLE)
    if found.status == 3:
        return _none(program, UNBOUNDED)
    if found.x is None:
        return _none(program, FAILED)
    return judged(program, program.cost, found.x, found.eqlin.marginals)


def judged(program: Program, cost: np.ndarray, x: np.ndarray, y: np.ndarray) -> Answer:
    """The answer, with gap and residual as they are measured here."""
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return _none(program, FAILED)
    slack = cost - program.A.T @ y
    residual = max(
        float(np.abs(program.A @ x - program.b).max(initial=0.0)),
        outside(program, x),
        float(np.abs(slack[: program.free]).max(initial=0.0)),
        outside(program, slack),
    )
    value = float(cost @ x)
    gap = value - float(program.b @ y)
    size = max(1.0, float(np.abs(x).max(initial=0.0)))
    good = max(residual, abs(gap)) <= TOLERANCES.accepted * size
    return Answer(OPTIMAL if good else FAILED, x, y, value, gap, residual)


def outside(program: Program, x: np.ndarray) -> float:
    """How far x lies outside its half-lines and cones (which are their own duals)."""
    half = x[program.free : program.free + program.positive]
    worst = max(0.0, -float(half.min(initial=0.0)))
    if program.cones:
        cone = x[program.free + program.positive :].reshape(program.cones, program.width)
        short = np.linalg.norm(cone[:, 1:], axis=1) - cone[:, 0]
        worst = max(worst, float(short.max()))
    return worst


def _none(program: Program, outcome: str) -> Answer:
    nothing = np.zeros(len(program.cost)), np.zeros(len(program.b))
    return Answer(outcome, *nothing, np.nan, np.nan, np.nan)
