"""A network of contacts as an HDF5 file that is read and written slice by slice.

    /bodies/position (n, 3) [m]     where a body is, to deal bodies out to ranks
    /bodies/load (n, w) [N, N m]    what the contacts must deliver, F = B^T f
    /bodies/free (n, w) bool        degrees of freedom that are not held
    /contacts/body (m, 2)           numbers of the two bodies, from 0
    /contacts/rows (m, 2, w)        entries of B for the first and for the second body; of rough
                                    contacts (m, 2, d, w), normal first
    /contacts/stiffness (m,) [N/m^(p-1)]
    /contacts/gap (m,) [m]          where bodies overlap or are apart from the start, else absent
    /contacts/friction (m,), /contacts/tangential_stiffness (m,) [N/m^(p-1)]    of rough contacts
    /contacts/history_normal (m,) [N], /contacts/history_tangential (m, d-1) [N],
    /contacts/history_gap (m,) [m]  what rough contacts remember, if they do
    /contacts/arm (m, 2, 3) [m]     from the centres of the two bodies to the contact; may be absent
    attributes: schema, exponent p, tangential_law of rough contacts

w is 3 where bodies do not turn (smooth balls), else 6: translations, then rotations.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from .._support.atomic import whole_file
from .._support.new_hdf5 import new_hdf5
from ..bodies.materials import MINDLIN, TANGENTIAL_LAWS
from ..compatibility import ContactHistory
from ..errors import InputError, OutputError
from .network import HISTORY, ContactNetwork

SCHEMA = "rigidlimit-network-1"


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
        for name, values in part.of_contacts.items():
            self.file["contacts"][name][to] = values


@contextmanager
def new_network(
    path: str | PathLike, bodies: int, contacts: int, like: ContactNetwork
) -> Iterator[NetworkWriter]:
    """A new file for so many bodies and contacts, which appears when the block has succeeded. like:
    a part of the network, with the arrays that it has."""
    n, m, w = bodies, contacts, like.width
    with whole_file(path) as temporary, new_hdf5(temporary) as file:
        file.attrs["schema"], file.attrs["exponent"] = SCHEMA, float(like.exponent)
        if like.friction is not None:
            file.attrs["tangential_law"] = like.tangential_law
        of_bodies, of_contacts = file.create_group("bodies"), file.create_group("contacts")
        for name, shape, kind in (
            ("position", (n, 3), float), ("load", (n, w), float), ("free", (n, w), bool)
        ):  # fmt: skip
            of_bodies.create_dataset(name, shape, kind)
        index = np.int32 if n < 2**31 else np.int64
        for name, values in like.of_contacts.items():
            kind = index if name == "body" else float
            of_contacts.create_dataset(name, (m, *values.shape[1:]), kind)
        yield NetworkWriter(file)


def holds_network(path: str | PathLike) -> bool:
    """Whether there is a network file at the path."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return file.attrs.get("schema") == SCHEMA
    except OSError:
        return False


class NetworkFile:
    """A file that is read, with its sizes looked at: bodies n, contacts m, width w, components d (1
    of smooth contacts), exponent p; arrays: names of those of contacts."""

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
        self.exponent = self._exponent()
        self.tangential_law = self.file.attrs.get("tangential_law", MINDLIN)
        if self.tangential_law not in TANGENTIAL_LAWS:
            raise InputError(
                f"{path}: its tangential_law is {self.tangential_law!r}; expected "
                f"{' or '.join(TANGENTIAL_LAWS)}"
            )
        try:
            self.arrays = frozenset(self.file["contacts"])
            self._check_kinds()
            self.bodies, self.width = self.file["bodies/load"].shape
            self.contacts = len(self.file["contacts/body"])
            self.rough = "friction" in self.arrays
            rows = self.file["contacts/rows"]
            self.components = rows.shape[2] if self.rough and rows.ndim == 4 else 1
            self._check_shapes()
        except KeyError as error:
            raise InputError(f"{path}: {error.args[0]}; expected all arrays of {SCHEMA}") from error

    @property
    def has_gaps(self) -> bool:
        return "gap" in self.arrays

    @property
    def has_history(self) -> bool:
        return "history_normal" in self.arrays

    def _check_shapes(self) -> None:
        n, m, w = self.bodies, self.contacts, self.width
        if w not in (3, 6):
            raise InputError(f"{self.path}: bodies/load has {w} columns; expected 3 or 6")
        d = self.components
        expected = {
            "bodies/position": (n, 3), "bodies/free": (n, w), "contacts/body": (m, 2),
            "contacts/rows": (m, 2, d, w) if self.rough else (m, 2, w),
            "contacts/stiffness": (m,),
        }  # fmt: skip
        if self.rough:
            if d not in (2, 3):
                shape = self.file["contacts/rows"].shape
                raise InputError(
                    f"{self.path}: contacts/rows has shape {shape}; expected ({m}, 2, d, {w}), d = "
                    "2 or 3, with contacts/friction"
                )
            expected["contacts/friction"] = expected["contacts/tangential_stiffness"] = (m,)
            if self.has_history:
                expected["contacts/history_normal"] = (m,)
                expected["contacts/history_tangential"] = (m, d - 1)
        if "arm" in self.arrays:
            expected["contacts/arm"] = (m, 2, 3)
        for name in ("gap", "history_gap"):
            if name in self.arrays:
                expected[f"contacts/{name}"] = (m,)
        for name, shape in expected.items():
            if self.file[name].shape != shape:
                raise InputError(
                    f"{self.path}: {name} has shape {self.file[name].shape}; expected {shape}"
                )

    def _exponent(self) -> float:
        found = self.file.attrs.get("exponent")
        if not np.issubdtype(np.asarray(found).dtype, np.number) or not np.isfinite(found):
            raise InputError(f"{self.path}: its exponent is {found}; expected a finite number")
        return float(found)

    def _check_kinds(self) -> None:
        """Raises InputError for what is no array of numbers; bodies are whole ones."""
        names = [f"contacts/{name}" for name in self.arrays]
        for name in ["bodies/position", "bodies/load", "bodies/free", *names]:
            found, wanted = self.file[name], "iu" if name == "contacts/body" else "iufb"
            if getattr(found, "dtype", np.dtype("O")).kind not in wanted:
                what = "whole numbers" if wanted == "iu" else "numbers"
                raise InputError(f"{self.path}: {name} is no array of {what}, which is expected")
        if self.file["bodies/load"].ndim != 2:
            shape = self.file["bodies/load"].shape
            raise InputError(f"{self.path}: bodies/load has shape {shape}; expected (n, w)")
        if "history_tangential" in self.arrays and "history_normal" not in self.arrays:
            raise InputError(
                f"{self.path}: it has contacts/history_tangential, but no contacts/history_normal; "
                "expected both or none"
            )

    def part(self, bodies: tuple[int, int], contacts: tuple[int, int]) -> ContactNetwork:
        """Bodies and contacts from the first to before the last of two ranges, checked; contacts
        name bodies by their numbers in the file."""
        b, c = slice(*bodies), slice(*contacts)
        of_bodies = self.file["bodies"]

        def read(name: str) -> np.ndarray | None:
            return self.file["contacts"][name][c] if name in self.arrays else None

        history = None
        if self.rough and self.has_history:
            history = ContactHistory(*(read(f"history_{name}") for name in HISTORY))
        part = ContactNetwork(
            position=of_bodies["position"][b],
            load=of_bodies["load"][b],
            free=of_bodies["free"][b],
            body=read("body").astype(np.int64),
            rows=read("rows"),
            stiffness=read("stiffness"),
            exponent=self.exponent,
            gap=read("gap"),
            friction=read("friction"),
            tangential_stiffness=read("tangential_stiffness"),
            history=history,
            tangential_law=self.tangential_law,
            arm=read("arm"),
        )
        self._check(part, bodies[0], contacts[0])
        return replace(part, free=part.free.astype(bool))

    def _check(self, part: ContactNetwork, first_body: int, first_contact: int) -> None:
        outside = ((part.body < 0) | (part.body >= self.bodies)).any(axis=1)
        self._fault(outside, first_contact, part.body, "contacts/body", f"0 to {self.bodies - 1}")
        same = part.body[:, 0] == part.body[:, 1]
        self._fault(same, first_contact, part.body, "contacts/body", "two different bodies")
        for name in ("stiffness", "tangential_stiffness"):
            values = getattr(part, name)
            if values is not None:
                soft = ~(np.isfinite(values) & (values > 0.0))
                self._fault(soft, first_contact, values, f"contacts/{name}", "a positive number")
        if part.friction is not None:
            wrong = ~(np.isfinite(part.friction) & (part.friction >= 0.0))
            self._fault(wrong, first_contact, part.friction, "contacts/friction", "mu >= 0")
        for name, values in part.of_contacts.items():
            if name != "body":
                self._not_finite(values, first_contact, f"contacts/{name}")
        for name in ("load", "position", "free"):
            self._not_finite(getattr(part, name), first_body, f"bodies/{name}")

    def _not_finite(self, values: np.ndarray, first: int, name: str) -> None:
        bad = ~np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
        self._fault(bad, first, values, name, "finite numbers")

    def _fault(self, bad: np.ndarray, first: int, values: np.ndarray, name: str, expected: str):
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            found = str(np.asarray(values[i]).tolist())
            raise InputError(f"{self.path}: {name}[{first + i}] is {found}; expected {expected}")
