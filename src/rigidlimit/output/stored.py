"""What a run file holds: its head, its steps, and the checkpoint it can go on from.

The schema is in docs/output.md; SCHEMA_VERSION counts changes that older readers cannot pass over.
"""

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from .._support.display import Brief
from ..collision.contacts import Contacts
from ..conditioning.several_bodies import TAKEN
from ..constraints import in_world
from ..errors import OutputError
from ..scenes.columns import StoredScene
from ..scenes.scene import Scene
from ..simulation import SAVED
from ..step import StepResult
from .checksums import CHECKSUM, check, checksum, contents, write_sealed

if TYPE_CHECKING:
    from h5py import File, Group

SCHEMA = "rigidlimit-run"
SCHEMA_VERSION = 2
"""2: with the group ``scene``, where bodies are many; files without it are written as 1."""

PARTS = ".parts"
STATE_FIELDS = ("position", "quaternion", "velocity")
CONTACT_FIELDS = ("body", "feature", "point", "normal", "gap", "curvature")


@dataclass(frozen=True, repr=False)
class StoredStep(Brief):
    """One stored step: poses and velocities at its end, contacts and forces of the step.

    force (m,) [N]: compatible forces, NaN where they were not asked for; force_classic (m,) [N].
    ``info`` holds status, residuals and iterations of both steps of the method. force_dem (m,) [N]:
    forces of the DEM on the same contacts, where they were stored too. scene: whose step it is.
    closed (m,) bool, together: what step 2 was asked for, as in ``StepResult``; None and ""
    in files of before. Where contacts rub (else None): tangential, tangential_classic (m, 3) [N],
    tangential parts of the force vectors on contacts.body[:, 1], in the world frame; sliding (m,)
    bool, of the compatible forces if they were asked for; friction (m,): mu; contacts.tangents.
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
    force_dem: np.ndarray | None = None
    scene: object = None
    closed: np.ndarray | None = None
    together: str = ""
    tangential: np.ndarray | None = None
    tangential_classic: np.ndarray | None = None
    sliding: np.ndarray | None = None
    friction: np.ndarray | None = None
    cell: np.ndarray | None = None

    @property
    def force_vectors(self) -> np.ndarray:
        """``force`` as vectors (m, 3) [N] on contacts.body[:, 1], with their tangential parts."""
        normal = self.force[:, None] * self.contacts.normal
        return normal if self.tangential is None else normal + self.tangential


@contextmanager
def damage_told(path: Path, where: str = ""):
    """Turns what h5py and the checks here raise for a garbled file into an OutputError."""
    try:
        yield
    except OutputError:
        raise
    # h5py raises errors of ten kinds for files that are garbled
    except Exception as error:
        said = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        raise OutputError(f"{path}: damaged{where}: {said}; run the scene again") from error


def opened(path: Path):
    """The HDF5 file, open for reading. Raises OutputError, in one line, for what is none."""
    import h5py

    if path.is_dir():
        hint = ""
        if path.suffix == PARTS:
            hint = f"; these are parts of a run that is unfinished: try {path.with_suffix('')}"
        raise OutputError(
            f"{path}: a folder; expected a run, the file of rigidlimit run --out{hint}"
        )
    if path.suffix == ".toml":
        raise OutputError(
            f"{path}: a scene, not a run; compute it first: rigidlimit run {path} --out "
            f"{path.with_suffix('.h5')}"
        )
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise OutputError(
            f"{path}: not an HDF5 file, or damaged; expected a run, the file of rigidlimit run "
            "--out; run the scene again if it was one"
        ) from error


def read_head(file: "File", path: Path) -> tuple[StoredScene, dict, str]:
    """(scene, settings, version of the writer) of an open run."""
    with damage_told(path):
        known = file.attrs.get("schema") == SCHEMA
        schema = int(file.attrs.get("schema_version", 0))
        writer = str(file.attrs.get("rigidlimit_version", "?"))
    if not known:
        raise OutputError(f"{path}: not a run of rigidlimit (no schema {SCHEMA!r})")
    if schema > SCHEMA_VERSION:
        raise OutputError(
            f"{path}: written in schema {schema} by rigidlimit {writer}; this is "
            f"{__version__}, which reads up to {SCHEMA_VERSION}; upgrade rigidlimit"
        )
    with damage_told(path):
        columns = contents(file["scene"])[1] if "scene" in file else {}
        text, settings = str(file.attrs["scene"]), str(file.attrs["settings"])
        check(file, {"scene": text, "settings": settings}, columns)
        return StoredScene(text, columns), json.loads(settings), writer


def check_checkpoint(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays, if they are all that a run can go on from. Raises ValueError."""
    for name in SAVED:
        if name not in arrays:
            raise ValueError(f"the checkpoint has no {name}")
    if not np.isfinite(float(arrays["time"])) or int(arrays["steps"]) < 0:
        raise ValueError("the checkpoint's time is none")
    return arrays


def steps_in(files: list[Path], last: float = np.inf) -> dict[int, tuple[float, Path, str]]:
    """Number of a step -> (time, file, name of its group); one stored twice is the same step."""
    found = {}
    for path in files:
        with opened(path) as file, damage_told(path):
            for name, group in steps_of(file).items():
                if int(name) <= last and int(name) not in found:
                    found[int(name)] = (float(group.attrs["time"]), path, name)
    return dict(sorted(found.items()))


def steps_of(file: "File"):
    """The group of an open file whose members are its steps. A part of before was one itself."""
    return file["steps"] if "steps" in file or "schema" in file.attrs else file


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
        force_dem=arrays.get("contacts/force_dem"),
        scene=scene,
        closed=known.where_there("contacts/closed", m),
        together=_how_together(info.pop("together", "")),
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
    """``StepResult.together``, which was true or false in files of before."""
    return stored if isinstance(stored, str) else TAKEN if stored else ""


def write_head(file: "File", scene: StoredScene, settings: dict, *, id: str | None = None) -> None:
    """id: of the parts of which the file is made."""
    file.attrs["schema"] = SCHEMA
    file.attrs["schema_version"] = SCHEMA_VERSION if scene.columns else 1
    file.attrs["rigidlimit_version"] = __version__
    file.attrs["units"] = "SI: m, kg, s, N, rad"
    columns = {k: str(v) if v.dtype.kind == "U" else v for k, v in scene.columns.items()}
    if columns:
        write_sealed(file.create_group("scene"), {}, columns)
    head = {"scene": scene.text, "settings": json.dumps(settings)}
    for name, value in head.items():
        file.attrs[name] = value
    file.attrs[CHECKSUM] = checksum(head, columns)
    if id is not None:
        file.attrs["id"] = id


def write_checkpoint(group: "Group", arrays: dict[str, np.ndarray]) -> None:
    """What ``Simulation.checkpoint`` gives."""
    write_sealed(group, {}, arrays)


def read_checkpoint(group: "Group") -> dict[str, np.ndarray]:
    """What ``write_checkpoint`` wrote. Raises ValueError where it is damaged."""
    attributes, arrays = contents(group)
    check(group, attributes, arrays)
    return check_checkpoint(arrays)


def write_step(group: "Group", result: StepResult, force_dem: np.ndarray | None = None) -> None:
    attrs = {"time": result.time, "dt": result.dt}
    for step, answer in (("classic", result.classic), ("compatible", result.compatible)):
        if answer is not None:
            attrs[f"{step}_status"] = str(answer.status)
            attrs[f"{step}_residual"] = answer.residual
            attrs[f"{step}_iterations"] = answer.iterations
    if result.together:
        attrs["together"] = result.together
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
