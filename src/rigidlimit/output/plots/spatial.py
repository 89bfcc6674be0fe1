"""Force networks in space by PyVista, off screen: tubes in a haze of translucent bodies.

The picture is an image in an otherwise vector figure. It is in parallel projection, so that the
scale bar holds everywhere in it.
"""

import ctypes
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from ...bodies.rotations import matrix
from ..surfaces import surface
from .canvas import Extent, canvas
from .frames import Frame
from .style import Palette, unit


class Fallback(UserWarning):
    """A picture in space was not to be had; the message says why."""


DIRECTION = np.array([0.55, -1.0, 0.42])
"""From the scene to the camera."""

DEBIAN = "on Debian: apt-get install libegl1 libgl1 libxrender1"

FEW, FINE = 300, dict(smooth_shading=True, split_sharp_edges=True, feature_angle=30.0)
"""Bodies up to which facets are smoothed: they show in large balls, and smoothing takes time."""

PIXELS = 1400
"""Larger side of the image; 400 dots per inch in one column of print."""

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
class Tubes:
    """Lines of one picture: ends (k, 2, 3) [m], share (k,) of the greatest width, colours (k, 3)
    or (k, 4)."""

    ends: np.ndarray
    share: np.ndarray
    colours: np.ndarray


@dataclass(frozen=True)
class Rubbing:
    """Tangential forces of one picture: at (k, 3) [m], arrow (k, 3) [m], and around contacts that
    slide rings with the axes normal (k, 3); slides (k,) bool."""

    at: np.ndarray
    arrow: np.ndarray
    normal: np.ndarray
    slides: np.ndarray


def panels(
    shown: Frame,
    pictures: list[Tubes],
    pressures,
    pressure_scale,
    p: Palette,
    place,
    rubbing: list[Rubbing | None] | None = None,
):
    """A canvas whose panels hold the images of ``pictures`` on one scale, with the tangential
    forces ``rubbing`` where there are any."""
    rubbing = [None] * len(pictures) if rubbing is None else rubbing
    right, up, toward = _camera()
    extent = _extent(shown, right, up)
    made = canvas(p, extent, ticks=False, **place)
    widest = float(np.clip(0.8 * shown.bodies.length * made.points, 1.2, 5.0)) / made.points
    for panel, tubes, rubs, pressure in zip(made.panels, pictures, rubbing, pressures, strict=True):
        image = _render(
            shown, tubes, rubs, pressure, pressure_scale, p, extent, (right, up, toward), widest
        )
        (x0, y0), (x1, y1) = extent.low, extent.high
        panel.imshow(image, extent=(x0, x1, y0, y1), interpolation="antialiased")
    _scale_bar(made.panels[0], extent, p)
    _triad(made.panels[-1], extent, right, up, p)
    return made


def _camera():
    toward = DIRECTION / np.linalg.norm(DIRECTION)
    right = np.cross([0.0, 0.0, 1.0], toward)
    right /= np.linalg.norm(right)
    return right, np.cross(toward, right), toward


def _extent(shown: Frame, right, up) -> Extent:
    """What the image shows, along its right and up [m], with room for scale bar and triad."""
    radius = shown.bodies.bounding_radius
    finite = np.isfinite(radius)
    points = _corners(shown, finite)
    if not len(points):
        points = shown.position
    points = np.concatenate([points, *_grounds(shown)])
    flat = np.column_stack([points @ right, points @ up])
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = (high - low).max() or 1.0
    return Extent(low - [0.03 * size, 0.18 * size], high + 0.03 * size)


def _corners(shown: Frame, finite) -> np.ndarray:
    """Points whose projection bounds the finite bodies, (k, 3) [m]."""
    out = [np.zeros((0, 3))]
    turn = matrix(shown.quaternion)
    for row, shape in enumerate(shown.bodies.shapes):
        mine = np.flatnonzero(finite & (shown.bodies.shape_of == row))
        if len(mine):
            local = surface(shape)[0]
            turned = np.einsum("bij,kj->bki", turn[mine], local) + shown.position[mine, None]
            out.append(turned.reshape(-1, 3))
    return np.concatenate(out)


def _plotter(size: list[int]):
    """A plotter that does not ask for a display where there is none."""
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


def _render(shown, tubes, rubs, pressure, pressure_scale, p, extent, axes, widest):
    """Image (rows, columns, 3) of one picture; widest: width of the strongest tube [m]."""
    import pyvista

    right, up, toward = axes
    dx, dy = extent.size
    shape = np.maximum(np.round(PIXELS * np.array([dx, dy]) / max(dx, dy)), 64).astype(int)
    plotter = _plotter([int(n) for n in shape])
    try:
        plotter.set_background(p.paper)
        plotter.add_light(pyvista.Light(light_type="headlight", intensity=0.75))
        key = pyvista.Light(position=tuple(toward + 0.8 * up - 0.6 * right), intensity=0.45)
        key.positional = False
        plotter.add_light(key)
        for ground in _grounds(shown):
            plotter.add_mesh(
                pyvista.PolyData.from_regular_faces(ground, np.array([[0, 1, 2, 3]])),
                color=p.ground,
                opacity=0.5,
                lighting=False,
                show_edges=True,
                edge_color=p.edge,
            )
        bodies = _bodies(shown, pressure)
        if bodies is not None:
            shade = dict(color="#b8b8b8")
            if pressure is not None:
                limits = (0.0, pressure_scale.vmax)
                shade = dict(scalars="pressure", cmap=body_colours(p), clim=limits)
            plotter.add_mesh(
                bodies,
                # nothing to be seen inside: solid bodies
                opacity=haze(p) if len(tubes.share) else 1.0,
                show_scalar_bar=False,
                **(FINE if len(shown.bodies) <= FEW else {}),
                **shade,
            )
        if len(tubes.share):
            plotter.add_mesh(
                _prisms(tubes, widest),
                scalars="colour",
                rgb=True,
                smooth_shading=True,
                ambient=0.35,
                diffuse=0.7,
            )
        for mesh in _rubbing(rubs, shown.bodies.length):
            plotter.add_mesh(mesh, color=p.marks[2], smooth_shading=True, ambient=0.5)
        middle = 0.5 * (extent.low + extent.high)
        depth = shown.position @ toward
        far = float(np.ptp(depth)) + 4 * float(max(dx, dy))
        focus = middle[0] * right + middle[1] * up + float(depth.mean()) * toward
        plotter.camera.position = tuple(focus + far * toward)
        plotter.camera.focal_point = tuple(focus)
        plotter.camera.up = tuple(up)
        plotter.enable_parallel_projection()
        plotter.camera.parallel_scale = 0.5 * float(dy)
        plotter.reset_camera_clipping_range()
        plotter.enable_anti_aliasing("ssaa")
        return plotter.screenshot(return_img=True)
    finally:
        plotter.close()


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


def _grounds(shown: Frame) -> list[np.ndarray]:
    """Corners (4, 3) of a piece of each half-space that holds the bodies from below [m]."""
    finite = np.isfinite(shown.bodies.bounding_radius)
    points = _corners(shown, finite)
    if not len(points):
        return []
    out, up = [], shown.up
    turn = matrix(shown.quaternion)
    for body in np.flatnonzero(shown.half_space):
        normal = turn[body] @ shown.bodies.shape(body).local_normal
        if normal @ up < 0.5:
            continue
        across = np.cross(up, [1.0, 0, 0] if abs(up[0]) < 0.9 else [0, 1.0, 0])
        across /= np.linalg.norm(across)
        e1, e2 = np.cross(across, up), across
        a, b = points @ e1, points @ e2
        corners = np.array([[x, y] for x in (a.min(), a.max()) for y in (b.min(), b.max())])
        flat = corners[[0, 1, 3, 2]] @ np.array([e1, e2])
        drop = (shown.position[body] - flat) @ normal / (up @ normal)
        out.append(flat + drop[:, None] * up)
    return out


def _bodies(shown: Frame, pressure):
    """All finite bodies as one surface, with the pressure of each on its triangles."""
    import pyvista

    turn = matrix(shown.quaternion)
    points, faces, owner, start = [], [], [], 0
    for row, shape in enumerate(shown.bodies.shapes):
        mine = np.flatnonzero((shown.bodies.shape_of == row) & shown.solid)
        if not len(mine):
            continue
        local, triangles = surface(shape)
        turned = np.einsum("bij,kj->bki", turn[mine], local) + shown.position[mine, None]
        points.append(turned.reshape(-1, 3))
        k = len(local)
        offset = start + k * np.arange(len(mine))
        faces.append((triangles[None] + offset[:, None, None]).reshape(-1, 3))
        owner.append(np.repeat(mine, len(triangles)))
        start += k * len(mine)
    if not points:
        return None
    mesh = pyvista.PolyData.from_regular_faces(np.concatenate(points), np.concatenate(faces))
    if pressure is not None:
        mesh.cell_data["pressure"] = np.nan_to_num(pressure)[np.concatenate(owner)]
    return mesh


def _prisms(tubes: Tubes, widest: float, sides: int = 8):
    """Prisms along the lines, coloured."""
    import pyvista

    axis = tubes.ends[:, 1] - tubes.ends[:, 0]
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    axis = np.where(length > 0, axis / np.where(length > 0, length, 1), [[0.0, 0.0, 1.0]])
    aside = np.where(np.abs(axis[:, :1]) < 0.9, [[1.0, 0, 0]], [[0, 1.0, 0]])
    e1 = np.cross(axis, aside)
    e1 /= np.linalg.norm(e1, axis=1, keepdims=True)
    e2 = np.cross(axis, e1)
    angle = 2 * np.pi * np.arange(sides) / sides
    radius = 0.5 * widest * (0.08 + 0.92 * tubes.share)
    ring = (np.cos(angle)[:, None, None] * e1 + np.sin(angle)[:, None, None] * e2) * radius[:, None]
    points = tubes.ends.transpose(1, 0, 2)[:, None] + ring[None]  # (end, side, line, 3)
    points = points.transpose(2, 0, 1, 3).reshape(-1, 3)
    i = np.arange(sides)
    j = (i + 1) % sides
    wall = np.concatenate(
        [np.column_stack([i, j, sides + j]), np.column_stack([i, sides + j, sides + i])]
    )
    fan = np.column_stack([np.zeros(sides - 2, int), i[1:-1], i[2:]])
    prism = np.concatenate([wall, fan[:, ::-1], sides + fan])
    faces = prism[None] + 2 * sides * np.arange(len(tubes.share))[:, None, None]
    mesh = pyvista.PolyData.from_regular_faces(points, faces.reshape(-1, 3))
    shade = np.round(255 * np.asarray(tubes.colours)[:, :3]).astype(np.uint8)
    mesh.cell_data["colour"] = np.repeat(shade, len(prism), axis=0)
    return mesh


def _rubbing(rubs: Rubbing | None, length: float) -> list:
    """Arrows of tangential forces and rings around contacts that slide."""
    import pyvista

    if rubs is None or not len(rubs.at):
        return []
    size = np.linalg.norm(rubs.arrow, axis=1)
    meshes = []
    for which, vectors, scale, shape in (
        (
            size > 0.0,
            rubs.arrow,
            size,
            pyvista.Arrow(shaft_radius=0.12, tip_radius=0.3, tip_length=0.4),
        ),
        (rubs.slides, rubs.normal, np.full(len(size), length), _ring()),
    ):
        if which.any():
            points = pyvista.PolyData(rubs.at[which])
            points["along"], points["size"] = vectors[which], scale[which]
            meshes.append(points.glyph(orient="along", scale="size", geom=shape))
    return meshes


def _ring():
    """A thin torus about the x axis, of the size that marks a contact of bodies of length 1."""
    import pyvista

    ring = pyvista.ParametricTorus(ringradius=0.16, crosssectionradius=0.03)
    return ring.rotate_y(90.0)


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
