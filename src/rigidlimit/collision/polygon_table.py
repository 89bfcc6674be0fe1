"""Corners and edges of all polygons of a scene as flat arrays."""

from typing import NamedTuple

import numpy as np

from ..bodies import Bodies, Polygon


class PolygonTable(NamedTuple):
    """Corners and outward edge normals of all polygons (sum of k, 2); start (shapes + 1,)."""

    start: np.ndarray
    vertices: np.ndarray
    normals: np.ndarray
    largest: int


def polygon_table(bodies: Bodies) -> PolygonTable:
    """The table of a scene; other shapes have no rows. Use ``bodies.of_shapes``."""
    polygons = [s if isinstance(s, Polygon) else None for s in bodies.shapes]
    sizes = [0 if s is None else len(s.vertices) for s in polygons]
    none = np.zeros((0, 2))
    return PolygonTable(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([none, *(s.vertices for s in polygons if s is not None)]),
        np.concatenate([none, *(s.normals for s in polygons if s is not None)]),
        max(sizes),
    )
