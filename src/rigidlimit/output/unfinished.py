"""An unfinished run: its parts, its head, and its checkpoint."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._support.npz import read_arrays
from .._support.words import counted
from ..errors import OutputError
from ..scenes.columns import StoredScene
from .checksums import check, contents
from .stored import PARTS, check_checkpoint, opened, read_checkpoint, steps_of

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
