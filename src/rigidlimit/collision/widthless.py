"""Pairs of convex polytopes or polygons that touch with no width: along an edge, or at a corner.

Problem: boxes of a grid meet their diagonal neighbours along an edge. There the faces beside the
edge separate the bodies equally: each of their normals, and any between them, is a normal of the
contact, the patch has no width, and rounding or the order of the bodies would choose whether it
carries weight. Elastic bodies carry nothing over no width: such a pair has no contact.

Rule: two face normals n, of either body and taken from A to B, that are more than acos(``WIDE``)
apart and whose separations  min_B n.x - max_A n.x  are both the largest, and both zero, up to
``SAME``. Symmetric in the bodies: all such normals are compared, not only with the best one.

Symbols: normals (f, d) and heights (f,) of a body's faces, corners w (k, d) of the other, d = 2, 3.
"""

import numpy as np
from numba import njit

SAME = 1e-9
"""Length, over the smaller body's bounding radius, up to which a separation is zero and two are
equal: far above rounding of positions, far below any overlap or gap that is meant."""

WIDE = 0.7
"""Cosine of the angle from which on normals that tie leave the direction open: 45.6 degrees, so
that rounding does not decide for faces at 45. Normals closer than that, as around a corner of a
fine mesh, agree on the direction, and their bodies need the contact that holds them apart."""


@njit(cache=True)
def _separating(normals, heights, w, sign, least, ties, count):
    """Adds sign * normals of faces with all corners w ``least`` above them; returns the count."""
    for f in range(len(normals)):
        bound = heights[f] + least
        above = True
        for c in range(len(w)):
            h = normals[f, 0] * w[c, 0] + normals[f, 1] * w[c, 1]
            if w.shape[1] == 3:
                h += normals[f, 2] * w[c, 2]
            if h < bound:
                above = False
                break
        if above:
            for k in range(w.shape[1]):
                ties[count, k] = sign * normals[f, k]
            count += 1
    return count


@njit(cache=True)
def touches_without_width(va, na, ha, vb, nb, hb, best, same, ties):
    """Whether the pair, apart by ``best`` at the most, touches with no width; ties: scratch.

    same: ``SAME`` as a length; ties (faces of a and b, d).
    """
    if abs(best) > same:
        return False
    count = _separating(na, ha, vb, 1.0, best - same, ties, 0)
    count = _separating(nb, hb, va, -1.0, best - same, ties, count)
    for i in range(count):
        for j in range(i):
            cosine = 0.0
            for k in range(ties.shape[1]):
                cosine += ties[i, k] * ties[j, k]
            if cosine < WIDE:
                return True
    return False


@njit(cache=True)
def edge_heights(v, n, k, out):
    """out[i] = n_i . v_i, the heights of the first k edges of a polygon."""
    for i in range(k):
        out[i] = n[i, 0] * v[i, 0] + n[i, 1] * v[i, 1]
    return out[:k]
