"""The processes (ranks) of one computation: sums over them, and rows of arrays sent among them.

Everything goes by PETSc's vectors and scatters: there is no message passing of this package's own.
All functions here are collective, that is, called on all ranks at once.
"""

import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import NoReturn

import numpy as np

from ..errors import InputError, MissingExtra, RigidlimitError

LAUNCHERS = {
    "OMPI_COMM_WORLD_SIZE": "OMPI_COMM_WORLD_RANK", "PMI_SIZE": "PMI_RANK",
    "SLURM_STEP_NUM_TASKS": "SLURM_PROCID",
}  # fmt: skip
"""Where Open MPI's and MPICH's mpiexec, and srun, say how many processes they have started, and
which one a process is. mpiexec goes first: under SLURM it may start processes by srun."""


class OtherRankError(RigidlimitError):
    """Raised on all ranks but the one that found what is wrong, which raises the error itself."""


def launched() -> tuple[int, int]:
    """(number of this process, how many) as the launcher says; (0, 1) without one."""
    for size, rank in LAUNCHERS.items():
        if os.environ.get(size, "").isdecimal():
            return int(os.environ.get(rank) or 0), int(os.environ[size])
    return 0, 1


def _raise_once(error: RigidlimitError):
    """``error`` on the first process that was launched, where MPI cannot be asked."""
    number, _ = launched()
    if number > 0:
        raise OtherRankError("an error, which is told on rank 0")
    raise error


@contextmanager
def said_once() -> Iterator[None]:
    """What every process finds by itself, as in its arguments, is an error on the first one and
    ``OtherRankError`` on the others."""
    try:
        yield
    except RigidlimitError as error:
        _raise_once(error)


def petsc():
    """The module ``petsc4py.PETSc``. Raises MissingExtra where it is not installed."""
    try:
        import petsc4py

        # signals are the program's own
        petsc4py.init(["rigidlimit", "-no_signal_handler"])
        from petsc4py import PETSc
    except ImportError as error:
        return _raise_once(
            MissingExtra(
                f"PETSc cannot be loaded ({error}); expected petsc4py, built for the PETSc and the "
                "MPI of this machine: see the how-to page on clusters"
            )
        )
    return PETSc


class Ranks:
    """All processes of this program. rank: number of this one, from 0; size: how many."""

    def __init__(self):
        self.PETSc, self.agreed = petsc(), False
        self.comm = self.PETSc.COMM_WORLD
        self.rank, self.size = self.comm.getRank(), self.comm.getSize()
        _, started = launched()
        if self.size == 1 and started > 1:
            _raise_once(
                InputError(
                    f"{started} processes have been started, but each is alone to PETSc, which "
                    "was built with another MPI; expected the mpiexec of that MPI (Debian's PETSc: "
                    "mpiexec.openmpi), or srun with its interface (srun --mpi=pmix)"
                )
            )

    @property
    def first(self) -> bool:
        """Whether this is the rank that writes and prints."""
        return self.rank == 0

    # sums over the ranks

    @cached_property
    def _one(self):
        return self.PETSc.Vec().createMPI((1, self.size), comm=self.comm)

    def _each(self, value: float):
        self._one.setArray(np.array([value], float))
        return self._one

    def sum(self, value: float) -> float:
        return float(self._each(value).sum())

    def max(self, value: float) -> float:
        return float(self._each(value).max()[1])

    def min(self, value: float) -> float:
        return float(self._each(value).min()[1])

    def each(self, value: float) -> np.ndarray:
        """The values of all ranks (size,), on every rank."""
        scatter, everything = self.PETSc.Scatter.toAll(self._each(value))
        scatter.scatter(self._one, everything)
        found = everything.array.copy()
        scatter.destroy()
        everything.destroy()
        return found

    def joined(self, values: np.ndarray) -> np.ndarray:
        """The values (k,) of all ranks, one after the other, on every rank. They are to be few."""
        mine = self.vector(len(values), 1, values)
        scatter, everything = self.PETSc.Scatter.toAll(mine)
        scatter.scatter(mine, everything)
        found = everything.array.copy()
        for one in (scatter, mine, everything):
            one.destroy()
        return found

    def total(self, values: np.ndarray) -> np.ndarray:
        """Sum over the ranks of arrays of one shape, on every rank. They are to be small."""
        values = np.asarray(values, float)
        mine = values.size if self.first else 0
        summed = self.PETSc.Vec().createMPI((mine, values.size), comm=self.comm)
        summed.setValues(
            np.arange(values.size, dtype=self.PETSc.IntType), values.ravel(),
            addv=self.PETSc.InsertMode.ADD_VALUES,
        )  # fmt: skip
        summed.assemble()
        scatter, everything = self.PETSc.Scatter.toAll(summed)
        scatter.scatter(summed, everything)
        found = everything.array.copy().reshape(values.shape)
        for one in (scatter, summed, everything):
            one.destroy()
        return found

    # errors

    def together(self, work: Callable):
        """``work()`` of this rank; where it raises a RigidlimitError or lacks memory on any rank,
        that error is raised on the first such rank, and ``OtherRankError`` on all others."""
        error = answer = None
        try:
            answer = work()
        except (RigidlimitError, OSError, MemoryError) as found:
            error = found
        where = self.min(float(self.size if error is None else self.rank))
        if where == self.size:
            return answer
        self.agreed = True
        if where == self.rank:
            raise error
        raise OtherRankError(f"rank {where:.0f} ended with an error, which is told there")

    def refuse(self, error: RigidlimitError) -> NoReturn:
        """Raises what all ranks have found alike: ``error`` on the first one, ``OtherRankError`` on
        the others."""

        def found() -> NoReturn:
            raise error

        self.together(found)
        raise error  # which ``together`` has done

    @contextmanager
    def ending_together(self):
        """What is raised in the block by one rank alone ends the program on all: the others would
        wait for it for ever. ``together`` has told the others of what it raises."""
        try:
            yield
        except BaseException as error:
            if self.size == 1 or self.agreed:
                raise
            self._tell(error)
            sys.stderr.flush()
            os._exit(1)  # without MPI's farewell, so that mpiexec ends the others

    def _tell(self, error: BaseException) -> None:
        """One line of what a user can mend, else where it happened."""
        if isinstance(error, RigidlimitError):
            said = str(error)
        elif isinstance(error, MemoryError):
            said = f"out of memory ({error}); expected more machines, or fewer ranks on each"
        else:
            traceback.print_exc()
            return
        print(f"rigidlimit: rank {self.rank}: {said}", file=sys.stderr)

    # rows of arrays

    def slice_of(self, count: int) -> tuple[int, int]:
        """(first, last + 1) of the part of ``count`` rows that this rank reads and writes."""
        return count * self.rank // self.size, count * (self.rank + 1) // self.size

    def vector(self, rows: int, width: int, values: np.ndarray | None = None):
        """A vector of PETSc, of which this rank has ``rows`` blocks of ``width``; zero, or the
        ``values`` (rows, width)."""
        size = ((rows * width, None), width)
        if values is None:
            return self.PETSc.Vec().createMPI(*size, comm=self.comm)
        values = np.array(values, float, order="C").reshape(-1)  # kept by the vector
        return self.PETSc.Vec().createWithArray(values, *size, comm=self.comm)

    def blocks(self, width: int, index: np.ndarray):
        """The blocks of ``width`` numbered ``index`` (k,), for a scatter of PETSc."""
        index = np.ascontiguousarray(index, dtype=self.PETSc.IntType)
        return self.PETSc.IS().createBlock(width, index, comm=self.comm)

    def send(self, values: np.ndarray, to: np.ndarray, rows: int) -> np.ndarray:
        """The rows that all ranks send to this one, (rows, ...).

        values (n, ...): rows to be sent; to (n,): their numbers in the array that the parts of all
        ranks make, one after the other, of which this rank has ``rows``. Rows that nobody sends are
        zero.
        """
        values = np.asarray(values, float)
        width = math.prod(values.shape[1:])
        source, target = self.vector(len(to), width, values), self.vector(rows, width)
        begin = source.getOwnershipRange()[0] // width
        mine = self.blocks(width, begin + np.arange(len(to)))
        scatter = self.PETSc.Scatter().create(source, mine, target, self.blocks(width, to))
        scatter.scatter(source, target)
        found = target.array.copy().reshape(rows, *values.shape[1:])
        for one in (scatter, source, target):
            one.destroy()
        return found

    def fetch(self, values: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Rows ``index`` (k,) of the array whose part on this rank is values (n, ...): (k, ...)."""
        values = np.asarray(values, float)
        width = math.prod(values.shape[1:])
        rows = Rows(self, len(values), width, index)
        found = rows.of(values.reshape(-1, width)).reshape(len(index), *values.shape[1:])
        rows.destroy()
        return found

    def brought(self, values: np.ndarray, rank: int) -> np.ndarray:
        """The values (n, ...) of ``rank`` on the first one; elsewhere no rows."""
        counts = self.each(len(values)).astype(int)
        begin = int(counts[:rank].sum())
        index = np.arange(begin, begin + counts[rank]) if self.first else np.zeros(0, int)
        return self.fetch(values, index)

    def places(self, to_rank: np.ndarray) -> tuple[np.ndarray, int]:
        """(number (n,) that each row gets in the array of all ranks' parts, rows of this rank),
        for rows that go to the ranks ``to_rank`` (n,): those of lower ranks first."""
        mine = np.zeros((self.size, self.size))
        mine[self.rank] = np.bincount(to_rank, minlength=self.size)
        count = self.total(mine)
        rows = count.sum(axis=0)
        begin = np.concatenate([[0], np.cumsum(rows)[:-1]]) + count[: self.rank].sum(axis=0)
        order = np.argsort(to_rank, kind="stable")
        first = np.concatenate([[0], np.cumsum(mine[self.rank])[:-1]])
        place = np.empty(len(to_rank), np.int64)
        sorted_rank = to_rank[order]
        place[order] = begin[sorted_rank] + np.arange(len(order)) - first[sorted_rank]
        return place, int(rows[self.rank])


class Rows:
    """Rows ``index`` (k,) of arrays whose part on this rank has so many rows of ``width``, fetched
    again and again."""

    def __init__(self, ranks: Ranks, rows: int, width: int, index: np.ndarray):
        PETSc = ranks.PETSc
        self.source = ranks.vector(rows, width)
        self.target = PETSc.Vec().createSeq(len(index) * width)
        here = np.arange(len(index), dtype=PETSc.IntType)
        to = PETSc.IS().createBlock(width, here, comm=PETSc.COMM_SELF)
        wanted = ranks.blocks(width, index)
        self.scatter = PETSc.Scatter().create(self.source, wanted, self.target, to)

    def of(self, values: np.ndarray) -> np.ndarray:
        """(k, width) of the part ``values`` (rows, width)."""
        self.source.setArray(np.ascontiguousarray(values, float).ravel())
        self.scatter.scatter(self.source, self.target)
        return self.target.array.copy().reshape(-1, values.shape[1])

    def destroy(self) -> None:
        for one in (self.scatter, self.source, self.target):
            one.destroy()
