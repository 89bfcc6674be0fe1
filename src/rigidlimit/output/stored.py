"""What a run file holds: its head, its steps, and the checkpoint it can go on from.

The schema is in docs/output.md; SCHEMA_VERSION counts changes that older readers cannot pass over.
"""

import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import __version__
from ..collision.contacts import Contacts
from ..display import Brief
from ..errors import OutputError
from ..forces.together import TAKEN
from ..scenes.columns import StoredScene
from ..simulation import SAVED
from ..words import counted

SCHEMA = "rigidlimit-run"
SCHEMA_VERSION = 2
"""2: with the group ``scene``, where bodies are many; files without it are written as 1."""

COLUMNS = "scene.npz"
"""Columns of the scene beside the parts of a run."""

PARTS = ".parts"
CONTACT_FIELDS = ("body", "feature", "point", "normal", "gap", "curvature")


@dataclass(frozen=True, repr=False)
class StoredStep(Brief):
    """One stored step: poses and velocities at its end, contacts and forces of the step.

    force (m,) [N]: compatible forces, NaN where they were not asked for; force_classic (m,) [N].
    ``info`` holds status, residuals and iterations of both steps of the method. force_dem (m,) [N]:
    forces of the DEM on the same contacts, where they were stored too. scene: whose step it is.
    closed (m,) bool, together: what step 2 was asked for, as in ``StepResult``; None and ""
    in files of before.
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


def read_head(file, path: Path) -> tuple[StoredScene, dict, str]:
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
        columns = {}
        for name, values in file["scene"].items() if "scene" in file else ():
            columns[name] = values.asstr()[()] if values.dtype.kind == "O" else values[()]
        scene = StoredScene(str(file.attrs["scene"]), columns)
        return scene, json.loads(file.attrs["settings"]), writer


def parts_of(path: Path) -> Path:
    """Folder of the parts of an unfinished run. Raises OutputError for what names no file."""
    if not path.name:
        raise OutputError(f"{path}: a folder; expected the name of a run's file")
    return path.with_name(path.name + PARTS)


def part_files(parts: Path) -> list[Path]:
    """The files of an unfinished run in the order of their steps."""
    return sorted(parts.glob("*.h5"))


def read_unfinished(path: Path) -> tuple[dict, dict[str, np.ndarray]] | None:
    """(head, last checkpoint) of the unfinished run of this name; None if there is none. The
    head's scene is a StoredScene.

    Parts of which ``path`` was made are no run: a kill left them while they were being removed.
    """
    parts = parts_of(path)
    try:
        head = json.loads((parts / "run.json").read_text(encoding="utf-8"))
        if not (
            isinstance(head, dict)
            and isinstance(head.get("scene"), str)
            and isinstance(head.get("settings"), dict)
        ):
            raise ValueError("run.json is no head of a run")
        if head.get("id") is not None and head["id"] == _made_of(path):
            return None
        columns = {}
        if head.get("columns"):
            with np.load(parts / COLUMNS) as saved:
                columns = dict(saved)
        head["scene"] = StoredScene(head["scene"], columns)
        with np.load(parts / "checkpoint.npz") as saved:
            return head, check_checkpoint(dict(saved))
    except FileNotFoundError:
        return None
    # numpy and zipfile raise errors of ten kinds for files that are cut or garbled
    except Exception as error:
        raise OutputError(
            f"{parts}: damaged: {error}; start the run anew with --overwrite"
        ) from error


def _made_of(path: Path) -> str | None:
    """The id of the parts of which a finished file was made; None if there is none, or no file."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return file.attrs.get("id")
    except OSError:
        return None


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


def steps_of(file):
    """The group of an open file whose members are its steps: a run has one, a part is one."""
    return file["steps"] if "schema" in file.attrs else file


def read_step(group, number: int, scene) -> StoredStep:
    """Raises KeyError, OSError or ValueError where the file is damaged."""
    c, n = group["contacts"], len(scene)
    info = {k: v.item() if hasattr(v, "item") else v for k, v in group.attrs.items()}
    contacts = Contacts(*(c[name][()] for name in CONTACT_FIELDS), n)
    m = len(contacts)
    step = StoredStep(
        number=number,
        time=info.pop("time"),
        dt=info.pop("dt"),
        position=_known("position", group["position"][()], (n, 3)),
        quaternion=_known("quaternion", group["quaternion"][()], (n, 4)),
        velocity=_known("velocity", group["velocity"][()], (n, 6)),
        contacts=contacts,
        force=c["force"][()],
        force_classic=_known("force_classic", c["force_classic"][()], (m,)),
        stiffness=c["stiffness"][()],
        info=info,
        force_dem=c["force_dem"][()] if "force_dem" in c else None,
        scene=scene,
        closed=_known("closed", c["closed"][()], (m,)) if "closed" in c else None,
        together=_how_together(info.pop("together", "")),
    )
    shapes = ((m, 2), (m,), (m, 3), (m, 3), (m,), (m,))
    for name, shape in zip(CONTACT_FIELDS, shapes, strict=True):
        _known(f"contacts/{name}", getattr(contacts, name), shape)
    if len(step.force) != m or len(step.stiffness) != m:
        raise ValueError(f"contacts/force and stiffness are not of {counted(m, 'contact')}")
    if m and not (contacts.body.min() >= 0 and contacts.body.max() < n):
        raise ValueError("contacts/body names bodies that the scene does not have")
    return step


def _how_together(stored) -> str:
    """``StepResult.together``, which was true or false in files of before."""
    return stored if isinstance(stored, str) else TAKEN if stored else ""


def _known(name: str, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The values, if they have this shape and are finite."""
    if np.shape(values) != shape:
        raise ValueError(f"{name} has shape {np.shape(values)}, not {shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} is not finite")
    return values


def write_head(file, scene: StoredScene, settings: dict, *, id: str | None = None) -> None:
    """id: of the parts of which the file is made."""
    file.attrs["schema"] = SCHEMA
    file.attrs["schema_version"] = SCHEMA_VERSION if scene.columns else 1
    file.attrs["rigidlimit_version"] = __version__
    file.attrs["units"] = "SI: m, kg, s, N, rad"
    file.attrs["scene"] = scene.text
    if scene.columns:
        group = file.create_group("scene")
        for name, values in scene.columns.items():
            _put(group, name, str(values) if values.dtype.kind == "U" else values)
    file.attrs["settings"] = json.dumps(settings)
    if id is not None:
        file.attrs["id"] = id


def _put(where, name, values) -> None:
    packed = {"compression": "gzip", "compression_opts": 1} if np.size(values) > 256 else {}
    where.create_dataset(name, data=values, **packed)


def write_checkpoint(group, arrays: dict[str, np.ndarray]) -> None:
    """What ``Simulation.checkpoint`` gives."""
    for name, values in arrays.items():
        _put(group, name, values)


def write_step(group, result) -> None:
    attrs = group.attrs
    attrs["time"], attrs["dt"] = result.time, result.dt
    for step, answer in (("classic", result.classic), ("compatible", result.compatible)):
        if answer is not None:
            attrs[f"{step}_status"] = str(answer.status)
            attrs[f"{step}_residual"] = answer.residual
            attrs[f"{step}_iterations"] = answer.iterations
    if result.together:
        attrs["together"] = result.together
    if result.doubt:
        attrs["doubt"] = result.doubt
    for name in ("position", "quaternion", "velocity"):
        _put(group, name, getattr(result.state, name))
    contacts = group.create_group("contacts")
    for name in CONTACT_FIELDS:
        _put(contacts, name, getattr(result.contacts, name))
    unknown = np.full(len(result.contacts), np.nan)
    _put(contacts, "force", unknown if result.compatible is None else result.force)
    _put(contacts, "force_classic", result.classic.force)
    _put(contacts, "stiffness", result.stiffness)
    _put(contacts, "closed", result.closed)
