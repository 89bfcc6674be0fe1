"""Frames of whatever shows contact forces: runs, steps, simulations, comparisons, poses, scenes."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..bodies import rotations
from ..collision.contacts import empty
from ..compatibility.friction import contact_friction, has_friction, mobilised_friction
from ..compatibility.rough_result import AT_BOUND
from ..errors import InputError
from ..kinematics import in_world
from ..scenes.scene import Scene
from .frames import Frame
from .stored_step import StoredStep

if TYPE_CHECKING:
    from ..penalty.comparison import Comparison
    from ..penalty.result import PenaltyResult
    from ..pose import PoseForces
    from ..simulation import Simulation
    from ..step import StepResult
    from .hdf5 import Run

Solved: TypeAlias = "PoseForces | Comparison | PenaltyResult"
"""Forces that no step of contact dynamics made."""

Source: TypeAlias = (
    "Frame | Run | str | Path | StoredStep | StepResult | Simulation | Scene | Solved"
)
"""What ``frame`` takes."""


def frame(source: "Source", *, scene: "Scene | None" = None, index: int = -1) -> Frame:
    """The frame of whatever shows contact forces.

    Parameters
    ----------
    source : Frame, path, Run, StoredStep, StepResult, Simulation, PoseForces, Scene, ...
        A run or its file, a step of a run, a step, a simulation, forces of a pose, a scene as it
        begins; a comparison or a ``PenaltyResult``, with ``scene``.
    scene : Scene, optional
        Of a source that does not know its bodies.
    index : int
        Which stored step of a run; -1 is the last.

    Returns
    -------
    Frame

    Raises
    ------
    InputError
        For a source of another kind, one that does not know its bodies, and a simulation without a
        step.
    OutputError
        For a run that cannot be read.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> shown = rl.plots.frame(rl.scenes.beam())
    >>> len(shown.bodies), len(shown.contacts)
    (4, 0)
    """
    if isinstance(source, Frame):
        return source
    if isinstance(source, str | Path):
        from .hdf5 import read_run

        source = read_run(source)
    if isinstance(source, Scene):
        return scene_frame(source)
    if hasattr(source, "settings") and hasattr(source, "times"):
        return _of_run(source, index)
    if isinstance(source, StoredStep):
        return _of_stored(source, scene)
    if hasattr(source, "last") and hasattr(source, "scene"):
        if source.last is None:
            raise InputError("this simulation has made no step yet; call step() or run() first")
        return _of_result(source.last, source.scene)
    if hasattr(source, "classic") and hasattr(source, "contacts"):
        return _of_result(source, scene)
    if hasattr(source, "elastic"):
        return _of_pose(source)
    if hasattr(source, "contacts") and hasattr(source, "force"):
        return _of_forces(source, scene)
    raise InputError(
        f"found {type(source).__name__}; expected a run, the path of a run file, a StepResult, a "
        "Simulation, a Comparison or a PenaltyResult"
    )


def _of_run(run, index: int) -> Frame:
    return _of_stored(run[index], run.scene)


def _of_stored(step: StoredStep, scene) -> Frame:
    scene = step.scene if scene is None else scene
    if scene is None:
        raise InputError("this step does not know its bodies; add scene=")
    rough = step.tangential is not None
    forces = {"classic": step.force_classic}
    tangential = {"classic": step.tangential_classic} if rough else {}
    if "compatible_status" in step.info:
        forces["compatible"] = step.force
        tangential |= {"compatible": step.tangential} if rough else {}
    return Frame(
        bodies=scene.bodies,
        position=step.position,
        quaternion=step.quaternion,
        contacts=step.contacts,
        forces=forces,
        gravity=scene.gravity,
        time=step.time,
        name=scene.name,
        dt=step.dt,
        velocity=step.velocity,
        stored_closed=step.closed,
        several_bodies=step.several_bodies,
        unresolved=step.unresolved,
        tangential=tangential,
        sliding={list(forces)[-1]: step.sliding} if rough else {},
        friction=step.friction,
        cell=step.cell,
    )


def _of_result(result, scene) -> Frame:
    bodies = scene.bodies if scene is not None else result.bodies
    if bodies is None:
        raise InputError("this StepResult does not know its bodies; add scene=")
    rough, contacts = result.T is not None, result.contacts
    forces = {"classic": result.classic.force}
    tangential = {"classic": in_world(contacts, result.classic.tangential_force)} if rough else {}
    if result.compatible is not None:
        forces["compatible"] = result.force
        tangential |= {"compatible": in_world(contacts, result.tangential_force)} if rough else {}
    return Frame(
        bodies=bodies,
        position=result.state.position,
        quaternion=result.state.quaternion,
        contacts=contacts,
        forces=forces,
        gravity=np.zeros(3) if scene is None else scene.gravity,
        time=result.time,
        name="" if scene is None else scene.name,
        dt=result.dt,
        step=result,
        tangential=tangential,
        sliding={list(forces)[-1]: result.sliding} if rough else {},
        friction=result.friction,
        cell=result.state.cell,
    )


def _of_forces(source, scene) -> Frame:
    """A comparison (forces by method) or a DEM run (one force)."""
    if scene is None:
        raise InputError(f"a {type(source).__name__} does not know its bodies; add scene=")
    if isinstance(source.force, dict):
        forces, rubbing = source.force, {}
    else:
        forces, rubbing = {"dem": source.force}, _rubbing_of(source, scene)
    return Frame(
        bodies=scene.bodies,
        position=source.state.position,
        quaternion=source.state.quaternion,
        contacts=source.contacts,
        forces=dict(forces),
        gravity=scene.gravity,
        time=source.state.time,
        name=scene.name,
        **rubbing,
    )


def _rubbing_of(source, scene) -> dict:
    """Tangential forces of a DEM run, if its bodies rub."""
    if not has_friction(scene.bodies, scene.pair_friction):
        return {}
    mu = contact_friction(scene.bodies, source.contacts, scene.pair_friction)
    sliding = mobilised_friction(source.force, source.tangential, mu) >= 1.0 - AT_BOUND
    return {
        "tangential": {"dem": source.tangential},
        "sliding": {"dem": sliding},
        "friction": mu,
    }


def _of_pose(source) -> Frame:
    """Forces of a given pose (``rigidlimit.forces_at_pose``)."""
    rubbing = {}
    if source.friction is not None:
        rubbing = {
            "tangential": {"compatible": in_world(source.contacts, source.tangential_force)},
            "sliding": {"compatible": source.elastic.sliding},
            "friction": source.friction,
        }
    return Frame(
        bodies=source.bodies,
        position=source.state.position,
        quaternion=source.state.quaternion,
        contacts=source.contacts,
        forces={"compatible": source.force},
        gravity=np.zeros(3),
        time=source.state.time,
        cell=source.state.cell,
        velocity=source.state.velocity,
        **rubbing,
    )


def scene_frame(scene: "Scene") -> Frame:
    """A scene as it begins: bodies without contacts."""
    state = scene.state
    return Frame(
        bodies=scene.bodies,
        position=state.position,
        quaternion=rotations.normalized(state.quaternion),
        contacts=empty(len(scene.bodies)),
        forces={"none": np.zeros(0)},
        gravity=scene.gravity,
        name=scene.name,
        velocity=state.velocity,
        cell=state.cell,
    )
