"""One step of a run file: poses, contacts and forces.

The file of a comparison of methods is a run of one step.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.display import Brief
from .._support.new_hdf5 import whole_hdf5
from ..collision.contacts import Contacts
from ..compatibility import RoughForces
from ..conditioning.several_bodies import TAKEN
from ..kinematics import in_world
from ..scenes.columns import StoredScene
from ..scenes.scene import Scene
from ..step import StepResult
from ..step.force_network import ForceNetwork
from .stored import check, contents, write_head, write_sealed

if TYPE_CHECKING:
    from h5py import Group

    from ..penalty.compare import Comparison


STATE_FIELDS = ("position", "quaternion", "velocity")
CONTACT_FIELDS = ("body", "feature", "point", "normal", "gap", "curvature")


@dataclass(frozen=True, repr=False)
class StoredStep(Brief):
    """One stored step: poses and velocities at its end, contacts and forces of the step.

    force (m,) [N]: compatible forces, NaN where not requested; force_classic (m,) [N].
    ``info`` holds status, residuals and iterations of both steps of the method. force_dem (m,) [N]:
    forces of the DEM on the same contacts, where they were stored too. scene: whose step it is.
    closed (m,) bool, several_bodies, unresolved: options of step 2, as in ``ForceNetwork``; None
    and "" in older files. With friction (else None): tangential, tangential_classic (m, 3)
    [N],
    tangential parts of the force vectors on contacts.body[:, 1], in the world frame; sliding (m,)
    bool, of the compatible forces if they were requested; friction (m,): mu; contacts.tangents.
    cell (3, 3) [m]: vectors of a periodic cell at the end of the step, whose velocities are those
    of the last body; contacts.branch.
    """

    number: int
    time: float
    dt: float
    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    contacts: Contacts
    force: np.ndarray
    force_classic: np.ndarray
    stiffness: np.ndarray
    info: dict
    scene: Scene
    force_dem: np.ndarray | None = None
    closed: np.ndarray | None = None
    several_bodies: str = ""
    unresolved: bool = False
    tangential: np.ndarray | None = None
    tangential_classic: np.ndarray | None = None
    sliding: np.ndarray | None = None
    friction: np.ndarray | None = None
    cell: np.ndarray | None = None

    @property
    def network(self) -> ForceNetwork:
        """What plots, measures and export show of this step."""
        rough = self.tangential is not None
        forces = {"classic": self.force_classic}
        tangential = {"classic": self.tangential_classic} if rough else {}
        if "compatible_status" in self.info:
            forces["compatible"] = self.force
            tangential |= {"compatible": self.tangential} if rough else {}
        return ForceNetwork(
            bodies=self.scene.bodies,
            position=self.position,
            quaternion=self.quaternion,
            contacts=self.contacts,
            forces=forces,
            gravity=self.scene.gravity,
            time=self.time,
            name=self.scene.name,
            dt=self.dt,
            velocity=self.velocity,
            stored_closed=self.closed,
            several_bodies=self.several_bodies,
            unresolved=self.unresolved,
            tangential=tangential,
            sliding={list(forces)[-1]: self.sliding} if rough else {},
            friction=self.friction,
            cell=self.cell,
        )

    @property
    def force_vectors(self) -> np.ndarray:
        """``force`` as vectors (m, 3) [N] on contacts.body[:, 1], with their tangential parts."""
        normal = self.force[:, None] * self.contacts.normal
        return normal if self.tangential is None else normal + self.tangential


def read_step(group: "Group", number: int, scene: Scene) -> StoredStep:
    """Raises OSError or ValueError where the file is damaged."""
    attributes, arrays = contents(group)
    known = _Known(arrays)
    n, m = len(scene.bodies), len(known("contacts/body"))
    info = {k: v.item() if hasattr(v, "item") else v for k, v in attributes.items()}
    rough = "contacts/tangents" in arrays
    step = StoredStep(
        number=number,
        time=info.pop("time"),
        dt=info.pop("dt"),
        position=known("position", n, 3),
        quaternion=known("quaternion", n, 4),
        velocity=known("velocity", n, 6),
        contacts=_contacts(known, m, scene),
        force=known("contacts/force", m, finite=False),
        force_classic=known("contacts/force_classic", m),
        stiffness=known("contacts/stiffness", m, finite=False),
        info=info,
        scene=scene,
        force_dem=arrays.get("contacts/force_dem"),
        closed=known.where_there("contacts/closed", m),
        several_bodies=_how_together(info.pop("together", "")),
        unresolved=bool(info.pop("unresolved", False)),
        tangential=known("contacts/tangential", m, 3, finite=False) if rough else None,
        tangential_classic=known("contacts/tangential_classic", m, 3) if rough else None,
        sliding=known("contacts/sliding", m) if rough else None,
        friction=known("contacts/friction", m) if rough else None,
        cell=known.where_there("cell", 3, 3),
    )
    check(group, attributes, arrays)
    return step


def _contacts(known: "_Known", m: int, scene: Scene) -> Contacts:
    n, shapes = len(scene.bodies), ((m, 2), (m,), (m, 3), (m, 3), (m,), (m,))
    fields = zip(CONTACT_FIELDS, shapes, strict=True)
    contacts = Contacts(*(known(f"contacts/{name}", *shape) for name, shape in fields), n)
    if m and not (contacts.body.min() >= 0 and contacts.body.max() < n):
        raise ValueError("contacts/body names bodies that the scene does not have")
    return replace(
        contacts,
        tangents=known.where_there("contacts/tangents", m, scene.bodies.dim - 1, 3),
        branch=known.where_there("contacts/branch", m, 3),
    )


@dataclass(frozen=True)
class _Known:
    """The arrays of a step by name. Called, it raises ValueError for one that is missing, of
    another shape, or not finite."""

    arrays: dict[str, np.ndarray]

    def __call__(self, name: str, *shape: int, finite: bool = True) -> np.ndarray:
        if name not in self.arrays:
            raise ValueError(f"{name} is missing")
        values = self.arrays[name]
        if shape and np.shape(values) != shape:
            raise ValueError(f"{name} has shape {np.shape(values)}, not {shape}")
        if shape and finite and not np.isfinite(values).all():
            raise ValueError(f"{name} is not finite")
        return values

    def where_there(self, name: str, *shape: int) -> np.ndarray | None:
        """None where the step has no such array."""
        return self(name, *shape) if name in self.arrays else None


def _how_together(stored) -> str:
    """``StepResult.several_bodies``, which was true or false in files of before."""
    return stored if isinstance(stored, str) else TAKEN if stored else ""


def write_step(group: "Group", result: StepResult, force_dem: np.ndarray | None = None) -> None:
    attrs = {"time": result.time, "dt": result.dt}
    for step, answer in (("classic", result.classic), ("compatible", result.compatible)):
        if answer is not None:
            attrs[f"{step}_status"] = str(answer.status)
            attrs[f"{step}_residual"] = answer.residual
            attrs[f"{step}_iterations"] = answer.iterations
    if isinstance(result.compatible, RoughForces):
        attrs["compatible_state"] = result.compatible.state
    if result.several_bodies:
        attrs["together"] = result.several_bodies
    if result.compatible is not None and result.compatible.load is not None:
        attrs["unresolved"] = True
    if result.doubt:
        attrs["doubt"] = result.doubt
    unknown = np.full(len(result.contacts), np.nan)
    arrays = {name: getattr(result.state, name) for name in STATE_FIELDS}
    contacts = {name: getattr(result.contacts, name) for name in CONTACT_FIELDS} | {
        "force": unknown if result.compatible is None else result.force,
        "force_classic": result.classic.force,
        "stiffness": result.stiffness,
        "closed": result.closed,
    }
    if result.state.cell is not None:
        arrays["cell"], contacts["branch"] = result.state.cell, result.contacts.branch
    if result.T is not None:
        contacts |= _rough(result)
    if force_dem is not None:
        contacts["force_dem"] = force_dem
    write_sealed(group, attrs, arrays | {f"contacts/{k}": v for k, v in contacts.items()})


def _rough(result: StepResult) -> dict[str, np.ndarray]:
    """What a step with friction adds to its contacts."""
    contacts, unknown = result.contacts, np.full((len(result.contacts), 3), np.nan)
    known = result.compatible is not None
    return {
        "tangents": contacts.tangents,
        "tangential": in_world(contacts, result.tangential_force) if known else unknown,
        "tangential_classic": in_world(contacts, result.classic.tangential_force),
        "sliding": result.sliding,
        "friction": result.friction,
    }


def write_comparison(path: str | Path, scene: Scene, comparison: "Comparison") -> None:
    """A run of one step: the state of rest of ``penalty.compare`` with the forces of the DEM."""
    with whole_hdf5(path) as file:
        write_head(file, StoredScene.of(scene), {"forces": "end"})
        group = file.create_group("steps/00000000")
        write_step(group, comparison.result, comparison.force["dem"])
