"""Quantities of a sample by name: what a study keeps of each packing."""

from collections.abc import Callable

import numpy as np

from ..errors import InputError, nearest
from ..output import measures
from ..paths.record import columns
from ..simulation import Simulation
from ..step import StepResult

Quantity = Callable[[Simulation, StepResult], object]
"""Number or array of a sample, from the simulation and its last step."""


def _between_free(simulation, result, value):
    """The values (m,) at contacts between two bodies that are free to move."""
    free = simulation.bodies.free.any(axis=1)
    return value[free[result.contacts.body].all(axis=1)]


QUANTITIES: dict[str, Quantity] = {
    "contacts": lambda simulation, result: len(result.contacts),
    "coordination": lambda simulation, result: measures.coordination(simulation).mean,
    "coordination_without_rattlers": lambda simulation, result: (
        measures.coordination(simulation).without_rattlers
    ),
    "rattlers": lambda simulation, result: int(measures.coordination(simulation).rattler.sum()),
    "largest_force": lambda simulation, result: float(result.force.max(initial=0.0)),
    "participation": lambda simulation, result: measures.participation(simulation),
    "packing_fraction": lambda simulation, result: measures.packing_fraction(simulation),
    "fabric": lambda simulation, result: measures.fabric(simulation),
    "anisotropy": lambda simulation, result: measures.anisotropy(measures.fabric(simulation)),
    "stress": lambda simulation, result: measures.stress(simulation),
    "sliding_fraction": lambda simulation, result: measures.sliding_fraction(simulation),
    "residual": lambda simulation, result: result.residual,
    "force": lambda simulation, result: _between_free(simulation, result, result.force),
    "tangential_force": lambda simulation, result: _between_free(
        simulation, result, np.linalg.norm(result.tangential_force, axis=1)
    ),
}
"""By name. ``force`` and ``tangential_force`` [N] are those of the contacts between two bodies that
are free to move, as many as there are. Packing fraction and stress need a periodic cell, which
gives the volume; the sliding fraction needs friction."""


PATH = "path."
"""Beginning of the name of a measure that is a column of the table of a path."""


def column(measure: str | Quantity) -> str:
    """Which column of a path's table a measure is; "" for others."""
    given = isinstance(measure, str) and measure.startswith(PATH)
    return measure.removeprefix(PATH) if given else ""


def quantity(measure: str | Quantity) -> tuple[str, Quantity | None]:
    """(name, function) of a measure given by name or as a function of (simulation, result); columns
    of a path have no function."""
    if callable(measure):
        return getattr(measure, "__name__", type(measure).__name__), measure
    if name := column(measure):
        known = [each for each, _ in columns(dim=3)]
        if name not in known:
            raise InputError(f"no measure {measure!r}: a path's table has {nearest(name, known)}")
        return measure, None
    if measure not in QUANTITIES:
        raise InputError(
            f"no measure {measure!r}; {nearest(str(measure), QUANTITIES)}, or give a function of "
            "(simulation, result)"
        )
    return measure, QUANTITIES[measure]
