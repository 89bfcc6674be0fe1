"""Least and greatest force of smooth contacts over all admissible forces: which, and by which
way."""

import numpy as np

from ..linear import Network
from . import admissible, bound_programs
from .admissible import Interior
from .tolerances import TOLERANCES


def all_intervals(
    network: Network,
    inside: Interior,
    determined: np.ndarray,
    chosen: np.ndarray | None,
    how: str,
    workers: int | None,
) -> tuple[np.ndarray, np.ndarray, str]:
    """(intervals of all contacts (m, 2), values reached, method in words); nan where not
    requested. network: of the contacts that can carry."""
    carries = inside.carries
    A = np.flatnonzero(carries)
    interval = np.full((len(carries), 2), np.nan)
    interval[~carries] = 0.0
    known = carries & determined
    interval[known] = inside.force[known, None]
    reached = interval.copy()
    wanted, method = _wanted(np.flatnonzero(~determined), chosen)
    if how != "none" and len(wanted):
        place = np.full(len(carries), -1)
        place[A] = np.arange(len(A))
        # the load as the inside point balances it: no residue of its solve is left over
        balanced = network.B.T @ inside.force[A]
        interval[wanted], reached[wanted], method = _intervals(
            network, balanced, inside.force[A], place[wanted], how, workers
        )
    if chosen is not None:
        rest = np.ones(len(carries), bool)
        rest[chosen] = False
        interval[rest & ~determined] = np.nan
    return interval, reached, method


def _wanted(undetermined, chosen):
    """(contacts whose intervals are to be computed, what is said if none are)."""
    if not len(undetermined):
        return undetermined, "every force is determined, nothing to solve"
    if chosen is not None:
        return undetermined[np.isin(undetermined, chosen)], "not requested"
    if len(undetermined) > TOLERANCES.all_intervals:
        said = f"not computed for all {len(undetermined)} open contacts; choose some with contacts="
        return undetermined[:0], said
    return undetermined, "not requested"


def _intervals(network, load, inside, contacts, how, workers):
    """(intervals, values reached, method in words) of some load-bearing contacts."""
    m = network.B.shape[0]
    if how == "exact" or (how == "auto" and m <= bound_programs.SETTINGS.simplex_size):
        exact, method = bound_programs.extremes(network.B, load, contacts, workers=workers)
        return exact, exact.copy(), method
    outer, reached = admissible.outer_bounds(network, load, inside, contacts, workers=workers)
    method = "outer bounds (central paths)"
    size = np.maximum(inside.max(initial=0.0), reached[:, 1])
    apart = np.abs(outer - reached).max(axis=1) / size
    if how == "auto" and m <= TOLERANCES.exact_size:
        loose = np.flatnonzero(apart > TOLERANCES.agreed)
        if len(loose):
            rest = contacts[loose]
            exact, other = bound_programs.extremes(network.B, load, rest, workers=workers)
            outer[loose] = reached[loose] = exact
            apart[loose] = 0.0
            method += f", {len(loose)} of them by {other}"
    return outer, reached, f"{method}, reached to {apart.max():.0e} of the largest"


def position_in(force: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """0 at the least and 1 at the greatest force; nan where the interval is unknown or a point."""
    width = interval[:, 1] - interval[:, 0]
    known = np.isfinite(width) & (width > 1e-9 * np.abs(force).max(initial=0.0))
    out = np.full(len(force), np.nan)
    out[known] = (force[known] - interval[known, 0]) / width[known]
    return out
