"""The law of rough contacts in one increment, in units of force and length of order one."""

import numpy as np

from ..bodies.materials import MINDLIN, MINDLIN_FORCE
from ..equilibrium.law import ContactLaw
from .rough_result import ContactHistory


def law_of_increment(
    stiffness: tuple[np.ndarray, np.ndarray],
    friction: np.ndarray,
    exponent: float,
    components: int,
    *,
    history: ContactHistory | None,
    gap: np.ndarray | None,
    tangential_law: str,
    unit: float,
    length: float,
    slide: np.ndarray | None = None,
) -> tuple[ContactLaw, np.ndarray | None]:
    """The law of m contacts of d = ``components`` rows each, and how far they are apart (m, d)
    before the increment over ``length``; None where nothing is kept and there are no gaps.

    stiffness: normal and tangential one, each (m,), over the largest normal one. gap (m,) [m] and
    slide (m, d-1): as of ``Increment``. unit [N], length [m]: of forces and displacements.
    """
    (k_n, k_t), p, m, d = stiffness, exponent, len(friction), components
    kept, offset = np.zeros((m, d - 1)), None
    if history is not None:
        offset = np.zeros((m, d))
        normal = history.normal / unit
        overlap = np.sign(normal) * (np.abs(normal) / k_n) ** (1.0 / (p - 1.0))
        offset[:, 0] = -overlap
        kept = history.tangential / unit
        if gap is not None and history.gap is not None:
            offset[:, 0] -= history.gap / length
        if p != 2.0 and tangential_law == MINDLIN:
            # the spring's length is kept: its force grows with the radius
            bears = overlap > 0.0
            spring = np.where(bears, k_t * np.where(bears, overlap, 1.0) ** (p - 2.0), 1.0)
            offset[:, 1:] = np.where(bears[:, None], -kept / spring[:, None], 0.0)
            kept = np.zeros_like(kept)
    elif tangential_law == MINDLIN_FORCE:
        k_t = k_t / (p - 1.0)  # its stiffness, summed up along the way from zero
    if gap is not None:
        offset = np.zeros((m, d)) if offset is None else offset
        offset[:, 0] += gap / length
    return ContactLaw(k_n, k_t, friction, kept, p, slide), offset


def kept_normal(law: ContactLaw, w: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Normal forces (m,) that contacts remember at displacements w (m, d), negative where they are
    open; of forces (m, d) of least energy these themselves."""
    if law.associated:
        return force[:, 0]
    overlap = -w[:, 0]
    return np.sign(overlap) * law.normal * np.abs(overlap) ** (law.exponent - 1.0)
