"""Meshes of pictures in space: bodies, lines of forces, marks of friction."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...bodies.rotations import matrix
from ...step.force_network import ForceNetwork
from ..surfaces import surface

if TYPE_CHECKING:
    from pyvista import PolyData


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


def facets(points: np.ndarray, faces: np.ndarray) -> "PolyData":
    """Of corners (k, 3) [m] and faces (f, c) with as many corners each."""
    import pyvista

    return pyvista.PolyData.from_regular_faces(points, faces)


def bodies(shown: ForceNetwork, pressure: np.ndarray | None) -> "PolyData | None":
    """All finite bodies as one surface, with the pressure of each on its triangles."""
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
    mesh = facets(np.concatenate(points), np.concatenate(faces))
    if pressure is not None:
        mesh.cell_data["pressure"] = np.nan_to_num(pressure)[np.concatenate(owner)]
    return mesh


def prisms(tubes: Tubes, widest: float, sides: int = 8) -> "PolyData":
    """Prisms along the lines, coloured."""
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
    mesh = facets(points, faces.reshape(-1, 3))
    shade = np.round(255 * np.asarray(tubes.colours)[:, :3]).astype(np.uint8)
    mesh.cell_data["colour"] = np.repeat(shade, len(prism), axis=0)
    return mesh


def friction(rubs: Rubbing | None, length: float) -> "list[PolyData]":
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


def corners(shown: ForceNetwork, finite: np.ndarray) -> np.ndarray:
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


def grounds(shown: ForceNetwork) -> list[np.ndarray]:
    """Corners (4, 3) of a piece of each half-space that holds the bodies from below [m]."""
    finite = np.isfinite(shown.bodies.bounding_radius)
    points = corners(shown, finite)
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
        square = np.array([[x, y] for x in (a.min(), a.max()) for y in (b.min(), b.max())])
        flat = square[[0, 1, 3, 2]] @ np.array([e1, e2])
        drop = (shown.position[body] - flat) @ normal / (up @ normal)
        out.append(flat + drop[:, None] * up)
    return out
