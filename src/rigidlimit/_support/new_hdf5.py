"""HDF5 files on disks that may be full.

The HDF5 library does not get over a write that fails: what it still holds is written again for
every object that Python lets go of, each with a complaint, and closing the file can end the process
with a segmentation fault. So no write fails as far as HDF5 can see: from the first failure on
nothing is written any more, and the failure is raised when HDF5 is done with the file.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .atomic import whole_file


class _Disk(io.FileIO):
    """A new file; ``failure`` is what went wrong first, be it a Ctrl-C in the midst of a write."""

    def __init__(self, path: Path):
        super().__init__(path, "w+")
        self.failure: BaseException | None = None

    def write(self, data: bytes) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while len(rest) and self.failure is None:
                rest = rest[super().write(rest) :]
        except BaseException as error:
            self.failure = error
        return size

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except BaseException as error:
            self.failure = self.failure or error
            return self.tell() if size is None else size


@contextmanager
def new_hdf5(path: Path) -> Iterator:
    """A new, open h5py file. Raises OSError where it could not be written."""
    import h5py

    with _Disk(path) as disk:
        try:
            with h5py.File(disk, "w") as file:
                yield file
        except Exception:
            if disk.failure is None:
                raise
        if disk.failure is not None:
            raise disk.failure


@contextmanager
def whole_hdf5(path: Path, *, durable: bool = False) -> Iterator:
    """The same of a file that is whole or not there, see ``whole_file``."""
    with whole_file(path, durable=durable) as temporary, new_hdf5(temporary) as file:
        yield file
