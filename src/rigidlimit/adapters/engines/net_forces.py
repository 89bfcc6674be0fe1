"""Net contact force and torque on a named part of an engine's model, as a sensor there has it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from ..._support import arrays
from ..._support.arrays import contiguous
from ..._support.compiled import INNER
from ..._support.display import Brief
from ...errors import InputError
from .geometry import cross, frames_along

if TYPE_CHECKING:
    from .result import MendedForces


ORTHOGONAL = 1e-6
"""Entries of R^T R - 1 of a rotation matrix at most: single precision."""

CANCELS = 1e-9
"""Fraction of all normal forces of a part below which their sum is rounding."""


@dataclass(frozen=True, repr=False)
class NetForce(Brief):
    """What all contacts of a part push on it, in world axes: ``MendedForces.on``.

    Attributes
    ----------
    name : str
        Of the part.
    contacts : (k,) int ndarray
        Its contacts, places in the engine's list.
    force : (3,) ndarray [N]
    torque : (3,) ndarray [N m]
        About ``point``.
    point : (3,) ndarray [m]
    normal_force : float [N]
        The sum of its normal forces.
    engine_force : (3,) ndarray [N]
    engine_torque : (3,) ndarray [N m]
        The same of the engine's forces.
    friction_margin : float
        The least of its contacts that press and rub, how far they are from slipping
        (``MendedForces.friction_margin``); nan without any.
    centre_of_pressure : (3,) ndarray [m]
        Centroid of its contacts, weighted by their normal forces.

    Examples
    --------
    >>> import mujoco
    >>> from rigidlimit.adapters import from_mujoco
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody>
    ...   <geom type="plane" size="5 5 .1"/>
    ...   <body name="box" pos="0 0 .1">
    ...     <freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    ... </worldbody></mujoco>''')
    >>> data = mujoco.MjData(model)
    >>> for _ in range(200):
    ...     mujoco.mj_step(model, data)
    >>> box = from_mujoco(model, data).on("box")
    >>> box.force.round(1) + 0.0, round(box.normal_force, 1)
    (array([0. , 0. , 9.8]), 9.8)
    """

    name: str
    contacts: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    point: np.ndarray
    normal_force: float
    engine_force: np.ndarray
    engine_torque: np.ndarray
    friction_margin: float
    centre_of_pressure: np.ndarray

    def wrench(
        self, *, about: ArrayLike | None = None, axes: ArrayLike | None = None
    ) -> np.ndarray:
        """Force and torque (6,) [N, N m] as a sensor at a place and in a frame has them.

        Parameters
        ----------
        about : (3,) [m], optional
            Point of the torque; None: ``point``.
        axes : (3, 3), optional
            Of the frame, its axes in the columns, as ``data.site_xmat.reshape(3, 3)`` of MuJoCo;
            None: the world's.
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
        """(3,) [m], in the plane through ``point`` across the normal: where the contact forces have
        no moment but about the normal. nan where they do not push along it.

        Parameters
        ----------
        normal : (3,)
            Of the ground; its length does not count.
        """
        n = arrays.point("normal", normal)
        n = n / (np.linalg.norm(n) or 1.0)
        push = float(self.force @ n)
        if not abs(push) > CANCELS * np.linalg.norm(self.force):
            return np.full(3, np.nan)
        return self.point + np.cross(n, self.torque) / push


def of_part(mended: "MendedForces", name: str, by: str | None, about: ArrayLike | None) -> NetForce:
    """On the geom or body ``name`` of ``MendedForces``; see ``MendedForces.on``."""
    parts = _parts(mended)
    kind, number, whole = parts.place(name)
    partner = None if by is None else parts.place(by)[:2]
    return of_sides(mended, whole, parts.sides((kind, number), partner), about)


def net_forces(mended: "MendedForces", kind: str) -> dict[str, NetForce]:
    """On all geoms or bodies, ``kind``, that have contacts; a name that several have comes with
    the number of each, "foot (3)"."""
    known, number = _parts(mended).of_kind(kind)
    found, touching = {}, np.unique(number[number >= 0]).tolist()
    names = [known[i] for i in touching]
    for i, name in zip(touching, names, strict=True):
        whole = name if names.count(name) == 1 else f"{name} ({i})"
        found[whole] = of_sides(mended, whole, number == i)
    return found


def of_sides(
    mended: "MendedForces", name: str, sides: np.ndarray, about: ArrayLike | None = None
) -> NetForce:
    """On the part of those sides (m, 2) bool of the rows of ``mended.listed``."""
    where = np.full((1, 3), np.nan) if about is None else arrays.point("about", about)[None]
    sums, centre, normal_force, margin = of_parts(mended, sides[None], where)
    own = np.unique(mended.listed.row[sides.any(axis=1)])
    return NetForce(
        name=name,
        contacts=own,
        force=sums[0, 0],
        torque=sums[0, 1],
        point=centre[0] if about is None else where[0],
        normal_force=float(normal_force[0]),
        engine_force=sums[0, 2],
        engine_torque=sums[0, 3],
        friction_margin=float(margin[0]),
        centre_of_pressure=centre[0],
    )


def of_parts(mended: "MendedForces", sides: np.ndarray, about: np.ndarray) -> tuple:
    """Of p parts at once: (force and torque, mended and of the engine (p, 4, 3); centre of pressure
    (p, 3); normal force (p,); friction margin (p,)).

    sides (p, m, 2) bool: of the rows of ``mended.listed``; about (p, 3): points of the torques, the
    centre of pressure where they are nan.
    """
    listed = mended.listed
    places, row = listed.places, listed.row
    rubs, engine_rubs = mended.tangential[row], listed.tangential
    frames = places.frames
    if frames is None:
        if rubs.any() or engine_rubs.any():
            raise InputError("friction forces as vectors need the tangents of places=")
        frames = frames_along(np.asarray(places.normal, float))
    engine_force = listed.engine_force
    if engine_force is None:
        engine_force = np.full(len(row), np.nan)
    return _sums(
        sides, about, contiguous(places.sides), contiguous(frames), mended.force[row], rubs,
        engine_force, engine_rubs, margins(mended),
    )  # fmt: skip


def margins(mended: "MendedForces") -> np.ndarray:
    """``friction_margin`` (m,) of the rows of ``mended.listed``."""
    listed = mended.listed
    friction = contiguous(listed.friction)
    return _margins(friction, mended.pressing[listed.row], mended.tangential[listed.row])


@njit(cache=True)
def _margins(friction, pressing, rubs):
    out = np.full(len(friction), np.nan)
    for i in range(len(friction)):
        used, known, beyond = 0.0, False, False
        for k in range(min(2, friction.shape[1])):
            bound = friction[i, k] * pressing[i]
            if bound > 0.0:
                known = True
                used += (rubs[i, k] / bound) ** 2
            elif rubs[i, k] != 0.0:
                beyond = True
        if known:
            out[i] = -np.inf if beyond else 1.0 - np.sqrt(used)
    return out


def _parts(mended):
    places = mended.listed.places
    if places is None:
        raise InputError("net forces need places=: contact points, normals and names")
    return places.named_parts


@njit(cache=True)
def _sums(sides, about, point, frame, force, rubs, engine_force, engine_rubs, margin):
    """As ``of_parts``; point (m, 2, 3), frame (m, 3, 3), forces (m,) and (m, k), margin (m,)."""
    parts, m = len(sides), len(force)
    out, centre = np.zeros((parts, 4, 3)), np.zeros((parts, 3))
    total, least, arm = np.zeros(parts), np.full(parts, np.nan), np.zeros(3)
    for p in range(parts):
        size, number, mean = 0.0, 0, np.zeros(3)
        for i in range(m):
            for side in range(2):
                if not sides[p, i, side]:
                    continue
                number += 1
                total[p] += force[i]
                size += abs(force[i])
                for k in range(3):
                    mean[k] += point[i, side, k]
                    centre[p, k] += force[i] * point[i, side, k]
                if not margin[i] >= least[p] and not np.isnan(margin[i]):
                    least[p] = margin[i]
        # forces that pull have a centre too; where pushes and pulls cancel there is none
        cancel = abs(total[p]) <= CANCELS * size
        for k in range(3):
            centre[p, k] = mean[k] / max(number, 1) if cancel else centre[p, k] / total[p]
        at = centre[p] if np.isnan(about[p, 0]) else about[p]
        for i in range(m):
            for side in range(2):
                if sides[p, i, side]:
                    sign = 1.0 if side == 1 else -1.0
                    for k in range(3):
                        arm[k] = point[i, side, k] - at[k]
                    _add(sign, arm, frame[i], force[i], rubs[i], out[p, :2])
                    _add(sign, arm, frame[i], engine_force[i], engine_rubs[i], out[p, 2:])
    return out, centre, total, least


@njit(**INNER)
def _add(sign, arm, frame, force, rubs, out):
    """out (2, 3) += force and torque of one contact: spin and rolling moments are the entries of
    ``rubs`` after the second."""
    push, spin, turn = np.zeros(3), np.zeros(3), np.zeros(3)
    for k in range(3):
        push[k] = force * frame[0, k]
        for s in range(min(2, len(rubs))):
            push[k] += rubs[s] * frame[1 + s, k]
        for s in range(2, min(5, len(rubs))):
            spin[k] += rubs[s] * frame[s - 2, k]
    cross(arm, push, turn)
    for k in range(3):
        out[0, k] += sign * push[k]
        out[1, k] += sign * (turn[k] + spin[k])
