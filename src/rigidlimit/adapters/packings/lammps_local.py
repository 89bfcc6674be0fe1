"""Tangential forces of contacts from a LAMMPS dump of pairs: https://docs.lammps.org/dump.html.

    compute pairs all property/local patom1 patom2
    compute rub all pair/local p1 p2 p3
    dump rub all local 1 rest.local c_pairs[1] c_pairs[2] c_rub[1] c_rub[2] c_rub[3]

Pair styles granular and gran/... give as p1 p2 p3 the tangential force on the first atom of a pair.
"""

import numpy as np

from ..._support.words import counted
from ...bodies import Bodies, State
from ...collision.search import find_contacts
from ...errors import InputError
from ...pose.springs import Springs
from .lines import Text

WORDS = 5
"""Two ids and three components."""


def read_local(text: Text, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """(ids (k, 2), tangential force (k, 3) on the first of each) of snapshot ``frame``."""
    expected = "two columns of ids, then three of the tangential force on the first atom"
    table = local_table(text, frame, WORDS, expected)
    return table[:, :2].astype(int), table[:, 2:]


def local_table(text: Text, frame: int, width: int | None = None, expected: str = "") -> np.ndarray:
    """Numbers (k, columns) of a local dump, without "index". width: columns there are to be;
    expected: what they are, for the error."""
    heads = [k for k, line in enumerate(text.lines) if line.startswith("ITEM: ENTRIES")]
    counts = [k for k, line in enumerate(text.lines) if line.startswith("ITEM: NUMBER OF ENTRIES")]
    if not heads or len(heads) != len(counts):
        raise InputError(f"{text.path}: no ITEM: ENTRIES; expected a LAMMPS dump of pairs (local)")
    try:
        head, count = heads[frame], counts[frame]
    except IndexError:
        raise InputError(
            f"{text.path}: has {counted(len(heads), 'snapshot')}; snapshot {frame} is not there"
        ) from None
    names = text.lines[head].split()[2:]
    keep = [k for k, name in enumerate(names) if name != "index"]
    if width is not None and len(keep) != width:
        raise text.wrong(head, expected)
    rows = text.numbers(count + 1, 1, "the number of entries", int)[0]
    return text.table(head + 1, rows, names, keep=keep)


def springs_of(
    bodies: Bodies, state: State, ids: np.ndarray, force: np.ndarray, factor: float
) -> Springs:
    """The springs of the contacts of a pose. ids (k, 2): names of bodies; factor: N of their unit.

    Raises InputError for pairs that do not touch and have a force.
    """
    contacts = find_contacts(bodies, state, 0.0)
    number = {name: k for k, name in enumerate(bodies.names)}
    row = {tuple(pair): k for k, pair in enumerate(contacts.body.tolist())}
    tangential = np.zeros((len(contacts), 3))
    for (first, second), vector in zip(ids.tolist(), force, strict=True):
        a, b = number.get(str(first), -1), number.get(str(second), -1)
        at = row.get((min(a, b), max(a, b)))
        if at is None:
            if vector.any():
                raise InputError(
                    f"balls {first} and {second} have a tangential force and do not touch; "
                    "expected the pairs of the same snapshot, and their ids"
                )
            continue
        tangential[at] += factor * (vector if a > b else -vector)
    return Springs(contacts, tangential, tuple(bodies.names))
