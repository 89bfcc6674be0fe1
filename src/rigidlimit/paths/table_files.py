"""Files of a path: the table as CSV or HDF5, and the checkpoint of an unfinished path.

A path that is stopped, at any moment, keeps ``OUT.unfinished``: its rows so far, the simulation
at that point, and which path and scene they belong to. A finished one keeps only the table.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np

from .. import __version__
from .._support.atomic import write_text
from .._support.new_hdf5 import whole_hdf5
from .._support.npz import UNREADABLE, read_arrays, write_arrays
from ..errors import OutputError

ENDINGS = (".csv", ".h5", ".hdf5")


def unfinished_of(path: Path) -> Path:
    """Where the unfinished path of a table is kept."""
    return path.with_name(path.name + ".unfinished")


def write_table(path: Path, table: np.ndarray, about: dict[str, str]) -> None:
    """The structured array as CSV or HDF5; about: the scene and the path, in HDF5 only."""
    if path.suffix.lower() == ".csv":
        sheet = io.StringIO()
        writer = csv.writer(sheet, lineterminator="\n")
        writer.writerow(table.dtype.names)
        for line in table.tolist():
            writer.writerow([repr(v) if isinstance(v, float) else v for v in line])
        write_text(path, sheet.getvalue())
        return
    with whole_hdf5(path) as file:
        file.attrs["schema"] = "rigidlimit-path"
        file.attrs["rigidlimit_version"] = __version__
        file.attrs["units"] = "SI: m, kg, s, N, Pa"
        for name, text in about.items():
            file.attrs[name] = text
        for name in table.dtype.names:
            file.create_dataset(name, data=table[name])


def write_unfinished(path: Path, about: dict[str, str], arrays: dict[str, np.ndarray]) -> None:
    """What ``read_unfinished`` takes back."""
    write_arrays(unfinished_of(path), about=np.array(json.dumps(about)), **arrays)


def read_unfinished(path: Path, about: dict[str, str]) -> dict[str, np.ndarray]:
    """The arrays of an unfinished path. Raises OutputError where there is none, or another's."""
    place = unfinished_of(path)
    if not place.exists():
        if path.exists():
            raise OutputError(
                f"{path}: nothing to resume: the path is finished; to follow it anew add "
                "--overwrite (overwrite=True) in place of --resume"
            )
        raise OutputError(f"{place}: there is no unfinished path; expected one, or no --resume")
    try:
        arrays = read_arrays(place)
        known = json.loads(str(arrays.pop("about")))
    except UNREADABLE as error:
        raise OutputError(f"{place}: damaged: {error}; remove it and begin anew") from error
    for name, text in about.items():
        if known.get(name) != text:
            raise OutputError(
                f"{place}: of another {name}; expected the one that it was begun with, or begin "
                "anew (overwrite)"
            )
    return arrays
