"""Active contacts, those that carry force: one definition for solvers, measures and figures."""

import numpy as np

BEARING = 1e-9
"""Fraction of the largest force above which a contact is active. Less may be rounding: solvers
balance forces to 1e-10 of the largest."""


def bearing(force: np.ndarray, largest: float | None = None) -> np.ndarray:
    """Active contacts, (m,) bool. force (m,) [N]. largest [N]: reference force, if not the largest
    of ``force``."""
    return force > BEARING * (force.max(initial=0.0) if largest is None else largest)
