"""Kernels that search two convex polytopes for the direction that separates them most.

A direction is tried by the corners that reach furthest along it; see ``polytopes`` for the problem.
Arrays: v, w corners (k, 3); normals (f, 3), heights (f,) of faces; edges (e, 2) of corner numbers.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .tolerances import TOLERANCES

if TYPE_CHECKING:
    from .polytope_pair import Polytope


@njit(cache=True)
def place(items: np.ndarray, turn: np.ndarray, shift: np.ndarray, out: np.ndarray):
    """out = items, turned and shifted; rows of three."""
    for i in range(len(items)):
        x, y, z = items[i, 0], items[i, 1], items[i, 2]
        for k in range(3):
            out[i, k] = turn[k, 0] * x + turn[k, 1] * y + turn[k, 2] * z + shift[k]


@njit(cache=True)
def step(x: np.ndarray, t: float, n: np.ndarray, out: np.ndarray):
    """out = x + t n."""
    for k in range(3):
        out[k] = x[k] + t * n[k]


@njit(cache=True)
def lowest(v: np.ndarray, n: np.ndarray, sign: float):
    """Least sign * n . v over corners v, and that corner."""
    best, corner = np.inf, 0
    for i in range(len(v)):
        h = sign * (v[i, 0] * n[0] + v[i, 1] * n[1] + v[i, 2] * n[2])
        if h < best:
            best, corner = h, i
    return best, corner


@njit(cache=True)
def best_face(
    normals: np.ndarray, heights: np.ndarray, w: np.ndarray, limit: float, apart: np.ndarray
):
    """(separation, face, corner of w) of the face that separates most; stops beyond ``limit``.

    apart (f,): gets the separation of each face.
    """
    best, face, corner = -np.inf, 0, 0
    for f in range(len(normals)):
        h, c = lowest(w, normals[f], 1.0)
        apart[f] = h - heights[f]
        if apart[f] > best:
            best, face, corner = apart[f], f, c
            if best > limit:
                break
    return best, face, corner


@njit(**INNER)
def _products(along, normals, out):
    """Products (e, f) of the directions of edges (e, 3) and normals of faces (f, 3)."""
    for i in range(len(along)):
        for f in range(len(normals)):
            x, y, z = normals[f, 0], normals[f, 1], normals[f, 2]
            out[i, f] = along[i, 0] * x + along[i, 1] * y + along[i, 2] * z


@njit(**INNER)
def _arcs_apart(cba, dba, adc, bdc):
    """Whether two edges' arcs of normals, a to b and c to d on the unit sphere, surely do not
    cross, by the sides of c and d of one, and of a and b of the other (Gregorius, GDC 2013)."""
    if (cba > TOLERANCES.gauss and dba > TOLERANCES.gauss) or (
        cba < -TOLERANCES.gauss and dba < -TOLERANCES.gauss
    ):
        return True
    if (adc > TOLERANCES.gauss and bdc > TOLERANCES.gauss) or (
        adc < -TOLERANCES.gauss and bdc < -TOLERANCES.gauss
    ):
        return True
    return (cba > TOLERANCES.gauss and bdc < -TOLERANCES.gauss) or (
        cba < -TOLERANCES.gauss and bdc > TOLERANCES.gauss
    )


@njit(**INNER)
def _across(u, w, x, out):
    """Unit direction across u and w, along x rather than against it, into out (3,); False where u
    and w are parallel."""
    nx = u[1] * w[2] - u[2] * w[1]
    ny = u[2] * w[0] - u[0] * w[2]
    nz = u[0] * w[1] - u[1] * w[0]
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    if size < 1e-12:
        return False
    if nx * x[0] + ny * x[1] + nz * x[2] < 0:
        size = -size
    out[0], out[1], out[2] = nx / size, ny / size, nz / size
    return True


@njit(**INNER)
def best_edges(
    a: "Polytope",
    b: "Polytope",
    best: float,
    tol: float,
    limit: float,
    scratch: tuple,
    n: np.ndarray,
):
    """The pair of edges of a and b that separates more than ``best``, if any: (separation, edge,
    edge), -1 without one.

    scratch: (edges of a, faces of b), (edges of b, faces of a) for the products of directions and
    the other body's normals, (3,). n (3,): gets the direction.
    """
    pa, pb, trial = scratch
    va, ea, sa, ua = a.corners, a.edges, a.sides, a.along
    vb, eb, sb, ub = b.corners, b.edges, b.sides, b.along
    _products(ua, b.normals, pa)
    _products(ub, a.normals, pb)
    best_i, best_j = -1, -1
    for i in range(len(ea)):
        p, q, x = sa[i, 0], sa[i, 1], va[ea[i, 0]]
        for j in range(len(eb)):
            c, d = sb[j, 0], sb[j, 1]
            both = p >= 0 and c >= 0
            if both and _arcs_apart(-pa[i, c], -pa[i, d], pb[j, p], pb[j, q]):
                continue
            if not _across(ua[i], ub[j], x, trial):
                continue
            y = vb[eb[j, 0]]
            quick = trial[0] * (y[0] - x[0]) + trial[1] * (y[1] - x[1])
            if quick + trial[2] * (y[2] - x[2]) <= best + tol:
                continue
            low, _ = lowest(vb, trial, 1.0)
            high, _ = lowest(va, trial, -1.0)
            if low + high > best + tol:
                best, best_i, best_j = low + high, i, j
                n[0], n[1], n[2] = trial[0], trial[1], trial[2]
                if best > limit:
                    return best, best_i, best_j
    return best, best_i, best_j


@njit(**INNER)
def crossing(va: np.ndarray, i0: int, i1: int, vb: np.ndarray, j0: int, j1: int, on: np.ndarray):
    """Closest points of two lines through edges, kept on the edges, into on (2, 3).

    Returns whether the lines' closest points lie on the edges.
    """
    ux, uy, uz = va[i1, 0] - va[i0, 0], va[i1, 1] - va[i0, 1], va[i1, 2] - va[i0, 2]
    wx, wy, wz = vb[j1, 0] - vb[j0, 0], vb[j1, 1] - vb[j0, 1], vb[j1, 2] - vb[j0, 2]
    rx, ry, rz = vb[j0, 0] - va[i0, 0], vb[j0, 1] - va[i0, 1], vb[j0, 2] - va[i0, 2]
    cx, cy, cz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    square = cx * cx + cy * cy + cz * cz
    if square == 0:
        return False
    s = (ry * wz - rz * wy) * cx + (rz * wx - rx * wz) * cy + (rx * wy - ry * wx) * cz
    t = (ry * uz - rz * uy) * cx + (rz * ux - rx * uz) * cy + (rx * uy - ry * ux) * cz
    s, t = s / square, t / square
    inside = -1e-9 <= s <= 1 + 1e-9 and -1e-9 <= t <= 1 + 1e-9
    s, t = min(max(s, 0.0), 1.0), min(max(t, 0.0), 1.0)
    on[0, 0], on[0, 1], on[0, 2] = va[i0, 0] + s * ux, va[i0, 1] + s * uy, va[i0, 2] + s * uz
    on[1, 0], on[1, 1], on[1, 2] = vb[j0, 0] + t * wx, vb[j0, 1] + t * wy, vb[j0, 2] + t * wz
    return inside


@njit(**INNER)
def corner_edge(
    v: np.ndarray, w: np.ndarray, edges: np.ndarray, best: float, on_v: np.ndarray, on_w: np.ndarray
):
    """Closest corner of v and point of an edge of w, if nearer than the square ``best``."""
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        ux, uy, uz = w[j, 0] - w[i, 0], w[j, 1] - w[i, 1], w[j, 2] - w[i, 2]
        length = ux * ux + uy * uy + uz * uz
        for k in range(len(v)):
            dx, dy, dz = v[k, 0] - w[i, 0], v[k, 1] - w[i, 1], v[k, 2] - w[i, 2]
            t = min(max((dx * ux + dy * uy + dz * uz) / length, 0.0), 1.0)
            dx, dy, dz = dx - t * ux, dy - t * uy, dz - t * uz
            square = dx * dx + dy * dy + dz * dz
            if square < best:
                best = square
                on_v[0], on_v[1], on_v[2] = v[k, 0], v[k, 1], v[k, 2]
                on_w[0], on_w[1], on_w[2] = v[k, 0] - dx, v[k, 1] - dy, v[k, 2] - dz
    return best


@njit(**INNER)
def most_along(normals: np.ndarray, n: np.ndarray, sign: float):
    """(cosine, face) of the normal that is most along sign * n."""
    least, face = lowest(normals, n, -sign)
    return -least, face


@njit(**INNER)
def midway(n: np.ndarray, m: np.ndarray, out: np.ndarray):
    """Unit direction midway between n and -m, of faces that look at each other, into out (3,):
    (angle between n and -m, if small; cosine of the half of it)."""
    apart = length = cosine = 0.0
    for k in range(len(n)):
        out[k] = n[k] - m[k]
        apart += (n[k] + m[k]) ** 2
        length += out[k] ** 2
    if length == 0.0:
        return 2.0, 0.0
    for k in range(len(n)):
        out[k] /= np.sqrt(length)
        cosine += n[k] * out[k]
    return np.sqrt(apart), cosine


@njit(**INNER)
def edge_edge(
    v: np.ndarray,
    ev: np.ndarray,
    w: np.ndarray,
    ew: np.ndarray,
    best: float,
    trial: np.ndarray,
    on: np.ndarray,
):
    """Closest points of two edges across each other, if nearer than the square ``best``."""
    for e in range(len(ev)):
        for f in range(len(ew)):
            if crossing(v, ev[e, 0], ev[e, 1], w, ew[f, 0], ew[f, 1], trial):
                x, y = trial[1, 0] - trial[0, 0], trial[1, 1] - trial[0, 1]
                z = trial[1, 2] - trial[0, 2]
                if x * x + y * y + z * z < best:
                    best = x * x + y * y + z * z
                    for k in range(3):
                        on[0, k], on[1, k] = trial[0, k], trial[1, k]
    return best
