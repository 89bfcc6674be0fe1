"""What a factorization of a network costs, in steps of conjugate gradients, and whether it fits.

Guessed from the number of degrees of freedom alone, as for a body in space; once so many steps have
been taken that it pays, computed from the structure of the factor, which is far smaller in
walls and layers. These are functions of the network and of the steps taken so far
(``LinearStats.products``): nothing is remembered here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._support.memory import fits
from .dissection import has_metis
from .fronts import Fronts

if TYPE_CHECKING:
    from .network import Network


@dataclass(frozen=True)
class Settings:
    """When a factorization is taken where conjugate gradients would do in the end.

    limit: largest number of degrees of freedom for which it is used: about one gigabyte.
    bytes_each: memory of a factorization for each degree of freedom in packings of that limit, at
        the peak.
    without_metis: how many times more a factorization costs by SuperLU in its own order,
        where METIS is missing.
    fewer_without_metis: the factor by which ``limit`` is smaller there.
    look: steps on a network after which its factor is analysed beforehand, which takes as long as
        100 to 200; more where that is larger than the limit.
    unlike_springs: how many times later where stiffnesses are very unlike: each of some twenty
        points of the central path would need a factorization of its own.
    step: multiplications of ``Fronts.operations`` that take as long as one step, a contact.
    """

    limit: int = 150_000
    bytes_each: int = 5_500
    without_metis: int = 8
    fewer_without_metis: int = 4
    look: int = 500
    unlike_springs: int = 4
    step: int = 220


SETTINGS = Settings()


def guessed_cost(n: int) -> int:
    """Steps of conjugate gradients that take as long as one factorization of n degrees of freedom.

    Measured with the order on pyramids of 855 to 61,620 degrees of freedom: 210 to 2,800; on random
    packings a third of it. Both a factorization's work over n and this grow like n in space.
    """
    return (100 + n // 20) * (1 if has_metis() else SETTINGS.without_metis)


def guessed_to_fit(n: int) -> bool:
    """Whether a factorization of n degrees of freedom is to be thought of at all where there are
    other ways: of no more than the limit, and if it does not take too much memory."""
    limit = SETTINGS.limit / (1 if has_metis() else SETTINGS.fewer_without_metis)
    return n <= limit and fits(n * SETTINGS.bytes_each)


def factorization_cost(network: Network, steps: int) -> float:
    """Steps of conjugate gradients that take as long as a factorization of this ``Network``.

    steps: those taken so far.
    """
    fronts = _fronts(network, steps)
    if fronts is None:
        return guessed_cost(network.B.shape[1])
    return fronts.operations / (SETTINGS.step * max(1, network.B.shape[0]))


def step_limit(network: Network, steps: int) -> int:
    """Steps of one solve after which it is factorized: what is known to be near may be waited for,
    up to twice the cost; a guess is mostly too high."""
    known = _fronts(network, steps) is not None
    return int((2 if known else 1) * factorization_cost(network, steps))


def affordable(network: Network, steps: int) -> bool:
    """Whether a factorization of this ``Network`` is to be thought of at all."""
    fronts = _fronts(network, steps)
    if fronts is None:
        return guessed_to_fit(network.B.shape[1])
    if factorization_cost(network, steps) > guessed_cost(SETTINGS.limit):
        return False
    return fits(fronts.bytes(network.single_precision))


def _fronts(network, steps) -> Fronts | None:
    """Of the factor with all contacts active; None as long as it is not worth a look."""
    enough = (
        SETTINGS.look
        * max(1.0, network.B.shape[1] / SETTINGS.limit)
        * (SETTINGS.unlike_springs if network.unlike_springs else 1)
    )
    return network.fronts if steps >= enough and has_metis() else None
