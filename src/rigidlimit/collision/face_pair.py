"""Two solids whose nearest points are known, as kernels see them: the faces that look at each
other, and the contacts that are found."""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.compiled import INNER
from .._support.structs import StructType, define


@structref.register
class _FaceType(StructType):
    pass


class Face:
    """What of one body looks at the other, in the axes of the first about its centre.

    shape: row among the shapes; count: of corners (.., 3), with their names: more than two are a
    face, two a line, none a point; size: of the face or line [m]; normal (3,) of a face; flat:
    whether it lies across the contact's normal; start (3, 3): where the points of a rim begin.
    """

    shape: int
    count: int
    corners: np.ndarray
    names: np.ndarray
    size: float
    normal: np.ndarray
    flat: bool
    start: np.ndarray


define(Face, _FaceType)


@structref.register
class _PairType(StructType):
    pass


class FacePair:
    """Two solids whose nearest points are known, and the contacts that are found.

    turn (3, 3), arm (3,): pose of b; gap [m] and normal (3,): what the search gave, exact to
    rounding or not; size: the smaller bounding radius [m]. n (3,): the contacts' normal; on_a,
    on_b (3,): nearest points; mid (3,): direction of the cut. count: of contacts, with points
    (.., 3), height (..,) and label (..,); poly, poly_of: room for ``clip``.
    """

    a: Face
    b: Face
    turn: np.ndarray
    arm: np.ndarray
    gap: float
    normal: np.ndarray
    exact: bool
    size: float
    n: np.ndarray
    on_a: np.ndarray
    on_b: np.ndarray
    mid: np.ndarray
    count: int
    points: np.ndarray
    height: np.ndarray
    label: np.ndarray
    poly: np.ndarray
    poly_of: np.ndarray


define(FacePair, _PairType)


@njit(**INNER)
def _face(most):
    return Face(
        0, 0, np.empty((most, 3)), np.empty(most, np.int64), 0.0, np.empty(3), False,
        np.empty((3, 3)),
    )  # fmt: skip


@njit(**INNER)
def new_face_pair(most: int, turn: np.ndarray, arm: np.ndarray):
    """A ``FacePair`` for faces of at most ``most`` corners."""
    rows, room = 4 * most + 9, (2, 4 * most + 8)
    return FacePair(
        _face(most), _face(most), turn, arm, 0.0, np.empty(3), False, 0.0, np.empty(3),
        np.empty(3), np.empty(3), np.empty(3), 0, np.empty((rows, 3)), np.empty(rows),
        np.empty(rows, np.int64), np.empty((*room, 3)), np.empty((*room, 2), np.int64),
    )  # fmt: skip
