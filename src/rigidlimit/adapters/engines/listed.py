"""What sensors of parts need of an engine: its contacts, where they are, and their forces."""

from dataclasses import dataclass

import numpy as np

from .geometry import Places


@dataclass(frozen=True)
class Listed:
    """Contacts of an engine's list that it solved, m of them.

    contacts: length of that list; row (m,) int: their places in it; places: their geometry, or
    None; engine_force (m,) [N]: net of adhesion, or None; tangential (m, k): of the engine;
    friction (m, k): coefficients.
    """

    contacts: int
    row: np.ndarray
    places: Places | None
    engine_force: np.ndarray | None
    tangential: np.ndarray
    friction: np.ndarray

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of these in the order of the engine's list, else zero."""
        full = np.zeros((self.contacts, *values.shape[1:]), values.dtype)
        full[self.row] = values
        return full
