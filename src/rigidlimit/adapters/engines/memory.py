"""What contacts remember from one state of a motion to the next: the springs of Coulomb's law.

Contacts of two states are the same where they are between the same two parts and each is the
nearest to the other there. What a contact remembers is its normal force, from which the elastic
overlap follows, and its friction force, which is turned with the contact's plane.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._support import arrays
from ..._support.display import Brief
from ...compatibility.rough_result import ContactHistory
from ...errors import InputError
from .geometry import Places
from .matching import remembered

if TYPE_CHECKING:
    from .contacts import EngineContacts
    from .result import MendedForces


@dataclass(frozen=True, repr=False)
class ContactSprings(Brief):
    """Springs of the m contacts of one state: ``MendedForces.springs``.

    Attributes
    ----------
    part : (m, 2) int ndarray
        Numbers of both parts of each contact.
    point : (m, 3) ndarray [m]
    normal : (m, 3) ndarray
        From the first part to the second.
    normal_force : (m,) ndarray [N]
        What overlaps press with, below zero where a contact is open by an elastic displacement.
    tangential : (m, 3) ndarray [N]
        Friction forces on the second part in world axes.

    Examples
    --------
    >>> import mujoco
    >>> from rigidlimit.adapters import Mender
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
    ...   <geom type="plane" size="5 5 .1"/>
    ...   <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    ... </worldbody></mujoco>''')
    >>> data, mender = mujoco.MjData(model), Mender(model)
    >>> for _ in range(200):
    ...     mujoco.mj_step(model, data)
    >>> springs = mender.mend(data).springs
    >>> len(springs), springs.normal_force.round(1)
    (4, array([2.5, 2.5, 2.5, 2.5]))
    """

    part: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    normal_force: np.ndarray
    tangential: np.ndarray

    def __len__(self) -> int:
        return len(self.part)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """As they are above, for compiled code."""
        return (
            np.ascontiguousarray(self.part, np.int64),
            *(
                np.ascontiguousarray(values, float)
                for values in (self.point, self.normal, self.normal_force, self.tangential)
            ),
        )

    def at(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """(normal force (m,), friction force along the tangents (m, 2)) of the contacts of another
        state; zeros for those that are new.

        Parameters
        ----------
        places : Places
            Of these contacts.

        Raises
        ------
        InputError
            Without the tangents.
        """
        frames = np.ascontiguousarray(places.frames, float).reshape(-1, 9)
        found = remembered(self.arrays, _parts(places), _middles(places), frames)
        return found[:, 0], found[:, 1:]


def springs_of(mended: "MendedForces") -> ContactSprings | None:
    """What the contacts of ``MendedForces`` remember; None without friction forces that were found
    with normal ones."""
    answer, places = mended.answer, mended.places
    if not mended.joint or places is None or places.tangents is None:
        return None
    rows = mended.solved
    kept = mended.kept[mended.row]
    normal = mended.pressing[mended.row]
    if answer.history is not None:
        normal = np.where(kept, normal, answer.history.normal)
    along = mended.tangential[mended.row][:, :2]
    return (
        ContactSprings(
            part=_parts(places),
            point=_middles(places),
            normal=np.asarray(places.normal, float),
            normal_force=normal,
            tangential=np.einsum("ij,ijk->ik", along, np.asarray(places.tangents, float)),
        )
        if len(rows)
        else _none()
    )


def history_of(contacts: "EngineContacts") -> ContactHistory | None:
    """Of all rows of settled contacts, friction forces as ``joint`` has them; None where contacts
    begin without forces."""
    springs = contacts.springs
    if springs is None:
        return None
    if contacts.places is None or contacts.places.tangents is None:
        raise InputError(
            "springs are given; expected places= with points, normals and tangents too"
        )
    normal, along = springs.at(contacts.places)
    weight = contacts.coefficients[1]
    along = np.divide(along, weight, out=np.zeros_like(along), where=weight > 0.0)
    return ContactHistory(normal, along)


def checked_springs(springs: Any) -> ContactSprings | None:
    """Raises InputError for what are no springs."""
    if springs is None or isinstance(springs, ContactSprings):
        return springs
    raise InputError(
        f"springs is {arrays.short(springs)}; expected MendedForces.springs of an earlier state"
    )


def _parts(places):
    return np.asarray(places.named_parts.geom, np.int64).reshape(-1, 2)


def _middles(places):
    return np.ascontiguousarray(places.sides.mean(axis=1))


def _none():
    none = np.zeros((0, 3))
    return ContactSprings(np.zeros((0, 2), np.int64), none, none, np.zeros(0), none)
