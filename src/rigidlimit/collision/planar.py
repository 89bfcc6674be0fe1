"""Exact contacts in the plane: disk with polygon, polygon with polygon.

Two polygons meet along the edge whose outward normal separates them most (the reference edge);
the corners of the other polygon's most opposed edge, cut to the reference edge's width, are the
contacts, each with its own gap along the reference normal. Corner to corner without an
overlapping edge, the closest corners make one contact.
"""

import numpy as np

from ..bodies import Bodies, State, rotations
from .pieces import Pieces


def _world(bodies: Bodies, state: State, body: int):
    """Vertices and outward edge normals of a polygon in the world frame, (k, 2) each."""
    shape = bodies.shape(body)
    turn = rotations.matrix(state.quaternion[body])[:2, :2]
    return shape.vertices @ turn.T + state.position[body, :2], shape.normals @ turn.T


def _piece(a, b, found) -> Pieces:
    """Contacts (feature, point, normal, gap, curvature) of one pair as Pieces."""
    k = len(found)
    point, normal = np.zeros((k, 3)), np.zeros((k, 3))
    for row, (_, p, n, _, _) in enumerate(found):
        point[row, :2], normal[row, :2] = p, n
    return Pieces.of(
        np.full(k, a),
        np.full(k, b),
        feature=[f[0] for f in found],
        point=point,
        normal=normal,
        gap=[f[3] for f in found],
        curvature=[f[4] for f in found],
    )


def disk_polygon(bodies: Bodies, state: State, disk: int, polygon: int) -> Pieces:
    """One contact; the normal points from the disk to the polygon."""
    centre, radius = state.position[disk, :2], bodies.shape(disk).radius
    vertices, normals = _world(bodies, state, polygon)
    height = np.einsum("ij,ij->i", normals, centre - vertices)
    edge = int(np.argmax(height))
    if height[edge] > 0:
        closest = _closest_on_edges(vertices, centre)
        away = centre - closest
        distance = np.linalg.norm(away)
        normal = -away / distance if distance > 0 else -normals[edge]
    else:  # centre inside: leave through the nearest edge
        distance, normal = height[edge], -normals[edge]
        closest = centre - height[edge] * normals[edge]
    gap = distance - radius
    return _piece(disk, polygon, [(0, closest - 0.5 * gap * normal, normal, gap, 1 / radius)])


def _closest_on_edges(vertices, point):
    along = np.roll(vertices, -1, axis=0) - vertices
    t = np.einsum("ij,ij->i", point - vertices, along) / (along**2).sum(axis=1)
    feet = vertices + np.clip(t, 0, 1)[:, None] * along
    return feet[np.argmin(((feet - point) ** 2).sum(axis=1))]


def polygon_polygon(bodies: Bodies, state: State, a: int, b: int, reach: float) -> Pieces:
    """Contacts of two polygons with gap <= reach; normals point from a to b."""
    va, na = _world(bodies, state, a)
    vb, nb = _world(bodies, state, b)
    sa, ea = _separation(va, na, vb)
    sb, eb = _separation(vb, nb, va)
    if max(sa, sb) > reach:
        return Pieces.joined([])
    # a clear preference for a keeps the reference edge from flickering between steps
    if sa >= sb - 1e-9 * bodies.length:
        found = _clip(va, na, ea, vb, nb, reach, 0)
    else:
        swapped = _clip(vb, nb, eb, va, na, reach, 1)
        found = [(f, p, -n, g, c) for f, p, n, g, c in swapped]
    if not found:
        found = _corner_corner(va, vb, reach)
    return _piece(a, b, found)


def _separation(vertices, normals, others):
    """Largest distance of ``others`` beyond one edge line, and that edge."""
    distance = np.min((others[None] - vertices[:, None]) @ normals[:, :, None], axis=1)[:, 0]
    edge = int(np.argmax(distance))
    return float(distance[edge]), edge


def _clip(ref, normals, edge, inc, inc_normals, reach, side):
    """Ends of the incident edge, cut to the reference edge's width."""
    normal = normals[edge]
    start, end = ref[edge], ref[(edge + 1) % len(ref)]
    length = np.linalg.norm(end - start)
    tangent = (end - start) / length
    e = int(np.argmin(inc_normals @ normal))
    ends = np.array([inc[(e + 1) % len(inc)], inc[e]])  # runs along the reference edge
    s = (ends - start) @ tangent
    h = (ends - start) @ normal
    cut = np.clip(s, 0.0, length)
    if s[1] < 0 or s[0] > length:  # beside the reference edge: corner to corner
        return []
    width = s[1] - s[0]
    gaps = h + (cut - s) * (0.0 if width <= 1e-12 * length else (h[1] - h[0]) / width)
    number = ((edge % 128) * 128 + e % 128) * 4 + 2 * side
    found = [
        (number + k, start + cut[k] * tangent + 0.5 * gaps[k] * normal, normal, gaps[k], 0.0)
        for k in range(2)
        if gaps[k] <= reach
    ]
    if len(found) == 2 and cut[1] - cut[0] < 1e-9 * length:
        found = [min(found, key=lambda contact: contact[3])]
    return found


def _corner_corner(va, vb, reach):
    distance = np.linalg.norm(va[:, None] - vb[None], axis=2)
    i, j = np.unravel_index(int(np.argmin(distance)), distance.shape)
    gap = distance[i, j]
    if not 0 < gap <= reach:
        return []
    normal = (vb[j] - va[i]) / gap
    return [(int(i * len(vb) + j) % 32768, 0.5 * (va[i] + vb[j]), normal, gap, 0.0)]
