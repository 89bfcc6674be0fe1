"""Least and greatest force of single contacts over P = {f >= 0 : B^T f = F}, by HiGHS.

2 linear programs a contact (or a sum of forces, as the components of rough contacts are in the
plane) that differ in their objective only. Small systems: primal simplex,
each from the last vertex, neighbours one after another. Large systems: the least forces that way
(0 is near everywhere), with a limit on the pivots beyond which, as for the greatest forces, the
interior point method takes over: force chains gathered from far away take thousands of pivots.
Threads share the contacts. Without highspy: ``scipy.optimize.linprog``, each from scratch.

A value counts if forces and multipliers prove it, one that grows without end if its ray does
(``cones/conic_checks.py``); what neither proves is nan.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from .cones.conic_checks import UNBOUNDED, Program, optimum, ray


@dataclass(frozen=True)
class Settings:
    """Of the linear programs.

    simplex_size: largest number of contacts for which simplex alone is faster.
    pivots: pivots after which a large problem is handed to the interior point method.
    feasibility: of constraints and of reduced costs, loads of order one.
    """

    simplex_size: int = 4000
    pivots: int = 600
    feasibility: float = 1e-9


SETTINGS = Settings()


def extremes(B: sp.csr_array, load: np.ndarray, wanted: np.ndarray, *, workers: int | None = None):
    """((k, 2) least and greatest values, method in words). infinite where unbounded, nan where
    neither was proved.

    B (m, n), load (n,) of order one; P must not be empty. wanted: contacts (k,), or sums of forces,
    the rows of a sparse (k, m).
    """
    sums = wanted if sp.issparse(wanted) else _single(wanted, B.shape[0])
    if not sums.shape[0]:
        return np.zeros((0, 2)), "none needed"
    try:
        import highspy  # noqa: F401
    except ImportError:
        return _by_linprog(B, load, sums), "linear programs (HiGHS of scipy, cold starts)"
    place = np.empty(B.shape[0], int)
    place[reverse_cuthill_mckee(sp.csr_matrix(B @ B.T), symmetric_mode=True)] = np.arange(
        len(place)
    )
    order = np.argsort(place[sums.indices[sums.indptr[:-1]]], kind="stable")
    workers = min(workers or min(4, os.cpu_count() or 1), -(-sums.shape[0] // 8))
    large = B.shape[0] > SETTINGS.simplex_size
    basis = _first_basis(B, load) if large else None
    pieces = np.array_split(order, workers)
    out = np.empty((sums.shape[0], 2))
    with ThreadPoolExecutor(workers) as pool:
        jobs = [pool.submit(_chain, B, load, sums[piece], basis, large) for piece in pieces]
        for piece, job in zip(pieces, jobs, strict=True):
            out[piece] = job.result()
    method = "linear programs (HiGHS, warm-started simplex"
    return out, method + (" and interior point)" if large else ")")


def _single(contacts, m: int) -> sp.csr_array:
    """Sums of one force each."""
    contacts = np.asarray(contacts, int)
    k = len(contacts)
    return sp.csr_array((np.ones(k), (np.arange(k), contacts)), shape=(k, m))


def _model(B, load, **options):
    import highspy

    m, n = B.shape
    columns = sp.csc_array(B.T)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = m, n
    lp.col_cost_ = np.zeros(m)
    lp.col_lower_, lp.col_upper_ = np.zeros(m), np.full(m, highspy.kHighsInf)
    lp.row_lower_ = lp.row_upper_ = np.asarray(load, float)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = columns.indptr
    lp.a_matrix_.index_ = columns.indices
    lp.a_matrix_.value_ = columns.data
    model = _silent()
    model.setOptionValue("primal_feasibility_tolerance", SETTINGS.feasibility)
    model.setOptionValue("dual_feasibility_tolerance", SETTINGS.feasibility)
    for name, value in options.items():
        model.setOptionValue(name, value)
    model.passModel(lp)
    model.balance = sp.csr_array(B.T), lp.row_lower_
    return model


def _silent():
    """A silent model: HiGHS prints its version as soon as callbacks are enabled."""
    import highspy

    class Silent(highspy.Highs):
        def enableCallbacks(self):
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    model = Silent()
    model.setOptionValue("output_flag", False)
    return model


def _first_basis(B, load):
    """A vertex of P, by interior point and crossover."""
    model = _model(B, load, solver="ipm")
    model.changeColCost(0, 1.0)
    model.run()
    return model.getBasis()


def _chain(B, load, sums, basis, large):
    """Extremes of some sums of forces, one after another."""
    simplex = _model(B, load, solver="simplex", presolve="off", simplex_strategy=4)
    if basis is not None:
        simplex.setBasis(basis)
    inner = _model(B, load, solver="ipm", run_crossover="off") if large else None
    out = np.empty((sums.shape[0], 2))
    for side, sign in ((0, 1.0), (1, -1.0)):
        for row in range(sums.shape[0]):
            part = slice(sums.indptr[row], sums.indptr[row + 1])
            total = sums.indices[part], sign * sums.data[part]
            value = None
            if large and side == 1:
                value = _optimum(inner, total)
            if value is None:
                value = _optimum(simplex, total, SETTINGS.pivots if inner is not None else None)
            if value is None and inner is not None:
                value = _optimum(inner, total)
            if value is None:  # the last word: simplex without limit
                value = _optimum(simplex, total)
            out[row, side] = np.nan if value is None else sign * value
    return _no_pull(out, sums)


def _no_pull(out, sums):
    """Sums of forces without negative parts are not negative, but for rounding."""
    least = np.minimum.reduceat(sums.data, sums.indptr[:-1])
    out[:, 0] = np.where(least >= 0.0, np.maximum(out[:, 0], 0.0), out[:, 0])
    return out


def _optimum(model, total, pivots=None):
    """min of the sum (contacts, factors); -inf if unbounded; None if the method did not get there,
    or what it gives proves neither."""
    import highspy

    balance = model.balance  # (B^T, load)
    status = highspy.HighsModelStatus
    model.setOptionValue("simplex_iteration_limit", 2**31 - 1 if pivots is None else pivots)
    cost = np.zeros(balance[0].shape[1])
    for i, factor in zip(*total, strict=True):
        model.changeColCost(int(i), float(factor))
        cost[i] = factor
    model.run()
    outcome, value = model.getModelStatus(), None
    program = Program(cost, *balance, positive=len(cost))
    if outcome == status.kOptimal:
        found = model.getSolution()
        answer = optimum(program, np.array(found.col_value), np.array(found.row_dual))
        value = answer.value if answer.optimal else None
    elif outcome == status.kUnbounded:
        _, there, way = model.getPrimalRay()
        if there and ray(program, np.array(way)).outcome == UNBOUNDED:
            value = -np.inf
    for i in total[0]:
        model.changeColCost(int(i), 0.0)
    return value


def _by_linprog(B, load, sums):
    """The same by programs from scratch (``cones/conic.py``)."""
    from .cones.conic import solve

    balance = sp.csr_array(B.T), load
    out = np.full((sums.shape[0], 2), np.nan)
    for row in range(sums.shape[0]):
        for side, sign in ((0, 1.0), (1, -1.0)):
            cost = sign * sums[[row]].toarray().ravel()
            answer = solve(Program(cost, *balance, positive=len(cost)))
            if answer.optimal:
                out[row, side] = sign * answer.value
            elif answer.outcome == UNBOUNDED:
                out[row, side] = -sign * np.inf
    return _no_pull(out, sums)
