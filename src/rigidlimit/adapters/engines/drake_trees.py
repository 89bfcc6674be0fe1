"""Trees of bodies that joints connect in a finalized Drake plant, and their twists."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..._support.matrices import Matrix
from .links import free_systems
from .twists import Twists

if TYPE_CHECKING:
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import RigidBody
    from pydrake.systems.framework import Context

FLOATING = ("quaternion_floating", "rpy_floating")

LINEAR_FIRST = np.array([3, 4, 5, 0, 1, 2])
"""Of a floating joint's velocities, in which angular ones come first."""


@dataclass(frozen=True)
class Trees:
    """mechanism, turns (nv,): tree of each velocity, and whether it is a rotation. Of all bodies:
    bodies, themselves; names, with those of their models, and short ones; root (bodies,): the body
    of each one's tree whose parent is the world; dofs: velocities of its tree. base, first (f,):
    roots that float, and the first velocity of each."""

    mechanism: np.ndarray
    turns: np.ndarray
    bodies: "list[RigidBody]"
    names: list[str]
    short: list[str]
    root: np.ndarray
    dofs: list[np.ndarray]
    base: np.ndarray
    first: np.ndarray

    @property
    def alone(self) -> np.ndarray:
        """Indices among the bases of those without joints but to what is welded to them."""
        size = np.bincount(self.mechanism)
        return np.flatnonzero(size[self.mechanism[self.first]] == len(LINEAR_FIRST))


@lru_cache(maxsize=4)
def trees_of(plant: "MultibodyPlant") -> Trees:
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
    return Trees(
        mechanism=label,
        turns=turns,
        bodies=bodies,
        names=[body.scoped_name().get_full() for body in bodies],
        short=[body.name() for body in bodies],
        root=root,
        dofs=[np.flatnonzero(label == n + top) for top in root],
        base=base,
        first=first,
    )


def twists(
    plant: "MultibodyPlant", context: "Context", trees: Trees, touched: np.ndarray
) -> tuple[Twists, np.ndarray]:
    """Twists of the bodies ``touched`` (indices) about their origins; centres of mass (bodies, 3)
    [m] of these, nan where a body cannot move."""
    from pydrake.multibody.tree import JacobianWrtVariable

    world, kv, origin = plant.world_frame(), JacobianWrtVariable.kV, np.zeros(3)
    moving = [index for index in np.unique(touched).tolist() if len(trees.dofs[index])]
    dofs = [trees.dofs[index] for index in moving]
    count = np.array([len(own) for own in dofs], np.int64)
    blocks = np.zeros((len(moving), 6, int(count.max(initial=0))))
    part, centre = np.full(len(trees.root), -1), np.zeros((len(trees.root), 3))
    middle = np.full((len(trees.root), 3), np.nan)
    for k, index in enumerate(moving):
        body = trees.bodies[index]
        pose = plant.EvalBodyPoseInWorld(context, body)
        jacobian = plant.CalcJacobianSpatialVelocity(
            context, kv, body.body_frame(), origin, world, world
        )
        blocks[k, :, : len(dofs[k])] = jacobian[LINEAR_FIRST[:, None], dofs[k]]
        part[index], centre[index] = k, pose.translation()
        middle[index] = pose @ body.CalcCenterOfMassInBodyFrame(context)
    return Twists(
        blocks=blocks,
        dofs=np.concatenate([*dofs, np.zeros(0, int)]),
        first=np.cumsum(count) - count,
        count=count,
        part=part,
        row=np.zeros(len(part), np.int64),
        centre=centre,
        columns=plant.num_velocities(),
    ), middle


def systems(
    plant: "MultibodyPlant",
    context: "Context",
    trees: Trees,
    held: np.ndarray,
    links: Matrix | None,
) -> np.ndarray:
    """Free system of each body (bodies,), or OUTSIDE; those that rigid ``links`` (k, nv) or None
    join are one. held (nv,) bool."""

    def places(bases):
        poses = [plant.EvalBodyPoseInWorld(context, trees.bodies[base]) for base in bases]
        axes = np.broadcast_to(np.eye(3), (len(bases), 3, 3))
        return np.array([pose.translation() for pose in poses]), axes, axes

    columns = trees.first[:, None] + LINEAR_FIRST
    return free_systems(trees.root, trees.base, columns, held, links, places)
