"""Exact contacts between spheres, and between disks in the plane."""

import numpy as np

from ..bodies import Bodies, State
from ..errors import ContactError
from .pieces import Pieces


def ball_ball(bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray) -> Pieces:
    """Contacts of pairs of balls (a_k, b_k): gap = |x_b - x_a| - R_a - R_b."""
    radius = bodies.bounding_radius
    arm = state.position[b] - state.position[a]
    distance = np.linalg.norm(arm, axis=1)
    total = radius[a] + radius[b]
    lost = np.flatnonzero(~(distance > 1e-12 * total))
    if len(lost):
        k = lost[0]
        raise ContactError(
            f"bodies {bodies.names[a[k]]!r} and {bodies.names[b[k]]!r} have the same centre "
            f"{state.position[a[k]].tolist()}: their contact has no normal; expected distinct "
            "centres; move one of them"
        )
    normal = arm / distance[:, None]
    gap = distance - total
    point = state.position[a] + normal * (radius[a] + 0.5 * gap)[:, None]
    return Pieces.of(
        a, b, point=point, normal=normal, gap=gap, curvature=1 / radius[a] + 1 / radius[b]
    )
