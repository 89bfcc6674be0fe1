"""Whether a run can be gone on with, stopped or finished, before anything of it is changed."""

from pathlib import Path

import numpy as np

from .._support.words import counted
from ..errors import InputError, OutputError
from ..scenes.columns import StoredScene
from .endings import check_ending
from .stored import opened, read_checkpoint, read_head, steps_in
from .unfinished import Unfinished, parts_of

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
            f"{missing[0]}; start the run anew with --overwrite"
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
