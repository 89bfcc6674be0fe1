"""Force networks: a line for each contact that carries load, wide and strong by its force, over
bodies shaded by the pressure on them; several methods side by side on one scale."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..._support.warned import warn
from ...collision.contacts import empty
from ...errors import InputError
from ...scenes.scene import Scene
from ..measures.images import in_cell
from ..vtk import contact_lines
from . import spatial
from .bodies import draw_bodies, extent_of, plane_of
from .canvas import canvas, colour_bar
from .frames import Frame, frame, scene_frame
from .lines import carrying, draw_friction, draw_lines, label_axes, within
from .spatial import Fallback
from .style import Palette, force_colours, force_unit, label, look, pressure_colours, unit

if TYPE_CHECKING:
    from .frames import Source


FORCE, MOBILISED = "force", "mobilised"
"""What colours of lines tell."""

BEYOND = 10.0
"""Largest force of a panel over the least of the others from which on it is beyond their scale."""


def force_network(
    source: "Source",
    *,
    scene: "Scene | None" = None,
    index: int = -1,
    method: str | None = None,
    view: str | None = None,
    pressure: bool = True,
    slab: tuple[float, float] | None = None,
    units: tuple[str, float] | None = None,
    title: str = "",
    dark: bool = False,
    colour: str = FORCE,
):
    """The force network as a matplotlib Figure.

    source: a run, a run file, a StepResult, a Simulation ... (``plots.frame``), with ``scene`` or
    ``index`` where it needs them. method: whose forces; compatible ones by default. view of
    scenes in space: "3d" (PyVista), "front" (along +y), "side" (along -x), "top" (along -z); by
    default 3d where PyVista is there, else front. pressure: shade bodies by the sum of contact
    forces over their surface. slab (low, high) [m]: only contacts in this range along the line of
    sight of front, side and top. units: (name, its size in N), for instance sphere weights.
    colour: what the lines' colours tell, "force" or "mobilised", |f_t|/(mu f_n), 1 where a contact
    slides; their widths tell the forces.

    With friction there are arrows of the tangential forces on the second bodies, as
    long as ``bodies.length`` for the largest normal force, and rings around contacts that slide.
    """
    shown = frame(source, scene=scene, index=index)
    method, _ = shown.of(method)
    return _figure(shown, [method], view, pressure, slab, units, title, dark, colour)


def comparison(
    source: "Source",
    *,
    scene: "Scene | None" = None,
    index: int = -1,
    methods: list[str] | None = None,
    view: str | None = None,
    pressure: bool = True,
    slab: tuple[float, float] | None = None,
    units: tuple[str, float] | None = None,
    title: str = "",
    dark: bool = False,
    colour: str = FORCE,
):
    """Force networks of several methods beside one another, forces and pressures on one scale.

    methods: all that the source has by default. Else as ``force_network``.
    """
    shown = frame(source, scene=scene, index=index)
    methods = shown.chosen(methods)
    return _figure(shown, methods, view, pressure, slab, units, title, dark, colour)


def scene_figure(source: "Source", *, index: int = -1, view: str | None = None, dark: bool = False):
    """Bodies alone: a ``Scene`` as it begins, or any other source in its pose."""
    shown = scene_frame(source) if isinstance(source, Scene) else frame(source, index=index)
    shown = replace(shown, contacts=empty(len(shown.bodies)), forces={"none": np.zeros(0)})
    return _figure(shown, ["none"], view, False, None, None, " ", dark)


def choose_view(shown: Frame, view: str | None) -> str:
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
    shown: Frame, force: np.ndarray, largest: float, p: Palette, shade: np.ndarray
) -> spatial.Tubes:
    """The lines of a network in space; shade (m,): place on the colour map, 0 to 1."""
    which = carrying(force, largest)
    share = force[which] / largest if len(which) else np.zeros(0)
    ends = contact_lines(shown.position, shown.contacts)[which]
    return spatial.Tubes(ends, share, force_colours(p)(shade[which]))


def force_arrows(
    shown: Frame, method: str, force: np.ndarray, largest: float
) -> spatial.Rubbing | None:
    """Tangential forces of a network in space, as ``lines.draw_friction`` has them in the plane."""
    if method not in shown.tangential or largest <= 0.0:
        return None
    which = carrying(force, largest)
    slides = shown.sliding.get(method, np.zeros(len(force), bool))
    return spatial.Rubbing(
        shown.contacts.point[which],
        shown.tangential[method][which] * (shown.bodies.length / largest),
        shown.contacts.normal[which],
        slides[which],
    )


def _shades(shown: Frame, methods, forces, largest: float, colour: str) -> list[np.ndarray]:
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
    """Top of the scale of several panels: of those whose own top is within ``BEYOND`` of the least.
    A panel beyond is drawn at full strength, and the others still show what they hold."""
    loaded = [top for top in tops if top > 0.0]
    return max((top for top in loaded if top <= BEYOND * min(loaded)), default=0.0)


def _figure(shown: Frame, methods, view, pressure, slab, units, title, dark, colour=FORCE):
    from matplotlib.colors import Normalize

    view = choose_view(shown, view)
    shown = in_cell(shown)
    seen = within(shown, view, slab)
    forces = [np.where(seen, shown.forces[m], 0.0) for m in methods]
    tops = [float(f.max(initial=0.0)) for f in forces]
    largest = _scale(tops)
    pressures = [shown.pressure(shown.forces[m]) for m in methods]
    top = _scale([float(np.nanmax(x, initial=0.0)) for x in pressures])
    forces = [np.minimum(f, largest) for f in forces]
    shades = _shades(shown, methods, forces, largest, colour)
    loaded = largest > 0
    pressure = pressure and loaded and top > 0
    factor, name = force_unit(largest, units)
    grey_factor, pascal = unit(top, "N/m" if shown.bodies.dim == 2 else "Pa")
    with look(dark) as p:
        pressure_scale = Normalize(0, top or 1.0)
        several = len(methods) > 1
        place = dict(
            panels=len(methods),
            bars=loaded + bool(pressure),
            titled=several,
            heading=title.strip() if title or loaded else "no contact carries load",
        )
        grey = pressures if pressure else [None] * len(methods)
        if view == "3d":
            pictures = [
                force_tubes(shown, f, largest, p, shade)
                for f, shade in zip(forces, shades, strict=True)
            ]
            rubs = [
                force_arrows(shown, m, f, largest) for m, f in zip(methods, forces, strict=True)
            ]
            made = spatial.panels(shown, pictures, grey, pressure_scale, p, place, rubs)
        else:
            shown_axes, _ = plane_of(shown, view)
            made = canvas(p, extent_of(shown, shown_axes).widened(), **place)
            each = zip(made.panels, methods, forces, shades, grey, strict=True)
            for panel, method, force, shade, x in each:
                draw_bodies(panel, shown, view, p, x, pressure_scale)
                draw_lines(panel, shown, force, largest, view, p, made.points, shade)
                draw_friction(panel, shown, method, force, largest, view, p)
            label_axes(made, shown_axes)
        for panel, method, own in zip(made.panels, methods, tops, strict=True):
            if several:
                beyond = f" (up to {own * factor:.3g} {name})" if own > largest else ""
                panel.set_title(label(method) + beyond, pad=3)
        if loaded:
            which = "contact" if several else f"{label(methods[0])} contact"
            scale, text = Normalize(0, largest * factor), f"{which} force [{name}]"
            if colour == MOBILISED:
                scale = Normalize(0, 1)
                text = f"mobilised friction; widest: {largest * factor:.3g} {name}"
            colour_bar(made.bars[0], scale, force_colours(p), text, p)
        if pressure:
            scale = Normalize(0, top * grey_factor)
            greys = spatial.seen_colours(p) if view == "3d" else pressure_colours(p)
            colour_bar(made.bars[1], scale, greys, f"pressure [{pascal}]", p)
        return made.figure
