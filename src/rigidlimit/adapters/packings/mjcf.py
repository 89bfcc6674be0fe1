"""MJCF and URDF models through MuJoCo's own loader, as a scene at the model's first pose.

What moves as one and how: ``mjcf_bodies.py``; shapes and masses: ``mjcf_shapes.py``; which bodies
touch and their friction: ``mjcf_contacts.py``; what scenes do not have, by name: ``mjcf_left_out``.
"""

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ...bodies import HalfSpace, Material
from ...errors import InputError
from ...scenes.scene import Scene
from ..engines.arguments import imported
from .mjcf_bodies import Model, Unit, units_of
from .mjcf_contacts import ContactRules
from .mjcf_left_out import LeftOut, name_what_scenes_lack
from .mjcf_shapes import body_of


def read_mjcf(
    path: Path, *, material: Material | None = None, gravity: ArrayLike | None = None, **of_scene
) -> tuple[Scene, LeftOut]:
    """(scene, what of the model is not in it). material: instead of the model's friction.

    Raises InputError for what MuJoCo cannot load, and for shapes that scenes do not have.
    """
    mujoco = imported("mujoco", engine="MuJoCo", extra="mujoco")
    left_out = LeftOut()
    compiled = _compiled(mujoco, path, left_out)
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    model = Model(mujoco, compiled, data, path)
    pull = model.gravity if gravity is None else gravity
    scene = Scene(name=path.stem, gravity=pull, **of_scene)
    units = units_of(model, left_out)
    if not units:
        raise InputError(f"{path}: the model has no geometry that touches anything; expected some")
    rules = ContactRules(model, units, left_out)
    friction = rules.own_friction()
    for k, unit in enumerate(units):
        of_it = material or Material(friction=friction[k], name=f"mu {friction[k]:g}")
        _add(scene, model, unit, of_it, rules.group[k], left_out)
    rules.apply(scene, friction=None if material is not None else friction)
    name_what_scenes_lack(model, units, left_out)
    return scene, left_out


def _compiled(mujoco, path: Path, left_out: LeftOut):
    """The model; roots of URDF files that have a mass get a free joint, as in other programs."""
    try:
        if "<robot" not in path.read_text(errors="replace"):
            return mujoco.MjModel.from_xml_path(str(path))
        spec = mujoco.MjSpec.from_file(str(path))
        for root in spec.worldbody.bodies:
            if root.name != "world" and not root.joints and _welded_mass(root) > 0.0:
                root.add_freejoint()
                left_out.note(
                    f"the URDF root {root.name!r} floats (a root without mass, or called 'world', "
                    "is fixed)"
                )
        return spec.compile()
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: MuJoCo cannot load it: {' '.join(str(error).split())}") from None


def _welded_mass(body) -> float:
    """Mass [kg] of a body of a URDF file and of those fixed to it."""
    own = float(body.mass) if body.explicitinertial else 0.0
    return own + sum(_welded_mass(child) for child in body.bodies if not child.joints)


def _add(
    scene: Scene, model: Model, unit: Unit, material: Material, group: str | None, left_out: LeftOut
) -> None:
    """One body of the scene."""
    if unit.plane:
        geom = unit.geoms[0]
        scene.add(
            HalfSpace(),
            position=model.data.geom_xpos[geom],
            normal=model.data.geom_xmat[geom].reshape(3, 3)[:, 2],
            material=material,
            name=unit.name,
            group=group,
        )
        return
    shape, position, turn = body_of(model, unit)
    degrees = np.array(("x", "y", "z", "rx", "ry", "rz"))
    held = [] if unit.free.all() else degrees[~unit.free].tolist()
    load = model.compensation(unit, position, left_out) if unit.free.any() else None
    scene.add(
        shape,
        position=position,
        orientation=turn,
        material=material,
        mass=model.mass(unit.bodies) if unit.free.any() else None,
        fixed=held if unit.free.any() else True,
        name=unit.name,
        load=load,
        group=group,
    )
