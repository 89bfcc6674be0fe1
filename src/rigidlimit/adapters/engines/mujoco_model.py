"""What of a MuJoCo model stays as it is: its trees, joints and names, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mujoco import MjModel


@dataclass(frozen=True)
class Codes:
    """MuJoCo's numbers: of the pyramidal cone, of the rows of equalities and of contacts by cone,
    of the integrator of Runge and Kutta. Looking them up in its enumerations takes microseconds
    each."""

    cone: int
    equality: int
    pyramid: int
    elliptic: int
    runge_kutta: int


@lru_cache(maxsize=1)
def codes(mujoco: ModuleType) -> Codes:
    """Of this version of MuJoCo."""
    rows = mujoco.mjtConstraint
    return Codes(
        cone=int(mujoco.mjtCone.mjCONE_PYRAMIDAL),
        equality=int(rows.mjCNSTR_EQUALITY),
        pyramid=int(rows.mjCNSTR_CONTACT_PYRAMIDAL),
        elliptic=int(rows.mjCNSTR_CONTACT_ELLIPTIC),
        runge_kutta=int(mujoco.mjtIntegrator.mjINT_RK4),
    )


@dataclass(frozen=True)
class Structure:
    """tree, turns (nv,): number of the tree of each degree of freedom, and whether it is a
    rotation; root, body_tree (nbody,): first body below the world, and tree or -1; body_column
    (nbody,): first degree of freedom of its tree; geom_body (ngeom,); mocap (nbody,) bool; bases
    (f,): bodies that float, and base_columns (f, 6) of their degrees of freedom; geoms, bodies:
    names, flexes behind the geoms; columns: names of the degrees of freedom."""

    tree: np.ndarray
    turns: np.ndarray
    root: np.ndarray
    body_tree: np.ndarray
    body_column: np.ndarray
    geom_body: np.ndarray
    mocap: np.ndarray
    bases: np.ndarray
    base_columns: np.ndarray
    geoms: "Names"
    bodies: "Names"
    columns: "Columns"


@lru_cache(maxsize=4)
def structure(mujoco: ModuleType, model: "MjModel") -> Structure:
    """Of ``model``; kept, since making it takes as long as mending."""
    tree, root = np.array(model.dof_treeid, int), np.array(model.body_rootid, int)
    body_tree = np.array(model.body_treeid, int)
    bases, columns = _bases(mujoco, model, root)
    return Structure(
        tree=tree,
        turns=_turns(mujoco, model),
        root=root,
        body_tree=body_tree,
        body_column=np.searchsorted(tree, body_tree),
        geom_body=np.array(model.geom_bodyid, int),
        mocap=np.array(model.body_mocapid, int) >= 0,
        bases=bases,
        base_columns=columns,
        geoms=Names(mujoco, model, ("GEOM", int(model.ngeom)), ("FLEX", int(model.nflex))),
        bodies=Names(mujoco, model, ("BODY", int(model.nbody))),
        columns=Columns(mujoco, model),
    )


def _turns(mujoco, model):
    """(nv,) bool: which degrees of freedom are rotations."""
    joint = np.array(model.dof_jntid, int)
    kind = np.array(model.jnt_type, int)[joint]
    third = np.arange(len(joint)) - np.array(model.jnt_dofadr, int)[joint] >= 3
    slide, free = (int(getattr(mujoco.mjtJoint, f"mjJNT_{name}")) for name in ("SLIDE", "FREE"))
    return np.where(kind == free, third, kind != slide)


def _bases(mujoco, model, root):
    """Bodies (f,) that float, and their degrees of freedom (f, 6)."""
    joint = np.array(model.body_jntadr, int)
    free = np.array(model.jnt_type, int) == int(mujoco.mjtJoint.mjJNT_FREE)
    based = joint >= 0
    based[based] = free[joint[based]]
    based &= root == np.arange(len(based))
    columns = np.array(model.jnt_dofadr, int)[joint[based]][:, None] + np.arange(6)
    return np.flatnonzero(based), columns


class Names(Sequence):
    """Names of all objects of some kinds, one kind after another, looked up at first access.

    kinds: (MuJoCo's name of the kind, how many the model has) of each.
    """

    def __init__(self, mujoco, model, *kinds):
        self.mujoco, self.model, self.kinds = mujoco, model, kinds

    @cached_property
    def _names(self):
        return [
            name_of(self.mujoco, self.model, kind, i)
            for kind, count in self.kinds
            for i in range(count)
        ]

    def __len__(self):
        return sum(count for _, count in self.kinds)

    def __iter__(self):
        return iter(self._names)

    def __getitem__(self, i):
        return self._names[i]


class Columns(Sequence):
    """Names of the degrees of freedom: of their joints."""

    def __init__(self, mujoco, model):
        self.mujoco, self.model = mujoco, model

    def __len__(self):
        return int(self.model.nv)

    def __getitem__(self, i):
        return f"joint {name_of(self.mujoco, self.model, 'JOINT', self.model.dof_jntid[i])!r}"


def name_of(mujoco: ModuleType, model: "MjModel", kind: str, number: int) -> str:
    """Name of an object, or "geom 3"; kind: "GEOM", "BODY" and the like."""
    name = mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), int(number))
    return name or f"{kind.lower()} {number}"
