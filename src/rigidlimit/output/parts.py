"""The folder of parts of a run in progress: its files are complete at any moment."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.atomic import whole_file
from .._support.new_hdf5 import whole_hdf5
from .._support.npz import write_arrays
from ..scenes.columns import StoredScene
from ..step import StepResult
from .lock import LOCK
from .stored import opened, steps_of, write_checkpoint
from .stored_step import write_step
from .unfinished import COLUMNS, EARLIER, part_files

if TYPE_CHECKING:
    from h5py import Group

CHECKPOINT = "checkpoint.npz"
"""The last checkpoint: with it there is a run."""


def begin(parts: Path, head: dict, scene: StoredScene, earlier: Path | None) -> None:
    """Fill the folder but for the checkpoint. head: for run.json; earlier: the finished run that is
    the first of the parts."""
    # the checkpoint goes first, so that what is left after a kill is no run
    (parts / CHECKPOINT).unlink(missing_ok=True)
    for leftover in parts.iterdir():
        if leftover.name != LOCK:
            leftover.unlink()
    if earlier is not None:
        _link(earlier, parts / EARLIER)
    if scene.columns:
        write_arrays(parts / COLUMNS, **scene.columns)
    with whole_file(parts / "run.json", durable=True) as temporary:
        temporary.write_text(json.dumps(head), encoding="utf-8")


def add(
    parts: Path, steps: Sequence[tuple[int, StepResult]], checkpoint: dict[str, np.ndarray]
) -> None:
    """Store steps, by their numbers, as one more part, with the checkpoint after them."""
    part = parts / f"{steps[0][0]:08d}.h5"
    with whole_hdf5(part, durable=True) as file:
        for number, result in steps:
            write_step(file.create_group(f"steps/{number:08d}"), result)
        write_checkpoint(file.create_group("checkpoint"), checkpoint)


def join(parts: Path, steps: "Group", last: int) -> None:
    """Copy the steps up to number ``last`` of all parts into a group."""
    for part in part_files(parts):
        with opened(part) as source:
            stored = steps_of(source)
            for number in stored:
                # a step made again after a resume is the same step
                if number not in steps and int(number) <= last:
                    stored.copy(number, steps)


def remove(parts: Path) -> None:
    """At no moment is what is left a run: what makes one goes first, and the lock last."""
    for name in (CHECKPOINT, "run.json"):
        (parts / name).unlink(missing_ok=True)
    for part in parts.iterdir():
        if part.name != LOCK:
            part.unlink()
    (parts / LOCK).unlink(missing_ok=True)


def memory_of(result: StepResult) -> int:
    """Memory that a step holds, about: B, and what is kept of each contact and each body."""
    m, n = result.B.shape
    rough = 0 if result.T is None else 12 * result.T.nnz + 8 * 20 * m
    return 12 * result.B.nnz + 8 * (18 * m + 4 * n) + rough


def _link(path: Path, name: Path) -> None:
    """The file under a second name: it stays as it is when the first name is given to another."""
    try:
        name.hardlink_to(path)
    except OSError:  # a file system without links
        with whole_file(name, durable=True) as temporary:
            shutil.copyfile(path, temporary)
