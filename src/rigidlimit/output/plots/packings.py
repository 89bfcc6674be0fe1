"""Pictures of packings: P(f) of an ensemble, roses, force chains, coarse-grained fields."""

from typing import TYPE_CHECKING

import numpy as np

from ..._support.words import counted
from ...errors import InputError
from ..measures.chains import force_chains as chains_of
from ..measures.directions import Rose
from ..measures.directions import rose as rose_of
from ..measures.fields import density_field
from ..measures.fields import stress_field as field_of
from ..measures.selection import Chosen, in_cell
from ..measures.statistics import ForceDistribution, mueth_distribution
from ..measures.statistics import force_distribution as distribution_of
from ..sources import network_of
from ..vtk import contact_lines
from .bodies import draw_bodies, extent_of, plane_of
from .canvas import canvas, colour_bar
from .lines import carrying, draw_lines, label_axes
from .style import LAYOUT, force_colours, force_unit, look, tidy, unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sources import Source

FIELDS = ("pressure", "shear", "major", "solid")

CURVES = {"mueth": (mueth_distribution, "Mueth, Jaeger, Nagel 1998")}
"""Published curves of P(f), and their source."""


def force_distribution(
    sources: "ForceDistribution | Source | list", *, curve: str | None = None, dark: bool = False
) -> "Figure":
    """P(f) of one sample or of many, with error bars, its exponential tail, and a published curve.

    Parameters
    ----------
    sources : ForceDistribution, or as of ``measures.force_distribution``
    curve : {"mueth"}, optional
        Glass beads on walls, Phys. Rev. E 57, 1998, 3164.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        For another curve, and as of ``measures.force_distribution``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> figure = rl.plots.force_distribution(step, curve="mueth")
    >>> rl.plots.save_figure(figure, "forces.pdf")
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    if curve is not None and curve not in CURVES:
        raise InputError(f"curve is {curve!r}; expected {', '.join(CURVES)}, or None")
    found = sources if isinstance(sources, ForceDistribution) else distribution_of(sources)
    have = found.density > 0
    with look(dark) as p:
        figure = Figure(figsize=(LAYOUT.column, 2.7), layout="constrained")
        panel = figure.subplots()
        samples = counted(len(found.contacts), "sample")
        panel.errorbar(
            found.middle[have],
            found.density[have],
            # on a logarithmic axis a bar down to zero has no end
            np.minimum(found.error, 0.9 * found.density)[have],
            color=p.marks[1],
            linestyle="none",
            marker="o",
            markersize=3,
            elinewidth=0.6,
            label=f"{found.contacts.sum()} forces, {samples}",
        )
        f = np.linspace(0.0, found.edges[-1], 300)
        if np.isfinite(found.decay):
            tail = f[f >= found.tail_from]
            beyond = found.edges[1:] - np.maximum(found.edges[:-1], found.tail_from)
            share = float((found.density * np.clip(beyond, 0.0, None)).sum())
            line = share * found.decay * np.exp(-found.decay * (tail - found.tail_from))
            panel.plot(
                tail, line, color=p.marks[0], linewidth=0.9, label=f"exp(−{found.decay:.3g} f)"
            )
        if curve is not None:
            function, name = CURVES[curve]
            panel.plot(f, function(f), color=p.ink, linewidth=0.7, linestyle="--", label=name)
        panel.set_yscale("log")
        panel.set_ylim(0.4 * found.density[have].min(), 3 * found.density.max())
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.set_xlim(0, found.edges[-1])
        panel.set_xlabel("contact force over its mean, f / ⟨f⟩ [-]")
        panel.set_ylabel("probability density P(f) [-]")
        tidy(panel, p)
        figure.legend(loc="outside upper center", handlelength=2.0, ncols=1)
        return figure


def rose(
    source: "Rose | Source",
    *,
    of: tuple[str, ...] = ("contacts", "normal"),
    view: str = "front",
    bins: int = 24,
    bodies: Chosen = None,
    method: str | None = None,
    dark: bool = False,
) -> "Figure":
    """Rose diagrams of contacts and of forces by the direction of normals, and harmonics that fit
    them.

    Parameters
    ----------
    source : Rose, or as of ``measures.body_forces``
    of : tuple of {"contacts", "normal", "tangential"}
        One panel each.
    view : {"front", "side", "top"}
        The plane, of scenes in space.
    bins, bodies, method
        As of ``measures.rose``.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        As of ``measures.rose``, and for another view.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("rough-pyramid").step()
    >>> figure = rl.plots.rose(step, of=("contacts", "normal"), bins=12)
    >>> len(figure.axes)
    2
    """
    from matplotlib.figure import Figure

    if isinstance(source, Rose):
        roses = [source]
    else:
        shown = network_of(source)
        plane, _ = plane_of(shown, view)
        roses = [
            rose_of(shown, of=each, bins=bins, plane=plane, bodies=bodies, method=method)
            for each in of
        ]
    titles = {"contacts": "contacts", "normal": "normal forces", "tangential": "tangential forces"}
    with look(dark) as p:
        figure = Figure(figsize=(0.3 + 2.4 * len(roses), 2.7), layout="constrained")
        figure.get_layout_engine().set(wspace=0.15)
        panels = figure.subplots(1, len(roses), squeeze=False, subplot_kw={"projection": "polar"})
        angle = np.linspace(0, 2 * np.pi, 361)
        for panel, each in zip(panels.flat, roses, strict=True):
            middle = 0.5 * (each.edges[1:] + each.edges[:-1])
            panel.bar(
                middle,
                np.nan_to_num(each.values),
                np.diff(each.edges),
                color=p.marks[1],
                edgecolor=p.paper,
                linewidth=0.3,
            )
            panel.plot(angle, each.fitted(angle), color=p.marks[0], linewidth=1.0)
            panel.set_title(f"{titles[each.of]}, a = {each.amplitude:.2g}", pad=8)
            panel.set_yticks([])
            panel.set_xticks(np.radians([0, 90, 180, 270]))
            panel.tick_params(labelsize=7, colors=p.ink, pad=0)
            panel.grid(color=p.faint, linewidth=0.4)
            panel.set_axisbelow(True)
        return figure


def force_chains(
    source: "Source",
    *,
    angle: float = 45.0,
    view: str = "front",
    bodies: Chosen = None,
    method: str | None = None,
    dark: bool = False,
) -> "Figure":
    """Force chains of Peters et al. (2005): their links by force, all other contacts as thin lines.

    Parameters
    ----------
    bodies : names or numbers, optional
        Those that chains are made of; leave out a lid that presses on the packing.
    source, angle, method
        As of ``measures.force_chains``.
    view : {"front", "side", "top"}
        Of scenes in space.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        As of ``measures.force_chains``, and for another view.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation(rl.scenes.box_stack(8)).step()
    >>> figure = rl.plots.force_chains(step)
    >>> rl.plots.save_figure(figure, "chains.pdf")
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    shown = in_cell(network_of(source))
    found = chains_of(shown, angle=angle, bodies=bodies, method=method)
    force = shown.of(method)[1]
    links = {tuple(sorted(pair)) for pair in found.pairs.tolist()}
    linked = np.array([tuple(sorted(b)) in links for b in shown.contacts.body.tolist()], bool)
    strong = np.where(linked, force, 0.0)
    largest = float(strong.max(initial=0.0))
    factor, name = force_unit(largest, None)
    with look(dark) as p:
        axes, _ = plane_of(shown, view)
        extent = extent_of(shown, axes).widened()
        made = canvas(
            p,
            extent,
            panels=1,
            bars=int(largest > 0),
            titled=False,
            heading=counted(len(found), "force chain"),
        )
        panel = made.panels[0]
        draw_bodies(panel, shown, view, p)
        other = carrying(np.where(linked, 0.0, force), float(force.max(initial=0.0)))
        ends = contact_lines(shown.position, shown.contacts)[other][:, :, list(axes)]
        thin = LineCollection(ends, linewidths=0.4, colors=p.faint, zorder=2)
        thin.set_gid("other contacts")
        panel.add_collection(thin)
        draw_lines(panel, shown, strong, largest, view, p, made.points, strong / (largest or 1.0))
        label_axes(made, axes)
        if largest > 0:
            scale = Normalize(0, largest * factor)
            colour_bar(made.bars[0], scale, force_colours(p), f"force in chains [{name}]", p)
        return made.figure


def stress_field(
    source: "Source",
    *,
    of: str = "pressure",
    width: float | None = None,
    at: float | None = None,
    resolution: int = 120,
    view: str = "front",
    bodies: Chosen = None,
    method: str | None = None,
    dark: bool = False,
) -> "Figure":
    """A coarse-grained field (Goldhirsch 2010) over the outlines of bodies.

    Parameters
    ----------
    source
        As of ``measures.body_forces``.
    of : {"pressure", "shear", "major", "solid"}
        The mean of the principal stresses; half the difference of the largest and the least; the
        largest; the solid fraction.
    width : float [m], optional
        Of the Gaussian; by default the mean radius.
    at : float [m], optional
        Place of the section along the line of sight, of scenes in space; by default the middle.
    resolution : int
        Points along the longer side.
    view : {"front", "side", "top"}
        Of scenes in space.
    bodies : names or numbers, optional
        Whose field it is, by default of all that are free to move; leave out a lid that presses on
        the packing.
    method : {"classic", "compatible", "dem"}, optional
        Whose forces; compatible ones by default.
    dark : bool
        For dark pages.

    Raises
    ------
    InputError
        For another field or view, and as of ``measures.stress_field``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> figure = rl.plots.stress_field(step, of="major", resolution=40)
    >>> rl.plots.save_figure(figure, "stress.pdf")
    """
    from matplotlib.colors import Normalize

    from ..measures.tensors import principal

    if of not in FIELDS:
        raise InputError(f"of is {of!r}; expected one of {', '.join(FIELDS)}")
    shown = in_cell(network_of(source))
    axes, _ = plane_of(shown, view)
    extent = extent_of(shown, axes).widened()
    count = np.maximum((resolution * extent.size / extent.size.max()).astype(int), 2)
    x, y = (np.linspace(extent.low[k], extent.high[k], count[k]) for k in (0, 1))
    points = np.zeros((len(x) * len(y), shown.bodies.dim))
    points[:, axes[0]], points[:, axes[1]] = (g.ravel() for g in np.meshgrid(x, y))
    if shown.bodies.dim == 3:
        along = ({0, 1, 2} - set(axes)).pop()
        finite = np.isfinite(shown.bodies.bounding_radius)
        points[:, along] = np.median(shown.position[finite, along]) if at is None else at
    if of == "solid":
        values, text = (
            density_field(shown, points, width=width, bodies=bodies),
            "solid fraction [-]",
        )
    else:
        parts = principal(field_of(shown, points, width=width, bodies=bodies, method=method))[0]
        values = {
            "pressure": parts.mean(axis=1),
            "shear": 0.5 * (parts[:, 0] - parts[:, -1]),
            "major": parts[:, 0],
        }[of]
        base = "N/m" if shown.bodies.dim == 2 else "Pa"
        factor, name = unit(float(np.abs(values).max(initial=0.0)), base)
        values, text = values * factor, f"{of} [{name}]"
    top = float(values.max(initial=0.0)) or 1.0
    with look(dark) as p:
        made = canvas(p, extent, panels=1, bars=1, titled=False)
        panel = made.panels[0]
        picture = panel.pcolormesh(
            x,
            y,
            values.reshape(len(y), len(x)),
            cmap=force_colours(p),
            norm=Normalize(0, top),
            shading="gouraud",
            rasterized=True,
            zorder=0,
        )
        picture.set_gid("field")
        draw_bodies(panel, shown, view, p)
        for drawn in panel.collections:
            if drawn.get_gid() == "bodies":
                drawn.set_facecolor("none")
        label_axes(made, axes)
        colour_bar(made.bars[0], Normalize(0, top), force_colours(p), text, p)
        return made.figure
