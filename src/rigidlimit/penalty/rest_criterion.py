"""When bodies of the penalty method are at rest, and when a run no longer gets nearer to rest.

Rest is reached when both hold, with the tolerance t of ``rest_tolerance``:
  unbalanced force: max_j |B^T f + F_ext|_j <= t max_A |F_ext,A|   (the heaviest load of a body)
  kinetic energy <= t^2 (elastic energy of all contacts)
The second is the first in terms of motion: an oscillation that changes forces by a fraction t holds
t^2 of the elastic energy. A scene without external forces is scaled by its largest contact force.
"""

from dataclasses import dataclass

import numpy as np

from .engine import Measures


@dataclass(frozen=True)
class Settings:
    """quench_height: rise over the scene's length that slow bodies could make by their velocity.
    drift: steps of balanced forces in motion after which all bodies are stopped; rolled:
    displacement of the fastest rough body meanwhile, over the scene's length, above which it
    counts as rolling.
    """

    quench_height: float = 1e-3
    drift: int = 10_000
    rolled: float = 10.0


SETTINGS = Settings()


PATIENCE = {"balls": 500_000, "convex": 100_000}
"""Steps without a lower unbalanced force after which a slow scene counts as stalled, by engine;
packings of balls with as many contacts as degrees of freedom rearrange many times on their way,
200,000 steps apart, and their steps are quick."""


@dataclass(frozen=True)
class RestCriterion:
    """tolerance t [-]. load [N]: heaviest load of a body, 0 without loads. pull [m/s^2]: largest
    acceleration by loads. length [m]: of the scene."""

    tolerance: float
    load: float
    pull: float
    length: float

    def unbalanced(self, measured: Measures) -> float:
        """Largest force out of balance over the heaviest load."""
        scale = self.load or measured.largest_force
        return measured.unbalanced / scale if scale > 0 else 0.0

    def holds(self, measured: Measures) -> bool:
        """Whether the bodies are at rest."""
        balanced = self.unbalanced(measured) <= self.tolerance
        return balanced and _motion(measured) <= self.tolerance**2

    def distance(self, measured: Measures) -> float:
        """How far from rest: the larger of both quantities as a part of the forces, >= t."""
        return max(self.unbalanced(measured), np.sqrt(_motion(measured)), self.tolerance)

    def slow(self, measured: Measures) -> bool:
        """Whether no body moves fast enough to rise by ``quench_height`` of the scene's length."""
        return measured.speed**2 < 2 * self.pull * SETTINGS.quench_height * self.length


def _motion(measured: Measures) -> float:
    """Kinetic over elastic energy; 1 for bodies that move and touch nothing."""
    if measured.kinetic_energy == 0.0:
        return 0.0
    return measured.kinetic_energy / max(measured.elastic_energy, measured.kinetic_energy)


class RestWatch:
    """What one run has seen of its way to rest, from look to look.

    unbalanced: see ``RestCriterion``. at_rest: whether the criterion holds. fraction: of the way
    to rest that is made, in [0, 1], by the logarithm of the distance. stalled: whether a slow scene
    has gone without a lower unbalanced force for longer than ``PATIENCE``.
    """

    def __init__(self, criterion: RestCriterion, engine: str, steps: int, *, rough: bool):
        """engine: the kind, "balls" or "convex". steps: made before this run."""
        self.criterion, self.engine, self.rough = criterion, engine, rough
        self.unbalanced, self.at_rest, self.fraction, self.stalled = np.inf, False, 0.0, False
        self._first: float | None = None
        self._least, self._least_at, self._uneven_at = np.inf, steps, steps
        self._seen_at, self._way = steps, 0.0

    def drifts(self, measured: Measures, steps: int, dt: float) -> bool:
        """Whether bodies have moved on under balanced forces for long: slow ones that are not
        balls, or rough ones that roll on. dt [s]: of a step."""
        criterion = self.criterion
        balanced = criterion.unbalanced(measured) <= criterion.tolerance
        slow = criterion.slow(measured)
        self._way = self._way + measured.speed * (steps - self._seen_at) * dt if balanced else 0.0
        self._seen_at = steps
        if not balanced or not (slow or self.rough):
            self._uneven_at = steps
        rolls = self.rough and self._way >= SETTINGS.rolled * criterion.length
        long = steps - self._uneven_at >= SETTINGS.drift
        slides = slow and self.engine != "balls"
        return long and (slides or rolls) and not criterion.holds(measured)

    def note(self, measured: Measures, steps: int, *, stopped: bool = False) -> None:
        """Takes in the measures after ``steps`` steps; stopped: all bodies just were."""
        criterion = self.criterion
        self.unbalanced, self.at_rest = criterion.unbalanced(measured), criterion.holds(measured)
        if stopped:
            self._uneven_at, self._way = steps, 0.0
        if self.unbalanced < 0.9 * self._least or not criterion.slow(measured):
            self._least, self._least_at = self.unbalanced, steps
        self.stalled = steps - self._least_at > PATIENCE[self.engine]
        distance = criterion.distance(measured)
        self._first = self._first or distance
        span = max(np.log(self._first / criterion.tolerance), 1e-3)
        self.fraction = float(np.clip(np.log(self._first / distance) / span, 0, 1))
