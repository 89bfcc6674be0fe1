"""Shapes and poses of a MuJoCo model as Rerun draws them."""

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .mujoco import library
from .mujoco_model import name_of

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

SHOWN = 3
"""Groups of geoms below this are those that MuJoCo's viewer shows at first."""

ENDLESS = 10.0
"""Half of the edge that a plane without end is drawn with [m]."""

THIN = 1e-3
"""Half of the thickness that a plane is drawn with [m]; its top is the plane."""


def body_shapes(rerun: ModuleType, model: "MjModel") -> Iterator[tuple[str, int, Any]]:
    """(name of its body, number, shape in the body's frame) of each geom that is drawn."""
    mujoco = library()
    for i in range(int(model.ngeom)):
        if int(model.geom_group[i]) >= SHOWN:
            continue
        shape = _shape(rerun, mujoco, model, i)
        if shape is not None:
            yield name_of(mujoco, model, "BODY", model.geom_bodyid[i]), i, shape


def body_poses(rerun: ModuleType, model: "MjModel", data: "MjData") -> Iterator[tuple[str, Any]]:
    """(name, transform) of each body."""
    mujoco = library()
    for i in range(int(model.nbody)):
        pose = rerun.Transform3D(
            translation=np.array(data.xpos[i]), quaternion=_turned(data.xquat[i])
        )
        yield name_of(mujoco, model, "BODY", i), pose


def _shape(rerun, mujoco, model, i):
    kinds, size = mujoco.mjtGeom, np.array(model.geom_size[i], float)
    kind, at = int(model.geom_type[i]), np.array(model.geom_pos[i], float)
    color = (255 * np.array(model.geom_rgba[i], float)).astype(np.uint8)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[i])
    turn = turn.reshape(3, 3)
    placed = dict(quaternions=[_turned(model.geom_quat[i])], colors=[color])
    solid = placed | dict(centers=[at], fill_mode="solid")
    if kind == int(kinds.mjGEOM_PLANE):
        half = np.append(np.where(size[:2] > 0.0, size[:2], ENDLESS), THIN)
        return rerun.Boxes3D(half_sizes=[half], **solid | dict(centers=[at - THIN * turn[:, 2]]))
    if kind == int(kinds.mjGEOM_BOX):
        return rerun.Boxes3D(half_sizes=[size], **solid)
    if kind == int(kinds.mjGEOM_SPHERE):
        return rerun.Ellipsoids3D(half_sizes=[np.repeat(size[0], 3)], **solid)
    if kind == int(kinds.mjGEOM_ELLIPSOID):
        return rerun.Ellipsoids3D(half_sizes=[size], **solid)
    if kind == int(kinds.mjGEOM_CYLINDER):
        return rerun.Cylinders3D(lengths=[2 * size[1]], radii=[size[0]], **solid)
    if kind == int(kinds.mjGEOM_CAPSULE):
        # Rerun's begins at its lower centre and goes up
        low = at - size[1] * turn[:, 2]
        return rerun.Capsules3D(
            lengths=[2 * size[1]], radii=[size[0]], translations=[low], fill_mode="solid", **placed
        )
    if kind == int(kinds.mjGEOM_MESH):
        return _mesh(rerun, model, int(model.geom_dataid[i]), at, turn, color)
    return None


def _mesh(rerun, model, mesh, at, turn, color):
    begin, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    first, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    points = np.array(model.mesh_vert[begin : begin + count], float)
    return rerun.Mesh3D(
        vertex_positions=points @ turn.T + at,
        triangle_indices=np.array(model.mesh_face[first : first + faces]),
        albedo_factor=color,
    )


def _turned(quaternion):
    """MuJoCo's (w, x, y, z) as (x, y, z, w)."""
    return np.roll(np.array(quaternion, float), -1)
