"""Trees of bodies that joints connect in a finalized Drake plant."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .geometry import OUTSIDE
from .links import joined_systems

FLOATING = ("quaternion_floating", "rpy_floating")

LINEAR_FIRST = np.array([3, 4, 5, 0, 1, 2])
"""Of a floating joint's velocities, in which angular ones come first."""


@dataclass(frozen=True)
class Trees:
    """mechanism, turns (nv,): tree of each velocity, and whether it is a rotation; root (bodies,):
    the body of each one's tree whose parent is the world; base, first (f,): roots that float, and
    the first velocity of each; names: of all bodies, with those of their models."""

    mechanism: np.ndarray
    turns: np.ndarray
    root: np.ndarray
    base: np.ndarray
    first: np.ndarray
    names: tuple[str, ...]

    @property
    def alone(self) -> np.ndarray:
        """Indices among the bases of those without joints but to what is welded to them."""
        size = np.bincount(self.mechanism)
        return np.flatnonzero(size[self.mechanism[self.first]] == len(LINEAR_FIRST))


@lru_cache(maxsize=4)
def trees_of(plant) -> Trees:
    """Of ``plant``; kept, since its joints stay as they are."""
    from pydrake.multibody.tree import BodyIndex

    n = plant.num_velocities()
    turns, label = np.ones(n, bool), np.arange(n)
    root = np.arange(plant.num_bodies())
    joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
    parent = {int(j.child_body().index()): j for j in joints}
    for body in range(1, plant.num_bodies()):
        top = body
        while top in parent and int(parent[top].parent_body().index()) != 0:
            top = int(parent[top].parent_body().index())
        root[body] = top
    bases = []
    for body, joint in parent.items():
        first, size = joint.velocity_start(), joint.num_velocities()
        label[first : first + size] = n + root[body]
        kind = joint.type_name()
        if kind in FLOATING:
            turns[first + 3 : first + 6] = False
            if root[body] == body:
                bases.append((body, first))
        elif kind == "prismatic":
            turns[first : first + size] = False
        elif kind == "planar":
            turns[first : first + 2] = False
    base, first = np.array(bases, int).reshape(-1, 2).T
    bodies = [plant.get_body(BodyIndex(i)) for i in range(len(root))]
    names = tuple(body.scoped_name().get_full() for body in bodies)
    return Trees(label, turns, root, base, first, names)


def systems(plant, context, trees: Trees, held, links) -> np.ndarray:
    """Free system of each body (bodies,), or OUTSIDE; those that rigid ``links`` (k, nv) or None
    join are one. held (nv,) bool."""
    columns = trees.first[:, None] + LINEAR_FIRST
    whole = ~held[columns].any(axis=1)
    bases, columns = trees.base[whole], columns[whole]
    number = np.arange(len(bases))
    if links is not None:
        bodies = {int(b.index()): b for b in _bodies(plant)}
        poses = [plant.EvalBodyPoseInWorld(context, bodies[b]).translation() for b in bases]
        axes = np.broadcast_to(np.eye(3), (len(bases), 3, 3))
        number = joined_systems(links, columns, np.array(poses).reshape(-1, 3), axes, axes)
    system = np.full(len(trees.root), OUTSIDE)
    system[bases] = number
    return system[trees.root]


def _bodies(plant):
    return [plant.get_joint(i).child_body() for i in plant.GetJointIndices()]
