"""Bodies, lattices and pairs of a TOML file, added to a scene."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..._support.words import counted
from ...bodies import Material, Shape
from ...errors import SceneError, nearest
from ..pairs import PAIR_KEYS
from ..scene import Scene
from .shapes import shape_of_table
from .tables import BodyTable, LatticeTable, PairTable

MANY = 10**8
"""Bodies of one lattice that no machine steps: a slip of the pen."""


def add_pair(scene: Scene, pair: PairTable) -> None:
    """What is given for two bodies; each key once."""
    given = [key for key in PAIR_KEYS if getattr(pair, key) is not None]
    if not given and pair.collide is None:
        keys = ", ".join((*PAIR_KEYS, "collide"))
        raise SceneError(f"nothing is given; expected one or more of {keys}")
    if pair.collide is False:
        if given:
            raise SceneError(f"{given[0]}: not beside collide = false; remove one of them")
        scene.exclude(*pair.bodies)
    for key in given:
        values = getattr(scene, f"pair_{key}")
        known = len(values)
        getattr(scene, f"set_pair_{key}")(*pair.bodies, getattr(pair, key))
        if len(values) == known:
            raise SceneError(
                f"{pair.bodies} are given a second time; expected one {key} for two bodies; "
                "remove one of them"
            )


def located(place: str, action: Callable[..., None], *arguments: object) -> None:
    """Calls ``action``; its error says where in the file it arose."""
    try:
        action(*arguments)
    except SceneError as error:
        raise SceneError(f"{place}: {error}") from None


def add_body(scene: Scene, body: BodyTable, materials: dict[str, Material], folder: Path) -> None:
    shape, position = shape_of_table(body, scene.dim, folder), body.position
    if position is None:
        if not hasattr(shape, "centre"):
            raise SceneError(f"position: missing; add position = {[0] * scene.dim}")
        position = shape.centre  # the points, or parts, are where the body is
    scene.add(
        shape,
        position=position,
        orientation=body.orientation,
        normal=body.normal,
        velocity=body.velocity,
        angular_velocity=body.angular_velocity,
        material=_material(body, materials),
        mass=body.mass,
        fixed=body.fixed,
        name=body.name,
        load=body.load,
        group=body.group,
    )


def add_lattice(
    scene: Scene, lattice: LatticeTable, materials: dict[str, Material], folder: Path
) -> None:
    spacing, origin = _checked_lattice(lattice, scene.dim)
    axes = np.meshgrid(
        *(np.arange(c) * s for c, s in zip(lattice.counts, spacing, strict=True)), indexing="ij"
    )
    rng, bodies = np.random.default_rng(lattice.seed), math.prod(lattice.counts)
    shape = _shapes(lattice, scene.dim, folder, bodies, rng)
    moved = lattice.jitter * rng.uniform(-1.0, 1.0, (bodies, scene.dim))
    scene.add_many(
        shape,
        np.column_stack([axis.ravel() for axis in axes]) + np.array(origin) + moved,
        material=_material(lattice, materials),
        mass=lattice.mass,
        fixed=lattice.fixed,
        group=lattice.group,
    )


def _checked_lattice(lattice: LatticeTable, d: int) -> tuple[list[float], list[float]]:
    """(spacing, origin), one number an axis each."""
    origin = lattice.position or [0.0] * d
    spacing = lattice.spacing
    spacing = spacing if isinstance(spacing, list) else [spacing] * d
    for key, values in (("counts", lattice.counts), ("spacing", spacing), ("position", origin)):
        if len(values) != d:
            raise SceneError(
                f"{key}: found {counted(len(values), 'entry')}; expected {d}, one per axis"
            )
    bodies = math.prod(lattice.counts)
    if bodies > MANY:
        raise SceneError(f"counts: {bodies:.3g} bodies; expected at most {MANY:.0e}")
    for key in ("name", "orientation", "normal", "velocity", "angular_velocity", "load"):
        if getattr(lattice, key) is not None:
            raise SceneError(f"{key}: not for lattices; list such bodies under [[bodies]]")
    return spacing, origin


def _shapes(
    lattice: LatticeTable, dim: int, folder: Path, bodies: int, rng: np.random.Generator
) -> Shape | list[Shape]:
    """The shape of all bodies of a lattice, or one for each of those whose radii are drawn."""
    drawn = lattice.radii is not None
    if "seed" in lattice.model_fields_set and not (drawn or lattice.jitter):
        raise SceneError("seed: only beside radii or jitter, which are drawn by it; remove seed")
    if not drawn:
        return shape_of_table(lattice, dim, folder)
    low, high = lattice.radii
    if lattice.shape not in ("sphere", "disk"):
        raise SceneError(f"radii: not for shape {lattice.shape!r}; only for spheres and disks")
    if lattice.radius is not None:
        raise SceneError("radius, radii: exclude each other; keep one of them")
    if low > high:
        raise SceneError(f"radii: found {lattice.radii}; expected the smallest, then the largest")
    largest = shape_of_table(lattice.model_copy(update={"radius": high}), dim, folder)
    return [type(largest)(radius) for radius in rng.uniform(low, high, bodies)]


def _material(body: BodyTable, materials: dict[str, Material]) -> Material | None:
    """The material that a body names, else the one called default, if there is one."""
    if body.material is None:
        return materials.get("default")
    if body.material not in materials:
        hint = nearest(body.material, materials) if materials else "add a table [materials.NAME]"
        raise SceneError(f"material: {body.material!r} is not defined; {hint}")
    return materials[body.material]
