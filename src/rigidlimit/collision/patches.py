"""Contacts of two convex bodies whose nearest points are known: a patch of faces, or one point.

Where a flat face of one body looks at a face or a straight line of the other, the line's or face's
corners, cut to the outline of the first (the reference) face, are the contacts, each with its own
gap along the reference normal. Straight lines side by side, edges and the sides of cylinders and
capsules, touch at the ends of their common stretch. Else there is one contact at the nearest
points.
"""

import numpy as np
from numba import njit

from .._support.compiled import INNER
from .clipping import Polygon, clip, thin_out
from .contacts import FEATURES
from .face_pair import new_face_pair
from .kinds import CYLINDER
from .lines import common_stretch, dot, is_line
from .pairs import Nearest, Pairs
from .planes import RIM_POINTS
from .rims import rim_starts, take_sliver
from .separation import midway, step
from .solid_table import Solids, curvature_near, facing, support, to_body
from .tolerances import TOLERANCES

ACROSS, ON_FACE = 1 - TOLERANCES.rounding, (1 - np.cos(np.pi / RIM_POINTS)) * TOLERANCES.parallel
"""Cosine above which a normal is a face's own, and how much lower, over the smaller body's size, a
point of a round end may then lie than those that stand for its rim: what an end has that stands."""

MISSED = 2 * np.sqrt(2 * TOLERANCES.aligned)
"""The same where the normal is a face's only nearly."""


@njit(**INNER)
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


@njit(**INNER)
def _middle(pair, out):
    """The middle of the nearest points into out (3,)."""
    on_a, on_b = pair.on_a, pair.on_b
    for k in range(3):
        out[k] = 0.5 * (on_a[k] + on_b[k])


@njit(**INNER)
def _look(pair, solids):
    """The faces of both bodies that look at each other along ``n``."""
    a, b, n, turn, d, local = pair.a, pair.b, pair.n, pair.turn, np.empty(3), np.empty(3)
    to_body(turn, n, -1.0, d)
    rim_starts(solids, a.shape, b.shape, n, d, turn, a.start, b.start)
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
    a.flat = a.count > 2 and dot(a.normal, n) > (1 - TOLERANCES.aligned)
    b.flat = b.count > 2 and -dot(b.normal, n) > (1 - TOLERANCES.aligned)


@njit(**INNER)
def _separates_more(pair, solids):
    """How much more the face of b separates the bodies than that of a does [m]."""
    a, b, d, at = pair.a, pair.b, np.empty(3), np.empty(3)
    to_body(pair.turn, a.normal, -1.0, d)
    more = support(solids, b.shape, d, at) - dot(a.normal, pair.arm)
    more += dot(a.normal, a.corners[0]) - dot(b.normal, b.corners[0])
    for k in range(3):
        d[k] = -1.0 * b.normal[k]
    return more - support(solids, a.shape, d, at)


@njit(**INNER)
def _one_kind(a, b, solids):
    """Whether two faces of one kind of solid look at each other."""
    return a.flat and b.flat and solids.kind[a.shape] == solids.kind[b.shape]


@njit(**INNER)
def _is_round(body, solids):
    """Whether a body's faces are round ends."""
    return solids.kind[body.shape] == CYLINDER


@njit(**INNER)
def _add_nearest(pair):
    """The nearest points as one contact more."""
    pair.label[pair.count], pair.height[pair.count] = 0, pair.gap
    _middle(pair, pair.points[pair.count])
    pair.count += 1


@njit(**INNER)
def _reference(pair, solids):
    """(body of the reference face, cosine between the direction of the cut and its normal, whether
    that direction lies midway between both normals); the direction goes into ``mid``.

    The larger of two faces of one kind goes first; of equal ones that which separates more, or what
    lies midway between them.
    """
    a, b, mid = pair.a, pair.b, pair.mid
    second = not (a.flat and b.count > 0)
    if _one_kind(a, b, solids):
        if b.size > (1 + TOLERANCES.equal) * a.size:
            second = True
        elif not a.size > (1 + TOLERANCES.equal) * b.size:
            more = _separates_more(pair, solids)
            second = more > TOLERANCES.equal * pair.size
            askew, half = midway(a.normal, b.normal, mid)
            if abs(more) <= TOLERANCES.equal * pair.size and askew > TOLERANCES.rounding:
                return 1 if second else 0, half, True
    step(b.normal if second else a.normal, 0.0, a.normal, mid)
    return 1 if second else 0, 1.0, False


@njit(**INNER)
def _clip_face(pair, side):
    """Cuts the other face to the outline of that of body ``side`` along ``mid``: (corners, least
    gap)."""
    own, other = (pair.a, pair.b) if side == 0 else (pair.b, pair.a)
    outline, seen = own.corners[: own.count], other.corners[: other.count]
    return clip(
        outline, pair.mid, own.normal, dot(own.normal, outline[0]), seen,
        other.names[: other.count], pair.poly, pair.poly_of,
    )  # fmt: skip


@njit(**INNER)
def _take_corners(pair, side, half, found):
    """Contacts at the corners that ``_clip_face`` found; half: cosine between the direction of the
    cut and the reference face's normal. Returns the least gap."""
    own, other = (pair.a, pair.b) if side == 0 else (pair.b, pair.a)
    outward, names, least = own.normal, other.names[: other.count], np.inf
    poly, poly_of, height = pair.poly, pair.poly_of, pair.height
    h, snap = dot(outward, own.corners[0]), TOLERANCES.snap * min(own.size, other.size)
    corners = Polygon(poly[0], poly_of[0])
    found = thin_out(corners, found, outward, h, other.corners[: other.count], names, snap, height)
    for c in range(found):
        height[c] /= half
        least = min(least, height[c])
        pair.label[c] = poly_of[0, c, 0] + side
        step(poly[0, c], -0.5 * height[c], pair.mid, pair.points[c])
    pair.count = found
    return least


@njit(**INNER)
def _cut_reference(pair, solids, alike):
    """``_reference``, and how many corners the other face has, cut to its outline; of the smaller
    face where the larger one has not the nearest points, whose gap is known up to ``alike``."""
    a, b = pair.a, pair.b
    side, half, even = _reference(pair, solids)
    found, low = _clip_face(pair, side)
    larger = _one_kind(a, b, solids) and b.size > (1 + TOLERANCES.equal) * a.size
    if larger and pair.exact and not abs(low - pair.gap) <= alike:
        side = 0
        step(a.normal, 0.0, pair.n, pair.mid)
        found, _ = _clip_face(pair, side)
    return side, half, even, found


@njit(**INNER)
def _patch(pair, solids):
    """Contacts of a face with a face or line."""
    a, b, n, size = pair.a, pair.b, pair.n, pair.size
    round_end = _is_round(a, solids) or _is_round(b, solids)
    alike = size * (ON_FACE if round_end else TOLERANCES.equal)
    side, half, even, found = _cut_reference(pair, solids, alike)
    least = _take_corners(pair, side, half, found)
    for k in range(3):
        n[k] = 0.0 + (1.0 if side == 0 else -1.0) * pair.mid[k]
    own = not even and dot(n, pair.normal) > ACROSS
    if pair.exact and not own and not abs(least - pair.gap) <= alike:
        pair.count = 0  # at the face's edge: its normal is another
        step(pair.normal, 0.0, pair.normal, n)
    # points stand for the rim of a round end: a nearest one between them comes on top
    elif pair.count > 0 and least > pair.gap + size * (ON_FACE if own else MISSED):
        _add_nearest(pair)
    elif pair.count == 0 and own and round_end:
        take_sliver(pair, side, solids)


@njit(**INNER)
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


@njit(**INNER)
def _lines(pair, solids):
    """Contacts at the ends of the common stretch of straight lines side by side, if there are."""
    a, b, n = pair.a, pair.b, pair.n
    if is_line(a.corners, a.names, a.count, solids.kind[a.shape] == CYLINDER, n, 1.0) and is_line(
        b.corners, b.names, b.count, solids.kind[b.shape] == CYLINDER, n, -1.0
    ):
        pair.count = common_stretch(a.corners, b.corners, n, pair.points, pair.height)
        pair.label[0], pair.label[1] = 0, 2


@njit(**INNER)
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
    pair, middle = new_face_pair(max(longest, RIM_POINTS), turn[0], arm[0]), np.empty(3)
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
