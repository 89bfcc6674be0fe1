"""Normals and nearest points of curved bodies to rounding: proofs, closed forms, a slow twin."""

import numpy as np
import pytest
from scipy.optimize import brentq

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision import coal_distance, convex
from rigidlimit.collision.search import find_contacts
from tests.problems import from_rotation_vector

from .one_pair import two
from .one_pair_features import support_height
from .test_convex import shape

FAMILIES = [
    "box-cylinder",
    "polyhedron-cylinder",
    "capsule-cylinder",
    "cylinder-cylinder",
    "box-ellipsoid",
    "polyhedron-ellipsoid",
    "cylinder-ellipsoid",
    "capsule-ellipsoid",
    "mesh-cylinder",
]


def outside(body, x):
    """How far point x (3,) of the body's frame lies outside it, to first order; negative inside."""
    if isinstance(body, rl.Box):
        return (np.abs(x) - 0.5 * np.array(body.size)).max()
    if isinstance(body, rl.ConvexPolyhedron):
        on_face = body.vertices[[face[0] for face in body.faces]]
        return np.einsum("fk,fk->f", body.normals, x - on_face).max()
    if isinstance(body, rl.Ellipsoid):
        axes = np.array(body.semi_axes)
        height = np.linalg.norm(x / axes)
        if height == 0.0:
            return -axes.min()
        return (height - 1) * height / np.linalg.norm(x / axes**2)
    half = 0.5 * body.length
    if isinstance(body, rl.Capsule):
        return np.linalg.norm(x - [0, 0, np.clip(x[2], -half, half)]) - body.radius
    return max(abs(x[2]) - half, np.hypot(x[0], x[1]) - body.radius)


def pairs(names, rng, count):
    """(bodies, state, a, b): pairs about one place each, b far from a; ten of each shape, which
    take longer to make than to search."""
    scene = rl.Scene(gravity=(0, 0, 0))
    shapes = [[shape(name, rng) for _ in range(10)] for name in names.split("-")]
    for _ in range(count):
        away = rotations.normalized(rng.normal(size=3))
        for side, own in enumerate(shapes):
            at = 3.0 * side * away
            scene.add(own[rng.integers(10)], position=at, orientation=rng.normal(size=4))
    return scene.bodies, scene.state, np.arange(0, 2 * count, 2), np.arange(1, 2 * count, 2)


def nearest(bodies, state, a, b, reach=9.0):
    """Nearest points of pairs in the axes of a, of all or the coal-searched ones."""
    world = rotations.matrix(state.quaternion[a])
    solids = bodies.derived(convex.solid_table)
    pairs = convex._poses(bodies, state, a, b, world, np.full(len(a), reach))
    near, *faces = convex._near(pairs, solids)
    assert near.all()
    found = convex._nearest(bodies, pairs, convex.Faces(*faces), solids)
    return pairs.turn, pairs.arm, world, found


def moved_to(gap, bodies, state, a, b):
    """Moves bodies b along the normals until the pairs are ``gap`` apart, to a last digit or so."""
    moving = np.arange(len(a))
    for _ in range(8):
        *_, world, (known, normal, *_) = nearest(bodies, state, a[moving], b[moving])
        along = np.einsum("kij,kj->ki", world, normal)
        state.position[b[moving]] -= (known - gap)[:, None] * along
        moving = moving[np.abs(known - gap) > 1e-14]
        if not len(moving):
            break


@pytest.mark.parametrize("gap", [0.05, 1e-5, -1e-5, -0.01])
@pytest.mark.parametrize("names", FAMILIES)
def test_points_face_each_other(names, gap):
    """Property, and for bodies apart a proof: the points lie on both bodies, where n is a normal of
    both, and x_b - x_a = gap n; bodies apart have no other such n."""
    rng = np.random.default_rng(11)
    bodies, state, a, b = pairs(names, rng, 60)
    moved_to(gap, bodies, state, a, b)
    turn, arm, _, (separation, normal, on_a, on_b, exact) = nearest(bodies, state, a, b)
    # a flat side on a face has more points than are looked at; its normal is exact by itself
    assert exact.mean() > 0.95
    for p in np.flatnonzero(exact):
        first, second = bodies.shape(a[p]), bodies.shape(b[p])
        n, x = normal[p], turn[p].T @ (on_b[p] - arm[p])
        m = -turn[p].T @ n
        # sums of a dozen terms of size one; FACING of polish times ten for points
        assert np.linalg.norm(n) == pytest.approx(1, abs=1e-15)
        np.testing.assert_allclose(on_b[p] - on_a[p], separation[p] * n, atol=3e-12)
        for body, way, point in ((first, n, on_a[p]), (second, m, x)):
            assert outside(body, point) < 3e-12
            assert support_height(body, way[None])[0] == pytest.approx(way @ point, abs=3e-12)


@pytest.mark.parametrize("gap", [0.01, -1e-6])
@pytest.mark.parametrize("names", ["box-cylinder", "cylinder-cylinder", "polyhedron-ellipsoid"])
def test_single_contacts_lie_between_both_surfaces(names, gap):
    """Property: half a gap either way from a single contact, along its normal, lie points of both
    bodies at which that is a normal of both."""
    rng = np.random.default_rng(13)
    bodies, state, a, b = pairs(names, rng, 200)
    moved_to(gap, bodies, state, a, b)
    found = convex.convex_pairs(bodies, state, a, b, np.full(len(a), 0.02))
    first, index, count = np.unique(found.a, return_index=True, return_counts=True)
    assert set(first) == set(a) and (count == 1).mean() > 0.8
    turn, off = rotations.matrix(state.quaternion), []
    for c in index[count == 1]:
        off.append(0.0)
        for body, sign in ((found.a[c], 1), (found.b[c], -1)):
            x = found.point[c] - 0.5 * sign * found.gap[c] * found.normal[c]
            x, n = turn[body].T @ (x - state.position[body]), sign * turn[body].T @ found.normal[c]
            height = support_height(bodies.shape(body), n[None])[0]
            off[-1] = max(off[-1], outside(bodies.shape(body), x), height - n @ x)
    # rounding of size one; where an end stands on a face, points of the rim stand for it, lower by
    # 3.4e-5 of the radius at most
    assert np.quantile(off, 0.98) < 1e-12 and max(off) < 3.4e-5


def ellipsoid_point(axes, y):
    """Point of an ellipsoid nearest to y outside: x = a^2 y / (a^2 + t), t by a scalar search."""
    axes = np.array(axes)

    def off(t):
        return ((axes * y / (axes**2 + t)) ** 2).sum() - 1

    t = brentq(off, 0.0, np.linalg.norm(y) * axes.max(), xtol=1e-16, rtol=1e-15, maxiter=500)
    return axes**2 * y / (axes**2 + t)


def projected(body, y):
    """Point of a body nearest to y, in its frame; of a capsule its axis."""
    half = 0.5 * np.array(body.size) if isinstance(body, rl.Box) else None
    if half is not None:
        return np.clip(y, -half, half)
    if isinstance(body, rl.Ellipsoid):
        return ellipsoid_point(body.semi_axes, y) if outside(body, y) > 0 else y
    z = np.clip(y[2], -0.5 * body.length, 0.5 * body.length)
    if isinstance(body, rl.Capsule):
        return np.array([0, 0, z])
    share = body.radius / max(body.radius, np.hypot(y[0], y[1]))
    return np.array([share * y[0], share * y[1], z])


@pytest.mark.parametrize(
    "names, gap",
    [
        ("box-cylinder", 0.3),
        ("cylinder-cylinder", 0.3),
        ("box-ellipsoid", 0.3),
        ("cylinder-ellipsoid", 0.3),
        ("capsule-cylinder", 0.2),
        ("capsule-cylinder", -0.02),
        ("capsule-ellipsoid", 0.2),
        ("capsule-ellipsoid", -0.02),
    ],
)
def test_against_projections_in_turn(names, gap):
    """Reference twin: the point of one body nearest to a point of the other, in turn, until nothing
    moves; of a capsule its axis, less the radius, so that it may overlap."""
    rng = np.random.default_rng(12)
    bodies, state, a, b = pairs(names, rng, 24)
    moved_to(gap, bodies, state, a, b)
    turn, arm, _, (separation, normal, *_) = nearest(bodies, state, a, b)
    settled = 0
    for p in range(len(a)):
        first, second = bodies.shape(a[p]), bodies.shape(b[p])
        x = arm[p]
        for _ in range(3000):
            y = arm[p] + turn[p] @ projected(second, turn[p].T @ (x - arm[p]))
            before, x = x, projected(first, y)
            step = np.abs(x - before).max()
            if step < 1e-16:
                break
        apart = np.linalg.norm(y - x)
        less = sum(body.radius for body in (first, second) if isinstance(body, rl.Capsule))
        if step < 1e-15:  # lines nearly side by side take longer
            settled += 1
            assert separation[p] == pytest.approx(apart - less, abs=2e-14)
            # the twin's last step, over a distance of at least 0.1 and times some slowness
            np.testing.assert_allclose(normal[p], (y - x) / apart, atol=1e-12)
    assert settled >= 20


def posed(a, b, arm, turn_b, rng):
    """Both bodies turned and moved together at random: (found, rotation that was applied)."""
    q = rotations.normalized(rng.normal(size=4))
    R, at = rotations.matrix(q), rng.normal(size=3)
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add(a, position=at, orientation=q)
    scene.add(b, position=at + R @ arm, orientation=rotations.multiply(q, turn_b))
    found = find_contacts(scene.bodies, scene.state, 0.3)
    k = found.gap.argmin()
    return found.gap[k], R.T @ found.normal[k], R.T @ (found.point[k] - at)


def aligned(direction):
    return rotations.aligning_z(np.asarray(direction, float) / np.linalg.norm(direction))


@pytest.mark.parametrize("gap", [0.1, 1e-7, 0.0, -1e-7, -0.03])
@pytest.mark.parametrize("seed", range(4))
def test_closed_forms(seed, gap):
    """Closed forms in random frames: end ball of a capsule off a rim; the side of a cylinder across
    an edge, and across another side; the pole of an ellipsoid over an edge."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.3, 1.2)
    out = np.array([np.cos(angle), 0, np.sin(angle)])  # from the rim or edge
    spin = from_rotation_vector(np.array([0, 0, rng.uniform(-3, 3)]))
    # rounding of sums of size one, ten of them, over radii of 0.2
    close = dict(atol=2e-14)

    # capsule standing on end: its axis along ``out``, lower end ball nearest
    rim = np.array([0.5, 0, 0.4])
    arm = rim + (gap + 0.2 + 0.6) * out
    found = posed(rl.Cylinder(0.5, 0.8), rl.Capsule(0.2, 1.2), arm, aligned(out + [0, 0.2, 0]), rng)
    centre = arm - 0.6 * (out + [0, 0.2, 0]) / np.linalg.norm(out + [0, 0.2, 0])
    off = centre - [*(0.5 * centre[:2] / np.hypot(*centre[:2])), 0.4]
    np.testing.assert_allclose(found[0], np.linalg.norm(off) - 0.2, **close)
    np.testing.assert_allclose(found[1], -off / np.linalg.norm(off) * -1, **close)

    # a cylinder's side across an edge along y
    way = np.cross(out, [0, 1, 0]) + [0, rng.uniform(0.3, 0.6), 0]
    edge = np.array([0.5, 0, 0.5])
    found = posed(
        rl.Box((1, 3, 1)), rl.Cylinder(0.3, 2.0), edge + (0.3 + gap) * out,
        rotations.multiply(aligned(way), spin), rng,
    )  # fmt: skip
    np.testing.assert_allclose(found[0], gap, **close)
    np.testing.assert_allclose(found[1], out, **close)
    np.testing.assert_allclose(found[2], edge + 0.5 * gap * out, **close)

    # two sides across one another
    found = posed(
        rl.Cylinder(0.4, 3.0), rl.Cylinder(0.3, 2.0), (0.7 + gap, 0, 0.1),
        rotations.multiply(aligned((0, np.sin(angle), np.cos(angle))), spin), rng,
    )  # fmt: skip
    np.testing.assert_allclose(found[0], gap, **close)
    np.testing.assert_allclose(found[1], (1, 0, 0), **close)

    # an ellipsoid's pole over an edge
    found = posed(
        rl.Box((1, 3, 1)), rl.Ellipsoid((0.5, 0.4, 0.3)), edge + (0.3 + gap) * out,
        rotations.multiply(aligned(out), spin), rng,
    )  # fmt: skip
    if gap > -0.02:  # deeper in, the way out is another
        np.testing.assert_allclose(found[0], gap, **close)
        np.testing.assert_allclose(found[1], out, **close)


@pytest.mark.parametrize("gap", [0.1, 1e-6])
def test_rims_in_one_plane(gap):
    """Closed form: two cylinders whose axes lie in one plane, corner of the one's outline at a
    corner of the other's."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        out = rotations.normalized(np.array([rng.uniform(0.4, 1), 0, rng.uniform(0.4, 1)]))
        tilt = rng.uniform(-0.2, 0.2)
        turn = from_rotation_vector(np.array([0, tilt, 0]))
        corner = rotations.matrix(turn) @ [0.3, 0, 0.4]
        arm = np.array([0.5, 0, 0.35]) + gap * out + corner
        found = posed(rl.Cylinder(0.5, 0.7), rl.Cylinder(0.3, 0.8), arm, turn, rng)
        np.testing.assert_allclose(found[0], gap, atol=2e-14)
        # coordinates of size one, rounded, over the gap
        np.testing.assert_allclose(found[1], out, atol=2e-15 / gap + 1e-13)


@pytest.mark.parametrize("gap", [0.05, 1e-6, -1e-6])
def test_a_rough_answer_is_made_exact(gap, monkeypatch):
    """Property: whatever coal's answer is rough to, normals come out the same, for points on faces,
    edges, rims and ends."""
    rng = np.random.default_rng(5)
    noise = np.random.default_rng(6)

    def rough(*args):
        out = original(*args)
        out[:, :3] = rotations.normalized(out[:, :3] + 1e-3 * noise.normal(size=(len(out), 3)))
        out[:, 3:] += 1e-3 * noise.normal(size=(len(out), 6))
        return out

    original = coal_distance._calls
    for names in ("box-cylinder", "cylinder-cylinder", "cylinder-ellipsoid", "capsule-cylinder"):
        bodies, state, a, b = pairs(names, rng, 60)
        moved_to(gap, bodies, state, a, b)
        *_, before = nearest(bodies, state, a, b)
        monkeypatch.setattr(coal_distance, "_calls", rough)
        *_, after = nearest(bodies, state, a, b)
        monkeypatch.setattr(coal_distance, "_calls", original)
        both = before[4] & after[4]
        assert both.mean() > 0.9
        same = np.abs(before[1] - after[1]).max(axis=1) < 1e-9
        if gap > 0:
            # coordinates rounded to 1e-16 over a gap of 1e-6
            assert same[both].all()
            np.testing.assert_allclose(before[0], after[0], atol=1e-13)
        else:  # a corner in a rim has more than one way out, within the overlap
            assert same[both].mean() > 0.9
            np.testing.assert_allclose(before[0], after[0], atol=1e-6)


def test_a_small_body_on_a_big_one():
    """Property: a body of 1e-4 the size of the other has points to 1e-12 of its own size and a
    normal to match: the tolerances of the search are its own."""
    rng = np.random.default_rng(8)
    small, far = 1e-4, rl.Box((1.0, 1.2, 0.8))
    for body in (rl.Cylinder(small, 1.5 * small), rl.Ellipsoid((small, 0.7 * small, 0.5 * small))):
        for share in (2.0, 0.6):  # apart, and overlapping most times
            scene = rl.Scene(gravity=(0, 0, 0))
            for _ in range(40):
                scene.add(far, position=(0, 0, 0))
                y, out = rng.uniform(-0.4, 0.4), rng.uniform(0.2, 1.3)
                away = np.array([np.cos(out), 0, np.sin(out)])
                at = np.array([0.5, y, 0.4]) + share * small * away
                scene.add(body, position=at, orientation=rng.normal(size=4))
            bodies, state = scene.bodies, scene.state
            a, b = np.arange(0, 80, 2), np.arange(1, 80, 2)
            turn, arm, _, (separation, normal, on_a, on_b, exact) = nearest(bodies, state, a, b)
            assert exact.mean() > (0.99 if share > 1 else 0.9)
            for p in np.flatnonzero(exact):
                # coordinates of size one, rounded, ten times over: 1e-11 of the small size
                apart = separation[p] * normal[p]
                np.testing.assert_allclose(on_b[p] - on_a[p], apart, atol=2e-15)
                assert abs(normal[p, 1]) < 1e-10  # across the edge, or a face's
                assert outside(body, turn[p].T @ (on_b[p] - arm[p])) < 2e-15


def test_small_box_half_over_the_edge_of_a_big_one():
    """Closed form: four contacts, at the corners of the common area, whatever the sizes."""
    for small in (1.0, 1e-3, 1e-5):
        for top in (rl.Box((small, small, small)), rl.Cylinder(0.5 * small, small)):
            scene = rl.Scene(gravity=(0, 0, 0))
            scene.add(rl.Box((4, 4, 1)), position=(0, 0, 0), fixed=True)
            scene.add(top, position=(2 - 0.2 * small, 0.1, 0.5 * (1 + small)))
            found = find_contacts(scene.bodies, scene.state, 1e-3 * small)
            x = (found.point[:, 0] - 2) / small
            assert len(found) == 4 or isinstance(top, rl.Cylinder)
            # coordinates of size two, rounded, over the small size
            assert x.max() == pytest.approx(0, abs=1e-15 / small)
            assert (np.abs(x) < 1e-9).sum() == 2
            assert x.min() == pytest.approx(-0.7, abs=1e-15 / small)


@pytest.mark.parametrize(
    "other",
    [
        rl.Sphere(0.3),
        rl.Box((0.5, 0.6, 0.7)),
        rl.Capsule(0.2, 0.5),
        rl.Cylinder(0.3, 0.5),
        rl.Ellipsoid((0.3, 0.4, 0.2)),
        rl.HalfSpace(),
    ],
)
def test_ellipsoid_of_equal_axes_is_a_ball(other):
    """Property: to the last digit."""
    rng = np.random.default_rng(9)
    for _ in range(10):
        at, q, turned = 0.5 * rng.normal(size=3), rng.normal(size=4), rng.normal(size=4)
        known = None
        for ball in (rl.Sphere(0.4), rl.Ellipsoid((0.4, 0.4, 0.4))):
            scene = two(other, ball, at, q, turned)
            found = find_contacts(scene.bodies, scene.state, 1.0)
            values = [found.gap, *found.normal.T, *found.point.T, found.curvature]
            known = values if known is None else known
            np.testing.assert_array_equal(known, values)


def standing(load):
    """A cylinder on a plane under its weight and a moment: where it bears, and how it moves."""
    scene = rl.Scene(dt=1e-3, gravity=(0, 0, -10))
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Cylinder(0.5, 1.0), position=(0, 0, 0.5), mass=1.0, load=load)
    return rl.Simulation(scene).step()


@pytest.mark.parametrize("toward", np.linspace(0, np.pi / 6, 5))
def test_a_standing_cylinder_tips_near_its_rim(toward):
    """Closed form: with a load whose line of action leaves the axis by 0.96 R in any direction it
    stays, by 1.01 R it tips; the end is a polygon of twelve corners, cos(pi/12) = 0.966."""
    for share, stays in ((0.96, True), (1.01, False)):
        moment = share * 0.5 * 10.0 * np.array([-np.sin(toward), np.cos(toward), 0])
        result = standing((0, 0, 0, *moment))
        assert (np.abs(result.state.velocity).max() < 1e-9) == stays


@pytest.mark.parametrize("spin", [0.0, 0.1, 1.0])
def test_a_cylinder_on_a_cylinder_bears_evenly(spin):
    """Closed form: equal forces at the rim's points, which are those of both ends, however far one
    is turned about the axis."""
    scene = rl.Scene(dt=1e-3, gravity=(0, 0, -10))
    q = from_rotation_vector(np.array([0, 0, spin]))
    scene.add(rl.Cylinder(0.5, 1.0), position=(0, 0, 0), fixed=True)
    scene.add(rl.Cylinder(0.5, 1.0), position=(0, 0, 1.0), orientation=q, mass=1.2)
    result = rl.Simulation(scene).step()
    assert len(result.contacts) == 12
    # tolerance of both steps
    np.testing.assert_allclose(result.force, 1.0, rtol=1e-8)


@pytest.mark.parametrize("cover", [0.97, 0.98, 0.995])
@pytest.mark.parametrize("first", ["post", "plate"])
def test_a_plate_over_the_sliver_of_a_round_end(cover, first):
    """Closed form: a plate that reaches over the rim of a post only, between two of the points that
    stand for it, bears at the middle of its edge there, however the axes lie. It bore anywhere
    along its edge, beyond the post as well."""
    r, middle = 0.2, np.array([cover * 0.2, 0.0, 0.15])
    post = rl.Cylinder(r, 0.3), (0, 0, 0), (0, 0, np.pi / 12)
    plate = rl.Box((1.0, 0.8, 0.1)), (cover * r + 0.5, 0.05, 0.2), (0, 0, 0)
    for turn in (
        (0, 0, 0),
        (-0.4, -1.1, -1.3),
        (-1.2, 0, 0.1),
        (-0.2, 0.5, 0.2),
        (1.3, -0.9, -0.3),
    ):
        turned = from_rotation_vector(np.array(turn))
        R = rotations.matrix(turned)
        scene = rl.Scene(gravity=(0, 0, 0))
        for solid, at, own in (post, plate) if first == "post" else (plate, post):
            q = rotations.multiply(turned, from_rotation_vector(np.array(own)))
            scene.add(solid, position=R @ at, orientation=q)
        found = find_contacts(scene.bodies, scene.state, 1e-3)
        assert len(found) == 1
        # rounding of places
        np.testing.assert_allclose(found.point[0], R @ middle, atol=1e-12)
        np.testing.assert_allclose(found.gap, 0.0, atol=1e-13)


@pytest.mark.parametrize("apart", [0.58, 0.59, 0.5999])
def test_two_round_ends_that_share_a_sliver(apart):
    """Closed form: ends of radii 0.4 and 0.2 that meet between the points that stand for their rims
    bear in the middle of what they share."""
    scene = rl.Scene(gravity=(0, 0, 0))
    toward = np.array([np.cos(np.pi / 12), np.sin(np.pi / 12), 0.0])
    scene.add(rl.Cylinder(0.4, 0.3), position=(0, 0, 0))
    scene.add(rl.Cylinder(0.2, 0.5), position=apart * toward + (0, 0, 0.4))
    found = find_contacts(scene.bodies, scene.state, 1e-3)
    assert len(found) == 1
    middle = 0.5 * (0.4 + apart - 0.2)
    np.testing.assert_allclose(found.point[0], middle * toward + (0, 0, 0.15), atol=1e-12)
    np.testing.assert_allclose(found.gap, 0.0, atol=1e-13)


def test_round_ends_bear_alike_in_any_order():
    """Property: the points at which two cylinders' ends meet do not depend on which body comes
    first, though corners of either face lie next to where the outlines cross: corners of one of
    them went, and with them a percent of the forces."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        wide, narrow = rng.uniform(0.8, 1.4), rng.uniform(0.15, 0.3)
        angle = rng.uniform(0, 2 * np.pi)
        at = (wide - rng.uniform(0, narrow)) * np.array([np.cos(angle), np.sin(angle), 0.0])
        spin = from_rotation_vector(np.array([0, 0, rng.uniform(0, 3)]))
        plate = dict(shape=rl.Cylinder(wide, 0.2), position=(0, 0, 0), orientation=spin)
        post = dict(shape=rl.Cylinder(narrow, 0.4), position=at - (0, 0, 0.3))
        found = []
        for order in (plate, post), (post, plate):
            scene = rl.Scene(gravity=(0, 0, 0))
            for given in order:
                scene.add(**given)
            point = find_contacts(scene.bodies, scene.state, 1e-3).point
            found.append(point[np.lexsort(point.round(9).T)])
        # rounding of places
        np.testing.assert_allclose(found[0], found[1], atol=1e-12)
