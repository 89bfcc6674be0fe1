"""Forces and displacements of all ranks as one HDF5 file, written slice by slice.

/force (m,) [N]            of the contacts, in the order of the network file
/displacement (n, w) [m]   of its bodies
/history                   residuals of the solve
/distribution (60,)        P(f), forces over their mean from 0 to 6 in equal bins
/virial (3, 3) [N m]       V times the mean stress, pressure positive; where arms are known
/tangential_force (m, d-1) [N], /sliding (m,) 0 or 1    of rough contacts
/history_normal (m,) [N], /history_tangential (m, d-1) [N], /history_gap (m,) [m], which may be
                           absent: what rough contacts remember, to begin the next increment with
attributes: schema, status, residual, tolerance, solver, ranks, bodies, contacts, dofs,
    mean_force, coordination; of rough contacts state, routes
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.atomic import whole_file
from .._support.new_hdf5 import new_hdf5
from ..compatibility import ContactHistory
from ..errors import InputError
from .network import HISTORY
from .network_file import NetworkFile
from .part import Part, fetch_history
from .ranks import Ranks

if TYPE_CHECKING:
    from .result import DistributedForces

SCHEMA = "rigidlimit-forces-1"


def write_forces(path: Path, answer: "DistributedForces", ranks: Ranks) -> None:
    """The file of the first rank, to which all others send their slices, one at a time."""
    slices = {"force": answer.force, "displacement": answer.displacement}
    if answer.rubbing is not None:
        rubbing = answer.rubbing
        slices |= {"tangential_force": rubbing.tangential_force, "sliding": rubbing.sliding * 1.0}
        kept = {f"history_{name}": getattr(rubbing.history, name) for name in HISTORY}
        slices |= {name: values for name, values in kept.items() if values is not None}
    of_bodies, of_contacts = (ranks.each(a[0]) for a in (answer.bodies, answer.contacts))
    counts, sizes, starts = answer.counts, {}, {}
    for name, values in slices.items():
        moved = name == "displacement"
        sizes[name] = (counts["bodies" if moved else "contacts"], *values.shape[1:])
        starts[name] = of_bodies if moved else of_contacts
    with ExitStack() as open_files:
        file = ranks.together(lambda: _begun(path, answer, sizes, open_files, ranks))
        for rank in range(ranks.size):
            for name, values in slices.items():
                came = ranks.brought(values, rank)
                if ranks.first:
                    first = int(starts[name][rank])
                    file[name][first : first + len(came)] = came
        # writes that failed are told as the file is closed
        ranks.together(open_files.close)


def _begun(path, answer, sizes, open_files: ExitStack, ranks: Ranks):
    """The open file on the first rank, with what is known of the whole."""
    if not ranks.first:
        return None
    file = open_files.enter_context(new_hdf5(open_files.enter_context(whole_file(path))))
    file.attrs["schema"], file.attrs["status"] = SCHEMA, str(answer.status)
    for name in ("residual", "tolerance", "solver", "mean_force", "coordination"):
        file.attrs[name] = getattr(answer, name)
    if answer.rubbing is not None:
        file.attrs["state"] = answer.rubbing.state
        file.attrs["routes"] = " ".join(answer.rubbing.routes)
    for name, count in answer.counts.items():
        file.attrs[name] = count
    file["history"], file["distribution"] = answer.history, answer.distribution
    if answer.virial is not None:
        file["virial"] = answer.virial
    for name, shape in sizes.items():
        file.create_dataset(name, shape, float)
    return file


def read_displacement(path, file: NetworkFile, part: Part, ranks: Ranks) -> np.ndarray:
    """Displacements (o, w) of own bodies from a file of forces."""
    first, last = ranks.slice_of(file.bodies)

    def read():
        shapes = {"displacement": (file.bodies, file.width)}
        with _checked("start", path, shapes) as stored:
            return _rows("start", stored, "displacement", first, last)

    return ranks.fetch(ranks.together(read), part.origin)


def read_history(path, file: NetworkFile, part: Part, ranks: Ranks) -> ContactHistory:
    """What the contacts (m,) of a part remember from a file of forces."""
    first, last = ranks.slice_of(file.contacts)

    def read():
        m = file.contacts
        shapes = {"history_normal": (m,), "history_tangential": (m, file.components - 1)}
        with _checked("history", path, shapes) as stored:
            arrays = (_rows("history", stored, f"history_{name}", first, last) for name in HISTORY)
            return ContactHistory(*arrays)

    return fetch_history(ranks.together(read), part.place, ranks)


def _rows(option: str, stored, name: str, first: int, last: int) -> np.ndarray | None:
    """Rows of an array of an open file, None if it has none of that name. Raises InputError where
    they are not finite."""
    if name not in stored:
        return None
    values = stored[name][first:last]
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=tuple(range(1, values.ndim))))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{option} is {stored.filename}, with {name} {values[row]} in row {first + row}; "
            "expected finite numbers"
        )
    return values


@contextmanager
def _checked(option: str, path, shapes: dict) -> Iterator:
    """An open file of forces whose arrays have these shapes."""
    import h5py

    try:
        with h5py.File(path, "r") as stored:
            if stored.attrs.get("schema") != SCHEMA:
                raise InputError(f"{option} is {path}; expected a file of forces ({SCHEMA})")
            for name, expected in shapes.items():
                found = stored[name].shape if name in stored else "absent"
                if found != expected:
                    raise InputError(
                        f"{option} is {path}, with {name} {found}; expected {expected}, of the "
                        "same network"
                    )
            yield stored
    except OSError as error:
        raise InputError(f"{option} is {path}, which cannot be read: {error}") from error
