"""Determinacy map: which contact forces rigid-body mechanics determines, and bounds on the
others (``rigidlimit.determinacy``)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...bodies import State
from ...diagnostics import determinacy
from ...errors import InputError
from ...kinematics import in_frame, tangential_gradient
from ...step.force_network import ForceNetwork
from ...step.friction import sliding_direction
from ..limits import LIMITS
from ..measures.selection import in_cell
from ..sources import network_of
from ..vtk import contact_lines
from . import spatial
from .bodies import draw_bodies, extent_of, plane_of
from .canvas import canvas, colour_bar
from .lines import label_axes, line_widths, show_end_on
from .meshes import Tubes
from .network import choose_view
from .style import force_colours, force_unit, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sources import Source


def frame_determinacy(shown: ForceNetwork, *, intervals: str = "auto"):
    """(Determinacy, indices of the closed contacts it speaks of) of one frame."""
    closed = np.flatnonzero(shown.closed)
    if not len(closed):
        raise InputError(
            f"no contact is closed at t = {shown.time:.4g} s; a determinacy map needs some: try "
            "another frame"
        )
    rough = shown.best in shown.tangential
    most = LIMITS.cones if rough and shown.bodies.dim == 3 else LIMITS.intervals
    if intervals == "auto" and len(closed) > most:
        intervals = "none"
    if rough:
        rows, force = rough_rows(shown, closed)
        return determinacy(**rows, force=force, intervals=intervals), closed
    found = determinacy(
        *shown.balance,
        force=shown.of(None)[1][closed],
        fixed=~shown.bodies.free.ravel(),
        intervals=intervals,
        blocks=shown.bodies.blocks,
    )
    return found, closed


def rough_rows(shown: ForceNetwork, closed: np.ndarray) -> tuple[dict, np.ndarray]:
    """(what ``determinacy`` takes of rough contacts, their best forces (m, d) [N]) of the contacts
    ``closed`` (m,). Those that slide in step 1 are known to slide."""
    contacts = shown.contacts.select(closed)
    state = State(shown.start, shown.quaternion, np.zeros((len(shown.start), 6)))
    rows = dict(
        B=shown.B[closed],
        load=shown.load,
        tangential=tangential_gradient(shown.bodies, state, contacts),
        friction=shown.friction[closed],
        fixed=~shown.bodies.free.ravel(),
        blocks=shown.bodies.blocks,
    )
    if shown.step is not None and shown.step.classic.sliding[closed].any():
        rows["sliding_direction"] = sliding_direction(shown.step)[closed]
    rub = in_frame(contacts, shown.tangential[shown.best][closed])
    return rows, np.column_stack([shown.forces[shown.best][closed], rub])


def determinacy_map(
    source: "Source",
    *,
    view: str | None = None,
    intervals: str = "auto",
    units: tuple[str, float] | None = None,
    dark: bool = False,
) -> "Figure":
    """Contacts as lines, by what statics says of their forces.

    Determined ones have one colour, the others that of the width of the interval of their
    admissible forces; contacts that can carry nothing are dotted. Of rough contacts widths are
    those of normal forces, and determined are those with all components.

    Parameters
    ----------
    source
        As of ``measures.body_forces``.
    view, units, dark
        As of ``force_network``.
    intervals : {"auto", "exact", "bounds", "none"}
        As of ``determinacy``; "auto" leaves them out above 1000 closed contacts.

    Raises
    ------
    InputError
        Where no contact is closed, and as of ``determinacy``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> figure = rl.plots.determinacy_map(rl.Simulation("beam").step())
    >>> rl.plots.save_figure(figure, "beam.pdf")
    """
    shown = network_of(source)
    view = choose_view(shown, view)
    found, closed = frame_determinacy(shown, intervals=intervals)
    with look(dark) as p:
        return _figure(shown, found, closed, view, units, p)


@dataclass(frozen=True)
class _Group:
    """Contacts that look alike. rows: of the closed contacts; colours: one, or one a contact;
    share: of the greatest width of lines."""

    name: str
    rows: np.ndarray
    colours: object
    share: float
    text: str

    @property
    def rgba(self) -> np.ndarray:
        from matplotlib.colors import to_rgba_array

        return np.broadcast_to(to_rgba_array(self.colours), (len(self.rows), 4))


def _groups(found, top: float, p) -> list[_Group]:
    """All closed contacts in groups, the widest intervals last in theirs."""
    open_, width, colours = ~_determined(found), _width(found), force_colours(p)
    finite = np.flatnonzero(open_ & np.isfinite(width))
    finite = finite[np.argsort(width[finite], kind="stable")]
    shades = colours(width[finite] / (top or 1.0))
    rows = {
        "idle": (np.flatnonzero(~open_ & ~found.can_carry), p.faint, 0.05, "always zero"),
        "determined": (np.flatnonzero(~open_ & found.can_carry), p.marks[1], 0.45, "determined"),
        "unknown": (np.flatnonzero(open_ & np.isnan(width)), p.marks[0], 0.45, "undetermined"),
        "undetermined": (finite, shades, 0.45, "undetermined"),
        "unbounded": (np.flatnonzero(open_ & np.isinf(width)), p.marks[3], 0.45, "unbounded"),
    }
    return [
        _Group(name, which, colour, share, f"{len(which)} {text}")
        for name, (which, colour, share, text) in rows.items()
        if len(which)
    ]


def _determined(found) -> np.ndarray:
    return found.determined if found.determined.ndim == 1 else found.determined.all(axis=1)


def _width(found) -> np.ndarray:
    """Widths of the intervals of normal forces (m,) [N]."""
    if found.determined.ndim == 1:
        return found.width
    with np.errstate(invalid="ignore"):
        return found.interval[:, 0, 1] - found.interval[:, 0, 0]


def _figure(shown, found, closed, view, units, p):
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    finite = _width(found)[~_determined(found)]
    finite = finite[np.isfinite(finite)]
    top = float(finite.max(initial=0.0))
    groups = _groups(found, top, p)
    ends = contact_lines(shown.position, shown.contacts)[closed]
    place = dict(panels=1, bars=int(len(finite) > 0), titled=True, note=True)
    if view == "3d":
        rows = np.concatenate([g.rows for g in groups])
        share = np.concatenate([np.full(len(g.rows), g.share) for g in groups])
        tubes = Tubes(ends[rows], share, np.concatenate([g.rgba for g in groups]))
        made = spatial.panels(shown, [spatial.Picture(tubes)], 0.0, p, place)
    else:
        axes, _ = plane_of(shown, view)
        shown = in_cell(shown)
        made = canvas(p, extent_of(shown, axes).widened(), **place)
        draw_bodies(made.panels[0], shown, view, p)
        for level, g in enumerate(groups):
            _draw_group(made, shown, g, ends[g.rows][:, :, list(axes)], level)
        label_axes(made, axes)
    made.panels[0].set_title(f"degree of indeterminacy {found.degree}", pad=3)
    handles = [
        Line2D([], [], color=g.rgba[-1], linestyle=_dash(g), linewidth=1.8, label=g.text)
        for g in groups
    ]
    made.figure.legend(
        handles=handles,
        loc="lower center",
        ncols=len(handles),
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=0.15,
        columnspacing=1.2,
        handlelength=1.5,
    )
    if len(finite):
        factor, name = force_unit(top, units)
        exact = "outer bounds" not in found.interval_method
        text = "width of the interval of admissible forces" if exact else "bound on the width"
        scale = Normalize(0, (top or 1.0) * factor)
        colour_bar(made.bars[0], scale, force_colours(p), f"{text} [{name}]", p)
    return made.figure


def _dash(g: _Group) -> str:
    return ":" if g.name == "idle" else "-"


def _draw_group(made, shown, g: _Group, ends, level: int) -> None:
    from matplotlib.collections import LineCollection

    show_end_on(ends, 0.1 / made.points)
    lines = LineCollection(
        ends,
        colors=g.rgba,
        linewidths=0.7 if g.name == "idle" else line_widths(shown, g.share, made.points),
        linestyles=_dash(g),
        capstyle="butt" if g.name == "idle" else "round",
        zorder=3 + level,
    )
    lines.set_gid(g.name)
    lines.set_snap(False)
    made.panels[0].add_collection(lines)
