"""Balls against boxes that do not turn, such as the lid that presses a packing: list and kernels.

A ball meets the nearest point of the box, on a face, an edge or a corner, and may go from one to
the next between two lists. On the face that it was near when listed its gap is the one found then
and its change, so that small overlaps keep their digits, as those of ``balls.py``.

Arrays: box (b, 3): ball, box and row of ``frame``. box_pair (b, 8): place x_0 of the ball in the
box's axes, its radius, face, gap_0 from that face, k, gamma_0. frame (boxes, 12): the box's axes
and half its sides; in the plane the third is endless. Face 2 a + 1 looks along axis a, 2 a against.
"""

from collections.abc import Iterable

import numpy as np
from numba import njit

from .._support.compiled import INNER
from ..bodies import Bodies, Box, Polygon, Shape, rotations
from .law import contact_force

RIGHT = 1e-12
"""Largest cosine of a rectangle's corner that counts as a right angle."""

BESIDE = 1e-9
"""Largest overlap over half a lid's width at which a lid and its sideways guides touch."""


def box_of(shape: Shape) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(centre (3,), axes (3, 3) as rows, half sides (3,)) of a box or rectangle, in the body's
    axes; None for other shapes."""
    if isinstance(shape, Box):
        return np.zeros(3), np.eye(3), 0.5 * np.asarray(shape.size, float)
    if not (isinstance(shape, Polygon) and len(shape.vertices) == 4):
        return None
    v = shape.vertices
    along = v[1] - v[0], v[2] - v[1]
    half = np.array([np.linalg.norm(side) / 2 for side in along])
    axes = np.eye(3)
    axes[:2, :2] = along / (2 * half[:, None])
    if (
        abs(axes[0] @ axes[1]) > RIGHT
        or np.abs(v[2] - v[1] - (v[3] - v[0])).max() > RIGHT * half[1]
    ):
        return None
    return np.r_[v.mean(axis=0), 0.0], axes, np.r_[half, np.inf]


@np.errstate(invalid="ignore")  # 0 times endless
def _reach(along, half):
    return np.where(along == 0.0, 0.0, np.abs(along) * half)


class BoxesNear:
    """The boxes of a scene, none of which turns, and the balls that are near them."""

    def __init__(self, bodies: Bodies, boxes: np.ndarray, quaternion: np.ndarray):
        """boxes: numbers of the bodies that are boxes. quaternion (n, 4): of all bodies."""
        self.boxes = boxes
        shapes = [box_of(bodies.shape(b)) for b in boxes]
        turned = rotations.matrix(quaternion[boxes])
        placed = list(zip(turned, shapes, strict=True))
        self.centre = np.array([R @ c for R, (c, _, _) in placed]).reshape(-1, 3)
        self.axes = np.array([axes @ R.T for R, (_, axes, _) in placed]).reshape(-1, 3, 3)
        self.half = np.array([half for _, _, half in shapes]).reshape(-1, 3)
        # half sides of boxes along x, y, z that hold them
        self.extent = _reach(self.axes, self.half[:, :, None]).sum(axis=1)
        self.frame = np.column_stack([self.axes.reshape(-1, 9), self.half]).reshape(-1, 12)

    def may_meet(
        self,
        lid: int,
        position: np.ndarray,
        ways: np.ndarray,
        planes: Iterable[tuple[np.ndarray, np.ndarray]],
        velocity: np.ndarray,
        skin: float,
    ) -> bool:
        """Whether the box ``lid`` is within ``skin`` of one of the ``planes`` (point, normal) or of
        another box that it could run into. ways (3,) bool: where it can go. velocity (n, 3)."""
        slot = int(np.flatnonzero(self.boxes == lid)[0])
        middle, extent = position[self.boxes] + self.centre, self.extent
        for point, normal in planes:
            depth = _reach(self.axes[slot] @ normal, self.half[slot]).sum()
            if (middle[slot] - point) @ normal - depth <= skin:
                return True
        gap = np.abs(middle - middle[slot]) - extent - extent[slot]
        still = ~ways & (velocity[self.boxes] == velocity[lid])
        # beside each other in a direction in which they do not move
        beside = still & np.isfinite(extent) & (gap >= -BESIDE * extent[slot])
        apart = ((gap > skin) | beside).any(axis=1)
        return bool((~apart & (self.boxes != lid)).any())

    def find(self, position: np.ndarray, radius: np.ndarray, balls: np.ndarray, skin: float):
        """(box (b, 3), place, radius, face and gap_0 (b, 6), normals from box to ball (b, 3), gaps
        (b,)) of balls within ``skin``, by balls."""
        found = [
            (np.zeros((0, 3), np.int64), np.zeros((0, 6)), np.zeros((0, 3)), np.zeros(0)),
            *(self._of(slot, position, radius, balls, skin) for slot in range(len(self.boxes))),
        ]
        box, pair, normal, gap = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(box[:, 0], kind="stable")
        return box[order], pair[order], normal[order], gap[order]

    def _of(self, slot, position, radius, balls, skin):
        body, axes, half = self.boxes[slot], self.axes[slot], self.half[slot]
        near = np.linalg.norm(position[balls] - position[body] - self.centre[slot], axis=1)
        reach = np.linalg.norm(half[np.isfinite(half)]) + skin
        balls = balls[near <= reach + radius[balls]]
        # the gap to all digits, as between balls
        arm = (position[balls] - position[body]).astype(np.longdouble) - self.centre[slot]
        place = arm @ axes.T.astype(np.longdouble)
        out = np.abs(place) - half
        axis = out.argmax(axis=1)
        rows = np.arange(len(balls))
        face = 2 * axis + (place[rows, axis] > 0)
        above = (out[rows, axis] - radius[balls]).astype(float)
        beyond = np.where(out > 0, np.copysign(out, place), 0.0).astype(float)
        distance = np.linalg.norm(beyond, axis=1)
        edge = (out > 0).sum(axis=1) > 1
        gap = np.where(edge, distance - radius[balls], above)
        local = np.zeros((len(balls), 3))
        local[rows, axis] = np.where(place[rows, axis] > 0, 1.0, -1.0)
        local = np.where(edge[:, None], beyond / np.where(edge, distance, 1.0)[:, None], local)
        chosen = gap <= skin
        box = np.column_stack([balls, np.full(len(balls), body), np.full(len(balls), slot)])
        pair = np.column_stack([place.astype(float), radius[balls], face, above])
        return box[chosen], pair[chosen], (local @ axes)[chosen], gap[chosen]


@njit(cache=True, inline="always", error_model="numpy", fastmath={"contract"})
def box_contact(
    e: int, box: np.ndarray, box_pair: np.ndarray, frame: np.ndarray, motion: np.ndarray
):
    """(overlap, closing speed, normal from the box to the ball) of row e at present."""
    i, b, s = box[e, 0], box[e, 1], box[e, 2]
    ax, ay = motion[i, 0] - motion[b, 0], motion[i, 1] - motion[b, 1]
    az = motion[i, 2] - motion[b, 2]
    outside = 0
    axis, most, far, step, side = 0, -np.inf, 0.0, 0.0, 1.0
    nx = ny = nz = 0.0
    for k in range(3):
        dx, dy, dz = frame[s, 3 * k], frame[s, 3 * k + 1], frame[s, 3 * k + 2]
        change = dx * ax + dy * ay + dz * az
        x = box_pair[e, k] + change
        sign = 1.0 if x > 0.0 else -1.0
        out = abs(x) - frame[s, 9 + k]
        if out > 0.0:
            outside += 1
            far += out * out
            nx += sign * out * dx
            ny += sign * out * dy
            nz += sign * out * dz
        if out > most:
            axis, most, step, side = k, out, sign * change, sign
    if outside > 1:
        far = np.sqrt(far)
        nx, ny, nz = nx / far, ny / far, nz / far
        c = box_pair[e, 3] - far
    else:
        nx, ny = side * frame[s, 3 * axis], side * frame[s, 3 * axis + 1]
        nz = side * frame[s, 3 * axis + 2]
        c = box_pair[e, 3] - most
        if box_pair[e, 4] == 2 * axis + (side > 0.0):
            c = -(box_pair[e, 5] + step)
    rate = (motion[b, 3] - motion[i, 3]) * nx + (motion[b, 4] - motion[i, 4]) * ny
    rate += (motion[b, 5] - motion[i, 5]) * nz
    return c, rate, nx, ny, nz


@njit(**INNER, error_model="numpy", fastmath={"contract"})
def box_forces(
    lo: int,
    hi: int,
    near: tuple[np.ndarray, np.ndarray, np.ndarray],
    motion: np.ndarray,
    force: np.ndarray,
    law: tuple[float, bool],
):
    """Adds the forces of rows lo <= e < hi to ``force`` (n, 4), on the balls and on the boxes.

    near: box, box_pair, frame. law: exponent p, and whether damping may pull.
    """
    (box, box_pair, frame), (p, tensile) = near, law
    for e in range(lo, hi):
        c, rate, nx, ny, nz = box_contact(e, box, box_pair, frame, motion)
        if c > 0.0:
            i, b = box[e, 0], box[e, 1]
            f = contact_force(c, rate, box_pair[e, 6], box_pair[e, 7], p, tensile)
            force[i, 0] += f * nx
            force[i, 1] += f * ny
            force[i, 2] += f * nz
            force[b, 0] -= f * nx
            force[b, 1] -= f * ny
            force[b, 2] -= f * nz
