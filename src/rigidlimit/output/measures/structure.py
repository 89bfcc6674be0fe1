"""How balls are placed: pair correlation g(r), packing fraction, also ball by ball."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from ..._support import arrays
from ...bodies.cell import volume_of
from ...errors import InputError, MissingExtra
from ...step.force_network import ForceNetwork
from ..sources import network_of
from .selection import Chosen, around, balls, chosen, growing_edges, volumes, wrapped

if TYPE_CHECKING:
    from ..sources import Source


def pair_correlation(
    source: "Source", edges: np.ndarray, *, bounds: ArrayLike | None = None
) -> np.ndarray:
    """Pair correlation g(r) of the centres of balls: 1 where they are placed at random.

    Distances are counted from those centres which are the largest r away from the bounds, so that
    no shell leaves the packing (the border method: B. D. Ripley, Spatial Statistics, 1981); in a
    periodic cell from all, to all images.

    Parameters
    ----------
    edges : (b + 1,) [m]
        Of the bins of r.
    bounds : (2, dim) [m], optional
        Lower and upper corner of the region that the centres fill; by default that of the centres
        themselves.
    source
        As of ``body_forces``.

    Returns
    -------
    (b,) ndarray

    Raises
    ------
    InputError
        Where no body is a ball, no centre is as far from the bounds, edges do not grow, and for
        bounds of a periodic cell.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(200)
    >>> rl.pair_correlation(scene, np.array([0.0, 2e-3, 4e-3]))[0]  # balls that do not overlap
    np.float64(0.0)
    """
    shown = network_of(source)
    edges, dim = growing_edges("edges", edges), shown.bodies.dim
    place = shown.position[balls(shown)]
    shell = np.pi * np.diff(edges**2) if dim == 2 else 4 / 3 * np.pi * np.diff(edges**3)
    if shown.cell is not None:
        _whole(shown, bounds)
        every, _ = around(shown, place, shown.cell, edges[-1])
        below = cKDTree(every).count_neighbors(cKDTree(every[: len(place)]), edges)
        return np.diff(below) * volume_of(shown.cell) / (len(place) ** 2 * shell)
    place = place[:, :dim]
    low, high = _bounds(bounds, place)
    place = place[((place >= low) & (place <= high)).all(axis=1)]
    far = np.minimum(place - low, high - place).min(axis=1) >= edges[-1]
    if not far.any():
        raise InputError(
            f"no centre is {edges[-1]:.3g} m away from the bounds; expected a larger packing, or "
            "edges that end sooner"
        )
    tree = cKDTree(place)
    below = tree.count_neighbors(cKDTree(place[far]), edges)
    density = len(place) / float(np.prod(high - low))
    return np.diff(below) / (far.sum() * density * shell)


def packing_fraction(
    source: "Source", volume: float | None = None, *, bodies: Chosen = None
) -> float:
    """Volume of bodies over that of the region that they fill.

    Parameters
    ----------
    volume : float [m^3; m^2 in 2D], optional
        By default that of the periodic cell.
    bodies : names or numbers, optional
        Which count; by default all that are free to move in some way.
    source
        As of ``body_forces``.

    Returns
    -------
    float
        Overlaps count twice.

    Raises
    ------
    InputError
        Without a volume where there is no cell, and for half-spaces among the bodies.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> rl.packing_fraction(step, volume=2.0) > 0.0
    True
    """
    shown = network_of(source)
    own = volumes(shown)[chosen(shown, bodies)]
    if not np.isfinite(own).all():
        raise InputError("bodies: half-spaces are among them; expected bodies with a volume")
    if volume is None and shown.cell is not None:
        volume = volume_of(shown.cell)
    return float(own.sum()) / arrays.positive("volume", volume)


def local_packing_fraction(source: "Source", *, bounds: ArrayLike | None = None) -> np.ndarray:
    """Packing fraction of each ball in its own cell of the radical Voronoi tessellation.

    The radical plane of two balls is where the tangents to both are as long, so that no cell cuts
    its ball where balls do not overlap (B. J. Gellatly and J. L. Finney, J. Non-Cryst. Solids 50,
    1982, 313). Cells are those of voro++ (extra ``packings``), cut at the bounds.

    Parameters
    ----------
    bounds : (2, dim) [m], optional
        Lower and upper corner of a box that holds all balls; by default the smallest.
    source
        As of ``body_forces``.

    Returns
    -------
    (n,) ndarray
        nan for bodies that are no balls.

    Raises
    ------
    InputError
        Where no body is a ball, for bounds of a periodic cell, and cells that are periodic in some
        directions only or a parallelogram.
    MissingExtra
        Without pyvoro2.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> scene = rl.scenes.periodic_packing(64, dim=3)
    >>> own = rl.local_packing_fraction(scene)[:64]
    >>> bool((own > 0).all() and (own < 1).all())
    True
    """
    shown = network_of(source)
    which, dim = balls(shown), shown.bodies.dim
    radius = shown.bodies.bounding_radius[which]
    size = float(radius.mean())  # voro++ takes points that are 1e-5 apart for one
    place = shown.position[which]
    if shown.cell is None:
        place = place[:, :dim]
        low, high = _bounds(bounds, place, radius)
        place, corner, periodic = place - low, np.diag(high - low), np.zeros(dim, bool)
    else:
        _whole(shown, bounds)
        place = wrapped(shown, place, shown.cell)[:, :dim]
        corner, periodic = shown.cell[:dim, :dim], shown.bodies.cell.periodic[:dim]
    cells = _cells(place / size, radius / size, corner / size, periodic)
    own = volumes(shown)[which]
    out = np.full(len(shown.bodies), np.nan)
    with np.errstate(divide="ignore"):
        out[which] = own / (cells * size**dim)
    return out


def _whole(shown: ForceNetwork, bounds) -> None:
    """A cell that is periodic in all directions has no bounds."""
    dim = shown.bodies.dim
    if bounds is not None:
        raise InputError("bounds are given; expected none for a periodic cell")
    if not shown.bodies.cell.periodic[:dim].all():
        raise InputError(
            "the cell is periodic in some directions only; expected one that is in all, or none"
        )


def _cells(place, radius, edges, periodic) -> np.ndarray:
    """Volumes of the cells (k,) of balls in the box of these edges (dim, dim) from the origin."""
    try:
        import pyvoro2
        from pyvoro2 import planar
    except ImportError as error:
        raise MissingExtra(
            f"voro++ cannot be loaded ({error}); install it with pip install 'rigidlimit[packings]'"
        ) from error
    solid = place.shape[1] == 3
    library = pyvoro2 if solid else planar
    leave_out = "return_faces" if solid else "return_edges"
    found = library.compute(
        place,
        domain=_domain(library, edges, periodic, solid),
        mode="power",
        radii=radius,
        include_empty=True,
        return_vertices=False,
        return_adjacency=False,
        output="cells",
        **{leave_out: False},
    )
    volume = np.zeros(len(place))
    for cell in found:
        volume[cell["id"]] = cell["volume" if solid else "area"]
    return volume


def _domain(library, edges, periodic, solid: bool):
    """The box of voro++."""
    bounds = tuple((0.0, float(end)) for end in np.diag(edges))
    if not periodic.any():
        return library.Box(bounds)
    if not (edges - np.diag(np.diag(edges))).any():
        return (library.OrthorhombicCell if solid else library.RectangularCell)(bounds)
    if not solid:
        raise InputError(
            "the cell is a parallelogram; voro++ takes rectangular ones in the plane: expected one"
        )
    return library.PeriodicCell(tuple(map(tuple, edges.tolist())))


def _bounds(bounds, place: np.ndarray, radius=0.0) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper) corner (dim,) of the region."""
    reach = np.broadcast_to(np.reshape(radius, (-1, 1)), (len(place), 1))
    if bounds is None:
        return (place - reach).min(axis=0), (place + reach).max(axis=0)
    given = np.asarray(bounds, float)
    if given.shape != (2, place.shape[1]) or not (given[1] > given[0]).all():
        raise InputError(
            f"bounds: found {arrays.short(bounds)}; expected a lower and an upper corner, "
            f"(2, {place.shape[1]})"
        )
    return given[0], given[1]
