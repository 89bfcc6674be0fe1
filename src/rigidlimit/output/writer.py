"""Writes runs, so that one stopped at any moment can go on and no file is ever half written.

While a run goes on, finished stretches of it lie in the folder ``FILE.parts`` beside a checkpoint;
each is a whole file, renamed into place, so that a run killed at any moment can be resumed from
the last checkpoint and continues as if it had not stopped. ``finish`` joins the parts into FILE,
with the last checkpoint: from it a finished run is extended, FILE being the first of the parts.
"""

import json
import shutil
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from .. import __version__
from ..atomic import remove_stale, whole_file
from ..errors import InputError, OutputError
from ..new_hdf5 import new_hdf5
from ..scenes.columns import StoredScene
from ..scenes.scene import Scene
from ..simulation import Simulation
from ..words import counted
from .endings import check_ending
from .lock import LOCK, Lock
from .stored import (
    COLUMNS,
    check_checkpoint,
    opened,
    part_files,
    parts_of,
    read_head,
    read_unfinished,
    steps_in,
    steps_of,
    write_checkpoint,
    write_head,
    write_step,
)

ENDINGS = (".h5", ".hdf5")
EARLIER = "00000000-earlier.h5"
"""Part of a run that is extended: the finished file, first in the order of names."""


def check_place(path: str | Path) -> None:
    """Before anything is computed: a run has the ending of HDF5 and replaces such files only."""
    import h5py

    path = Path(path)
    if path.is_dir():
        raise OutputError(f"{path}: a folder; expected the name of a file, like run.h5")
    check_ending("--out", path, ENDINGS)
    if path.exists() and not h5py.is_hdf5(path):
        raise OutputError(
            f"{path}: exists and is no HDF5 file, so it is not replaced; expected a new "
            "name or an earlier run; choose another name, like run.h5"
        )


ROOM = 64 * 2**20
"""Bytes of steps that wait to be written, at most: quick steps of a large scene would fill
gigabytes within the ten seconds from one checkpoint to the next."""


class RunWriter:
    """Stores steps of a simulation: ``start`` or ``resume``, ``add`` each step, ``finish``.

    every: store each so many steps. interval [s]: wall time between checkpoints, which come sooner
    where what waits to be written fills ``ROOM``. ``close`` lets go of a run that is not finished,
    as it was at the last ``checkpoint``.
    """

    def __init__(self, path, simulation, settings: dict, *, every: int = 1, interval: float = 10.0):
        if not isinstance(simulation, Simulation):
            raise InputError(f"simulation is {simulation!r}; expected a Simulation")
        if every < 1:
            raise InputError(f"every is {every}; expected a whole number of steps, at least 1")
        try:
            json.dumps(settings)
            settings = dict(settings)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"settings cannot be kept as JSON: {error}; expected a dictionary of numbers and "
                "text"
            ) from None
        self.path, self.every, self.interval = Path(path), every, interval
        self.parts = parts_of(self.path)
        self.settings = settings
        self.simulation = simulation
        self._pending: list[tuple[int, object]] = []
        self._waiting = 0  # bytes, about, of what is pending
        self._last = time.monotonic()
        self._lock: Lock | None = None
        self.saved = 0.0  # time of the last checkpoint [s]
        self.finished = False
        self.until = float(settings.get("until", 0.0))  # of the run that is taken up, if one is
        self.extends = False  # whether that run was finished once
        # settings as the file tells them: of a run that was extended, those of both stretches
        self._told = dict(settings)
        self._id = uuid.uuid4().hex
        self._scene: StoredScene | None = None

    @classmethod
    def start(cls, path, simulation, settings, *, overwrite=False, **options) -> "RunWriter":
        """Begin a new run. An unfinished one of this name is refused, or dropped with
        ``overwrite``; a finished one is replaced when this one is finished."""
        writer = cls(path, simulation, settings, **options)
        check_place(writer.path)
        writer._hold()
        try:
            if not overwrite:
                writer._refuse_unfinished()
            writer._begin(StoredScene.of(simulation.scene))
        except BaseException:
            writer.close()
            raise
        return writer

    def _hold(self, *, make: bool = True) -> None:
        """Lock the folder of parts; what killed programs left beside the file goes."""
        try:
            self._lock = Lock(self.path, self.parts, make=make)
            remove_stale(self.path)
        except OutputError:  # an OSError too
            raise
        except OSError as error:
            if make or not isinstance(error, FileNotFoundError):
                raise OutputError(f"{self.path}: cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Let another run take it up. What was added after the last checkpoint is lost."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _begin(self, scene: StoredScene) -> None:
        """Fill the folder of parts; the checkpoint comes last: with it there is a run."""
        # the checkpoint goes first, so that what is left after a kill is no run
        (self.parts / "checkpoint.npz").unlink(missing_ok=True)
        for leftover in self.parts.iterdir():
            if leftover.name != LOCK:
                leftover.unlink()
        if self.extends:
            _link(self.path, self.parts / EARLIER)
        self._scene = scene
        if scene.columns:
            with whole_file(self.parts / COLUMNS, durable=True) as temporary:
                _save(temporary, scene.columns)
        with whole_file(self.parts / "run.json", durable=True) as temporary:
            head = {
                "id": self._id,
                "scene": scene.text,
                "columns": bool(scene.columns),
                "settings": self._told,
                "asked": self.settings,
                "version": __version__,
                "extends": self.extends,
                "begin": self.simulation.steps,
                "every": self.every,
            }
            temporary.write_text(json.dumps(head), encoding="utf-8")
        self.checkpoint()

    def _refuse_unfinished(self) -> None:
        """Hours of computing may lie in it."""
        stored = read_unfinished(self.path)
        time = 0.0 if stored is None else float(stored[1]["time"])
        if time > 0.0:
            raise OutputError(
                f"{self.path}: there is an unfinished run of this name, stopped at t = "
                f"{time:.6g} s; go on with --resume, start anew with --overwrite, or take another "
                "name"
            )

    @classmethod
    def resume(
        cls,
        path,
        simulation,
        settings,
        *,
        extending: Callable[[float], object] | None = None,
        **options,
    ) -> "RunWriter":
        """Take up an unfinished run: restores ``simulation`` to its last checkpoint.

        A finished one is extended from its end, if ``settings`` has a later ``until`` or none;
        extending(time [s]) is then called before anything is written, and may refuse by an error.
        """
        writer = cls(path, simulation, settings, **options)
        writer._hold(make=False)
        try:
            writer._take_up(StoredScene.of(simulation.scene), extending)
        except BaseException:
            writer.close()
            raise
        return writer

    def _take_up(self, scene: StoredScene, extending) -> None:
        unfinished = read_unfinished(self.path)
        if unfinished is None:
            self._extend(scene, extending)
            return
        head, checkpoint = unfinished
        self._check_same("unfinished", head["scene"], scene, head.get("asked", head["settings"]))
        every = head.get("every", self.every)
        if every != self.every:
            raise InputError(
                f"{self.path}: the unfinished run stores every {every} steps, not {self.every}; "
                f"expected the same; give every={every}"
            )
        reached, until = float(checkpoint["time"]), self.settings.get("until", np.inf)
        # an end within the last step is that step's
        if until < reached - (1 - 1e-6) * self.settings.get("dt", 0.0):
            meant = head["settings"].get("until", np.inf)
            raise OutputError(
                f"{self.path}: the unfinished run is at t = {reached:.6g} s, later than until = "
                f"{until:.6g} s; expected a later end"
                + (f", like the {meant:.6g} s that it was to last" if meant < np.inf else "")
                + f"; until = {reached:.6g} ends it as it is"
            )
        self._check_parts(head, int(checkpoint["steps"]))
        self.simulation.restore(checkpoint)
        self.saved = self.simulation.time
        self.until = float(head["settings"].get("until", 0.0))
        self.extends = head.get("extends", False)
        self._id, self._scene = head.get("id", self._id), head["scene"]
        if "forces" in self.settings:
            self._told["forces"] = head["settings"].get("forces", self.settings["forces"])

    def _check_parts(self, head: dict, steps: int) -> None:
        """Before more is computed: are all steps there that were stored?"""
        found = steps_in(part_files(self.parts), steps)
        begin, every = head.get("begin", 0), self.every
        stored = range(begin - begin % every + every, steps + 1, every)
        missing = [k for k in stored if k not in found]
        if head.get("extends") and not (self.parts / EARLIER).exists():
            missing.insert(0, 1)
        if missing:
            raise OutputError(
                f"{self.parts}: damaged: {counted(len(missing), 'stored step')} missing, the first "
                f"step {missing[0]}; start the run anew with --overwrite"
            )

    def _extend(self, scene: StoredScene, extending) -> None:
        """Take up the finished run: restores the simulation to its end."""
        path = self.path
        if not path.exists():
            raise OutputError(
                f"{path}: nothing to resume: there is no run of this name; run without --resume"
            )
        with opened(path) as file:
            stored, settings, _ = read_head(file, path)
            if "checkpoint" not in file:
                raise OutputError(
                    f"{path}: nothing to resume: it is finished, and holds no checkpoint to go on "
                    "from (files of rigidlimit compare and of earlier versions have none); run "
                    "without --resume to replace it"
                )
            # which steps get compatible forces changes nothing of those that are there
            self._check_same("finished", stored, scene, settings, free=("until", "forces"))
            try:
                saved = {name: values[()] for name, values in file["checkpoint"].items()}
                arrays = check_checkpoint(saved)
            except (OSError, TypeError, ValueError, AttributeError) as error:
                raise OutputError(f"{path}: damaged: {error}; run the scene again") from error
        time = float(arrays["time"])
        # rounding of the sum of the steps' dt
        if self.settings.get("until", np.inf) <= time * (1 + 1e-9):
            raise OutputError(
                f"{path}: nothing to resume: it is finished, at t = {time:.6g} s; to extend it "
                "give a later time with --until"
            )
        if extending is not None:
            extending(time)
        if "forces" in self.settings and "forces" in settings:
            self._told["forces"] = _joined(settings["forces"], time, self.settings["forces"])
        if self._lock is None:
            self._hold()
        self.simulation.restore(arrays)
        self.extends = True
        self._begin(scene)

    def _check_same(self, state, stored, scene, settings, free=("until",)) -> None:
        """Refuse to go on with a run of another scene or with other options."""
        if not stored.same(scene):
            raise OutputError(
                f"{self.path}: the {state} run is of another scene; run without --resume, or take "
                "another name"
            )
        for key, value in self.settings.items():
            if key not in free and settings.get(key) != value:
                raise OutputError(
                    f"{self.path}: the {state} run has {key} = {settings.get(key)!r}, "
                    f"not {value!r}; resume with the same options"
                )

    def add(self, result) -> None:
        """Store the step just made, if it is one to store; now and then a checkpoint."""
        if self.finished:
            raise OutputError(
                f"{self.path}: this run is finished; go on with RunWriter.resume(path, simulation, "
                "settings)"
            )
        if self.simulation.steps % self.every == 0:
            self._pending.append((self.simulation.steps, result))
            self._waiting += _bytes(result)
        if self._waiting > ROOM or time.monotonic() - self._last > self.interval:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Make everything so far safe against a kill."""
        if self._pending:
            name = f"{self._pending[0][0]:08d}.h5"
            part = self.parts / name
            with whole_file(part, durable=True) as temporary, new_hdf5(temporary) as file:
                for number, result in self._pending:
                    write_step(file.create_group(f"{number:08d}"), result)
            self._pending.clear()
            self._waiting = 0
        saved = self.parts / "checkpoint.npz"
        with whole_file(saved, durable=True) as temporary:
            _save(temporary, self.simulation.checkpoint())
        self._last, self.saved = time.monotonic(), self.simulation.time

    def finish(self) -> None:
        """Join the parts into the run's file and remove them."""
        self.checkpoint()
        with (
            whole_file(self.path, durable=True) as temporary,
            new_hdf5(temporary) as file,
        ):
            write_head(file, self._scene, self._told, id=self._id)
            steps = file.create_group("steps")
            for part in part_files(self.parts):
                with opened(part) as source:
                    stored = steps_of(source)
                    for number in stored:
                        # a step made again after a resume is the same step
                        if number not in steps and int(number) <= self.simulation.steps:
                            stored.copy(number, steps)
            write_checkpoint(file.create_group("checkpoint"), self.simulation.checkpoint())
        self.finished = True
        with suppress(OSError):  # the run is whole, and leftovers are told from a run by their id
            self._remove_parts()
        self.close()
        with suppress(OSError):  # another run waits for the name, and has made its lock there
            self.parts.rmdir()

    def _remove_parts(self) -> None:
        """At no moment is what is left a run: what makes one goes first, and the lock last."""
        for name in ("checkpoint.npz", "run.json"):
            (self.parts / name).unlink(missing_ok=True)
        for part in self.parts.iterdir():
            if part.name != LOCK:
                part.unlink()
        (self.parts / LOCK).unlink(missing_ok=True)


def _bytes(result) -> int:
    """Memory that a step holds, about: B, and what is kept of each contact and each body."""
    m, n = result.B.shape
    return 12 * result.B.nnz + 8 * (18 * m + 4 * n)


def _save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with open(path, "wb") as stream:
        np.savez(stream, **arrays)


def _link(path: Path, name: Path) -> None:
    """The file under a second name: it stays as it is when the first name is given to another."""
    try:
        name.hardlink_to(path)
    except OSError:  # a file system without links
        with whole_file(name, durable=True) as temporary:
            shutil.copyfile(path, temporary)


def _joined(earlier: str, time: float, later: str) -> str:
    """What was asked for in a run that was extended at ``time`` [s]."""
    if earlier == later and later in ("every", "never"):
        return later
    return f"{earlier} until {time:.6g} s, then {later}"


def write_comparison(path: str | Path, scene: Scene, comparison) -> None:
    """A run of one step: the state of rest of ``penalty.compare`` with the forces of the DEM."""
    with whole_file(path) as temporary, new_hdf5(temporary) as file:
        write_head(file, StoredScene.of(scene), {"forces": "end"})
        group = file.create_group("steps/00000000")
        write_step(group, comparison.result)
        group["contacts"].create_dataset("force_dem", data=comparison.force["dem"])
