"""Contacts do not depend on which body comes first, nor do the forces of a step."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision import find_contacts
from tests.problems import from_rotation_vector

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")

PRISM = rl.ConvexPolyhedron([[x, y, z] for x in (-1, 1) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
EQUAL = {
    "boxes": (rl.Box((2.0, 1.0, 1.0)),) * 2,
    "polyhedra": (PRISM,) * 2,
    "cylinders": (rl.Cylinder(0.5, 1.0),) * 2,
    "cylinders of two sizes": (rl.Cylinder(0.5, 1.0), rl.Cylinder(0.7, 1.0)),
    "rectangles": (rl.rectangle(2.0, 1.0),) * 2,
}


def leaning(shapes, order, shift, tilt, flip):
    """The second body on the first, shifted and tilted, nearest corners touching; numbered by
    ``order``. Which of them is above is the side on which the hinge lies (``flip``)."""
    flat = isinstance(shapes[0], rl.Polygon)
    low = shapes[1].radius if isinstance(shapes[1], rl.Cylinder) else 1.0
    lift = 0.5 * np.cos(tilt) + low * np.sin(tilt)
    if flat:
        poses = [((0.0, -0.5), 0.0), ((shift, lift), tilt if flip else -tilt)]
    else:
        turn = from_rotation_vector([0.0, tilt if flip else -tilt, 0.0])
        poses = [((0, 0, -0.5), (1.0, 0, 0, 0)), ((shift, 0.0, lift), turn)]
    scene = rl.Scene(dim=2 if flat else 3)
    for k in order:
        scene.add(shapes[k], position=poses[k][0], orientation=poses[k][1], name=str(k))
    return find_contacts(scene.bodies, scene.state, 0.1)


def by_place(points, *others):
    order = np.lexsort(np.round(points, 6).T)
    return [points[order], *(other[order] for other in others)]


@pytest.mark.parametrize("tilt", [1e-13, 1e-10, 1e-7, 1e-4, 1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("shift", [0.0, 1e-6, 1e-4, 0.3, -0.3])
@pytest.mark.parametrize("names", EQUAL)
def test_contacts_of_leaning_bodies_do_not_depend_on_the_order(names, shift, tilt):
    """Property: places, normals and gaps of contacts between facing faces a little askew."""
    for flip in (False, True):
        one = leaning(EQUAL[names], (0, 1), shift, tilt, flip)
        other = leaning(EQUAL[names], (1, 0), shift, tilt, flip)
        assert len(one) == len(other) > 0
        point, normal, gap = by_place(one.point, one.normal, one.gap)
        again, turned, there = by_place(other.point, -other.normal, other.gap)
        # rounding of poses of size one; over a tilt where a nearest point lies along an edge
        np.testing.assert_allclose(turned, normal, atol=1e-12)
        np.testing.assert_allclose(there, gap, atol=1e-14)
        np.testing.assert_allclose(again, point, atol=1e-12)


@pytest.mark.parametrize("names", ["boxes", "rectangles"])
def test_equal_faces_edge_on_edge_meet_midway(names):
    """Closed form: faces that open from a common edge by an angle have equal claims; the normal is
    midway, and the far gap is the width of the wedge across it, 2 l sin(angle / 2)."""
    for tilt in (1e-6, 1e-3, 1e-2):
        upright = 1 if names == "rectangles" else 2
        half = np.array([1.0, 0.5])
        # turned about the lower body's upper left edge
        c, s = np.cos(tilt), np.sin(tilt)
        centre = np.array([-1.0, 0.0]) + [c * half[0] - s * half[1], s * half[0] + c * half[1]]
        scene = rl.Scene(dim=2 if upright == 1 else 3)
        shape = EQUAL[names][0]
        if upright == 1:
            scene.add(shape, position=(0, -0.5))
            scene.add(shape, position=centre, orientation=tilt)
        else:
            scene.add(shape, position=(0, 0, -0.5))
            turn = from_rotation_vector([0.0, -tilt, 0.0])
            scene.add(shape, position=(centre[0], 0.0, centre[1]), orientation=turn)
        found = find_contacts(scene.bodies, scene.state, 0.1)
        assert len(found) == (2 if upright == 1 else 4)
        # rounding of angles
        np.testing.assert_allclose(found.normal[:, 0], -np.sin(tilt / 2), atol=1e-14)
        np.testing.assert_allclose(found.normal[:, upright], np.cos(tilt / 2), atol=1e-14)
        width = 2 * 2.0 * np.sin(tilt / 2)
        np.testing.assert_allclose(np.unique(found.gap.round(13)), [0, width], atol=1e-12)


@pytest.mark.parametrize("tilt", [1e-5, 1e-4, 1e-2])
def test_steps_of_leaning_walls_do_not_depend_on_numbering(tilt):
    """Property: a wall of equal bricks that lean on one another by rounding or more: velocities and
    forces of a step with bodies renumbered (before: 1e-8 to 1e-4 m/s and 1e-6 to 1e-2 of the
    largest force apart)."""
    rng = np.random.default_rng(4)
    places = [((k + 0.5 * (r % 2)) * 0.2, (r + 0.5) * 0.1) for r in range(4) for k in range(3)]
    leans = tilt * rng.normal(size=(len(places), 3))
    found = []
    for order in (np.arange(len(places)), rng.permutation(len(places))):
        scene = rl.Scene()
        scene.add(rl.HalfSpace(), position=(0, 0, 0))
        for k in order:
            scene.add(
                rl.Box((0.2, 0.1, 0.1)),
                position=(places[k][0], 0, places[k][1]),
                orientation=from_rotation_vector(leans[k]),
                mass=2.0,
            )
        simulation = rl.Simulation(scene)
        result = simulation.step()
        assert result.converged
        place = np.concatenate([[0], 1 + order])
        whole = np.zeros((1 + len(order), 3))  # what each body gets
        for sign, side in ((-1, 0), (1, 1)):
            pushed = sign * result.force[:, None] * result.contacts.normal
            np.add.at(whole, place[result.contacts.body[:, side]], pushed)
        speed = np.empty((1 + len(order), 6))
        speed[place] = result.classic.velocity.reshape(-1, 6)
        found.append((whole, speed, result.force.max()))
    (force, speed, largest), (other, again, _) = found
    # the solvers' tolerance is 1e-10; speeds are of some 0.01 m/s
    np.testing.assert_allclose(again[:, :3], speed[:, :3], atol=1e-10)
    np.testing.assert_allclose(other, force, atol=1e-7 * largest)


@pytest.mark.parametrize("turn", [0.3, np.pi / 4, 2.0])
@pytest.mark.parametrize("lean", [0.0, 1e-6, 1e-4])
def test_equal_cylinders_end_on_end(turn, lean):
    """Property: the points that stand for both rims do not depend on which body comes first. They
    began at the first one's axes, and largest forces of two that lean by 1e-4 were 36.5 or 35.7."""
    upright, twist = np.array([lean, 0.0, 0.0]), np.array([0.0, 0.0, turn])
    pose = rotations.multiply(*(from_rotation_vector(v) for v in (upright, twist)))
    found = []
    for order in ((0, 1), (1, 0)):
        scene = rl.Scene()
        for k in order:
            at = {"position": (0.05 * k, 0.02 * k, 0.15 + 0.3 * k)}
            how = {"mass": 10.0, "orientation": pose} if k else {"fixed": True}
            scene.add(rl.Cylinder(0.2, 0.3), **at, **how)
        result = rl.Simulation(scene, dt=1e-3).step()
        assert result.converged and len(result.force) == 12
        place = np.lexsort(result.contacts.point.T[:2].round(9))
        found.append((result.contacts.point[place], result.force[place]))
    (points, force), (others, again) = found
    np.testing.assert_allclose(others, points, atol=1e-12)
    # the solvers' tolerance, over tilts of 1e-6
    np.testing.assert_allclose(again, force, atol=1e-6 * force.max())


@pytest.mark.parametrize("seed", range(20))
def test_round_ends_touch_within_their_rims(seed):
    """Property: ends that lean and overlap by a sliver touch where both are. Contacts on the chord
    between two points that stand for a rim lay up to 47 mm beyond the other rim of 50 mm."""
    rng = np.random.default_rng(seed)
    other = rng.choice([0.2, 0.1, 0.05])
    apart = 0.2 + other - 10.0 ** rng.uniform(-6, -2)
    angle = rng.uniform(0, 2 * np.pi)
    lean = 10.0 ** rng.uniform(-6, -3) * np.append(rng.normal(size=2), 0.0)
    scene = rl.Scene()
    scene.add(rl.Cylinder(0.2, 0.3), position=(0, 0, 0.15), fixed=True)
    at = (apart * np.cos(angle), apart * np.sin(angle), 0.45)
    pose = from_rotation_vector(lean)
    scene.add(rl.Cylinder(other, 0.3), position=at, orientation=pose, mass=1.0)
    found = find_contacts(scene.bodies, scene.state, np.full(2, 1e-3))
    assert len(found)
    axes = rotations.matrix(scene.state.quaternion)
    for body, radius in enumerate((0.2, other)):
        place = (found.point - scene.state.position[body]) @ axes[body]
        # points lie midway in gaps
        assert (np.hypot(*place.T[:2]) <= radius + 0.5 * np.abs(found.gap) + 1e-12).all()
