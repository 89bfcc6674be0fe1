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


ORTHOGONAL = 1e-6
"""Entries of R^T R - 1 of a rotation matrix at most: single precision."""

CANCELS = 1e-9
"""Fraction of all normal forces of a part below which their sum is rounding."""


@dataclass(frozen=True, repr=False)
class NetForce(Brief):
    """What all contacts of a part push on it, in world axes.

    Attributes
    ----------
    name : of the part; contacts (k,) int: its contacts, places in the engine's list.
    force (3,) [N]; torque (3,) [N m] about ``point`` (3,) [m].
    normal_force [N] : the sum of its normal forces.
    friction_margin : the least of its contacts that press and rub, how far they are from slipping
        (``MendedForces.friction_margin``); nan without any.
    centre_of_pressure (3,) [m] : centroid of its contacts, weighted by their normal forces.
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
    friction_margin: float = float("nan")
    centre_of_pressure: np.ndarray | None = None

    def wrench(
        self, *, about: ArrayLike | None = None, axes: ArrayLike | None = None
    ) -> np.ndarray:
        """Force and torque (6,) [N, N m] as a sensor at a place and in a frame has them.

        about (3,) [m]: point of the torque; None: ``point``. axes (3, 3): of the frame, its axes in
        the columns, as ``data.site_xmat.reshape(3, 3)`` of MuJoCo; None: the world's.
        """
        arm = self.point - (self.point if about is None else arrays.point("about", about))
        parts = np.concatenate([self.force, self.torque + np.cross(arm, self.force)]).reshape(2, 3)
        if axes is None:
            return parts.ravel()
        turn = np.asarray(axes, float)
        off = turn.shape != (3, 3) or not np.abs(turn.T @ turn - np.eye(3)).max() <= ORTHOGONAL
        if off:
            raise InputError(f"axes is {arrays.short(axes)}; expected a rotation matrix (3, 3)")
        return (parts @ turn).ravel()

    def zero_moment_point(self, normal: ArrayLike = (0.0, 0.0, 1.0)) -> np.ndarray:
        """(3,) [m], in the plane through ``point`` across ``normal``: where the contact forces have
        no moment but about the normal. nan where they do not push along it."""
        n = arrays.point("normal", normal)
        n = n / (np.linalg.norm(n) or 1.0)
        push = float(self.force @ n)
        if not abs(push) > CANCELS * np.linalg.norm(self.force):
            return np.full(3, np.nan)
        return self.point + np.cross(n, self.torque) / push


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
    centre = _centroid(point, weight)
    about = arrays.point("about", centre if about is None else about)
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
    margin = mended.friction_margin[own]
    known = margin[~np.isnan(margin)]
    return NetForce(
        name,
        own,
        force,
        torque,
        about,
        float(weight.sum()),
        engine_force,
        engine_torque,
        float(known.min()) if len(known) else float("nan"),
        centre,
    )


def _centroid(point, weight):
    if not len(point):
        return np.zeros(3)
    # forces that pull have a centre too; where pushes and pulls cancel there is none
    total, size = float(weight.sum()), float(np.abs(weight).sum())
    return point.mean(axis=0) if abs(total) <= CANCELS * size else weight @ point / total
