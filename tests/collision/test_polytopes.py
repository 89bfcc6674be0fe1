"""Boxes and polyhedra: exact separations, closest points, patches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision.polytope_table import as_polytope
from rigidlimit.collision.polytopes import polytope_polytope, small_enough
from rigidlimit.collision.search import find_contacts
from tests.problems import from_rotation_vector

from . import one_pair
from .one_pair import two

pytestmark = pytest.mark.filterwarnings("ignore:.*faces lie within:rigidlimit.errors.SceneWarning")

ROUNDING = 4e-12
"""Bodies of size 1: a face goes before edges that separate 1e-12 sizes more; the rest rounds."""


def random_shape(rng):
    if rng.random() < 0.5:
        return rl.Box(tuple(rng.uniform(0.2, 1.0, 3)))
    return rl.ConvexPolyhedron(rng.normal(size=(rng.integers(4, 15), 3)) * rng.uniform(0.1, 0.5, 3))


def random_pair(rng, shapes=None):
    """Two bodies at random, of new shapes or of two of ``shapes``."""
    arm = rotations.normalized(rng.normal(size=3)) * rng.choice([0.1, 0.5, 0.9, 2.0])
    if shapes is None:
        a, b = random_shape(rng), random_shape(rng)
    else:
        a, b = (shapes[i] for i in rng.integers(len(shapes), size=2))
    return two(a, b, arm, *rng.normal(size=(2, 4)))


def find(scene, reach=10.0):
    found = find_contacts(scene.bodies, scene.state, reach)
    return found, found.gap.argmin()


def corners(scene, body):
    turn = rotations.matrix(scene.state.quaternion[body])
    return as_polytope(scene.bodies.shape(body)).vertices @ turn.T + scene.state.position[body]


def outside(scene, body, point):
    """Distance of a point beyond the furthest face of a polytope; <= 0 inside."""
    shape = as_polytope(scene.bodies.shape(body))
    local = rotations.matrix(scene.state.quaternion[body]).T @ (point - scene.state.position[body])
    return (shape.normals @ local - (shape.normals @ shape.vertices.T).max(axis=1)).max()


def separation(scene, normal):
    return (corners(scene, 1) @ normal).min() - (corners(scene, 0) @ normal).max()


def certify(scene, rounding=ROUNDING):
    """The least gap, with proof that it is the signed distance.

    Apart: the bodies hold two points as near as the gap, and a plane separates them by it.
    Overlapping: no face of the hull of all differences of corners is nearer to the origin.
    """
    found, k = find(scene)
    gap, normal, point = found.gap[k], found.normal[k], found.point[k]
    assert separation(scene, normal) == pytest.approx(gap, abs=rounding)
    for body, sign in ((0, -0.5), (1, 0.5)):
        assert outside(scene, body, point + sign * gap * normal) < rounding
    if gap <= 0:
        hull = ConvexHull((corners(scene, 1)[:, None] - corners(scene, 0)).reshape(-1, 3))
        assert hull.equations[:, 3].max() == pytest.approx(gap, abs=rounding)
    return gap


def test_signed_distance_is_proved():
    """Reference twin and property: 400 random pairs of 100 shapes, apart and overlapping."""
    rng = np.random.default_rng(0)
    shapes = [random_shape(rng) for _ in range(100)]  # a hull each
    gaps = np.array([certify(random_pair(rng, shapes)) for _ in range(400)])
    assert (gaps > 0).sum() > 120 and (gaps < 0).sum() > 120


def test_against_coal():
    """Peer: coal's signed distance for 200 random pairs of 60 shapes."""
    rng = np.random.default_rng(1)
    shapes = [random_shape(rng) for _ in range(60)]
    for _ in range(200):
        scene = random_pair(rng, shapes)
        found, k = find(scene)
        turns = rotations.matrix(scene.state.quaternion)
        peer = one_pair.closest(scene.bodies, scene.state, 0, 1, *turns)[0]
        size = scene.bodies.bounding_radius.sum()
        assert found.gap[k] >= peer - 1e-9 * size  # coal's tolerance
        if found.gap[k] > 0:
            assert found.gap[k] == pytest.approx(peer, abs=1e-9 * size)


@pytest.mark.parametrize("tilt", [0.0, 1e-13, 1e-9, 1e-5, 1e-2])
def test_patches_against_the_slow_twin(tilt):
    """Reference twin: numbers, points and gaps of facing faces cut by the uncompiled clipping."""
    rng = np.random.default_rng(2)
    compared = 0
    prism = np.array([[np.cos(t), np.sin(t), z] for t in np.arange(5) * 1.2566 for z in (0, 1)])
    for shape in (rl.Box((1, 0.8, 0.6)), rl.ConvexPolyhedron(prism * 0.5)):
        low = -as_polytope(shape).vertices[:, 2].min()
        for _ in range(10):
            spin = rotations.about_z(rng.uniform(0, 6))
            lean = from_rotation_vector(tilt * rng.normal(size=3) * [1, 1, 0])
            arm = (*rng.uniform(-0.5, 0.5, 2), 0.3 + low + 0.5 * tilt)
            scene = two(rl.Box((1, 0.8, 0.6)), shape, arm, turn_b=rotations.multiply(lean, spin))
            found = find_contacts(scene.bodies, scene.state, 0.1)
            twin = one_pair.convex_pair(scene.bodies, scene.state, 0, 1, 0.2)
            order = np.argsort(twin.feature)
            near = order[twin.gap[order] <= 0.2]
            assert len(found) >= 1
            if len(near) == 1:  # the others: test_a_face_nearly_across_the_normal
                found = found.select(found.gap == found.gap.min())
            else:
                np.testing.assert_array_equal(found.feature, twin.feature[near])
            # coal's normal where no face is in contact, else rounding
            np.testing.assert_allclose(found.gap, twin.gap[near], atol=1e-9)
            np.testing.assert_allclose(found.normal, twin.normal[near], atol=1e-6)
            np.testing.assert_allclose(found.point, twin.point[near], atol=1e-6)
            compared += len(found)
    assert compared > 60


def leaning_over_an_edge(rng, tilt, **options):
    """A box that leans by ``tilt`` about a level axis on a held one, hanging over one or two of its
    edges or none, its nearest points touching."""
    scene = rl.Scene(**options)
    lower, upper = rng.uniform(0.2, 0.5, 3), rng.uniform(0.1, 0.3, 3)
    low, high = rl.Box(tuple(lower)), rl.Box(tuple(upper))
    scene.add(low, position=(0, 0, -0.5 * lower[2]), fixed=True)
    way = rng.uniform(0, 6)
    lean = from_rotation_vector(tilt * np.array([np.cos(way), np.sin(way), 0.0]))
    turn = rotations.multiply(lean, rotations.about_z(rng.uniform(0, 6)))
    place = np.array([*(0.45 * lower[:2] * rng.choice([0, 1, -1], 2)), 0.5 * upper[2] + 0.1])
    for _ in range(2):  # the gap is along the normal, not quite upright
        scene_now = rl.Scene()
        scene_now.add(low, position=(0, 0, -0.5 * lower[2]), fixed=True)
        scene_now.add(high, position=place, orientation=turn)
        found, i = find(scene_now)
        place = place - [0, 0, found.gap[i] / found.normal[i, 2]]
    scene.add(high, position=place, orientation=turn)
    return scene


@pytest.mark.parametrize("tilt", [3e-3, 2e-2, 0.1])
def test_a_face_nearly_across_the_normal(tilt):
    """Property: beside the place where edges cross there are contacts at the other corners of the
    patch, each of a point of one body over a face of the other, as far off as it says; the nearest
    contact is that of the edges, and all have numbers of their own."""
    rng, beside = np.random.default_rng(8), 0
    for _ in range(60):
        scene = leaning_over_an_edge(rng, tilt)
        found = find_contacts(scene.bodies, scene.state, 0.1)
        assert len(np.unique(found.feature)) == len(found)
        nearest = found.gap.argmin()
        if len(np.unique(np.round(found.normal, 9), axis=0)) == 1:
            continue
        beside += 1
        assert separation(scene, found.normal[nearest]) == pytest.approx(
            found.gap[nearest], abs=1e-9
        )
        for k in np.delete(np.arange(len(found)), nearest):
            gap, half = found.gap[k], 0.5 * found.gap[k] * found.normal[k]
            ends = found.point[k] - half, found.point[k] + half
            of = [
                np.abs(as_polytope(scene.bodies.shape(i)).normals @ turn.T @ found.normal[k]).max()
                for i, turn in enumerate(rotations.matrix(scene.state.quaternion))
            ]
            assert max(of) == pytest.approx(1, abs=1e-12) and gap >= found.gap[nearest]
            # ends lie on the bodies' surfaces, ROUNDING for bodies of size 1
            assert max(abs(outside(scene, i, ends[i])) for i in range(2)) < ROUNDING
    assert beside > 5


@pytest.mark.parametrize("tilt", [1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 7e-3, 2e-2, 0.1])
def test_no_corner_overlaps_but_by_second_order(tilt):
    """Property: a box that hangs over an edge and leans falls by some of its tilt in a step; none
    of it dips below the other then by more than the square of its turn (up to 0.9 mm)."""
    rng = np.random.default_rng(9)
    for _ in range(25):
        sim = rl.Simulation(leaning_over_an_edge(rng, tilt, dt=1e-2))
        for _ in range(3):
            sim.step(compatible=False)
            turn = np.linalg.norm(sim.state.velocity[1, 3:]) * sim.dt
            depth = -min(0.0, find(sim)[0].gap.min(initial=0.0))
            # the farthest points of both are 0.6 apart; 1e-9: what step 1 leaves
            assert depth <= 0.6 * turn**2 + 1e-9


@pytest.mark.parametrize("tilt", [1e-5, -4e-4, 1.3e-3])
@pytest.mark.parametrize("gap", [6e-4, 0.0, -1e-5])
def test_facing_faces_of_unlike_size_do_not_depend_on_the_order(tilt, gap):
    """Closed form: a small box before a large face, a little askew, touches it with a corner, so
    the normal is the face's, whichever body is first (it was the first one's, off by the tilt)."""
    reach = 0.05 * (np.cos(tilt) + abs(np.sin(tilt)))
    bodies = (
        (rl.Box((1, 0.2, 0.1)), (0, 0, 0), 0.0),
        (rl.Box((0.1, 0.1, 0.1)), (-0.3, 0, 0.05 + reach + gap), tilt),
    )
    found = []
    for order in ((0, 1), (1, 0)):
        scene = rl.Scene()
        for i in order:
            shape, place, turn = bodies[i]
            turn = (np.cos(turn / 2), 0, np.sin(turn / 2), 0)
            scene.add(shape, position=place, orientation=turn)
        contacts = find_contacts(scene.bodies, scene.state, 0.01)
        sign = 1.0 if order == (0, 1) else -1.0
        np.testing.assert_allclose(sign * contacts.normal, [[0, 0, 1]] * 4, atol=1e-14)
        found.append(np.sort(contacts.gap))
    np.testing.assert_allclose(*found, atol=1e-14)
    assert found[0][0] == pytest.approx(gap, abs=1e-14)


CUBE = rl.Box((1, 1, 1))
ON_CORNER = rotations.aligning_z(np.ones(3) / np.sqrt(3))  # a diagonal upright


@pytest.mark.parametrize(
    "arm, turn, gap, normal",
    [
        ((1.2, 1.3, 1.6), (1, 0, 0, 0), 0.7, (2 / 7, 3 / 7, 6 / 7)),  # corner to corner
        ((0.3, 1.3, 1.4), (1, 0, 0, 0), 0.5, (0, 0.6, 0.8)),  # edges side by side
        ((0.3, 0.2, 1.4), (1, 0, 0, 0), 0.4, (0, 0, 1)),  # faces
        ((0.3, 0.2, 0.9), (1, 0, 0, 0), -0.1, (0, 0, 1)),  # faces, overlapping
        ((0.2, 0.1, 0.6 + np.sqrt(0.75)), "corner", 0.1, (0, 0, 1)),  # corner over a face
        ((0.2, 0.53, 0.54 + np.sqrt(0.75)), "corner", 0.05, (0, 0.6, 0.8)),  # corner off an edge
        ((0.56, 0.52, 0.59 + np.sqrt(0.75)), "corner", 0.11, (6 / 11, 2 / 11, 9 / 11)),
        ((0.0, 0.5 + np.sqrt(0.5) + 0.03, 0.54), "cross", None, None),
    ],
)
def test_known_boxes(arm, turn, gap, normal):
    """Closed forms: which parts of two cubes are nearest, and how near."""
    if isinstance(turn, str) and turn == "cross":
        # edges along z of one and along x of the other, at right angles
        one = rotations.about_z(np.pi / 4)
        other = from_rotation_vector(np.array([np.pi / 4, 0, 0]))
        scene = two(CUBE, CUBE, (0.1, 2 * np.sqrt(0.5) + 0.05, 0.2), one, other)
        gap, normal = 0.05, (0, 1, 0)
    else:
        if isinstance(turn, str):
            turn = rotations.multiply(np.array([0.0, 1, 0, 0]), conjugate(ON_CORNER))
        scene = two(CUBE, CUBE, arm, turn_b=turn)
    found, k = find(scene)
    assert found.gap[k] == pytest.approx(gap, abs=1e-12)
    np.testing.assert_allclose(found.normal[k], normal, atol=1e-11)  # 1e-12 over the gap
    certify(scene)


def conjugate(q):
    return q * [1, -1, -1, -1]


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_swap_and_rigid_motion(seed):
    """Properties: the bodies' order and a motion of both change neither gap nor separation."""
    rng = np.random.default_rng(seed)
    scene = random_pair(rng)
    a, b = scene.bodies.shapes
    here, k = find(scene)
    qa, qb = scene.state.quaternion
    other = two(b, a, -scene.state.position[1], qb, qa)
    swapped, j = find(other)
    assert swapped.gap[j] == pytest.approx(here.gap[k], abs=ROUNDING)
    # where a face across the axis to 1e-6 of the cosine takes over, a corner outside its outline
    # may lie deeper by that angle times the bodies' size
    lower = here.gap[k] - separation(scene, -swapped.normal[j])
    assert -ROUNDING < lower < 2e-3
    q, shift = rotations.normalized(rng.normal(size=4)), rng.normal(size=3)
    turn = rotations.matrix(q)
    there = scene.state.moved(
        position=scene.state.position @ turn.T + shift,
        quaternion=rotations.multiply(q, scene.state.quaternion),
    )
    found = find_contacts(scene.bodies, there, 10.0)
    # numbers too: nothing is decided by the world's axes
    np.testing.assert_array_equal(found.feature, here.feature)
    np.testing.assert_allclose(found.gap, here.gap, atol=ROUNDING)
    np.testing.assert_allclose(found.normal @ turn, here.normal, atol=1e-9)  # line of a short gap


@pytest.mark.parametrize("noise", [1e-12, 1e-10, 1e-8, 1e-5])
def test_nearly_flat_faces(noise):
    """Peer and reference twin: rough cubes, whose faces fall into slivers."""
    rng = np.random.default_rng(5)
    grid = np.array(np.meshgrid(*[[-0.5, 0.0, 0.5]] * 3)).reshape(3, -1).T
    for k in range(25):
        shapes = [rl.ConvexPolyhedron(grid + noise * rng.normal(size=(27, 3))) for _ in range(2)]
        turns = rng.normal(size=(2, 4))
        if k % 2:  # face to face
            turns[1] = turns[0] + 1e-6 * rng.normal(size=4)
        arm = rotations.normalized(rng.normal(size=3)) * rng.choice([0.5, 1.05, 1.6])
        scene = two(*shapes, arm, *turns)
        found, i = find(scene)
        if found.gap[i] > 0:
            turn = rotations.matrix(scene.state.quaternion)
            known = one_pair.closest(scene.bodies, scene.state, 0, 1, *turn)[0]
        else:
            hull = ConvexHull((corners(scene, 1)[:, None] - corners(scene, 0)).reshape(-1, 3))
            known = hull.equations[:, 3].max()
        # polyhedra take faces within 1e-9 of one plane as one, and their edges do not meet there
        assert found.gap[i] == pytest.approx(known, abs=1e-8)
        for body, sign in ((0, -0.5), (1, 0.5)):
            # a sliver's normal and the face's differ up to 1e-6 over a gap of 1
            assert (
                outside(scene, body, found.point[i] + sign * found.gap[i] * found.normal[i]) < 1e-6
            )


def test_touching_edges():
    """Closed form: bricks that overlap along one edge by more than nothing have a contact at either
    end of it; bricks that only touch there have none (see test_widthless)."""
    over = 1e-7
    found, _ = find(two(rl.Box((2, 1, 1)), rl.Box((2, 1, 1)), (1.0, 1 - over, 1 - over)), 1e-3)
    np.testing.assert_allclose(found.gap, -over, atol=1e-15)
    # the contacts spread over the overlap's width, or lie at one side of it
    ends = np.unique(found.point[:, 0].round(9))
    np.testing.assert_allclose(ends, [0, 1], atol=1e-9)
    np.testing.assert_allclose(found.point[:, 1:], 0.5, atol=over)
    touching = two(rl.Box((2, 1, 1)), rl.Box((2, 1, 1)), (1.0, 1.0, 1.0))
    assert len(find_contacts(touching.bodies, touching.state, 1e-3)) == 0


@pytest.mark.parametrize("tilt", np.linspace(-4e-12, 4e-12, 9))
def test_an_edge_within_rounding_of_a_cut_stays_on_the_bodies(tilt):
    """Property: two boxes stand on one plane to 1e-12, an upright edge of one near the middle of a
    side of the other: contacts lie on both (the end of the edge was cut off up to a box's size
    beyond it, half a box deep, and thrown off at 20 m/s)."""
    turned = 0.63
    normal = np.array([np.cos(turned), np.sin(turned), 0.0])
    turn_a = rotations.multiply(
        from_rotation_vector(np.array([-tilt * normal[1], tilt * normal[0], 0.0])[None]),
        rotations.about_z(turned)[None],
    )[0]
    corner = np.array([-0.5, -0.5, 0.0])
    for along in np.linspace(-0.3, 0.3, 13):
        at = (0.5 + 1e-7) * normal + along * np.array([-normal[1], normal[0], 0.0]) - corner
        scene = two(rl.Box((1, 1, 1)), rl.Box((1, 1, 1.1)), at + [0, 0, 0.05], turn_a)
        contacts, _ = find(scene, reach=0.01)
        assert len(contacts) == 2
        # the gap of the edge, the tilt, and twice the margin of a cut
        np.testing.assert_allclose(contacts.gap, 1e-7, atol=1e-11)
        for point in contacts.point:
            assert max(outside(scene, body, point) for body in (0, 1)) < 1e-7


def test_many_faces_go_to_coal():
    """Cross-solver: two fine meshes, beyond the limit of edges, have the kernel's gap by coal."""
    rng = np.random.default_rng(8)
    fine = rl.ConvexPolyhedron(0.5 * rotations.normalized(rng.normal(size=(150, 3))))
    scene = two(fine, fine, (0.9, 0.4, 0.3), turn_b=rng.normal(size=4))
    one, other = np.array([0]), np.array([1])
    assert not small_enough(scene.bodies, one, other).any()
    found, k = find(scene)
    direct = polytope_polytope(scene.bodies, scene.state, one, other, np.array([20.0]))
    assert found.gap[k] == pytest.approx(direct.gap.min(), abs=1e-9)  # coal's tolerance


def test_short_sides_of_a_common_face_keep_their_corners():
    """Property: two prisms share a face, one side of which is 2e-4 of its size: what 1e-14 of their
    positions changes is no contact. (Corners counted as inside up to 1e-12 of the side's length:
    rounding took one of six contacts away and 1 % of the forces at rest.)"""
    rng = np.random.default_rng(4)
    angle = np.array([0.0, 2e-4, 1.3, 2.2, 3.9, 5.1])
    face = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    upper = rl.ConvexPolyhedron(np.vstack([face, face * [0.8, 0.8, 0] + [0, 0, 0.6]]))
    lower = rl.ConvexPolyhedron(np.vstack([face, face * [0.7, 0.7, 0] - [0, 0, 0.8]]))
    for _ in range(100):
        turn = rotations.normalized(rng.normal(size=4))
        axes = rotations.matrix(turn)
        arm = axes @ (upper.centre - lower.centre) + 1e-14 * rng.normal(size=3)
        found, _ = find(two(lower, upper, arm, turn, turn), reach=1e-6)
        assert len(found) == 6
