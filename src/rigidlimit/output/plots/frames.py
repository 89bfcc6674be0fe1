"""What a picture shows: bodies in their pose, contacts, and forces by one or more methods.

A ``Frame`` is taken from a stored run, a ``StepResult``, a ``Simulation``, a comparison with the
DEM or a DEM run. B and F~ are taken from the step where it still has them; a run file does not
store them, so they are computed again from its contacts:

    B      from points and normals (eq. 15), with the centres where the step began, x+ - dt v+
    F~     = B^T f_classic on the contacts closed at the end of the step (eq. 37)
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...bodies import Bodies, HalfSpace, State, rotations
from ...bodies.cell import CellFrame
from ...collision.contacts import Contacts, empty
from ...conditioning.one_body import reduced_balance
from ...constraints import gap_gradient, in_frame, in_world, tangential_gradient
from ...errors import InputError, nearest
from ...forces.closed import closing_gap
from ...forces.friction import contact_friction, has_friction, mobilised_friction
from ...forces.rough import AT_BOUND
from ...scenes.scene import Scene
from ..stored import StoredStep

if TYPE_CHECKING:
    from ...penalty.comparison import Comparison
    from ...penalty.result import PenaltyResult
    from ...pose import PoseForces
    from ...simulation import Simulation
    from ...step import StepResult
    from ..hdf5 import Run

Solved: TypeAlias = "PoseForces | Comparison | PenaltyResult"
"""Forces that no step of contact dynamics made."""

Source: TypeAlias = (
    "Frame | Run | str | Path | StoredStep | StepResult | Simulation | Scene | Solved"
)
"""What ``frame`` takes."""


@dataclass(frozen=True)
class Frame:
    """One moment of a scene. n bodies, m contacts.

    position (n, 3) [m], quaternion (n, 4), contacts: as in ``State`` and ``Contacts``. forces:
    name of the method -> (m,) [N]. gravity (3,) [m/s^2] or zero. time [s]. name: of the scene.
    end_gap (m,) [m]: gap at the end of the step. B (m, 6 n): gap gradient, made when first asked
    for if ``velocity`` (n, 6) and ``dt`` are known. stored_closed (m,) bool or None, together: what
    step 2 was asked for. Of scenes with friction, by method: tangential (m, 3) [N], the tangential
    parts of the force vectors on contacts.body[:, 1], and sliding (m,) bool; friction (m,): mu.
    cell (3, 3) [m]: vectors of a periodic cell, at the same time as the positions.
    """

    bodies: Bodies
    position: np.ndarray
    quaternion: np.ndarray
    contacts: Contacts
    forces: dict[str, np.ndarray]
    gravity: np.ndarray
    time: float = 0.0
    name: str = ""
    dt: float = 0.0
    velocity: np.ndarray | None = None
    step: object = None
    stored_closed: np.ndarray | None = None
    together: str = ""
    tangential: dict[str, np.ndarray] = field(default_factory=dict)
    sliding: dict[str, np.ndarray] = field(default_factory=dict)
    friction: np.ndarray | None = None
    cell: np.ndarray | None = None

    @property
    def best(self) -> str:
        """The method whose forces are shown alone: compatible, else the last one."""
        return "compatible" if "compatible" in self.forces else list(self.forces)[-1]

    @property
    def up(self) -> np.ndarray:
        """Unit vector (3,) against gravity; z, or y in 2D, without gravity."""
        size = np.linalg.norm(self.gravity)
        if size > 0:
            return -self.gravity / size
        return np.array([0.0, 1.0, 0.0] if self.bodies.dim == 2 else [0.0, 0.0, 1.0])

    def of(self, method: str | None) -> tuple[str, np.ndarray]:
        """(method, its forces (m,) [N]); None is the best one."""
        method = self.best if method is None else method
        if method not in self.forces:
            remedy = nearest(method, self.forces)
            if method == "compatible":
                remedy = (
                    "the step was made without them: ask for step(compatible=True), or for run "
                    f"--forces every; it has {', '.join(self.forces)}"
                )
            raise InputError(f"no forces {method!r} in this step; {remedy}")
        return method, self.forces[method]

    def vectors(self, method: str | None) -> np.ndarray:
        """Force vectors (m, 3) [N] on contacts.body[:, 1]; None is the best method."""
        method, force = self.of(method)
        normal = force[:, None] * self.contacts.normal
        return normal + self.tangential[method] if method in self.tangential else normal

    def mobilised(self, method: str) -> np.ndarray:
        """Mobilised friction |f_t|/(mu f_n) (m,) of a method with tangential forces."""
        return mobilised_friction(self.forces[method], self.tangential[method], self.friction)

    def chosen(self, methods: list[str] | None) -> list[str]:
        """These methods, each of which has to be there; all if none are named."""
        return list(self.forces) if methods is None else [self.of(m)[0] for m in methods]

    @property
    def speeds(self) -> np.ndarray:
        """Velocities (n, 6) [m/s, rad/s] at the end of the step; zero where none are known."""
        velocity = self.step.state.velocity if self.step is not None else self.velocity
        return np.zeros((len(self.bodies), 6)) if velocity is None else velocity

    @cached_property
    def start(self) -> np.ndarray:
        """Centres (n, 3) [m] where the step began, as its contacts were found."""
        velocity = self.step.state.velocity if self.step is not None else self.velocity
        if velocity is None:
            return self.position
        before = self.position - self.dt * velocity[:, :3]
        if self.bodies.cell is None:
            return before
        return np.linalg.solve(self.strain, before.T).T

    @property
    def strain(self) -> np.ndarray:
        """Vectors of a periodic cell at the end of the step over those at its start, (3, 3)."""
        velocity = self.step.state.velocity if self.step is not None else self.velocity
        if velocity is None or self.bodies.cell is None:
            return np.eye(3)
        return np.eye(3) + self.dt * self.bodies.velocity_gradient(velocity)

    @cached_property
    def B(self):
        if self.step is not None:
            return self.step.B
        state = State(self.start, self.quaternion, np.zeros((len(self.start), 6)))
        return gap_gradient(self.bodies, state, self.contacts)

    @cached_property
    def closed(self) -> np.ndarray:
        """Contacts closed at the end of the step, (m,) bool."""
        if self.step is not None:
            return self.step.closed
        if self.stored_closed is not None:
            return self.stored_closed
        gap = self.contacts.gap
        if self.velocity is not None:
            gap = gap + self.dt * (self.B @ self.velocity.ravel())
        force = np.max([np.zeros(len(gap)), *self.forces.values()], axis=0)
        return (force > 0) | (gap <= closing_gap(gap, force, self.bodies.length))

    @cached_property
    def load(self) -> np.ndarray:
        """F~ (6 n,) [N, N m]: what the closed contacts carry together."""
        if self.step is not None:
            return self.step.load
        closed = np.flatnonzero(self.closed)
        normal = self.B[closed].T @ self._admissible[closed]
        if "classic" not in self.tangential:
            return normal
        state = State(self.start, self.quaternion, np.zeros((len(self.start), 6)))
        T = tangential_gradient(self.bodies, state, self.contacts)
        rub = in_frame(self.contacts, self.tangential["classic"])
        return normal + T.T @ np.where(self.closed[:, None], rub, 0.0).ravel()

    @property
    def balance(self) -> tuple:
        """(B, load) of the closed contacts as ``StepResult.balance``."""
        if self.step is not None:
            return self.step.balance
        closed = np.flatnonzero(self.closed)
        B, load = self.B[closed], np.where(self.bodies.free.ravel(), self.load, 0.0)
        force, together = self._admissible[closed], self.together
        return reduced_balance(self.bodies, B, load, force, together=together)

    @property
    def _admissible(self):
        """Forces that made F~, (m,) [N]."""
        return self.forces["classic" if "classic" in self.forces else self.best]

    def pressure(self, force: np.ndarray) -> np.ndarray:
        """Sum of the contact forces on each body over its surface, (n,) [Pa; N/m in 2D].

        nan for half-spaces.
        """
        from ..surfaces import surface_area

        bodies = self.bodies
        area = np.array([surface_area(shape) for shape in bodies.shapes])[bodies.shape_of]
        total = np.zeros(len(bodies))
        np.add.at(total, self.contacts.body, force[:, None])
        return np.where(np.isfinite(area), total / area, np.nan)

    @property
    def half_space(self) -> np.ndarray:
        """Which bodies are half-spaces, (n,) bool."""
        return self.bodies.are(HalfSpace)

    @property
    def solid(self) -> np.ndarray:
        """Which bodies have a surface of their own, (n,) bool."""
        return ~self.bodies.are(HalfSpace, CellFrame)


def frame(source: "Source", *, scene: "Scene | None" = None, index: int = -1) -> Frame:
    """The frame of a run file (path or ``Run``, with ``index``), a step of a run, a
    ``StepResult``, a ``Simulation``, forces of a pose, a ``Scene`` as it begins, a ``Comparison``
    or a ``PenaltyResult`` (these two with ``scene``)."""
    if isinstance(source, Frame):
        return source
    if isinstance(source, str | Path):
        from ..hdf5 import read_run

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
        together=step.together,
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
