"""What the two engines of the penalty method share: the law's data, what is measured, one rule.

An engine holds a moving scene: ``BallEngine`` for balls, half-spaces and lids, ``NetworkEngine``
for any convex shape. ``simulation.py`` knows only this interface.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..bodies import Bodies, State
from ..collision.contacts import Contacts
from ..errors import ContactError
from .friction import Friction
from .law import impact_overlap, static_overlap, tangent_stiffness


@dataclass(frozen=True)
class Law:
    """exponent p. damping: fraction of critical. tensile: damping may pull. scale: factor on k.

    pair_stiffness: {(i, j): k} before scaling. friction: None where all bodies are smooth.
    """

    exponent: float
    damping: float
    tensile: bool
    scale: float
    pair_stiffness: dict | None
    friction: Friction | None = None


@dataclass(frozen=True)
class Measures:
    """kinetic_energy, elastic_energy [J]. unbalanced [N]: largest component of contact + external
    force on a free degree of freedom (moments over the body's radius). largest_force [N].
    speed [m/s]: the largest. contacts: how many push."""

    kinetic_energy: float
    elastic_energy: float
    unbalanced: float
    largest_force: float
    speed: float
    contacts: int


class Engine(Protocol):
    """A scene in motion under the penalty law."""

    kind: str
    state: State
    time: float

    def advance(self, steps: int, dt: float, alpha: float, quench: bool) -> int: ...

    def keep_step(self) -> None:
        """From now on the time step is given: nothing may be listed that makes its limit smaller
        only to go faster."""
        ...

    def stop(self) -> None: ...

    def settled(self) -> bool: ...

    def limit(self) -> float: ...

    def measures(self) -> Measures: ...

    def contact_forces(self, reach: float) -> tuple[Contacts, np.ndarray]: ...

    def tangential_forces(self, contacts: Contacts) -> np.ndarray: ...

    def set_external(
        self, external_force: np.ndarray, later: np.ndarray | None = None, over: float = 1.0
    ) -> None: ...


def check_finite(bodies: Bodies, position: np.ndarray) -> None:
    """Raises ContactError for bodies at positions (n, 3) that are no numbers."""
    lost = np.flatnonzero(~np.isfinite(position).all(axis=1))
    if len(lost):
        raise ContactError(
            f"body {bodies.names[lost[0]]!r} has left for {position[lost[0]].tolist()}; expected "
            "finite positions; take a smaller time step"
        )


def expected_tangent(
    law: Law,
    k: np.ndarray,
    mass: np.ndarray,
    overlap: np.ndarray,
    closing: np.ndarray,
    push: np.ndarray,
):
    """Stiffness [N/m] and overlap [m] each contact may soon reach: in p > 2 they grow together.

    The larger of a quarter more than the present overlap, that of an undamped collision at the
    present closing speed, and that under the external force of either body.
    """
    if law.exponent == 2:
        return k, np.maximum(overlap, 0.0)
    p = law.exponent
    ahead = 1.25 * np.maximum(overlap, 0.0)
    ahead = np.maximum(ahead, impact_overlap(k, mass, np.maximum(closing, 0.0), p))
    ahead = np.maximum(ahead, static_overlap(k, push, p))
    return tangent_stiffness(k, ahead, p), ahead
