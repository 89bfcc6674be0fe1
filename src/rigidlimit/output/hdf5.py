"""Runs as HDF5 files. The schema is in docs/output.md; SCHEMA_VERSION counts its changes.

While a run goes on, finished stretches of it lie in the folder ``FILE.parts`` beside a checkpoint;
each is a whole file, renamed into place, so that a run killed at any moment can be resumed from
the last checkpoint and continues as if it had not stopped. ``finish`` joins the parts into FILE.
"""

import json
import shutil
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from .. import __version__
from ..atomic import whole_file
from ..collision.contacts import Contacts
from ..display import Brief, Displayed
from ..errors import OutputError
from ..scenes.scene import Scene

SCHEMA = "rigidlimit-run"
SCHEMA_VERSION = 1
LOCK = "lock"
CONTACT_FIELDS = ("body", "feature", "point", "normal", "gap", "curvature")


@dataclass(frozen=True, repr=False)
class StoredStep(Brief):
    """One stored step: poses and velocities at its end, contacts and forces of the step.

    force (m,) [N]: compatible forces, NaN where they were not asked for; force_classic (m,) [N].
    ``info`` holds status, residuals and iterations of both steps of the method. force_dem (m,) [N]:
    forces of the DEM on the same contacts, where they were stored too.
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


@dataclass(frozen=True, repr=False)
class Run(Displayed):
    """A finished run. ``len(run)`` steps; ``run[k]`` is a StoredStep, -1 the last."""

    path: Path
    scene: Scene
    settings: dict
    version: str
    times: np.ndarray

    def __len__(self):
        return len(self.times)

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> StoredStep:
        with _opened(self.path) as file:
            names = sorted(file["steps"])
            try:
                group = file["steps"][names[k]]
            except IndexError:
                raise OutputError(
                    f"{self.path}: has {len(self)} stored steps; step {k} is not among them"
                ) from None
            try:
                return _read_step(group, int(names[k]), len(self.scene))
            except (KeyError, OSError) as error:
                raise OutputError(
                    f"{self.path}: damaged at stored step {k}: {error}; run the scene again"
                ) from error

    @cached_property
    def bodies(self):
        return self.scene.bodies


def _read_step(group, number: int, bodies: int) -> StoredStep:
    c = group["contacts"]
    info = {k: v.item() if hasattr(v, "item") else v for k, v in group.attrs.items()}
    return StoredStep(
        number=number,
        time=info.pop("time"),
        dt=info.pop("dt"),
        position=group["position"][()],
        quaternion=group["quaternion"][()],
        velocity=group["velocity"][()],
        contacts=Contacts(*(c[name][()] for name in CONTACT_FIELDS), bodies),
        force=c["force"][()],
        force_classic=c["force_classic"][()],
        stiffness=c["stiffness"][()],
        info=info,
        force_dem=c["force_dem"][()] if "force_dem" in c else None,
    )


def _opened(path: Path):
    import h5py

    if path.is_dir():
        raise OutputError(f"{path}: a folder; expected a run, the file of rigidlimit run --out")
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


def looks_like_run(path: str | Path) -> bool:
    """Whether ``read_run`` is the one to open this file, or to say what is wrong with it."""
    import h5py

    path = Path(path)
    if not path.exists():
        return _parts(path).exists()
    try:
        with h5py.File(path, "r") as file:
            return file.attrs.get("schema") == SCHEMA
    except OSError:
        return False


def read_run(path: str | Path) -> Run:
    """Open a run.

    Raises OutputError if it is missing, unfinished, damaged, empty, or of a newer schema.
    """
    from ..scenes.toml import parse_scene

    path = Path(path)
    if not path.exists():
        if _parts(path).exists():
            raise OutputError(f"{path}: this run is unfinished; finish it with --resume")
        raise OutputError(f"{path}: no such file{_if_scene(path)}")
    with _opened(path) as file:
        if file.attrs.get("schema") != SCHEMA:
            raise OutputError(f"{path}: not a run of rigidlimit (no schema {SCHEMA!r})")
        version = int(file.attrs.get("schema_version", 0))
        if version > SCHEMA_VERSION:
            writer = file.attrs.get("rigidlimit_version", "?")
            raise OutputError(
                f"{path}: written in schema {version} by rigidlimit {writer}; this is "
                f"{__version__}, which reads up to {SCHEMA_VERSION}; upgrade rigidlimit"
            )
        try:
            times = np.array([file["steps"][k].attrs["time"] for k in sorted(file["steps"])])
            scene = parse_scene(file.attrs["scene"], name=f"{path} (scene)")
            settings = json.loads(file.attrs["settings"])
        except (KeyError, OSError, json.JSONDecodeError) as error:
            raise OutputError(f"{path}: damaged: {error}; run the scene again") from error
        if not len(times):
            raise OutputError(f"{path}: an empty run: no step was stored")
        writer = str(file.attrs.get("rigidlimit_version", "?"))
        return Run(path, scene, settings, writer, times)


def _if_scene(path: Path) -> str:
    from ..scenes import GALLERY

    if str(path) not in GALLERY:
        return ""
    return f"; {path} is a scene: compute it first, rigidlimit run {path} --out {path}.h5"


def check_place(path: str | Path) -> None:
    """Before anything is computed: a run may replace an HDF5 file, nothing else."""
    import h5py

    path = Path(path)
    if path.is_dir():
        raise OutputError(f"{path}: a folder; expected the name of a file, like run.h5")
    if path.exists() and not h5py.is_hdf5(path):
        raise OutputError(
            f"{path}: exists and is no HDF5 file, so it is not replaced; expected a new "
            "name or an earlier run; choose another name, like run.h5"
        )


def _parts(path: Path) -> Path:
    return path.with_name(path.name + ".parts")


class RunWriter:
    """Stores steps of a simulation; use as a context manager or call ``finish``.

    every: store each so many steps. interval [s]: wall time between checkpoints.
    """

    def __init__(self, path, simulation, settings: dict, *, every: int = 1, interval: float = 10.0):
        self.path, self.every, self.interval = Path(path), every, interval
        self.parts = _parts(self.path)
        self.settings = settings
        self.simulation = simulation
        self._pending: list[tuple[int, object]] = []
        self._last = time.monotonic()
        self._held = None
        self.until = float(settings.get("until", 0.0))  # of the run that is taken up, if one is

    @classmethod
    def start(cls, path, simulation, settings, *, overwrite=False, **options) -> "RunWriter":
        """Begin a new run. An unfinished one of this name is refused, or dropped with
        ``overwrite``; a finished one is replaced when this one is finished."""
        from ..scenes.toml import scene_text

        writer = cls(path, simulation, settings, **options)
        check_place(writer.path)
        try:
            writer.parts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
        writer._lock()
        if not overwrite:
            writer._refuse_unfinished()
        for leftover in writer.parts.iterdir():
            if leftover.name != LOCK:
                leftover.unlink()
        with whole_file(writer.parts / "run.json") as temporary:
            head = {"scene": scene_text(simulation.scene), "settings": settings}
            temporary.write_text(json.dumps(head), encoding="utf-8")
        writer.checkpoint()
        return writer

    def _refuse_unfinished(self) -> None:
        """Hours of computing may lie in it."""
        saved = self.parts / "checkpoint.npz"
        if not saved.exists():
            return
        with np.load(saved) as arrays:
            time = float(arrays["time"])
        if time > 0.0:
            if self._held is not None:
                self._held.close()
            raise OutputError(
                f"{self.path}: there is an unfinished run of this name, stopped at t = "
                f"{time:.6g} s; go on with --resume, start anew with --overwrite, or take another "
                "name"
            )

    def _lock(self) -> None:
        """Keep other processes from this file; the system frees the lock of a killed one."""
        try:
            import fcntl
        except ImportError:  # not a POSIX system
            return
        try:
            self._held = open(self.parts / LOCK, "a")  # noqa: SIM115 - held until finish
            fcntl.lockf(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            raise OutputError(
                f"{self.path}: another run is writing it; wait until it ends, or take another name"
            ) from error
        except OSError:  # a file system without locks
            return

    @classmethod
    def resume(cls, path, simulation, settings, **options) -> "RunWriter":
        """Take up an unfinished run: restores ``simulation`` to its last checkpoint."""
        writer = cls(path, simulation, settings, **options)
        head, saved = writer.parts / "run.json", writer.parts / "checkpoint.npz"
        if writer.parts.is_dir():
            writer._lock()
        if not (head.exists() and saved.exists()):
            if writer.path.exists():
                raise OutputError(
                    f"{path}: nothing to resume: it is finished, and a finished run is not "
                    "extended; write the longer run to another file, or run without --resume to "
                    "replace this one"
                )
            raise OutputError(
                f"{path}: nothing to resume: there is no unfinished run; run without --resume"
            )
        from ..scenes.toml import scene_text

        stored = json.loads(head.read_text(encoding="utf-8"))
        if stored["scene"] != scene_text(simulation.scene):
            raise OutputError(
                f"{path}: the unfinished run is of another scene; run without --resume"
            )
        changed = [k for k in settings if stored["settings"].get(k) != settings[k] and k != "until"]
        if changed:
            key = changed[0]
            raise OutputError(
                f"{path}: the unfinished run has {key} = {stored['settings'].get(key)!r}, "
                f"not {settings[key]!r}; resume with the same options"
            )
        with np.load(saved) as arrays:
            simulation.restore(dict(arrays))
        writer.until = float(stored["settings"].get("until", 0.0))
        return writer

    def add(self, result) -> None:
        """Store the step just made, if it is one to store; now and then a checkpoint."""
        if self.simulation.steps % self.every == 0:
            self._pending.append((self.simulation.steps, result))
        if time.monotonic() - self._last > self.interval:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Make everything so far safe against a kill."""
        import h5py

        if self._pending:
            name = f"{self._pending[0][0]:08d}.h5"
            with whole_file(self.parts / name) as temporary, h5py.File(temporary, "w") as file:
                for number, result in self._pending:
                    _write_step(file.create_group(f"{number:08d}"), result)
            self._pending.clear()
        saved = self.parts / "checkpoint.npz"
        with whole_file(saved) as temporary, open(temporary, "wb") as stream:
            np.savez(stream, **self.simulation.checkpoint())
        self._last = time.monotonic()

    def finish(self) -> None:
        """Join the parts into the run's file and remove them."""
        import h5py

        self.checkpoint()
        head = json.loads((self.parts / "run.json").read_text(encoding="utf-8"))
        with whole_file(self.path) as temporary, h5py.File(temporary, "w") as file:
            _write_head(file, head["scene"], self.settings)
            steps = file.create_group("steps")
            for part in sorted(self.parts.glob("*.h5")):
                with h5py.File(part, "r") as source:
                    for number in source:
                        # a step made again after a resume is the same step
                        if number not in steps and int(number) <= self.simulation.steps:
                            source.copy(number, steps)
        if self._held is not None:
            self._held.close()
        shutil.rmtree(self.parts)


def write_comparison(path: str | Path, scene: Scene, comparison) -> None:
    """A run of one step: the state of rest of ``penalty.compare`` with the forces of the DEM."""
    import h5py

    from ..scenes.toml import scene_text

    with whole_file(path) as temporary, h5py.File(temporary, "w") as file:
        _write_head(file, scene_text(scene), {"forces": "end"})
        group = file.create_group("steps/00000000")
        _write_step(group, comparison.result)
        group["contacts"].create_dataset("force_dem", data=comparison.force["dem"])


def _write_head(file, scene: str, settings: dict) -> None:
    file.attrs["schema"] = SCHEMA
    file.attrs["schema_version"] = SCHEMA_VERSION
    file.attrs["rigidlimit_version"] = __version__
    file.attrs["units"] = "SI: m, kg, s, N, rad"
    file.attrs["scene"] = scene
    file.attrs["settings"] = json.dumps(settings)


def _write_step(group, result) -> None:
    def put(where, name, values):
        packed = {"compression": "gzip", "compression_opts": 1} if np.size(values) > 256 else {}
        where.create_dataset(name, data=values, **packed)

    attrs = group.attrs
    attrs["time"], attrs["dt"] = result.time, result.dt
    for step, answer in (("classic", result.classic), ("compatible", result.compatible)):
        if answer is not None:
            attrs[f"{step}_status"] = str(answer.status)
            attrs[f"{step}_residual"] = answer.residual
            attrs[f"{step}_iterations"] = answer.iterations
    for name in ("position", "quaternion", "velocity"):
        put(group, name, getattr(result.state, name))
    contacts = group.create_group("contacts")
    for name in CONTACT_FIELDS:
        put(contacts, name, getattr(result.contacts, name))
    unknown = np.full(len(result.contacts), np.nan)
    put(contacts, "force", unknown if result.compatible is None else result.force)
    put(contacts, "force_classic", result.classic.force)
    put(contacts, "stiffness", result.stiffness)
