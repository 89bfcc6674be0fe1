"""A network of contacts, or a slice of one, as arrays: what a network file holds."""

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.arrays import positive
from ..bodies.materials import MINDLIN
from ..compatibility import ContactHistory
from ..errors import InputError

if TYPE_CHECKING:
    from ..bodies import Bodies, State
    from ..collision.contacts import Contacts
    from ..pose import PoseForces
    from ..scenes.scene import Scene

HISTORY = ("normal", "tangential", "gap")
"""Arrays of a ``ContactHistory``, which files have with ``history_`` before their names."""


@dataclass(frozen=True, eq=False)
class ContactNetwork:
    """n bodies and m contacts of w degrees of freedom a body, 3 or 6.

    position (n, 3) [m]; load (n, w) [N, N m]; free (n, w) bool; body (m, 2); stiffness (m,)
    [N/m^(p-1)]; exponent p; gap (m,) [m] or None. rows: entries of B for the first and for the
    second body, (m, 2, w) of smooth contacts, (m, 2, d, w) of rough ones, whose first row is the
    normal one. Of rough contacts friction (m,), tangential_stiffness (m,), tangential_law as of
    ``compatible_forces``, and history: what they remember, None for the state without forces. arm
    (m, 2, 3) [m]: from the centres of the two bodies to the contact, for the stress; None: not
    known.
    """

    position: np.ndarray
    load: np.ndarray
    free: np.ndarray
    body: np.ndarray
    rows: np.ndarray
    stiffness: np.ndarray
    exponent: float = 2.0
    gap: np.ndarray | None = None
    friction: np.ndarray | None = None
    tangential_stiffness: np.ndarray | None = None
    history: ContactHistory | None = None
    tangential_law: str = MINDLIN
    arm: np.ndarray | None = None

    def __post_init__(self):
        rough = self.rows.ndim == 4
        given = self.friction is not None and self.tangential_stiffness is not None
        if rough != given:
            raise InputError(
                f"rows has shape {self.rows.shape}, friction and tangential_stiffness are "
                f"{'' if given else 'not both '}given; expected (m, 2, w) without, or (m, 2, d, w) "
                "with both of them"
            )

    @property
    def width(self) -> int:
        """Degrees of freedom of a body: 3 or 6."""
        return self.load.shape[1]

    @property
    def components(self) -> int:
        """Rows d of a contact: 1 of smooth ones."""
        return 1 if self.rows.ndim == 3 else self.rows.shape[2]

    @property
    def of_contacts(self) -> dict[str, np.ndarray]:
        """The arrays of contacts by their names in files, those that are given."""
        names = ("body", "rows", "stiffness", "gap", "friction", "tangential_stiffness", "arm")
        arrays = {name: getattr(self, name) for name in names}
        if self.history is not None:
            arrays |= {f"history_{name}": getattr(self.history, name) for name in HISTORY}
        return {name: values for name, values in arrays.items() if values is not None}

    def with_contacts(self, arrays: dict[str, np.ndarray], **changes: Any) -> "ContactNetwork":
        """The same with other contacts, whose arrays have the names of files (``of_contacts``), and
        other changes."""
        kept = [arrays.get(f"history_{name}") for name in HISTORY]
        own = {name: a for name, a in arrays.items() if not name.startswith("history_")}
        history = None if kept[0] is None else ContactHistory(*kept)
        return replace(self, **own, history=history, **changes)

    @classmethod
    def of_pose(cls, found: "PoseForces", exponent: float = 2.0) -> "ContactNetwork":
        """The network that ``forces_at_pose`` has solved, of smooth bodies, with its gaps.

        exponent: that of the law. A periodic cell is one whose strain is held.
        """
        from ..kinematics import gap_gradient

        if found.friction is not None:
            raise InputError(
                "the pose has friction; expected smooth bodies (friction 0), or "
                "ContactNetwork.of_scene"
            )
        bodies, contacts = found.bodies, found.contacts
        B = gap_gradient(bodies, found.state, contacts)
        rows = _blocks(B, 1, contacts)[:, :, 0]
        position, load, free = _bodies(bodies, found.state, found.load)
        w = 6 if rows[:, :, 3:].any() else 3
        return cls(
            position=position,
            load=load[:, :w],
            free=free[:, :w],
            body=contacts.body,
            rows=rows[:, :, :w],
            stiffness=found.stiffness,
            exponent=float(exponent),
            gap=contacts.gap,
            arm=_arms(contacts, found.state),
        )

    @classmethod
    def of_scene(
        cls, scene: "Scene | str | Path", *, stiffness: float | None = None,
        law: str | float | None = None, springs: object | None = None, reach: float | None = None,
    ) -> "ContactNetwork":  # fmt: skip
        """The network that ``forces_at_pose`` solves first, with or without friction; nothing is
        solved here.

        Parameters as there; springs are what rough contacts remember. reach [m]: largest gap of the
        contacts, by default a thousandth of the scene's length; those that bodies come to by
        shifting further are to be within it. A periodic cell is one whose strain is held.
        """
        from ..scenes.load import as_scene

        options = dict(stiffness=stiffness, law=law, springs=springs, reach=reach)
        network = network_of_part(as_scene(scene), **options)
        return network.narrowed(6 if network.turns else 3)

    @property
    def turns(self) -> bool:
        """Whether contacts have moments about the centres of their bodies."""
        return bool(self.rows[..., 3:].any())

    def narrowed(self, width: int) -> "ContactNetwork":
        """The same with the first ``width`` degrees of freedom of each body."""
        return replace(
            self, load=self.load[:, :width], free=self.free[:, :width], rows=self.rows[..., :width]
        )

    def write(self, path: str | PathLike) -> None:
        """Write the file, whole or not at all."""
        from .network_file import new_network

        with new_network(path, len(self.position), len(self.body), self) as file:
            file.put_bodies(0, self)
            file.put_contacts(0, self)


def network_of_part(
    scene: "Scene", *, stiffness: float | None, law: str | float | None, springs: object | None,
    reach: float | None, rough: bool | None = None,
) -> ContactNetwork:  # fmt: skip
    """``ContactNetwork.of_scene`` with all six degrees of freedom of each body. rough: of a part of
    a larger scene, which may have no contacts, whether any bodies of the whole rub."""
    from ..kinematics import gap_gradient
    from ..pose.overlaps import NEAR, spring_forces
    from ..pose.pose_contacts import PoseContacts
    from ..scenes.checks import law_exponent

    bodies = scene.bodies
    exponent = scene.exponent if law is None else law_exponent(law)
    springs = spring_forces(scene, springs, begun=True, rough=rough)
    known = dict(stiffness=stiffness, springs=springs, rough=rough)
    reach = NEAR * bodies.length if reach is None else positive("reach", reach)
    pose = PoseContacts.within(reach, scene, scene.state, exponent, **known)
    contacts, along = pose.contacts, {}
    B = gap_gradient(bodies, scene.state, contacts)
    rows = _blocks(B, 1, contacts)
    if pose.friction is not None:
        along = pose.rubbing()
        T = along.pop("tangential")
        along.pop("increments", None)
        rows = np.concatenate([rows, _blocks(T, bodies.dim - 1, contacts)], axis=2)
    external = np.where(bodies.free.ravel(), -scene.external_force(), 0.0)
    position, load, free = _bodies(bodies, scene.state, external)
    return ContactNetwork(
        position=position,
        load=load,
        free=free,
        body=contacts.body,
        rows=rows if along else rows[:, :, 0],
        stiffness=pose.stiffness,
        exponent=float(exponent),
        gap=contacts.gap,
        arm=_arms(contacts, scene.state),
        **along,
    )


def _bodies(bodies: "Bodies", state: "State", load: np.ndarray):
    """(position (n, 3), load (n, 6), free (n, 6)) without the cell, if there is one."""
    n, free = len(bodies), bodies.free.copy()
    if bodies.cell is not None:
        if free[-1].any():
            raise InputError("the periodic cell of the pose may strain; expected one that is held")
        n -= 1
    return state.position[:n], load.reshape(-1, 6)[:n], free[:n]


def _arms(contacts: "Contacts", state: "State") -> np.ndarray:
    """(m, 2, 3) from both centres to the contact point, of the image that is touched."""
    centres = state.position[contacts.body]
    if contacts.branch is not None:
        centres[:, 1] = centres[:, 0] + contacts.branch
    return contacts.point[:, None, :] - centres


def _blocks(B, d: int, contacts: "Contacts") -> np.ndarray:
    """Entries (m, 2, d, 6) for the two bodies of each contact, of rows B (m d, 6 n)."""
    m = len(contacts)
    rows, blocks = np.arange(m * d)[:, None], np.zeros((m, 2, d, 6))
    for side in range(2):
        columns = 6 * np.repeat(contacts.body[:, side], d)[:, None] + np.arange(6)
        blocks[:, side] = B[rows, columns].toarray().reshape(m, d, 6)
    return blocks
