"""How balls are placed: pair correlation g(r), packing fraction, also ball by ball."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from ..._support import arrays
from ...errors import InputError, MissingExtra
from ..plots.frames import frame
from .selection import Chosen, balls, chosen, growing_edges, volumes

if TYPE_CHECKING:
    from ...scenes.scene import Scene
    from ..plots.frames import Source


def pair_correlation(
    source: "Source",
    edges: np.ndarray,
    *,
    bounds=None,
    scene: "Scene | None" = None,
    index: int = -1,
) -> np.ndarray:
    """Pair correlation g(r) of the centres of balls, (b,): 1 where they are placed at random.

    Distances are counted from those centres which are the largest r away from the bounds, so that
    no shell leaves the packing (the border method: B. D. Ripley, Spatial Statistics, 1981).

    Parameters
    ----------
    edges : (b + 1,) [m]
        Of the bins of r.
    bounds : (2, dim) [m], optional
        Lower and upper corner of the region that the centres fill; by default that of the centres
        themselves.

    Raises
    ------
    InputError
        Where no centre is as far from the bounds.
    """
    shown = frame(source, scene=scene, index=index)
    edges, dim = growing_edges("edges", edges), shown.bodies.dim
    place = shown.position[balls(shown), :dim]
    low, high = _bounds(bounds, place)
    place = place[((place >= low) & (place <= high)).all(axis=1)]
    far = np.minimum(place - low, high - place).min(axis=1) >= edges[-1]
    if not far.any():
        raise InputError(
            f"no centre is {edges[-1]:.3g} m away from the bounds; expected a larger packing, or "
            "edges that end sooner"
        )
    tree = cKDTree(place)
    below = tree.count_neighbors(cKDTree(place[far]), edges, cumulative=True).astype(float)
    counts = np.diff(below)
    density = len(place) / float(np.prod(high - low))
    shell = np.pi * np.diff(edges**2) if dim == 2 else 4 / 3 * np.pi * np.diff(edges**3)
    return counts / (far.sum() * density * shell)


def packing_fraction(
    source: "Source",
    volume: float,
    *,
    bodies: Chosen = None,
    scene: "Scene | None" = None,
    index: int = -1,
) -> float:
    """Volume of bodies over that of the region that they fill.

    volume [m^3; m^2 in 2D]. bodies: by default all that are free to move in some way. Overlaps
    count twice.
    """
    shown = frame(source, scene=scene, index=index)
    own = volumes(shown)[chosen(shown, bodies)]
    if not np.isfinite(own).all():
        raise InputError("bodies: half-spaces are among them; expected bodies with a volume")
    return float(own.sum()) / arrays.positive("volume", volume)


def local_packing_fraction(
    source: "Source", *, bounds=None, scene: "Scene | None" = None, index: int = -1
) -> np.ndarray:
    """Packing fraction of each ball in its own cell of the radical Voronoi tessellation, (n,).

    The radical plane of two balls is where the tangents to both are as long, so that no cell cuts
    its ball where balls do not overlap (B. J. Gellatly and J. L. Finney, J. Non-Cryst. Solids 50,
    1982, 313). Cells are those of voro++ (extra ``packings``), cut at the bounds.

    Parameters
    ----------
    bounds : (2, dim) [m], optional
        Lower and upper corner of a box that holds all balls; by default the smallest.

    Returns
    -------
    (n,), nan for bodies that are no balls
    """
    shown = frame(source, scene=scene, index=index)
    which, dim = balls(shown), shown.bodies.dim
    radius = shown.bodies.bounding_radius[which]
    place = shown.position[which, :dim]
    low, high = _bounds(bounds, place, radius)
    size = float(radius.mean())  # voro++ takes points that are 1e-5 apart for one
    cells = _cells((place - low) / size, radius / size, (high - low) / size)
    own = volumes(shown)[which]
    out = np.full(len(shown.bodies), np.nan)
    with np.errstate(divide="ignore"):
        out[which] = own / (cells * size**dim)
    return out


def _cells(place: np.ndarray, radius: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Volumes of the cells (k,) of balls in the box from the origin to ``corner``."""
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
        domain=library.Box(tuple((0.0, float(end)) for end in corner)),
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
