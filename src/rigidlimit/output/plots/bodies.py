"""Bodies as outlines in a plane: 2D scenes, and scenes in space seen along an axis."""

from typing import TYPE_CHECKING

import numpy as np

from ...bodies import Compound, Disk, Sphere
from ...bodies.rotations import matrix, multiply
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..surfaces import outline_2d, surface
from .canvas import Extent
from .style import Palette, pressure_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

VIEWS = {"front": (0, 2, 1), "side": (1, 2, 0), "top": (0, 1, 2)}
"""Axes to the right and up, and the axis looked along."""

Shown = tuple[int, int]
"""Axes to the right and up."""


def plane_of(frame: ForceNetwork, view: str) -> tuple[tuple[int, int], np.ndarray]:
    """Axes shown, and the depth (n,) of each body: the greater, the nearer to the viewer."""
    if frame.bodies.dim == 2:
        return (0, 1), frame.position[:, 2]
    if view not in VIEWS:
        raise InputError(f"view is {view!r}; expected one of 3d, {', '.join(VIEWS)}")
    right, up, along = VIEWS[view]
    # front looks along +y, side along -x, top along -z
    return (right, up), (-1 if view == "front" else 1) * frame.position[:, along]


def extent_of(frame: ForceNetwork, shown: Shown) -> Extent:
    """Around the finite bodies, or the contacts if there are none; a half-space has no end."""
    radius = frame.bodies.bounding_radius
    finite = np.flatnonzero(np.isfinite(radius))
    low, high = [], []
    for body in finite:
        flat = outline(frame, body, shown)
        low.append(flat.min(axis=0))
        high.append(flat.max(axis=0))
    if frame.cell is not None:
        low.append(cell_corners(frame)[:, list(shown)].min(axis=0))
        high.append(cell_corners(frame)[:, list(shown)].max(axis=0))
    elif not len(finite):
        at = frame.position[:, list(shown)]
        low, high = at - 1.0, at + 1.0
    low, high = np.min(low, axis=0), np.max(high, axis=0)
    margin = 0.04 * (high - low).max()
    return Extent(low - margin, high + margin)


def _parts(frame: ForceNetwork, body: int) -> list:
    """(shape, centre (3,), rotation matrix) of each part of a finite body."""
    shape, at, turn = frame.bodies.shape(body), frame.position[body], frame.quaternion[body]
    if not isinstance(shape, Compound):
        return [(shape, at, matrix(turn))]
    places = at + shape.offsets @ matrix(turn).T
    return list(zip(shape.shapes, places, matrix(multiply(turn, shape.quaternions)), strict=True))


def outline(frame: ForceNetwork, body: int, shown: Shown) -> np.ndarray:
    """Corners (k, 2) around a finite body; for round parts those of the square around them."""
    corners = []
    for shape, at, turn in _parts(frame, body):
        if isinstance(shape, Sphere | Disk):
            around = shape.radius * np.array([[-1.0, -1.0], [1.0, 1.0]])
            corners.append(at[list(shown)] + around)
        else:
            corners.append(_corners(shape, at, turn, shown))
    return np.concatenate(corners)


def _corners(shape, at, turn, shown) -> np.ndarray:
    """Outline (k, 2) of a convex shape with corners."""
    centre = at[list(shown)]
    if shape.dim == 2:
        return outline_2d(shape) @ turn[:2, :2].T + centre
    from scipy.spatial import ConvexHull

    flat = (surface(shape)[0] @ turn.T)[:, list(shown)] + centre
    return flat[ConvexHull(flat).vertices]


def patch(frame: ForceNetwork, body: int, shown: Shown):
    """The outline of a finite body for matplotlib; of a compound, those of its parts in one."""
    from matplotlib.patches import Circle, PathPatch, Polygon
    from matplotlib.path import Path

    patches = []
    for shape, at, turn in _parts(frame, body):
        if isinstance(shape, Sphere | Disk):
            patches.append(Circle(at[list(shown)], shape.radius))
        else:
            patches.append(Polygon(_corners(shape, at, turn, shown)))
    if len(patches) == 1:
        return patches[0]
    paths = (p.get_path().transformed(p.get_patch_transform()) for p in patches)
    return PathPatch(Path.make_compound_path(*paths))


def draw_bodies(
    panel: "Axes",
    frame: ForceNetwork,
    view: str,
    p: Palette,
    pressure: np.ndarray | None = None,
    scale: "Normalize | None" = None,
) -> None:
    """Filled outlines, the nearest last, in greys by pressure (n,); half-spaces as ground."""
    from matplotlib.collections import PatchCollection

    shown, depth = plane_of(frame, view)
    for body in np.flatnonzero(frame.half_space):
        _draw_ground(panel, frame, body, shown, p)
    if frame.cell is not None:
        _draw_cell(panel, frame, shown, p)
    order = [b for b in np.argsort(depth, kind="stable") if frame.solid[b]]
    patches = [patch(frame, body, shown) for body in order]
    drawn = PatchCollection(patches, edgecolor=p.edge, linewidths=0.35, zorder=1)
    if pressure is None:
        drawn.set_facecolor(str(p.grey[0]))
    else:
        drawn.set_facecolor(pressure_colours(p)(scale(np.asarray(pressure)[order])))
    drawn.set_gid("bodies")
    panel.add_collection(drawn)


def _draw_cell(panel, frame: ForceNetwork, shown: Shown, p: Palette) -> None:
    """Outline of the periodic cell, above the bodies."""
    from matplotlib.patches import Polygon
    from scipy.spatial import ConvexHull

    corners = cell_corners(frame)[:, list(shown)]
    edge = Polygon(
        corners[ConvexHull(corners).vertices],
        fill=False,
        edgecolor=p.ink,
        linewidth=0.6,
        linestyle="--",
        zorder=2,
    )
    edge.set_gid("cell")
    panel.add_patch(edge)


def cell_corners(frame: ForceNetwork) -> np.ndarray:
    """Corners of the periodic cell (8, 3) [m], from the origin on."""
    d = frame.bodies.dim
    sides = np.stack(np.meshgrid(*[[0.0, 1.0]] * d, indexing="ij"), axis=-1).reshape(-1, d)
    return sides @ frame.cell[:d]


def _draw_ground(panel, frame: ForceNetwork, body: int, shown, p: Palette) -> None:
    """The inner side of a half-space seen edge on; one that faces the viewer is left out."""
    from matplotlib.patches import Polygon

    turn = matrix(frame.quaternion[body : body + 1])[0]
    n = (turn @ frame.bodies.shape(body).local_normal)[list(shown)]
    if np.linalg.norm(n) < 0.5:
        return
    n = n / np.linalg.norm(n)
    (x0, x1), (y0, y1) = panel.get_xlim(), panel.get_ylim()
    middle, size = np.array([x0 + x1, y0 + y1]) / 2, 2 * np.hypot(x1 - x0, y1 - y0)
    at = frame.position[body][list(shown)]
    at = middle - ((middle - at) @ n) * n
    along = size * np.array([-n[1], n[0]])
    corners = [at - along, at + along, at + along - size * n, at - along - size * n]
    panel.add_patch(Polygon(corners, facecolor=p.ground, edgecolor=p.ink, linewidth=0.6, zorder=0))
