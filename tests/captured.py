"""The captured problems of the Siconos project, where they lie beside the repository."""

from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parents[1]
_PLACES = [
    folder / "shared" / "data" / "siconos"
    for folder in (_REPOSITORY.parent, _REPOSITORY.parent.parent)
]
FOLDER = next((place for place in _PLACES if place.is_dir()), None)

NAMES = (
    "Box_Stacks-i0122-82-5.hdf5",
    "BoxesStack1-i100000-32.hdf5.dat",
    "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5",
    "Spheres-i099-356-679.hdf5",
    "spheres-in-a-box-98-i10000-256-10.hdf5",
)


def captured_file(name: str) -> Path:
    """Path of a captured problem; skips the test where it is missing."""
    if FOLDER is None or not (FOLDER / name).is_file():
        pytest.skip(f"{name} is not here: it lies in shared/data/siconos beside the repository")
    return FOLDER / name
