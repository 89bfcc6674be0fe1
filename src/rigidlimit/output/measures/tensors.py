"""Tensors of a packing: stress and fabric, their principal values.

With the sign of soil mechanics pressure is positive:

    mean stress of bodies   V sigma = -sum over bodies a and their contacts of (x - r_a) f_a^T
    fabric                  phi = <n n^T> over the active contacts

f_a is the force vector on body a, x the contact point, r_a the centre of mass. sigma is that of
bodies in balance (Love 1927; Weber 1966; Christoffersen, Mehrabadi and Nemat-Nasser, J. Appl. Mech.
48, 1981): weight acts at the centre of mass and has no moment about it; inertia of bodies that move
is left out. It is symmetric where contacts leave no moment on the bodies, as at rest.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..._support import arrays
from ...bodies import HalfSpace
from ...bodies.cell import volume_of
from ...compatibility.bearing import bearing
from ...errors import InputError
from ..sources import network_of
from .selection import Chosen, chosen, pushes, volumes

if TYPE_CHECKING:
    from ..sources import Source


def stress(
    source: "Source",
    volume: float | None = None,
    *,
    bodies: Chosen = None,
    method: str | None = None,
) -> np.ndarray:
    """Mean stress tensor of a packing in balance; pressure is positive.

    Parameters
    ----------
    volume : float [m^3; m^2 in 2D], optional
        Of the region that the bodies fill, voids included. A periodic cell has its own, with branch
        vectors d, V sigma = sum of d f^T.
    bodies : names or numbers, optional
        Whose stress is summed; by default all that are free to move in some way. Leave out a lid
        that presses on the packing.
    source, method
        As of ``body_forces``.

    Returns
    -------
    (dim, dim) ndarray [Pa; N/m in 2D]

    Raises
    ------
    InputError
        Without a volume where there is no periodic cell, with one where there is.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.stress(step, volume=2.0).shape
    (2, 2)
    """
    shown = network_of(source)
    dim = shown.bodies.dim
    if shown.contacts.branch is not None:
        if volume is not None or bodies is not None:
            raise InputError(
                "volume or bodies is given; expected neither for a periodic cell, whose stress is "
                "that of all of its contacts"
            )
        volume = volume_of(shown.cell) / np.linalg.det(shown.strain)
        push, branch = shown.vectors(method), shown.contacts.spans(shown.bodies.are(HalfSpace))
        return np.einsum("mi,mj->ij", branch, push)[:dim, :dim] / volume
    if volume is None:
        raise InputError("volume is None; expected that of the region that the bodies fill")
    arrays.positive("volume", volume)
    push, arm = pushes(shown, method)
    which = chosen(shown, bodies)[shown.contacts.body]
    return 0.0 - np.einsum("mi,mj->ij", arm[which], push[which])[:dim, :dim] / volume


def fabric(
    source: "Source", *, bodies: Chosen = None, weighted: bool = False, method: str | None = None
) -> np.ndarray:
    """Fabric tensor: the mean of n n^T over the active contacts.

    A contact is active if its force is above 1e-9 of the largest.

    Parameters
    ----------
    bodies : names or numbers, optional
        Only contacts of these; by default all.
    weighted : bool
        Whether each contact counts by its force.
    source, method
        As of ``body_forces``.

    Returns
    -------
    (dim, dim) ndarray, of trace 1
        1/dim on its diagonal: normals point in all directions alike.

    Raises
    ------
    InputError
        Where no contact is active.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.fabric(step).round(6)  # all normals upward
    array([[0., 0.],
           [0., 1.]])
    """
    shown = network_of(source)
    force = shown.of(method)[1]
    counts = bearing(force)
    if bodies is not None:
        counts &= chosen(shown, bodies)[shown.contacts.body].any(axis=1)
    share = np.where(counts, force if weighted else 1.0, 0.0)
    total = float(share.sum())
    if total == 0.0:
        raise InputError("no contact is active; expected a step with forces, and bodies that touch")
    n, dim = shown.contacts.normal, shown.bodies.dim
    return np.einsum("m,mi,mj->ij", share, n, n)[:dim, :dim] / total


def body_stress(source: "Source", *, method: str | None = None) -> np.ndarray:
    """Stress tensor of each body over its own volume; pressure is positive.

    Their sum weighted by volumes is V times the mean stress of the packing.

    Parameters
    ----------
    source, method
        As of ``body_forces``.

    Returns
    -------
    (n, dim, dim) ndarray [Pa; N/m in 2D]
        nan for half-spaces and a periodic cell.

    Raises
    ------
    InputError
        For a source without such forces, and names of no body.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.body_stress(step).shape
    (4, 2, 2)
    """
    shown = network_of(source)
    push, arm = pushes(shown, method)
    dim = shown.bodies.dim
    total = np.zeros((len(shown.bodies), dim, dim))
    moments = -np.einsum("mei,mej->meij", arm[..., :dim], push[..., :dim])
    np.add.at(total, shown.contacts.body, moments)
    return 0.0 + total / volumes(shown)[:, None, None]


def principal(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal values and directions of the symmetric part of tensors.

    Parameters
    ----------
    tensor : (..., dim, dim) array

    Returns
    -------
    values : (..., dim) ndarray
        Largest first.
    directions : (..., dim, dim) ndarray
        Unit vectors, a row each.

    Raises
    ------
    InputError
        For other shapes, and values that are not finite.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> values, directions = rl.principal([[1.0, 0.0], [0.0, 3.0]])
    >>> values, abs(directions[0])
    (array([3., 1.]), array([0., 1.]))
    """
    tensor = arrays.finite("tensor", tensor, expected="finite (..., dim, dim)")
    if tensor.ndim < 2 or tensor.shape[-1] != tensor.shape[-2]:
        raise InputError(f"tensor has shape {tensor.shape}; expected finite (..., dim, dim)")
    values, vectors = np.linalg.eigh(0.5 * (tensor + np.swapaxes(tensor, -1, -2)))
    return values[..., ::-1], np.swapaxes(vectors, -1, -2)[..., ::-1, :]


def anisotropy(tensor: np.ndarray) -> float:
    """Anisotropy a of a fabric tensor of trace 1, of the distribution of directions it stands for.

    In the plane E(theta) = (1 + a cos 2(theta - theta_1))/(2 pi), a = 2 (phi_1 - phi_2) (L.
    Rothenburg and R. J. Bathurst, Geotechnique 39, 1989); in space E = (1 + a (3 cos^2 theta -
    1)/2)/(4 pi), a = 5 (phi_1 - phi_3)/2 (E. Azema and F. Radjai, Phys. Rev. E 81, 2010).

    Parameters
    ----------
    tensor : (dim, dim) array

    Returns
    -------
    float

    Raises
    ------
    InputError
        For other shapes.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.anisotropy([[0.75, 0.0], [0.0, 0.25]])
    1.0
    """
    values = principal(tensor)[0]
    return float((2.0 if len(values) == 2 else 2.5) * (values[0] - values[-1]))
