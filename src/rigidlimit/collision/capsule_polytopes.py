"""Nearest points of capsules and polytopes, exact to rounding.

A capsule is its axis, a segment, rounded by its radius r: the largest separation of the capsule is
that of the segment minus r. Apart, the segment's nearest point lies over the face that separates
most, at one of its ends, or else on an edge of the polytope. Where the axis enters the polytope,
the way out is along a face's normal or across the axis and an edge.
"""

import numpy as np
from numba import njit

from .polytope_pair import Polytope
from .separation import (
    best_edges,
    best_face,
    corner_edge,
    crossing,
    edge_edge,
    place,
)

NEARLY = 1e-12
"""Difference of two separations, over the polytope's size, that counts as rounding."""


@njit(cache=True)
def _over_face(v, loop, n, x):
    """Whether point x lies in the prism over a face."""
    for c in range(len(loop)):
        p, q = v[loop[c]], v[loop[c + 1 if c + 1 < len(loop) else 0]]
        ux, uy, uz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        dx, dy, dz = x[0] - p[0], x[1] - p[1], x[2] - p[2]
        inward = n[0] * (uy * dz - uz * dy) + n[1] * (uz * dx - ux * dz)
        if inward + n[2] * (ux * dy - uy * dx) < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def nearest_of_capsule(
    shape_a, shape_b, turn, arm, reach, size_of, radius,
    v_start, vertices, f_start, normals, heights, l_start, loops, e_start, edges, sides, along,
):  # fmt: skip
    """(separation (k,), normal, point on a, point on b (k, 3)) of polytopes a and capsules b.

    turn (k, 3, 3), arm (k, 3): poses of b in the axes of a about a's centre, in which the answers
    are; a separation beyond reach (k,) is a lower bound only. size_of (shapes, 3): radius, 0, half
    length of capsules. radius (k,): bounding radii of the polytopes.
    """
    m = len(arm)
    separation = np.empty(m)
    normal, on_a, on_b = np.empty((m, 3)), np.empty((m, 3)), np.empty((m, 3))
    ends, axis, ends_local = np.empty((2, 3)), np.empty((1, 3)), np.zeros((2, 3))
    one, none = np.array([[0, 1]]), np.array([[-1, -1]])
    no_normals, no_heights = np.empty((0, 3)), np.empty(0)
    trial, crossed, n = np.empty((2, 3)), np.empty((2, 3)), np.empty(3)
    longest = 1
    for p in range(m):
        s = shape_a[p]
        longest = max(longest, f_start[s + 1] - f_start[s], e_start[s + 1] - e_start[s])
    pa, pb, apart = np.empty((longest, 1)), np.empty((1, longest)), np.empty(longest)
    segment = Polytope(
        np.int64(0), ends, no_normals, no_heights, np.int64(0), v_start, one, none, axis, no_heights
    )
    for p in range(m):
        s = shape_a[p]
        r, half = size_of[shape_b[p], 0], size_of[shape_b[p], 2]
        ends_local[0, 2], ends_local[1, 2] = -half, half
        place(ends_local, turn[p], arm[p], ends)
        for k in range(3):
            axis[0, k] = turn[p, k, 2]
        v = vertices[v_start[s] : v_start[s + 1]]
        fn = normals[f_start[s] : f_start[s + 1]]
        ed = edges[e_start[s] : e_start[s + 1]]
        tol = NEARLY * (radius[p] + half)
        fh = heights[f_start[s] : f_start[s + 1]]
        best, face, end = best_face(fn, fh, ends, reach[p] + r, apart)
        separation[p] = best - r
        if separation[p] > reach[p]:
            continue
        for k in range(3):
            n[k] = fn[face, k]
            on_b[p, k] = ends[end, k]
            on_a[p, k] = ends[end, k] - best * n[k]
        settled, distance = False, best
        if best > 0:
            loop = loops[l_start[f_start[s] + face] : l_start[f_start[s] + face + 1]]
            for c in range(2):
                h = n[0] * ends[c, 0] + n[1] * ends[c, 1] + n[2] * ends[c, 2]
                if not settled and h - heights[f_start[s] + face] <= best + tol:
                    settled = _over_face(v, loop, n, ends[c])
                    if settled:
                        for k in range(3):
                            on_b[p, k] = ends[c, k]
                            on_a[p, k] = ends[c, k] - best * n[k]
        else:
            solid = Polytope(
                s, v, fn, fh, f_start[s], v_start, ed,
                sides[e_start[s] : e_start[s + 1]], along[e_start[s] : e_start[s + 1]], apart,
            )  # fmt: skip
            best, i, _ = best_edges(solid, segment, best, tol, reach[p] + r, (pa, pb, trial[0]), n)
            distance, settled = best, best <= 0
            if i >= 0:
                crossing(v, ed[i, 0], ed[i, 1], ends, np.int64(0), np.int64(1), trial)
                for k in range(3):
                    on_a[p, k], on_b[p, k] = trial[0, k], trial[1, k]
        if not settled:
            square = corner_edge(v, ends, one, np.inf, trial[0], trial[1])
            square = min(square, corner_edge(ends, v, ed, square, trial[1], trial[0]))
            square = min(square, edge_edge(v, ed, ends, one, square, crossed, trial))
            for k in range(3):
                on_a[p, k], on_b[p, k] = trial[0, k], trial[1, k]
            if np.sqrt(square) > best + tol:
                distance = np.sqrt(square)
                for k in range(3):
                    n[k] = (trial[1, k] - trial[0, k]) / distance
        separation[p] = distance - r
        for k in range(3):
            normal[p, k] = n[k]
            on_b[p, k] -= r * n[k]
    return separation, normal, on_a, on_b
