"""The least friction with which forces within Coulomb's cones balance a load.

Cones widen with mu, so that there is one least factor of the given coefficients: found by
bisection. Each step is a question of ``feasible.py``, answered by forces that were checked to
balance the load, or by a motion that was checked to be driven by it and resisted by no contact; the
least friction that the forces need, and the largest with which the motion is not resisted, narrow
the bracket further. A factor that cannot be decided is replaced by others; only a proved bracket
is returned.

With friction that much forces can balance, which need not be those that bodies find: what stands
by the static theorem at every smaller friction surely moves, what is above may move as well.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.arrays import MatrixLike
from ..._support.deadline import late, within
from ..._support.display import Brief
from ..._support.words import counted
from ...errors import InputError
from ...status import HasStatus, Status
from ..tolerances import TOLERANCES
from .feasible import feasible, stuck
from .problem import RoughContacts, rough_contacts
from .wedging import opening_motion


@dataclass(frozen=True, repr=False)
class LeastFriction(HasStatus, Brief):
    """Least factor of given friction with which forces balance a load. m contacts of d components.

    Attributes
    ----------
    factor : float
        Least multiple of the given coefficients with admissible forces; inf where no friction is
        enough.
    bracket : (float, float)
        Largest factor proved too small, nan if none is; least proved enough, inf if none is.
    friction : (m,) ndarray
        ``factor`` times what was given.
    force : (m, d) ndarray [N]
        Admissible at the upper end of the bracket, normal first.
    mechanism : (n,) ndarray or None
        Motion that shows the lower end, which the load drives and no contact resists there;
        largest entry 1, None where nothing was proved too small.
    residual : float
        Imbalance of ``force`` over the largest of its entries and of the load; without forces,
        what the mechanism violates.
    iterations : int
        Programs that were solved.
    tolerance : float
        On the width of the bracket, over the factor.
    status : Status
        "converged"; "load_not_carried" where no friction is enough; "stalled" where the bracket
        stays wider than the tolerance: what lies between is open; "approximate" where it does as
        ``seconds`` were over.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> found = rl.statics(rl.scenes.incline(20.0)).least_friction()
    >>> round(found.factor, 5), found.converged  # tan 20 degrees
    (0.36397, True)
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
    def message(self) -> str:
        after = f"after {counted(self.iterations, 'program')}, residual {self.residual:.1e}"
        low, high = self.bracket
        if self.status is Status.APPROXIMATE:
            ends = "" if np.isnan(low) else f"surely not up to {low:.6g}"
            if np.isfinite(high):
                ends += (ends and ", and ") + f"surely from {high:.6g} on"
            return (
                "whether forces in the friction cones balance the load was not decided in the time "
                f"given: {ends or 'nothing is known'}, in parts of the given friction "
                f"({self.status}, {after})"
            )
        if self.status is Status.STALLED:
            return (
                f"forces in the friction cones balance the load from a factor between {low:.8g} "
                f"and {high:.8g} of the given friction on: what lies between is open, neither "
                f"forces nor a mechanism were found there ({self.status}, {after})"
            )
        if not np.isfinite(self.factor):
            return (
                f"no friction up to {TOLERANCES.most_friction:.0e} times the given makes forces "
                f"balance the load ({self.status}, {after}); the motion that the load drives is "
                "in .mechanism"
            )
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
    seconds: float | None = None,
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
    seconds : float [s], optional
        Elapsed time after which programs end; the bracket stays as wide as it is.

    Raises
    ------
    InputError
        For wrong shapes, and where friction is 0 at all contacts.

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
    if seconds is not None:
        seconds = arrays.positive("seconds", seconds)
    with within(seconds):
        return _Trials(problem, tolerance).answer()


def _between(low: float, high: float) -> float:
    """The middle; in logarithm where the ends are of different orders."""
    if low == 0.0:
        return max(0.1 * high, TOLERANCES.least_friction)
    return float(np.sqrt(low * high)) if high > 4.0 * low else 0.5 * (low + high)


class _Trials:
    """Factors tried, and what was proved on either side."""

    def __init__(self, problem: RoughContacts, tolerance: float):
        self.problem, self.tolerance = problem, tolerance
        self.low, self.high = 0.0, np.inf
        self.below = self.above = None
        self.opening, self.opened_at = None, np.inf
        self.count = 0

    def answer(self) -> LeastFriction:
        """The bracket, narrowed as far as proofs go."""
        if self._without_end():
            return self._told(np.inf, Status.LOAD_NOT_CARRIED)
        if self._holds(0.0):
            return self._told(0.0, Status.CONVERGED)
        factor = 1.0
        while not (np.isfinite(self.high) or late()) and factor <= TOLERANCES.most_friction:
            self._holds(factor)
            factor *= 4.0
        if not np.isfinite(self.high):
            most = self.low >= 0.25 * TOLERANCES.most_friction
            return self._told(np.inf, Status.LOAD_NOT_CARRIED if most else self._short)
        self._narrow()
        enough = self._width() <= self.tolerance or not (self.low or late())
        return self._told(self.high, Status.CONVERGED if enough else self._short)

    @property
    def _short(self) -> Status:
        """Of a bracket that stays open."""
        return Status.APPROXIMATE if late() else Status.STALLED

    def _without_end(self) -> bool:
        """Whether friction without end is not enough."""
        if self.problem.unmoved > TOLERANCES.balanced:
            return True
        found = stuck(self.problem)
        if found.refuted:
            self.below, self.low = found, np.inf
        return found.refuted

    def _width(self) -> float:
        return (self.high - self.low) / self.high

    def _narrow(self) -> None:
        """Bisection; where a factor stays open, at thirds and quarters of what is left."""
        shares = [0.5, 0.25, 0.75, 0.05, 0.95]
        while (
            self._width() > self.tolerance and self.high > TOLERANCES.least_friction and not late()
        ):
            before = self.low, self.high
            for share in shares:
                middle = _between(self.low, self.high)
                if share != 0.5:
                    middle = self.low + share * (self.high - self.low)
                self._holds(middle)
                if (self.low, self.high) != before:
                    break
            else:
                return

    def _holds(self, factor: float) -> bool:
        problem = self.problem.with_friction(factor * self.problem.friction)
        found = feasible(problem, self._opening())
        self.count += 1
        if found.balanced and factor < self.high:
            needed = min(factor, self._needed(found.force, factor))
            self.high, self.above = needed * (1.0 + 2.0 * TOLERANCES.sharp), found
        elif found.refuted and (factor > self.low or self.below is None):
            self.low, self.below = max(factor, self._refuted(found.u, factor)), found
        return found.balanced

    def _opening(self) -> np.ndarray | None:
        """A motion that opens every contact with all friction that is still in question; sought
        anew where there was none as friction falls."""
        if self.opening is None and self.high < 0.9 * self.opened_at:
            self.opened_at = self.high
            problem = self.problem.with_friction(self.high * self.problem.friction)
            self.opening = opening_motion(problem)
        return self.opening

    def _needed(self, force: np.ndarray, factor: float) -> float:
        """Factor that these forces need; ``factor`` at most."""
        size = np.linalg.norm(force[:, 1:], axis=1)
        bound = self.problem.friction * force[:, 0]
        if (size > bound * factor).any():  # within rounding of an edge
            return factor
        bears = bound > 0.0
        return float((size[bears] / bound[bears]).max(initial=0.0))

    def _refuted(self, u: np.ndarray, factor: float) -> float:
        """Largest factor with which no contact resists the motion; ``factor`` at least."""
        w = self.problem.displacement(u) * self.problem.unit[:, None]
        slip = self.problem.friction * np.linalg.norm(w[:, 1:], axis=1)
        moves = factor * slip > TOLERANCES.refuted  # others need not, by what a proof is here
        if not moves.any() or (w[moves, 0] <= factor * slip[moves]).any():
            return factor
        return min(self.high, float((w[moves, 0] / slip[moves]).min()) * (1 - TOLERANCES.sharp))

    def _told(self, factor: float, status: Status) -> LeastFriction:
        problem, below = self.problem, self.below
        ends = np.isfinite(factor)
        mechanism = None
        if below is not None:
            mechanism = problem.motion(below.u)
            mechanism /= np.abs(mechanism).max(initial=0.0) or 1.0
        force = self.above.force if self.above is not None else np.zeros(problem.shape)
        shown = self.above if self.above is not None else below
        low = np.nan if below is None else self.low
        return LeastFriction(
            factor=float(factor),
            bracket=(low, self.high),
            friction=factor * problem.friction if ends else np.full(len(problem.friction), np.inf),
            force=force * problem.size,
            mechanism=mechanism,
            residual=0.0 if shown is None else shown.residual,
            iterations=self.count,
            tolerance=self.tolerance,
            status=status,
        )
