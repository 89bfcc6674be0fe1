"""Contacts of two convex bodies whose nearest points are known: a patch of faces, or one point.

Where a flat face of one body looks at a face or a straight line of the other, the line's or face's
corners, cut to the outline of the first (the reference) face, are the contacts, each with its own
gap along the reference normal. Straight lines side by side, edges and the sides of cylinders and
capsules, touch at the ends of their common stretch. Else there is one contact at the nearest
points.
"""

import numpy as np
from numba import njit
from numba.experimental import structref

from .._support.structs import StructType, define
from .clipping import SNAP, clip, thin_out
from .contacts import FEATURES
from .kinds import CYLINDER
from .pairs import Nearest, Pairs
from .planes import RIM_POINTS, STANDING
from .polytope_patch import LARGER, PATCH
from .separation import ALIGNED, ASKEW, midway, step
from .solid_table import UPRIGHT, Solids, curvature_near, facing, support, to_body

SIDE_BY_SIDE = 1e-3
"""Sine of the angle between straight lines up to which they touch at two points."""

ACROSS, ON_FACE = 1 - 1e-12, (1 - np.cos(np.pi / RIM_POINTS)) * STANDING
"""Cosine above which a normal is a face's own, and how much lower, over the smaller body's size, a
point of a round end may then lie than those that stand for its rim: what an end has that stands."""

MISSED = 2 * np.sqrt(2 * (1 - ALIGNED))
"""The same where the normal is a face's only nearly."""

AS_NEAR = 2 * np.sqrt(2 * (1 - ACROSS))
"""How far the gap between faces that are across a normal so exactly may differ over their width,
over the smaller body's size."""

PITCH, SAME = 2 * np.pi / RIM_POINTS, 1e-9
"""Angle between the points of a rim, and the part of it up to which angles are the same."""

COMMON = 1e-6
"""Common stretch over the first line's length from which on it has two ends."""


@njit(cache=True)
def dot(x: np.ndarray, y: np.ndarray):
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@njit(cache=True)
def _beside(a, b, n, point, gap):
    """Ends of the common stretch of lines a, b (2, 3) into point (2, 3), gap (2,); their number."""
    length = cross = other = s0 = s1 = 0.0
    for k in range(3):
        u, w = a[1, k] - a[0, k], b[1, k] - b[0, k]
        i, j = (k + 1) % 3, (k + 2) % 3
        c = (a[1, i] - a[0, i]) * (b[1, j] - b[0, j]) - (a[1, j] - a[0, j]) * (b[1, i] - b[0, i])
        length, other, cross = length + u * u, other + w * w, cross + c * c
        s0 += (b[0, k] - a[0, k]) * u
        s1 += (b[1, k] - a[0, k]) * u
    if not cross < SIDE_BY_SIDE**2 * length * other:
        return 0
    s0, s1 = s0 / length, s1 / length
    low, high = max(0.0, min(s0, s1)), min(1.0, max(s0, s1))
    if high - low < COMMON:
        return 0
    for c in range(2):
        at = low if c == 0 else high
        share = (at - s0) / (s1 - s0)
        gap[c] = 0.0
        for k in range(3):
            on_a = a[0, k] + at * (a[1, k] - a[0, k])
            on_b = b[0, k] + share * (b[1, k] - b[0, k])
            point[c, k] = 0.5 * (on_a + on_b)
            gap[c] += (on_b - on_a) * n[k]
    return 2


@njit(cache=True)
def _line(corners, names, count, round_end, n, sign):
    """Whether a line lies furthest along sign * n: one of two corners, or the edge of a face that
    is across n, if that is no round end: between the points of a rim there is no edge. Its ends
    become the first two corners, ordered by their names."""
    if count <= 2 or round_end:
        return count == 2
    first, second = -1, -1
    for c in range(count):
        if first < 0 or sign * (dot(corners[c], n) - dot(corners[first], n)) > 0:
            first, second = c, first
        elif second < 0 or sign * (dot(corners[c], n) - dot(corners[second], n)) > 0:
            second = c
    length = 0.0
    for k in range(3):
        length += (corners[first, k] - corners[second, k]) ** 2
    lower = abs(dot(corners[first], n) - dot(corners[second], n))
    neighbours = abs(first - second) in (1, count - 1)
    if not neighbours or lower > SIDE_BY_SIDE * np.sqrt(length):
        return False
    if names[first] > names[second]:
        first, second = second, first
    for k in range(3):
        a, b = corners[first, k], corners[second, k]
        corners[0, k], corners[1, k] = a, b
    return True


@njit(cache=True)
def _nearest_to_axis(outline, centre, axis, q):
    """The point q of a convex outline (k, 3), k > 1, that is nearest to an axis which misses it;
    its distance."""
    least = np.inf
    for c in range(len(outline)):
        x, y = outline[c], outline[(c + 1) % len(outline)]
        from_x = edge_x = square = away = 0.0
        along_x = along = 0.0
        for k in range(3):
            along_x += (x[k] - centre[k]) * axis[k]
            along += (y[k] - x[k]) * axis[k]
        for k in range(3):
            off, edge = x[k] - centre[k] - along_x * axis[k], y[k] - x[k] - along * axis[k]
            from_x, edge_x, square = from_x + off * off, edge_x + off * edge, square + edge * edge
        share = min(1.0, max(0.0, -edge_x / square)) if square > 0.0 else 0.0
        away = from_x + share * (2 * edge_x + share * square)
        if away < least:
            least = away
            for k in range(3):
                q[k] = x[k] + share * (y[k] - x[k])
    return np.sqrt(max(0.0, least))


@njit(cache=True)
def _in_sliver(end_a, radius_a, end_b, radius_b, axis, arm, face_a, face_b, q):
    """Whether two faces meet between the rim of a round end and the points that stand for it only;
    sets q to their common point nearest to its axis, of two ends to the middle of what they share.

    end_a, end_b: whether the faces (k, 3) are cylinders' ends, of these radii, about the origin and
    about arm; axis: unit, across them. All in the axes of a.
    """
    if not (end_a and end_b):
        centre = np.zeros(3) if end_a else arm
        other = face_b if end_a else face_a
        # nowhere else is one point as good as another
        return _nearest_to_axis(other, centre, axis, q) <= (radius_a if end_a else radius_b)
    along, apart = dot(arm, axis), 0.0
    for k in range(3):
        q[k] = arm[k] - along * axis[k]
        apart += q[k] ** 2
    apart = np.sqrt(apart)
    if apart > radius_a + radius_b:
        return False
    middle = 0.5 * (max(-radius_a, apart - radius_b) + min(radius_a, apart + radius_b))
    for k in range(3):
        q[k] *= middle / apart
    return True


@njit(cache=True)
def _starts(solids, s, t, n, d, turn, start_a, start_b):
    """Axes (rows, in a body's own) at which the points of its rims begin: those of the wider, then
    the longer one where ends of cylinders lie on one another, midway between both where they are
    alike, so that bodies may change places; else its own."""
    for i in range(3):
        for j in range(3):
            start_a[i, j] = start_b[i, j] = 1.0 if i == j else 0.0
    if solids.kind[s] != CYLINDER or solids.kind[t] != CYLINDER:
        return
    if abs(n[2]) <= UPRIGHT or abs(d[2]) <= UPRIGHT:
        return
    a, b = solids.size[s], solids.size[t]
    if b[0] > a[0] or (b[0] == a[0] and b[2] > a[2]):
        for i in range(3):
            for j in range(3):
                start_a[i, j] = turn[j, i]
        return
    if a[0] == b[0] and a[2] == b[2]:
        apart = np.arctan2(turn[1, 0], turn[0, 0])
        # half a pitch counts as less than that, for both bodies
        half = 0.5 * (apart - PITCH * np.rint((1 - SAME) * apart / PITCH))
        start_a[0, 0] = start_a[1, 1] = np.cos(half)
        start_a[0, 1] = np.sin(half)
        start_a[1, 0] = -start_a[0, 1]
    for i in range(3):
        for j in range(3):
            start_b[i, j] = dot(start_a[i], turn[:, j])


@njit(cache=True)
def _number(label, out, first, count):
    """``label``, or the next one free among rows first : count of out; clashes are rare."""
    number = label % FEATURES
    again = True
    while again:
        again = False
        for row in range(first, count):
            if out[row, 1] == number:
                number = (number + 2) % FEATURES
                again = True
    return number


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


class Pair:
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


define(Pair, _PairType)


@njit(cache=True)
def _face(most):
    return Face(
        0, 0, np.empty((most, 3)), np.empty(most, np.int64), 0.0, np.empty(3), False,
        np.empty((3, 3)),
    )  # fmt: skip


@njit(cache=True)
def _pair(most, turn, arm):
    """A ``Pair`` for faces of at most ``most`` corners."""
    rows, room = 4 * most + 9, (2, 4 * most + 8)
    return Pair(
        _face(most), _face(most), turn, arm, 0.0, np.empty(3), False, 0.0, np.empty(3),
        np.empty(3), np.empty(3), np.empty(3), 0, np.empty((rows, 3)), np.empty(rows),
        np.empty(rows, np.int64), np.empty((*room, 3)), np.empty((*room, 2), np.int64),
    )  # fmt: skip


@njit(cache=True)
def _middle(pair, out):
    """The middle of the nearest points into out (3,)."""
    on_a, on_b = pair.on_a, pair.on_b
    for k in range(3):
        out[k] = 0.5 * (on_a[k] + on_b[k])


@njit(cache=True)
def _look(pair, solids):
    """The faces of both bodies that look at each other along ``n``."""
    a, b, n, turn, d, local = pair.a, pair.b, pair.n, pair.turn, np.empty(3), np.empty(3)
    to_body(turn, n, -1.0, d)
    _starts(solids, a.shape, b.shape, n, d, turn, a.start, b.start)
    a.count, a.size = facing(solids, a.shape, n, a.start, a.corners, a.names, a.normal)
    b.count, b.size = facing(solids, b.shape, d, b.start, b.corners, b.names, local)
    x = np.empty(3)
    for c in range(b.count):
        for k in range(3):
            x[k] = b.corners[c, k]
        for k in range(3):
            moved = turn[k, 0] * x[0] + turn[k, 1] * x[1] + turn[k, 2] * x[2]
            b.corners[c, k] = moved + pair.arm[k]
    for k in range(3):
        b.normal[k] = dot(turn[k], local)
    a.flat = a.count > 2 and dot(a.normal, n) > ALIGNED
    b.flat = b.count > 2 and -dot(b.normal, n) > ALIGNED


@njit(cache=True)
def _separates_more(pair, solids):
    """How much more the face of b separates the bodies than that of a does [m]."""
    a, b, d, at = pair.a, pair.b, np.empty(3), np.empty(3)
    to_body(pair.turn, a.normal, -1.0, d)
    more = support(solids, b.shape, d, at) - dot(a.normal, pair.arm)
    more += dot(a.normal, a.corners[0]) - dot(b.normal, b.corners[0])
    for k in range(3):
        d[k] = -1.0 * b.normal[k]
    return more - support(solids, a.shape, d, at)


@njit(cache=True)
def _reference(pair, solids):
    """(body of the reference face, cosine between the direction of the cut and its normal, whether
    that direction lies midway between both normals); the direction goes into ``mid``.

    The larger of two faces of one kind goes first; of equal ones that which separates more, or what
    lies midway between them.
    """
    a, b, mid = pair.a, pair.b, pair.mid
    second = not (a.flat and b.count > 0)
    if a.flat and b.flat and solids.kind[a.shape] == solids.kind[b.shape]:
        if b.size > LARGER * a.size:
            second = True
        elif not a.size > LARGER * b.size:
            more = _separates_more(pair, solids)
            second = more > PATCH * pair.size
            askew, half = midway(a.normal, b.normal, mid)
            if abs(more) <= PATCH * pair.size and askew > ASKEW:
                return 1 if second else 0, half, True
    step(b.normal if second else a.normal, 0.0, a.normal, mid)
    return 1 if second else 0, 1.0, False


@njit(cache=True)
def _clip_face(pair, side):
    """Cuts the other face to the outline of that of body ``side`` along ``mid``: (corners, least
    gap)."""
    own, other = (pair.a, pair.b) if side == 0 else (pair.b, pair.a)
    outline, seen = own.corners[: own.count], other.corners[: other.count]
    return clip(
        outline, pair.mid, own.normal, dot(own.normal, outline[0]), seen,
        other.names[: other.count], pair.poly, pair.poly_of,
    )  # fmt: skip


@njit(cache=True)
def _take_corners(pair, side, half, found):
    """Contacts at the corners that ``_clip_face`` found; half: cosine between the direction of the
    cut and the reference face's normal. Returns the least gap."""
    own, other = (pair.a, pair.b) if side == 0 else (pair.b, pair.a)
    outward, names, least = own.normal, other.names[: other.count], np.inf
    poly, poly_of, height = pair.poly, pair.poly_of, pair.height
    h, snap = dot(outward, own.corners[0]), SNAP * min(own.size, other.size)
    found = thin_out(
        poly[0], poly_of[0], found, outward, h, other.corners[: other.count], names, snap, height
    )
    for c in range(found):
        height[c] /= half
        least = min(least, height[c])
        pair.label[c] = poly_of[0, c, 0] + side
        step(poly[0, c], -0.5 * height[c], pair.mid, pair.points[c])
    pair.count = found
    return least


@njit(cache=True)
def _patch(pair, solids):
    """Contacts of a face with a face or line."""
    a, b, n, size = pair.a, pair.b, pair.n, pair.size
    round_end = solids.kind[a.shape] == CYLINDER or solids.kind[b.shape] == CYLINDER
    alike = size * (ON_FACE if round_end else PATCH)
    side, half, even = _reference(pair, solids)
    found, low = _clip_face(pair, side)
    first = a.flat and b.flat and solids.kind[a.shape] == solids.kind[b.shape]
    if first and b.size > LARGER * a.size and pair.exact and not abs(low - pair.gap) <= alike:
        side = 0  # the nearest points are not those of the larger face
        step(a.normal, 0.0, n, pair.mid)
        found, low = _clip_face(pair, side)
    least = _take_corners(pair, side, half, found)
    for k in range(3):
        n[k] = 0.0 + (1.0 if side == 0 else -1.0) * pair.mid[k]
    own = not even and dot(n, pair.normal) > ACROSS
    if pair.exact and not own and not abs(least - pair.gap) <= alike:
        pair.count = 0  # at the face's edge: its normal is another
        step(pair.normal, 0.0, pair.normal, n)
    # points stand for the rim of a round end: a nearest one between them comes on top
    elif pair.count > 0 and least > pair.gap + size * (ON_FACE if own else MISSED):
        pair.label[pair.count], pair.height[pair.count] = 0, pair.gap
        _middle(pair, pair.points[pair.count])
        pair.count += 1
    elif pair.count == 0 and own and round_end:
        _sliver(pair, side, solids)


@njit(cache=True)
def _sliver(pair, side, solids):
    """The contact of a round end where faces meet between its rim and the points that stand for it
    only, if they do."""
    a, b, point = pair.a, pair.b, pair.points[0]
    own, other = (a, b) if side == 0 else (b, a)
    outward, q = own.normal, np.empty(3)
    end_a = a.flat and solids.kind[a.shape] == CYLINDER
    end_b = b.flat and solids.kind[b.shape] == CYLINDER
    if (end_a or end_b) and _in_sliver(
        end_a, solids.size[a.shape, 0], end_b, solids.size[b.shape, 0], outward, pair.arm,
        a.corners[: a.count], b.corners[: b.count], q,
    ):  # fmt: skip
        low = dot(outward, own.corners[0]) - dot(outward, q)
        high = dot(outward, other.corners[0]) - dot(outward, q)
        if not other.flat:
            high = 0.0  # a line, on which the point is
        pair.label[0], pair.height[0] = 0, high - low
        pair.count = 1 if abs(pair.height[0] - pair.gap) <= pair.size * AS_NEAR else 0
        step(q, 0.5 * (low + high), outward, point)


@njit(cache=True)
def _point_on_face(pair, solids):
    """Nearest points of a point and a face, whose own normal it is."""
    a, b, n, on_a, on_b, turn = pair.a, pair.b, pair.n, pair.on_a, pair.on_b, pair.turn
    for k in range(3):
        n[k] = 0.0 + 1.0 * a.normal[k] if a.flat else 0.0 + -1.0 * b.normal[k]
    if a.flat:
        d, at_b = np.empty(3), np.empty(3)
        to_body(turn, n, -1.0, d)
        support(solids, b.shape, d, at_b)
        for k in range(3):
            on_b[k] = pair.arm[k] + dot(turn[k], at_b)
        step(on_b, dot(a.corners[0], n) - dot(on_b, n), n, on_a)
    else:
        support(solids, a.shape, n, on_a)
        step(on_a, dot(b.corners[0], n) - dot(on_a, n), n, on_b)


@njit(cache=True)
def _lines(pair, solids):
    """Contacts at the ends of the common stretch of straight lines side by side, if there are."""
    a, b, n = pair.a, pair.b, pair.n
    if _line(a.corners, a.names, a.count, solids.kind[a.shape] == CYLINDER, n, 1.0) and _line(
        b.corners, b.names, b.count, solids.kind[b.shape] == CYLINDER, n, -1.0
    ):
        pair.count = _beside(a.corners, b.corners, n, pair.points, pair.height)
        pair.label[0], pair.label[1] = 0, 2


@njit(cache=True)
def _write(rows, p, pair, limit, solids):
    """Contacts of pair p with gaps up to ``limit`` into rows (.., 10), or else that of the nearest
    points, whatever its gap; how many."""
    a, b, n, turn, height, written = pair.a, pair.b, pair.n, pair.turn, pair.height, 0
    point, d, inward, within = np.empty(3), np.empty(3), np.empty(3), 0
    for c in range(pair.count):
        within += 1 if height[c] <= limit else 0
    if within == 0:
        pair.count, pair.label[0], height[0] = 1, 0, dot(pair.on_b, n) - dot(pair.on_a, n)
        _middle(pair, pair.points[0])
    for c in range(pair.count):
        if height[c] > limit and within > 0:
            continue
        x, row = pair.points[c], rows[written]
        step(x, -1.0, pair.arm, point)
        to_body(turn, point, 1.0, d)
        row[0], row[1], row[2] = p, _number(pair.label[c], rows, 0, written), height[c]
        to_body(turn, n, -1.0, inward)
        row[3] = curvature_near(solids, a.shape, x, n) + curvature_near(solids, b.shape, d, inward)
        for k in range(3):
            row[4 + k], row[7 + k] = 0.0 + 1.0 * n[k], 0.0 + 1.0 * x[k]
        written += 1
    return written


@njit(cache=True, nogil=True)
def contacts_of_nearest(pairs: Pairs, nearest: Nearest, longest: int, solids: Solids):
    """Rows (pair, feature, gap, curvature, normal, point) of contacts within reach, (.., 10).

    longest: most corners of one face.
    """
    turn, arm, reach = pairs.turn, pairs.arm, pairs.reach
    out, count = np.empty((4 * len(arm) + 16, 10)), np.int64(0)
    if len(arm) == 0:
        return out[:0]
    pair, middle = _pair(max(longest, RIM_POINTS), turn[0], arm[0]), np.empty(3)
    a, b = pair.a, pair.b
    for p in range(len(arm)):
        if nearest.separation[p] > reach[p]:
            continue
        a.shape, b.shape, pair.turn, pair.arm = pairs.shape_a[p], pairs.shape_b[p], turn[p], arm[p]
        pair.gap, pair.exact = nearest.separation[p], nearest.exact[p]
        pair.size = min(pairs.radius_a[p], pairs.radius_b[p])
        for k in range(3):
            pair.n[k] = pair.normal[k] = nearest.normal[p, k]
            middle[k] = 0.5 * (nearest.on_a[p, k] + nearest.on_b[p, k])
        step(middle, -0.5 * pair.gap, pair.n, pair.on_a)
        step(middle, 0.5 * pair.gap, pair.n, pair.on_b)
        _look(pair, solids)
        pair.count = 0
        if (a.flat and b.count > 0) or (b.flat and a.count > 0):
            _patch(pair, solids)
        elif (a.flat or b.flat) and not pair.exact:
            _point_on_face(pair, solids)
        if pair.count == 0:
            _lines(pair, solids)
        if count + pair.count + 1 > len(out):
            out = np.concatenate((out, np.empty((len(out) + pair.count + 1, 10))))
        count += _write(out[count:], p, pair, reach[p], solids)
    return out[:count]
