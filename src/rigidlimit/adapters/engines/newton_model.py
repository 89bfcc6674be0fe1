"""What of a Newton model stays as it is, as arrays, and the twists of its bodies."""

from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from .geometry import OUTSIDE, cross
from .twists import Twists

if TYPE_CHECKING:
    from newton import Model, State


@dataclass(frozen=True)
class Structure:
    """Of each velocity (n,): joint, turns (whether it is a rotation) and articulation. Of each
    body: system, that which moves freely, or OUTSIDE, one more for the world, -1; part and row,
    its articulation and its first row in that one's Jacobian. first, count: of each articulation
    the first velocity, and how many. shape_body: body of each shape. Labels of shapes, bodies,
    joints. constraints: number of joints that close loops, couplings of joints, and tendons."""

    joint: np.ndarray
    turns: np.ndarray
    articulation: np.ndarray
    system: np.ndarray
    part: np.ndarray
    row: np.ndarray
    first: np.ndarray
    count: np.ndarray
    shape_body: np.ndarray
    shapes: list[str]
    bodies: list[str]
    joints: list[str]
    constraints: int


@lru_cache(maxsize=4)
def structure(newton: ModuleType, model: "Model") -> Structure:
    """Of ``model``; kept, since reading it takes as long as mending."""
    kind, child, parent, first, linear, tree = (
        getattr(model, f"joint_{name}").numpy()
        for name in ("type", "child", "parent", "qd_start", "dof_dim", "articulation")
    )
    size, count = np.diff(first), int(model.body_count)
    joint = np.repeat(np.arange(len(size)), size)
    above = {int(child[j]): j for j in np.flatnonzero(tree >= 0)}  # no joints that close loops
    system, number = np.full(count + 1, OUTSIDE), {}
    for b in range(count):
        top = b
        while top in above and parent[above[top]] >= 0:
            top = int(parent[above[top]])
        if top in above and kind[above[top]] == newton.JointType.FREE:
            system[b] = number.setdefault(top, len(number))
    articulations = int(model.articulation_count)
    start, end = (
        getattr(model, f"articulation_{name}").numpy()[:articulations] for name in ("start", "end")
    )
    part, row = np.full(count, -1), np.zeros(count, np.int64)
    for a in range(articulations):
        body = child[start[a] : end[a]]
        part[body], row[body] = a, 6 * np.arange(len(body))
    return Structure(
        joint=joint,
        turns=np.arange(len(joint)) - first[joint] >= linear[joint, 0],
        articulation=tree[joint] + 1,
        system=system,
        part=part,
        row=row,
        first=first[start].astype(np.int64),
        count=(first[end] - first[start]).astype(np.int64),
        shape_body=model.shape_body.numpy().astype(int),
        shapes=list(map(str, model.shape_label)),
        bodies=list(map(str, model.body_label)),
        joints=list(model.joint_label),
        constraints=int((tree < 0).sum() + model.constraint_mimic_count + model.tendon_count),
    )


def twists(
    newton: ModuleType, model: "Model", state: "State", made: Structure, centre: np.ndarray
) -> Twists:
    """Of all bodies at ``state``; centre (bodies, 3): their centres of mass [m]."""
    blocks = newton.eval_jacobian(model, state).numpy().astype(float)
    n = len(made.joint)
    return Twists(blocks, np.arange(n), made.first, made.count, made.part, made.row, centre, n)


@njit(cache=True)
def carried(pose: np.ndarray, body: np.ndarray, local: np.ndarray) -> np.ndarray:
    """World places (m, s, 3) of points given in the frames of bodies (m, s), -1: in the world's.

    pose (bodies, 7): place and quaternion (x, y, z, w) of each; local (m, s, 3).
    """
    place, once, twice = local.copy(), np.empty(3), np.empty(3)
    for i in range(body.shape[0]):
        for s in range(body.shape[1]):
            if body[i, s] >= 0:
                at, x = pose[body[i, s]], local[i, s]
                cross(at[3:6], x, once)
                cross(at[3:6], once + at[6] * x, twice)
                place[i, s] = x + 2.0 * twice + at[:3]
    return place
