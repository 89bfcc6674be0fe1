"""Contacts between all shapes: gaps, gradients, patches, stability, faults."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision.planes import RIM_POINTS
from rigidlimit.collision.search import find_contacts
from rigidlimit.errors import ContactError
from rigidlimit.kinematics import gap_gradient
from tests.problems import from_rotation_vector

RNG = np.random.default_rng(7)
SOLIDS = {
    "sphere": rl.Sphere(0.5),
    "box": rl.Box((1.0, 0.8, 0.6)),
    "capsule": rl.Capsule(0.3, 0.8),
    "cylinder": rl.Cylinder(0.4, 0.7),
    "ellipsoid": rl.Ellipsoid((0.6, 0.4, 0.3)),
    "polyhedron": rl.ConvexPolyhedron(RNG.normal(size=(14, 3)) * 0.4),
}
PLANES = {
    "disk": rl.Disk(0.5),
    "rectangle": rl.rectangle(1.0, 0.6),
    "polygon": rl.Polygon(np.array([[0, 0], [1, 0.1], [0.8, 0.9], [0.1, 0.7]])),
}


def pair_scene(shape_a, shape_b, rng, *, gap=0.01):
    """Two bodies in random attitude, moved along a random line until ``gap`` apart."""
    dim = shape_a.dim
    direction = rng.normal(size=dim)
    direction /= np.linalg.norm(direction)

    def made(distance):
        scene = rl.Scene(dim=dim, gravity=(0,) * dim)
        for shape, at in ((shape_a, 0.0), (shape_b, distance)):
            if isinstance(shape, rl.HalfSpace):
                scene.add(shape, position=at * direction, normal=-direction)
            else:
                scene.add(shape, position=at * direction, orientation=turns[len(scene)])
        return scene

    turns = [rng.normal(size=4) for _ in range(2)] if dim == 3 else list(rng.uniform(0, 6, 2))
    lo, hi = 0.0, 4.0
    scene = made(hi)
    bodies, state = scene.bodies, scene.state
    for _ in range(36):  # to 6e-11
        mid = 0.5 * (lo + hi)
        state.position[1, :dim] = mid * direction
        try:
            found = find_contacts(bodies, state, 5.0)
            close = found.gap.min() < gap
        except ContactError:
            close = True
        lo, hi = (mid, hi) if close else (lo, mid)
    return made(hi)


def moved(bodies, state, velocity, h):
    """The state after h of a constant velocity."""
    turn = from_rotation_vector(h * velocity[:, 3:])
    return state.moved(
        position=state.position + h * velocity[:, :3],
        quaternion=rotations.multiply(turn, state.quaternion),
    )


PAIRS = [
    *itertools.combinations_with_replacement(SOLIDS, 2),
    *((a, "half-space") for a in SOLIDS),
    *itertools.combinations_with_replacement(PLANES, 2),
    *((a, "half-space 2D") for a in PLANES),
]


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
def test_gradient_against_differences(names):
    """Finite differences: B v is the rate of the gap, for every pair of shapes."""
    table = SOLIDS | PLANES | {"half-space": rl.HalfSpace(), "half-space 2D": rl.HalfSpace(2)}
    rng = np.random.default_rng(len("".join(names)))
    for _ in range(3):
        scene = pair_scene(table[names[0]], table[names[1]], rng)
        bodies, state = scene.bodies, scene.state
        contacts = find_contacts(bodies, state, 0.02)
        assert len(contacts) >= 1
        # the separation along a normal that is off by 1e-5 is off by 1e-10
        assert contacts.gap.min() == pytest.approx(0.01, abs=1e-8)
        B = gap_gradient(bodies, state, contacts)
        velocity = np.where(bodies.free, rng.normal(size=(2, 6)), 0.0)
        h = 1e-5
        plus = find_contacts(bodies, moved(bodies, state, velocity, h), 0.03)
        minus = find_contacts(bodies, moved(bodies, state, velocity, -h), 0.03)
        rate = (contacts.carry_over(plus, plus.gap, np.nan)
                - contacts.carry_over(minus, minus.gap, np.nan)) / (2 * h)  # fmt: skip
        # corners cut from a tilted face also slide along it, which B leaves out: the nearest only
        both = np.isfinite(rate) & (contacts.gap < contacts.gap.min() + 1e-6)
        assert both.any()
        # h^2 of the surface's curvature change, and coal's 1e-9 over h on curved pairs
        np.testing.assert_allclose((B @ velocity.ravel())[both], rate[both], atol=2e-4)


def test_dot_product():
    """Dot test: <B u, w> = <u, B^T w> on a packing of mixed shapes."""
    scene = rl.scenes.container(12)
    contacts = find_contacts(scene.bodies, scene.state, 0.02)
    B = gap_gradient(scene.bodies, scene.state, contacts)
    rng = np.random.default_rng(0)
    u, w = rng.normal(size=B.shape[1]), rng.normal(size=B.shape[0])
    assert (B @ u) @ w == pytest.approx(u @ (B.T @ w), rel=1e-12)
    assert not B[:, ~scene.bodies.free.ravel()].count_nonzero()


def on_plane(shape, height, **options):
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(shape, position=(0, 0, height), **options)
    return find_contacts(scene.bodies, scene.state, 1e-3)


def test_patches_on_a_plane():
    """Closed forms: how many contacts, where, with which gap."""
    box = on_plane(rl.Box((2, 1, 1)), 0.5)
    assert sorted(map(tuple, np.abs(box.point).round(12))) == [(1, 0.5, 0)] * 4
    np.testing.assert_allclose(box.gap, 0, atol=1e-15)
    lying = rotations.aligning_z(np.array([1.0, 0, 0]))
    assert len(on_plane(rl.Capsule(0.2, 1), 0.2, orientation=lying)) == 2
    assert len(on_plane(rl.Cylinder(0.2, 1), 0.2, orientation=lying)) == 2
    standing = on_plane(rl.Cylinder(0.2, 1), 0.5)
    assert len(standing) == RIM_POINTS
    np.testing.assert_allclose(np.linalg.norm(standing.point[:, :2], axis=1), 0.2)
    assert len(on_plane(rl.Ellipsoid((3, 2, 1)), 1.0)) == 1


def stacked(upper, height, *, lower=None, reach=1e-3, **options):
    scene = rl.Scene()
    scene.add(lower or rl.Box((2, 2, 1)), position=(0, 0, 0), fixed=True)
    scene.add(upper, position=(*options.pop("at", (0, 0)), height), **options)
    return find_contacts(scene.bodies, scene.state, reach)


def test_patches_between_bodies():
    """Closed forms: the outline of the common area of two flat faces."""
    aligned = stacked(rl.Box((2, 2, 1)), 1.0)
    assert len(aligned) == 4
    offset = stacked(rl.Box((2, 2, 1)), 1.0, at=(0.5, 0.25))
    np.testing.assert_allclose(np.ptp(offset.point, axis=0), [1.5, 1.75, 0], atol=1e-12)
    np.testing.assert_allclose(offset.normal, [[0, 0, 1]] * 4, atol=1e-12)
    turned = stacked(
        rl.Box((2, 2, 1)), 1.0, orientation=from_rotation_vector(np.array([0, 0, np.pi / 4]))
    )
    assert len(turned) == 8
    small = stacked(rl.Box((0.5, 0.5, 0.5)), 0.75, at=(0.3, 0.1))
    np.testing.assert_allclose(np.ptp(small.point, axis=0), [0.5, 0.5, 0], atol=1e-12)
    lying = rotations.aligning_z(np.array([1.0, 0, 0]))
    capsule = stacked(rl.Capsule(0.2, 3), 0.7, orientation=lying)
    assert len(capsule) == 2 and np.ptp(capsule.point[:, 0]) == pytest.approx(2)  # cut to the face
    cylinder = stacked(rl.Cylinder(0.2, 1.0), 1.0)
    assert len(cylinder) == RIM_POINTS
    parallel = stacked(rl.Capsule(0.2, 1.0), 0.5, lower=rl.Capsule(0.3, 2.0), reach=1e-3)
    assert len(parallel) <= 1  # end to end, not side by side
    beside = rl.Scene()
    beside.add(rl.Capsule(0.3, 2.0), position=(0, 0, 0), fixed=True)
    beside.add(rl.Capsule(0.2, 1.0), position=(0.5, 0, 0.2))
    contacts = find_contacts(beside.bodies, beside.state, 1e-3)
    assert len(contacts) == 2 and np.ptp(contacts.point[:, 2]) == pytest.approx(1.0)


def test_beam_on_spheres_in_space():
    """One contact for each sphere under a box."""
    scene = rl.Scene()
    for x in (-1, 0, 1):
        scene.add(rl.Sphere(0.1), position=(x, 0, 0), fixed=True)
    scene.add(rl.Box((2.4, 0.2, 0.2)), position=(0, 0, 0.2))
    contacts = find_contacts(scene.bodies, scene.state, 1e-3)
    assert len(contacts) == 3
    np.testing.assert_allclose(contacts.point[:, 0], [-1, 0, 1], atol=1e-9)
    np.testing.assert_allclose(contacts.gap, 0, atol=1e-12)


def test_tilted_box_has_its_own_gap_at_each_corner():
    """Closed form: a box turned by a small angle about y over a face."""
    angle = 1e-3
    q = from_rotation_vector(np.array([0, angle, 0]))
    contacts = stacked(rl.Box((1, 1, 1)), 1.0005, orientation=q, reach=5e-3)
    x = contacts.point[:, 0]
    known = 1.0005 - 0.5 - 0.5 * np.cos(angle) - np.sign(x) * 0.5 * np.sin(angle)
    assert len(contacts) == 4
    np.testing.assert_allclose(contacts.gap, known, atol=1e-6)


@pytest.mark.parametrize("name", ["box-stack", "container", "pyramid"])
def test_numbers_stay_while_bodies_move_a_little(name):
    """Property: keys are the same after tiny moves of all bodies."""
    scene = {"container": lambda: rl.scenes.container(8)}.get(name, lambda: rl.scenes.load(name))()
    if name == "pyramid":
        scene = rl.scenes.pyramid(4, drop=0)
    simulation = rl.Simulation(scene, dt=2e-4 if name == "container" else 1e-3, compatible="never")
    for _ in range(200 if name == "container" else 1):
        simulation.step()
    state, bodies = simulation.state, scene.bodies
    keys = find_contacts(bodies, state, 1e-3 * bodies.length).key
    rng = np.random.default_rng(0)
    for _ in range(10):
        v = np.where(bodies.free, rng.normal(size=(len(bodies), 6)), 0.0)
        v[:, :3] *= bodies.length
        near = find_contacts(bodies, moved(bodies, state, v, 1e-7), 1.01e-3 * bodies.length)
        assert set(keys) <= set(near.key)


@given(seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_rigid_motion_of_the_scene(seed):
    """Property: gaps do not change when the whole scene is moved and turned."""
    rng = np.random.default_rng(seed)
    names = list(SOLIDS)
    a, b = SOLIDS[names[seed % 6]], SOLIDS[names[seed // 6 % 6]]
    scene = pair_scene(a, b, rng)
    here = find_contacts(scene.bodies, scene.state, 0.02)
    q = rotations.normalized(rng.normal(size=4))
    there = scene.state.moved(
        position=scene.state.position @ rotations.matrix(q).T + rng.normal(size=3),
        quaternion=rotations.multiply(q, scene.state.quaternion),
    )
    found = find_contacts(scene.bodies, there, 0.02)
    # second order in the error of coal's normal
    assert found.gap.min() == pytest.approx(here.gap.min(), abs=1e-8)


@pytest.mark.parametrize("names", [*itertools.combinations(SOLIDS, 2)], ids="-".join)
def test_exchange_of_bodies(names):
    """Property: the gap is the same and the normal opposite when the two bodies swap numbers."""
    scene = pair_scene(SOLIDS[names[0]], SOLIDS[names[1]], np.random.default_rng(3))
    swapped = rl.Scene(gravity=(0, 0, 0))
    for k in (1, 0):
        swapped.add(
            scene.bodies.shape(k),
            position=scene.state.position[k],
            orientation=scene.state.quaternion[k],
        )
    one = find_contacts(scene.bodies, scene.state, 0.02)
    two = find_contacts(swapped.bodies, swapped.state, 0.02)
    assert one.gap.min() == pytest.approx(two.gap.min(), abs=1e-9)
    np.testing.assert_allclose(
        one.normal[one.gap.argmin()], -two.normal[two.gap.argmin()], atol=1e-5
    )


def test_ellipsoids_against_a_minimizer():
    """Reference twin: distance of two ellipsoids by scipy over both surfaces."""
    rng = np.random.default_rng(4)
    a, b = rl.Ellipsoid((0.6, 0.4, 0.3)), rl.Ellipsoid((0.5, 0.2, 0.7))
    scene = pair_scene(a, b, rng, gap=0.2)
    contact = find_contacts(scene.bodies, scene.state, 0.5)
    turn, at = rotations.matrix(scene.state.quaternion), scene.state.position

    def surface_point(k, angles):
        u, v = angles
        local = np.array([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)])
        return at[k] + turn[k] @ (local * scene.bodies.shape(k).semi_axes)

    def distance(x):
        return np.linalg.norm(surface_point(0, x[:2]) - surface_point(1, x[2:]))

    twin = min(minimize(distance, rng.uniform(-3, 3, 4), method="BFGS").fun for _ in range(20))
    assert contact.gap[0] == pytest.approx(twin, abs=1e-7)  # BFGS on numerical gradients


@pytest.mark.parametrize("lower", [rl.Cylinder(2.0, 1.0), rl.Box((4, 4, 1))])
def test_ellipsoid_on_a_face(lower):
    """Closed form: an upright ellipsoid touches the face right below its centre."""
    contacts = stacked(rl.Ellipsoid((0.3, 0.3, 0.5)), 1.0, lower=lower, at=(0.4, -0.3))
    assert len(contacts) == 1
    np.testing.assert_allclose(contacts.point[0], [0.4, -0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(contacts.gap, 0, atol=1e-12)


def test_gap_is_not_taken_from_a_failed_search():
    """Regression: capsule and ellipsoid in a pose where coal's tightest search reports a deep
    overlap; the separation along its normal gives it away."""
    rng = np.random.default_rng(134)
    scene = pair_scene(SOLIDS["capsule"], SOLIDS["ellipsoid"], rng)
    q = rotations.normalized(rng.normal(size=4))
    there = scene.state.moved(
        position=scene.state.position @ rotations.matrix(q).T + rng.normal(size=3),
        quaternion=rotations.multiply(q, scene.state.quaternion),
    )
    found = find_contacts(scene.bodies, there, 0.02)
    assert found.gap.min() == pytest.approx(0.01, abs=2e-10)  # what the pose is made to


def test_curvature():
    """Closed forms: 1/R1 + 1/R2 for spheres; an ellipsoid's pole has c/a^2 and c/b^2."""
    scene = rl.Scene()
    scene.add(rl.Sphere(0.5), position=(0, 0, 0))
    scene.add(rl.Sphere(0.25), position=(0.75, 0, 0))
    assert find_contacts(scene.bodies, scene.state, 1e-3).curvature[0] == pytest.approx(6)
    pole = on_plane(rl.Ellipsoid((3, 2, 1)), 1.0)
    assert pole.curvature[0] == pytest.approx(0.5 * (1 / 9 + 1 / 4))


def test_deep_overlap_is_finite():
    """Property: bodies deep inside one another give finite contacts, or a named error."""
    rng = np.random.default_rng(5)
    for a, b in itertools.combinations_with_replacement(SOLIDS.values(), 2):
        scene = rl.Scene()
        scene.add(a, position=(0, 0, 0), orientation=rng.normal(size=4))
        scene.add(b, position=(0.05, 0.02, 0.01), orientation=rng.normal(size=4))
        contacts = find_contacts(scene.bodies, scene.state, 1e-3)
        assert len(contacts) and np.isfinite(contacts.gap).all()
        np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1, atol=1e-9)
        assert contacts.gap.min() < 0


@pytest.mark.parametrize("shape", [rl.Sphere(0.1), rl.Disk(0.1)], ids=["sphere", "disk"])
def test_coincident_centres(shape):
    """Two balls with one centre have no normal: an error that names both."""
    scene = rl.Scene(dim=shape.dim)
    for name in ("first", "second"):
        scene.add(shape, position=(1,) * shape.dim, name=name)
    with pytest.raises(ContactError, match="'first' and 'second' have the same centre"):
        find_contacts(scene.bodies, scene.state, 0.0)


def test_pose_that_is_not_finite():
    """A pose with NaN is an error that names the body."""
    scene = rl.Scene()
    scene.add(rl.Sphere(0.1), position=(0, 0, 0), name="lost")
    state = scene.state
    state.position[0, 1] = np.nan
    with pytest.raises(ContactError, match="'lost'"):
        find_contacts(scene.bodies, state, 0.0)


def test_held_pairs_are_left_out():
    """Property: two fixed bodies make no contact, and reach decides what is found."""
    scene = rl.Scene()
    scene.add(rl.Sphere(0.5), position=(0, 0, 0), fixed=True)
    scene.add(rl.Sphere(0.5), position=(1, 0, 0), fixed=True)
    scene.add(rl.Sphere(0.5), position=(2.01, 0, 0))
    assert len(find_contacts(scene.bodies, scene.state, 0.004)) == 0
    found = find_contacts(scene.bodies, scene.state, 0.006)
    assert found.body.tolist() == [[1, 2]] and found.gap[0] == pytest.approx(0.01)
    np.testing.assert_allclose(found.normal[0], [1, 0, 0])


@pytest.mark.parametrize("motion", [{"velocity": (0, 0, 1e200)}, {"load": (0, 0, -1e300)}])
def test_a_body_out_of_the_range_of_numbers_is_named(motion):
    """One clear error, not an index out of bounds in the broad phase."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.1), position=(0, 0, 0.1), name="rocket", **motion)
    # numpy says that its squares are no numbers before this is looked at
    with (
        np.errstate(all="ignore"),
        pytest.raises(ContactError, match=r"'rocket' may move .* look at velocities"),
    ):
        rl.Simulation(scene).step()
