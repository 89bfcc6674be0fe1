"""Pairs of convex polytopes or polygons that touch with no width: along an edge, or at a corner.

Problem: boxes of a grid meet their diagonal neighbours along an edge. There the faces beside the
edge separate the bodies equally: each of their normals, and any between them, is a normal of the
contact, the patch has no width, and rounding or the order of the bodies would choose whether it
carries weight. Elastic bodies carry nothing over no width: such a pair has no contact.

Rule: two face normals n, of either body and taken from A to B, that are more than acos(``wide``)
apart and whose separations  min_B n.x - max_A n.x  are both the largest, and both zero, up to
``equal``. Symmetric in the bodies: all such normals are compared, not only with the best one.

Symbols: n (f, d) normals of a body's faces, d = 2 or 3.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .tolerances import TOLERANCES


@njit(**INNER)
def touches_without_width(
    na: np.ndarray,
    apart_a: np.ndarray,
    nb: np.ndarray,
    apart_b: np.ndarray,
    best: float,
    same: float,
    ties: np.ndarray,
):
    """Whether a pair touches with no width.

    apart (f,): separation along each face normal of a body; best: the pair's; same: ``equal`` as a
    length. ties (faces of a and b, d): scratch.
    """
    if abs(best) > same:
        return False
    count = 0
    for f in range(len(na)):
        if apart_a[f] >= best - same:
            for c in range(ties.shape[1]):
                ties[count, c] = na[f, c]
            count += 1
    for f in range(len(nb)):
        if apart_b[f] >= best - same:
            for c in range(ties.shape[1]):
                ties[count, c] = -nb[f, c]
            count += 1
    for i in range(count):
        for j in range(i):
            cosine = 0.0
            for c in range(ties.shape[1]):
                cosine += ties[i, c] * ties[j, c]
            if cosine < TOLERANCES.wide:
                return True
    return False
