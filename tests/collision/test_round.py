"""Balls against solids, and capsules: closed forms against coal, supports and known cases."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision.search import find_contacts
from tests.problems import from_rotation_vector

from . import one_pair
from .one_pair import two
from .one_pair_features import support_height

RNG = np.random.default_rng(3)
SOLIDS = {
    "box": rl.Box((1.0, 0.8, 0.6)),
    "capsule": rl.Capsule(0.3, 0.8),
    "cylinder": rl.Cylinder(0.4, 0.7),
    "polyhedron": rl.ConvexPolyhedron(RNG.normal(size=(14, 3)) * 0.4),
}
PAIRS = [("sphere", name) for name in SOLIDS] + [("capsule", "capsule")]


def nearest(scene, reach=10.0):
    found = find_contacts(scene.bodies, scene.state, reach)
    k = found.gap.argmin()
    return found, found.gap[k], found.normal[k], found.point[k]


def separations(scene, directions):
    """Separation of bodies 0 and 1 along unit directions, by their support functions."""
    turn, at = rotations.matrix(scene.state.quaternion), scene.state.position
    a, b = (scene.bodies.shape(k) for k in (0, 1))
    heights = support_height(a, directions @ turn[0]) + support_height(b, -directions @ turn[1])
    return directions @ (at[1] - at[0]) - heights


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_against_coal_and_supports(names):
    """Peer and property: coal's gap; the gap is the separation along the normal and the largest."""
    rng = np.random.default_rng(len("".join(names)))
    directions = rotations.normalized(rng.normal(size=(300, 3)))
    shapes = SOLIDS | {"sphere": rl.Sphere(0.35)}
    signs = np.zeros(2, int)
    for _ in range(200):
        arm = rng.normal(size=3) * rng.choice([0.2, 0.5, 1.0])
        scene = two(shapes[names[0]], shapes[names[1]], arm, *rng.normal(size=(2, 4)))
        _, gap, normal, _ = nearest(scene)
        signs[int(gap > 0)] += 1
        assert gap == pytest.approx(separations(scene, normal[None])[0], abs=1e-12)  # size 1
        assert gap >= separations(scene, directions).max() - 1e-12
        peer = one_pair.convex_pair(scene.bodies, scene.state, 0, 1, 10.0)
        # coal's convergence, relative to the size 1; in overlap it may stop at a lesser normal
        assert gap >= peer.gap.min() - 1e-9
        if gap > 0:
            assert gap == pytest.approx(peer.gap.min(), abs=1e-9)
            one = peer.gap.argmin()
            assert normal @ peer.normal[one] > 1 - 1e-7  # square root of 1e-9 over gaps of 1e-2
    assert signs.min() > 20


def test_one_contact_halfway():
    """Property: the contact point lies half a gap from either surface, on the line of centres."""
    rng = np.random.default_rng(0)
    for solid in SOLIDS.values():
        scene = two(rl.Sphere(0.2), solid, rng.normal(size=3), turn_b=rng.normal(size=4))
        found, gap, normal, point = nearest(scene)
        assert len(found) == 1 and found.feature[0] == 0
        np.testing.assert_allclose(point, (0.2 + 0.5 * gap) * normal, atol=1e-14)


BOX, POLYHEDRON = rl.Box((2, 2, 2)), rl.Box((2, 2, 2)).polytope
HALF = np.sqrt(0.5)


@pytest.mark.parametrize("cube", [BOX, POLYHEDRON], ids=["box", "polyhedron"])
@pytest.mark.parametrize(
    "centre, distance, outward",
    [
        ((0.3, -0.2, 1.5), 0.5, (0, 0, 1)),  # above a face
        ((1.3, 0.2, 1.4), 0.5, (0.6, 0, 0.8)),  # off an edge
        ((1.2, -1.3, 1.6), 0.7, (2 / 7, -3 / 7, 6 / 7)),  # off a corner
        ((0.1, 0.8, -0.3), -0.2, (0, 1, 0)),  # centre inside: out by the nearest face
        ((0.4, 0.2, 1.0), 0.0, (0, 0, 1)),  # centre on a face
    ],
)
def test_ball_and_cube(cube, centre, distance, outward):
    """Closed forms: ball against face, edge and corner of a cube, centre inside and on it."""
    scene = two(rl.Sphere(0.25), cube, -np.array(centre))
    found, gap, normal, _ = nearest(scene)
    assert gap == pytest.approx(distance - 0.25, abs=1e-13)  # rounding of sums of size 1
    np.testing.assert_allclose(normal, -np.array(outward), atol=1e-12)
    assert found.curvature[0] == pytest.approx(4)


@pytest.mark.parametrize(
    "centre, distance, outward, curvature",
    [
        ((1.3, 0.4, 0.2), None, None, 1.0),  # side, R = 0.5
        ((0.1, 0.2, 1.3), 0.3, (0, 0, 1), 0.0),  # end
        ((0.8, 0.0, 1.4), 0.5, (0.6, 0, 0.8), 1.0),  # rim
        ((0.1, 0.0, 0.9), -0.1, (0, 0, 1), 0.0),  # inside, by the end
        ((0.0, 0.45, 0.9), -0.05, (0, 1, 0), 1.0),  # inside, by the side
        ((0.0, 0.0, 0.2), -0.5, (1, 0, 0), 1.0),  # on the axis
    ],
)
def test_ball_and_cylinder(centre, distance, outward, curvature):
    """Closed forms: ball against side, end and rim of an upright cylinder, centre inside."""
    radial = np.array([centre[0], centre[1], 0])
    if distance is None:
        distance, outward = np.linalg.norm(radial) - 0.5, radial / np.linalg.norm(radial)
    scene = two(rl.Sphere(0.01), rl.Cylinder(0.5, 2.0), -np.array(centre))
    found, gap, normal, _ = nearest(scene)
    assert gap == pytest.approx(distance - 0.01, abs=1e-13)
    np.testing.assert_allclose(normal, -np.array(outward), atol=1e-12)
    assert found.curvature[0] == pytest.approx(100 + curvature)


@pytest.mark.parametrize(
    "centre, distance, outward, curvature",
    [
        ((0.9, 1.2, 0.4), 1.0, (0.6, 0.8, 0), 1.0),  # side, R = 0.5
        ((0.6, 0.0, 1.8), 0.5, (0.6, 0, 0.8), 2.0),  # end ball
        ((0.0, 0.0, 0.4), -0.5, (1, 0, 0), 1.0),  # on the axis
        ((0.0, 0.3, 0.4), -0.2, (0, 1, 0), 1.0),  # inside
    ],
)
def test_ball_and_capsule(centre, distance, outward, curvature):
    """Closed forms: ball against side and end of a capsule, centre inside and on the axis."""
    scene = two(rl.Sphere(0.25), rl.Capsule(0.5, 2.0), -np.array(centre))
    found, gap, normal, _ = nearest(scene)
    assert gap == pytest.approx(distance - 0.25, abs=1e-13)
    np.testing.assert_allclose(normal, -np.array(outward), atol=1e-12)
    assert found.curvature[0] == pytest.approx(4 + curvature)


def test_capsules_known():
    """Closed forms: crossing, meeting, end to end, end to side, side by side and coaxial."""
    rod = rl.Capsule(0.1, 2.0)
    along_x = rotations.aligning_z(np.array([1.0, 0, 0]))
    cases = [
        ((0.3, 0.25, 0.2), along_x, 0.05, (0, 1, 0), 1),  # crossing
        ((0.3, 0.0, 0.2), along_x, -0.2, None, 1),  # axes that meet: out across both
        ((0.0, 0.0, 2.5), (1, 0, 0, 0), 0.3, (0, 0, 1), 1),  # end to end
        ((1.5, 0.0, 0.3), along_x, 0.3, (1, 0, 0), 1),  # end to side
        ((0.3, 0.4, 2.0), (1, 0, 0, 0), 0.3, (0.6, 0.8, 0), 1),  # the ends are level
        ((0.3, 0.4, 0.5), (1, 0, 0, 0), 0.3, (0.6, 0.8, 0), 2),  # side by side
        ((0.0, 0.0, 0.5), (1, 0, 0, 0), -0.2, None, 1),  # one axis
    ]
    for arm, turn, known, direction, count in cases:
        scene = two(rod, rod, arm, turn_b=turn)
        found, gap, normal, _ = nearest(scene)
        assert len(found) == count
        np.testing.assert_allclose(gap, known, atol=1e-12)
        if direction is None:
            assert abs(normal @ rotations.matrix(scene.state.quaternion)[:, :, 2].T).max() < 1e-12
        else:
            np.testing.assert_allclose(normal, direction, atol=1e-12)
    beside = find_contacts(*pose(two(rod, rod, (0.3, 0.4, 0.5))), 1.0)
    np.testing.assert_allclose(beside.point[:, 2], [-0.5, 1.0], atol=1e-12)
    assert beside.feature.tolist() == [0, 2]


def pose(scene):
    return scene.bodies, scene.state


def test_nearly_parallel_capsules():
    """Property: the least gap is the separation at any small angle, with one contact or two."""
    rng = np.random.default_rng(6)
    rod = rl.Capsule(0.1, 2.0)
    counts = set()
    for angle in (1e-15, 1e-12, 1e-9, 1e-6, 5e-4, 2e-3):
        for _ in range(10):
            turn = from_rotation_vector(angle * rng.normal(size=3) * [1, 1, 0])
            scene = two(rod, rod, (*rng.uniform(0.15, 0.3, 2), rng.uniform(-1, 1)), turn_b=turn)
            found, gap, normal, _ = nearest(scene)
            counts.add(len(found))
            assert gap == pytest.approx(separations(scene, normal[None])[0], abs=1e-12)
    assert counts == {1, 2}


@pytest.mark.parametrize("tilt", [0.05, 0.2])
def test_corner_over_a_round_end_between_its_corners(tilt):
    """Closed form: a corner 1 cm above the end of a cylinder, beyond the square of four points
    of the rim."""
    low = np.array([[0, 0, 0], [-1, 0, tilt], [-1, -1, 2 * tilt], [0, -1, tilt]])
    tilted = rl.ConvexPolyhedron(np.concatenate([low, low + [0, 0, 1]]))
    along = 0.9 * np.sqrt(0.5)
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add(rl.Cylinder(1.0, 1.0), position=(0, 0, 0))
    scene.add(tilted, position=np.array([along, along, 0.51]) + tilted.centre)
    found = find_contacts(scene.bodies, scene.state, 0.1)
    assert found.gap.min() == pytest.approx(0.01, abs=1e-14)
    nearest = found.gap.argmin()
    np.testing.assert_allclose(found.point[nearest], [along, along, 0.505], atol=1e-14)


def largest_separation(scene, rng):
    """Reference twin: search over directions, a spray around the best ones, ever narrower."""
    best = rotations.normalized(rng.normal(size=(3000, 3)))
    width = 0.1
    for _ in range(30):
        best = best[np.argsort(-separations(scene, best))[:6]]
        spray = best[:, None] + width * rng.normal(size=(6, 40, 3))
        best = np.vstack([best, rotations.normalized(spray.reshape(-1, 3))])
        width *= 0.65
    return separations(scene, best).max()


@pytest.mark.parametrize("names", ["ellipsoid-ellipsoid", "ellipsoid-cylinder", "cylinder-box"])
def test_deep_overlap_of_curved_bodies(names):
    """Reference twin: bodies half inside one another overlap by the least way out, not by
    another: coal at one tolerance alone was wrong in one of ten, up to threefold."""
    rng = np.random.default_rng(7)

    def shape(name):
        sides = rng.uniform(0.3, 1.0, 3)
        if name == "ellipsoid":
            return rl.Ellipsoid(tuple(sides))
        return rl.Box(tuple(2 * sides)) if name == "box" else rl.Cylinder(sides[0], 2 * sides[1])

    deep = 0
    for _ in range(60):
        a, b = (shape(name) for name in names.split("-"))
        away = rotations.normalized(rng.normal(size=3))
        scene = two(a, b, 10 * away, *rng.normal(size=(2, 4)))
        arm = away * (10 - separations(scene, away[None])[0] - rng.uniform(0.3, 0.6))
        scene = two(a, b, arm, *scene.state.quaternion)
        gap = nearest(scene)[1]
        known = largest_separation(scene, rng)
        deep += known < -0.1
        # 1e-6 of the depth; the search itself stops short of corners, never beyond them
        assert gap >= known - 1e-6 * abs(known)
    assert deep > 30
