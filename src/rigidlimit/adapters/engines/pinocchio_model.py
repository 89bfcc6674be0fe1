"""Joints of a Pinocchio model as arrays: their trees, and which of them float."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .geometry import OUTSIDE
from .links import joined_systems

if TYPE_CHECKING:
    from pinocchio import Data, Model

SLIDES = ("JointModelP", "JointModelTranslation")  # prismatic joints of every kind
FREE = "JointModelFreeFlyer"


@dataclass(frozen=True)
class Structure:
    """tree, turns (nv,): root of each velocity, and whether it is a rotation. Of each joint: root
    (njoints,), the first below the world, and system, that which moves freely, or OUTSIDE. bases:
    joints that float, columns (f, 6): their velocities. names of all joints."""

    tree: np.ndarray
    turns: np.ndarray
    root: np.ndarray
    system: np.ndarray
    bases: list[int]
    columns: np.ndarray
    names: list[str]


def structure(model: "Model") -> Structure:
    """Of ``model``; kept, since reading it takes as long as mending."""
    return _structure(model, model.njoints)


@lru_cache(maxsize=4)
def _structure(model, joints) -> Structure:
    """joints: how many it has, to notice a model that has grown."""
    root, system = np.zeros(joints, int), np.full(joints, OUTSIDE)
    tree, turns = np.zeros(model.nv, int), np.ones(model.nv, bool)
    bases, columns = [], []
    for j in range(1, joints):
        parent, name = model.parents[j], model.joints[j].shortname()
        own = model.idx_vs[j] + np.arange(model.nvs[j])
        root[j] = root[parent] if parent else j
        tree[own] = root[j]
        system[j] = system[parent]
        if name == FREE:
            turns[own[:3]] = False
            if not parent:
                system[j] = len(bases)
                bases.append(j)
                columns.append(own)
        elif name == "JointModelPlanar":
            turns[own[:2]] = False
        elif name.startswith(SLIDES):
            turns[own] = False
    columns = np.array(columns, int).reshape(-1, 6)
    return Structure(tree, turns, root, system, bases, columns, list(model.names))


def systems(data: "Data", made: Structure, links: np.ndarray) -> np.ndarray:
    """Free system of each joint (njoints,), those that ``links`` (k, nv) join made one."""
    if not len(links):
        return made.system
    turned = np.array([data.oMi[j].rotation.T for j in made.bases]).reshape(-1, 3, 3)
    place = np.array([data.oMi[j].translation for j in made.bases]).reshape(-1, 3)
    number = joined_systems(links, made.columns, place, turned, turned)
    return np.r_[number, OUTSIDE][made.system].astype(int)


def centres(data: "Data", made: Structure, joints: np.ndarray) -> np.ndarray:
    """Place of the root of each of ``joints`` (m, 2), (m, 2, 3) [m]; nan for the world's."""
    place = np.full((len(made.root), 3), np.nan)
    for j in np.unique(made.root[joints]).tolist():
        if j:
            place[j] = data.oMi[j].translation
    return place[made.root[joints]]
