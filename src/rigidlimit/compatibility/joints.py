"""Resultants of contact forces from body to body: what passes a joint of masonry, and where."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._support.display import Brief
from ..collision.contacts import Contacts
from ..errors import InputError
from ..kinematics import in_world

NOTHING = 1e-9
"""Resultant of a joint, over the largest, below which it counts as unloaded."""


@dataclass(frozen=True, repr=False)
class Joints(Brief):
    """What passes from body to body: j pairs of bodies that touch, or faces of such pairs.

    body (j, 2): the two; force (j, 3) [N]: resultant on the second; point (j, 3) [m]: where it
    passes, the centre of pressure; normal (j, 3): mean normal; mobilised (j,): tangential over mu
    times normal resultant, 1 where the joint is about to slide, nan where it carries nothing.
    contact (m,): joint of each contact.
    """

    body: np.ndarray
    force: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    mobilised: np.ndarray
    contact: np.ndarray


def joints_of(contacts: Contacts, friction: np.ndarray, force: ArrayLike, d: int) -> Joints:
    """Resultants of forces (m, d) [N], normal first; friction (m,): mu. Contacts of one pair of
    bodies with one normal are a joint. Raises InputError for a wrong shape."""
    force = np.asarray(force, float)
    m = len(contacts)
    if force.shape != (m, d):
        raise InputError(f"force has shape {force.shape}; expected ({m}, {d}), normal first")
    label = _faces(contacts)
    count = int(label.max(initial=-1)) + 1
    first = np.zeros(count, int)
    first[label[::-1]] = np.arange(m)[::-1]
    vectors = force[:, :1] * contacts.normal + in_world(contacts, force[:, 1:])
    total, normal, point = np.zeros((count, 3)), np.zeros(count), np.zeros((count, 3))
    np.add.at(total, label, vectors)
    np.add.at(normal, label, force[:, 0])
    np.add.at(point, label, force[:, :1] * contacts.point)
    carries = normal > NOTHING * max(normal.max(initial=0.0), 1e-300)
    point = np.where(carries[:, None], point / np.where(carries, normal, 1.0)[:, None], np.nan)
    way = contacts.normal[first]
    along = np.linalg.norm(total - normal[:, None] * way, axis=1)
    bound = friction[first] * normal
    used = np.divide(along, bound, out=np.full(count, np.inf), where=carries & (bound > 0.0))
    used = np.where(carries, np.where((bound > 0.0), used, 0.0), np.nan)
    return Joints(contacts.body[first], total, point, way, used, label)


def _faces(contacts: Contacts) -> np.ndarray:
    """Joint of each contact (m,): contacts of one pair of bodies with one normal."""
    key = np.column_stack([contacts.body, np.round(contacts.normal, 6)])
    _, label = np.unique(key, axis=0, return_inverse=True)
    return label.ravel()
