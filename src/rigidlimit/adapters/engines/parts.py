"""Names of the parts of an engine's model: geoms (shapes, links) and bodies."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._support.words import counted
from ...errors import InputError, nearest

OUTSIDE = -1
"""Number of what has no name of its kind."""

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
    def of_pairs(cls, names) -> "NamedParts":
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

    def find(self, name: str) -> tuple[str, np.ndarray]:
        """The whole name of a part, a geom before a body, and which sides belong to it (m, 2) bool.

        Raises InputError for names that no part, or several, have.
        """
        if not isinstance(name, str):
            raise InputError(f"a part is named {name!r}; expected the name of a geom or body")
        for kind in ("geom", "body"):
            found = self._numbers[kind].get(name)
            if found is not None:
                return name, self.of_kind(kind)[1] == found
        ends = {
            whole: (kind, i)
            for kind in ("geom", "body")
            for whole, i in self._numbers[kind].items()
            if whole.endswith(tuple(end + name for end in ENDS))
        }
        if len(ends) > 1:
            raise InputError(
                f"{counted(len(ends), 'part')} are called {name!r}: {', '.join(ends)}; expected "
                "the whole name of one"
            )
        for whole, (kind, i) in ends.items():
            return whole, self.of_kind(kind)[1] == i
        known = [*self._numbers["geom"], *self._numbers["body"]]
        raise InputError(f"no geom or body is called {name!r}; {nearest(name, known)}")

    @cached_property
    def _numbers(self):
        kinds = {"geom": self.geoms, "body": self.bodies}
        return {kind: {name: i for i, name in enumerate(all_)} for kind, all_ in kinds.items()}

    @property
    def pairs(self) -> "Pairs":
        """Names of both geoms of each contact."""
        return Pairs(self.geom, self.geoms)


@dataclass(frozen=True)
class Pairs(Sequence):
    """Names of both sides of m contacts, made when they are asked for: part (m, 2) int. Indices
    give those of some contacts."""

    part: np.ndarray
    names: Sequence[str]

    def __len__(self):
        return len(self.part)

    def __getitem__(self, i):
        if np.ndim(i):
            return Pairs(self.part[i], self.names)
        return self.names[int(self.part[i, 0])], self.names[int(self.part[i, 1])]
