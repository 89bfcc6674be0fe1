"""A network of smooth contacts as an HDF5 file that is read and written slice by slice.

    /bodies/position (n, 3) [m]     where a body is, to deal bodies out to ranks
    /bodies/load (n, w) [N, N m]    what the contacts must deliver, F = B^T f
    /bodies/free (n, w) bool        degrees of freedom that are not held
    /contacts/body (m, 2)           numbers of the two bodies, from 0
    /contacts/rows (m, 2, w)        entries of B for the first and for the second body
    /contacts/stiffness (m,) [N/m^(p-1)]
    /contacts/gap (m,) [m]          where bodies overlap or are apart from the start, else absent
    attributes: schema, exponent p

w is 3 where bodies do not turn (smooth balls), else 6: translations, then rotations.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.atomic import whole_file
from .._support.new_hdf5 import new_hdf5
from ..errors import InputError, OutputError

if TYPE_CHECKING:
    from ..pose import PoseForces

SCHEMA = "rigidlimit-network-1"


@dataclass(frozen=True, eq=False)
class ContactNetwork:
    """n bodies and m contacts, or a slice of them, as in the file; see the head of this module."""

    position: np.ndarray
    load: np.ndarray
    free: np.ndarray
    body: np.ndarray
    rows: np.ndarray
    stiffness: np.ndarray
    exponent: float = 2.0
    gap: np.ndarray | None = None

    @property
    def width(self) -> int:
        """Degrees of freedom of a body: 3 or 6."""
        return self.load.shape[1]

    @classmethod
    def of_pose(cls, found: "PoseForces", exponent: float = 2.0) -> "ContactNetwork":
        """The network that ``forces_at_pose`` has solved, of smooth bodies, with its gaps.

        exponent: that of the law. A periodic cell is one whose strain is held.
        """
        from ..kinematics import gap_gradient

        if found.friction is not None:
            raise InputError("the pose has friction; expected smooth bodies (friction 0)")
        bodies, contacts, n = found.bodies, found.contacts, len(found.bodies)
        B, free = gap_gradient(bodies, found.state, contacts), bodies.free.copy()
        if bodies.cell is not None:
            if free[-1].any():
                raise InputError(
                    "the periodic cell of the pose may strain; expected one that is held"
                )
            n -= 1
        rows, m = np.zeros((len(contacts), 2, 6)), np.arange(len(contacts))
        for side in range(2):
            columns = 6 * contacts.body[:, side, None] + np.arange(6)
            rows[:, side] = B[m[:, None], columns].toarray().reshape(-1, 6)
        turns = bool(rows[:, :, 3:].any())
        w = 6 if turns else 3
        load = found.load.reshape(-1, 6)[:n]
        return cls(
            position=found.state.position[:n],
            load=load[:, :w],
            free=free[:n, :w],
            body=contacts.body,
            rows=rows[:, :, :w],
            stiffness=found.stiffness,
            exponent=float(exponent),
            gap=contacts.gap,
        )

    def write(self, path: str | PathLike) -> None:
        """Write the file, whole or not at all."""
        sizes = len(self.position), len(self.body), self.width
        with new_network(path, *sizes, self.exponent, gaps=self.gap is not None) as file:
            file.put_bodies(0, self)
            file.put_contacts(0, self)


class NetworkWriter:
    """A file that is being written, slice by slice."""

    def __init__(self, file):
        self.file = file

    def put_bodies(self, at: int, part: ContactNetwork) -> None:
        """The bodies of ``part`` from number ``at`` on."""
        to = slice(at, at + len(part.position))
        for name in ("position", "load", "free"):
            self.file["bodies"][name][to] = getattr(part, name)

    def put_contacts(self, at: int, part: ContactNetwork) -> None:
        """The contacts of ``part`` from number ``at`` on; their bodies are numbered as in the
        file."""
        to = slice(at, at + len(part.body))
        for name in self.file["contacts"]:
            self.file["contacts"][name][to] = getattr(part, name)


@contextmanager
def new_network(
    path: str | PathLike, bodies: int, contacts: int, width: int, exponent: float, *, gaps: bool
) -> Iterator[NetworkWriter]:
    """A new file for so many bodies and contacts, which appears when the block has succeeded."""
    n, m, w = bodies, contacts, width
    with whole_file(path) as temporary, new_hdf5(temporary) as file:
        file.attrs["schema"], file.attrs["exponent"] = SCHEMA, float(exponent)
        of_bodies, of_contacts = file.create_group("bodies"), file.create_group("contacts")
        for name, shape, kind in (
            ("position", (n, 3), float), ("load", (n, w), float), ("free", (n, w), bool)
        ):  # fmt: skip
            of_bodies.create_dataset(name, shape, kind)
        index = np.int32 if n < 2**31 else np.int64
        for name, shape, kind in (
            ("body", (m, 2), index), ("rows", (m, 2, w), float), ("stiffness", (m,), float)
        ):  # fmt: skip
            of_contacts.create_dataset(name, shape, kind)
        if gaps:
            of_contacts.create_dataset("gap", (m,), float)
        yield NetworkWriter(file)


class NetworkFile:
    """A file that is read, with its sizes looked at: bodies n, contacts m, width w, exponent p;
    has_gaps: whether contacts have gaps."""

    def __init__(self, path: str | PathLike):
        import h5py

        self.path = Path(path)
        if not self.path.is_file():
            raise InputError(f"{path}: no such file; expected a network file (HDF5)")
        try:
            self.file = h5py.File(self.path, "r")
        except OSError as error:
            raise OutputError(f"{path}: cannot be read as HDF5: {error}") from error
        if self.file.attrs.get("schema") != SCHEMA:
            raise InputError(
                f"{path}: its schema is {self.file.attrs.get('schema')!r}; expected {SCHEMA!r}, as "
                "rigidlimit.distributed.ContactNetwork.write makes"
            )
        self.exponent = float(self.file.attrs["exponent"])
        try:
            self.bodies, self.width = self.file["bodies/load"].shape
            self.contacts = len(self.file["contacts/body"])
            self.has_gaps = "gap" in self.file["contacts"]
            self._check_shapes()
        except KeyError as error:
            raise InputError(f"{path}: {error.args[0]}; expected all arrays of {SCHEMA}") from error

    def _check_shapes(self) -> None:
        n, m, w = self.bodies, self.contacts, self.width
        if w not in (3, 6):
            raise InputError(f"{self.path}: bodies/load has {w} columns; expected 3 or 6")
        expected = {
            "bodies/position": (n, 3), "bodies/free": (n, w), "contacts/body": (m, 2),
            "contacts/rows": (m, 2, w), "contacts/stiffness": (m,),
        }  # fmt: skip
        if self.has_gaps:
            expected["contacts/gap"] = (m,)
        for name, shape in expected.items():
            if self.file[name].shape != shape:
                raise InputError(
                    f"{self.path}: {name} has shape {self.file[name].shape}; expected {shape}"
                )

    def part(self, bodies: tuple[int, int], contacts: tuple[int, int]) -> ContactNetwork:
        """Bodies and contacts from the first to before the last of two ranges, checked; contacts
        name bodies by their numbers in the file."""
        of_bodies, of_contacts = self.file["bodies"], self.file["contacts"]
        b, c = slice(*bodies), slice(*contacts)
        part = ContactNetwork(
            position=of_bodies["position"][b],
            load=of_bodies["load"][b],
            free=of_bodies["free"][b].astype(bool),
            body=of_contacts["body"][c].astype(np.int64),
            rows=of_contacts["rows"][c],
            stiffness=of_contacts["stiffness"][c],
            exponent=self.exponent,
            gap=of_contacts["gap"][c] if self.has_gaps else None,
        )
        self._check(part, bodies[0], contacts[0])
        return part

    def _check(self, part: ContactNetwork, first_body: int, first_contact: int) -> None:
        outside = ((part.body < 0) | (part.body >= self.bodies)).any(axis=1)
        self._fault(outside, first_contact, part.body, "contacts/body", f"0 to {self.bodies - 1}")
        same = part.body[:, 0] == part.body[:, 1]
        self._fault(same, first_contact, part.body, "contacts/body", "two different bodies")
        soft = ~(np.isfinite(part.stiffness) & (part.stiffness > 0.0))
        self._fault(soft, first_contact, part.stiffness, "contacts/stiffness", "a positive number")
        for name, first in (("rows", first_contact), ("gap", first_contact), ("load", first_body),
                            ("position", first_body)):  # fmt: skip
            values = getattr(part, name)
            if values is not None:
                bad = ~np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
                group = "bodies" if name in ("load", "position") else "contacts"
                self._fault(bad, first, values, f"{group}/{name}", "finite numbers")

    def _fault(self, bad: np.ndarray, first: int, values: np.ndarray, name: str, expected: str):
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            found = str(np.asarray(values[i]).tolist())
            raise InputError(f"{self.path}: {name}[{first + i}] is {found}; expected {expected}")
