"""The state of a simulation as arrays: all that the next steps depend on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._support import arrays
from .._support.words import counted
from ..collision.contacts import keyed
from ..errors import InputError
from ..scenes.periodic import with_cell
from ..step import WarmStart
from ..step.friction import Memory, restored, stored

if TYPE_CHECKING:
    from .simulation import Simulation

SAVED = ("position", "quaternion", "velocity", "time", "steps")
"""Arrays that every checkpoint has."""


def saved_arrays(simulation: "Simulation", warm: WarmStart | None) -> dict[str, np.ndarray]:
    """The state of a simulation. Loads and gravity are among it where they were set."""
    state, cell, scene = simulation.state, simulation.bodies.cell, simulation.scene
    out = {
        "position": state.position,
        "quaternion": state.quaternion,
        "velocity": state.velocity,
        "time": np.array(state.time),
        "steps": np.array(simulation.steps),
    }
    if cell is not None:
        out["cell"] = state.cell
        out["cell_stress"] = cell.stress
    if not np.array_equal(simulation.external_force, scene.external_force()):
        out["external_force"] = simulation.external_force.copy()
    if not np.array_equal(simulation.gravity, scene.gravity):
        out["gravity"] = simulation.gravity
    if warm is not None:
        out |= {
            "warm_body": warm.contacts.body,
            "warm_feature": warm.contacts.feature,
            "warm_force": warm.force,
            "warm_displacement": warm.displacement,
        }
        if warm.memory is not None:
            out |= stored(warm.memory)
    return out


def check(simulation: "Simulation", saved: Mapping[str, np.ndarray]) -> None:
    """Raises InputError for anything but a checkpoint of the simulation's scene."""
    gave = "expected what Simulation.checkpoint() gave"
    if not isinstance(saved, Mapping):
        raise InputError(f"the checkpoint is {arrays.short(saved)}; {gave}")
    missing = [name for name in SAVED if name not in saved]
    if missing:
        raise InputError(f"the checkpoint has no {missing[0]!r}; {gave}")
    n = len(simulation.bodies)
    bodies = len(np.atleast_1d(saved["position"]))
    if bodies != n:
        raise InputError(
            f"the checkpoint is of {counted(bodies, 'body')}; scene {simulation.scene.name!r} has "
            f"{n}: expected the checkpoint of this scene"
        )
    warm = len(np.atleast_1d(saved.get("warm_force", ())))
    shapes = {
        "position": (n, 3),
        "quaternion": (n, 4),
        "velocity": (n, 6),
        "time": (),
        "steps": (),
        "external_force": (6 * n,),
        "gravity": (3,),
        "warm_body": (warm, 2),
        "warm_feature": (warm,),
        "warm_force": (warm,),
        "warm_displacement": (6 * n,),
    }
    for name in shapes.keys() & saved.keys():
        try:
            found = arrays.floats(saved[name])
        except (TypeError, ValueError):
            found = np.full((), np.nan)
        if found.shape != shapes[name] or not np.isfinite(found).all():
            raise InputError(
                f"{name!r} of the checkpoint has shape {found.shape}; expected {shapes[name]}, "
                "finite numbers"
            )


def put_back(simulation: "Simulation", saved: Mapping[str, np.ndarray]) -> None:
    """Gives a simulation the pose, cell, loads and gravity of a checkpoint."""
    simulation.state = simulation.state.moved(
        position=np.array(saved["position"]),
        quaternion=np.array(saved["quaternion"]),
        velocity=np.array(saved["velocity"]),
        time=float(saved["time"]),
    )
    bodies = simulation.bodies
    if bodies.cell is not None and "cell" in saved:
        d = bodies.dim
        cell = bodies.cell.changed(stress=np.array(saved["cell_stress"])[:d, :d])
        simulation.bodies = with_cell(bodies, cell)
        simulation.state = simulation.state.moved(cell=np.array(saved["cell"]))
    scene = simulation.scene
    force = saved.get("external_force", scene.external_force())
    simulation.external_force = np.array(force, float)
    simulation.gravity = np.array(saved.get("gravity", scene.gravity), float)
    simulation.steps = int(saved["steps"])


def warm_start(saved: Mapping[str, np.ndarray]) -> WarmStart | None:
    """What the last step before a checkpoint handed on; None before the first one."""
    if "warm_force" not in saved:
        return None
    contacts = keyed(
        np.array(saved["warm_body"]), np.array(saved["warm_feature"]), len(saved["position"])
    )
    return WarmStart(
        contacts,
        np.array(saved["warm_force"]),
        np.array(saved["warm_displacement"]),
        restored(contacts, saved),
    )


def remembering(memory: Memory, bodies: int) -> WarmStart:
    """The warm start of a simulation that begins with what the contacts of its scene remember."""
    memory = replace(memory, contacts=replace(memory.contacts, bodies=bodies))
    return WarmStart(memory.contacts, memory.force, np.zeros(6 * bodies), memory)
