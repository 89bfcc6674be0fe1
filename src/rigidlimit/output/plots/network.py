"""Force networks: a line for each contact that carries load, wide and strong by its force, over
bodies shaded by the pressure on them; several methods side by side on one scale."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._support.warned import warn
from ...collision.contacts import empty
from ...errors import InputError
from ...step.force_network import ForceNetwork
from ..measures.selection import in_cell
from ..sources import network_of
from ..surfaces import surface_pressure
from ..vtk import contact_lines
from . import spatial
from .bodies import draw_bodies, extent_of, plane_of
from .canvas import Canvas, canvas, colour_bar
from .lines import carrying, draw_friction, draw_lines, label_axes, within
from .meshes import Rubbing, Tubes
from .spatial import Fallback
from .style import LAYOUT, Palette, force_colours, force_unit, label, look, pressure_colours, unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..sources import Source


FORCE, MOBILISED = "force", "mobilised"
"""Meaning of the colours of lines."""


def force_network(
    source: "Source",
    *,
    method: str | None = None,
    view: str | None = None,
    pressure: bool = True,
    slab: tuple[float, float] | None = None,
    units: tuple[str, float] | None = None,
    title: str = "",
    dark: bool = False,
    colour: str = FORCE,
) -> "Figure":
    """The force network.

    With friction there are arrows of the tangential forces on the second bodies, as long as
    ``bodies.length`` for the largest normal force, and rings around contacts that slide.

    Parameters
    ----------
    source
        As of ``measures.body_forces``.
    method : {"classic", "compatible", "dem"}, optional
        Whose forces; compatible ones by default.
    view : {"3d", "front", "side", "top"}, optional
        Of scenes in space: "3d" (PyVista), "front" (along +y), "side" (along -x), "top" (along
        -z); by default 3d where PyVista is there, else front.
    pressure : bool
        Shade bodies by the sum of contact forces over their surface.
    slab : (float, float) [m], optional
        Only contacts in this range along the line of sight of front, side and top.
    units : (str, float [N]), optional
        Name and size, for instance sphere weights.
    title : str
    dark : bool
        For dark pages.
    colour : {"force", "mobilised"}
        What the lines' colours show; mobilised is |f_t|/(mu f_n), 1 where a contact slides. Their
        widths show the forces.

    Raises
    ------
    InputError
        For a source without such forces, another view or colour, and mobilised friction of smooth
        bodies.

    Warns
    -----
    Fallback
        Where a view in space was wanted and there is no PyVista, or no OpenGL.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> step = rl.Simulation("beam").step()
    >>> figure = rl.plots.force_network(step, units=("weights", 10.0), title="beam")
    >>> rl.plots.save_figure(figure, "beam.png")
    """
    shown = network_of(source)
    wanted = _Wanted(view, pressure, slab, units, title, dark, colour)
    return _figure(shown, [shown.of(method)[0]], wanted)


def comparison(
    source: "Source",
    *,
    methods: list[str] | None = None,
    view: str | None = None,
    pressure: bool = True,
    slab: tuple[float, float] | None = None,
    units: tuple[str, float] | None = None,
    title: str = "",
    dark: bool = False,
    colour: str = FORCE,
) -> "Figure":
    """Force networks of several methods beside one another, forces and pressures on one scale.

    Parameters
    ----------
    methods : list of str, optional
        All that the source has by default.
    source, view, pressure, slab, units, title, dark, colour
        As of ``force_network``.

    Raises
    ------
    InputError
        As of ``force_network``.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> scene = rl.scenes.beam()
    >>> figure = rl.plots.comparison(rl.penalty.compare(scene), methods=["pgs", "dem"])
    >>> [panel.get_title() for panel in figure.axes[:2]]
    ['classic, PGS', 'DEM']
    """
    shown = network_of(source)
    wanted = _Wanted(view, pressure, slab, units, title, dark, colour)
    return _figure(shown, shown.chosen(methods), wanted)


def scene_figure(source: "Source", *, view: str | None = None, dark: bool = False) -> "Figure":
    """Bodies alone: a ``Scene`` as it begins, or any other source in its pose.

    Parameters
    ----------
    source
        As of ``measures.body_forces``, or a ``Scene``.
    view, dark
        As of ``force_network``.

    Raises
    ------
    InputError
        For a source of another kind, and another view.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> figure = rl.plots.scene_figure(rl.scenes.arch())
    >>> rl.plots.save_figure(figure, "arch.svg")
    """
    shown = network_of(source)
    shown = replace(shown, contacts=empty(len(shown.bodies)), forces={"none": np.zeros(0)})
    return _figure(shown, ["none"], _Wanted(view, pressure=False, title=" ", dark=dark))


@dataclass(frozen=True)
class _Wanted:
    """Options of ``force_network``."""

    view: str | None
    pressure: bool = True
    slab: tuple[float, float] | None = None
    units: tuple[str, float] | None = None
    title: str = ""
    dark: bool = False
    colour: str = FORCE


@dataclass(frozen=True)
class _Panels:
    """Of each method the forces (m,) [N] that are shown, cut at the top of their scale, ``largest``
    [N]; tops: their own largest; shades (m,): places on the colour map; pressures (n,) of bodies,
    with the top of their scale."""

    methods: list[str]
    forces: list[np.ndarray]
    tops: list[float]
    largest: float
    shades: list[np.ndarray]
    pressures: list[np.ndarray]
    pressure_top: float


def choose_view(shown: ForceNetwork, view: str | None) -> str:
    """The view that will be drawn; one warning where 3d was not to be had."""
    if shown.bodies.dim == 2:
        return "front"
    if view in (None, "3d"):
        missing = spatial.missing()
        if missing is None:
            return "3d"
        warn(f"{missing}; drawn as seen from the front", Fallback)
        return "front"
    plane_of(shown, view)
    return view


def force_tubes(
    shown: ForceNetwork, force: np.ndarray, largest: float, p: Palette, shade: np.ndarray
) -> Tubes:
    """The lines of a network in space; shade (m,): place on the colour map, 0 to 1."""
    which = carrying(force, largest)
    share = force[which] / largest if len(which) else np.zeros(0)
    ends = contact_lines(shown.position, shown.contacts)[which]
    return Tubes(ends, share, force_colours(p)(shade[which]))


def force_arrows(
    shown: ForceNetwork, method: str, force: np.ndarray, largest: float
) -> Rubbing | None:
    """Tangential forces of a network in space, as ``lines.draw_friction`` has them in the plane."""
    if method not in shown.tangential or largest <= 0.0:
        return None
    which = carrying(force, largest)
    slides = shown.sliding.get(method, np.zeros(len(force), bool))
    return Rubbing(
        shown.contacts.point[which],
        shown.tangential[method][which] * (shown.bodies.length / largest),
        shown.contacts.normal[which],
        slides[which],
    )


def _shades(shown: ForceNetwork, methods, forces, largest: float, colour: str) -> list[np.ndarray]:
    """Places on the colour map (m,), 0 to 1, of the lines of each method."""
    if colour == FORCE:
        return [force / (largest or 1.0) for force in forces]
    if colour != MOBILISED:
        raise InputError(f"colour is {colour!r}; expected {FORCE!r} or {MOBILISED!r}")
    for method in (method for method in methods if method not in shown.tangential):
        raise InputError(
            f"colour is {MOBILISED!r}, but {method} forces of {shown.name or 'this scene'} have no "
            "tangential parts; expected bodies with friction, or colour='force'"
        )
    return [np.minimum(shown.mobilised(method), 1.0) for method in methods]


def _scale(tops) -> float:
    """Top of the scale of several panels: of those whose own top is not beyond that of the least.
    A panel beyond is drawn at full strength, and the others still show what they hold."""
    loaded = [top for top in tops if top > 0.0]
    return max((top for top in loaded if top <= LAYOUT.beyond * min(loaded)), default=0.0)


def _panels(shown: ForceNetwork, methods: list[str], seen: np.ndarray, colour: str) -> _Panels:
    """seen (m,) bool: contacts that are shown."""
    forces = [np.where(seen, shown.forces[m], 0.0) for m in methods]
    tops = [float(f.max(initial=0.0)) for f in forces]
    largest = _scale(tops)
    forces = [np.minimum(f, largest) for f in forces]
    pressures = [surface_pressure(shown, shown.forces[m]) for m in methods]
    top = _scale([float(np.nanmax(x, initial=0.0)) for x in pressures])
    shades = _shades(shown, methods, forces, largest, colour)
    return _Panels(methods, forces, tops, largest, shades, pressures, top)


def _figure(shown: ForceNetwork, methods: list[str], wanted: _Wanted):
    view = choose_view(shown, wanted.view)
    shown = in_cell(shown)
    panels = _panels(shown, methods, within(shown, view, wanted.slab), wanted.colour)
    loaded, several = panels.largest > 0, len(methods) > 1
    pressure = wanted.pressure and loaded and panels.pressure_top > 0
    factor, name = force_unit(panels.largest, wanted.units)
    with look(wanted.dark) as p:
        place = dict(
            panels=len(methods),
            bars=loaded + pressure,
            titled=several,
            heading=wanted.title.strip() if wanted.title or loaded else "no contact carries load",
        )
        made = (_in_space if view == "3d" else _in_plane)(shown, panels, view, pressure, p, place)
        for panel, method, own in zip(made.panels, methods, panels.tops, strict=True):
            if several:
                beyond = f" (up to {own * factor:.3g} {name})" if own > panels.largest else ""
                panel.set_title(label(method) + beyond, pad=3)
        if loaded:
            top, which = panels.largest * factor, "" if several else f"{label(methods[0])} "
            bar = top, f"{which}contact force [{name}]"
            if wanted.colour == MOBILISED:
                bar = 1.0, f"mobilised friction; widest: {top:.3g} {name}"
            _bar(made.bars[0], force_colours(p), *bar, p)
        if pressure:
            factor, pascal = unit(panels.pressure_top, "N/m" if shown.bodies.dim == 2 else "Pa")
            greys = spatial.seen_colours(p) if view == "3d" else pressure_colours(p)
            bar = panels.pressure_top * factor, f"pressure [{pascal}]"
            _bar(made.bars[1], greys, *bar, p)
        return made.figure


def _in_space(shown: ForceNetwork, panels: _Panels, view, pressure, p: Palette, place) -> Canvas:
    pictures = [
        spatial.Picture(
            force_tubes(shown, force, panels.largest, p, shade),
            force_arrows(shown, method, force, panels.largest),
            grey if pressure else None,
        )
        for method, force, shade, grey in zip(
            panels.methods, panels.forces, panels.shades, panels.pressures, strict=True
        )
    ]
    return spatial.panels(shown, pictures, panels.pressure_top, p, place)


def _in_plane(shown: ForceNetwork, panels: _Panels, view, pressure, p: Palette, place) -> Canvas:
    from matplotlib.colors import Normalize

    axes, _ = plane_of(shown, view)
    made, largest = canvas(p, extent_of(shown, axes).widened(), **place), panels.largest
    scale = Normalize(0, panels.pressure_top or 1.0)
    each = zip(
        made.panels, panels.methods, panels.forces, panels.shades, panels.pressures, strict=True
    )
    for panel, method, force, shade, grey in each:
        draw_bodies(panel, shown, view, p, grey if pressure else None, scale)
        draw_lines(panel, shown, force, largest, view, p, made.points, shade)
        draw_friction(panel, shown, method, force, largest, view, p)
    label_axes(made, axes)
    return made


def _bar(axes, colours, top: float, text: str, p: Palette) -> None:
    from matplotlib.colors import Normalize

    colour_bar(axes, Normalize(0, top), colours, text, p)
