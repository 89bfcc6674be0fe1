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
from .tables import lines_of, toml_value


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
    keys = ("name", "description", "dim", "restitution", "law", "dt", "duration")
    head = {key: getattr(scene, key) for key in keys}
    if scene.tangential_law != MINDLIN or scene.increments != 1:
        head |= {"tangential_law": scene.tangential_law, "increments": scene.increments}
    head["gravity"] = scene.gravity[: scene.dim]
    lines = ["# Units: m, kg, s, N, Pa, rad", *lines_of(head)]
    if scene.cell is not None:
        lines += lines_of(_cell_keys(scene.cell, state), "[cell]")
    for path in scene.path:
        lines += lines_of(path, "[[path]]")
    materials = scene.bodies.materials
    for name, material in zip(_material_names(materials), materials, strict=True):
        keys = {key: getattr(material, key) for key in ("young", "poisson", "density")}
        keys["friction"] = material.friction or None
        keys["tangential_stiffness"] = material.tangential_stiffness
        lines += lines_of(keys, f"[materials.{toml_value(name)}]")
    return "\n".join(lines) + "\n"


def _cell_keys(cell: Cell, state: State | None) -> dict:
    d = cell.dim
    if state is not None and state.cell is not None:
        cell = cell.changed(vectors=state.cell[:d, :d])
    tensors = {key: getattr(cell, key)[:d, :d] for key in ("vectors", "stress", "rate")}
    return tensors | {"periodic": cell.periodic[:d], "inertia": cell.inertia}


def scene_text(scene: Scene, state: State | None = None) -> str:
    """The scene as TOML text, bodies one by one; state: instead of the scene's own."""
    bodies = scene.bodies
    state = scene.state if state is None else state
    lines, names = [head_text(scene, state).removesuffix("\n")], _material_names(bodies.materials)
    loads = scene.columns["load"]
    group = {i: name for name, members in scene.groups.items() for i in members}
    for i in range(len(scene)):
        keys = _body_keys(bodies, state, i, names[bodies.material_of[i]])
        keys |= _motion_keys(bodies, state, i, loads[i]) | {"group": group.get(i)}
        lines += lines_of(keys, "[[bodies]]")
    lines += _pair_lines(scene)
    if scene.memory is not None:
        lines += memory_lines(scene, scene.memory)
    return "\n".join(lines) + "\n"


def _body_keys(bodies: Bodies, state: State, i: int, material: str) -> dict:
    """Name, shape, place, material and mass of body i."""
    shape, d = bodies.shape(i), bodies.dim
    keys = {"name": bodies.names[i], **dict(shape_keys(shape))}
    keys |= {"position": state.position[i, :d], "material": material}
    q = state.quaternion[i]
    if abs(q[0] - 1) > 0:
        keys["orientation"] = q if d == 3 else rotations.angle_of(q)
    usual = bodies.materials[bodies.material_of[i]].density * shape.measure
    # that of a fixed body has no effect: only what another density would not give again
    free = bodies.free[i]
    stated = free.any() or bodies.mass[i] != usual
    if stated and (free.any() or not isinstance(shape, HalfSpace)):
        keys["mass"] = bodies.mass[i]
    return keys


def _motion_keys(bodies: Bodies, state: State, i: int, load: np.ndarray) -> dict:
    """What of body i is held, its velocity, and its load (6,)."""
    keys, flat = {}, bodies.dim == 2
    free, velocity = bodies.free[i], state.velocity[i]
    usual = PLANAR if flat else np.ones(6, bool)
    if isinstance(bodies.shape(i), HalfSpace):
        load = load * free.any()  # fixed as it is, or moved by its mass
    elif not free.any():
        keys["fixed"] = True
    elif (free != usual).any():
        keys["fixed"] = [n for n, f, u in zip(DEGREES, free, usual, strict=True) if u and not f]
    if velocity[:3].any():
        keys["velocity"] = velocity[: bodies.dim]
    if velocity[3:].any():
        keys["angular_velocity"] = velocity[5] if flat else velocity[3:]
    if np.abs(load).max() > 0:
        keys["load"] = load[[0, 1, 5]] if flat else load
    return keys


def _pair_lines(scene: Scene) -> list[str]:
    """What is given for two bodies."""
    names, lines = scene.bodies.names, []
    known = {key: getattr(scene, f"pair_{key}") for key in PAIR_KEYS}
    for i, j in dict.fromkeys(pair for values in known.values() for pair in values):
        keys = {key: values.get((i, j)) for key, values in known.items()}
        lines += lines_of({"bodies": [names[i], names[j]]} | keys, "[[pairs]]")
    for i, j in scene.excluded:
        lines += lines_of({"bodies": [names[i], names[j]], "collide": False}, "[[pairs]]")
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
