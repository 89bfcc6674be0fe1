"""Runs as HDF5 files, read back: finished ones, and what is saved so far of one that is not."""

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np

from .._support.display import Displayed
from .._support.warned import warn
from .._support.words import counted
from ..errors import InputError, OutputError, SceneError, SceneWarning, UnfinishedRun
from ..scenes.columns import StoredScene
from ..scenes.scene import Scene
from ..step.force_network import ForceNetwork
from .stored import SCHEMA, damage_reported, opened, read_head, steps_in, steps_of
from .stored_step import StoredStep, read_step, write_comparison
from .unfinished import left_out, parts_of, read_unfinished
from .writer import RunWriter, check_place

__all__ = [
    "Run",
    "RunWriter",
    "StoredStep",
    "check_place",
    "looks_like_run",
    "read_run",
    "write_comparison",
]


@dataclass(frozen=True, repr=False)
class Run(Displayed):
    """A run. ``len(run)`` steps; ``run[k]`` is a StoredStep, -1 the last; ``run[2:5]`` a list.

    finished: whether it came to its end; else these are the steps saved so far.
    """

    path: Path
    scene: Scene
    settings: dict
    version: str
    times: np.ndarray
    finished: bool = True
    _places: tuple[tuple[Path, str], ...] = field(repr=False, default=())

    def __len__(self):
        return len(self.times)

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    @overload
    def __getitem__(self, k: int) -> StoredStep: ...
    @overload
    def __getitem__(self, k: slice) -> list[StoredStep]: ...
    def __getitem__(self, k):
        try:
            if isinstance(k, slice):
                numbers = range(*k.indices(len(self)))
            else:
                file, number = self._places[k]
        except TypeError:
            raise InputError(
                f"{self.path}: step {k!r} is requested; expected a whole number, or a slice of them"
            ) from None
        except IndexError:
            raise OutputError(
                f"{self.path}: has {counted(len(self), 'stored step')}; step {k} is not among them"
            ) from None
        if isinstance(k, slice):
            return [self[i] for i in numbers]
        if not (self.finished or file.exists()):
            raise OutputError(f"{self.path}: this run was finished meanwhile; read it again")
        with opened(file) as source, damage_reported(self.path, f" at stored step {k}"):
            return read_step(steps_of(source)[number], int(number), self.scene)

    @cached_property
    def bodies(self):
        return self.scene.bodies

    @property
    def network(self) -> ForceNetwork:
        """What plots, measures and export show: the last stored step."""
        return self[-1].network


def looks_like_run(path: str | Path) -> bool:
    """Whether ``read_run`` is the one to open this file, or to say what is wrong with it."""
    import h5py

    path = Path(path)
    if not path.exists():
        return parts_of(path).exists()
    try:
        with h5py.File(path, "r") as file:
            return file.attrs.get("schema") == SCHEMA
    except OSError:
        return False


def read_run(path: str | Path) -> Run:
    """Open a run.

    Parameters
    ----------
    path : str or Path
        HDF5 file, as ``rigidlimit run`` or a ``RunWriter`` writes it.

    Returns
    -------
    Run
        ``len(run)`` steps; ``run[k]`` is a stored step, -1 the last, ``run[2:5]`` a list of them.
        It has ``scene``, ``settings``, ``times`` [s] and whether it is ``finished``.

    Raises
    ------
    OutputError
        Where it is missing, damaged, of a newer schema, or has no step yet.

    Warns
    -----
    UnfinishedRun
        Where the run did not come to its end: these are the steps saved so far.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> from rigidlimit.output.hdf5 import RunWriter
    >>> simulation = rl.Simulation("beam")
    >>> writer = RunWriter.start("beam.h5", simulation, {})
    >>> writer.add(simulation.step())
    >>> writer.finish()
    >>> run = rl.read_run("beam.h5")
    >>> len(run), run[-1].force.round(4)
    (1, array([3.3333, 3.3333, 3.3333]))
    """
    path = Path(path)
    unfinished = _unfinished(path)
    if unfinished is not None:
        return unfinished
    if not path.exists():
        if parts_of(path).exists():
            raise OutputError(
                f"{path}: this run is unfinished, and no step of it is saved yet; wait, or finish "
                "it with --resume"
            )
        raise OutputError(f"{path}: no such file{_if_scene(path)}")
    with opened(path) as file:
        scene, settings, version = read_head(file, path)
        times, places = _steps([path])
    if not times:
        raise OutputError(f"{path}: an empty run: no step was stored")
    return Run(path, _scene(scene, path), settings, version, np.array(times), True, places)


def _unfinished(path: Path) -> Run | None:
    """The steps saved so far of a run in progress or interrupted; None if there is no such run,
    or if it is to replace a finished one, which then is the run of this name."""
    stored = read_unfinished(path)
    if stored is None:
        return None
    head, time = stored.head, float(stored.checkpoint["time"])
    if path.exists() and not head.get("extends"):
        warn(
            f"{path}: a later run of this name is unfinished, at t = {time:.6g} s; this is the "
            "earlier one, which it will replace",
            UnfinishedRun,
        )
        return None
    times, places = _steps(stored.files, int(stored.checkpoint["steps"]))
    if not times:
        return None
    until = head["settings"].get("until")
    end = "" if until is None else f" of {until:.6g} s"
    warn(
        f"{path}: this run is unfinished: {counted(len(times), 'step')} saved, up to t = "
        f"{times[-1]:.6g} s{end}{left_out(stored)}; rigidlimit run --resume continues it",
        UnfinishedRun,
    )
    scene, version = _scene(head["scene"], path), head.get("version", "?")
    return Run(path, scene, head["settings"], version, np.array(times), False, places)


def _steps(files: list[Path], last: float = np.inf):
    """(times, places) of the steps in these files."""
    found = steps_in(files, last).values()
    return [time for time, _, _ in found], tuple((path, name) for _, path, name in found)


def _scene(stored: StoredScene, path: Path) -> Scene:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)  # given when the scene was made
        try:
            return stored.scene(f"{path} (scene)")
        except SceneError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(f"{path}: damaged: {error}; run the scene again") from error


def _if_scene(path: Path) -> str:
    from ..scenes import GALLERY

    if str(path) not in GALLERY:
        return ""
    return f"; {path} is a scene: compute it first, rigidlimit run {path} --out {path}.h5"
