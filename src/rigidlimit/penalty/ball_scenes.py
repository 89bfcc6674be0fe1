"""Which scenes the kernels of balls serve."""

import numpy as np

from ..bodies import Bodies, Disk, HalfSpace, Sphere
from ..bodies.cell import CellFrame
from .ball_on_box import box_of


def serves(bodies: Bodies, external_force: np.ndarray, spin: np.ndarray) -> bool:
    """Whether all bodies are balls, half-spaces, or boxes that do not turn, of which one at most is
    free to shift; and none is turned by a moment. spin (n, 3) [rad/s]: of the bodies. In a periodic
    cell there are no boxes."""
    boxes = boxes_of(bodies)
    if bodies.has_apart:  # its search knows no exclusions
        return False
    if bodies.free[bodies.are(HalfSpace)].any():  # and no planes that give way
        return False
    if bodies.cell is not None:
        moments = np.where(bodies.free, external_force.reshape(-1, 6), 0.0)[:-1, 3:]
        return not (len(boxes) or moments.any())
    if any(box_of(bodies.shapes[s]) is None for s in np.unique(bodies.shape_of[boxes])):
        return False
    if bodies.free[boxes, 3:].any() or spin[boxes].any():
        return False
    if bodies.free[boxes].any(axis=1).sum() > 1:
        return False
    return not np.where(bodies.free, external_force.reshape(-1, 6), 0.0)[:, 3:].any()


def boxes_of(bodies: Bodies) -> np.ndarray:
    """Numbers of the bodies that are neither balls nor half-spaces, nor the cell."""
    return np.flatnonzero(~bodies.are(Sphere, Disk, HalfSpace, CellFrame))
