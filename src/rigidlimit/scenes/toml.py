"""Scenes as TOML text. Units are SI: m, kg, s, N, Pa, rad.

    name = "ball on a plane"
    dim = 3
    gravity = [0, 0, -9.81]
    law = "hooke"                      # or "hertz", or the exponent p > 1

    [materials.glass]
    young = 50e9
    poisson = 0.25
    density = 2500
    friction = 0.4                     # 0 where it is left out; of two materials the smaller
    tangential_stiffness = 0.8         # k_t/k_n; where it is left out Mindlin's, from poisson

    [[bodies]]
    shape = "half-space"
    position = [0, 0, 0]
    normal = [0, 0, 1]

    [[bodies]]
    name = "ball"
    shape = "sphere"
    radius = 0.01
    position = [0, 0, 0.01]
    material = "glass"

    [[pairs]]                          # what holds for two bodies by name, one or more of:
    bodies = ["ball", "0"]
    stiffness = 2.0
    friction = 0.3
    tangential_stiffness = 1.0
    collide = false                    # they pass through one another

Bodies with the same ``group = "platens"`` do not collide with one another. A ``shape = "compound"``
has ``parts``, each a table with the keys of a shape. ``gallery = "pyramid"`` with a table
``[parameters]`` takes a gallery scene instead of bodies. A ``[[lattices]]`` table repeats a body on
a grid: ``counts`` per axis, ``spacing`` apart; balls of ``radii`` between two, moved about by
``jitter``, as they are poured.
"""

import contextlib
import io
import json
import math
import tomllib
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from .. import bodies as shapes
from .._support.atomic import write_text
from .._support.warned import warn
from .._support.words import counted
from ..bodies import Material, State, rotations
from ..bodies.bodies import PLANAR
from ..bodies.materials import MINDLIN
from ..errors import InputError, SceneError, SceneWarning, nearest
from .checks import DEGREES
from .names import GALLERY
from .scene import PAIR_KEYS, Scene
from .tables import SHAPES, BodyTable, SceneTable, first_fault

OF_A_FILE = ("name", "description", "dt", "duration", "tangential_law", "increments")
"""Keys that a file may give beside a scene of the gallery."""

MANY = 10**8
"""Bodies of one lattice that no machine steps: a slip of the pen."""


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


def _parsed(text: str, name: str, folder: Path | None):
    table = _table(text, name)
    try:
        return table, _build(table, folder or Path())
    except SceneError as error:
        raise SceneError(f"{name}: {error}") from None


def _table(text: str, name: str) -> SceneTable:
    try:
        return SceneTable.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{name}: not valid TOML: {error}") from error
    except ValidationError as error:
        raise SceneError(f"{name}: {first_fault(error)}") from None


def parse_head(text: str, *, name: str) -> tuple[Scene, list[Material]]:
    """(a scene without bodies yet, materials) in the text of ``head_text``."""
    scene, materials = _begun(_table(text, name))
    return scene, list(materials.values())


def _warn_of_unused(table, name: str) -> None:
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
        if table.bodies or table.lattices:
            raise SceneError("gallery and bodies exclude each other; keep one of them")
        try:
            scene = GALLERY[table.gallery](**table.parameters)
        except InputError as error:
            hint = f"see `rigidlimit scenes {table.gallery}`"
            raise SceneError(f"parameters: {error}; {hint}") from None
        return _adjusted(scene, table)
    if table.parameters:
        raise SceneError("parameters: only for a gallery scene; name one with gallery = ...")
    if not table.bodies and not table.lattices:
        raise SceneError("bodies: none found; add a [[bodies]] table for each body")
    scene, materials = _begun(table)
    for number, body in enumerate(table.bodies):
        _located(f"bodies[{number}]", _add_body, scene, body, materials, folder)
    for number, lattice in enumerate(table.lattices):
        _located(f"lattices[{number}]", _add_lattice, scene, lattice, materials, folder)
    for number, pair in enumerate(table.pairs):
        _located(f"pairs[{number}]", _add_pair, scene, pair)
    return scene


def _add_pair(scene, pair):
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
    )
    materials = {
        name: Material(name=name, **entry.model_dump()) for name, entry in table.materials.items()
    }
    return scene, materials


def _adjusted(scene, table):
    """A gallery scene with what the file gives that is no matter of the gallery (``OF_A_FILE``)."""
    given = table.model_fields_set - {"gallery", "parameters"}
    kept = given - set(OF_A_FILE)
    if kept:
        key = sorted(kept)[0]
        raise SceneError(
            f"{key}: not with gallery, whose keys are parameters, {', '.join(OF_A_FILE)}; "
            f"try [parameters], or `rigidlimit scenes {table.gallery} --write FILE` and change that"
        )
    for key in given:
        setattr(scene, key, getattr(table, key))
    return scene


def _located(place, action, *arguments):
    try:
        action(*arguments)
    except SceneError as error:
        raise SceneError(f"{place}: {error}") from None


def _add_body(scene, body, materials, folder):
    shape, position = _shape(body, scene.dim, folder), body.position
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


def _add_lattice(scene, lattice, materials, folder):
    d = scene.dim
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
    axes = np.meshgrid(
        *(np.arange(c) * s for c, s in zip(lattice.counts, spacing, strict=True)), indexing="ij"
    )
    rng = np.random.default_rng(lattice.seed)
    shape = _shapes(lattice, d, folder, bodies, rng)
    moved = lattice.jitter * rng.uniform(-1.0, 1.0, (bodies, d))
    scene.add_many(
        shape,
        np.column_stack([axis.ravel() for axis in axes]) + np.array(origin) + moved,
        material=_material(lattice, materials),
        mass=lattice.mass,
        fixed=lattice.fixed,
        group=lattice.group,
    )


def _shapes(lattice, dim, folder, bodies, rng):
    """The shape of all bodies of a lattice, or one for each of those whose radii are drawn."""
    drawn = lattice.radii is not None
    if "seed" in lattice.model_fields_set and not (drawn or lattice.jitter):
        raise SceneError("seed: only beside radii or jitter, which are drawn by it; remove seed")
    if not drawn:
        return _shape(lattice, dim, folder)
    low, high = lattice.radii
    if lattice.shape not in ("sphere", "disk"):
        raise SceneError(f"radii: not for shape {lattice.shape!r}; only for spheres and disks")
    if lattice.radius is not None:
        raise SceneError("radius, radii: exclude each other; keep one of them")
    if low > high:
        raise SceneError(f"radii: found {lattice.radii}; expected the smallest, then the largest")
    largest = _shape(lattice.model_copy(update={"radius": high}), dim, folder)
    return [type(largest)(radius) for radius in rng.uniform(low, high, bodies)]


def _material(body, materials):
    if body.material is None:
        return materials.get("default")
    if body.material not in materials:
        hint = nearest(body.material, materials) if materials else "add a table [materials.NAME]"
        raise SceneError(f"material: {body.material!r} is not defined; {hint}")
    return materials[body.material]


def _shape(body, dim, folder):
    allowed = SHAPES[body.shape]
    for key in ("radius", "length", "size", "semi_axes", "points", "mesh", "parts"):
        given = getattr(body, key, None) is not None
        if given and key not in allowed:
            keys = ", ".join(allowed) or "none"
            raise SceneError(f"{key}: not for shape {body.shape!r}, whose keys are: {keys}")
        if not given and key in allowed and body.shape != "polyhedron":
            raise SceneError(f"{key}: missing; shape {body.shape!r} needs {', '.join(allowed)}")
    if "mesh_scale" in body.model_fields_set and body.mesh is None:
        raise SceneError("mesh_scale: only beside mesh; scale the numbers, or remove mesh_scale")
    kind = body.shape
    if body.flat is not None and kind != "polyhedron":
        raise SceneError("flat: only for shape 'polyhedron'; remove flat")
    if kind == "compound":
        return _compound(body, dim, folder)
    for key in ("centre", "inertia_per_mass"):
        if getattr(body, key, None) is not None:
            raise SceneError(f"{key}: only for shape 'compound'; remove {key}")
    if kind == "half-space" and "fixed" in body.model_fields_set and not body.fixed:
        raise SceneError(
            f"fixed: found {_value(body.fixed)}; a half-space is always fixed; remove fixed, or "
            "take a box"
        )
    if kind == "half-space":
        return shapes.HalfSpace(dim)
    if kind in ("sphere", "disk"):
        return (shapes.Sphere if kind == "sphere" else shapes.Disk)(body.radius)
    if kind in ("capsule", "cylinder"):
        return (shapes.Capsule if kind == "capsule" else shapes.Cylinder)(body.radius, body.length)
    if kind == "ellipsoid":
        return shapes.Ellipsoid(tuple(body.semi_axes))
    if kind in ("box", "rectangle"):
        if len(body.size) != dim:
            raise SceneError(
                f"size: found {counted(len(body.size), 'entry')}; expected {dim}, one per axis"
            )
        return shapes.rectangle(*body.size) if dim == 2 else shapes.Box(tuple(body.size))
    if kind == "polygon":
        return shapes.Polygon(_points(body.points, 2))
    if (body.points is None) == (body.mesh is None):
        raise SceneError("points, mesh: a polyhedron needs one of them")
    if body.points is not None:
        return shapes.ConvexPolyhedron(_points(body.points, 3), flat=body.flat)
    return read_mesh(folder / body.mesh, scale=body.mesh_scale, flat=body.flat)


def _compound(body, dim, folder):
    parts = []
    for number, part in enumerate(body.parts):
        try:
            shape, at = _shape(part, dim, folder), part.position
        except SceneError as error:
            raise SceneError(f"parts[{number}].{error}") from None
        if at is None:
            at = getattr(shape, "centre", np.zeros(dim))
        parts.append((shape, at, part.orientation))
    densities = [part.density for part in body.parts]
    return shapes.Compound(
        parts,
        densities=None if set(densities) == {1.0} else densities,
        centre=body.centre,
        inertia_per_mass=body.inertia_per_mass,
    )


def _points(points: list[list[float]], dim: int) -> np.ndarray:
    for number, point in enumerate(points):
        if len(point) != dim:
            raise SceneError(
                f"points[{number}]: found {counted(len(point), 'number')}; expected {dim}, one per "
                "axis"
            )
    return np.array(points, float).reshape(-1, dim)


def read_mesh(
    path: str | Path, *, scale: float = 1.0, flat: float | None = None
) -> shapes.ConvexPolyhedron:
    """The convex hull of an OBJ or STL mesh, its coordinates times ``scale`` [m]. flat [m]: as of
    ``ConvexPolyhedron``."""
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


def write_scene(scene: Scene, path: str | Path, state: State | None = None) -> None:
    """Write a scene as TOML that ``read_scene`` takes back (whole or not at all).

    state: poses and velocities to begin with, as of ``settle``; None: the scene's own.
    """
    write_text(path, scene_text(scene, state))


def head_text(scene: Scene) -> str:
    """All of the scene but its bodies and what is between two of them, as TOML text."""
    lines = ["# Units: m, kg, s, N, Pa, rad"]
    for key in ("name", "description", "dim", "restitution", "law", "dt", "duration"):
        lines.append(f"{key} = {_value(getattr(scene, key))}")
    if scene.tangential_law != MINDLIN or scene.increments != 1:
        lines.append(f"tangential_law = {_value(scene.tangential_law)}")
        lines.append(f"increments = {_value(scene.increments)}")
    lines.append(f"gravity = {_value(scene.gravity[: scene.dim])}")
    materials = scene.bodies.materials
    for name, material in zip(_material_names(materials), materials, strict=True):
        lines += ["", f"[materials.{_value(name)}]"]
        lines += [
            f"{key} = {_value(getattr(material, key))}" for key in ("young", "poisson", "density")
        ]
        if material.friction:
            lines.append(f"friction = {_value(material.friction)}")
        if material.tangential_stiffness is not None:
            lines.append(f"tangential_stiffness = {_value(material.tangential_stiffness)}")
    return "\n".join(lines) + "\n"


def scene_text(scene: Scene, state: State | None = None) -> str:
    """The scene as TOML text, bodies one by one; state: instead of the scene's own."""
    b, d = scene.bodies, scene.dim
    state = scene.state if state is None else state
    lines, names = [head_text(scene).removesuffix("\n")], _material_names(b.materials)
    load = scene.columns["load"]
    group = {i: name for name, bodies in scene.groups.items() for i in bodies}
    for i in range(len(b)):
        shape = b.shape(i)
        lines += ["", "[[bodies]]", f"name = {_value(b.names[i])}"]
        lines += [f"{key} = {_value(value)}" for key, value in _shape_keys(shape)]
        lines.append(f"position = {_value(state.position[i, :d])}")
        lines.append(f"material = {_value(names[b.material_of[i]])}")
        turned = abs(state.quaternion[i, 0] - 1) > 0
        if turned:
            turn = state.quaternion[i] if d == 3 else rotations.angle_of(state.quaternion[i])
            lines.append(f"orientation = {_value(turn)}")
        endless = isinstance(shape, shapes.HalfSpace)
        usual = b.materials[b.material_of[i]].density * shape.measure
        # that of a fixed body has no effect: only what another density would not give again
        if not endless and (b.free[i].any() or b.mass[i] != usual):
            lines.append(f"mass = {_value(b.mass[i])}")
        lines += _motion_lines(state.velocity[i], load[i], b.free[i], d, endless)
        if i in group:
            lines.append(f"group = {_value(group[i])}")
    known = {key: getattr(scene, f"pair_{key}") for key in PAIR_KEYS}
    for i, j in dict.fromkeys(pair for values in known.values() for pair in values):
        lines += ["", "[[pairs]]", f"bodies = {_value([b.names[i], b.names[j]])}"]
        lines += [f"{key} = {_value(v[i, j])}" for key, v in known.items() if (i, j) in v]
    for i, j in scene.excluded:
        lines += ["", "[[pairs]]", f"bodies = {_value([b.names[i], b.names[j]])}"]
        lines.append("collide = false")
    return "\n".join(lines) + "\n"


def _motion_lines(velocity, load, free, dim, endless):
    lines = []
    usual = np.ones(6, bool) if dim == 3 else PLANAR
    if endless:
        load = np.zeros(6)  # fixed as it is
    elif not free.any():
        lines.append("fixed = true")
    elif (free != usual).any():
        held = [name for name, f, u in zip(DEGREES, free, usual, strict=True) if u and not f]
        lines.append(f"fixed = {_value(held)}")
    if velocity[:3].any():
        lines.append(f"velocity = {_value(velocity[:dim])}")
    if velocity[3:].any():
        lines.append(f"angular_velocity = {_value(velocity[5] if dim == 2 else velocity[3:])}")
    if np.abs(load).max() > 0:
        lines.append(f"load = {_value(load[[0, 1, 5]] if dim == 2 else load)}")
    return lines


def _material_names(materials):
    names = []
    for material in materials:
        name = material.name
        while name in names:
            name += "'"
        names.append(name)
    return names


def _shape_keys(shape):
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


def shape_tables(shapes) -> list[dict]:
    """Each shape as the table of a body, of lists, numbers and text."""
    return [_plain(dict(_shape_keys(shape))) for shape in shapes]


def shapes_of_tables(text: str, dim: int) -> list:
    """The shapes in the JSON text of ``shape_tables``. Raises ValueError or SceneError."""
    try:
        tables = TypeAdapter(list[BodyTable]).validate_json(text)
    except ValidationError as error:
        raise ValueError(f"scene/shapes: {error.errors()[0]['msg']}") from None
    nowhere = Path()
    return [_shape(table, dim, nowhere) for table in tables]


def _plain(value):
    """Arrays and tuples as lists, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _part_keys(compound, number: int) -> dict:
    shape, position, turn = compound.parts[number]
    keys = dict(_shape_keys(shape)) | {"position": position}
    if turn is not None:
        keys["orientation"] = turn
    if compound.densities is not None:
        keys["density"] = compound.densities[number]
    return keys


def _value(value) -> str:
    """One TOML value; floats in the shortest form that reads back the same."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(v)}" for key, v in value.items()) + " }"
    if np.ndim(value) == 0 and isinstance(value, np.ndarray):
        return _value(value[()])
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + "".join(f"    {_value(v)},\n" for v in value) + "]"
    return "[" + ", ".join(_value(v) for v in value) + "]"
