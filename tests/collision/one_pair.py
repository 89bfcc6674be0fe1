"""Reference twin of ``collision.convex``: one pair at a time, uncompiled, for any two solids.

coal gives the closest points and the normal, by its own retries; faces and lines are cut by a
clipping of its own. Slow, and less exact where bodies just touch: coal may lose the normal there.
"""

import numpy as np

import rigidlimit as rl
from rigidlimit.bodies import Bodies, Cylinder, Ellipsoid, Sphere, State
from rigidlimit.bodies.rotations import matrix
from rigidlimit.collision.coal_distance import _coal_shape, _request
from rigidlimit.collision.contacts import FEATURES, Pieces
from rigidlimit.collision.patches import ACROSS, MISSED, ON_FACE
from rigidlimit.collision.tolerances import TOLERANCES
from rigidlimit.errors import ContactError

from .one_pair_features import Feature, best_face, curvature_at, facing, support_height

ATTEMPTS = (
    (1e-12, 0.0),
    (1e-9, 0.0),
    (1e-8, 0.0),
    (1e-7, 0.0),
    (1e-6, 0.0),
    (1e-9, 1e-7),
    (1e-9, -1e-4),
    (1e-9, 1e-3),
)
"""coal's relative tolerance, tightest first, and how far b is moved off, over the pair's size."""

DEEP = 0.02
"""Overlap over the smaller body's size from which every tolerance is tried: a tight one leads
coal's expanding polytope astray by rounding, a loose one ends it early."""

CONSISTENT = 1e-9
"""Difference of coal's distance and the separation along its normal, over the pair's size."""


def two(a, b, arm, turn_a=(1, 0, 0, 0), turn_b=(1, 0, 0, 0)):
    """Scene of two bodies without gravity, the first at the origin."""
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add(a, position=(0, 0, 0), orientation=turn_a)
    scene.add(b, position=arm, orientation=turn_b)
    return scene


def closest(bodies, state, a, b, turn_a, turn_b):
    """(gap, normal from a to b, point on a, point on b), world frame."""
    import coal

    sa, sb = bodies.shape(a), bodies.shape(b)
    scale = 1.0 / max(sa.bounding_radius, sb.bounding_radius)
    # centred on a: rounding does not grow with the distance from the origin
    arm = (state.position[b] - state.position[a]) * scale
    # where they touch exactly, coal may lose the normal: then look with b a little further off
    away = arm / max(np.linalg.norm(arm), 1e-300)
    deep = DEEP * scale * min(sa.bounding_radius, sb.bounding_radius)
    best, found = None, False
    for tolerance, shift in ATTEMPTS:
        if found and (shift != 0.0 or best[0] > -deep):
            break
        result = coal.DistanceResult()
        coal.distance(
            _coal_shape(sa, scale),
            coal.Transform3s(turn_a, np.zeros(3)),
            _coal_shape(sb, scale),
            coal.Transform3s(turn_b, arm + shift * away),
            _request(tolerance),
            result,
        )
        normal = np.array(result.normal).ravel()
        on_a = np.array(result.getNearestPoint1()).ravel()
        on_b = np.array(result.getNearestPoint2()).ravel() - shift * away
        size = np.linalg.norm(normal)
        # a solve that went wrong shows: no unit normal, or points that are not on the bodies
        far = max(np.abs(on_a).max(), np.abs(on_b - arm).max())
        if not (size > 0.5 and far < 1 + 1e-6):
            continue
        normal /= size
        # the gap is the largest separation of the two bodies over all directions: a normal whose
        # separation is not the distance between the points is not the one
        separation = arm @ normal - scale * (
            support_height(sa, (normal @ turn_a)[None])[0]
            + support_height(sb, (-normal @ turn_b)[None])[0]
        )
        if best is None or separation > best[0]:
            best = (separation, normal, on_a, on_b)
        found = found or abs((on_b - on_a) @ normal - separation) < CONSISTENT
    if best is None:
        raise ContactError(
            f"bodies {bodies.names[a]!r} and {bodies.names[b]!r}: no contact normal found "
            f"(centres {state.position[a].tolist()} and {state.position[b].tolist()}); expected "
            "bodies that do not contain each other; move them apart"
        )
    gap, normal, on_a, on_b = best
    middle = 0.5 * (on_a + on_b)
    half = 0.5 * gap * normal
    origin = state.position[a]
    return (gap / scale, normal, (middle - half) / scale + origin, (middle + half) / scale + origin)


def convex_pair(bodies: Bodies, state: State, a: int, b: int, reach: float) -> Pieces:
    """Contacts of bodies a and b with gap <= reach; normals point from a to b."""
    turn_a, turn_b = matrix(state.quaternion[a]), matrix(state.quaternion[b])
    gap, normal, on_a, on_b = closest(bodies, state, a, b, turn_a, turn_b)
    # A face that separates the bodies more than coal's normal is nearer to the truth: the gap is
    # the largest separation over all directions, and coal can miss it where faces just touch.
    arm = state.position[b] - state.position[a]
    shape_a, shape_b = bodies.shape(a), bodies.shape(b)
    for sign, face in (
        (1, best_face(shape_a, shape_b, turn_a, turn_b, arm)),
        (-1, best_face(shape_b, shape_a, turn_b, turn_a, -arm)),
    ):
        if face[0] > gap:
            gap, normal = face[0], sign * face[1]
            middle = 0.5 * (on_a + on_b)
            on_a, on_b = middle - 0.5 * gap * normal, middle + 0.5 * gap * normal
    if gap > reach:
        return Pieces.joined([])
    known = normal
    starts = {}
    if _ends_meet(shape_a, turn_a.T @ normal) and _ends_meet(shape_b, turn_b.T @ normal):
        # both rims begin at the x axis of the wider one, then of the longer one
        wider = (shape_b.radius, shape_b.length) > (shape_a.radius, shape_a.length)
        starts = {0: turn_b.T @ turn_a} if wider else {1: turn_a.T @ turn_b}
    own = np.eye(3)
    face_a = facing(shape_a, turn_a.T @ normal, starts.get(0, own))
    face_b = facing(shape_b, -turn_b.T @ normal, starts.get(1, own))
    # of two faces of bodies of one kind the larger goes first, of equal ones that which separates
    # more; where both do alike, the plane midway between them is not told from the first one here
    size_a, size_b = _extent(shape_a, face_a), _extent(shape_b, face_b)
    one_kind = min(size_a, size_b) > 0 and _round(shape_a) == _round(shape_b)
    b_first = one_kind and size_b > size_a * (1 + 1e-9)
    equal = one_kind and not b_first and size_a <= size_b * (1 + 1e-9)
    face_a = _in_world(face_a, turn_a, state.position[a])
    face_b = _in_world(face_b, turn_b, state.position[b])
    flat_a = (
        face_a is not None
        and face_a.normal is not None
        and face_a.normal @ normal > (1 - TOLERANCES.aligned)
    )
    flat_b = (
        face_b is not None
        and face_b.normal is not None
        and -face_b.normal @ normal > (1 - TOLERANCES.aligned)
    )
    found, size = [], min(shape_a.bounding_radius, shape_b.bounding_radius)
    if equal and flat_a and flat_b:
        beyond_a = _separation(shape_a, shape_b, turn_a, turn_b, arm, face_a.normal)
        beyond_b = _separation(shape_a, shape_b, turn_a, turn_b, arm, -face_b.normal)
        b_first = beyond_b - beyond_a > TOLERANCES.equal * size
    if (flat_a and face_b is not None) or (flat_b and face_a is not None):
        if flat_a and face_b is not None and not (flat_b and b_first):
            found, normal = _clip(face_a, face_b), face_a.normal
        else:
            found, normal = _clip(face_b, face_a), -face_b.normal
            found = [(1 + label, point, g) for label, point, g in found]
        least = min((g for _, _, g in found), default=np.inf)
        own = known @ normal > ACROSS
        round_end = isinstance(shape_a, Cylinder) or isinstance(shape_b, Cylinder)
        if not own and not abs(least - gap) <= (ON_FACE if round_end else TOLERANCES.equal) * size:
            found, normal = [], known  # at the face's edge
        # the corners of a round end stand for its rim: a nearest point between them comes on top
        elif found and least > gap + size * (ON_FACE if own else MISSED):
            found.append((0, 0.5 * (on_a + on_b), gap))
    elif flat_a or flat_b:  # a point on a face: the face's own normal is exact
        normal = face_a.normal if flat_a else -face_b.normal
        on_a, on_b = _point_on_face(bodies, state, a, b, normal, on_a, on_b, flat_a, face_a, face_b)
    if not found and face_a is not None and face_b is not None and _parallel_lines(face_a, face_b):
        found = _along_line(face_a, face_b, normal)
    found = [contact for contact in found if contact[2] <= reach]
    if not found:
        normal, on_a, on_b = _polish(bodies, state, a, b, turn_a, turn_b, normal, on_a, on_b)
        found = [(0, 0.5 * (on_a + on_b), (on_b - on_a) @ normal)]
    curvature = [
        curvature_at(shape_a, turn_a.T @ (point - state.position[a]))
        + curvature_at(shape_b, turn_b.T @ (point - state.position[b]))
        for _, point, _ in found
    ]
    k = len(found)
    return Pieces.of(
        np.full(k, a),
        np.full(k, b),
        feature=_distinct([label for label, _, _ in found]),
        point=[point for _, point, _ in found],
        normal=normal,
        gap=[g for _, _, g in found],
        curvature=curvature,
    )


def _ends_meet(shape, direction):
    """Whether it is a cylinder's end that looks along ``direction`` or against it."""
    return isinstance(shape, Cylinder) and abs(direction[2]) > np.cos(TOLERANCES.parallel)


def _extent(shape, face):
    """Diagonal of a face's bounding box in the body's axes; 0 of other features."""
    if face is None or face.normal is None:
        return 0.0
    return 8**0.5 * shape.radius if _round(shape) else np.linalg.norm(np.ptp(face.corners, axis=0))


def _round(shape):
    return isinstance(shape, Cylinder)


def _separation(shape_a, shape_b, turn_a, turn_b, arm, n):
    """Distance of the bodies along n, from a to b."""
    reach_a = support_height(shape_a, (n @ turn_a)[None])[0]
    return arm @ n - reach_a - support_height(shape_b, (-n @ turn_b)[None])[0]


def _point_on_face(bodies, state, a, b, normal, on_a, on_b, flat_a, face_a, face_b):
    """Closest points of a face and a ball or ellipsoid, in closed form; others stay as given."""
    smooth, face, outward = (b, face_a, -normal) if flat_a else (a, face_b, normal)
    quadric = _quadric(bodies.shape(smooth), matrix(state.quaternion[smooth]))
    if quadric is None:
        return on_a, on_b
    lowest = state.position[smooth] + _support(quadric, outward)[0]
    on_face = lowest - ((lowest - face.corners[0]) @ normal) * normal
    return (on_face, lowest) if flat_a else (lowest, on_face)


def _quadric(shape, turn):
    """The matrix A of the support function sqrt(n . A n) of a ball or ellipsoid, else None."""
    if isinstance(shape, Ellipsoid):
        return turn @ np.diag(np.square(shape.semi_axes)) @ turn.T
    return shape.radius**2 * np.eye(3) if isinstance(shape, Sphere) else None


def _in_world(feature, turn, position):
    if feature is None:
        return None
    normal = None if feature.normal is None else turn @ feature.normal
    return Feature(feature.corners @ turn.T + position, feature.numbers, normal)


def _distinct(labels):
    """Feature numbers below 2^16; the rare clash in big meshes takes the next free number."""
    numbers = []
    for label in labels:
        number = label % FEATURES
        while number in numbers:
            number = (number + 2) % FEATURES
        numbers.append(number)
    return numbers


def _clip(reference: Feature, other: Feature):
    """Corners of ``other`` cut to the outline of the reference face: (label, point, gap).

    Sutherland and Hodgman's algorithm. A corner made by a cut is labelled by the edge it lies on
    and the side that cut it, both of which stay the same while the bodies move a little. Corners
    nearer than snap face sizes to a corner of ``other`` take its label, and only the one of least
    gap stays: aligned faces would else gain and lose corners by rounding.
    """
    corners = reference.corners
    k = len(corners)
    # (label of the corner, label of the edge that leaves it, point)
    polygon = [(2 * int(n), int(n), p) for n, p in zip(other.numbers, other.corners, strict=True)]
    for side in range(k):
        along = corners[(side + 1) % k] - corners[side]
        outward = np.cross(along, reference.normal)
        outward /= np.linalg.norm(outward)
        beyond = [(p - corners[side]) @ outward for _, _, p in polygon]
        margin = 1e-12 * np.linalg.norm(along)
        kept = []
        # a line has one edge, not two
        edges = range(1 if len(other.corners) == 2 else len(polygon))
        for i in range(len(polygon)):
            label, edge, point = polygon[i]
            inside = beyond[i] <= margin
            if inside:
                kept.append(polygon[i])
            j = (i + 1) % len(polygon)
            if i in edges and inside != (beyond[j] <= margin):
                share = np.clip(beyond[i] / (beyond[i] - beyond[j]), 0.0, 1.0)
                cut = 2 * (256 + (edge % 320) * 64 + side % 64)
                leaving = 256 + side % 64 if inside else edge
                kept.append((cut, leaving, point + share * (polygon[j][2] - point)))
        polygon = kept
        if not polygon:
            return []
    found = {}
    snap = TOLERANCES.snap * min(_diagonal(reference), _diagonal(other))
    polygon = _without_straight_corners(polygon, snap)
    for label, _, point in polygon:
        away = np.linalg.norm(other.corners - point, axis=1)
        nearest = int(np.argmin(away))
        if away[nearest] < snap:
            label = 2 * int(other.numbers[nearest])
        gap = (point - corners[0]) @ reference.normal
        if label not in found or gap < found[label][2]:
            found[label] = (label, point - 0.5 * gap * reference.normal, gap)
    return list(found.values())


def _without_straight_corners(polygon, snap):
    """The polygon without made corners that lie within ``snap`` of the line between neighbours.

    Nearly parallel edges cross anywhere along their length; the crossing adds nothing.
    """
    i = 0
    while len(polygon) > 3 and i < len(polygon):
        label, _, point = polygon[i]
        before, after = polygon[i - 1][2], polygon[(i + 1) % len(polygon)][2]
        chord = after - before
        size = np.linalg.norm(chord)
        off = np.linalg.norm(np.cross(chord, point - before)) / size if size > 0 else 0.0
        if label >= 512 and off < snap:
            del polygon[i]
        else:
            i += 1
    return polygon


def _diagonal(feature: Feature) -> float:
    """Size of a face or line, from its bounding box."""
    return np.linalg.norm(np.ptp(feature.corners, axis=0))


def _parallel_lines(a: Feature, b: Feature) -> bool:
    if len(a.corners) != 2 or len(b.corners) != 2:
        return False
    u, v = a.corners[1] - a.corners[0], b.corners[1] - b.corners[0]
    return np.linalg.norm(np.cross(u, v)) < 1e-3 * np.linalg.norm(u) * np.linalg.norm(v)


def _along_line(a: Feature, b: Feature, normal):
    """Two parallel lines touch at the ends of their common stretch: (label, point, gap)."""
    start, u = a.corners[0], a.corners[1] - a.corners[0]
    t = (b.corners - start) @ u / (u @ u)
    order = np.argsort(t)
    lo, hi = max(0.0, t[order[0]]), min(1.0, t[order[1]])
    if hi - lo < 1e-6:
        return []
    found = []
    for label, at in ((0, lo), (1, hi)):
        on_a = start + at * u
        share = (at - t[0]) / (t[1] - t[0])
        on_b = b.corners[0] + share * (b.corners[1] - b.corners[0])
        found.append((2 * label, 0.5 * (on_a + on_b), (on_b - on_a) @ normal))
    return found


def _polish(bodies, state, a, b, turn_a, turn_b, normal, on_a, on_b):
    """Newton on the normal of two smooth strictly convex bodies (balls, ellipsoids).

    The gap is the largest over unit n of  n . (x_b - x_a) - h_a(n) - h_b(-n)  with the support
    functions h; its gradient is the vector between the support points.
    """
    quadrics = _quadric(bodies.shape(a), turn_a), _quadric(bodies.shape(b), turn_b)
    if quadrics[0] is None or quadrics[1] is None:
        return normal, on_a, on_b
    arm = state.position[b] - state.position[a]
    for _ in range(4):
        pa, ha = _support(quadrics[0], normal)
        pb, hb = _support(quadrics[1], -normal)
        across = np.linalg.svd(normal[None])[2][1:]  # two directions normal to n
        slope = across @ (arm + pb - pa)
        bend = across @ (-ha - hb) @ across.T - np.eye(2) * ((arm + pb - pa) @ normal)
        normal = normal - across.T @ np.linalg.solve(bend, slope)
        normal /= np.linalg.norm(normal)
    pa, _ = _support(quadrics[0], normal)
    pb, _ = _support(quadrics[1], -normal)
    return normal, state.position[a] + pa, state.position[b] + pb


def _support(quadric, n):
    """Support point A n / h and second derivative of h = sqrt(n . A n)."""
    An = quadric @ n
    h = np.sqrt(n @ An)
    return An / h, quadric / h - np.outer(An, An) / h**3
