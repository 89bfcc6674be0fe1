"""Determinacy map: which contact forces rigid-body mechanics determines, and how far it leaves the
others open (``rigidlimit.determinacy``)."""

import numpy as np

from ...diagnostics import determinacy
from ...errors import InputError
from ..vtk import contact_lines
from .bodies import draw_bodies, extent_of, plane_of
from .canvas import canvas, colour_bar
from .frames import Frame, frame
from .lines import label_axes, line_widths
from .style import force_colours, look, unit

INTERVALS = 1000
"""Closed contacts up to which the widths of the intervals are computed; two linear programs each.
Larger systems get their degree and which forces are determined."""


def frame_determinacy(shown: Frame, *, intervals: str = "auto"):
    """(Determinacy, indices of the closed contacts it speaks of) of one frame."""
    closed = np.flatnonzero(shown.closed)
    if not len(closed):
        raise InputError(
            f"no contact is closed at t = {shown.time:.4g} s; a determinacy map needs some: try "
            "another frame"
        )
    if intervals == "auto" and len(closed) > INTERVALS:
        intervals = "none"
    found = determinacy(
        shown.B[closed],
        shown.load,
        fixed=~shown.bodies.free.ravel(),
        intervals=intervals,
        blocks=np.arange(0, 6 * len(shown.bodies) + 1, 6),
    )
    return found, closed


def determinacy_map(
    source,
    *,
    scene=None,
    index: int = -1,
    view: str | None = None,
    intervals: str = "auto",
    units: tuple[str, float] | None = None,
    dark: bool = False,
):
    """Contacts as lines: determined ones in one colour, the others by the width of the interval
    of their admissible forces; contacts that can carry nothing dotted.

    view: "front", "side" or "top" for scenes in space. intervals: as for ``determinacy``; "auto"
    leaves them out above INTERVALS closed contacts.
    """
    shown = frame(source, scene=scene, index=index)
    found, closed = frame_determinacy(shown, intervals=intervals)
    view = "front" if shown.bodies.dim == 2 or view in (None, "3d") else view
    with look(dark) as p:
        return _figure(shown, found, closed, view, units, p)


def _figure(shown, found, closed, view, units, p):
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    axes, _ = plane_of(shown, view)
    open_ = ~found.determined
    width = found.width
    finite = open_ & np.isfinite(width)
    unbounded = open_ & np.isinf(width)
    unknown = open_ & np.isnan(width)
    top = float(width[finite].max(initial=0.0))
    factor, name = unit(top, "N") if units is None else (1 / units[1], units[0])
    extent = extent_of(shown, axes).widened()
    made = canvas(p, extent, panels=1, bars=int(finite.any()), titled=True, note=True)
    panel = made.panels[0]
    draw_bodies(panel, shown, view, p)
    ends = contact_lines(shown.position, shown.contacts)[closed][:, :, list(axes)]
    thick = float(line_widths(shown, np.array(0.45), made.points))
    scale, colours = Normalize(0, top or 1.0), force_colours(p)
    determined = found.determined & found.can_carry
    idle = found.determined & ~found.can_carry
    order = np.flatnonzero(finite)[np.argsort(width[finite], kind="stable")]
    blue, other = p.marks[1], p.marks[3]
    groups = (
        ("idle", np.flatnonzero(idle), p.faint, ":", 0.7, f"{int(idle.sum())} always zero"),
        ("determined", np.flatnonzero(determined), blue, "-", thick,
         f"{int(determined.sum())} determined"),
        ("unknown", np.flatnonzero(unknown), p.marks[0], "-", thick,
         f"{int(unknown.sum())} undetermined"),
        ("undetermined", order, colours(scale(width[order])), "-", thick,
         f"{int(finite.sum())} undetermined"),
        ("unbounded", np.flatnonzero(unbounded), other, "-", thick,
         f"{int(unbounded.sum())} unbounded"),
    )  # fmt: skip
    handles = []
    for level, (gid, which, colour, style, line, text) in enumerate(groups):
        if not len(which):
            continue
        lines = LineCollection(
            ends[which],
            colors=colour,
            linewidths=line,
            linestyles=style,
            capstyle="round" if style == "-" else "butt",
            zorder=3 + level,
        )
        lines.set_gid(gid)
        panel.add_collection(lines)
        sample = colours(0.75) if gid == "undetermined" else colour
        handles.append(Line2D([], [], color=sample, linestyle=style, linewidth=1.8, label=text))
    panel.set_title(f"degree of indeterminacy {found.degree}", pad=3)
    label_axes(made, shown, axes)
    made.figure.legend(
        handles=handles,
        loc="lower center",
        ncols=len(handles),
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=0.15,
        columnspacing=1.2,
        handlelength=1.5,
    )
    if finite.any():
        exact = "outer bounds" not in found.interval_method
        text = "width of the interval of admissible forces" if exact else "bound on the width"
        colour_bar(made.bars[0], Normalize(0, top * factor), colours, f"{text} [{name}]", p)
    return made.figure
