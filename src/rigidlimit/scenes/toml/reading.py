"""Scenes from TOML text or files: bodies, lattices and pairs are added to a scene."""

import math
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from ..._support.warned import warn
from ..._support.words import counted
from ...bodies import Cell, Material, Shape
from ...errors import InputError, SceneError, SceneWarning, nearest
from ..names import GALLERY
from ..pairs import PAIR_KEYS
from ..scene import Scene
from .faults import first_fault
from .memory import memory_of
from .shapes import shape_of_table
from .tables import BodyTable, LatticeTable, PairTable, SceneTable

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


OF_A_FILE = ("name", "description", "dt", "duration", "tangential_law", "increments")
"""Keys that a file may give beside a scene of the gallery."""


def read_scene(path: str | Path) -> Scene:
    """The scene in a TOML file. Raises SceneError, one line that names file, key and remedy."""
    path = Path(path)
    try:
        data = path.read_bytes()
        if data.startswith(b"\x89HDF\r\n\x1a\n"):
            raise SceneError(
                f"{path}: an HDF5 file; expected a scene, a TOML file. If it is a run, look at it: "
                f"rigidlimit view {path}"
            )
        text = data.decode("utf-8-sig")  # Windows' editors put a mark in front
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SceneError(f"{path}: cannot be read: {reason}") from error
    table, scene = _parsed(text, str(path), path.parent)
    _warn_of_unused(table, str(path))
    return scene


def parse_scene(text: str, *, name: str = "scene text", folder: Path | None = None) -> Scene:
    """The scene in TOML text; ``name`` stands for the file in messages."""
    return _parsed(text, name, folder)[1]


def scene_of_tables(tables: dict, *, name: str, folder: Path | None = None) -> Scene:
    """The scene of the tables that TOML text holds, as ``tomllib`` reads them."""
    return _built(_checked(tables, name), name, folder)


def _parsed(text: str, name: str, folder: Path | None) -> tuple[SceneTable, Scene]:
    table = _table(text, name)
    return table, _built(table, name, folder)


def _built(table: SceneTable, name: str, folder: Path | None) -> Scene:
    try:
        return _build(table, folder or Path())
    except SceneError as error:
        raise SceneError(f"{name}: {error}") from None


def _table(text: str, name: str) -> SceneTable:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{name}: not valid TOML: {error}") from error
    return _checked(tables, name)


def _checked(tables: dict, name: str) -> SceneTable:
    try:
        return SceneTable.model_validate(tables)
    except ValidationError as error:
        raise SceneError(f"{name}: {first_fault(error)}") from None


def parse_head(text: str, *, name: str) -> tuple[Scene, list[Material]]:
    """(a scene without bodies yet, materials) in the text of ``head_text``."""
    scene, materials = _begun(_table(text, name))
    return scene, list(materials.values())


def _warn_of_unused(table: SceneTable, name: str) -> None:
    """Keys that do nothing where they stand, in a file that a user wrote."""
    found = [
        f"{kind}[{number}].{key}"
        for kind in ("bodies", "lattices")
        for number, body in enumerate(getattr(table, kind))
        for key in ("mass", "load")
        if body.fixed is True and getattr(body, key) is not None
    ]
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        key = found[0].rpartition(".")[2]
        warn(
            f"{name}: {found[0]}{more}: the body is fixed, so that its {key} has no effect; remove "
            f"{key}, or fixed = true",
            SceneWarning,
        )


def _build(table: SceneTable, folder: Path) -> Scene:
    if table.gallery is not None:
        return _of_gallery(table)
    if table.parameters:
        raise SceneError("parameters: only for a gallery scene; name one with gallery = ...")
    if not table.bodies and not table.lattices:
        raise SceneError("bodies: none found; add a [[bodies]] table for each body")
    scene, materials = _begun(table)
    for number, body in enumerate(table.bodies):
        located(f"bodies[{number}]", add_body, scene, body, materials, folder)
    for number, lattice in enumerate(table.lattices):
        located(f"lattices[{number}]", add_lattice, scene, lattice, materials, folder)
    for number, pair in enumerate(table.pairs):
        located(f"pairs[{number}]", add_pair, scene, pair)
    scene.memory = memory_of(scene, table.contacts)
    return scene


def _begun(table: SceneTable) -> tuple[Scene, dict[str, Material]]:
    """(scene without bodies, materials by name)."""
    scene = Scene(
        name=table.name,
        dim=table.dim,
        gravity=table.gravity,
        restitution=table.restitution,
        law=table.law,
        tangential_law=table.tangential_law,
        increments=table.increments,
        dt=table.dt,
        duration=table.duration,
        description=table.description,
        cell=None if table.cell is None else Cell(**table.cell.model_dump()),
    )
    scene.path = _paths(table)
    materials = {
        name: Material(name=name, **entry.model_dump()) for name, entry in table.materials.items()
    }
    return scene, materials


def _paths(table: SceneTable) -> list[dict]:
    """The loading paths of a file, a table each."""
    paths = table.path if isinstance(table.path, list) else [table.path]
    return [path.model_dump(exclude_none=True) for path in paths]


def _of_gallery(table: SceneTable) -> Scene:
    """A gallery scene with what the file gives that is no matter of the gallery (``OF_A_FILE``)."""
    if table.bodies or table.lattices:
        raise SceneError("gallery and bodies exclude each other; keep one of them")
    try:
        scene = GALLERY[table.gallery](**table.parameters)
    except InputError as error:
        hint = f"see `rigidlimit scenes {table.gallery}`"
        raise SceneError(f"parameters: {error}; {hint}") from None
    scene.path = _paths(table) or scene.path
    given = table.model_fields_set - {"gallery", "parameters", "path"}
    kept = given - set(OF_A_FILE)
    if kept:
        key = sorted(kept)[0]
        raise SceneError(
            f"{key}: not with gallery, whose keys are parameters, path, "
            f"{', '.join(OF_A_FILE)}; "
            f"try [parameters], or `rigidlimit scenes {table.gallery} --write FILE` and change that"
        )
    for key in given:
        setattr(scene, key, getattr(table, key))
    return scene
