"""Writes runs, so that one stopped at any moment can go on and no file is ever half written.

During a run, finished stretches of it are in the folder ``FILE.parts`` beside a checkpoint;
each is a complete file, renamed into place, so that a run killed at any moment can be resumed from
the last checkpoint and continues as if it had not stopped. ``finish`` joins the parts into FILE,
with the last checkpoint: from it a finished run is extended, FILE being the first of the parts.
"""

import json
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .. import __version__
from .._support.atomic import remove_stale
from .._support.new_hdf5 import whole_hdf5
from .._support.npz import write_arrays
from .._support.warned import warn
from ..errors import InputError, OutputError, UnfinishedRun
from ..scenes.columns import StoredScene
from ..simulation import Simulation
from ..step import StepResult
from . import parts
from .limits import LIMITS
from .lock import Lock
from .stored import write_checkpoint, write_head
from .unfinished import (
    Unfinished,
    check_place,
    check_unfinished,
    damaged_steps,
    joined,
    left_out,
    parts_of,
    read_finished,
    read_unfinished,
)


class RunWriter:
    """Stores steps of a simulation: ``start`` or ``resume``, ``add`` each step, ``finish``.

    every: store each so many steps. interval [s]: wall time between checkpoints, which come sooner
    where more waits to be written than memory should hold. ``close`` lets go of a run that is not
    finished, as it was at the last ``checkpoint``.
    """

    def __init__(
        self,
        path: str | Path,
        simulation: Simulation,
        settings: dict,
        *,
        every: int = 1,
        interval: float = 10.0,
    ):
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
        self._names = simulation.bodies.names
        self._pending: list[tuple[int, object]] = []
        self._waiting = 0  # bytes, about, of what is pending
        self._last = time.monotonic()
        self._lock: Lock | None = None
        self.saved = 0.0  # time of the last checkpoint [s]
        self.finished = False
        self.until = float(settings.get("until", 0.0))  # of the run that is taken up, if one is
        self.extends = False  # whether that run was finished once
        # settings as stored: of a run that was extended, those of both stretches
        self._stored = dict(settings)
        self._id = uuid.uuid4().hex
        self._scene: StoredScene | None = None

    @classmethod
    def start(
        cls,
        path: str | Path,
        simulation: Simulation,
        settings: dict,
        *,
        overwrite: bool = False,
        **options,
    ) -> "RunWriter":
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
        head = {
            "id": self._id,
            "scene": scene.text,
            "columns": bool(scene.columns),
            "settings": self._stored,
            "asked": self.settings,
            "version": __version__,
            "extends": self.extends,
            "begin": self.simulation.steps,
            "every": self.every,
        }
        self._scene = scene
        parts.begin(self.parts, head, scene, self.path if self.extends else None)
        self.checkpoint()

    def _refuse_unfinished(self) -> None:
        """Hours of computing may lie in it."""
        stored = read_unfinished(self.path)
        time = 0.0 if stored is None else float(stored.checkpoint["time"])
        if time > 0.0:
            raise OutputError(
                f"{self.path}: there is an unfinished run of this name, stopped at t = "
                f"{time:.6g} s; go on with --resume, start anew with --overwrite, or take another "
                "name"
            )

    @classmethod
    def resume(
        cls,
        path: str | Path,
        simulation: Simulation,
        settings: dict,
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
        check_unfinished(self.path, unfinished, scene, self.settings, self.every)
        self.simulation.restore(unfinished.checkpoint)
        head = unfinished.head
        self.saved = self.simulation.time
        self.until = float(head["settings"].get("until", 0.0))
        self.extends = head.get("extends", False)
        self._id, self._scene = head.get("id", self._id), head["scene"]
        if "forces" in self.settings:
            self._stored["forces"] = head["settings"].get("forces", self.settings["forces"])
        if unfinished.damaged:
            self._put_aside(unfinished)
        self._tell_damage(unfinished.files)

    def _tell_damage(self, files: list[Path]) -> None:
        """Of earlier steps, which are not needed to continue the run."""
        damage = damaged_steps(files)
        if damage:
            warn(
                f"{damage}: the run continues from its checkpoint, which is intact, and keeps "
                "what is damaged; restart it with --overwrite for steps that can be read",
                UnfinishedRun,
            )

    def _put_aside(self, unfinished: Unfinished) -> None:
        """Damaged files lose their names, once there is a checkpoint of the time before them."""
        self.checkpoint()
        for path in unfinished.damaged:
            if path.suffix == ".h5":
                path.rename(path.with_name(f"{path.name}.damaged"))
        warn(
            f"{self.path}: continues from t = {self.saved:.6g} s{left_out(unfinished)}: what came "
            "after that is computed again",
            UnfinishedRun,
        )

    def _extend(self, scene: StoredScene, extending) -> None:
        """Take up the finished run: restores the simulation to its end."""
        saved, settings = read_finished(self.path, scene, self.settings)
        time = float(saved["time"])
        if extending is not None:
            extending(time)
        if "forces" in self.settings and "forces" in settings:
            self._stored["forces"] = joined(settings["forces"], time, self.settings["forces"])
        if self._lock is None:
            self._hold()
        self._tell_damage([self.path])
        self.simulation.restore(saved)
        self.extends = True
        self._begin(scene)

    def add(self, result: StepResult) -> None:
        """Store the step just made, if it is one to store; now and then a checkpoint."""
        if self.finished:
            raise OutputError(
                f"{self.path}: this run is finished; go on with RunWriter.resume(path, simulation, "
                "settings)"
            )
        if self.simulation.bodies.names != self._names:
            raise InputError(
                f"{self.path}: bodies came or went since the run began; expected the same ones: "
                "finish this run before, and start another file after"
            )
        if self.simulation.steps % self.every == 0:
            self._pending.append((self.simulation.steps, result))
            self._waiting += parts.memory_of(result)
        if self._waiting > LIMITS.waiting or time.monotonic() - self._last > self.interval:
            self.checkpoint()

    def checkpoint(self) -> None:
        """Make everything so far safe against a kill."""
        if self._pending:
            parts.add(self.parts, self._pending, self.simulation.checkpoint())
            self._pending.clear()
            self._waiting = 0
        write_arrays(self.parts / parts.CHECKPOINT, **self.simulation.checkpoint())
        self._last, self.saved = time.monotonic(), self.simulation.time

    def finish(self) -> None:
        """Join the parts into the run's file and remove them."""
        self.checkpoint()
        with whole_hdf5(self.path, durable=True) as file:
            write_head(file, self._scene, self._stored, id=self._id)
            parts.join(self.parts, file.create_group("steps"), self.simulation.steps)
            write_checkpoint(file.create_group("checkpoint"), self.simulation.checkpoint())
        self.finished = True
        with suppress(OSError):  # the run is complete; leftovers are recognised by their id
            parts.remove(self.parts)
        self.close()
        with suppress(OSError):  # another run waits for the name, and has made its lock there
            self.parts.rmdir()
