"""Floor forces: how hard the packing presses on what holds it, from above or along the floor.

In space: held bodies as outlines filled by the force on them, and contacts with half-spaces as
dots where they act. In the plane: a stem for each contact, or for each held body, at its place.
Only what holds from below counts: normals within 60 degrees of the vertical.
"""

from typing import TYPE_CHECKING

import numpy as np

from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..sources import network_of
from .bodies import extent_of, outline, patch
from .canvas import Extent, canvas, colour_bar
from .lines import label_axes
from .style import LAYOUT, Palette, force_colours, force_unit, label, look, tidy, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..sources import Source


def floor_points(shown: ForceNetwork) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(place (k, 3) [m], body (k,), row (m,)): where the floor is pressed.

    row: which place each contact presses on, -1 for contacts that do not touch the floor. A held
    body of finite size is one place, each contact with a half-space is one. body: the held body.
    """
    contacts, up = shown.contacts, shown.up
    held = ~shown.bodies.free.any(axis=1)
    pair = contacts.body
    below = held[pair[:, 0]] & ~held[pair[:, 1]]
    above = held[pair[:, 1]] & ~held[pair[:, 0]]
    outward = np.where(below, 1.0, -1.0) * (contacts.normal @ up)
    presses = (below | above) & (outward > 0.5)
    body = np.where(below, pair[:, 0], pair[:, 1])
    # contacts with one finite body share a place, those with a half-space have their own
    key = np.where(shown.half_space[body], len(held) + np.arange(len(contacts)), body)
    which = np.flatnonzero(presses)
    first, row = np.full(len(contacts), -1), np.full(len(contacts), -1)
    places, first, row_of = np.unique(key[which], return_index=True, return_inverse=True)
    row[which] = row_of
    own = body[which[first]] if len(places) else np.zeros(0, int)
    at = np.where(shown.half_space[own][:, None], contacts.point[which[first]], shown.position[own])
    return at, own, row


def floor_load(shown: ForceNetwork, force: np.ndarray, row: np.ndarray, places: int) -> np.ndarray:
    """Force along -up on each place, (places,) [N]."""
    use = row >= 0
    down = np.abs(shown.contacts.normal[use] @ shown.up) * force[use]
    return np.bincount(row[use], down, minlength=places)


def floor_forces(
    source: "Source",
    *,
    methods: list[str] | None = None,
    units: tuple[str, float] | None = None,
    dark: bool = False,
) -> "Figure":
    """Map of the vertical force on the floor, one panel a method, one scale; stems in 2D.

    Parameters
    ----------
    source
        As of ``measures.body_forces``.
    methods : list of str, optional
        All that the source has by default.
    units, dark
        As of ``force_network``.

    Raises
    ------
    InputError
        Where nothing rests on a held body, and for a source without such forces.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation(rl.scenes.pyramid(4, drop=0.0)).step()
    >>> figure = rl.plots.floor_forces(step, methods=["compatible"])
    >>> rl.plots.save_figure(figure, "floor.pdf")
    """
    shown = network_of(source)
    methods = shown.chosen(methods)
    at, body, row = floor_points(shown)
    if not len(at):
        raise InputError(
            f"nothing rests on a held body at t = {shown.time:.4g} s; a floor map needs contacts "
            "with a fixed body or a half-space below"
        )
    loads = {m: floor_load(shown, shown.forces[m], row, len(at)) for m in methods}
    top = max(float(load.max()) for load in loads.values())
    factor, name = force_unit(top, units)
    with look(dark) as p:
        if shown.bodies.dim == 2:
            return _stems(shown, at, loads, factor, name, p)
        return _map(shown, at, body, loads, top, factor, name, p)


def _stems(shown, at, loads, factor, name, p):
    from matplotlib.figure import Figure

    from .charts import MARKS

    figure = Figure(figsize=(LAYOUT.column, 2.4), layout="constrained")
    panel = figure.subplots()
    along = np.array([-shown.up[1], shown.up[0]]) * -1.0
    x = at[:, :2] @ along
    span = float(np.ptp(x)) or 1.0
    metre, metres = unit(min(span, 1.0), "m")
    count = len(loads)
    for k, (method, load) in enumerate(loads.items()):
        # side by side, so that equal forces do not hide one another
        shift = (k - (count - 1) / 2) * 0.012 * span
        colour = p.marks[k % len(p.marks)]
        place = (x + shift) * metre
        panel.vlines(place, 0, load * factor, color=colour, linewidth=0.9)
        panel.plot(
            place, load * factor, MARKS[k % len(MARKS)], color=colour, markersize=3.5,
            label=label(method),
        )  # fmt: skip
    panel.set_ylim(bottom=0)
    panel.margins(x=0.05)
    panel.set_xlabel(f"place along the floor [{metres}]")
    panel.set_ylabel(f"force on the floor [{name}]")
    tidy(panel, p)
    if count > 1:
        figure.legend(loc="outside upper center", ncols=count)
    return figure


def _map(shown, at, body, loads, top, factor, name, p):
    from matplotlib.colors import Normalize

    extent = floor_extent(shown, body, _dot(shown, body))
    made = canvas(p, extent, panels=len(loads), bars=1, titled=len(loads) > 1)
    scale, colours = Normalize(0, top or 1.0), force_colours(p)
    for panel, (method, load) in zip(made.panels, loads.items(), strict=True):
        draw_floor(panel, shown, (at, body), scale(load), p)
        if len(loads) > 1:
            panel.set_title(label(method), pad=3)
    label_axes(made, (0, 1))
    colour_bar(
        made.bars[0], Normalize(0, (top or 1.0) * factor), colours,
        f"vertical force on the floor [{name}]", p,
    )  # fmt: skip
    return made.figure


def draw_floor(
    panel: "Axes", shown: ForceNetwork, places: tuple, share: np.ndarray, p: Palette
) -> None:
    """What holds the packing, filled by the ``share`` (k,) of the scale that presses on it.

    places: (at (k, 3), body (k,)) of ``floor_points``.
    """
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    at, body = places
    ground, dot = shown.half_space[body], _dot(shown, body)
    if ground.any():
        _draw_resting(panel, shown, p)
    patches = [
        Circle(place[:2], dot) if plane else patch(shown, own, (0, 1))
        for place, own, plane in zip(at, body, ground, strict=True)
    ]
    drawn = PatchCollection(patches, edgecolor=p.edge, linewidths=0.3, zorder=3)
    drawn.set_facecolor(force_colours(p)(share))
    drawn.set_gid("floor")
    panel.add_collection(drawn)


def _dot(shown, body) -> float:
    """Radius of the dot of a contact with a half-space [m]."""
    return min(0.16 * shown.bodies.length, 0.02 * float(floor_extent(shown, body).size.max()))


def floor_extent(shown: ForceNetwork, body: np.ndarray, dot: float = 0.0) -> Extent:
    """Around what holds the packing, bodies (k,), and around dots of radius ``dot`` [m]."""
    if shown.half_space[body].any():
        around = extent_of(shown, (0, 1))
        return Extent(around.low - dot, around.high + dot)
    flat = np.concatenate([outline(shown, b, (0, 1)) for b in np.unique(body)])
    low, high = flat.min(axis=0), flat.max(axis=0)
    margin = 0.04 * (high - low).max()
    return Extent(low - margin, high + margin)


def _draw_resting(panel, shown, p) -> None:
    """Outlines of the bodies that touch the floor, seen from above."""
    from matplotlib.collections import PatchCollection

    _, _, row = floor_points(shown)
    resting = np.unique(shown.contacts.body[row >= 0])
    patches = [patch(shown, body, (0, 1)) for body in resting[~shown.half_space[resting]]]
    plain = dict(facecolor=str(p.grey[0]), edgecolor=p.faint, linewidths=0.5, zorder=1)
    panel.add_collection(PatchCollection(patches, **plain))
