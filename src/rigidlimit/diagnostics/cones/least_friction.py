"""The least friction with which forces within Coulomb's cones balance a load.

Cones widen with mu, so that there is one least factor of the given coefficients: found by
bisection, each step one program of ``feasible.py``. Above it admissible forces are at hand, below
it a motion that the load drives and no contact resists; both are in the answer.

With friction that much forces can balance, which need not be those that bodies find: what stands
by the static theorem at every smaller friction surely moves, what is above may move as well.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.arrays import MatrixLike
from ..._support.display import Brief
from ..._support.words import counted
from ...errors import InputError
from ...status import Status
from ..tolerances import TOLERANCES
from .feasible import feasible, stuck
from .problem import RoughContacts, rough_contacts


@dataclass(frozen=True, repr=False)
class LeastFriction(Brief):
    """factor: of the given coefficients, from which on admissible forces exist; inf where no
    friction is enough. bracket: (largest factor shown to be too small, least shown to do; nan if
    none is). friction (m,): factor times what was given. force (m, d) [N]: admissible at the upper
    end, normal first. mechanism (n,): motion at the lower end, largest entry 1, None where the
    factor is 0. residual: imbalance of ``force`` over the largest load. iterations: programs.
    """

    factor: float
    bracket: tuple[float, float]
    friction: np.ndarray
    force: np.ndarray
    mechanism: np.ndarray | None
    residual: float
    iterations: int
    tolerance: float
    status: Status

    @property
    def converged(self) -> bool:
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        after = f"after {counted(self.iterations, 'program')}, residual {self.residual:.1e}"
        if not np.isfinite(self.factor):
            return (
                f"no friction up to {TOLERANCES.most_friction:.0e} times the given makes forces "
                f"balance the load ({self.status}, {after}); the motion that the load drives is "
                "in .mechanism"
            )
        low, high = self.bracket
        alike = np.unique(self.friction[self.friction > 0.0])
        plain = len(alike) == 0 or (len(alike) == 1 and alike[0] == self.factor)
        what = f"{self.factor:.6g} times the given friction"
        if plain:
            what = f"friction {self.factor:.6g}"
        if 0.0 < self.factor <= TOLERANCES.least_friction:
            what = f"any friction tried, down to {self.factor:.0e} times the given,"
        between = "" if self.factor == 0.0 else f"between {low:.8g} and {high:.8g}, "
        return (
            f"forces in the friction cones balance the load from {what} on "
            f"({between}{self.status} {after})"
        )


def least_friction(
    B: MatrixLike,
    load: ArrayLike,
    *,
    tangential: MatrixLike,
    friction: ArrayLike = 1.0,
    fixed: ArrayLike | None = None,
    tolerance: float = 1e-7,
    blocks: ArrayLike | None = None,
) -> LeastFriction:
    """The least factor of ``friction`` with which admissible forces balance the load.

    Parameters
    ----------
    B, load, tangential, fixed, blocks
        As for ``compatible_forces``.
    friction : float or (m,)
        Coefficients of which the factor is sought; 1 by default, so that the factor is mu. Smooth
        contacts have 0 and stay smooth.
    tolerance : float
        Width of the bracket, over the factor.

    Raises
    ------
    InputError
        For wrong shapes, or where the conic solver fails.

    Examples
    --------
    A block on a slope of 20 degrees needs mu = tan(20 degrees):

    >>> import numpy as np, rigidlimit
    >>> s, c = np.sin(np.radians(20)), np.cos(np.radians(20))
    >>> found = rigidlimit.least_friction([[1.0, 0.0]], [c, -s], tangential=[[0.0, 1.0]])
    >>> round(found.factor, 6)
    0.36397
    """
    tolerance = arrays.positive("tolerance", tolerance)
    problem = rough_contacts(
        B, load, tangential=tangential, friction=friction, fixed=fixed, blocks=blocks
    )
    ratio, m = problem.friction, problem.shape[0]
    if m and not ratio.any():
        raise InputError(
            "friction is 0 at all contacts; expected positive ones, of which a factor is sought"
        )
    trials = _Trials(problem)
    if problem.unmoved > TOLERANCES.balanced or not stuck(problem):
        return trials.answer(np.inf, tolerance)
    if trials.holds(0.0):
        return trials.answer(0.0, tolerance)
    high = 1.0
    while not trials.holds(high):
        high *= 4.0
        if high > TOLERANCES.most_friction:
            return trials.answer(np.inf, tolerance)
    while (
        trials.high - trials.low > tolerance * trials.high
        and trials.high > TOLERANCES.least_friction
    ):
        trials.holds(_between(trials.low, trials.high))
    return trials.answer(trials.high, tolerance)


def _between(low: float, high: float) -> float:
    """The middle; in logarithm where the ends are of different orders."""
    if low == 0.0:
        return max(0.1 * high, TOLERANCES.least_friction)
    return float(np.sqrt(low * high)) if high > 4.0 * low else 0.5 * (low + high)


class _Trials:
    """Factors tried, and what the last ones on either side showed."""

    def __init__(self, problem: RoughContacts):
        self.problem = problem
        self.low, self.high = 0.0, np.inf
        self.below = self.above = None
        self.count = 0

    def holds(self, factor: float) -> bool:
        found = feasible(self.problem.with_friction(factor * self.problem.friction))
        self.count += 1
        if found.balanced:
            self.high, self.above = factor, found
        else:
            self.low, self.below = factor, found
        return found.balanced

    def answer(self, factor: float, tolerance: float) -> LeastFriction:
        problem = self.problem
        ends = np.isfinite(factor)
        if not ends and self.below is None:
            self.holds(1.0)
        mechanism = None
        if self.below is not None:
            mechanism = problem.motion(self.below.u)
            mechanism /= np.abs(mechanism).max(initial=0.0) or 1.0
        force = self.above.force if self.above is not None else np.zeros(problem.shape)
        return LeastFriction(
            factor=float(factor),
            bracket=(self.low if self.below is not None else np.nan, self.high),
            friction=factor * problem.friction if ends else np.full(len(problem.friction), np.inf),
            force=force * problem.size,
            mechanism=mechanism,
            residual=problem.imbalance(force) if ends else self.below.missing,
            iterations=self.count,
            tolerance=tolerance,
            status=Status.CONVERGED if ends else Status.LOAD_NOT_CARRIED,
        )
