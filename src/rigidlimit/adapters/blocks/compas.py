"""COMPAS assemblies: JSON files of compas_assembly and compas_cra, read and written.

A file holds a graph whose nodes are blocks (meshes with ``is_support``) and whose edges hold the
interfaces between them: polygon, frame, and the forces at its corners. The format is COMPAS' own
(``{"dtype": ..., "data": ...}``, or ``value`` of older versions); reading it needs no COMPAS.
Forces at corners are ``c_np`` (pressing), ``c_nn`` (pulling), ``c_u`` and ``c_v`` (along the axes
of the frame).
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..._support import atomic
from ...bodies import Box, ConvexPolyhedron, HalfSpace
from ...bodies.rotations import matrix
from ...errors import InputError
from ...pose import Statics
from .assembly import Block, BlockAssembly, Patch

FRAMEWORK = "compas_assembly.datastructures"


def read_compas(path: str | Path) -> BlockAssembly:
    """The blocks of a COMPAS assembly.

    Parameters
    ----------
    path : str or Path
        JSON file of a ``compas_assembly`` or ``compas_cra`` assembly, of any version, or a list of
        meshes, of which none is a support (``statics(supports="lowest")``). Blocks are named as
        their meshes where all have names of their own, else by their nodes.

    Raises
    ------
    InputError
        Where the file is no such assembly, or a block is no closed mesh.

    Examples
    --------
    >>> import rigidlimit as rl
    >>> rl.adapters.write_compas("stack.json", rl.statics(rl.scenes.box_stack(2)))
    >>> rl.adapters.read_compas("stack.json").message
    'stack: 3 blocks, 1 of them held'
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InputError(f"{path}: cannot be read: it is not UTF-8 text") from None
    try:
        meshes, nodes, edges = _parts(json.loads(text))
        names = _names(list(meshes.values())) or list(meshes)
        blocks = [
            _block(name, mesh, nodes.get(key) or {})
            for name, (key, mesh) in zip(names, meshes.items(), strict=True)
        ]
        patches = list(_interfaces(edges, list(meshes)))
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise InputError(
            f"{path}: not a COMPAS assembly ({type(error).__name__}: {error}); expected JSON of a "
            "compas_assembly or compas_cra Assembly, or a list of meshes"
        ) from None
    if not blocks:
        raise InputError(f"{path}: an assembly without blocks; expected some")
    return BlockAssembly(path.stem, tuple(blocks), tuple(patches))


def _data(entry):
    """What an entry holds, out of the envelopes that versions of COMPAS put around it."""
    while isinstance(entry, dict):
        inner = entry.get("data", entry.get("value"))
        if not isinstance(inner, dict):
            break
        entry = inner
    return entry


def _parts(whole) -> tuple[dict, dict, dict]:
    """({node: mesh}, {node: attributes}, {node: {node: interface}}) of a file.

    Meshes are in the nodes of a graph (compas_assembly from 0.4 on, compas_cra), in those of the
    file itself (networks), beside the graph under ``blocks`` (before), or a list.
    """
    if isinstance(whole, list):
        meshes = [_data(entry) for entry in whole]
        return {str(k): mesh for k, mesh in enumerate(meshes)}, {}, {}
    data = _data(whole)
    if "blocks" in data:
        graph = data.get("assembly") or {}
        nodes = graph.get("node") or graph.get("vertex") or {}
        meshes = {str(key): _data(mesh) for key, mesh in data["blocks"].items()}
        return meshes, nodes, graph.get("edge") or {}
    graph = data if "graph" not in data and "node" in data else _data(data["graph"])
    meshes = {str(key): _data(node["block"]) for key, node in graph["node"].items()}
    return meshes, graph["node"], graph.get("edge") or {}


def _names(meshes: list[dict]) -> list[str]:
    """Names of the meshes where all are named, each otherwise, else none."""
    given = [str((mesh.get("attributes") or {}).get("name") or "") for mesh in meshes]
    return given if all(given) and len(set(given)) == len(given) else []


def _block(name: str, mesh: dict, node: dict) -> Block:
    at = {int(k): i for i, k in enumerate(mesh["vertex"])}
    points = np.array([[float(v[axis]) for axis in "xyz"] for v in mesh["vertex"].values()])
    faces = tuple(np.array([at[int(k)] for k in loop]) for loop in mesh["face"].values())
    return Block(name, points, faces, bool(node.get("is_support") or False))


def _interfaces(edges: dict, nodes: list[str]):
    """A ``Patch`` for each interface that is stored with its polygon."""
    number = {node: i for i, node in enumerate(nodes)}
    for u, ends in edges.items():
        for v, edge in ends.items():
            for corners in _polygons(edge or {}):
                points = np.array([p["data"] if isinstance(p, dict) else p for p in corners])
                if len(points) >= 3:
                    yield Patch(number[str(u)], number[str(v)], points)


def _polygons(edge: dict):
    """Corners of the interfaces of two blocks, as versions of COMPAS store them."""
    if edge.get("interface_points"):
        yield edge["interface_points"]
    single = edge.get("interface")
    for interface in edge.get("interfaces") or ([single] if single else []):
        yield _data(interface).get("points") or ()


def write_compas(path: str | Path, statics: Statics, force: ArrayLike | None = None) -> None:
    """Write the blocks of a scene in space as a COMPAS assembly, joints as interfaces.

    Parameters
    ----------
    path : str or Path
        JSON file.
    statics : Statics
        Boxes and convex polyhedra; half-spaces become slabs under all blocks. Held bodies are
        supports.
    force : (m, 3) [N], optional
        Contact forces, normal first, written with their joints.

    Raises
    ------
    InputError
        For scenes in the plane, other shapes of bodies, and forces of another shape.

    Examples
    --------
    >>> import numpy as np, rigidlimit as rl
    >>> stack = rl.statics(rl.scenes.box_stack(2))
    >>> found = stack.forces()
    >>> force = np.column_stack([found.force, found.tangential_force])
    >>> rl.adapters.write_compas("stack.json", stack, force)
    """
    bodies = statics.bodies
    if bodies.dim != 3:
        raise InputError(
            f"{statics.name} is a scene in the plane; COMPAS assemblies are in space; expected one "
            "of dim 3"
        )
    m = len(statics.contacts)
    known = np.zeros((m, 3)) if force is None else np.asarray(force, float)
    if known.shape != (m, 3):
        raise InputError(f"force has shape {known.shape}; expected ({m}, 3), normal first")
    held = ~bodies.free.any(axis=1)
    nodes = {
        str(i): {
            "block": {"dtype": f"{FRAMEWORK}/Block", "data": _mesh(statics, i)},
            "is_support": bool(held[i]),
        }
        for i in range(len(bodies))
    }
    joint = statics.joints(known).contact
    edges: dict[str, dict] = {str(i): {} for i in range(len(bodies))}
    for label in range(int(joint.max(initial=-1)) + 1):
        own = np.flatnonzero(joint == label)
        a, b = (str(v) for v in statics.contacts.body[own[0]])
        interfaces = edges[a].setdefault(b, {"interfaces": []})["interfaces"]
        interfaces.append(_interface(statics, own, None if force is None else known))
    graph = {
        "attributes": {"name": "Graph"},
        "default_node_attributes": {"block": None, "is_support": False},
        "default_edge_attributes": {"interfaces": None},
        "node": nodes,
        "edge": edges,
        "max_node": len(bodies) - 1,
    }
    whole = {
        "dtype": f"{FRAMEWORK}/Assembly",
        "data": {
            "attributes": {"name": statics.name},
            "graph": {"dtype": "compas.datastructures/Graph", "data": graph},
        },
    }
    atomic.write_text(Path(path), json.dumps(whole) + "\n")


def _mesh(statics: Statics, i: int) -> dict:
    points, faces = _solid(statics, i)
    return {
        "attributes": {"name": statics.bodies.names[i]},
        "default_vertex_attributes": {"x": 0.0, "y": 0.0, "z": 0.0},
        "default_edge_attributes": {},
        "default_face_attributes": {},
        "vertex": {
            str(k): {"x": float(x), "y": float(y), "z": float(z)}
            for k, (x, y, z) in enumerate(points)
        },
        "face": {str(k): [int(c) for c in loop] for k, loop in enumerate(faces)},
        "facedata": {str(k): {} for k in range(len(faces))},
        "edgedata": {},
        "max_vertex": len(points) - 1,
        "max_face": len(faces) - 1,
    }


def _solid(statics: Statics, i: int):
    """(corners (k, 3) in the world, corner loops) of body i."""
    shape, state = statics.bodies.shape(i), statics.state
    turn, at = matrix(state.quaternion[i : i + 1])[0], state.position[i]
    if isinstance(shape, Box):
        shape = shape.polytope
    if isinstance(shape, ConvexPolyhedron):
        return shape.vertices @ turn.T + at, shape.faces
    if not isinstance(shape, HalfSpace):
        raise InputError(
            f"body {statics.bodies.names[i]!r} is a {type(shape).__name__}; expected boxes, convex "
            "polyhedra and half-spaces"
        )
    points = statics.contacts.point
    reach = 2.0 * float(np.ptp(points, axis=0).max(initial=0.0)) + statics.bodies.length
    slab = ConvexPolyhedron(
        [(x, y, z) for x in (-reach, reach) for y in (-reach, reach) for z in (0.0, -0.1 * reach)]
    )
    # a half-space's own normal is its z axis
    middle = points.mean(axis=0)
    normal = turn @ shape.local_normal
    foot = middle - ((middle - at) @ normal) * normal
    return (slab.vertices + slab.centre) @ turn.T + foot, slab.faces


def _interface(statics: Statics, own, force) -> dict:
    contacts = statics.contacts
    points = contacts.point[own]
    normal = contacts.normal[own[0]]
    t1, t2 = contacts.tangents[own[0]]
    around = points - points.mean(axis=0)
    order = np.argsort(np.arctan2(around @ t2, around @ t1))
    x, y = (around @ t1)[order], (around @ t2)[order]
    size = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    data = {
        "points": [[float(c) for c in p] for p in points[order]],
        "size": size,
        "frame": {
            "dtype": "compas.geometry/Frame",
            "data": {
                "point": points.mean(axis=0).tolist(),
                "xaxis": t1.tolist(),
                "yaxis": np.cross(normal, t1).tolist(),
            },
        },
        "forces": None,
        "mesh": None,
    }
    if force is not None:
        data["forces"] = [
            {"c_np": float(n), "c_nn": 0.0, "c_u": float(u), "c_v": float(v)}
            for n, u, v in force[own][order]
        ]
    return {"dtype": f"{FRAMEWORK}/Interface", "data": data}
