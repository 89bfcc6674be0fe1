"""Force networks as pictures (matplotlib): lines whose width and colour show the contact force."""

import numpy as np

from ..bodies import Bodies, Disk, HalfSpace, Sphere
from ..bodies.rotations import matrix
from .surfaces import outline_2d
from .vtk import contact_lines

COLOURS = "viridis"
"""Perceptually uniform and safe for colour-blind readers."""


def force_network(
    bodies: Bodies,
    position: np.ndarray,
    quaternion: np.ndarray,
    contacts,
    forces: dict[str, np.ndarray],
    *,
    unit: str = "N",
    view: str = "front",
    title: str = "",
):
    """A matplotlib Figure with one panel for each entry of ``forces`` (name -> (m,)), one scale.

    view, for scenes in space: "front" looks along +y, "top" along -z. unit: for the colour bar.
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    axes_shown = (0, 1) if bodies.dim == 2 or view == "top" else (0, 2)
    largest = max((np.nanmax(f, initial=0.0) for f in forces.values()), default=0.0) or 1.0
    figure = Figure(figsize=(0.6 + 4.2 * len(forces), 4.2), layout="constrained")
    panels = figure.subplots(1, len(forces), squeeze=False)[0]
    scale = Normalize(0, largest)
    colours = colormaps[COLOURS]
    ends = contact_lines(bodies, position, contacts)[:, :, axes_shown]
    for panel, (name, force) in zip(panels, forces.items(), strict=True):
        _draw_bodies(panel, bodies, position, quaternion, axes_shown)
        shown = np.argsort(force)
        shown = shown[force[shown] > 1e-9 * largest]
        panel.add_collection(
            LineCollection(
                ends[shown],
                linewidths=0.3 + 4.0 * force[shown] / largest,
                colors=colours(scale(force[shown])),
                capstyle="round",
                zorder=3,
            )
        )
        panel.set_title(name)
        panel.set_aspect("equal")
        panel.set_xlabel("xyz"[axes_shown[0]] + " [m]")
        _frame(panel, bodies, position, axes_shown)
    panels[0].set_ylabel("xyz"[axes_shown[1]] + " [m]")
    bar = figure.colorbar(ScalarMappable(scale, colours), ax=list(panels), shrink=0.85)
    bar.set_label(f"contact force [{unit}]")
    if title:
        figure.suptitle(title)
    return figure


def force_histograms(forces: dict[str, np.ndarray], *, unit: str = "N", bins: int = 30):
    """A matplotlib Figure: how many contacts carry how much, one panel a method, common scales.

    Contacts below 1e-6 of the largest force are left out; each title says how many are left.
    """
    from matplotlib.figure import Figure

    largest = max((f.max(initial=0.0) for f in forces.values()), default=0.0) or 1.0
    edges = np.linspace(0, largest, bins + 1)
    figure = Figure(figsize=(1.0 + 2.6 * len(forces), 3.0), layout="constrained")
    panels = figure.subplots(1, len(forces), squeeze=False, sharey=True)[0]
    for panel, (name, force) in zip(panels, forces.items(), strict=True):
        bearing = force[force > 1e-6 * largest]
        panel.hist(bearing, edges, color="#31688e", edgecolor="white", linewidth=0.3)
        panel.set_title(f"{name} ({len(bearing)})")
        panel.set_xlabel(f"contact force [{unit}]")
        panel.set_yscale("log")
    panels[0].set_ylabel("contacts")
    return figure


def _draw_bodies(panel, bodies, position, quaternion, shown):
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Outline

    turn = matrix(quaternion)
    patches = []
    for body in range(len(bodies)):
        shape = bodies.shape(body)
        centre = position[body][list(shown)]
        if isinstance(shape, HalfSpace):
            _draw_plane(panel, turn[body] @ shape.local_normal, position[body], shown)
        elif isinstance(shape, Sphere | Disk):
            patches.append(Circle(centre, shape.radius))
        elif shape.dim == 2:
            patches.append(Outline(outline_2d(shape) @ turn[body][:2, :2].T + centre))
        else:
            from scipy.spatial import ConvexHull

            from .surfaces import surface

            flat = (surface(shape)[0] @ turn[body].T)[:, list(shown)] + centre
            patches.append(Outline(flat[ConvexHull(flat).vertices]))
    panel.add_collection(
        PatchCollection(patches, facecolor="0.93", edgecolor="0.75", linewidths=0.4, zorder=1)
    )


def _draw_plane(panel, normal, point, shown):
    n = normal[list(shown)]
    if np.linalg.norm(n) < 0.5:
        return  # the plane faces the viewer
    at = point[list(shown)]
    panel.axline(at, at + np.array([-n[1], n[0]]), color="0.4", linewidth=1.0, zorder=2)


def _frame(panel, bodies, position, shown):
    """Limits around the finite bodies; a half-space has no end."""
    radius = bodies.bounding_radius
    finite = np.isfinite(radius)
    if not finite.any():
        return
    at, r = position[finite][:, list(shown)], radius[finite][:, None]
    low, high = (at - r).min(axis=0), (at + r).max(axis=0)
    margin = 0.04 * (high - low).max()
    panel.set_xlim(low[0] - margin, high[0] + margin)
    panel.set_ylim(low[1] - margin, high[1] + margin)


def save_figure(figure, path) -> None:
    """Write a figure as PNG, PDF or SVG by the ending of ``path``, whole or not at all."""
    from pathlib import Path

    from ..atomic import whole_file

    path = Path(path)
    with whole_file(path) as temporary:
        figure.savefig(temporary, format=path.suffix.lstrip(".") or "png", dpi=200)
