"""Stiffness and friction by names of parts, as a table of pairs of geoms."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

from ..materials import ByContact, friction_of, stiffness_of
from ..parts import NamedParts

KEPT = -1.0
"""Friction of pairs that no name speaks of: the engine's."""


class PairTable:
    """values (geoms, geoms): of each pair met so far, nan for others. what: "stiffness" or
    "friction"; body (geoms,): of each geom."""

    def __init__(
        self,
        what: str,
        given: ByContact,
        *,
        geoms: Sequence[str],
        bodies: Sequence[str],
        body: np.ndarray,
    ):
        self.what, self.given = what, given
        self.geoms, self.bodies, self.body = geoms, bodies, body
        count = len(body)
        self.values = np.full((count, count), np.nan)

    def learn(self, geom: np.ndarray) -> None:
        """Values of the pairs geom (m, 2). Raises InputError where ``given`` is wrong for one."""
        fresh = np.isnan(self.values[geom[:, 0], geom[:, 1]])
        geom = np.unique(geom[fresh], axis=0)
        parts = NamedParts(geom, self.body[geom], self.geoms, self.bodies)
        places = SimpleNamespace(named_parts=parts)
        m = len(geom)
        if self.what == "stiffness":
            value = stiffness_of(self.given, places, m)[0]
        else:
            contacts = SimpleNamespace(places=places, contacts=m, row=None)
            value = friction_of(self.given, np.full((m, 2), KEPT), contacts)[0][:, 0]
        self.values[geom[:, 0], geom[:, 1]] = value
