"""Polygons and disks in the plane: gaps, normals and patches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision.search import find_contacts

pytestmark = [
    pytest.mark.filterwarnings("ignore:polygon:rigidlimit.errors.SceneWarning"),
    pytest.mark.filterwarnings("ignore:.*orientation is:rigidlimit.errors.SceneWarning"),
]

ROUNDING = 2e-12
"""Bodies of size 1: PREFER_FIRST is 1e-9, but only for edges parallel to 1e-9; the rest rounds."""


def random_polygon(rng):
    return rl.Polygon(rng.normal(size=(rng.integers(3, 9), 2)) * rng.uniform(0.2, 1, 2))


def two(shape_a, shape_b, arm, turn_a=0.0, turn_b=0.0):
    scene = rl.Scene(dim=2, gravity=(0, 0))
    scene.add(shape_a, position=(0, 0), orientation=turn_a)
    scene.add(shape_b, position=arm, orientation=turn_b)
    return scene


def corners(scene, body):
    turn = rotations.matrix(scene.state.quaternion[body])[:2, :2]
    return scene.bodies.shape(body).vertices @ turn.T + scene.state.position[body, :2]


def twin(va, vb):
    """Signed distance by the origin's place in the hull of all differences of corners."""
    differences = (vb[:, None] - va[None]).reshape(-1, 2)
    hull = ConvexHull(differences)
    inside = hull.equations[:, 2].max()
    if inside <= 0:
        return inside
    p, q = differences[hull.simplices[:, 0]], differences[hull.simplices[:, 1]]
    t = np.clip(-np.einsum("ij,ij->i", p, q - p) / ((q - p) ** 2).sum(axis=1), 0, 1)
    return np.linalg.norm(p + t[:, None] * (q - p), axis=1).min()


def separation(va, vb, normal):
    return (vb @ normal).min() - (va @ normal).max()


def test_polygons_against_the_hull_of_differences():
    """Reference twin: signed distance, normal and points of 1,500 random pairs, of 200 shapes,
    which take longer to make than their contacts."""
    rng = np.random.default_rng(1)
    signs = np.zeros(2, int)
    shapes = [random_polygon(rng) for _ in range(200)]
    for _ in range(1500):
        arm = rng.normal(size=2) * rng.choice([0.3, 1.0, 2.0])
        scene = two(*(shapes[k] for k in rng.integers(0, 200, 2)), arm, *rng.uniform(0, 6, 2))
        va, vb = corners(scene, 0), corners(scene, 1)
        found = find_contacts(scene.bodies, scene.state, 5.0)
        known = twin(va, vb)
        signs[int(known > 0)] += 1
        nearest = found.gap.argmin()
        assert found.gap[nearest] == pytest.approx(known, abs=ROUNDING)
        # the gap is the separation along the normal, and the point halfway between the bodies
        normal, point = found.normal[nearest, :2], found.point[nearest, :2]
        assert separation(va, vb, normal) == pytest.approx(known, abs=ROUNDING)
        assert (vb @ normal).min() - point @ normal == pytest.approx(known / 2, abs=ROUNDING)
        on_a, on_b = point - known / 2 * normal, point + known / 2 * normal
        assert on_polygon(va, on_a) < ROUNDING and on_polygon(vb, on_b) < ROUNDING
    assert signs.min() > 300


def on_polygon(v, point):
    """Distance of a point from the nearest edge of a polygon."""
    along = np.roll(v, -1, axis=0) - v
    t = np.clip(np.einsum("ij,ij->i", point - v, along) / (along**2).sum(axis=1), 0, 1)
    return np.linalg.norm(v + t[:, None] * along - point, axis=1).min()


@given(seed=st.integers(0, 10**6), distance=st.floats(0.0, 3.0), angle=st.floats(0, 6))
@settings(max_examples=60, deadline=None)
def test_swap_and_rigid_motion(seed, distance, angle):
    """Properties: the bodies' order and a motion of both change neither gap nor normal."""
    rng = np.random.default_rng(seed)
    a, b = random_polygon(rng), random_polygon(rng)
    arm = distance * np.array([np.cos(angle), np.sin(angle)]) + 1e-3
    turns = rng.uniform(0, 6, 2)
    one = two(a, b, arm, *turns)
    here = find_contacts(one.bodies, one.state, 5.0)
    other = two(b, a, -arm, *turns[::-1])
    swapped = find_contacts(other.bodies, other.state, 5.0)
    spin, shift = rng.uniform(0, 6), rng.normal(size=2)
    c, s = np.cos(spin), np.sin(spin)
    turn = np.array([[c, -s], [s, c]])
    there_scene = rl.Scene(dim=2, gravity=(0, 0))
    there_scene.add(a, position=shift, orientation=turns[0] + spin)
    there_scene.add(b, position=shift + turn @ arm, orientation=turns[1] + spin)
    there = find_contacts(there_scene.bodies, there_scene.state, 5.0)
    # edges parallel to 1e-9 may give way to the first body's; such draws do not occur here
    assert swapped.gap.min() == pytest.approx(here.gap.min(), abs=ROUNDING)
    assert there.gap.min() == pytest.approx(here.gap.min(), abs=ROUNDING)
    i, j, k = here.gap.argmin(), swapped.gap.argmin(), there.gap.argmin()
    va, vb = corners(one, 0), corners(one, 1)
    for normal in (-swapped.normal[j, :2], turn.T @ there.normal[k, :2]):
        # deep inside, two normals may be equally good: compare what they separate
        assert separation(va, vb, normal) == pytest.approx(here.gap[i], abs=ROUNDING)


def test_corner_cases():
    """Closed forms: beside the reference edge, corner above an edge, corner in a corner."""
    square = rl.rectangle(1, 1)

    def nearest(arm, turn=0.0, shape=square):
        scene = two(square, shape, arm, 0.0, turn)
        found = find_contacts(scene.bodies, scene.state, 1.0)
        k = found.gap.argmin()
        return found, found.gap[k], found.normal[k, :2]

    # diagonal neighbours, joints 0.08 and 0.06
    found, gap, normal = nearest((1.08, 1.06))
    assert len(found) == 1 and gap == pytest.approx(0.1, abs=1e-12)
    np.testing.assert_allclose(normal, [0.8, 0.6], atol=1e-12)
    np.testing.assert_allclose(found.point[0, :2], [0.54, 0.53], atol=1e-12)
    # a square on its corner, above the edge and beyond its end
    half = np.sqrt(0.5)
    _, gap, normal = nearest((0.3, 0.5 + half + 0.02), np.pi / 4)
    assert gap == pytest.approx(0.02, abs=1e-12)
    np.testing.assert_allclose(normal, [0, 1], atol=1e-12)
    _, gap, normal = nearest((0.53, 0.5 + half + 0.04), np.pi / 4)
    assert gap == pytest.approx(0.05, abs=1e-12)
    np.testing.assert_allclose(normal, [0.6, 0.8], atol=1e-11)  # 1e-12 over the gap
    # overlapping by a corner: out the shorter way
    _, gap, normal = nearest((0.9, 0.95))
    assert gap == pytest.approx(-0.05, abs=1e-12)
    np.testing.assert_allclose(normal, [0, 1], atol=1e-12)


def test_facing_edges_share_two_contacts():
    """Closed forms: two contacts at the ends of the common stretch, with their own gaps."""
    scene = two(rl.rectangle(2, 1), rl.rectangle(2, 1), (0.5, 1.01), 0.0, 0.004)
    found = find_contacts(scene.bodies, scene.state, 0.1)
    assert len(found) == 2 and len(set(found.feature)) == 2
    order = found.point[:, 0].argsort()
    # the upper body's corner, and its lower edge above the lower body's end
    slope, low = np.tan(0.004), 0.51 - 0.5 / np.cos(0.004)
    x = np.array([0.5 + 0.5 * np.sin(0.004) - np.cos(0.004), 1.0])
    np.testing.assert_allclose(found.gap[order], low + slope * (x - 0.5), atol=1e-12)
    # the reference edge is the one that separates more; either is within 0.004 rad of upright
    assert np.abs(found.normal[:, 0]).max() < 0.005
    assert len(find_contacts(scene.bodies, scene.state, 0.0042)) == 1  # 2 reach = 0.0084


@pytest.mark.parametrize("tilt", [0.0, 1e-12, -1e-12, 1e-6])
def test_numbers_of_bricks_stay(tilt):
    """Property: facing edges keep their numbers and both contacts at any tiny tilt."""
    scene = two(rl.rectangle(2, 1), rl.rectangle(2, 1), (1.0, 1.0), 0.0, tilt)
    level = two(rl.rectangle(2, 1), rl.rectangle(2, 1), (1.0, 1.0))
    found = find_contacts(scene.bodies, scene.state, 1e-3)
    np.testing.assert_allclose(np.sort(found.point[:, 0]), [0, 1], atol=2e-6)
    np.testing.assert_array_equal(found.key[:1] // 65536, [1])
    if abs(tilt) < 1e-9:  # beyond EQUAL the other body's edge may be the reference
        known = find_contacts(level.bodies, level.state, 1e-3)
        np.testing.assert_array_equal(found.key, known.key)


@pytest.mark.parametrize("shift", [1e-4, 3e-4, -3e-4, 0.2])
def test_bricks_all_but_aligned_do_not_depend_on_the_order(shift):
    """Property: two bricks, one shifted along their bed and tilted by 2e-6, meet in two contacts,
    whichever goes first (in one, 5e-10 deep, where the first one's edge was no reference: its
    nearest corner lies beside that)."""
    brick = rl.rectangle(1.0, 0.5)
    tilt = 2e-6 if shift > 0 else -2e-6
    below = two(brick, brick, (shift, 0.5 + 1e-6), turn_b=tilt)
    above = two(brick, brick, (-shift, -0.5 - 1e-6), turn_a=tilt)
    one, other = (find_contacts(s.bodies, s.state, 1e-4) for s in (below, above))
    assert len(one) == len(other) == 2
    # either edge may be the reference where they separate alike to 1e-9 of the pair's size
    np.testing.assert_allclose(np.sort(one.gap), np.sort(other.gap), atol=2e-9)
    moved = other.point[:, 0] + shift
    np.testing.assert_allclose(np.sort(one.point[:, 0]), np.sort(moved), atol=2e-6)  # the tilt


def test_disks_against_polygons():
    """Reference twin: distance of the centre from the polygon less the radius; inside and out."""
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(400):
        polygon, radius = random_polygon(rng), rng.uniform(0.05, 0.5)
        scene = two(rl.Disk(radius), polygon, rng.normal(size=2) * 0.7, 0.0, rng.uniform(0, 6))
        v = corners(scene, 1)
        along = np.roll(v, -1, axis=0) - v
        beyond = along[:, 1] * -v[:, 0] + along[:, 0] * v[:, 1]  # of the centre, the origin
        distance = on_polygon(v, np.zeros(2)) * (1 if beyond.max() > 0 else -1)
        inside += distance < 0
        found = find_contacts(scene.bodies, scene.state, 5.0)
        assert len(found) == 1
        assert found.gap[0] == pytest.approx(distance - radius, abs=1e-13)  # sums of size 1
        normal = found.normal[0, :2]
        np.testing.assert_allclose(
            found.point[0, :2], (radius + 0.5 * found.gap[0]) * normal, atol=1e-13
        )
        # the normal leads from the centre to the closest point of the outline
        assert on_polygon(v, distance * normal) < 1e-12
        assert found.curvature[0] == pytest.approx(1 / radius)
    assert inside > 50
