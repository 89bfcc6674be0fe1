"""Corners, faces and edges of all boxes and polyhedra of a scene as flat arrays for the kernels.

Each kind of item has a ``start`` (shapes + 1,): the items of shape s are start[s] : start[s + 1].
Corner, face and edge numbers stored in the table count from the first one of their own shape.
"""

from typing import NamedTuple

import numpy as np

from ..bodies import Bodies, Box, ConvexPolyhedron, Shape


class PolytopeTable(NamedTuple):
    """vertices (V, 3); normals (F, 3), outward; heights (F,): largest normal . vertex [m].

    loops (L,): corners of face f, counter-clockwise, at loop_start[f] : loop_start[f + 1], with f
    a row of the table; diagonal (F,) [m]: of the face's bounding box in the body's axes.
    edges (E, 2): corners; sides (E, 2): the faces P, Q that meet there, -1 where not just two do;
    along (E, 3): unit direction of Q x P, up to sign without both faces.
    around (A,): faces at corner v at around_start[v] : around_start[v + 1], v a row of the table.
    largest (3,): most corners, faces and edges of one shape; longest: most corners of one face.
    """

    vertex_start: np.ndarray
    vertices: np.ndarray
    face_start: np.ndarray
    normals: np.ndarray
    heights: np.ndarray
    diagonal: np.ndarray
    loop_start: np.ndarray
    loops: np.ndarray
    edge_start: np.ndarray
    edges: np.ndarray
    sides: np.ndarray
    along: np.ndarray
    around_start: np.ndarray
    around: np.ndarray
    largest: np.ndarray
    longest: int

    @property
    def faces(self):
        """What a kernel needs to find the closest point of a polytope."""
        return (
            self.vertex_start,
            self.vertices,
            self.face_start,
            self.normals,
            self.heights,
            self.loop_start,
            self.loops,
            self.edge_start,
            self.edges,
        )


def as_polytope(shape: Shape) -> ConvexPolyhedron | None:
    """The shape as a polyhedron, None if it is not one."""
    if isinstance(shape, Box):
        return shape.polytope
    return shape if isinstance(shape, ConvexPolyhedron) else None


def polytope_table(bodies: Bodies) -> PolytopeTable:
    """The table of a scene; shapes that are no polytopes have no rows. Use ``bodies.of_shapes``."""
    polytopes = [as_polytope(shape) for shape in bodies.shapes]
    known = [p for p in polytopes if p is not None]
    vertices, normals, heights, edges, sides, along = zip(*map(_rows, polytopes), strict=True)
    loops = [loop for p in known for loop in p.faces]
    around = [faces for p in known for faces in _faces_at_corners(p)]
    corners = [p.vertices[loop] for p in known for loop in p.faces]
    sizes = [[len(part) for part in one] for one in zip(vertices, normals, edges, strict=True)]
    return PolytopeTable(
        vertex_start=_starts(vertices),
        vertices=np.concatenate(vertices),
        face_start=_starts(normals),
        normals=np.concatenate(normals),
        heights=np.concatenate(heights),
        diagonal=np.array([np.linalg.norm(np.ptp(c, axis=0)) for c in corners]),
        loop_start=_starts(loops),
        loops=_joined(loops),
        edge_start=_starts(edges),
        edges=np.concatenate(edges),
        sides=np.concatenate(sides),
        along=np.concatenate(along),
        around_start=_starts(around),
        around=_joined(around),
        largest=np.array(sizes).max(axis=0),
        longest=max((len(loop) for loop in loops), default=0),
    )


def _starts(parts) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(np.int64)


def _joined(parts) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


def _rows(shape: ConvexPolyhedron | None):
    """(vertices, normals, heights, edges, sides, along) of one shape, none if it is no polytope."""
    if shape is None:
        none, pairs = np.zeros((0, 3)), np.zeros((0, 2), np.int64)
        return none, none, np.zeros(0), pairs, pairs, none
    heights = (shape.normals @ shape.vertices.T).max(axis=1, initial=-np.inf)
    return shape.vertices, shape.normals, heights, *_edges(shape)


def _edges(shape: ConvexPolyhedron):
    """(edges, sides, along) of one polytope."""
    meet: dict[tuple[int, int], list[int]] = {}
    for face, loop in enumerate(shape.faces):
        corners = loop.tolist()
        for i, j in zip(corners, [*corners[1:], corners[0]], strict=True):
            meet.setdefault((min(i, j), max(i, j)), []).append(face)
    edges = np.array(list(meet), np.int64)
    sides = np.array([f if len(f) == 2 else [-1, -1] for f in meet.values()], np.int64)
    along = shape.vertices[edges[:, 1]] - shape.vertices[edges[:, 0]]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    turn = np.cross(shape.normals[sides[:, 1]], shape.normals[sides[:, 0]])
    along[np.einsum("ij,ij->i", along, turn) < 0] *= -1
    return edges, sides, along


def _faces_at_corners(shape: ConvexPolyhedron) -> list[list[int]]:
    at = [[] for _ in shape.vertices]
    for face, loop in enumerate(shape.faces):
        for corner in loop.tolist():
            at[corner].append(face)
    return at
