"""The scene of a moment: the bodies of another one, or some of them, where they have come to."""

import numpy as np

from ..bodies import Bodies, State
from .scene import Scene


def present_scene(
    scene: Scene,
    bodies: Bodies,
    state: State,
    external_force: np.ndarray,
    gravity: np.ndarray,
    keep: np.ndarray | None = None,
) -> Scene:
    """A scene whose bodies begin as they are now, with the loads and the gravity of now.

    bodies: as the simulation has them, with the periodic cell that is prescribed now. keep (k,):
    indices of the bodies to take, ascending; None: all. What a body has with one that is not taken
    is left out.
    """
    n = len(scene)
    keep = np.arange(n) if keep is None else keep
    cell = bodies.cell
    if cell is not None:
        d = scene.dim
        cell = cell.changed(vectors=state.cell[:d, :d])
    out = Scene(
        name=scene.name,
        dim=scene.dim,
        gravity=gravity[: scene.dim],
        restitution=scene.restitution,
        law=scene.law,
        tangential_law=scene.tangential_law,
        increments=scene.increments,
        dt=scene.dt,
        duration=scene.duration,
        description=scene.description,
        cell=cell,
    )
    columns = scene.columns
    force = external_force.reshape(-1, 6)[:n]
    # loads that were not set since are exactly the same
    same = (force == scene.external_force().reshape(-1, 6)[:n]).all(axis=1)
    same &= np.array_equal(gravity, scene.gravity)
    load = force.copy()
    load[:, :3] -= columns["mass"][:, None] * gravity
    columns["load"] = np.where(same[:, None], columns["load"], load)
    for name in ("position", "quaternion", "velocity"):
        columns[name] = getattr(state, name)[:n]
    out.fill(
        [scene.bodies.names[i] for i in keep],
        scene.shapes,
        bodies.materials,
        {name: values[keep].copy() for name, values in columns.items()},
    )
    number = np.full(n, -1)
    number[keep] = np.arange(len(keep))
    for what in ("pair_stiffness", "pair_friction", "pair_tangential_stiffness", "excluded"):
        for (i, j), value in getattr(scene, what).items():
            if number[i] >= 0 and number[j] >= 0:
                getattr(out, what)[int(number[i]), int(number[j])] = value
    for group, members in scene.groups.items():
        left = [int(number[i]) for i in members if number[i] >= 0]
        if left:
            out.groups[group] = left
    return out
