"""One snapshot of a LAMMPS dump by slices of its lines: for dumps that one process cannot hold.

The head of the snapshot, with the number of a slice's lines in the place of the number of atoms, is
a dump by itself, which ``lammps_dump`` reads.
"""

from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

from ..._support.words import counted
from ...errors import InputError
from .balls import Balls
from .lammps_dump import ITEM, read_dump, snapshots
from .lines import GZIP, Text

TIMESTEP, ATOMS = (f"{ITEM} {what}".encode() for what in ("TIMESTEP", "ATOMS"))
CHUNK = 2**24
"""Bytes that are read at once to count lines."""


@dataclass(frozen=True)
class SnapshotPlace:
    """Offsets in a file [bytes]: begin of its head, atoms of the first line of atoms, end behind
    the last one; count: how many atoms the head says."""

    begin: int
    atoms: int
    end: int
    count: int


@dataclass(frozen=True)
class _Slice(Text):
    """The head of a snapshot, of ``above`` lines that end at offset ``atoms``, and lines of atoms
    from offset ``first`` on."""

    above: int
    atoms: int
    first: int

    def number(self, line: int) -> int:
        """As of ``Text``; counts the lines before, which takes as long as reading the file."""
        before, lines = self.first if line >= self.above else self.atoms, 0
        with open(self.path, "rb") as file:
            while file.tell() < before:
                lines += file.read(min(CHUNK, before - file.tell())).count(b"\n")
        return lines + line - self.above + 1


def find_snapshot(path: str | Path, frame: int) -> SnapshotPlace:
    """Where snapshot ``frame`` of a dump is (-1: the last), without reading its atoms."""
    try:
        with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            begin, atoms, end = _offsets(path, data, frame)
            head = Text(Path(path), data[begin:atoms].decode().splitlines())
    except (OSError, ValueError) as error:  # an empty file cannot be mapped; binary is no text
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read as a dump: {reason}") from error
    snapshot = next(snapshots(head))
    if snapshot.atoms < 0 or snapshot.count <= 0:
        raise InputError(f"{path}: the snapshot has no atoms; expected some")
    return SnapshotPlace(begin, atoms, end, snapshot.count)


def _offsets(path, data, frame: int) -> tuple[int, int, int]:
    if data[: len(GZIP)] == GZIP:
        raise InputError(f"{path}: is compressed, and cannot be read by slices; unpack it first")
    begin, found = (len(data), 0) if frame < 0 else (-1, 0)
    for _ in range(-frame if frame < 0 else frame + 1):
        begin = data.rfind(TIMESTEP, 0, begin) if frame < 0 else data.find(TIMESTEP, begin + 1)
        if begin < 0:
            raise InputError(
                f"{path}: has {counted(found, 'snapshot')}; snapshot {frame} is not there"
            )
        found += 1
    item = data.find(ATOMS, begin)
    atoms = data.find(b"\n", item) + 1
    if item < 0 or atoms == 0:
        raise InputError(f"{path}: a snapshot without {ATOMS.decode()}; expected a dump of atoms")
    end = data.find(b"\n" + ITEM.encode(), atoms) + 1
    return begin, atoms, end or len(data)


def read_slice(path: str | Path, place: SnapshotPlace, part: int, parts: int) -> Balls:
    """The balls of slice ``part`` of ``parts`` of a snapshot, as of ``read_dump``."""
    with open(path, "rb") as file:

        def line_from(share: int) -> int:
            """Offset of the first line that begins in this share or after it."""
            at = place.atoms + (place.end - place.atoms) * share // parts
            if share in (0, parts):
                return at
            file.seek(at - 1)
            file.readline()
            return file.tell()

        first, last = line_from(part), line_from(part + 1)
        file.seek(place.begin)
        head = file.read(place.atoms - place.begin).decode().splitlines()
        if place.begin > 0:  # units stand before the first snapshot alone
            file.seek(0)
            begin = [file.readline().decode().rstrip() for _ in range(2)]
            head = begin * (begin[0] == f"{ITEM} UNITS") + head
        file.seek(first)
        lines = file.read(last - first).decode().splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InputError(
            f"{path}: slice {part} of {parts} has no line of the {counted(place.count, 'atom')}; "
            "expected fewer ranks than atoms"
        )
    head[head.index(f"{ITEM} NUMBER OF ATOMS") + 1] = str(len(lines))
    return read_dump(_Slice(Path(path), head + lines, len(head), place.atoms, first), -1)
