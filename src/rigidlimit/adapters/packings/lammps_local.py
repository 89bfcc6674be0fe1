"""Tangential forces of contacts from a LAMMPS dump of pairs: https://docs.lammps.org/dump.html.

    compute pairs all property/local patom1 patom2
    compute rub all pair/local p1 p2 p3
    dump rub all local 1 rest.local c_pairs[1] c_pairs[2] c_rub[1] c_rub[2] c_rub[3]

Pair styles granular and gran/... give as p1 p2 p3 the tangential force on the first atom of a pair.
"""

from collections import defaultdict
from collections.abc import Sequence

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
    bodies: Bodies, state: State, ids: np.ndarray, force: np.ndarray, factor: float,
    id_of: Sequence[int | str] | None = None,
) -> Springs:  # fmt: skip
    """The springs of the contacts of a pose.

    ids (k, 2): of the two balls; force (k, 3) on the first; factor: N of their unit. id_of: the id
    of each body, which periodic images of a ball share; None: their names are their ids.

    Pairs of two held balls, between which no contact is looked for, are left out. Raises InputError
    for others that do not touch and have a force.
    """
    contacts = find_contacts(bodies, state, 0.0)
    label = [str(each) for each in (bodies.names if id_of is None else id_of)]
    rows = defaultdict(list)
    for k, (a, b) in enumerate(contacts.body.tolist()):
        rows[label[a], label[b]].append((k, 1.0))  # of a force on the second
        rows[label[b], label[a]].append((k, -1.0))
    held = {one for one, free in zip(label, bodies.free.any(axis=1), strict=True) if not free}
    tangential = np.zeros((len(contacts), 3))
    for (first, second), vector in zip(ids.tolist(), force, strict=True):
        pair = str(second), str(first)
        there = rows.get(pair, ())
        if not there and vector.any() and not held.issuperset(pair):
            raise InputError(
                f"balls {first} and {second} have a tangential force and do not touch; "
                "expected the pairs of the same snapshot, and their ids"
            )
        for row, sign in there:
            tangential[row] += sign * factor * vector
    return Springs(contacts, tangential, tuple(bodies.names))
