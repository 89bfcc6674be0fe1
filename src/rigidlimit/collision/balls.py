"""Exact contacts between balls, and between disks in the plane."""

import numpy as np
from numba import njit

from .._support.threads import in_pieces
from ..bodies import Bodies, State
from ..errors import ContactError
from .pieces import Pieces
from .tolerances import TOLERANCES


def ball_ball(bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray) -> Pieces:
    """Contacts of pairs of balls (a_k, b_k): gap = |x_b - x_a| - R_a - R_b."""
    k = len(a)
    point, normal = np.empty((k, 3)), np.empty((k, 3))
    gap, curvature = np.empty(k), np.empty(k)

    def fill(first: int, last: int):
        poses, out = (state.position, bodies.bounding_radius), (point, normal, gap, curvature)
        return _fill(poses, (a, b), first, last, out)

    lost = max(in_pieces(fill, k, least=TOLERANCES.threaded))
    if lost >= 0:
        raise ContactError(
            f"bodies {bodies.names[a[lost]]!r} and {bodies.names[b[lost]]!r} have the same centre "
            f"{state.position[a[lost]].tolist()}: their contact has no normal; expected distinct "
            "centres; move one of them"
        )
    return Pieces.of(a, b, point=point, normal=normal, gap=gap, curvature=curvature)


@njit(cache=True, nogil=True)
def _fill(poses, pairs, first, last, out):
    """Fills point, normal, gap and curvature for pairs first : last; returns a pair without normal,
    or -1. poses: centres and radii of the bodies."""
    (position, radius), (a, b), (point, normal, gap, curvature) = poses, pairs, out
    lost = -1
    for p in range(first, last):
        i, j = a[p], b[p]
        square = 0.0
        for k in range(3):
            normal[p, k] = position[j, k] - position[i, k]
            square += normal[p, k] ** 2
        distance, total = np.sqrt(square), radius[i] + radius[j]
        if not distance > 1e-12 * total:
            lost = p
            continue
        gap[p] = distance - total
        curvature[p] = 1 / radius[i] + 1 / radius[j]
        for k in range(3):
            normal[p, k] /= distance
            point[p, k] = position[i, k] + normal[p, k] * (radius[i] + 0.5 * gap[p])
    return lost
