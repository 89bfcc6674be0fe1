"""Tangential springs of a LAMMPS dump of pairs (local), read by slices.

Each rank reads a slice of the pairs and sends each to the rank that answers for its contact.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..adapters.packings.dump_slices import ATOMS, ENTRIES, SnapshotPlace, find_snapshot, read_pairs
from ..adapters.packings.lammps_local import springs_of
from ..adapters.packings.lines import named
from ..bodies import Bodies, State
from ..errors import InputError
from ..pose.springs import Springs
from .ranks import Ranks


def place_of(path: Path, frame: int, ranks: Ranks, item: str = ATOMS) -> SnapshotPlace:
    """Found by the first rank, known to all."""
    found = ranks.together(lambda: find_snapshot(path, frame, item) if ranks.first else None)
    known = np.zeros(4)
    if found is not None:
        known[:] = found.begin, found.rows, found.end, found.count
    return SnapshotPlace(*ranks.total(known).astype(np.int64).tolist())


class Numbering:
    """Numbers of balls: places of their ids among those of all ranks in their order."""

    def __init__(self, path: Path, ids: np.ndarray, ranks: Ranks):
        self.ranks = ranks
        self.low, high = int(ranks.min(ids.min())), int(ranks.max(ids.max()))
        self.slots = high - self.low + 1
        first, last = ranks.slice_of(self.slots)
        there = ranks.send(np.ones((len(ids), 1)), ids - self.low, last - first)[:, 0]
        before = int(ranks.each(there.sum())[: ranks.rank].sum())
        if ranks.sum(there.sum()) != ranks.sum(len(ids)):
            ranks.refuse(InputError(f"{path}: some ids are there twice; expected distinct ids"))
        self._place = np.where(there > 0, before + np.cumsum(there) - 1, -1.0)[:, None]

    def of(self, ids: np.ndarray) -> np.ndarray:
        """Numbers (k,) of ids; -1 where no ball has them."""
        slot = ids - self.low
        known = (slot >= 0) & (slot < self.slots)
        number = self.ranks.fetch(self._place, np.where(known, slot, 0))[:, 0]
        return np.where(known, number, -1.0).astype(np.int64)


@dataclass(frozen=True)
class Pairs:
    """Entries of a dump of pairs that a rank needs. ids, number (k, 2): of the two balls; force
    (k, 3) [N]: tangential one on the first."""

    path: Path
    ids: np.ndarray
    number: np.ndarray
    force: np.ndarray

    def springs(self, bodies: Bodies, state: State, number: np.ndarray) -> Springs:
        """Those of a part, whose bodies have these numbers (n,)."""
        with named(self.path):
            return springs_of(bodies, state, self.ids, self.force, 1.0, self._ids_of(number))

    def _ids_of(self, number: np.ndarray) -> list[int]:
        """Ids of bodies; of those without an entry -1, which is no ball's."""
        known = dict(zip(self.number.ravel().tolist(), self.ids.ravel().tolist(), strict=True))
        return [known.get(each, -1) for each in number.tolist()]


def pairs_of(
    path: Path, frame: int, factor: float, numbering: Numbering, own: np.ndarray, ranks: Ranks
) -> Pairs:
    """Entries are read by slices and go to the rank that has the ball of the lower number, as it
    answers for the contact. own (n,): numbers of the balls of this rank."""
    place = place_of(path, frame, ranks, ENTRIES)
    ids, force = ranks.together(lambda: read_pairs(path, place, ranks.rank, ranks.size))
    number = np.column_stack([numbering.of(side) for side in ids.T])
    lost = (number < 0).any(axis=1) & force.any(axis=1)

    def checked() -> None:
        if lost.any():
            first, second = ids[np.argmax(lost)]
            raise InputError(
                f"{path}: balls {first} and {second} have a tangential force, and not both are in "
                "the dump of atoms; expected the pairs of the same snapshot, and their ids"
            )

    ranks.together(checked)
    kept = (number >= 0).all(axis=1)
    table = np.hstack([ids, number, factor * force])[kept]
    count = int(ranks.sum(len(own)))
    first, last = ranks.slice_of(count)
    has = ranks.send(np.full((len(own), 1), float(ranks.rank)), own, last - first)
    lower = number[kept].min(axis=1, initial=count)
    to = ranks.fetch(has, lower)[:, 0].astype(np.int64)
    table = ranks.send(table, *ranks.places(to))
    return Pairs(path, table[:, :2].astype(int), table[:, 2:4].astype(int), table[:, 4:])
