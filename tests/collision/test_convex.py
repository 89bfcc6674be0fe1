"""Curved solids and fine meshes, all pairs at once: against one pair at a time, and by proofs."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision import coal_distance, convex
from rigidlimit.collision.search import find_contacts
from tests.problems import from_rotation_vector

from . import one_pair
from .one_pair_features import support_height

ALONG = [rotations.aligning_z(np.eye(3)[k]) for k in range(3)]


def shape(name, rng):
    a, b, c = rng.uniform(0.3, 0.9, 3)
    if name.endswith("mesh"):  # 354 edges, or 894, more than convex.EDGES
        corners = 300 if name == "fine mesh" else 120
        return rl.ConvexPolyhedron(rotations.normalized(rng.normal(size=(corners, 3))) * 0.5)
    return {
        "box": rl.Box((a, b, c)),
        "polyhedron": rl.ConvexPolyhedron(rng.normal(size=(12, 3)) * 0.4),
        "capsule": rl.Capsule(0.5 * a, b),
        "cylinder": rl.Cylinder(0.5 * a, b),
        "ellipsoid": rl.Ellipsoid((a, b, c)),
        "sphere": rl.Sphere(a),
    }[name]


def drawn(names, rng):
    """Four of each shape."""
    return [[shape(name, rng) for _ in range(4)] for name in names.split("-")]


def many(names, rng, *, count, gap, aligned=False, shapes=None):
    """(bodies, state, a, b): pairs far from each other, each ``gap`` apart.

    aligned: axes along x, y or z within 1e-9, 1e-5 or 5e-4 rad, so that faces and lines meet.
    shapes: from ``drawn``; meshes take longer to make than to search.
    """
    scene = rl.Scene(gravity=(0, 0, 0))
    shapes = shapes or drawn(names, rng)
    for k in range(count):
        turns, away = rng.normal(size=(2, 4)), rotations.normalized(rng.normal(size=3))
        if aligned:
            away = np.eye(3)[k % 3] + 0.1 * rng.uniform(-1, 1, 3)
            tilts = from_rotation_vector(
                rng.choice([0, 1e-9, 1e-5, 5e-4], size=(2, 1)) * rng.normal(size=(2, 3))
            )
            turns = [rotations.multiply(t, ALONG[rng.integers(3)]) for t in tilts]
        for side in range(2):
            at = np.array([8.0 * k, 0, 0]) + 2.5 * side * away
            scene.add(shapes[side][rng.integers(4)], position=at, orientation=turns[side])
    bodies, state = scene.bodies, scene.state
    a, b = np.arange(0, 2 * count, 2), np.arange(1, 2 * count, 2)
    turn = rotations.matrix(state.quaternion)
    for i, j in zip(a, b, strict=True):
        for _ in range(8):  # along the normal the gap shrinks by the way moved
            known, normal, *_ = one_pair.closest(bodies, state, i, j, turn[i], turn[j])
            state.position[j] -= (known - gap) * normal
            if abs(known - gap) < 1e-12:
                break
    return bodies, state, a, b


def separations(bodies, state, a, b, normal):
    """Separation (..., pairs) of pair k along normals [..., k]."""
    turn, out = rotations.matrix(state.quaternion), np.empty(normal.shape[:-1])
    for k, (i, j) in enumerate(zip(a, b, strict=True)):
        n = normal[..., k, :].reshape(-1, 3)
        heights = support_height(bodies.shape(i), n @ turn[i])
        heights = heights + support_height(bodies.shape(j), -n @ turn[j])
        along = n @ (state.position[j] - state.position[i]) - heights
        out[..., k] = along.reshape(out.shape[:-1])
    return out


FAMILIES = [
    "box-capsule",
    "polyhedron-capsule",
    "box-cylinder",
    "capsule-cylinder",
    "cylinder-cylinder",
    "polyhedron-ellipsoid",
    "cylinder-ellipsoid",
    "capsule-ellipsoid",
    "ellipsoid-ellipsoid",
    "sphere-ellipsoid",
    "mesh-mesh",
    "mesh-capsule",
    "mesh-cylinder",
    "fine mesh-capsule",
]


@pytest.mark.parametrize("gap", [0.03, 0.0, -0.15, 1e-3], ids=["near", "touching", "deep", "flat"])
@pytest.mark.parametrize("names", FAMILIES)
def test_against_one_pair_at_a_time(names, gap):
    """Reference twin: numbers of contacts the same; gaps, normals, points as far as coal's are."""
    rng = np.random.default_rng(len(names) + round(1e4 * abs(gap)))
    bodies, state, a, b = many(names, rng, count=24, gap=gap, aligned=gap == 1e-3)
    reach = np.full(len(a), 0.1)
    found = convex.convex_pairs(bodies, state, a, b, reach)
    assert set(found.a) == set(a)
    for i, j in zip(a, b, strict=True):
        twin = one_pair.convex_pair(bodies, state, i, j, 0.1)
        here, there = np.flatnonzero(found.a == i), np.argsort(twin.feature)
        here = here[np.argsort(found.feature[here])]
        # coal's answers scatter: apart by the 1e-9 of the pair's size that is asked for; touching
        # by 1e-4 in the normal, which is 1e-8 in the separation; overlapping by 1e-6, its loosest
        # tolerance that is tried
        close = dict(atol=1e-6 if gap < 0 else 3e-8 if gap == 0 else 3e-9)
        # corners that touch edges and rims have many normals
        many_normals = gap == 0 and not names.endswith(("capsule", "ellipsoid"))
        if many_normals and np.abs(found.normal[here[0]] - twin.normal[there[0]]).max() > 1e-3:
            np.testing.assert_allclose(found.gap[here].min(), twin.gap.min(), **close)
            continue
        np.testing.assert_array_equal(found.feature[here], twin.feature[there])
        np.testing.assert_allclose(found.gap[here], twin.gap[there], **close)
        if gap > 0:
            # square root of coal's tolerance, over a gap of 1e-3
            np.testing.assert_allclose(found.normal[here], twin.normal[there], atol=1e-4)
            np.testing.assert_allclose(found.point[here], twin.point[there], atol=1e-4)


@pytest.mark.parametrize("names", FAMILIES)
def test_separation_is_the_largest(names):
    """Property: the least gap is the separation along its normal, and no direction near it
    separates more, be the bodies apart, touching or overlapping."""
    rng = np.random.default_rng(1)
    shapes = drawn(names, rng)
    for gap in (0.05, 1e-6, 0.0, -1e-6, -0.01):
        bodies, state, a, b = many(names, rng, count=12, gap=gap, shapes=shapes)
        found = convex.convex_pairs(bodies, state, a, b, np.full(len(a), 1.0))
        order = np.lexsort((found.gap, found.a))
        nearest = order[np.searchsorted(found.a[order], a)]
        least, normal = found.gap[nearest], found.normal[nearest]
        here = separations(bodies, state, a, b, normal)
        # sums of size one; the edge of a mesh beside a face takes the face's normal, up to
        # 1.4e-3 rad off, over faces of 0.2, where that has the same gap
        np.testing.assert_allclose(least, here, atol=3e-4 if names == "mesh-mesh" else 1e-13)
        for width in (1e-4, 1e-2, 0.3):
            other = rotations.normalized(normal + width * rng.normal(size=(20, *normal.shape)))
            more = separations(bodies, state, a, b, other) - least
            assert more.max() <= 1e-13


@pytest.mark.parametrize("names", FAMILIES)
def test_pairs_out_of_reach_are_not_searched(names, monkeypatch):
    """Property: of pairs at five times their reach nearly all go by bounds alone, and with the
    reach at the gap's two sides they are found or not."""
    rng = np.random.default_rng(2)
    bodies, state, a, b = many(names, rng, count=40, gap=0.05)
    for reach, count in ((0.05 - 1e-6, 0), (0.05 + 1e-6, len(a))):
        found = convex.convex_pairs(bodies, state, a, b, np.full(len(a), reach))
        assert len(set(found.a)) == count
    searched = []

    def spy(bodies, pairs, *others):
        searched.extend(pairs.shape_a)
        return original(bodies, pairs, *others)

    original = convex._nearest
    monkeypatch.setattr(convex, "_nearest", spy)
    assert len(convex.convex_pairs(bodies, state, a, b, np.full(len(a), 0.01)).a) == 0
    assert len(searched) <= 4  # Gilbert's iteration is slow for corners at one another


@pytest.mark.parametrize("size", [1e-6, 1e5])
def test_any_unit_of_length(size):
    """Property: a scene in other units has the same contacts, labels and all."""
    rng = np.random.default_rng(3)
    kinds = [rl.Cylinder(0.3, 0.8), rl.Ellipsoid((0.5, 0.3, 0.4)), rl.Capsule(0.2, 0.7)]
    scaled = [
        rl.Cylinder(0.3 * size, 0.8 * size),
        rl.Ellipsoid((0.5 * size, 0.3 * size, 0.4 * size)),
        rl.Capsule(0.2 * size, 0.7 * size),
    ]
    one, other = rl.Scene(gravity=(0, 0, 0)), rl.Scene(gravity=(0, 0, 0))
    for k in range(30):
        at, turn = rng.uniform(0, 1.6, 3), rng.normal(size=4)
        one.add(kinds[k % 3], position=at, orientation=turn)
        other.add(scaled[k % 3], position=size * at, orientation=turn)
    here = find_contacts(one.bodies, one.state, 0.05)
    there = find_contacts(other.bodies, other.state, 0.05 * size)
    np.testing.assert_array_equal(here.key, there.key)
    assert len(here) > 50
    np.testing.assert_allclose(here.gap, there.gap / size, atol=1e-13)  # rounding of size one
    np.testing.assert_allclose(here.normal, there.normal, atol=1e-11)  # over the least radius


def test_capsule_through_a_box():
    """Closed forms: an axis that pierces a box leaves it by the nearest face or across an edge."""
    box, rod = rl.Box((2, 2, 2)), rl.Capsule(0.1, 6.0)
    across_x = rotations.aligning_z(np.array([1.0, 0, 0]))
    diagonal = rotations.aligning_z(np.array([1.0, 1.0, 0]) / np.sqrt(2))
    half = np.sqrt(0.5)
    for arm, turn, gap, normal in (
        ((0.0, 0.0, 0.7), across_x, -0.4, (0, 0, 1)),
        ((0.0, 0.6, -0.3), across_x, -0.5, (0, 1, 0)),
        ((0.9, -0.9, 0.3), diagonal, 1.8 * half - 2 * half - 0.1, (half, -half, 0)),
        ((1.2, -1.2, 0.3), diagonal, 2.4 * half - 2 * half - 0.1, (half, -half, 0)),  # past it
    ):
        scene = rl.Scene(gravity=(0, 0, 0))
        scene.add(box, position=(0, 0, 0))
        scene.add(rod, position=arm, orientation=turn)
        found = find_contacts(scene.bodies, scene.state, 1.0)
        k = found.gap.argmin()
        assert found.gap[k] == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(found.normal[k], normal, atol=1e-14)


def test_ellipsoids_without_coal(monkeypatch):
    """Property: ellipsoids apart, touching or a little inside one another never need coal."""
    monkeypatch.setattr(coal_distance, "_calls", None)
    rng = np.random.default_rng(4)
    scene = rl.Scene(gravity=(0, 0, 0))
    for _ in range(400):
        scene.add(
            rl.Ellipsoid(tuple(rng.uniform(0.3, 0.6, 3))),
            position=rng.uniform(0, 7, 3),
            orientation=rng.normal(size=4),
        )
    bodies, state = scene.bodies, scene.state
    near = np.linalg.norm(state.position[:, None] - state.position, axis=2)
    a, b = np.nonzero(np.triu(near > 0.85, 1) & (near < 1.3))
    found = convex.convex_pairs(bodies, state, a, b, np.full(len(a), 0.1))
    assert (found.gap < 0).sum() > 50 and (found.gap > 0).sum() > 50
    here = separations(bodies, state, found.a, found.b, found.normal)
    np.testing.assert_allclose(found.gap, here, atol=1e-14)
    other = rotations.normalized(rng.normal(size=(100, *found.normal.shape)))
    assert (separations(bodies, state, found.a, found.b, other) <= found.gap + 1e-14).all()


@pytest.mark.parametrize("arm", [(0.3, 0, 0), (0.3, 0.1, 0.01)])
def test_flat_ellipsoids_leave_by_the_short_way(arm):
    """Closed form: two lentils of thickness 0.2 side by side and deep in one another: Newton from
    the line of centres stops at the long way out along it, which the radii of curvature do not
    prove; the short way is up, of 0.2 less the height between them, or less."""
    scene = rl.Scene(gravity=(0, 0, 0))
    for at in ((0, 0, 0), arm):
        scene.add(rl.Ellipsoid((0.6, 0.6, 0.1)), position=at)
    found = find_contacts(scene.bodies, scene.state, 0.0)
    assert -0.2 + arm[2] <= found.gap[0] < -0.15
    assert abs(found.normal[0, 2]) > 0.9


def test_labels_stay_while_bodies_move_a_little():
    """Property: numbers of contacts are the same after small moves, for faces on faces as well."""
    rng = np.random.default_rng(5)
    for names in ("box-cylinder", "cylinder-cylinder", "box-capsule", "mesh-capsule"):
        bodies, state, a, b = many(names, rng, count=20, gap=1e-3)
        reach = np.full(len(a), 0.01)
        here = convex.convex_pairs(bodies, state, a, b, reach)
        for _ in range(3):
            moved = state.moved(
                position=state.position + 1e-8 * rng.normal(size=state.position.shape),
                quaternion=rotations.multiply(
                    from_rotation_vector(1e-8 * rng.normal(size=(len(bodies), 3))), state.quaternion
                ),
            )
            there = convex.convex_pairs(bodies, moved, a, b, 1.001 * reach)
            keys = set(zip(there.a.tolist(), there.feature.tolist(), strict=True))
            assert set(zip(here.a.tolist(), here.feature.tolist(), strict=True)) <= keys


def test_bodies_with_one_centre_have_a_normal():
    """Property: finite contacts, not an error, where the line of centres has no direction."""
    for names in FAMILIES:
        rng = np.random.default_rng(6)
        scene = rl.Scene(gravity=(0, 0, 0))
        for name in names.split("-"):
            scene.add(shape(name, rng), position=(0, 0, 0), orientation=rng.normal(size=4))
        found = find_contacts(scene.bodies, scene.state, 0.0)
        assert len(found) and np.isfinite(found.gap).all() and found.gap.min() < 0


@pytest.mark.parametrize("pipe", [rl.Capsule(0.1, 0.6), rl.Cylinder(0.1, 0.6)])
def test_pipe_on_rails(pipe):
    """Closed form: a pipe along the edges of two boxes touches each at the ends of its side, whose
    forces are equal, and stays at rest."""
    scene = rl.Scene(dt=2e-3)
    for y in (-0.05, 0.15):
        scene.add(rl.Box((1, 0.1, 0.1)), position=(0, y, -0.05), fixed=True)
    along = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    height = np.sqrt(0.1**2 - 0.05**2)
    scene.add(pipe, position=(0.013, 0.05, height), orientation=along, mass=1.0)
    simulation = rl.Simulation(scene)
    for _ in range(100):
        result = simulation.step()
        ends = np.sort(result.contacts.point[result.closed][:, 0])
        # coordinates of size one after a hundred steps
        np.testing.assert_allclose(ends, [-0.287, -0.287, 0.313, 0.313], atol=1e-7)
        # tolerance of both steps
        np.testing.assert_allclose(result.force[result.closed], result.force.max(), rtol=1e-6)
    assert np.abs(simulation.state.velocity).max() < 1e-7


@pytest.mark.parametrize("z", [0.95, 0.9, 0.899])
def test_curvature_of_an_ellipsoid_deep_in_a_face(z):
    """Closed form: that of the pole, wherever the middle of the overlap lies, its centre too."""
    scene = rl.Scene()
    scene.add(rl.Box((2, 2, 2)), position=(0, 0, 0), fixed=True)
    scene.add(rl.Ellipsoid((0.2, 0.2, 0.1)), position=(0, 0, z))
    found = find_contacts(scene.bodies, scene.state, 0.01)
    assert found.gap == pytest.approx(z - 1.1, abs=1e-12)
    assert found.curvature == pytest.approx(0.1 / 0.2**2, rel=1e-9)


STOOL, LYING = rl.Cylinder(0.1, 0.1), (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
RIMS = {
    "over the edge of a box": (rl.Box((0.3, 0.25, 0.1)), STOOL, (1, 0, 0, 0), 0.05),
    "on a wider one": (rl.Cylinder(0.12, 0.1), STOOL, (1, 0, 0, 0), 0.05),
    "on a longer one": (rl.Cylinder(0.1, 0.3), STOOL, (1, 0, 0, 0), 0.05),
    "under one that lies": (STOOL, rl.Cylinder(0.02, 0.3), LYING, 0.02),
}


@pytest.mark.parametrize(("under", "over", "turn", "height"), RIMS.values(), ids=RIMS)
def test_points_of_a_rim_do_not_depend_on_numbers(under, over, turn, height):
    """Property: whichever body comes first, the ends of cylinders bear on the same points."""
    half = 0.5 * (under.size[2] if isinstance(under, rl.Box) else under.length)
    turned = rotations.about_z(0.3)
    bodies = [
        (under, dict(position=(0, 0, -half), orientation=turned)),
        (over, dict(position=(0.07, 0.01, height), orientation=turn)),
    ]
    found = []
    for order in (1, -1):
        scene = rl.Scene()
        for shape, where in bodies[::order]:
            scene.add(shape, **where)
        points = find_contacts(scene.bodies, scene.state, 1e-3).point
        found.append(points[np.lexsort(points.round(9).T)])
    # places of 0.1 m, rounded
    np.testing.assert_allclose(*found, atol=1e-12)
    assert len(found[0]) >= 2
