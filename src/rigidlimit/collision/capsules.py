"""Exact contacts of capsules: the closest points of their axes, all pairs at once.

a(s) = s u and b(t) = w + t v, |s| <= h_a, |t| <= h_b, with unit axes u, v, half lengths h and the
arm w between the centres. The closest points are those of the two lines, if both lie within the
axes, else an end of one axis and its foot on the other; gap = |b - a| - R_a - R_b. Capsules that
lie side by side, parallel within parallel, touch at both ends of their common stretch.
"""

import numpy as np

from ..bodies import Bodies, State, rotations
from .balls import capsule_curvature
from .contacts import Pieces
from .kinds import shape_sizes
from .tolerances import TOLERANCES


def capsule_capsule(
    bodies: Bodies, state: State, a: np.ndarray, b: np.ndarray, reach: np.ndarray
) -> Pieces:
    """Contacts of the pairs (a_k, b_k) with gap <= reach_k; normals point from a to b."""
    size_a, size_b = (bodies.of_shapes(shape_sizes)[bodies.shape_of[body]] for body in (a, b))
    turn_a, turn_b = (rotations.matrix(state.quaternion[body]) for body in (a, b))
    u, v = turn_a[:, :, 2], turn_b[:, :, 2]
    w = state.position[b] - state.position[a]
    total = size_a[:, 0] + size_b[:, 0]
    s, t = _closest(u, v, w, size_a[:, 2], size_b[:, 2])
    between = w + t[:, None] * v - s[:, None] * u
    distance = np.linalg.norm(between, axis=1)
    meeting = distance <= 1e-12 * total
    normal = between / np.where(meeting, 1.0, distance)[:, None]
    normal[meeting] = _across(u[meeting], v[meeting], w[meeting])

    def contacts(
        which: np.ndarray, number: int, s: np.ndarray, t: np.ndarray
    ) -> tuple[np.ndarray, Pieces]:
        gap = _dot(w + t[:, None] * v - s[:, None] * u, normal) - total
        arm = s[:, None] * u + normal * (size_a[:, 0] + 0.5 * gap)[:, None]  # from a's centre
        at_a = np.einsum("kji,kj->ki", turn_a, arm)
        at_b = np.einsum("kji,kj->ki", turn_b, arm - w)
        which = which & (gap <= reach)
        return which, Pieces.of(
            a[which],
            b[which],
            feature=number,
            point=(state.position[a] + arm)[which],
            normal=normal[which],
            gap=gap[which],
            curvature=(capsule_curvature(at_a, size_a) + capsule_curvature(at_b, size_b))[which],
        )

    across = np.maximum(np.abs(_dot(normal, u)), np.abs(_dot(normal, v))) < TOLERANCES.parallel
    beside = across & (np.linalg.norm(np.cross(u, v), axis=1) < TOLERANCES.parallel)
    # the stretch of a's axis beside b's: s of b's ends
    middle, half = _dot(w, u), size_b[:, 2] * _dot(u, v)
    low = np.maximum(-size_a[:, 2], middle - np.abs(half))
    high = np.minimum(size_a[:, 2], middle + np.abs(half))
    beside &= (high - low >= 1e-6 * 2 * size_a[:, 2]) & ~meeting
    pieces, done = [], np.zeros(len(a), bool)
    for number, at in ((0, low), (2, high)):
        opposite = np.clip((at - middle) / np.where(beside, half, 1.0), -1, 1) * size_b[:, 2]
        which, found = contacts(beside, number, at, opposite)
        done |= which
        pieces.append(found)
    pieces.append(contacts(~done, 0, s, t)[1])
    return Pieces.joined(pieces)


def _dot(x, y):
    return np.einsum("ki,ki->k", x, y)


def _closest(u, v, w, ha, hb):
    """Parameters (s, t) of the closest points of two axes."""
    cross = np.cross(u, v)
    square = _dot(cross, cross)
    c, wu, wv = _dot(u, v), _dot(w, u), _dot(w, v)
    # where the lines are nearest; parallel lines: anywhere
    s0 = _dot(np.cross(w, v), cross) / np.where(square > 0, square, 1.0)
    s0 = np.clip(s0, -ha, ha)
    tries = [(s0, np.clip(c * s0 - wv, -hb, hb))]
    for end in (-1, 1):
        tries.append((end * ha, np.clip(c * end * ha - wv, -hb, hb)))
        tries.append((np.clip(wu + c * end * hb, -ha, ha), end * hb))
    best = np.full(len(w), np.inf)
    at = np.zeros((2, len(w)))
    for s, t in tries:
        between = w + t[:, None] * v - s[:, None] * u
        here = _dot(between, between)
        nearer = here < best
        best[nearer] = here[nearer]
        at[0, nearer], at[1, nearer] = s[nearer], t[nearer]
    return at


def _across(u, v, w):
    """Unit normals across axes that meet, to the side of w; parallel ones: any across."""
    normal = np.cross(u, v)
    size = np.linalg.norm(normal, axis=1)
    flat = size < 1e-9
    normal[flat] = np.cross(u[flat], np.eye(3)[np.abs(u[flat]).argmin(axis=1)])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(_dot(normal, w) < 0, -1.0, 1.0)[:, None] * normal
