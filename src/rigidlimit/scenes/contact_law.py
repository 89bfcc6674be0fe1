"""The exponent of a contact law by its name."""

import numpy as np

from ..errors import SceneError

LAWS = {"hooke": 2.0, "hertz": 2.5}


def law_exponent(law: str | float) -> float:
    """Exponent p of a contact law given as "hooke", "hertz" or a number p > 1."""
    if isinstance(law, str) and law.lower() in LAWS:
        return LAWS[law.lower()]
    try:
        p = float(law)
    except (TypeError, ValueError):
        p = np.nan
    if not (np.isfinite(p) and p > 1):
        raise SceneError(f"law is {law!r}; expected 'hooke', 'hertz' or an exponent p > 1")
    return p
