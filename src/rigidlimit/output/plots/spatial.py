"""Force networks in space by PyVista, off screen: tubes in a haze of translucent bodies.

The picture is an image in an otherwise vector figure. It is in parallel projection, so that the
scale bar holds everywhere in it.
"""

import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from ...step.force_network import ForceNetwork
from . import meshes
from .canvas import Canvas, Extent, canvas
from .meshes import Rubbing, Tubes
from .style import LAYOUT, Palette, unit


class Fallback(UserWarning):
    """A picture in space was not to be had; the message says why.

    Examples
    --------
    >>> import warnings, rigidlimit as rl
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", rl.plots.Fallback)
    ...     figure = rl.plots.scene_figure(rl.scenes.pyramid(2))
    """


DIRECTION = np.array([0.55, -1.0, 0.42])
"""From the scene to the camera."""

DEBIAN = "on Debian: apt-get install libegl1 libgl1 libxrender1"

FEW, FINE = 300, dict(smooth_shading=True, split_sharp_edges=True, feature_angle=30.0)
"""Largest number of bodies whose facets are smoothed: they show in large balls, and smoothing
takes time."""

HAZE = {"white": 0.16, "dark": 0.22}
"""Opacity of the bodies on white and on dark paper."""


def haze(p: Palette) -> float:
    return HAZE["white" if p.paper == "white" else "dark"]


@lru_cache(maxsize=1)
def missing() -> str | None:
    """Why there are no pictures in space, in one line; None where PyVista can draw."""
    if find_spec("pyvista") is None:
        return "PyVista is not installed (pip install 'rigidlimit[plot3d]')"
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        # VTK ends the process where it finds no OpenGL, so look first
        for name in ("libEGL.so.1", "libOSMesa.so.8", "libOSMesa.so.6"):
            try:
                ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            return f"PyVista finds no OpenGL ({DEBIAN})"
    try:
        import pyvista  # noqa: F401
    except ImportError as error:
        return f"PyVista does not load: {error} ({DEBIAN})"
    return None


@dataclass(frozen=True)
class Picture:
    """One panel: lines, tangential forces if any, and pressure (n,) of bodies if they show it."""

    tubes: Tubes
    rubbing: Rubbing | None = None
    pressure: np.ndarray | None = None


@dataclass(frozen=True)
class _Scene:
    """What all panels have: axes of the camera (3, 3), right, up and toward it; extent [m]; width
    of the strongest line [m]; top of the scale of pressures."""

    axes: np.ndarray
    extent: Extent
    widest: float
    pressure_top: float


def panels(
    shown: ForceNetwork,
    pictures: Sequence[Picture],
    pressure_top: float,
    p: Palette,
    place: Mapping,
) -> Canvas:
    """A canvas whose panels hold the images of ``pictures`` on one scale. place: options of
    ``canvas``; pressure_top: of the scale of pressures."""
    axes = _camera()
    extent = _extent(shown, *axes[:2])
    made = canvas(p, extent, ticks=False, **place)
    widest = float(np.clip(0.8 * shown.bodies.length * made.points, 1.2, 5.0)) / made.points
    scene = _Scene(axes, extent, widest, pressure_top)
    for panel, picture in zip(made.panels, pictures, strict=True):
        image = _render(shown, picture, scene, p)
        (x0, y0), (x1, y1) = extent.low, extent.high
        panel.imshow(image, extent=(x0, x1, y0, y1), interpolation="antialiased")
    _scale_bar(made.panels[0], extent, p)
    _triad(made.panels[-1], extent, *axes[:2], p)
    return made


def _camera() -> np.ndarray:
    toward = DIRECTION / np.linalg.norm(DIRECTION)
    right = np.cross([0.0, 0.0, 1.0], toward)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(toward, right), toward])


def _extent(shown: ForceNetwork, right, up) -> Extent:
    """What the image shows, along its right and up [m], with room for scale bar and triad."""
    radius = shown.bodies.bounding_radius
    finite = np.isfinite(radius)
    points = meshes.corners(shown, finite)
    if not len(points):
        points = shown.position
    points = np.concatenate([points, *meshes.grounds(shown)])
    flat = np.column_stack([points @ right, points @ up])
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = (high - low).max() or 1.0
    return Extent(low - [0.03 * size, 0.18 * size], high + 0.03 * size)


def _plotter(size: list[int]):
    """A plotter that needs no display where there is none."""
    import pyvista

    name = "VTK_DEFAULT_OPENGL_WINDOW"
    headless = sys.platform == "linux" and not os.environ.get("DISPLAY") and name not in os.environ
    if headless:
        os.environ[name] = _offscreen_window()
    try:
        return pyvista.Plotter(off_screen=True, window_size=size, lighting=None)
    finally:
        if headless:
            del os.environ[name]


@lru_cache(maxsize=1)
def _offscreen_window() -> str:
    try:
        ctypes.CDLL("libEGL.so.1")
        return "vtkEGLRenderWindow"
    except OSError:
        return "vtkOSOpenGLRenderWindow"


def _render(shown: ForceNetwork, picture: Picture, scene: _Scene, p: Palette) -> np.ndarray:
    """Image (rows, columns, 3) of one picture."""
    size = scene.extent.size
    shape = np.maximum(np.round(LAYOUT.pixels * size / size.max()), 64).astype(int)
    plotter = _plotter([int(n) for n in shape])
    try:
        plotter.set_background(p.paper)
        _light(plotter, *scene.axes)
        for ground in meshes.grounds(shown):
            plotter.add_mesh(
                meshes.facets(ground, np.array([[0, 1, 2, 3]])),
                color=p.ground,
                opacity=0.5,
                lighting=False,
                show_edges=True,
                edge_color=p.edge,
            )
        bodies = meshes.bodies(shown, picture.pressure)
        if bodies is not None:
            shade = dict(color="#b8b8b8")
            if picture.pressure is not None:
                limits = (0.0, scene.pressure_top)
                shade = dict(scalars="pressure", cmap=body_colours(p), clim=limits)
            plotter.add_mesh(
                bodies,
                # nothing to be seen inside: solid bodies
                opacity=haze(p) if len(picture.tubes.share) else 1.0,
                show_scalar_bar=False,
                **(FINE if len(shown.bodies) <= FEW else {}),
                **shade,
            )
        if len(picture.tubes.share):
            plotter.add_mesh(
                meshes.prisms(picture.tubes, scene.widest),
                scalars="colour",
                rgb=True,
                smooth_shading=True,
                ambient=0.35,
                diffuse=0.7,
            )
        for mesh in meshes.friction(picture.rubbing, shown.bodies.length):
            plotter.add_mesh(mesh, color=p.marks[2], smooth_shading=True, ambient=0.5)
        _aim(plotter, shown, scene)
        return plotter.screenshot(return_img=True)
    finally:
        plotter.close()


def _light(plotter, right, up, toward) -> None:
    import pyvista

    plotter.add_light(pyvista.Light(light_type="headlight", intensity=0.75))
    key = pyvista.Light(position=tuple(toward + 0.8 * up - 0.6 * right), intensity=0.45)
    key.positional = False
    plotter.add_light(key)


def _aim(plotter, shown: ForceNetwork, scene: _Scene) -> None:
    """Point the camera so that its image is the extent, in parallel projection."""
    (right, up, toward), extent = scene.axes, scene.extent
    middle = 0.5 * (extent.low + extent.high)
    depth = shown.position @ toward
    far = float(np.ptp(depth)) + 4 * float(extent.size.max())
    focus = middle[0] * right + middle[1] * up + float(depth.mean()) * toward
    plotter.camera.position = tuple(focus + far * toward)
    plotter.camera.focal_point = tuple(focus)
    plotter.camera.up = tuple(up)
    plotter.enable_parallel_projection()
    plotter.camera.parallel_scale = 0.5 * float(extent.size[1])
    plotter.reset_camera_clipping_range()
    plotter.enable_anti_aliasing("ssaa")


def body_colours(p: Palette):
    """Greys of the translucent bodies: a darker end than opaque ones have."""
    from matplotlib.colors import ListedColormap

    grey = np.linspace(*((0.75, 0.1) if p.paper == "white" else (0.3, 1.0)), 256)
    return ListedColormap(np.column_stack([grey, grey, grey]), name="haze")


def seen_colours(p: Palette):
    """What front and back of one such body look like on the paper: for the colour bar."""
    from matplotlib.colors import ListedColormap, to_rgb

    cover = 1 - (1 - haze(p)) ** 2
    seen = cover * body_colours(p).colors + (1 - cover) * np.array(to_rgb(p.paper))
    return ListedColormap(seen, name="seen")


def _scale_bar(panel, extent: Extent, p: Palette) -> None:
    """A bar of round length at the lower left."""
    dx, dy = extent.size
    wanted = 0.25 * dx
    power = 10.0 ** np.floor(np.log10(wanted))
    length = max(s * power for s in (1, 2, 5) if s * power <= wanted)
    factor, name = unit(min(length, 1.0), "m")
    x, y = extent.low[0] + 0.03 * dx, extent.low[1] + 0.045 * dy
    panel.plot([x, x + length], [y, y], color=p.ink, linewidth=1.5, solid_capstyle="butt")
    panel.text(
        x + length / 2, y + 0.012 * dy, f"{length * factor:.3g} {name}", ha="center", va="bottom",
        fontsize=7, color=p.ink,
    )  # fmt: skip


def _triad(panel, extent: Extent, right, up, p: Palette) -> None:
    """Directions of x, y and z at the lower right."""
    dx, dy = extent.size
    size = 0.07 * max(dx, dy)
    foot = np.array([extent.high[0] - 1.5 * size, extent.low[1] + 0.7 * size])
    for k, name in enumerate("xyz"):
        tip = np.array([right[k], up[k]]) * size
        panel.plot(*np.column_stack([foot, foot + tip]), color=p.ink, linewidth=0.8)
        away = foot + tip * (1 + 0.28 * size / max(np.linalg.norm(tip), 0.3 * size))
        panel.text(*away, name, ha="center", va="center", fontsize=7, color=p.ink)
