"""Rows of contacts between free bodies, from points and normals, for stacked arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._support import arrays
from ...errors import InputError
from .geometry import frames_along
from .stacks import host_array


class FreeRows(NamedTuple):
    """Rows of contacts between free bodies, for ``ArrayMender.mend_many``; n = 6 bodies.

    Columns are the velocity of the centre, then the rate of turn, in world axes; ... are axes of
    environments.

    Attributes
    ----------
    B : (..., contact, n) ndarray
    sliding : (..., contact, 2, n) ndarray
    tangents : (..., contact, 2, 3) ndarray
    mechanism : (n,) int ndarray
        The body of each column.

    Examples
    --------
    >>> from rigidlimit.adapters import free_body_rows
    >>> rows = free_body_rows([[0.4, 0.0, 0.0]], [[0.0, 0.0, 1.0]], [[-1, 0]], [[0.0, 0.0, 0.5]])
    >>> rows.sliding.shape, rows.mechanism
    ((1, 2, 6), array([0, 0, 0, 0, 0, 0]))
    """

    B: np.ndarray
    sliding: np.ndarray
    tangents: np.ndarray
    mechanism: np.ndarray


def free_body_rows(
    point: ArrayLike,
    normal: ArrayLike,
    body: ArrayLike,
    centre: ArrayLike,
    tangents: ArrayLike | None = None,
) -> FreeRows:
    """Rows of contacts between bodies of six velocities each.

    Dots are axes of environments, of none to any number; an array without them is the same in all.
    Rows of contacts that there are not may be of any number, and are left out by a mask.

    Parameters
    ----------
    point : (..., contact, 3) [m]
    normal : (..., contact, 3)
        Unit, from the first to the second body.
    body : (..., contact, 2) int
        Numbers of both bodies, below zero for what does not move.
    centre : (..., bodies, 3) [m]
        Places of the bodies' centres of mass.
    tangents : (..., contact, 2, 3), optional
        Unit, across the normal; None: any.

    Raises
    ------
    InputError
        For shapes that do not fit each other, and numbers of bodies that have no centre.

    Examples
    --------
    >>> from rigidlimit.adapters import free_body_rows
    >>> rows = free_body_rows([[0.4, 0.0, 0.0]], [[0.0, 0.0, 1.0]], [[-1, 0]], [[0.0, 0.0, 0.5]])
    >>> rows.B  # up, and by a turn about y down
    array([[ 0. ,  0. ,  1. ,  0. , -0.4,  0. ]])
    """
    point, normal, centre = (
        np.asarray(host_array(name, value), float)
        for name, value in (("point", point), ("normal", normal), ("centre", centre))
    )
    body = arrays.finite("body", host_array("body", body), expected="numbers of bodies")
    contact = point.shape[-2] if point.ndim > 1 else -1
    _check("point", point, (contact, 3))
    _check("normal", normal, (contact, 3))
    _check("body", body, (contact, 2))
    _check("centre", centre, (centre.shape[-2] if centre.ndim > 1 else -1, 3))
    body, bodies = body.astype(int), centre.shape[-2]
    if body.max(initial=-1) >= bodies:
        raise InputError(
            f"body counts body {body.max()}, and centre has {bodies}; expected one each"
        )
    if tangents is None:
        flat = np.ascontiguousarray(normal.reshape(-1, 3))
        tangents = frames_along(flat)[:, 1:].reshape(*normal.shape[:-1], 2, 3)
    tangents = np.asarray(host_array("tangents", tangents), float)
    _check("tangents", tangents, (contact, 2, 3))
    axes = np.broadcast_shapes(*(a.shape[:-2] for a in (point, normal, body, centre)))
    axes = np.broadcast_shapes(axes, tangents.shape[:-3])
    frame = np.concatenate(
        [
            np.broadcast_to(normal, (*axes, contact, 3))[..., None, :],
            np.broadcast_to(tangents, (*axes, contact, 2, 3)),
        ],
        axis=-2,
    )
    body = np.broadcast_to(body, (*axes, contact, 2))
    centre = np.broadcast_to(centre, (*axes, bodies, 3))
    rows = np.zeros((*axes, contact, 3, bodies, 6))
    for side, sign in ((0, -1.0), (1, 1.0)):
        own = body[..., side]
        number = np.maximum(own, 0)
        arm = point - np.take_along_axis(centre, number[..., None], axis=-2)
        entries = np.concatenate([frame, np.cross(arm[..., None, :], frame)], axis=-1)
        entries = np.where((own >= 0)[..., None, None], sign * entries, 0.0)
        place = number[..., None, None, None]
        before = np.take_along_axis(rows, place, axis=-2)
        np.put_along_axis(rows, place, before + entries[..., None, :], axis=-2)
    rows = rows.reshape(*axes, contact, 3, 6 * bodies)
    mechanism = np.repeat(np.arange(bodies), 6)
    return FreeRows(rows[..., 0, :], rows[..., 1:, :], tangents, mechanism)


def _check(name, array, shape):
    if array.shape[-len(shape) :] != shape or array.ndim < len(shape):
        wanted = ", ".join("contact" if size == -1 else str(size) for size in shape)
        raise InputError(f"{name} has shape {array.shape}; expected (..., {wanted})")
