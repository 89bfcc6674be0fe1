"""Shapes as tables of a scene file, both ways."""

import contextlib
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from ... import bodies as shapes
from ..._support.words import counted
from ...errors import SceneError
from .tables import SHAPES, BodyTable, ShapeTable, toml_value

KEYS = ("radius", "length", "size", "semi_axes", "points", "mesh", "parts")
"""Keys that belong to some shapes, by ``SHAPES``."""


def shape_of_table(table: ShapeTable, dim: int, folder: Path) -> shapes.Shape:
    """The shape of a body or part; folder: of its mesh."""
    _check_keys(table)
    return MAKE[table.shape](table, dim, folder)


def _check_keys(table: ShapeTable) -> None:
    """Raises SceneError for a key that is missing, or that the shape does not have."""
    shape, allowed = table.shape, SHAPES[table.shape]
    for key in KEYS:
        given = getattr(table, key, None) is not None
        if given and key not in allowed:
            keys = ", ".join(allowed) or "none"
            raise SceneError(f"{key}: not for shape {shape!r}, whose keys are: {keys}")
        if not given and key in allowed and shape != "polyhedron":
            raise SceneError(f"{key}: missing; shape {shape!r} needs {', '.join(allowed)}")
    if "mesh_scale" in table.model_fields_set and table.mesh is None:
        raise SceneError("mesh_scale: only beside mesh; scale the numbers, or remove mesh_scale")
    if table.flat is not None and shape != "polyhedron":
        raise SceneError("flat: only for shape 'polyhedron'; remove flat")
    for key in ("centre", "inertia_per_mass"):
        if shape != "compound" and getattr(table, key, None) is not None:
            raise SceneError(f"{key}: only for shape 'compound'; remove {key}")


def _half_space(table: BodyTable, dim: int, folder: Path) -> shapes.HalfSpace:
    if "fixed" in table.model_fields_set and not table.fixed and table.mass is None:
        raise SceneError(
            f"fixed: found {toml_value(table.fixed)}; a half-space without a mass is fixed; remove "
            "fixed, or give the mass with which it moves along its normal"
        )
    return shapes.HalfSpace(dim)


def _box(table: ShapeTable, dim: int, folder: Path) -> shapes.Shape:
    if len(table.size) != dim:
        raise SceneError(
            f"size: found {counted(len(table.size), 'entry')}; expected {dim}, one per axis"
        )
    return shapes.rectangle(*table.size) if dim == 2 else shapes.Box(tuple(table.size))


def _polyhedron(table: ShapeTable, dim: int, folder: Path) -> shapes.ConvexPolyhedron:
    if (table.points is None) == (table.mesh is None):
        raise SceneError("points, mesh: a polyhedron needs one of them")
    if table.points is not None:
        return shapes.ConvexPolyhedron(_points(table.points, 3), flat=table.flat)
    return read_mesh(folder / table.mesh, scale=table.mesh_scale, flat=table.flat)


def _compound(table: BodyTable, dim: int, folder: Path) -> shapes.Compound:
    parts = []
    for number, part in enumerate(table.parts):
        try:
            shape, at = shape_of_table(part, dim, folder), part.position
        except SceneError as error:
            raise SceneError(f"parts[{number}].{error}") from None
        if at is None:
            at = getattr(shape, "centre", np.zeros(dim))
        parts.append((shape, at, part.orientation))
    densities = [part.density for part in table.parts]
    return shapes.Compound(
        parts,
        densities=None if set(densities) == {1.0} else densities,
        centre=table.centre,
        inertia_per_mass=table.inertia_per_mass,
    )


def _points(points: list[list[float]], dim: int) -> np.ndarray:
    for number, point in enumerate(points):
        if len(point) != dim:
            raise SceneError(
                f"points[{number}]: found {counted(len(point), 'number')}; expected {dim}, one per "
                "axis"
            )
    return np.array(points, float).reshape(-1, dim)


MAKE: dict[str, Callable[[ShapeTable, int, Path], shapes.Shape]] = {
    "sphere": lambda table, dim, folder: shapes.Sphere(table.radius),
    "disk": lambda table, dim, folder: shapes.Disk(table.radius),
    "capsule": lambda table, dim, folder: shapes.Capsule(table.radius, table.length),
    "cylinder": lambda table, dim, folder: shapes.Cylinder(table.radius, table.length),
    "ellipsoid": lambda table, dim, folder: shapes.Ellipsoid(tuple(table.semi_axes)),
    "polygon": lambda table, dim, folder: shapes.Polygon(_points(table.points, 2)),
    "half-space": _half_space,
    "box": _box,
    "rectangle": _box,
    "polyhedron": _polyhedron,
    "compound": _compound,
}
"""How the shape of a checked table is made, by its name."""


def read_mesh(
    path: str | Path, *, scale: float = 1.0, flat: float | None = None
) -> shapes.ConvexPolyhedron:
    """The convex hull of an OBJ or STL mesh.

    Parameters
    ----------
    path
        The file.
    scale
        Factor on its coordinates, which are in m then.
    flat
        [m], as of ``ConvexPolyhedron``.

    Raises
    ------
    SceneError
        For a file that is no mesh, or points without volume.
    """
    import meshio

    path = Path(path)
    if not path.is_file():
        raise SceneError(f"mesh: {path} is no file; expected an OBJ or STL file")
    try:
        # meshio writes its complaints to the terminal and may end the program
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            points = np.asarray(meshio.read(path).points, float)
    except (Exception, SystemExit) as error:
        raise SceneError(f"mesh: {path} cannot be read as a mesh; expected OBJ or STL") from error
    try:
        return shapes.ConvexPolyhedron(points * scale, flat=flat)
    except SceneError as error:
        raise SceneError(f"mesh: {path}: {error}") from None


def shape_keys(shape: shapes.Shape) -> Iterator[tuple[str, object]]:
    """The keys of a shape's table and their values."""
    kinds = {
        shapes.Sphere: "sphere", shapes.HalfSpace: "half-space", shapes.Box: "box",
        shapes.Capsule: "capsule", shapes.Cylinder: "cylinder", shapes.Ellipsoid: "ellipsoid",
        shapes.ConvexPolyhedron: "polyhedron", shapes.Disk: "disk", shapes.Polygon: "polygon",
        shapes.Compound: "compound",
    }  # fmt: skip
    kind = kinds[type(shape)]
    yield "shape", kind
    for key in SHAPES[kind]:
        if key == "points":
            yield key, shape.vertices
            if getattr(shape, "flat", None) == 0 or not getattr(shape, "stays", True):
                yield "flat", 0.0
        elif key == "parts":
            yield key, [_part_keys(shape, number) for number in range(len(shape.parts))]
            yield from ((k, getattr(shape, k)) for k in shape.given if k != "densities")
        elif key != "mesh":
            yield key, getattr(shape, key)


def shape_tables(shapes: Iterable[shapes.Shape]) -> list[dict]:
    """Each shape as the table of a body, of lists, numbers and text."""
    return [_plain(dict(shape_keys(shape))) for shape in shapes]


def shapes_of_tables(text: str, dim: int) -> list[shapes.Shape]:
    """The shapes in the JSON text of ``shape_tables``. Raises ValueError or SceneError."""
    try:
        tables = TypeAdapter(list[BodyTable]).validate_json(text)
    except ValidationError as error:
        raise ValueError(f"scene/shapes: {error.errors()[0]['msg']}") from None
    nowhere = Path()
    return [shape_of_table(table, dim, nowhere) for table in tables]


def _plain(value: object) -> object:
    """Arrays and tuples as lists, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _part_keys(compound: shapes.Compound, number: int) -> dict:
    shape, position, turn = compound.parts[number]
    keys = dict(shape_keys(shape)) | {"position": position}
    if turn is not None:
        keys["orientation"] = turn
    if compound.densities is not None:
        keys["density"] = compound.densities[number]
    return keys
