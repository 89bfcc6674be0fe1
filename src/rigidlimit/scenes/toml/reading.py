"""Scenes from TOML text or files."""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from ..._support.warned import warn
from ...bodies import Cell, Material
from ...errors import InputError, SceneError, SceneWarning
from ..names import GALLERY
from ..scene import Scene
from .adding import add_body, add_lattice, add_pair, located
from .faults import first_fault
from .memory import memory_of
from .tables import SceneTable

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
