"""Bodies of a model that move as one, and how they may move.

- Bodies without joints between them, and those that a satisfied ``<weld>`` ties, are one.
- A tree whose root has a free joint is one body, its inner joints held. So is one whose root has
  slides along axes of the world with or without a hinge at right angles to the plane of two
  slides: degrees of freedom that a scene has.
- All others, as arms on a stand, are fixed as they stand at the first pose.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..tolerances import TOLERANCES
from .mjcf_left_out import LeftOut

if TYPE_CHECKING:
    from .mjcf_left_out import LeftOut


@dataclass(frozen=True)
class Model:
    """The module ``mujoco``, a model, its data at the first pose, and the file of both."""

    mujoco: object
    model: object
    data: object
    path: Path

    def name(self, kind: str, number: int) -> str:
        """Name of an element, "geom3" where it has none."""
        of_kind = getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self.mujoco.mj_id2name(self.model, of_kind, int(number)) or f"{kind}{number}"

    def disabled(self, flag: str) -> bool:
        """Whether the model switches off what mjDSBL_``flag`` names."""
        bit = getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}")
        return bool(self.model.opt.disableflags & int(bit))

    @cached_property
    def roots(self) -> np.ndarray:
        """(nbody,) bool: bodies that begin a tree of moving ones."""
        tree, found = self.model.body_treeid, np.zeros(self.model.nbody, bool)
        found[np.unique(tree, return_index=True)[1]] = True
        return found & (tree >= 0)

    @property
    def gravity(self) -> np.ndarray:
        return np.zeros(3) if self.disabled("GRAVITY") else self.model.opt.gravity.copy()

    def mass(self, bodies: np.ndarray) -> float:
        """[kg] of some bodies."""
        return float(self.model.body_mass[bodies].sum())

    def compensation(
        self, unit: "Unit", centre: np.ndarray, left_out: "LeftOut"
    ) -> np.ndarray | None:
        """Load (6,) [N, N m] by which ``gravcomp`` lifts the bodies of a unit; None: none.

        It acts at each body's centre of mass. Of bodies that it lifts unequally the moment is that
        of the first pose, which is noted.
        """
        part = self.model.body_gravcomp[unit.bodies]
        if not part.any():
            return None
        force = -(part * self.model.body_mass[unit.bodies])[:, None] * self.gravity
        moment = np.cross(self.data.xipos[unit.bodies] - centre, force).sum(axis=0)
        if np.ptp(part) > 0.0 and unit.free[3:].any():
            left_out.add("gravcomp that turns with the body", unit.name)
        return np.concatenate([force.sum(axis=0), moment])


WORLD = 0
"""Number of the tree of all that is fixed; those that move have theirs plus one."""


@dataclass(frozen=True)
class Unit:
    """One body of the scene. bodies (k,): numbers of those of the model whose mass it has; geoms:
    of its shapes. free (6,) bool: degrees of freedom. plane: a half-space."""

    name: str
    bodies: np.ndarray
    geoms: tuple[int, ...]
    free: np.ndarray
    plane: bool = False


def units_of(model: Model, left_out: LeftOut) -> list[Unit]:
    """The bodies of the scene, in the order of the model's."""
    m = model.model
    tree = np.where(m.body_treeid < 0, WORLD, m.body_treeid + 1)
    roots = np.flatnonzero(model.roots)
    # of each tree; the world's own cannot move
    free = [np.zeros(6, bool)] + [_freedom(model, root, tree) for root in roots.tolist()]
    part = _welded(model, tree, left_out)
    touches = _touching(model)
    units = []
    for p in dict.fromkeys(part[tree].tolist()):
        members = np.flatnonzero(part[tree] == p)
        moves = np.all([free[t] for t in np.unique(tree[members])], axis=0)
        if moves.any():
            units += _moving(model, members, moves, touches, left_out)
        else:
            welded = [free[t].all() for t in tree[members]]
            units += _fixed(model, members, touches, members[welded], left_out)
    return sorted(units, key=lambda unit: min(unit.geoms))


def _moving(model: Model, members, moves, touches, left_out: LeftOut) -> list[Unit]:
    """The unit of bodies that move together."""
    m = model.model
    geoms = np.flatnonzero(np.isin(m.geom_bodyid, members))
    name = model.name("body", members[0])
    if not len(geoms):
        left_out.add("body without geometry", name)
        return []
    kept = geoms[touches[geoms]]
    inner = np.isin(m.jnt_bodyid, members[~model.roots[members]])
    left_out.add("joint held", *(model.name("joint", j) for j in np.flatnonzero(inner)))
    return [Unit(name, members, tuple((kept if len(kept) else geoms).tolist()), moves)]


def _fixed(model: Model, members, touches, welded_free, left_out: LeftOut) -> list[Unit]:
    """Units of bodies that stay where they are: one for each geometry of the world and for each
    half-space, else one for what is welded together. welded_free: those that only welds hold."""
    m, none, units = model.model, np.zeros(0, int), []
    planes = m.geom_type == model.mujoco.mjtGeom.mjGEOM_PLANE
    for root in np.unique(m.body_weldid[members]):
        welded = members[m.body_weldid[members] == root]
        geoms = np.flatnonzero(np.isin(m.geom_bodyid, welded) & touches)
        alone = geoms[planes[geoms]] if root else geoms
        units += [
            Unit(model.name("geom", g), none, (int(g),), np.zeros(6, bool), bool(planes[g]))
            for g in alone
        ]
        if not root:
            continue
        rest = geoms[~planes[geoms]]
        name = model.name("body", root)
        if len(rest):
            units.append(Unit(name, none, tuple(rest.tolist()), np.zeros(6, bool)))
        if m.body_dofnum[root] and root not in welded_free:
            left_out.add("body on joints held as they stand", name)
    return units


def _touching(model: Model) -> np.ndarray:
    """(ngeom,) bool: geometries that may touch others."""
    m = model.model
    touches = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
    touches[m.pair_geom1] = touches[m.pair_geom2] = True
    return touches


def _freedom(model: Model, root: int, tree: np.ndarray) -> np.ndarray:
    """Degrees of freedom (6,) of a tree with its inner joints held; none where they are not those
    of a scene."""
    m, kinds = model.model, model.mujoco.mjtJoint
    joints = range(m.body_jntadr[root], m.body_jntadr[root] + m.body_jntnum[root])
    free, hinges = np.zeros(6, bool), 0
    for j in joints:
        if m.jnt_type[j] == kinds.mjJNT_FREE:
            return np.ones(6, bool)
        if m.jnt_type[j] == kinds.mjJNT_BALL:
            hinges += 3
            continue
        axis = _world_axis(model.data.xaxis[j])
        if axis is None:
            return np.zeros(6, bool)
        if m.jnt_type[j] == kinds.mjJNT_SLIDE:
            free[axis] = True
        else:
            free[3 + axis] = True
            hinges += 1
    if hinges == 3 and free[:3].all():
        return np.ones(6, bool)
    # a hinge turns the centre of mass about its axis, unless that may move in the plane
    in_plane = np.delete(free[:3], int(np.argmax(free[3:]))).all()
    if hinges == 0 or (hinges == 1 and in_plane):
        return free
    return np.zeros(6, bool)


def _world_axis(axis: np.ndarray) -> int | None:
    """Which axis of the world a unit vector is along, either way."""
    k = int(np.abs(axis).argmax())
    return k if np.abs(np.delete(axis, k)).max() <= TOLERANCES.same else None


def _welded(model: Model, tree: np.ndarray, left_out: LeftOut) -> np.ndarray:
    """Which trees move together, (ntree + 1,): the least number of each part, by ``<weld>``."""
    m, part = model.model, np.arange(model.model.ntree + 1)
    for e in np.flatnonzero(m.eq_active0):
        if m.eq_type[e] != model.mujoco.mjtEq.mjEQ_WELD:
            left_out.add("equality", model.name("equality", e))
            continue
        ends = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
        if m.eq_objtype[e] == model.mujoco.mjtObj.mjOBJ_SITE:
            ends = [int(m.site_bodyid[s]) for s in ends]
        first, second = sorted(part[tree[ends]])
        rows = (model.data.efc_id == e) & (
            model.data.efc_type == model.mujoco.mjtConstraint.mjCNSTR_EQUALITY
        )
        off = np.abs(model.data.efc_pos[rows]).max(initial=0.0)
        if off > TOLERANCES.same * model.model.stat.extent:
            left_out.add("weld that the first pose misses", model.name("equality", e))
            continue
        part[part == second] = first
    return part
