"""Arrays by name in numpy's .npz files, which are whole or not there: what a long computation keeps
on its way."""

import zipfile
import zlib
from pathlib import Path

import numpy as np

from .atomic import whole_file

UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)
"""Errors of numpy, zipfile and zlib for files that are not there, cut or garbled."""


def write_arrays(path: str | Path, /, *, durable: bool = True, **arrays: np.ndarray) -> None:
    """durable: as of ``whole_file``."""
    with whole_file(path, durable=durable) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """All arrays of a file, by name. The file is closed even where it is damaged; see
    ``UNREADABLE``."""
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)
