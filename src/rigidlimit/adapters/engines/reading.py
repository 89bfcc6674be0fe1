"""What the readers of all engines begin and end with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._support.matrices import Matrix
from .arguments import Load, expect, wanted_load
from .contacts import EngineContacts
from .geometry import Places
from .mend import mended_as_filled
from .options import MendOptions, sorted_options
from .result import MendedForces
from .sizes import mechanism_sizes
from .tolerances import TOLERANCES


@dataclass(frozen=True)
class Asked:
    """Options of a reader. load_from: "engine" and the like, or "given" with load (n,);
    given: fields of ``EngineContacts`` in place of the reader's."""

    options: MendOptions
    load_from: str
    load: np.ndarray | None
    given: Mapping[str, Any]

    def mended(self, contacts: EngineContacts) -> MendedForces:
        """Mended forces of what the reader found."""
        given = replace(contacts, **self.given) if self.given else contacts
        return mended_as_filled(given, self.options)


def asked(
    reader: Callable,
    options: Mapping[str, Any],
    *,
    load: Load,
    loads: tuple[str, ...] = ("engine", "rest"),
    exponent: float,
    on_friction: str,
    **objects: tuple[Any, type],
) -> Asked:
    """``Asked`` of the keywords of ``reader``; options: those that it passes on.

    loads: names of loads that it knows; objects: name=(value, class) of the engine's own. Raises
    InputError for names that are not known, and objects of other classes.
    """
    chosen, given = sorted_options(reader, options, exponent=exponent, on_friction=on_friction)
    expect(reader.__name__, **objects)
    return Asked(chosen, *wanted_load(load, loads), given)


@dataclass(frozen=True)
class Extents:
    """sizes (n,) of the mechanism of each column [m]; reach (n,): these for turns, 1 for
    displacements; gap_tolerance (m,) [m]."""

    sizes: np.ndarray
    reach: np.ndarray
    gap_tolerance: np.ndarray


def extents(B: Matrix, turns: np.ndarray, mechanism: np.ndarray, places: Places) -> Extents:
    """turns (n,) bool: columns of B (m, n) that are rotations; mechanism (n,) int: body or
    mechanism of each, links included; places: ``Places`` of the rows."""
    sizes, near = mechanism_sizes(B, mechanism, places)
    return Extents(sizes, np.where(turns, sizes, 1.0), TOLERANCES.touching * near)
