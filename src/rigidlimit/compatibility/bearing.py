"""Which contacts bear: one answer for solvers, measures, pictures and reports."""

import numpy as np

BEARING = 1e-9
"""Part of the largest force above which a contact bears. Less may be rounding: solvers balance
forces to 1e-10 of the largest."""


def bearing(force: np.ndarray, largest: float | None = None) -> np.ndarray:
    """Which contacts bear, (m,) bool. force (m,) [N]. largest [N]: that they are measured by, if
    not that of ``force``."""
    return force > BEARING * (force.max(initial=0.0) if largest is None else largest)
