"""MJCF and URDF geometry through MuJoCo's own loader, as a scene that stands still.

Bodies of the model that are welded to one another are one of the scene. Those with a free joint can
move; those welded to the world, or held by other joints, are fixed as they stand at the model's
first pose. Geometries that touch nothing (contype and conaffinity 0) are
left out, unless a body has no others. Mass and inertia are the model's.
"""

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..._support.words import counted
from ...bodies import (
    Box,
    Capsule,
    Compound,
    ConvexPolyhedron,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Material,
    Shape,
    Sphere,
    rotations,
)
from ...errors import InputError, SceneError
from ...scenes.scene import Scene
from ..engines.arguments import imported
from ..tolerances import TOLERANCES


def read_mjcf(
    path: Path, *, material: Material | None = None, gravity: ArrayLike | None = None, **of_scene
) -> tuple[Scene, tuple[str, ...]]:
    """(scene, what of the model is not in it). material: instead of the model's friction.

    Raises InputError for what MuJoCo cannot load, and for shapes that scenes do not have.
    """
    mujoco = imported("mujoco", engine="MuJoCo", extra="mujoco")
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise InputError(f"{path}: MuJoCo cannot load it: {' '.join(str(error).split())}") from None
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    pull = model.opt.gravity if gravity is None else gravity
    scene = Scene(name=path.stem, gravity=pull, **of_scene)
    reader = _Reader(mujoco, model, data, path, material)
    held = [name for root in np.unique(model.body_weldid) for name in reader.add(scene, int(root))]
    if not len(scene):
        raise InputError(f"{path}: the model has no geometry; expected some")
    notes = ()
    if held:
        shown = ", ".join(held[:3]) + (", ..." if len(held) > 3 else "")
        notes = (f"{counted(len(held), 'body')} on joints held as they stand ({shown})",)
    return scene, notes


class _Reader:
    """Shapes, materials and names of one model."""

    def __init__(self, mujoco, model, data, path: Path, material: Material | None):
        self.mujoco, self.model, self.data = mujoco, model, data
        self.path, self.given = path, material

    def name(self, kind: str, number: int) -> str:
        found = getattr(self.model, kind)(number).name
        return found or f"{kind}{number}"

    def material(self, geom: int) -> Material:
        if self.given is not None:
            return self.given
        mu = float(self.model.geom_friction[geom, 0])
        return Material(friction=mu, name=f"mu {mu:g}")

    def add(self, scene: Scene, root: int) -> list[str]:
        """The bodies welded to ``root``, as one; names of those that joints hold."""
        model, geoms = self.model, self.mujoco.mjtGeom
        welded = np.flatnonzero(model.body_weldid == root)
        own = np.flatnonzero(np.isin(model.geom_bodyid, welded))
        touching = (model.geom_contype[own] != 0) | (model.geom_conaffinity[own] != 0)
        own = own[touching] if touching.any() else own
        planes = model.geom_type[own] == geoms.mjGEOM_PLANE
        for g in own[planes]:
            scene.add(
                HalfSpace(),
                position=self.data.geom_xpos[g],
                normal=self.data.geom_xmat[g].reshape(3, 3)[:, 2],
                material=self.material(g),
                name=self.name("geom", g),
            )
        own = own[~planes]
        if root == 0:  # the world's own: one body each
            for g in own:
                self._one(scene, [], [g], name=self.name("geom", g))
            return []
        if not len(own):
            return []
        joints = model.jnt_type[model.body_jntadr[root] :][: model.body_jntnum[root]]
        free = len(joints) == 1 and joints[0] == self.mujoco.mjtJoint.mjJNT_FREE
        name = self.name("body", root)
        self._one(scene, welded if free else [], own, name=name)
        return [] if free else [name]

    def _one(self, scene: Scene, welded, geoms, *, name: str) -> None:
        """One body of these geometries, with the mass of the bodies ``welded``; none: fixed."""
        placed = [self.placed(g) for g in geoms]
        mass = float(self.model.body_mass[welded].sum()) if len(welded) else 0.0
        try:
            known = self._inertia(welded, mass) if mass else {}
            if len(placed) == 1 and _same_inertia(*placed[0], **known):
                shape, position, turn = placed[0]
            else:
                shape = Compound(tuple(placed), **known)
                position, turn = shape.centre, None
        except SceneError as error:
            raise SceneError(f"{self.path}: body {name!r}: {error}") from None
        scene.add(
            shape,
            position=position,
            orientation=turn,
            material=self.material(geoms[0]),
            mass=mass or None,
            fixed=not len(welded),
            name=name,
        )

    def _inertia(self, welded, mass: float) -> dict:
        """Centre of mass (3,) [m] and inertia per mass (3, 3) [m^2] of bodies that move as one."""
        own = self.model.body_mass[welded]
        at = self.data.xipos[welded]
        centre = own @ at / mass
        total = np.zeros((3, 3))
        for body, m, arm in zip(welded, own, at - centre, strict=True):
            axes = self.data.ximat[body].reshape(3, 3)
            total += axes @ np.diag(self.model.body_inertia[body]) @ axes.T
            total += m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return {"centre": centre, "inertia_per_mass": total / mass}

    def placed(self, geom: int) -> tuple[Shape, np.ndarray, np.ndarray]:
        """(shape, centre (3,), quaternion (4,)) in the world."""
        model, kinds = self.model, self.mujoco.mjtGeom
        kind, size = int(model.geom_type[geom]), model.geom_size[geom].tolist()
        position = self.data.geom_xpos[geom].copy()
        axes = self.data.geom_xmat[geom].reshape(3, 3)
        turn = np.zeros(4)
        self.mujoco.mju_mat2Quat(turn, axes.ravel())
        if kind == kinds.mjGEOM_MESH:
            mesh = model.geom_dataid[geom]
            first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            shape = ConvexPolyhedron(model.mesh_vert[first : first + count].astype(float))
            return shape, position + axes @ shape.centre, rotations.unit(turn[None])[0]
        shapes = {
            int(kinds.mjGEOM_SPHERE): lambda: Sphere(size[0]),
            int(kinds.mjGEOM_BOX): lambda: Box(tuple(2 * half for half in size)),
            int(kinds.mjGEOM_CAPSULE): lambda: Capsule(size[0], 2 * size[1]),
            int(kinds.mjGEOM_CYLINDER): lambda: Cylinder(size[0], 2 * size[1]),
            int(kinds.mjGEOM_ELLIPSOID): lambda: Ellipsoid(tuple(size)),
        }
        if kind not in shapes:
            raise InputError(
                f"{self.path}: geometry {self.name('geom', geom)!r} is a {kinds(kind).name}; "
                "expected planes, spheres, boxes, capsules, cylinders, ellipsoids and meshes"
            )
        return shapes[kind](), position, turn


def _same_inertia(shape: Shape, at, turn, centre=None, inertia_per_mass=None) -> bool:
    """Whether a uniform body of this shape has the centre and inertia that the model states."""
    if centre is None:
        return True
    axes = rotations.matrix(turn)
    own = axes @ shape.inertia_per_mass @ axes.T
    return bool(
        np.abs(at - centre).max() <= TOLERANCES.same * shape.bounding_radius
        and np.abs(own - inertia_per_mass).max() <= TOLERANCES.same * shape.bounding_radius**2
    )
