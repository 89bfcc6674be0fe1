"""Which balls, half-spaces and boxes may touch before the next list is made."""

from typing import NamedTuple

import numpy as np

from ..bodies import Bodies, Disk, HalfSpace, Sphere, State
from ..collision.broadphase import meeting_balls
from ..collision.contacts import Contacts
from ..collision.images import images_of
from ..collision.planes import plane_normal
from ..collision.search import find_contacts
from .ball_on_box import BoxesNear

ACROSS = 1e-9
"""Part of a normal along the ways a lid can go, below which it slides along the other body."""


class Near(NamedTuple):
    """What may touch: ``Lists`` of ``ball_records.py`` without k and gamma, and the same as
    contacts, pairs before walls before boxes."""

    first: np.ndarray
    other: np.ndarray
    pair: np.ndarray
    wall: np.ndarray
    wall_pair: np.ndarray
    box: np.ndarray
    box_pair: np.ndarray
    contacts: Contacts


class BallSearch:
    """ball, plane (n,) bool: which bodies are. boxes; lid: the one of them that shifts, or None.
    free (n, 3): 1/m, 0 where held."""

    def __init__(self, bodies: Bodies, boxes: BoxesNear, free: np.ndarray):
        self.bodies, self.boxes, self.free = bodies, boxes, free
        self.ball, self.plane = bodies.are(Sphere, Disk), bodies.are(HalfSpace)
        self.lid = next((b for b in boxes.boxes if (free[b] > 0).any()), None)

    def near(
        self, pose: State, velocity: np.ndarray, moves: np.ndarray, *, reach: float, skin: float
    ) -> Near:
        """What may touch from this pose, if no body goes further than ``reach`` [m], half of the
        skin. velocity (n, 3) [m/s]. moves (n,) bool: bodies that are not held."""
        bodies, n, moved = self.bodies, len(self.bodies), pose.position
        solid, radius = np.flatnonzero(self.ball), bodies.bounding_radius
        i, j, arm = self.balls(pose, reach)
        wanted = np.flatnonzero(moves[i] | moves[j])
        wanted = wanted[np.lexsort((j[wanted], i[wanted]))]
        i, j = i[wanted], j[wanted]
        # the gap to all digits: R_i + R_j and the distance agree to nine of them at rest
        arm = arm[wanted].astype(np.longdouble)
        distance = np.sqrt((arm**2).sum(axis=1))
        gap = (distance - radius[i].astype(np.longdouble) - radius[j]).astype(float)
        L0, arm = distance.astype(float), arm.astype(float)
        if (1e-12 * (radius[i] + radius[j]) >= L0).any():
            find_contacts(bodies, pose, 0.0)  # names the bodies in its error
        wall, wall_normal, wall_gap, feature = self._walls(
            pose, velocity, solid[moves[solid]], skin
        )
        near = solid if self.lid is not None else solid[moves[solid]]
        box, box_pair, box_normal, box_gap = self.boxes.find(moved, radius, near, skin)
        flat = np.concatenate([wall, box[:, :2]])
        low, high = flat.min(axis=1), flat.max(axis=1)
        branch = None
        if pose.cell is not None:
            branch = np.concatenate([arm, moved[high] - moved[low]])
        away = np.where(flat[:, :1] < flat[:, 1:], -1.0, 1.0)
        away = away * np.concatenate([wall_normal, box_normal])
        one, none = np.where(self.ball[flat[:, 0]], 1 / radius[flat[:, 0]], 0), np.zeros
        contacts = Contacts(
            np.column_stack([np.concatenate([i, low]), np.concatenate([j, high])]),
            np.concatenate([none(len(i), np.int64), feature, none(len(box), np.int64)]),
            np.concatenate([moved[i], moved[flat[:, 0]]]),
            np.concatenate([arm / L0[:, None], away]),
            np.concatenate([gap, wall_gap, box_gap]),
            np.concatenate([1 / radius[i] + 1 / radius[j], one]),
            n,
            branch=branch,
        )
        first = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(i, minlength=n), out=first[1:])
        other, wall, box = (np.ascontiguousarray(each, np.int64) for each in (j, wall, box))
        pair = np.column_stack([arm, gap * (gap - 2 * L0), L0, gap])
        walls = np.column_stack([wall_normal, wall_gap])
        return Near(first, other, pair, wall, walls, box, box_pair, contacts)

    def _walls(self, pose, velocity, others, skin):
        """(bodies and walls (w, 2), normals, gaps, features), by body: ``others`` and half-spaces,
        and what the lid may meet."""
        on_planes, on_lid = self.planes(pose, others, skin), self.at_lid(pose, velocity, skin)
        wall, normal, gap = (
            np.concatenate(both) for both in zip(on_planes, on_lid[:3], strict=True)
        )
        feature = np.concatenate([np.zeros(len(on_planes[0]), np.int64), on_lid[3]])
        order = np.argsort(wall[:, 0], kind="stable")
        return wall[order], normal[order], gap[order], feature[order]

    def balls(self, pose: State, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, branch vectors (m, 3)) of balls, and images of them, that may meet within
        ``reach`` [m] of each; i < j."""
        bodies, planar, moved = self.bodies, self.bodies.dim == 2, pose.position
        if pose.cell is None:
            solid = np.flatnonzero(self.ball)
            radius = bodies.bounding_radius[solid]
            found, _ = meeting_balls(moved[solid], radius + reach, planar=planar)
            i, j = solid[found].T
            return i, j, moved[j] - moved[i]
        reach = np.where(self.ball, reach, 0.0)
        images, reach = images_of(bodies, pose, reach, None)
        near = np.flatnonzero(self.ball[images.origin])
        radius, x = images.bodies.bounding_radius[near], images.state.position[near]
        found, _ = meeting_balls(x, radius + reach[near], planar=planar)
        found = found[images.collide(near[found[:, 0]], near[found[:, 1]])]
        first, second = images.origin[near[found]].T
        arm = x[found[:, 1]] - x[found[:, 0]]
        swap = first > second
        i, j = np.where(swap, second, first), np.where(swap, first, second)
        return i, j, np.where(swap[:, None], -arm, arm)

    def planes(
        self, pose: State, others: np.ndarray, skin: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(bodies and planes (w, 2), normals (w, 3), gaps (w,)) within the skin of ``others``."""
        moved, radius = pose.position, self.bodies.bounding_radius
        pairs, normals, gaps = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3))], [np.zeros(0)]
        for plane in np.flatnonzero(self.plane):
            normal = plane_normal(self.bodies, pose, plane)
            height = (moved[others] - moved[plane]).astype(np.longdouble) @ normal
            gap = (height - radius[others]).astype(float)
            near = gap <= skin
            pairs.append(np.column_stack([others[near], np.full(near.sum(), plane)]))
            normals.append(np.broadcast_to(normal, (near.sum(), 3)))
            gaps.append(gap[near])
        return np.concatenate(pairs), np.concatenate(normals), np.concatenate(gaps)

    def at_lid(
        self, pose: State, velocity: np.ndarray, skin: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The same of the box that shifts and the half-spaces and held boxes it may meet, as the
        scene's own search finds them, and the contacts' features.
        velocity (n, 3) [m/s]."""
        if self.lid is None or not self._lid_may_meet(pose, velocity, skin):
            nothing = np.zeros(0, np.int64)
            return nothing.reshape(0, 2), np.zeros((0, 3)), np.zeros(0), nothing
        lid = self.lid
        reach = np.where(self.plane | self.ball, 0.0, skin)
        contacts = find_contacts(self.bodies, pose, reach)
        mine = (contacts.body == lid).any(axis=1) & ~self.ball[contacts.body].any(axis=1)
        pushes = self._along_ways(contacts.normal) > ACROSS
        contacts = contacts.select(mine & pushes)
        first = contacts.body[:, :1] == lid
        pairs = np.where(first, contacts.body, contacts.body[:, ::-1])
        return pairs, np.where(first, -1, 1) * contacts.normal, contacts.gap, contacts.feature

    def _lid_may_meet(self, pose, velocity, skin) -> bool:
        """Whether a half-space or another box is within the skin of the lid and in its way."""
        lid, moved = self.lid, pose.position
        planes = [
            (moved[plane], normal)
            for plane in np.flatnonzero(self.plane)
            if self._along_ways(normal := plane_normal(self.bodies, pose, plane)) > ACROSS
        ]
        ways = self.free[lid] > 0
        return self.boxes.may_meet(lid, moved, ways, planes, velocity, skin)

    def _along_ways(self, normal):
        """Largest part of normals (.., 3) along the axes that the lid can go."""
        return np.abs(normal[..., self.free[self.lid] > 0]).max(axis=-1, initial=0.0)
