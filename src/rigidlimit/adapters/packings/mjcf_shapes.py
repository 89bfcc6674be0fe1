"""Shapes, masses and inertia of the bodies of a model."""

import numpy as np

from ...bodies import (
    Box,
    Capsule,
    Compound,
    ConvexPolyhedron,
    Cylinder,
    Ellipsoid,
    Shape,
    Sphere,
    rotations,
)
from ...errors import InputError, SceneError
from ..tolerances import TOLERANCES
from .mjcf_bodies import Model, Unit

Placed = tuple[Shape, np.ndarray, np.ndarray | None]


def body_of(model: Model, unit: Unit) -> Placed:
    """(shape, centre of mass (3,) [m], orientation) of a unit, with the model's inertia."""
    placed = [_placed(model, g) for g in unit.geoms]
    moves = unit.free.any()
    try:
        if moves and not model.mass(unit.bodies) > 0.0:
            raise SceneError("it may move and has no mass; expected a mass")
        known = _inertia(model, unit.bodies) if moves else {}
        if len(placed) == 1 and _same_inertia(*placed[0], **known):
            return placed[0]
        shape = Compound(tuple(placed), **known)
    except SceneError as error:
        raise SceneError(f"{model.path}: body {unit.name!r}: {error}") from None
    return shape, shape.centre, None


def _inertia(model: Model, bodies: np.ndarray) -> dict:
    """Centre of mass (3,) [m] and inertia per mass (3, 3) [m^2] of bodies that move as one."""
    own, at = model.model.body_mass[bodies], model.data.xipos[bodies]
    mass = own.sum()
    centre = own @ at / mass
    total = np.zeros((3, 3))
    for body, m, arm in zip(bodies, own, at - centre, strict=True):
        axes = model.data.ximat[body].reshape(3, 3)
        total += axes @ np.diag(model.model.body_inertia[body]) @ axes.T
        total += m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return {"centre": centre, "inertia_per_mass": total / mass}


def _placed(model: Model, geom: int) -> Placed:
    """(shape, centre (3,), quaternion (4,)) in the world."""
    m, kinds = model.model, model.mujoco.mjtGeom
    kind, size = int(m.geom_type[geom]), m.geom_size[geom].tolist()
    position = model.data.geom_xpos[geom].copy()
    axes = model.data.geom_xmat[geom].reshape(3, 3)
    turn = np.zeros(4)
    model.mujoco.mju_mat2Quat(turn, axes.ravel())
    if kind == kinds.mjGEOM_MESH:
        mesh = m.geom_dataid[geom]
        first, count = m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
        shape = ConvexPolyhedron(m.mesh_vert[first : first + count].astype(float))
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
            f"{model.path}: geometry {model.name('geom', geom)!r} is a {kinds(kind).name}; "
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
