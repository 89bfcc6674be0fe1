"""Net contact force and torque on a named part of an engine's model, as a sensor there has it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.display import Brief
from ...errors import InputError

if TYPE_CHECKING:
    from .result import MendedForces


CANCELS = 1e-9
"""Part of all normal forces of a part up to which their sum is rounding."""


@dataclass(frozen=True, repr=False)
class NetForce(Brief):
    """What all contacts of a part push on it, in world axes.

    Attributes
    ----------
    name : of the part; contacts (k,) int: its contacts, places in the engine's list.
    force (3,) [N]; torque (3,) [N m] about ``point`` (3,) [m].
    normal_force [N] : the sum of its normal forces.
    engine_force, engine_torque : the same of the engine's forces.
    """

    name: str
    contacts: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    point: np.ndarray
    normal_force: float
    engine_force: np.ndarray
    engine_torque: np.ndarray


def of_part(mended: "MendedForces", name: str, by: str | None, about: ArrayLike | None) -> NetForce:
    """On the geom or body ``name`` of ``MendedForces``; see ``MendedForces.on``."""
    parts = _parts(mended)
    whole, sides = parts.find(name)
    if by is not None:
        _, partner = parts.find(by)
        sides = sides & partner[:, ::-1]
    return _net(mended, whole, sides, about)


def net_forces(mended: "MendedForces", kind: str) -> dict[str, NetForce]:
    """On all geoms or bodies, ``kind``, that have contacts; a name that several have comes with
    the number of each, "foot (3)"."""
    known, number = _parts(mended).of_kind(kind)
    found, touching = {}, np.unique(number[number >= 0]).tolist()
    names = [known[i] for i in touching]
    for i, name in zip(touching, names, strict=True):
        whole = name if names.count(name) == 1 else f"{name} ({i})"
        found[whole] = _net(mended, whole, number == i, None)
    return found


def _parts(mended):
    places = mended.contacts.places
    if places is None:
        raise InputError("net forces need places=: contact points, normals and names")
    return places.named_parts


def _net(mended, name, sides, about) -> NetForce:
    """sides (m, 2) bool: sides of the rows that belong to the part."""
    contacts, places = mended.contacts, mended.contacts.places
    row, side = np.nonzero(sides)
    sign = np.where(side == 1, 1.0, -1.0)[:, None]
    point = places.sides[row, side]
    weight = mended.force[contacts.row[row]]
    if about is None:
        about = _centroid(point, weight)
    about = arrays.point("about", about)
    sums = []
    for force, tangential in (
        (mended.force, mended.tangential),
        (mended.engine_force, mended.engine_tangential),
    ):
        normal, rubs = force[contacts.row], tangential[contacts.row]
        push = sign * places.vectors(normal, rubs)[row]
        turn = np.cross(point - about, push) + sign * places.moments(rubs)[row]
        sums += [push.sum(axis=0), turn.sum(axis=0)]
    force, torque, engine_force, engine_torque = sums
    own = contacts.row[np.unique(row)]
    return NetForce(
        name, own, force, torque, about, float(weight.sum()), engine_force, engine_torque
    )


def _centroid(point, weight):
    if not len(point):
        return np.zeros(3)
    # forces that pull have a centre too; where pushes and pulls cancel there is none
    total, size = float(weight.sum()), float(np.abs(weight).sum())
    return point.mean(axis=0) if abs(total) <= CANCELS * size else weight @ point / total
