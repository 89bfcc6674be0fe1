"""Least and greatest value of the components of rough contact forces, over all admissible ones."""

import numpy as np
import scipy.sparse as sp

from .. import bound_programs
from ..tolerances import TOLERANCES
from .conic import OPTIMAL, UNBOUNDED, Series
from .problem import RoughContacts


def intervals_of(
    problem: RoughContacts,
    example: np.ndarray,
    determined: np.ndarray,
    chosen: np.ndarray | None,
    wanted: bool,
) -> tuple[np.ndarray, float, str]:
    """((m, d, 2) least and greatest values, largest gap, method in words), loads of order one."""
    m, d = problem.shape
    interval = np.full((m, d, 2), np.nan)
    interval[determined] = example[determined][:, None]
    if not wanted:
        return interval, 0.0, "not asked for"
    open_ = ~determined
    if chosen is not None:
        some = np.zeros(m, bool)
        some[chosen] = True
        interval[~some & open_.any(axis=1)] = np.nan
        open_ &= some[:, None]
    elif open_.any(axis=1).sum() > TOLERANCES.all_intervals_in_cones:
        count = int(open_.any(axis=1).sum())
        said = f"not computed for all {count} open contacts; choose some with contacts="
        return interval, 0.0, said
    components = np.flatnonzero(open_.ravel())
    if not len(components):
        return interval, 0.0, "every force is determined, nothing to solve"
    costs = problem.generators.G[components]
    if problem.program().linear:
        ends, method = bound_programs.extremes(sp.csr_array(problem.columns.T), problem.load, costs)
        gap = bound_programs.SETTINGS.feasibility
    else:
        ends, gap = _conic_ends(problem, costs)
        method = "second-order cone programs (Clarabel)"
    interval.reshape(-1, 2)[components] = ends
    normal = interval[:, 0]
    normal[:] = np.where(np.abs(normal) < TOLERANCES.accepted, np.maximum(normal, 0.0), normal)
    return interval, gap, method


def _conic_ends(problem: RoughContacts, costs: sp.csr_array):
    """(least and greatest values (k, 2) of the rows of ``costs`` (k, N), largest gap); nan where
    the solver did not come to an end."""
    series = Series(problem.program())
    ends, gap = np.full((costs.shape[0], 2), np.nan), 0.0
    for row in range(costs.shape[0]):
        cost = costs[[row]].toarray().ravel()
        for side, sign in ((0, 1.0), (1, -1.0)):
            answer = series.solve(sign * cost)
            if answer.outcome == OPTIMAL:
                ends[row, side] = sign * answer.value
                gap = max(gap, abs(answer.gap), answer.residual)
            elif answer.outcome == UNBOUNDED:
                ends[row, side] = -sign * np.inf
    return ends, gap
