"""Blocks as meshes with plane faces: their mass, the patches on which they touch, their statics.

Two blocks touch where a face of one lies in the plane of a face of the other, looking against it,
and their outlines overlap: the patch is the intersection of the two convex polygons (Sutherland and
Hodgman), and forces act at its corners. All that a patch can carry, forces at its corners can.
Blocks need not be convex, their faces do. Patches that a file brings are taken instead.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..._support import arrays
from ..._support.display import Brief
from ..._support.words import counted
from ...bodies import ConvexPolyhedron, Material
from ...collision.contacts import Contacts
from ...errors import InputError
from ...scenes.scene import Scene
from ...static_pose import Statics, of_contacts

OPPOSITE = 1e-3
"""Sine of the angle between two faces up to which they look against each other."""

ALONG = 0.9
"""Cosine of the angle between a given patch and a face that it may be a part of."""

SLIVER = 1e-9
"""Area of a patch, over the smaller face's, up to which it is none."""


@dataclass(frozen=True)
class Block:
    """name, corners points (k, 3) [m], faces: loops of corners, counter-clockwise from outside or
    all the other way round; support: whether it is held."""

    name: str
    points: np.ndarray
    faces: tuple[np.ndarray, ...]
    support: bool = False

    @cached_property
    def _triangles(self) -> np.ndarray:
        return np.array([(f[0], f[i], f[i + 1]) for f in self.faces for i in range(1, len(f) - 1)])

    @cached_property
    def _moments(self) -> tuple[float, np.ndarray]:
        """(signed volume [m^3], its centre (3,))."""
        origin = self.points.mean(axis=0)
        a, b, c = ((self.points - origin)[self._triangles[:, k]] for k in range(3))
        six = np.einsum("ij,ij->i", a, np.cross(b, c))
        total = six.sum()
        size = np.ptp(self.points, axis=0).max(initial=0.0)
        if not abs(total) > 1e-12 * size**3:
            raise InputError(
                f"block {self.name!r} encloses no volume; expected a closed mesh whose faces all "
                "turn the same way"
            )
        return total / 6, origin + ((a + b + c) * six[:, None]).sum(axis=0) / (4 * total)

    @property
    def volume(self) -> float:
        return abs(self._moments[0])

    @property
    def centre(self) -> np.ndarray:
        return self._moments[1]

    @cached_property
    def planes(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(corners (k, 3), outward unit normal (3,)) of each face with an area."""
        turn = np.sign(self._moments[0])
        out = []
        for face in self.faces:
            corners = self.points[face]
            around = corners - corners.mean(axis=0)
            normal = turn * np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0)
            size = np.linalg.norm(normal)
            if size > 0.0:
                out.append((corners, normal / size))
        return out


@dataclass(frozen=True)
class Patch:
    """Where two blocks touch, by their indices: corners points (k, 3) [m] of a plane polygon."""

    first: int
    second: int
    points: np.ndarray

    def normal(self, blocks) -> np.ndarray:
        """Unit normal from the first block to the second: that of the nearest face of the first
        which lies along the patch."""
        around = self.points - self.points.mean(axis=0)
        n = np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0)
        n /= np.linalg.norm(n)
        along = [(c, out) for c, out in blocks[self.first].planes if abs(out @ n) > ALONG]
        if not along:
            raise InputError(
                f"the patch of blocks {blocks[self.first].name!r} and "
                f"{blocks[self.second].name!r} lies along no face; expected polygons of faces"
            )
        middle = self.points.mean(axis=0)
        # the face that the patch is a part of: near its plane, and near its middle
        away = [
            abs((middle - c.mean(axis=0)) @ out) + 1e-3 * np.linalg.norm(middle - c.mean(axis=0))
            for c, out in along
        ]
        return n * np.sign(n @ along[int(np.argmin(away))][1])


@dataclass(frozen=True, repr=False)
class BlockAssembly(Brief):
    """Blocks in the pose in which they are to stand, z upward; patches that are given, or none."""

    name: str
    blocks: tuple[Block, ...] = field(repr=False)
    patches: tuple[Patch, ...] = field(default=(), repr=False)

    @property
    def message(self) -> str:
        held = sum(block.support for block in self.blocks)
        return f"{self.name}: {counted(len(self.blocks), 'block')}, {held} of them held"

    def scene(self, *, density=2000.0, friction=0.6, supports=None) -> Scene:
        """The blocks as bodies of a ``Scene``: their convex hulls, with their own mass and centre.

        Parameters
        ----------
        density : float [kg/m^3]
        friction : float
        supports : list of str, optional
            Names of the blocks that are held; by default those of the file.

        Raises
        ------
        InputError
            Where no block is held.
        """
        density = arrays.positive("density", density)
        names = [block.name for block in self.blocks]
        held = {block.name for block in self.blocks if block.support}
        if supports is not None:
            held = {str(name) for name in supports}
        if not held or not held <= set(names):
            odd = sorted(held - set(names))
            raise InputError(
                f"{self.name}: "
                + (f"there is no block {odd[0]!r} to hold" if odd else "no block is held")
                + f"; expected supports=, some of {', '.join(names[:10])}"
            )
        scene = Scene(name=self.name, description=f"blocks of {self.name}")
        stone = Material(friction=friction, name="stone")
        for block in self.blocks:
            scene.add(
                ConvexPolyhedron(block.points),
                position=block.centre,
                mass=density * block.volume,
                material=stone,
                fixed=block.name in held,
                name=block.name,
            )
        return scene

    def statics(
        self, *, density=2000.0, friction=0.6, supports=None, closed: float = 1e-3
    ) -> Statics:
        """Statics of the blocks on the patches of their faces.

        closed: distance of two faces up to which they touch, over the size of the smaller block.
        Other parameters, and errors, as for ``scene``; InputError where no faces touch.
        """
        scene = self.scene(density=density, friction=friction, supports=supports)
        return of_contacts(scene, self.contacts(arrays.positive("closed", closed), scene))

    def contacts(self, closed: float, scene: Scene) -> Contacts:
        """Corners of all patches of faces, normals from the first block to the second."""
        free = scene.bodies.free.any(axis=1)
        given = [
            (p.first, p.second, p.points, p.normal(self.blocks))
            if p.first < p.second
            else (p.second, p.first, p.points, -p.normal(self.blocks))
            for p in self.patches
        ]
        found = [p for p in given or self._found(closed) if free[p[0]] or free[p[1]]]
        if not found:
            raise InputError(
                f"{self.name}: no faces of blocks touch; expected some within {closed:g} of the "
                "blocks' size (closed= takes in wider gaps)"
            )
        found.sort(key=lambda patch: patch[:2])
        count = [len(points) for _, _, points, _ in found]
        body = np.repeat([(a, b) for a, b, _, _ in found], count, axis=0)
        starts = np.flatnonzero(np.r_[True, (body[1:] != body[:-1]).any(axis=1)])
        feature = np.arange(len(body)) - np.repeat(starts, np.diff(np.r_[starts, len(body)]))
        return Contacts(
            body,
            feature,
            np.concatenate([points for _, _, points, _ in found]),
            np.repeat([normal for _, _, _, normal in found], count, axis=0),
            np.zeros(len(body)),
            np.zeros(len(body)),
            len(self.blocks),
        )

    def _found(self, closed: float):
        """(a, b, corners, normal from a to b) of the patches of faces that touch."""
        low = np.array([block.points.min(axis=0) for block in self.blocks])
        high = np.array([block.points.max(axis=0) for block in self.blocks])
        size = (high - low).max(axis=1)
        for a in range(len(self.blocks)):
            for b in range(a + 1, len(self.blocks)):
                gap = closed * min(size[a], size[b])
                if (low[a] <= high[b] + gap).all() and (low[b] <= high[a] + gap).all():
                    for patch, normal in _patches(self.blocks[a], self.blocks[b], gap):
                        yield a, b, patch, normal


def _patches(one: Block, other: Block, gap: float):
    """(corners (k, 3) in the middle plane, normal from one to the other) of each patch."""
    for corners, normal in one.planes:
        for against, opposite in other.planes:
            if normal @ opposite > 0.0 or np.linalg.norm(np.cross(normal, opposite)) > OPPOSITE:
                continue
            if abs((against.mean(axis=0) - corners.mean(axis=0)) @ normal) > gap:
                continue
            patch = _intersection(corners, against, normal)
            if patch is not None:
                yield patch, normal


def _intersection(one: np.ndarray, other: np.ndarray, normal: np.ndarray) -> np.ndarray | None:
    """Corners (k, 3) of the overlap of two convex polygons, laid into the plane between them."""
    x = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    x /= np.linalg.norm(x)
    frame = np.column_stack([x, np.cross(normal, x)])
    origin = one.mean(axis=0)
    P, Q = (one - origin) @ frame, (other - origin) @ frame
    clip = P if _area(P) > 0.0 else P[::-1]
    poly = list(Q if _area(Q) > 0.0 else Q[::-1])
    across = np.ptp(P, axis=0).max()
    for start, end in zip(clip, np.roll(clip, -1, axis=0), strict=True):
        way = end - start
        inward = np.array([-way[1], way[0]]) / (np.linalg.norm(way) or 1.0)
        height = [float((p - start) @ inward) for p in poly]
        height = [0.0 if abs(h) < 1e-9 * across else h for h in height]
        kept = []
        for k, p in enumerate(poly):
            h, before, last = height[k], height[k - 1], poly[k - 1]
            if h * before < 0.0:
                kept.append(last + (p - last) * (before / (before - h)))
            if h >= 0.0:
                kept.append(p)
        poly = kept
        if len(poly) < 3:
            return None
    flat = np.array(poly)
    flat = flat[np.linalg.norm(flat - np.roll(flat, 1, axis=0), axis=1) > 1e-9 * across]
    if len(flat) < 3 or _area(flat) <= SLIVER * min(abs(_area(P)), abs(_area(Q))):
        return None
    between = 0.5 * float((other.mean(axis=0) - origin) @ normal)
    return flat @ frame.T + origin + between * normal


def _area(flat: np.ndarray) -> float:
    x, y = flat.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
