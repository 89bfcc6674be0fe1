"""Arrays of numpy's .npz files."""

from pathlib import Path

import numpy as np


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """All arrays of a file, by name. The file is closed even where it is damaged, in which case
    numpy, zipfile and zlib raise errors of their own."""
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)
