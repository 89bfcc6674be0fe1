"""Lines of a force network, and the words and axes around them."""

from typing import TYPE_CHECKING

import numpy as np

from ...compatibility.bearing import bearing
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..vtk import contact_lines
from .bodies import plane_of
from .canvas import Canvas
from .style import LAYOUT, Palette, force_colours, unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def carrying(force: np.ndarray, largest: float) -> np.ndarray:
    """Indices of the contacts that carry load, the largest force last."""
    order = np.argsort(force, kind="stable")
    return order[bearing(force[order], largest)]


def within(shown: ForceNetwork, view: str, slab: tuple[float, float] | None) -> np.ndarray:
    """Contacts in a slab across the line of sight, (m,) bool; all without a slab."""
    if slab is None:
        return np.ones(len(shown.contacts), bool)
    if shown.bodies.dim == 2 or view == "3d":
        raise InputError(
            f"slab is for scenes in space seen from the front, the side or the top; found "
            f"view={view!r} in {shown.bodies.dim}D; leave slab out"
        )
    axes, _ = plane_of(shown, view)
    at = shown.contacts.point[:, ({0, 1, 2} - set(axes)).pop()]
    return (at >= slab[0]) & (at <= slab[1])


def line_widths(shown: ForceNetwork, share: np.ndarray, points: float) -> np.ndarray:
    """Widths [pt] of lines for forces as parts of the largest; points: per metre."""
    widest = float(np.clip(0.8 * shown.bodies.length * points, 1.2, LAYOUT.force_line))
    return 0.3 + (widest - 0.3) * share


def draw_lines(
    panel: "Axes",
    shown: ForceNetwork,
    force: np.ndarray,
    largest: float,
    view: str,
    p: Palette,
    points: float,
    shade: np.ndarray,
) -> None:
    """One line for each contact that carries load, the strongest on top; shade (m,): place on the
    colour map, 0 to 1."""
    from matplotlib.collections import LineCollection

    axes, _ = plane_of(shown, view)
    which = carrying(force, largest)
    ends = contact_lines(shown.position, shown.contacts)[which][:, :, list(axes)]
    show_end_on(ends, 0.1 / points)
    share = force[which] / largest if len(which) else np.zeros(0)
    lines = LineCollection(
        ends,
        linewidths=line_widths(shown, share, points),
        colors=force_colours(p)(shade[which]),
        capstyle="round",
        zorder=3,
    )
    lines.set_gid("forces")
    lines.set_snap(False)  # snapping to pixels swallows lines seen end on
    panel.add_collection(lines)


def draw_friction(
    panel: "Axes",
    shown: ForceNetwork,
    method: str,
    force: np.ndarray,
    largest: float,
    view: str,
    p: Palette,
) -> None:
    """Arrows of the tangential forces on the second bodies, and rings around contacts that slide.

    force (m,) [N]: normal forces, zero where a contact is not shown. An arrow of the scene's
    reference length, ``bodies.length``, stands for ``largest`` [N].
    """
    if method not in shown.tangential or largest <= 0.0:
        return
    axes, _ = plane_of(shown, view)
    which = carrying(force, largest)
    at = shown.contacts.point[which][:, list(axes)]
    arrow = shown.tangential[method][which][:, list(axes)] * (shown.bodies.length / largest)
    panel.quiver(
        *at.T,
        *arrow.T,
        angles="xy",
        scale_units="xy",
        scale=1.0,
        width=LAYOUT.arrow,
        minlength=0.0,
        color=p.marks[2],
        zorder=4,
        gid="tangential",
    )
    slides = shown.sliding.get(method, np.zeros(len(force), bool))[which]
    panel.scatter(
        *at[slides].T, s=12, facecolors="none", edgecolors=p.marks[2], linewidths=0.7, zorder=5,
        gid="sliding",
    )  # fmt: skip


def show_end_on(ends: np.ndarray, least: float) -> None:
    """Lines (k, 2, 2) seen end on get a length of ``least`` [m]: round caps make them dots."""
    short = np.abs(ends[:, 1] - ends[:, 0]).max(axis=1) < least
    ends[short, 1, 0] = ends[short, 0, 0] + least


def label_axes(made: Canvas, axes: tuple[int, int]) -> None:
    """Axes in m, mm or micrometres, labelled at the outer panels."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    panel = made.panels[0]
    span = max(np.ptp(panel.get_xlim()), np.ptp(panel.get_ylim()))
    factor, name = unit(min(span, 1.0), "m")
    for panel in made.panels:
        for axis, direction in ((panel.xaxis, 0), (panel.yaxis, 1)):
            length = np.ptp(panel.get_xlim() if direction == 0 else panel.get_ylim())
            inches = length * made.points / 72
            ticks = MaxNLocator(max(2, int(inches / 0.5)), steps=[1, 2, 2.5, 5, 10])
            axis.set_major_locator(ticks)
            axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v * factor:.6g}"))
        if panel.xaxis.get_tick_params().get("labelbottom", True):
            panel.set_xlabel(f"{'xyz'[axes[0]]} [{name}]", labelpad=1)
        if panel.yaxis.get_tick_params().get("labelleft", True):
            panel.set_ylabel(f"{'xyz'[axes[1]]} [{name}]", labelpad=2)
