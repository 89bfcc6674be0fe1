"""Contents of a run file: its head, where its steps are, and the checkpoint for resuming.

The schema is in docs/output.md; SCHEMA_VERSION counts changes that older readers cannot pass over.

Groups know by a checksum whether they are as they were written: HDF5 itself reads whatever bits a
disk gives back. The checksum is the CRC-32 of names and bytes of
all attributes and values of a group, in the order of their names, as its attribute ``checksum``.
"""

import json
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__
from ..errors import OutputError
from ..scenes.columns import StoredScene
from ..simulation import SAVED
from .limits import LIMITS

if TYPE_CHECKING:
    from h5py import Dataset, File, Group


CHECKSUM = "checksum"


def checksum(attributes: dict, arrays: dict) -> int:
    """CRC-32 of attributes and arrays by name; a name may hold groups, "contacts/gap"."""
    crc = 0
    for table in (attributes, arrays):
        for name in sorted(table):
            value = table[name]
            crc = zlib.crc32(name.encode(), crc)
            raw = value.encode() if isinstance(value, str) else np.asarray(value).tobytes()
            crc = zlib.crc32(raw, crc)
    return crc


def write_sealed(group: "Group", attributes: dict, arrays: dict) -> None:
    """Write attributes and arrays into an empty group, and their checksum."""
    for name, value in attributes.items():
        group.attrs[name] = value
    for name, values in arrays.items():
        large = np.size(values) > LIMITS.packed
        packed = {"compression": "gzip", "compression_opts": 1} if large else {}
        group.create_dataset(name, data=values, **packed)
    group.attrs[CHECKSUM] = checksum(attributes, arrays)


def contents(group: "Group") -> tuple[dict, dict]:
    """(attributes, arrays) of a group by name, the checksum left out."""
    attributes = {name: value for name, value in group.attrs.items() if name != CHECKSUM}
    arrays = {}

    def take(name: str, item: "Group | Dataset") -> None:
        if hasattr(item, "shape"):
            arrays[name] = item.asstr()[()] if item.dtype.kind == "O" else item[()]

    group.visititems(take)
    return attributes, arrays


def check(group: "Group", attributes: dict, arrays: dict) -> None:
    """Raises ValueError if ``contents`` of a group are not as written. Files of before have no
    checksums."""
    stored = group.attrs.get(CHECKSUM)
    if stored is not None and int(stored) != checksum(attributes, arrays):
        raise ValueError("its values are not those that were written (checksum)")


SCHEMA = "rigidlimit-run"
SCHEMA_VERSION = 2
"""2: with the group ``scene``, where bodies are many; files without it are written as 1."""

PARTS = ".parts"


@contextmanager
def damage_reported(path: Path, where: str = ""):
    """Turns what h5py and the checks here raise for a garbled file into an OutputError."""
    try:
        yield
    except OutputError:
        raise
    # h5py raises errors of ten kinds for files that are garbled
    except Exception as error:
        said = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        raise OutputError(f"{path}: damaged{where}: {said}; run the scene again") from error


def opened(path: Path):
    """The HDF5 file, open for reading. Raises OutputError, in one line, for what is none."""
    import h5py

    if path.is_dir():
        hint = ""
        if path.suffix == PARTS:
            hint = f"; these are parts of a run that is unfinished: try {path.with_suffix('')}"
        raise OutputError(
            f"{path}: a folder; expected a run, the file of rigidlimit run --out{hint}"
        )
    if path.suffix == ".toml":
        raise OutputError(
            f"{path}: a scene, not a run; compute it first: rigidlimit run {path} --out "
            f"{path.with_suffix('.h5')}"
        )
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise OutputError(
            f"{path}: not an HDF5 file, or damaged; expected a run, the file of rigidlimit run "
            "--out; run the scene again if it was one"
        ) from error


def read_head(file: "File", path: Path) -> tuple[StoredScene, dict, str]:
    """(scene, settings, version of the writer) of an open run."""
    with damage_reported(path):
        known = file.attrs.get("schema") == SCHEMA
        schema = int(file.attrs.get("schema_version", 0))
        writer = str(file.attrs.get("rigidlimit_version", "?"))
    if not known:
        raise OutputError(f"{path}: not a run of rigidlimit (no schema {SCHEMA!r})")
    if schema > SCHEMA_VERSION:
        raise OutputError(
            f"{path}: written in schema {schema} by rigidlimit {writer}; this is "
            f"{__version__}, which reads up to {SCHEMA_VERSION}; upgrade rigidlimit"
        )
    with damage_reported(path):
        columns = contents(file["scene"])[1] if "scene" in file else {}
        text, settings = str(file.attrs["scene"]), str(file.attrs["settings"])
        check(file, {"scene": text, "settings": settings}, columns)
        return StoredScene(text, columns), json.loads(settings), writer


def check_checkpoint(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays, if they are complete for resuming a run. Raises ValueError."""
    for name in SAVED:
        if name not in arrays:
            raise ValueError(f"the checkpoint has no {name}")
    if not np.isfinite(float(arrays["time"])) or int(arrays["steps"]) < 0:
        raise ValueError("the checkpoint's time is none")
    return arrays


def steps_in(files: list[Path], last: float = np.inf) -> dict[int, tuple[float, Path, str]]:
    """Number of a step -> (time, file, name of its group); one stored twice is the same step."""
    found = {}
    for path in files:
        with opened(path) as file, damage_reported(path):
            for name, group in steps_of(file).items():
                if int(name) <= last and int(name) not in found:
                    found[int(name)] = (float(group.attrs["time"]), path, name)
    return dict(sorted(found.items()))


def steps_of(file: "File"):
    """The group of an open file whose members are its steps. A part of before was one itself."""
    return file["steps"] if "steps" in file or "schema" in file.attrs else file


def write_head(file: "File", scene: StoredScene, settings: dict, *, id: str | None = None) -> None:
    """id: of the parts of which the file is made."""
    file.attrs["schema"] = SCHEMA
    file.attrs["schema_version"] = SCHEMA_VERSION if scene.columns else 1
    file.attrs["rigidlimit_version"] = __version__
    file.attrs["units"] = "SI: m, kg, s, N, rad"
    columns = {k: str(v) if v.dtype.kind == "U" else v for k, v in scene.columns.items()}
    if columns:
        write_sealed(file.create_group("scene"), {}, columns)
    head = {"scene": scene.text, "settings": json.dumps(settings)}
    for name, value in head.items():
        file.attrs[name] = value
    file.attrs[CHECKSUM] = checksum(head, columns)
    if id is not None:
        file.attrs["id"] = id


def write_checkpoint(group: "Group", arrays: dict[str, np.ndarray]) -> None:
    """What ``Simulation.checkpoint`` gives."""
    write_sealed(group, {}, arrays)


def read_checkpoint(group: "Group") -> dict[str, np.ndarray]:
    """What ``write_checkpoint`` wrote. Raises ValueError where it is damaged."""
    attributes, arrays = contents(group)
    check(group, attributes, arrays)
    return check_checkpoint(arrays)
