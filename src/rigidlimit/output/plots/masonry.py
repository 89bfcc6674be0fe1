"""Pictures of statics: line of thrust with mobilised friction, mechanism at collapse."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...bodies import rotations
from ...errors import InputError
from ...step.force_network import ForceNetwork
from .bodies import draw_bodies, extent_of, patch, plane_of
from .canvas import Extent, canvas, colour_bar
from .lines import label_axes
from .style import LAYOUT, Palette, force_colours, look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ...diagnostics import Collapse
    from ...pose import Joints, Statics


def thrust_line(
    statics: "Statics",
    force: ArrayLike | None = None,
    *,
    view: str = "front",
    title: str = "",
    dark: bool = False,
) -> "Figure":
    """Where the thrust passes: centres of pressure of the joints, joined through the blocks.

    Lines are wide by the resultant; joints are coloured by the friction that they mobilise, 1
    where one is about to slide. In a block that two joints hold, the line goes from one to the
    other, in others from all joints to one point.

    Parameters
    ----------
    statics : Statics
        Of ``rigidlimit.statics``.
    force : (m, d) [N], optional
        Normal forces first; by default those of stiff elastic bodies (``Statics.forces``).
    view : {"front", "side", "top"}
        Of scenes in space.
    title : str
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        For forces of another shape, and another view.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> arch = rl.statics(rl.scenes.arch(9))
    >>> figure = rl.plots.thrust_line(arch)
    >>> rl.plots.save_figure(figure, "arch.pdf")
    """
    from matplotlib.colors import Normalize

    if force is None:
        found = statics.forces()
        force = np.column_stack([found.force, found.tangential_force])
        title = title or f"forces of elastic bodies: {found.state}"
    joints = statics.joints(force)
    shown = statics.network
    axes, _ = plane_of(shown, view)
    with look(dark) as p:
        made = canvas(p, extent_of(shown, axes).widened(), panels=1, bars=1, titled=False,
                      heading=title)  # fmt: skip
        panel = made.panels[0]
        draw_bodies(panel, shown, view, p)
        free = np.flatnonzero(statics.bodies.free.any(axis=1))
        _draw_thrust(panel, joints, free, axes, p)
        scale, colours = Normalize(0, 1), force_colours(p)
        _draw_joints(panel, statics, joints, axes, colours(scale(np.nan_to_num(joints.mobilised))))
        label_axes(made, axes)
        colour_bar(made.bars[0], scale, colours, "mobilised friction [-]", p)
        return made.figure


def collapse_mechanism(
    statics: "Statics",
    collapse: "Collapse",
    *,
    view: str = "front",
    size: float = LAYOUT.shift,
    title: str | None = None,
    dark: bool = False,
) -> "Figure":
    """The mechanism at collapse: blocks where they begin to go, over their outlines at rest.

    Dots mark hinges: contacts that keep touching where a joint opens; crosses sliding ones.

    Parameters
    ----------
    statics : Statics
        Of ``rigidlimit.statics``.
    collapse : Collapse
        Of ``Statics.load_factor``.
    view : {"front", "side", "top"}
        Of scenes in space.
    size : float
        Largest displacement drawn, over the size of what is shown.
    title : str, optional
        By default the load factor.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        Where there is no mechanism, and for another view.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> tower = rl.statics(rl.scenes.tower(3))
    >>> figure = rl.plots.collapse_mechanism(tower, tower.load_factor())
    >>> rl.plots.save_figure(figure, "tower.pdf")
    """
    if not collapse.mechanism.any():
        raise InputError("there is no mechanism to draw: the load can grow without end")
    shown = statics.network
    axes, _ = plane_of(shown, view)
    extent = extent_of(shown, axes)
    moved = displaced(shown, collapse.mechanism, size * float(extent.size.max()))
    after = extent_of(moved, axes)
    extent = Extent(np.minimum(extent.low, after.low), np.maximum(extent.high, after.high))
    most = "" if collapse.exact else "at most "
    heading = f"load factor {most}{collapse.factor:.4g}" if title is None else title
    with look(dark) as p:
        made = canvas(
            p, extent.widened(), panels=1, bars=0, titled=False, heading=heading, note=True
        )
        panel = made.panels[0]
        draw_bodies(panel, moved, view, p)
        _draw_outlines(panel, shown, axes, p)
        drawn = _mark(panel, statics, collapse, axes, p)
        label_axes(made, axes)
        made.figure.legend(
            handles=drawn,
            loc="lower center",
            ncols=len(drawn),
            bbox_to_anchor=(0.5, 0.0),
            borderaxespad=0.15,
            handletextpad=0.1,
        )
        return made.figure


def displaced(shown: ForceNetwork, motion: np.ndarray, largest: float) -> ForceNetwork:
    """The bodies moved along a motion (6 n,), the farthest point by about ``largest`` [m].

    Each turns about its own instantaneous axis, so that bodies that move as one stay together."""
    velocity = motion.reshape(-1, 6)
    radius = np.where(np.isfinite(shown.bodies.bounding_radius), shown.bodies.bounding_radius, 0.0)
    way = np.linalg.norm(velocity[:, :3], axis=1) + radius * np.linalg.norm(velocity[:, 3:], axis=1)
    step = largest / (way.max() or 1.0)
    shift, turn = step * velocity[:, :3], step * velocity[:, 3:]
    angle = (turn**2).sum(axis=1, keepdims=True)
    from_axis = -np.divide(
        np.cross(turn, shift), angle, out=np.zeros_like(shift), where=angle > LAYOUT.rounding**2
    )
    along = shift - np.cross(turn, from_axis)
    turns = rotations.matrix(rotations.turned(rotations.identity(len(turn)), turn))
    swung = np.einsum("bij,bj->bi", turns, from_axis)
    return replace(
        shown,
        position=shown.position - from_axis + swung + along,
        quaternion=rotations.turned(shown.quaternion, turn),
    )


def _draw_thrust(panel, joints: "Joints", bodies, axes, p: Palette) -> None:
    from matplotlib.collections import LineCollection

    size = np.linalg.norm(joints.force, axis=1)
    carries = np.flatnonzero(size > LAYOUT.rounding * size.max(initial=0.0))
    ends, widths = [], []
    for body in bodies:
        own = carries[(joints.body[carries] == body).any(axis=1)]
        if len(own) < 2:
            continue
        at = joints.point[own][:, list(axes)]
        if len(own) == 2:
            ends.append(at)
            widths.append(size[own].mean())
            continue
        middle = (at * size[own, None]).sum(axis=0) / size[own].sum()
        ends += [np.array([point, middle]) for point in at]
        widths += list(size[own])
    if not ends:
        return
    widths = 0.4 + (LAYOUT.thrust_line - 0.4) * np.array(widths) / max(widths)
    lines = LineCollection(ends, linewidths=widths, colors=p.marks[1], capstyle="round", zorder=4)
    lines.set_gid("thrust")
    panel.add_collection(lines)


def _draw_joints(panel, statics: "Statics", joints: "Joints", axes, colours) -> None:
    """The joints as lines between their outermost contacts; dots where there is one contact."""
    from matplotlib.collections import LineCollection

    points = statics.contacts.point[:, list(axes)]
    ends, shades = [], []
    for joint in np.flatnonzero(~np.isnan(joints.mobilised)):
        own = points[joints.contact == joint]
        along = own - own.mean(axis=0)
        way = along[np.abs(along).sum(axis=1).argmax()]
        order = along @ way
        ends.append(own[[order.argmin(), order.argmax()]])
        shades.append(colours[joint])
    lines = LineCollection(ends, linewidths=1.4, colors=shades, capstyle="round", zorder=3)
    lines.set_gid("joints")
    panel.add_collection(lines)


def _draw_outlines(panel, shown: ForceNetwork, axes, p: Palette) -> None:
    from matplotlib.collections import PatchCollection

    patches = [patch(shown, b, axes) for b in np.flatnonzero(~shown.half_space)]
    outlines = PatchCollection(
        patches, facecolor="none", edgecolor=p.faint, linewidths=0.6, linestyles=":", zorder=2
    )
    outlines.set_gid("at rest")
    panel.add_collection(outlines)


def _mark(panel, statics: "Statics", collapse: "Collapse", axes, p: Palette) -> list:
    """Hinges and sliding contacts, where they are at rest; those kinds of which there are some."""
    joint = statics.joints(np.zeros_like(collapse.force)).contact
    opening = np.zeros(joint.max(initial=-1) + 1, bool)
    opening[joint[collapse.opens]] = True
    closed = opening[joint] & ~collapse.opens
    points = statics.contacts.point[:, list(axes)]
    drawn = []
    for chosen, marker, colour, name, label in (
        (
            closed & ~collapse.slides,
            "o",
            p.marks[0],
            "hinges",
            "hinge: touches where a joint opens",
        ),
        (collapse.slides, "x", p.marks[1], "sliding", "slides"),
    ):
        marks = panel.scatter(*points[chosen].T, s=14, marker=marker, color=colour, linewidths=0.9,
                              zorder=5, gid=name, label=label)  # fmt: skip
        if chosen.any():
            drawn.append(marks)
    return drawn
