"""Conic programs over forces in friction cones: min c . x subject to A x = b, x in K.

K is a product of free variables, half-lines x >= 0 and cones x_0 >= |x_1, x_2|. Without the last
it is a linear program, in the plane for SciPy's HiGHS; with them a second-order cone program, for
Clarabel (P. J. Goulart, Y. Chen, arXiv:2405.12762). In space Clarabel has linear programs first,
which are those of friction 0 or without end: large ones take it a hundredth of the time.

No outcome is a solver's word. Each is what ``conic_checks.py`` finds of its vectors: optimal by x
and y on either side of the optimum, infeasible and unbounded by certificates. What no attempt
proves is "failed", which is no finding.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from ..._support.deadline import left
from ...errors import MissingExtra
from ..tolerances import TOLERANCES
from .conic_checks import (
    FAILED,
    INFEASIBLE,
    OPTIMAL,
    UNBOUNDED,
    Answer,
    Program,
    better,
    judged,
    nothing_found,
)

__all__ = ["FAILED", "INFEASIBLE", "OPTIMAL", "UNBOUNDED", "Answer", "Program", "Series", "solve"]

Vectors = tuple[np.ndarray, np.ndarray]
"""x (N,) and y (k,), whatever they show."""


def solve(program: Program) -> Answer:
    """What is proved of the optimum: by a second way where the first one does not prove it.

    Solvers stop at the deadline (``_support.deadline``), with what was proved until then.
    Raises MissingExtra where cones require Clarabel and it is not installed.
    """
    return _first_proof(program, _attempts(program))


def _attempts(program: Program) -> Iterator[Vectors]:
    in_space = program.width > 2 and find_spec("clarabel") is not None
    if in_space or not program.linear:
        yield from _by_clarabel(program)
    if program.linear and left():
        yield from _by_highs(program)


def _first_proof(program: Program, attempts: Iterator[Vectors]) -> Answer:
    best = nothing_found(program)
    for x, y in attempts:
        best = better(best, judged(program, x, y))
        if best.sharp:
            break
    return best


class Series:
    """Programs that differ in their cost alone, by Clarabel, which keeps what it has set up."""

    def __init__(self, program: Program):
        self.program = program
        self.solver = _solver(program)

    def solve(self, cost: np.ndarray) -> Answer:
        """The optimum for the cost (N,)."""
        program = replace(self.program, cost=np.asarray(cost, float))
        self.solver.update(q=program.cost)
        answer = judged(program, *_vectors(program, self.solver.solve()))
        return answer if answer.sharp else better(answer, solve(program))


def _by_clarabel(program: Program) -> Iterator[Vectors]:
    """As it is, without Clarabel's own scaling, and in units of the forces found."""
    x, y = _vectors(program, _solver(program, time_limit=left()).solve())
    yield x, y
    if len(program.b) and left():
        limited = _solver(program, equilibrate_enable=False, time_limit=left())
        yield _vectors(program, limited.solve())
    if left() and np.isfinite(x).all() and np.abs(x).max(initial=0.0) > 0.0:
        unit = _units(program, x)
        columns = sp.csr_array(program.A @ sp.diags_array(unit))
        row = 1.0 / np.maximum(abs(columns).max(axis=1).toarray().ravel(), 1e-30)
        size = float(np.abs(row * program.b).max(initial=0.0)) or 1.0
        scaled = replace(
            program,
            cost=program.cost * unit,
            A=sp.csr_array(sp.diags_array(row) @ columns),
            b=row * program.b / size,
        )
        x, y = _vectors(scaled, _solver(scaled, time_limit=left()).solve())
        yield x * unit * size, y * row


def _units(program: Program, x: np.ndarray) -> np.ndarray:
    """Of each variable, (N,): its size in x, one for a cone; at least 1e-6 of the largest."""
    size = np.abs(x)
    if program.cones:
        first = program.free + program.positive
        cone = size[first:].reshape(program.cones, program.width)
        size[first:] = np.repeat(cone.max(axis=1), program.width)
    return np.maximum(size, 1e-6 * size.max())


def _solver(program: Program, **options):
    clarabel = _clarabel()
    N, k = len(program.cost), len(program.b)
    bounded = N - program.free
    A = sp.vstack(
        [program.A, sp.hstack([sp.csr_array((bounded, program.free)), -sp.eye_array(bounded)])],
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
    settings.tol_infeas_abs = settings.tol_infeas_rel = TOLERANCES.solved
    for name, value in options.items():
        setattr(settings, name, value)
    return clarabel.DefaultSolver(
        sp.csc_matrix((N, N)),
        np.asarray(program.cost, float),
        sp.csc_matrix(A),
        np.concatenate([program.b, np.zeros(bounded)]),
        cones,
        settings,
    )


def _vectors(program: Program, found) -> Vectors:
    return np.array(found.x), -np.array(found.z)[: len(program.b)]


def _clarabel():
    try:
        import clarabel
    except ImportError:
        raise MissingExtra(
            "friction in space makes second-order cones, and no solver for them is installed; "
            "expected Clarabel: pip install 'rigidlimit[determinacy]'"
        ) from None
    return clarabel


def _by_highs(program: Program) -> Iterator[Vectors]:
    """The optimum; else a ray without end, or what is left unbalanced at least and why."""
    N, k = len(program.cost), len(program.b)
    bounds = [(None, None)] * program.free + [(0.0, None)] * program.positive
    for presolve in (True, False):  # presolve cannot always distinguish infeasible from unbounded
        found = _linprog(program.cost, program.A, program.b, bounds, presolve)
        if found.x is not None:
            yield found.x, found.eqlin.marginals
        if found.status in (2, 3, 4) or not left():
            break
    if not left():
        return
    unbalanced = sp.hstack([program.A, sp.eye_array(k), -sp.eye_array(k)], format="csr")
    cost = np.concatenate([np.zeros(N), np.ones(2 * k)])
    found = _linprog(cost, unbalanced, program.b, bounds + [(0.0, None)] * (2 * k), False)
    if found.x is not None:
        yield found.x[:N], found.eqlin.marginals
    rises = sp.vstack([program.A, program.cost[None, :]], format="csr")
    found = _linprog(np.zeros(N), rises, np.append(np.zeros(k), -1.0), bounds, False)
    if found.x is not None:
        yield found.x, np.zeros(k)


def _linprog(cost, A, b, bounds, presolve: bool):
    from scipy.optimize import linprog

    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    return linprog(
        cost,
        A_eq=sp.csc_array(A),
        b_eq=b,
        bounds=bounds,
        method="highs",
        options=tight | {"presolve": presolve, "time_limit": left()},
    )
