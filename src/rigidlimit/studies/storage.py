"""A study on the disk: one file a sample while it is under way, one file in the end.

    OUT.parts/DIGEST.npz    one sample that is done, named by the hash of its inputs
    OUT                     all samples in the order of the study, HDF5

A study that is stopped or killed at any moment keeps its parts; resuming it, or adding
samples, finds the finished ones by their hash. The file holds no times and nothing of
the workers, so that it is the same however many computed it.
"""

import json
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np

from .. import __version__
from .._support.new_hdf5 import whole_hdf5
from .._support.npz import UNREADABLE, read_arrays, write_arrays
from ..errors import InputError, OutputError
from ..output.endings import check_ending
from ..output.lock import LOCK, Lock
from .ensemble import Ensemble
from .sample import Outcome

SCHEMA = "rigidlimit-study"
PARTS = ".parts"


class Parts:
    """The samples of a study that are done, kept in the folder ``OUT.parts``."""

    def __init__(self, out: Path, *, resume: bool, overwrite: bool):
        self.out, self.folder = out, out.with_name(out.name + PARTS)
        check_ending("out", out, (".h5", ".hdf5"))
        if resume and overwrite:
            raise InputError("resume and overwrite are both given; expected one of the two")
        begun = self.folder.is_dir() and any(self.folder.glob("*.npz"))
        if not (resume or overwrite) and (out.exists() or begun):
            there = f"{out} exists" if out.exists() else f"{self.folder} holds samples"
            raise InputError(
                f"{there}; expected a new name, or resume to go on with that study, or overwrite "
                "to begin anew"
            )
        self._finished: dict[str, Outcome] = {}
        if resume and out.exists():
            self._finished = _outcomes_of(out)
        try:
            self._lock = Lock(out, self.folder, make=True)
        except OSError as error:
            raise OutputError(f"{out}: cannot be written: {error.strerror or error}") from error
        if overwrite:
            for part in self.folder.glob("*.npz"):
                part.unlink()

    def known(self, digest: str) -> Outcome | None:
        """The outcome of a sample that is done, None of others."""
        if digest in self._finished:
            return self._finished[digest]
        try:
            values = read_arrays(self.folder / f"{digest}.npz")
        except UNREADABLE:
            return None  # not there, or damaged: it is computed again
        error = str(values.pop("error"))
        return Outcome({} if error else values, error)

    def keep(self, digest: str, outcome: Outcome) -> None:
        """Write the outcome of a sample, whole or not at all."""
        place = self.folder / f"{digest}.npz"
        write_arrays(place, durable=False, error=np.array(outcome.error), **outcome.values)

    def finish(self, ensemble: Ensemble, digests: list[str]) -> None:
        """Write the file of the study. Parts go, but for nothing that is not in the file."""
        write(self.out, ensemble, digests)
        for part in self.folder.glob("*.npz"):
            part.unlink()

    def close(self) -> None:
        """Let others write; an empty folder goes."""
        self._lock.close()
        with suppress(OSError):
            if not any(self.folder.glob("*.npz")):
                (self.folder / LOCK).unlink(missing_ok=True)
                self.folder.rmdir()


def write(path: Path, ensemble: Ensemble, digests: list[str]) -> None:
    """Write the file of a study, whole or not at all."""
    with whole_hdf5(path, durable=True) as file:
        file.attrs["schema"] = SCHEMA
        file.attrs["rigidlimit_version"] = __version__
        file.attrs["units"] = "SI: m, kg, s, N, Pa"
        file.attrs["plan"] = ensemble.plan
        file["seed"] = ensemble.seeds
        file["digest"] = _texts(digests)
        file["error"] = _texts(ensemble.errors)
        file.create_group("parameters")
        for name, values in ensemble.parameters.items():
            file[f"parameters/{name}"] = _texts([json.dumps(v) for v in values])
        for name, values in ensemble.values.items():
            _write_values(file.create_group(f"values/{name}"), values)


def _write_values(group, values: list[np.ndarray | None]) -> None:
    """Arrays of one number of dimensions, end to end, with their shapes."""
    done = [value for value in values if value is not None]
    flat = [np.ravel(value) for value in done]
    if done and done[0].dtype.kind == "U":
        group["value"] = _texts([str(value) for value in done])
    else:
        group["value"] = np.concatenate(flat) if flat else np.zeros(0)
    group["there"] = np.array([value is not None for value in values], bool)
    dimensions = done[0].ndim if done else 0
    shapes = [value.shape for value in done]
    group["shape"] = np.array(shapes, np.int64).reshape(len(done), dimensions)


def read_study(path: str | Path) -> Ensemble:
    """The samples in the file of a study.

    Parameters
    ----------
    path : str or Path
        HDF5 file, as ``study(out=)`` or ``rigidlimit study`` writes it.

    Raises
    ------
    OutputError
        Where there is no such file, or it is none of a study.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> plan = rl.Plan("packing", measures=["contacts"], steps=1)
    >>> made = rl.study(plan, seeds=2, parameters={"count": 8}, workers=1, out="piles.h5")
    >>> rl.read_study("piles.h5").message
    '2 samples'
    """
    return read(path)[0]


def read(path: str | Path) -> tuple[Ensemble, list[str]]:
    """(ensemble, digests) of the file of a study."""
    path = Path(path)
    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("schema") != SCHEMA:
                raise OutputError(f"{path}: no study; expected a file of `rigidlimit study`")
            parameters = {
                name: [json.loads(text) for text in values.asstr()[:]]
                for name, values in file["parameters"].items()
            }
            ensemble = Ensemble(
                plan=str(file.attrs["plan"]),
                seeds=file["seed"][:],
                parameters=parameters,
                values={name: _read_values(group) for name, group in file["values"].items()},
                errors=list(file["error"].asstr()[:]),
            )
            return ensemble, list(file["digest"].asstr()[:])
    except OutputError:
        raise
    except (OSError, KeyError, ValueError) as error:
        reason = "there is no such file" if not path.exists() else f"damaged: {error}"
        raise OutputError(f"{path}: {reason}") from error


def _read_values(group) -> list[np.ndarray | None]:
    shapes, there = group["shape"][:], group["there"][:]
    texts = h5py.check_string_dtype(group["value"].dtype) is not None
    value = group["value"].asstr()[:] if texts else group["value"][:]
    sizes = shapes.prod(axis=1).astype(int)
    cut = np.split(value, np.cumsum(sizes)[:-1]) if len(sizes) else []
    done = iter(
        np.array(part[0]) if texts else part.reshape(shape)
        for part, shape in zip(cut, shapes, strict=True)
    )
    return [next(done) if here else None for here in there]


def _outcomes_of(path: Path) -> dict[str, Outcome]:
    """Those of a finished study that need not be computed again."""
    ensemble, digests = read(path)
    found = {}
    for number, (digest, error) in enumerate(zip(digests, ensemble.errors, strict=True)):
        values = {name: values[number] for name, values in ensemble.values.items()}
        found[digest] = Outcome({} if error else values, error)
    return found


def _texts(values) -> np.ndarray:
    return np.array([str(value) for value in values], h5py.string_dtype())
