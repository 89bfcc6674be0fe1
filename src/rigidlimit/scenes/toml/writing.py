"""A scene as TOML text that ``reading`` restores exactly."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..._support.atomic import write_text
from ...bodies import Bodies, Cell, HalfSpace, Material, State, rotations
from ...bodies.bodies import PLANAR
from ...bodies.materials import MINDLIN
from ..checks import DEGREES, warn_of_unused_springs
from ..pairs import PAIR_KEYS
from ..scene import Scene
from .memory import memory_lines
from .shapes import shape_keys
from .tables import toml_value


def write_scene(scene: Scene, path: str | Path, state: State | None = None) -> None:
    """Write a scene as TOML that ``read_scene`` takes back (whole or not at all), and what its
    rough contacts remember, ``scene.memory``.

    Parameters
    ----------
    scene
        What is written.
    path
        The file, which is replaced.
    state
        Poses and velocities to begin with, as of ``settle``; None: the scene's own.
    """
    warn_of_unused_springs(scene, "a scene file")
    write_text(path, scene_text(scene, state))


def head_text(scene: Scene, state: State | None = None) -> str:
    """All of the scene but its bodies and what is between two of them, as TOML text, with the
    cell of ``state`` in place of the scene's own."""
    lines = ["# Units: m, kg, s, N, Pa, rad"]
    for key in ("name", "description", "dim", "restitution", "law", "dt", "duration"):
        lines.append(f"{key} = {toml_value(getattr(scene, key))}")
    if scene.tangential_law != MINDLIN or scene.increments != 1:
        lines.append(f"tangential_law = {toml_value(scene.tangential_law)}")
        lines.append(f"increments = {toml_value(scene.increments)}")
    lines.append(f"gravity = {toml_value(scene.gravity[: scene.dim])}")
    if scene.cell is not None:
        lines += ["", "[cell]", *_cell_lines(scene.cell, state)]
    for path in scene.path:
        lines += ["", "[[path]]", *(f"{key} = {toml_value(v)}" for key, v in path.items())]
    materials = scene.bodies.materials
    for name, material in zip(_material_names(materials), materials, strict=True):
        lines += ["", f"[materials.{toml_value(name)}]"]
        lines += [
            f"{key} = {toml_value(getattr(material, key))}"
            for key in ("young", "poisson", "density")
        ]
        if material.friction:
            lines.append(f"friction = {toml_value(material.friction)}")
        if material.tangential_stiffness is not None:
            lines.append(f"tangential_stiffness = {toml_value(material.tangential_stiffness)}")
    return "\n".join(lines) + "\n"


def _cell_lines(cell: Cell, state: State | None) -> list[str]:
    d = cell.dim
    if state is not None and state.cell is not None:
        cell = cell.changed(vectors=state.cell[:d, :d])
    keys = ("vectors", "stress", "rate")
    lines = [f"{key} = {toml_value(getattr(cell, key)[:d, :d])}" for key in keys]
    lines.append(f"periodic = {toml_value(cell.periodic[:d])}")
    return lines if cell.inertia is None else [*lines, f"inertia = {toml_value(cell.inertia)}"]


def scene_text(scene: Scene, state: State | None = None) -> str:
    """The scene as TOML text, bodies one by one; state: instead of the scene's own."""
    bodies = scene.bodies
    state = scene.state if state is None else state
    lines, names = [head_text(scene, state).removesuffix("\n")], _material_names(bodies.materials)
    loads = scene.columns["load"]
    group = {i: name for name, members in scene.groups.items() for i in members}
    for i in range(len(scene)):
        lines += _body_lines(bodies, state, i, names[bodies.material_of[i]])
        lines += _motion_lines(bodies, state, i, loads[i])
        if i in group:
            lines.append(f"group = {toml_value(group[i])}")
    lines += _pair_lines(scene)
    if scene.memory is not None:
        lines += memory_lines(scene, scene.memory)
    return "\n".join(lines) + "\n"


def _body_lines(bodies: Bodies, state: State, i: int, material: str) -> list[str]:
    """Name, shape, place, material and mass of body i."""
    shape, d = bodies.shape(i), bodies.dim
    lines = ["", "[[bodies]]", f"name = {toml_value(bodies.names[i])}"]
    lines += [f"{key} = {toml_value(value)}" for key, value in shape_keys(shape)]
    lines.append(f"position = {toml_value(state.position[i, :d])}")
    lines.append(f"material = {toml_value(material)}")
    q = state.quaternion[i]
    if abs(q[0] - 1) > 0:
        lines.append(f"orientation = {toml_value(q if d == 3 else rotations.angle_of(q))}")
    usual = bodies.materials[bodies.material_of[i]].density * shape.measure
    # that of a fixed body has no effect: only what another density would not give again
    free = bodies.free[i]
    stated = free.any() or bodies.mass[i] != usual
    if stated and (free.any() or not isinstance(shape, HalfSpace)):
        lines.append(f"mass = {toml_value(bodies.mass[i])}")
    return lines


def _motion_lines(bodies: Bodies, state: State, i: int, load: np.ndarray) -> list[str]:
    """What of body i is held, its velocity, and its load (6,)."""
    lines, flat = [], bodies.dim == 2
    free, velocity = bodies.free[i], state.velocity[i]
    usual = PLANAR if flat else np.ones(6, bool)
    if isinstance(bodies.shape(i), HalfSpace):
        load = load * free.any()  # fixed as it is, or moved by its mass
    elif not free.any():
        lines.append("fixed = true")
    elif (free != usual).any():
        held = [name for name, f, u in zip(DEGREES, free, usual, strict=True) if u and not f]
        lines.append(f"fixed = {toml_value(held)}")
    if velocity[:3].any():
        lines.append(f"velocity = {toml_value(velocity[: bodies.dim])}")
    if velocity[3:].any():
        lines.append(f"angular_velocity = {toml_value(velocity[5] if flat else velocity[3:])}")
    if np.abs(load).max() > 0:
        lines.append(f"load = {toml_value(load[[0, 1, 5]] if flat else load)}")
    return lines


def _pair_lines(scene: Scene) -> list[str]:
    """What is given for two bodies."""
    names, lines = scene.bodies.names, []
    known = {key: getattr(scene, f"pair_{key}") for key in PAIR_KEYS}
    for i, j in dict.fromkeys(pair for values in known.values() for pair in values):
        lines += ["", "[[pairs]]", f"bodies = {toml_value([names[i], names[j]])}"]
        lines += [f"{key} = {toml_value(v[i, j])}" for key, v in known.items() if (i, j) in v]
    for i, j in scene.excluded:
        lines += ["", "[[pairs]]", f"bodies = {toml_value([names[i], names[j]])}"]
        lines.append("collide = false")
    return lines


def _material_names(materials: Sequence[Material]) -> list[str]:
    """Distinct names of materials, which may share one."""
    names = []
    for material in materials:
        name = material.name
        while name in names:
            name += "'"
        names.append(name)
    return names
