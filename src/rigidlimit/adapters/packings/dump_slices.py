"""One snapshot of a LAMMPS dump by slices of its lines: for dumps that one process cannot hold.

The head of the snapshot, with the number of a slice's lines in the place of the number of atoms or
pairs, is a dump by itself, which ``lammps_dump`` and ``lammps_local`` read.
"""

from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from .balls import Balls
from .lammps_dump import ITEM, read_dump
from .lammps_local import read_local
from .lines import GZIP, Text

TIMESTEP = f"{ITEM} TIMESTEP".encode()
ATOMS, ENTRIES = "ATOMS", "ENTRIES"
"""Items of dumps of atoms, and of pairs (local)."""

CHUNK = 2**24
"""Bytes that are read at once to count lines."""


@dataclass(frozen=True)
class SnapshotPlace:
    """Offsets in a file [bytes]: begin of its head, rows of the first line of atoms or pairs, end
    behind the last one; count: how many the head says."""

    begin: int
    rows: int
    end: int
    count: int


@dataclass(frozen=True)
class _Slice(Text):
    """The head of a snapshot, of ``above`` lines that end at offset ``rows``, and lines of atoms or
    pairs from offset ``first`` on."""

    above: int
    rows: int
    first: int

    def number(self, line: int) -> int:
        """As of ``Text``; counts the lines before, which takes as long as reading the file."""
        before, lines = self.first if line >= self.above else self.rows, 0
        with open(self.path, "rb") as file:
            while file.tell() < before:
                lines += file.read(min(CHUNK, before - file.tell())).count(b"\n")
        return lines + line - self.above + 1


def find_snapshot(path: str | Path, frame: int, item: str = ATOMS) -> SnapshotPlace:
    """Where snapshot ``frame`` of a dump is (-1: the last), without reading its atoms or pairs."""
    try:
        with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            begin, rows, end = _offsets(path, data, frame, item)
            head = Text(Path(path), data[begin:rows].decode().splitlines())
    except (OSError, ValueError) as error:  # an empty file cannot be mapped; binary is no text
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read as a dump: {reason}") from error
    number = f"{ITEM} NUMBER OF {item}"
    if number not in head.lines:
        raise InputError(f"{path}: a snapshot without {number}; expected a dump")
    count = head.numbers(head.lines.index(number) + 1, 1, "a number", int)[0]
    if count <= 0 and item == ATOMS:
        raise InputError(f"{path}: the snapshot has no atoms; expected some")
    return SnapshotPlace(begin, rows, end, count)


def _offsets(path, data, frame: int, item: str) -> tuple[int, int, int]:
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
    head = data.find(f"{ITEM} {item}".encode(), begin)
    rows = data.find(b"\n", head) + 1
    if head < 0 or rows == 0:
        what = "atoms" if item == ATOMS else "pairs (local)"
        raise InputError(f"{path}: a snapshot without {ITEM} {item}; expected a dump of {what}")
    end = data.find(b"\n" + ITEM.encode(), rows - 1) + 1
    return begin, rows, end or len(data)


def read_slice(path: str | Path, place: SnapshotPlace, part: int, parts: int) -> Balls:
    """The balls of slice ``part`` of ``parts`` of a snapshot, as of ``read_dump``."""
    text = _slice(path, place, part, parts, ATOMS)
    if len(text.lines) == text.above:
        raise InputError(
            f"{path}: slice {part} of {parts} has no line of the {counted(place.count, 'atom')}; "
            "expected fewer ranks than atoms"
        )
    return read_dump(text, -1)


def read_pairs(
    path: str | Path, place: SnapshotPlace, part: int, parts: int
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of a slice, as of ``read_local``."""
    return read_local(_slice(path, place, part, parts, ENTRIES), -1)


def _slice(path: str | Path, place: SnapshotPlace, part: int, parts: int, item: str) -> _Slice:
    with open(path, "rb") as file:

        def line_from(share: int) -> int:
            """Offset of the first line that begins in this share or after it."""
            at = place.rows + (place.end - place.rows) * share // parts
            if share in (0, parts):
                return at
            file.seek(at - 1)
            file.readline()
            return file.tell()

        first, last = line_from(part), line_from(part + 1)
        file.seek(place.begin)
        head = file.read(place.rows - place.begin).decode().splitlines()
        if place.begin > 0:  # units stand before the first snapshot alone
            file.seek(0)
            begin = [file.readline().decode().rstrip() for _ in range(2)]
            head = begin * (begin[0] == f"{ITEM} UNITS") + head
        file.seek(first)
        lines = file.read(last - first).decode().splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    head[head.index(f"{ITEM} NUMBER OF {item}") + 1] = str(len(lines))
    return _Slice(Path(path), head + lines, len(head), place.rows, first)
