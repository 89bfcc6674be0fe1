"""An unfinished run: its parts, its head, and its checkpoint; and whether a run, stopped or
finished, can be continued, before anything of it is changed."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._support.npz import read_arrays
from .._support.words import counted
from ..errors import InputError, OutputError
from ..scenes.columns import StoredScene
from .endings import check_ending
from .stored import (
    PARTS,
    check,
    check_checkpoint,
    contents,
    opened,
    read_checkpoint,
    read_head,
    steps_in,
    steps_of,
)

COLUMNS = "scene.npz"
"""Columns of the scene beside the parts of a run."""


def parts_of(path: Path) -> Path:
    """Folder of the parts of an unfinished run. Raises OutputError for what names no file."""
    if not path.name:
        raise OutputError(f"{path}: a folder; expected the name of a run's file")
    return path.with_name(path.name + PARTS)


def part_files(parts: Path) -> list[Path]:
    """The files of an unfinished run in the order of their steps."""
    return sorted(parts.glob("*.h5"))


@dataclass(frozen=True)
class Unfinished:
    """What there is of a run that is not finished.

    head: its scene (a StoredScene), settings and more. checkpoint: the last one that is whole.
    files: parts up to it, in the order of their steps. damaged: files that are left out.
    """

    head: dict
    checkpoint: dict[str, np.ndarray]
    files: list[Path]
    damaged: list[Path]


def read_unfinished(path: Path) -> Unfinished | None:
    """The unfinished run of this name; None if there is none.

    Where the last part or the checkpoint beside the parts is damaged, the run is as it was at the
    end of the part before. Parts of which ``path`` was made are no run: a kill left them while they
    were being removed.
    """
    parts = parts_of(path)
    saved = parts / "checkpoint.npz"
    if not saved.exists():
        return None
    try:
        head = _read_unfinished_head(parts)
    except FileNotFoundError:
        return None
    # numpy, zipfile and json raise errors of ten kinds for files that are cut or garbled
    except Exception as error:
        raise _damaged(parts, error) from error
    if head.get("id") is not None and head["id"] == _made_of(path):
        return None
    files, damaged, failure = part_files(parts), [], None
    if files and (failure := _damage_of(files[-1])):
        damaged.append(files.pop())
    else:
        try:
            return Unfinished(head, check_checkpoint(read_arrays(saved)), files, [])
        except FileNotFoundError:  # the run has ended meanwhile
            return None
        except Exception as error:
            failure = error
            damaged.append(saved)
    try:
        with opened(files[-1]) as file:
            return Unfinished(head, read_checkpoint(file["checkpoint"]), files, damaged)
    except Exception as error:  # there is none, or it is damaged too
        raise _damaged(parts, failure) from error


def left_out(stored: Unfinished) -> str:
    """Message about damaged files, or ""."""
    names = ", ".join(str(path) for path in stored.damaged)
    return f"; {names}, damaged, left out" if names else ""


def _read_unfinished_head(parts: Path) -> dict:
    head = json.loads((parts / "run.json").read_text(encoding="utf-8"))
    if not (
        isinstance(head, dict)
        and isinstance(head.get("scene"), str)
        and isinstance(head.get("settings"), dict)
    ):
        raise ValueError("run.json is no head of a run")
    columns = read_arrays(parts / COLUMNS) if head.get("columns") else {}
    head["scene"] = StoredScene(head["scene"], columns)
    return head


def _damage_of(part: Path) -> Exception | None:
    """What is wrong with a part. One that is a finished run, which is extended, is only opened: it
    may be large, and its steps are checked as they are read."""
    try:
        with opened(part) as file:
            for group in () if "schema" in file.attrs else steps_of(file).values():
                check(group, *contents(group))
    except Exception as error:
        return error
    return None


def damaged_steps(files: list[Path]) -> str:
    """Message about damaged stored steps, or "". Reads all of them."""
    damage = []
    for path in files:
        numbers = []
        with opened(path) as file:
            for name, group in steps_of(file).items():
                try:
                    check(group, *contents(group))
                except Exception:  # h5py raises errors of ten kinds for what is garbled
                    numbers.append(int(name))
        if numbers:
            which = f"{counted(len(numbers), 'stored step')} damaged, the first step {min(numbers)}"
            damage.append(f"{path}: {which}")
    return "; ".join(damage)


def _damaged(parts: Path, error: Exception) -> OutputError:
    said = str(error).removeprefix(f"{parts}: ")
    return OutputError(f"{parts}: damaged: {said}; restart the run with --overwrite")


def _made_of(path: Path) -> str | None:
    """The id of the parts of which a finished file was made; None if there is none, or no file."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return file.attrs.get("id")
    except OSError:
        return None


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


def check_unfinished(
    path: Path, unfinished: Unfinished, scene: StoredScene, settings: dict, every: int
) -> None:
    """Raises OutputError or InputError unless ``settings`` are those of the unfinished run, with an
    end that is not passed, and all steps are there that were stored."""
    head, checkpoint = unfinished.head, unfinished.checkpoint
    # settings of the stretch that was stopped; those in files are of all stretches
    before = head.get("asked", head["settings"])
    _check_same(path, "unfinished", head["scene"], scene, settings, before)
    stored_every = head.get("every", every)
    if stored_every != every:
        raise InputError(
            f"{path}: the unfinished run stores every {stored_every} steps, not {every}; "
            f"expected the same; give every={stored_every}"
        )
    reached, until = float(checkpoint["time"]), settings.get("until", np.inf)
    # an end within the last step is that step's
    if until < reached - (1 - 1e-6) * settings.get("dt", 0.0):
        meant = head["settings"].get("until", np.inf)
        raise OutputError(
            f"{path}: the unfinished run is at t = {reached:.6g} s, later than until = "
            f"{until:.6g} s; expected a later end"
            + (f", like the {meant:.6g} s that it was to last" if meant < np.inf else "")
            + f"; until = {reached:.6g} ends it as it is"
        )
    _check_parts(path, unfinished, every)


def _check_parts(path: Path, unfinished: Unfinished, every: int) -> None:
    """Are all steps there that were stored?"""
    head, steps, parts = unfinished.head, int(unfinished.checkpoint["steps"]), parts_of(path)
    found = steps_in(unfinished.files, steps)
    begin = head.get("begin", 0)
    stored = range(begin - begin % every + every, steps + 1, every)
    missing = [k for k in stored if k not in found]
    if head.get("extends") and not (parts / EARLIER).exists():
        missing.insert(0, 1)
    if missing:
        raise OutputError(
            f"{parts}: damaged: {counted(len(missing), 'stored step')} missing, the first step "
            f"{missing[0]}; restart the run with --overwrite"
        )


def read_finished(path: Path, scene: StoredScene, settings: dict) -> tuple[dict, dict]:
    """(checkpoint, settings) of a finished run that is to go on with these ``settings``.

    Raises OutputError if there is none, or it cannot go on so.
    """
    if not path.exists():
        raise OutputError(
            f"{path}: nothing to resume: there is no run of this name; run without --resume"
        )
    with opened(path) as file:
        stored, before, _ = read_head(file, path)
        if "checkpoint" not in file:
            raise OutputError(
                f"{path}: nothing to resume: it is finished, and holds no checkpoint to go on "
                "from (files of rigidlimit compare and of earlier versions have none); run "
                "without --resume to replace it"
            )
        # which steps get compatible forces changes nothing of those that are there
        _check_same(path, "finished", stored, scene, settings, before, free=("until", "forces"))
        try:
            saved = read_checkpoint(file["checkpoint"])
        except (OSError, TypeError, ValueError, AttributeError) as error:
            raise OutputError(f"{path}: damaged: {error}; run the scene again") from error
    time = float(saved["time"])
    # rounding of the sum of the steps' dt
    if settings.get("until", np.inf) <= time * (1 + 1e-9):
        raise OutputError(
            f"{path}: nothing to resume: it is finished, at t = {time:.6g} s; to extend it "
            "give a later time with --until"
        )
    return saved, before


def _check_same(
    path: Path,
    state: str,
    stored: StoredScene,
    scene: StoredScene,
    settings: dict,
    before: dict,
    free: tuple[str, ...] = ("until",),
) -> None:
    """Refuse to go on with a run of another scene or with other options, but for ``free`` ones."""
    if not stored.same(scene):
        raise OutputError(
            f"{path}: the {state} run is of another scene; run without --resume, or take another "
            "name"
        )
    for key, value in settings.items():
        if key not in free and before.get(key) != value:
            raise OutputError(
                f"{path}: the {state} run has {key} = {before.get(key)!r}, not {value!r}; resume "
                "with the same options"
            )


def joined(earlier: str, time: float, later: str) -> str:
    """Options of a run that was extended at ``time`` [s]."""
    if earlier == later and later in ("every", "never"):
        return later
    return f"{earlier} until {time:.6g} s, then {later}"
