"""Coarse-grained fields: stress and density as smooth functions of space.

I. Goldhirsch, Granular Matter 12, 2010, 239, with a Gaussian phi of width w. Each contact force f_a
on body a is carried along the line from its centre r_a to the contact point x_c:

    sigma(x) = -sum over bodies a and their contacts f_a (x_c - r_a)^T
               * integral over 0 < s < 1 of phi(x - r_a - s (x_c - r_a)),

which has a closed form with erf. Its integral over all space is V times the mean stress of the
bodies, and its divergence balances their weight (T. Weinhart et al., Granular Matter 14, 2012, 289,
for walls). The density is the mass of bodies, or their volume, spread by phi.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import erf

from ..._support import arrays
from ...compatibility.bearing import bearing
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..limits import LIMITS
from ..sources import network_of
from .selection import Chosen, around, centres, chosen, pushes, start_cell, volumes, wrapped

if TYPE_CHECKING:
    from ..sources import Source

FAR = 7.0
"""Widths beyond which a Gaussian is left out: 1e-11 of it."""


def stress_field(
    source: "Source",
    points: np.ndarray,
    *,
    width: float | None = None,
    bodies: Chosen = None,
    method: str | None = None,
) -> np.ndarray:
    """Coarse-grained stress tensor at points; pressure positive.

    Parameters
    ----------
    points : (k, dim) [m]
    width : float [m], optional
        Standard deviation w of the Gaussian; by default the mean radius of the bodies.
    bodies : names or numbers, optional
        Whose stress it is; by default all that are free to move.
    source, method
        As of ``body_forces``.

    Returns
    -------
    (k, dim, dim) ndarray [Pa; N/m in 2D]

    Raises
    ------
    InputError
        For points of another dimension or not finite, and a width that is not positive.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.stress_field(step, [[0.0, 0.1], [0.0, 50.0]], width=0.2).shape
    (2, 2, 2)
    """
    shown = network_of(source)
    points = _points(points, shown.bodies.dim)
    width = _width(shown, width, bodies)
    push, arm = pushes(shown, method)
    keep = chosen(shown, bodies)[shown.contacts.body]
    keep &= bearing(shown.of(method)[1])[:, None]
    dim, vectors = shown.bodies.dim, start_cell(shown)
    reach = FAR * width + float(np.linalg.norm(arm[keep], axis=1).max(initial=0.0))
    start, image = around(shown, centres(shown)[keep], vectors, reach)
    points = _back(shown, points, vectors)
    start = start[:, :dim]
    arm, push = arm[keep][image][:, :dim], push[keep][image][:, :dim]
    moment = -np.einsum("ki,kj->kij", arm, push).reshape(len(arm), -1)
    out = np.zeros((len(points), dim * dim))
    half = 0.5 * np.linalg.norm(arm, axis=1)
    for at, of in _near(points, start + 0.5 * arm, FAR * width + float(half.max(initial=0.0))):
        share = _spread(points[at], start[of], arm[of], width)[:, None] * moment[of]
        for k in range(dim * dim):
            out[:, k] += np.bincount(at, share[:, k], len(points))
    return 0.0 + out.reshape(len(points), dim, dim)


def density_field(
    source: "Source",
    points: np.ndarray,
    *,
    width: float | None = None,
    of: str = "volume",
    bodies: Chosen = None,
) -> np.ndarray:
    """Coarse-grained density of mass or of solid volume at points.

    Parameters
    ----------
    points : (k, dim) [m]
    width : float [m], optional
        Standard deviation of the Gaussian; by default the mean radius of the bodies.
    of : {"volume", "mass"}
        The solid fraction [-], or mass [kg/m^3; kg/m^2 in 2D].
    bodies : names or numbers, optional
        Which count; by default all that are free to move.
    source
        As of ``body_forces``.

    Returns
    -------
    (k,) ndarray

    Raises
    ------
    InputError
        For points of another dimension, and another ``of``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.density_field(step, [[0.0, 50.0]], width=1.0)  # far above the beam
    array([0.])
    """
    shown = network_of(source)
    dim = shown.bodies.dim
    points, width = _points(points, dim), _width(shown, width, bodies)
    which = chosen(shown, bodies)
    if of not in ("mass", "volume"):
        raise InputError(f"of is {of!r}; expected 'volume' or 'mass'")
    weight = (shown.bodies.mass if of == "mass" else volumes(shown))[which]
    place, image = around(shown, shown.position[which], shown.cell, FAR * width)
    place, weight = place[:, :dim], weight[image]
    points = _back(shown, points, shown.cell)
    out = np.zeros(len(points))
    for at, of in _near(points, place, FAR * width):
        away = ((points[at] - place[of]) ** 2).sum(axis=1)
        out += np.bincount(at, np.exp(-away / (2 * width**2)) * weight[of], len(points))
    return out / (2 * np.pi * width**2) ** (dim / 2)


def _near(points: np.ndarray, sources: np.ndarray, reach: float):
    """Pairs (number of a point, of a source) within ``reach`` [m], some at a time."""
    tree, first = cKDTree(sources), 0
    many = tree.query_ball_point(points, reach, return_length=True)
    while first < len(points):
        last = first + max(1, int(np.searchsorted(np.cumsum(many[first:]), LIMITS.pairs)))
        found = tree.query_ball_point(points[first:last], reach)
        if many[first:last].any():
            at = np.repeat(np.arange(first, min(last, len(points))), many[first:last])
            yield at, np.concatenate([each for each in found if each]).astype(np.int64)
        first = last


def _spread(points, start, arm, width) -> np.ndarray:
    """Integral of phi at each point (k, dim) along its own line, per its length, (k,)."""
    dim = points.shape[1]
    length = np.linalg.norm(arm, axis=1)
    along = arm / np.where(length > 0, length, 1.0)[:, None]
    away = points - start
    u = np.einsum("ki,ki->k", away, along)
    across = np.maximum((away**2).sum(axis=1) - u**2, 0.0)
    scale = np.sqrt(2) * width
    line = erf(u / scale) - erf((u - length) / scale)
    flat = (2 * np.pi * width**2) ** (-(dim - 1) / 2) / (2 * np.where(length > 0, length, 1.0))
    return flat * np.exp(-across / scale**2) * line


def _back(shown: ForceNetwork, points: np.ndarray, vectors) -> np.ndarray:
    """Points (k, dim) put back into a periodic cell."""
    whole = np.zeros((len(points), 3))
    whole[:, : points.shape[1]] = points
    return wrapped(shown, whole, vectors)[:, : points.shape[1]]


def _points(points, dim: int) -> np.ndarray:
    points = arrays.finite("points", points, expected=f"finite (k, {dim})")
    if points.ndim != 2 or points.shape[1] != dim:
        raise InputError(f"points: found {arrays.short(points)}; expected finite (k, {dim})")
    return points


def _width(shown, width, bodies) -> float:
    if width is not None:
        return arrays.positive("width", width)
    radius = shown.bodies.bounding_radius[chosen(shown, bodies)]
    return float(radius[np.isfinite(radius)].mean())
