"""Names of the parts of an engine's model: geoms (shapes, links) and bodies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._support.words import counted
from ...errors import InputError, nearest

OUTSIDE = -1
"""Number of what has no name of its kind, or belongs to no system that moves freely."""

ENDS = ("/", "::", " ")
"""What the last word of a long name follows."""


@dataclass(frozen=True)
class NamedParts:
    """Parts that take part in m contacts, among all of a model.

    geom, body (m, 2) int: of both sides, or OUTSIDE; geoms, bodies: all names of the model.
    """

    geom: np.ndarray
    body: np.ndarray
    geoms: Sequence[str]
    bodies: Sequence[str]

    @classmethod
    def of_pairs(cls, names: Sequence[tuple[str, str]]) -> "NamedParts":
        """Of the names of both sides of each contact alone."""
        every = sorted({name for pair in names for name in pair})
        place = {name: i for i, name in enumerate(every)}
        geom = np.array([[place[name] for name in pair] for pair in names], int).reshape(-1, 2)
        return cls(geom, np.full_like(geom, OUTSIDE), every, ())

    def __getitem__(self, rows) -> "NamedParts":
        return NamedParts(self.geom[rows], self.body[rows], self.geoms, self.bodies)

    def of_kind(self, kind: str) -> tuple[Sequence[str], np.ndarray]:
        """(all names, numbers (m, 2)) of the kind "geom" or "body"."""
        return (self.geoms, self.geom) if kind == "geom" else (self.bodies, self.body)

    def place(self, name: str) -> tuple[str, int, str]:
        """(kind, number, whole name) of a part, a geom before a body.

        Raises InputError for names that no part, or several, have.
        """
        if not isinstance(name, str):
            raise InputError(f"a part is named {name!r}; expected the name of a geom or body")
        for fits in (name.__eq__, lambda whole: whole.endswith(tuple(end + name for end in ENDS))):
            for kind in ("geom", "body"):
                names, _ = self.of_kind(kind)
                found = [i for i, whole in enumerate(names) if fits(whole)]
                if len(found) == 1:
                    return kind, found[0], names[found[0]]
                if found:
                    called = ", ".join(names[i] for i in found)
                    raise InputError(
                        f"{counted(len(found), 'part')} are called {name!r}: {called}; expected "
                        "the whole name of one, that no other has"
                    )
        known = [*self.geoms, *self.bodies]
        raise InputError(f"no geom or body is called {name!r}; {nearest(name, known)}")

    def find(self, name: str) -> tuple[str, np.ndarray]:
        """The whole name of a part, and which sides belong to it (m, 2) bool; as ``place``."""
        kind, number, whole = self.place(name)
        return whole, self.sides((kind, number))

    def sides(self, part: tuple[str, int], by: tuple[str, int] | None = None) -> np.ndarray:
        """Which sides belong to a part (kind, number), (m, 2) bool; those against ``by`` alone."""
        kind, number = part
        mine = self.of_kind(kind)[1] == number
        return mine if by is None else mine & self.sides(by)[:, ::-1]

    @property
    def pairs(self) -> "Pairs":
        """Names of both geoms of each contact."""
        return Pairs(self.geom, self.geoms)


@dataclass(frozen=True)
class Pairs(Sequence):
    """Names of both sides of m contacts, made at access: part (m, 2) int. Indices
    give those of some contacts."""

    part: np.ndarray
    names: Sequence[str]

    def __len__(self):
        return len(self.part)

    def __getitem__(self, i):
        if np.ndim(i):
            return Pairs(self.part[i], self.names)
        return self.names[int(self.part[i, 0])], self.names[int(self.part[i, 1])]
