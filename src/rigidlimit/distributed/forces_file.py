"""Forces and displacements of all ranks as one HDF5 file, written slice by slice.

/force (m,) [N]            of the contacts, in the order of the network file
/displacement (n, w) [m]   of its bodies
/history                   residuals of the solve
/distribution (60,)        P(f), forces over their mean from 0 to 6 in equal bins
attributes: schema, status, residual, tolerance, solver, ranks, bodies, contacts, dofs,
    mean_force, coordination
"""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.atomic import whole_file
from .._support.new_hdf5 import new_hdf5
from ..errors import InputError
from .network_file import NetworkFile
from .part import Part
from .ranks import Ranks

if TYPE_CHECKING:
    from .forces import DistributedForces

SCHEMA = "rigidlimit-forces-1"


def write_forces(path: Path, answer: "DistributedForces", ranks: Ranks) -> None:
    """The file of the first rank, to which all others send their slices, one at a time."""
    sizes = {
        "force": (answer.counts["contacts"],),
        "displacement": (answer.counts["bodies"], answer.displacement.shape[1]),
    }

    each = {"force": answer.force[:, None], "displacement": answer.displacement}
    starts = {"force": ranks.each(answer.contacts[0]), "displacement": ranks.each(answer.bodies[0])}
    with ExitStack() as open_files:
        file = ranks.together(lambda: _begun(path, answer, sizes, open_files, ranks))
        for rank in range(ranks.size):
            for name, values in each.items():
                came = _brought(values, rank, ranks)
                if ranks.first:
                    first = int(starts[name][rank])
                    file[name][first : first + len(came)] = came.reshape(-1, *sizes[name][1:])
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
    for name, count in answer.counts.items():
        file.attrs[name] = count
    file["history"], file["distribution"] = answer.history, answer.distribution
    for name, shape in sizes.items():
        file.create_dataset(name, shape, float)
    return file


def _brought(values: np.ndarray, rank: int, ranks: Ranks) -> np.ndarray:
    """The values (n, w) of this rank on the first one."""
    count = int(ranks.each(len(values))[rank])
    begin = int(ranks.each(len(values))[:rank].sum())
    index = np.arange(begin, begin + count) if ranks.first else np.zeros(0, int)
    return ranks.fetch(values, index)


def read_displacement(path, file: NetworkFile, part: Part, ranks: Ranks) -> np.ndarray:
    """Displacements (o, w) of own bodies from a file of forces."""
    import h5py

    def read():
        first, last = ranks.slice_of(file.bodies)
        try:
            with h5py.File(path, "r") as stored:
                if stored.attrs.get("schema") != SCHEMA:
                    raise InputError(f"start is {path}; expected a file of forces ({SCHEMA})")
                shape = stored["displacement"].shape
                if shape != (file.bodies, file.width):
                    raise InputError(
                        f"start is {path}, with displacements {shape}; expected "
                        f"{(file.bodies, file.width)}, of the same network"
                    )
                return stored["displacement"][first:last]
        except OSError as error:
            raise InputError(f"start is {path}, which cannot be read: {error}") from error

    return ranks.fetch(ranks.together(read), part.origin)
