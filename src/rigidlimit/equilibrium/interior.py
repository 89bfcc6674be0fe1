"""One step along an interior path: Mehrotra's predictor and corrector, for any kind of contacts.

The path goes through points at which each pair of complementary quantities, as a force and a gap,
has a positive product t; t -> 0 is the equilibrium. A ``Tangent`` holds the equations linearised at
one point: that of ``smooth_path`` in closed form for a number a contact, those of ``rough_path``,
``cone_path`` (least energy) and ``coulomb_path`` (rigid contacts) in blocks for the rows of a rough
one. (S. Mehrotra, SIAM J. Optim. 2 (1992) 575; Nocedal & Wright, chapter 14.)
"""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Settings:
    """fraction: part of the way to the nearest bound that a step may go. least_centring: factor by
    which t falls at most. predictor, corrector: relative accuracy of the linear systems, of which
    the first only sets the centring."""

    fraction: float = 0.99
    least_centring: float = 1e-4
    predictor: float = 1e-12
    corrector: float = 1e-12


class Tangent(Protocol):
    """The linearised equations at a point of the path. mean: the mean product t there."""

    mean: float

    def direction(self, target: float, accuracy: float, after: Any = None) -> Any:
        """Newton's step to products of ``target``; with the second-order terms of the step
        ``after``, if there is one."""
        ...

    def length(self, direction: Any, fraction: float) -> float:
        """The step, at most 1, that goes this part of the way to the nearest bound."""
        ...

    def mean_after(self, direction: Any, length: float) -> float:
        """The mean product after a step of that length."""
        ...


def predictor_corrector(tangent: Tangent, settings: Settings = Settings()) -> tuple[float, Any]:
    """(length, direction) of the step."""
    predictor = tangent.direction(0.0, settings.predictor)
    ahead = tangent.mean_after(predictor, tangent.length(predictor, 1.0))
    centring = max(min(1.0, max(ahead / tangent.mean, 0.0)) ** 3, settings.least_centring)
    direction = tangent.direction(centring * tangent.mean, settings.corrector, after=predictor)
    return tangent.length(direction, settings.fraction), direction
