"""Contacts of two convex bodies whose nearest points are known: a patch of faces, or one point.

Where a flat face of one body looks at a face or a straight line of the other, the line's or face's
corners, cut to the outline of the first (the reference) face, are the contacts, each with its own
gap along the reference normal. Straight lines side by side, edges and the sides of cylinders and
capsules, touch at the ends of their common stretch. Else there is one contact at the nearest
points.
"""

import numpy as np
from numba import njit

from .clipping import SNAP, clip, thin_out
from .contacts import FEATURES
from .kinds import CYLINDER
from .planes import RIM_POINTS, STANDING
from .polytope_patch import LARGER, PATCH
from .separation import ALIGNED, ASKEW, midway, place, step
from .solid_table import UPRIGHT, curvature_near, facing, support, to_body

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
def dot(x, y):
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
    if solids[0][s] != CYLINDER or solids[0][t] != CYLINDER:
        return
    if abs(n[2]) <= UPRIGHT or abs(d[2]) <= UPRIGHT:
        return
    a, b = solids[1][s], solids[1][t]
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


@njit(cache=True)
def _least(outline, outward, other, names, poly, poly_of):
    """Least gap of the corners of ``other``, cut to the outline of a face, above it."""
    h = dot(outward, outline[0])
    return clip(outline, outward, outward, h, other, names, poly, poly_of)[1]


@njit(cache=True, nogil=True)
def contacts_of_nearest(
    shape_a, shape_b, turn, arm, reach, radius_a, radius_b,
    separation, normal, nearest_a, nearest_b, exact, longest, solids,
):  # fmt: skip
    """Rows (pair, feature, gap, curvature, normal, point) of contacts within reach, (.., 10).

    All in the axes of a about a's centre: turn (k, 3, 3), arm (k, 3) pose of b; separation (k,),
    unit normal (k, 3), points nearest_a on a and nearest_b on b (k, 3), exact (k,) or to coal's
    tolerance. radius (k,): bounding radii; longest: most corners of one face.
    """
    most = max(longest, RIM_POINTS)
    out, count = np.empty((4 * len(arm) + 16, 10)), np.int64(0)
    face_a, face_b = np.empty((most, 3)), np.empty((most, 3))
    names_a, names_b = np.empty(most, np.int64), np.empty(most, np.int64)
    normal_a, normal_b = np.empty(3), np.empty(3)
    poly, poly_of = np.empty((2, 4 * most + 8, 3)), np.empty((2, 4 * most + 8, 2), np.int64)
    height, label, point = np.empty(4 * most + 9), np.empty(4 * most + 9, np.int64), np.empty(3)
    n, d, on_a, on_b = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    at_b, zero, middle, inward = np.empty(3), np.zeros(3), np.empty(3), np.empty(3)
    mid = np.empty(3)
    start_a, start_b = np.empty((3, 3)), np.empty((3, 3))
    local, points = np.empty((most, 3)), np.empty((4 * most + 9, 3))
    for p in range(len(arm)):
        gap = separation[p]
        if gap > reach[p]:
            continue
        s, t = shape_a[p], shape_b[p]
        for k in range(3):
            n[k] = normal[p, k]
            middle[k] = 0.5 * (nearest_a[p, k] + nearest_b[p, k])
        step(middle, -0.5 * gap, n, on_a)
        step(middle, 0.5 * gap, n, on_b)
        to_body(turn[p], n, -1.0, d)
        _starts(solids, s, t, n, d, turn[p], start_a, start_b)
        ka, size_a = facing(solids, s, n, start_a, face_a, names_a, normal_a)
        kb, size_b = facing(solids, t, d, start_b, local, names_b, at_b)
        if kb > 0:
            place(local[:kb], turn[p], arm[p], face_b)
        for k in range(3):
            normal_b[k] = dot(turn[p, k], at_b)
        flat_a = ka > 2 and dot(normal_a, n) > ALIGNED
        flat_b = kb > 2 and -dot(normal_b, n) > ALIGNED
        found, least, size = 0, np.inf, min(radius_a[p], radius_b[p])
        if (flat_a and kb > 0) or (flat_b and ka > 0):
            second, even, half = not (flat_a and kb > 0), False, 1.0
            round_end = solids[0][s] == CYLINDER or solids[0][t] == CYLINDER
            alike = size * (ON_FACE if round_end else PATCH)
            if flat_a and flat_b and solids[0][s] == solids[0][t]:
                if size_b > LARGER * size_a:
                    low = _least(face_b[:kb], normal_b, face_a[:ka], names_a[:ka], poly, poly_of)
                    second = not exact[p] or abs(low - gap) <= alike
                elif not size_a > LARGER * size_b:
                    # of equal ones that which separates more, or what lies midway between them
                    to_body(turn[p], normal_a, -1.0, d)
                    more = support(solids, t, d, at_b) - dot(normal_a, arm[p])
                    more += dot(normal_a, face_a[0]) - dot(normal_b, face_b[0])
                    step(zero, -1.0, normal_b, d)
                    more -= support(solids, s, d, at_b)
                    second = more > PATCH * size
                    askew, half = midway(normal_a, normal_b, mid)
                    even = abs(more) <= PATCH * size and askew > ASKEW
            if not second:
                side, outline, other, names = 0, face_a[:ka], face_b[:kb], names_b[:kb]
                outward = normal_a
            else:
                side, outline, other, names = 1, face_b[:kb], face_a[:ka], names_a[:ka]
                outward = normal_b
            if not even:
                half = 1.0
                step(zero, 1.0, outward, mid)
            h, snap = dot(outward, outline[0]), SNAP * min(size_a, size_b)
            found, _ = clip(outline, mid, outward, h, other, names, poly, poly_of)
            found = thin_out(poly[0], poly_of[0], found, outward, h, other, names, snap, height)
            for c in range(found):
                height[c] /= half
                least = min(least, height[c])
                label[c] = poly_of[0, c, 0] + side
                step(poly[0, c], -0.5 * height[c], mid, points[c])
            step(zero, 1.0 if side == 0 else -1.0, mid, n)
            own = not even and dot(n, normal[p]) > ACROSS
            if exact[p] and not own and not abs(least - gap) <= alike:
                found = 0  # at the face's edge: its normal is another
                step(zero, 1.0, normal[p], n)
            # points stand for the rim of a round end: a nearest one between them comes on top
            elif found > 0 and least > gap + size * (ON_FACE if own else MISSED):
                label[found], height[found] = 0, gap
                for k in range(3):
                    points[found, k] = 0.5 * (on_a[k] + on_b[k])
                found += 1
            elif found == 0 and own and round_end:
                end_a = flat_a and solids[0][s] == CYLINDER
                end_b = flat_b and solids[0][t] == CYLINDER
                size_s, size_t = solids[1][s, 0], solids[1][t, 0]
                if (end_a or end_b) and _in_sliver(
                    end_a, size_s, end_b, size_t, outward, arm[p], face_a[:ka], face_b[:kb], point
                ):
                    low = h - dot(outward, point)
                    high = dot(outward, other[0]) - dot(outward, point)
                    if not (flat_b if side == 0 else flat_a):
                        high = 0.0  # a line, on which the point is
                    label[0], height[0] = 0, high - low
                    found = 1 if abs(height[0] - gap) <= size * AS_NEAR else 0
                    step(point, 0.5 * (low + high), outward, points[0])
        elif (flat_a or flat_b) and not exact[p]:  # a point on a face: the face's own normal is
            step(zero, 1.0 if flat_a else -1.0, normal_a if flat_a else normal_b, n)
            if flat_a:
                to_body(turn[p], n, -1.0, d)
                support(solids, t, d, at_b)
                for k in range(3):
                    on_b[k] = arm[p, k] + dot(turn[p, k], at_b)
                step(on_b, dot(face_a[0], n) - dot(on_b, n), n, on_a)
            else:
                support(solids, s, n, on_a)
                step(on_a, dot(face_b[0], n) - dot(on_a, n), n, on_b)
        if (
            found == 0
            and _line(face_a, names_a, ka, solids[0][s] == CYLINDER, n, 1.0)
            and _line(face_b, names_b, kb, solids[0][t] == CYLINDER, n, -1.0)
        ):
            found = _beside(face_a, face_b, n, points, height)
            label[0], label[1] = 0, 2
        within = 0
        for c in range(found):
            within += 1 if height[c] <= reach[p] else 0
        if within == 0:
            found, label[0], height[0] = 1, 0, dot(on_b, n) - dot(on_a, n)
            for k in range(3):
                points[0, k] = 0.5 * (on_a[k] + on_b[k])
        if count + found > len(out):
            out = np.concatenate((out, np.empty((len(out) + found, 10))))
        before = count
        for c in range(found):
            if height[c] > reach[p] and within > 0:
                continue
            x = points[c]
            step(x, -1.0, arm[p], point)
            to_body(turn[p], point, 1.0, d)
            out[count, 0], out[count, 1] = p, _number(label[c], out, before, count)
            out[count, 2] = height[c]
            to_body(turn[p], n, -1.0, inward)
            out[count, 3] = curvature_near(solids, s, x, n) + curvature_near(solids, t, d, inward)
            step(zero, 1.0, n, out[count, 4:7])
            step(zero, 1.0, x, out[count, 7:])
            count += 1
    return out[:count]
