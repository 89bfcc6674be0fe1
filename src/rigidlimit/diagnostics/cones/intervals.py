"""Least and greatest value of the components of rough contact forces, over all admissible ones."""

import numpy as np
import scipy.sparse as sp

from .. import bound_programs
from ..tolerances import TOLERANCES
from .conic import OPTIMAL, UNBOUNDED, Series
from .problem import RoughContacts
from .scaling import largest


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
        return interval, 0.0, "not requested"
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
    unit = largest(costs)  # of each component
    costs = sp.csr_array(sp.diags_array(1.0 / unit) @ costs)
    balance = problem.balance
    if problem.program().linear:
        ends, method = bound_programs.extremes(sp.csr_array(balance.columns.T), balance.load, costs)
        gap = np.full(len(components), bound_programs.SETTINGS.feasibility)
    else:
        ends, gap = _conic_ends(problem, costs)
        method = "second-order cone programs (Clarabel)"
    interval.reshape(-1, 2)[components] = ends * unit[:, None]
    interval[:, 0] = np.maximum(interval[:, 0], 0.0)  # but for rounding they press
    missing = int(np.isnan(ends).sum())
    if missing:
        method += f"; {missing} of {ends.size} ends are open (nan), neither proved nor infinite"
    return interval, float((gap * unit).max()), method


def _conic_ends(problem: RoughContacts, costs: sp.csr_array):
    """(least and greatest values (k, 2) of the rows of ``costs`` (k, N), their gaps (k,)); nan
    where neither an end nor that there is none was proved."""
    series = Series(problem.program())
    ends, gap = np.full((costs.shape[0], 2), np.nan), np.zeros(costs.shape[0])
    for row in range(costs.shape[0]):
        cost = costs[[row]].toarray().ravel()
        for side, sign in ((0, 1.0), (1, -1.0)):
            answer = series.solve(sign * cost)
            if answer.outcome == OPTIMAL:
                ends[row, side] = sign * answer.value
                gap[row] = max(gap[row], abs(answer.gap), answer.residual)
            elif answer.outcome == UNBOUNDED:
                ends[row, side] = -sign * np.inf
    return ends, gap
