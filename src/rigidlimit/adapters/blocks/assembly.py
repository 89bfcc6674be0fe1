"""Blocks as meshes with plane faces: their mass, the patches on which they touch, their statics.

Two blocks touch where a face of one lies in the plane of a face of the other, looking against it,
and their outlines overlap: the patch is the intersection of the two convex polygons (Sutherland and
Hodgman), and forces act at its corners. All that a patch can carry, forces at its corners can.
Blocks need not be convex, their faces do. Patches that a file brings are taken instead.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..._support import arrays
from ..._support.display import Brief
from ..._support.warned import warn
from ..._support.words import counted
from ...bodies import ConvexPolyhedron, Material
from ...collision.contacts import Contacts
from ...errors import InputError, SceneWarning
from ...pose import Statics, of_contacts
from ...scenes.scene import Scene
from ..tolerances import TOLERANCES
from .patches import patches_of

LEVEL = 1e-3
"""Largest height over the lowest corner, over a block's size, at which it counts as lowest."""


@dataclass(frozen=True)
class Block:
    """A block as a closed mesh; faces that are to touch others are plane and convex.

    Parameters
    ----------
    name : str
    points : (k, 3) [m]
        Corners.
    faces : sequence of sequences of int
        Loops of corners, counter-clockwise from outside or all the other way round.
    support : bool
        Whether it is held.

    Raises
    ------
    InputError
        For corners that are no points, and loops that are no faces.

    Examples
    --------
    >>> from rigidlimit.adapters import Block
    >>> points = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    >>> faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    >>> cube = Block("cube", points, faces)
    >>> float(cube.volume), cube.centre
    (1.0, array([0.5, 0.5, 0.5]))
    """

    name: str
    points: np.ndarray
    faces: Sequence[Sequence[int] | np.ndarray]
    support: bool = False

    def __post_init__(self):
        what = f"block {self.name!r}"
        points = arrays.points(f"points of {what}", self.points)
        if not isinstance(self.faces, Sequence | np.ndarray):
            raise InputError(
                f"faces of {what} are {arrays.short(self.faces)}; expected loops of corners"
            )
        faces = tuple(_loop(what, k, face, len(points)) for k, face in enumerate(self.faces))
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "faces", faces)

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


def _loop(what: str, k: int, face: object, corners: int) -> np.ndarray:
    """One face as an array of indices, checked."""
    try:
        loop = np.asarray(face)
    except ValueError:
        loop = np.empty(0)
    whole = loop.ndim == 1 and len(loop) >= 3 and np.issubdtype(loop.dtype, np.integer)
    if not whole or loop.min() < 0 or loop.max() >= corners or len(set(loop.tolist())) < len(loop):
        raise InputError(
            f"face {k} of {what} is {arrays.short(face)}; expected three or more different "
            f"corners, indices from 0 to {corners - 1}"
        )
    return loop


@dataclass(frozen=True)
class Patch:
    """Where two blocks touch, by their indices: corners points (k, 3) [m] of a plane polygon."""

    first: int
    second: int
    points: np.ndarray

    def normal(self, blocks: Sequence[Block]) -> np.ndarray:
        """Unit normal from the first block to the second: that of the nearest face of the first
        which lies along the patch."""
        around = self.points - self.points.mean(axis=0)
        n = np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0)
        n /= np.linalg.norm(n)
        planes = blocks[self.first].planes
        along = [(c, out) for c, out in planes if abs(out @ n) > TOLERANCES.same_face]
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
    """Blocks in the pose in which they are to stand, z upward; patches that are given, or none.

    Parameters
    ----------
    name : str
    blocks : sequence of Block
    patches : tuple of Patch
        Where blocks touch, as a file brings them; none: they are found from the faces.

    Raises
    ------
    InputError
        By ``scene`` and ``statics``, where no block is held or none touch.

    Examples
    --------
    >>> from rigidlimit.adapters import Block, BlockAssembly
    >>> faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    >>> def cube(name, bottom):
    ...     points = [(x, y, bottom + z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    ...     return Block(name, points, faces)
    >>> tower = BlockAssembly("tower", [cube("foot", 0.0), cube("head", 1.0)])
    >>> statics = tower.statics(supports="lowest", density=1000.0)
    >>> statics.forces().force.round(1)  # N, at the four corners of the patch
    array([2452.5, 2452.5, 2452.5, 2452.5])
    """

    name: str
    blocks: Sequence[Block] = field(repr=False)
    patches: tuple[Patch, ...] = field(default=(), repr=False)

    @property
    def message(self) -> str:
        held = sum(block.support for block in self.blocks)
        return f"{self.name}: {counted(len(self.blocks), 'block')}, {held} of them held"

    def scene(
        self,
        *,
        density: float = 2000.0,
        friction: float = 0.6,
        supports: Iterable[str] | str | None = None,
    ) -> Scene:
        """The blocks as bodies of a ``Scene``: their convex hulls, with their own mass and centre.

        Parameters
        ----------
        density : float [kg/m^3]
        friction : float
        supports : list of str or "lowest", optional
            Names of the blocks that are held; by default those of the file. "lowest": those that
            stand at the height of the lowest corner, to a thousandth of their size.

        Raises
        ------
        InputError
            Where no block is held.
        """
        density = arrays.positive("density", density)
        names = [block.name for block in self.blocks]
        held = {block.name for block in self.blocks if block.support}
        if isinstance(supports, str) and supports == "lowest":
            held = self._lowest()
        elif supports is not None:
            held = {str(name) for name in ([supports] if isinstance(supports, str) else supports)}
        if not held or not held <= set(names):
            odd = sorted(held - set(names))
            raise InputError(
                f"{self.name}: "
                + (f"there is no block {odd[0]!r} to hold" if odd else "no block is held")
                + f"; expected supports= (--supports), 'lowest' or some of {', '.join(names[:10])}"
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

    def _lowest(self) -> set[str]:
        """Blocks that stand lowest."""
        foot = {block.name: float(block.points[:, 2].min()) for block in self.blocks}
        size = {block.name: float(np.ptp(block.points, axis=0).max()) for block in self.blocks}
        ground = min(foot.values())
        return {name for name, z in foot.items() if z - ground <= LEVEL * size[name]}

    def statics(
        self,
        *,
        density: float = 2000.0,
        friction: float = 0.6,
        supports: Iterable[str] | str | None = None,
        closed: float = 1e-3,
    ) -> Statics:
        """Statics of the blocks on the patches of their faces.

        Parameters
        ----------
        density, friction, supports
            As for ``scene``.
        closed : float
            Largest distance of two faces in contact, at the corners of their patch, over the size
            of the smaller block. Faces of files with few digits lean on each other: 0.02 takes in
            those that lean by about that.

        Raises
        ------
        InputError
            As ``scene``, and where no faces touch.
        """
        with warnings.catch_warnings():
            # they are of resting on a hull's faces, where patches are those of the file or of the
            # faces as given
            warnings.simplefilter("ignore", SceneWarning)
            scene = self.scene(density=density, friction=friction, supports=supports)
        self._warn_of_broken_planes(scene)
        return of_contacts(scene, self.contacts(arrays.positive("closed", closed), scene))

    def _warn_of_broken_planes(self, scene: Scene) -> None:
        """Faces in pieces that are nearly in one plane, of all blocks in one warning."""
        doubts = [scene.bodies.shape(i).doubt for i in range(len(self.blocks))]
        broken = [i for i, doubt in enumerate(doubts) if doubt]
        if broken:
            first, _, _ = doubts[broken[0]].partition(",")
            patches = "those of the file" if self.patches else "cut from each piece by itself"
            warn(
                f"{self.name}: {counted(len(broken), 'block')} with faces that are not quite "
                f"plane, first {self.blocks[broken[0]].name!r}: {first}; patches are {patches}",
                SceneWarning,
            )

    def contacts(self, closed: float, scene: Scene) -> Contacts:
        """Corners of all patches of faces, normals from the first block to the second.

        Parameters
        ----------
        closed : float
            As for ``statics``.
        scene : Scene
            Of ``scene()``.
        """
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
                "blocks' size (a larger closed=, --closed on the command line, takes in wider gaps)"
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
                    for patch, normal in patches_of(
                        self.blocks[a].planes, self.blocks[b].planes, gap
                    ):
                        yield a, b, patch, normal
