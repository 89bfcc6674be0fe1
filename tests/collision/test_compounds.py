"""Contacts of compounds: parts, their seams, numbers that stay."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision.search import find_contacts
from rigidlimit.errors import ContactError
from tests.problems import from_rotation_vector

pytestmark = pytest.mark.filterwarnings("ignore::rigidlimit.errors.SceneWarning")  # overlaps
NEAR = dict(rtol=0, atol=1e-12)  # rounding of places of order 1, a few operations
PLATE = (2.0, 1.0, 0.2)


def cut(size, x=(), y=()):
    """A box cut at places along x and y [m from its centre], as one body."""
    ends = [np.array([-0.5 * s, *c, 0.5 * s]) for s, c in zip(size, (x, y), strict=False)]
    parts = []
    for a, b in zip(ends[0], ends[0][1:], strict=False):
        for c, d in zip(ends[1], ends[1][1:], strict=False):
            if len(size) == 3:
                parts.append((rl.Box((b - a, d - c, size[2])), ((a + b) / 2, (c + d) / 2, 0)))
            else:
                parts.append((rl.rectangle(b - a, d - c), ((a + b) / 2, (c + d) / 2)))
    return rl.Compound(parts)


def contacts_of(*bodies, reach=1e-3, turn=None, start=(0, 0, 0)):
    """Contacts of bodies (shape, position), the whole turned by a quaternion and moved."""
    dim = bodies[0][0].dim
    scene = rl.Scene(dim=dim)
    turn = rotations.identity(1)[0] if turn is None else rotations.normalized(np.array(turn))
    R = rotations.matrix(turn)
    for shape, at in bodies:
        at = R @ np.pad(np.array(at, float), (0, 3 - dim)) + start
        scene.add_many(shape, [at[:dim]], quaternions=[turn])
    still = np.array([0.0 if isinstance(s, rl.HalfSpace) else reach for s, _ in bodies])
    return find_contacts(scene.bodies, scene.state, still)


def rows(contacts, turn=None):
    """(point, normal, gap) of contacts in an order that does not depend on how they were found."""
    table = np.column_stack([contacts.point, contacts.normal, contacts.gap])
    if turn is not None:
        R = rotations.matrix(rotations.normalized(np.array(turn)))
        table[:, :3], table[:, 3:6] = table[:, :3] @ R, table[:, 3:6] @ R
    return table[np.lexsort(table.round(6).T)]


CUTS = [
    (PLATE, (0.0,), ()),
    (PLATE, (0.3,), (0.1,)),
    (PLATE, (-0.3, 0.5), ()),
    ((2.0, 0.2), (0.3,), ()),
    ((2.0, 0.2), (-0.7, 0.3), ()),
]


@pytest.mark.parametrize(("size", "x", "y"), CUTS)
@pytest.mark.parametrize("turned", [False, True])
def test_a_cut_plate_touches_as_the_whole_one(size, x, y, turned):
    """Reference twin: the contacts of a plate glued of pieces are those of the whole plate: on a
    plane, on a block, below a block over the seam, on a block that is cut too; also turned."""
    d = len(size)
    turn = None
    if turned:
        turn = (0.3, -0.5, 0.2, 0.8) if d == 3 else (0.3, 0, 0, 0.8)
    whole, glued = (rl.Box(size) if d == 3 else rl.rectangle(*size)), cut(size, x, y)
    up = np.eye(d)[-1]
    block = rl.Box((0.9, 0.8, 0.3)) if d == 3 else rl.rectangle(0.9, 0.3)
    aside = np.pad([0.13], (0, d - 1))
    for other, away in (
        (rl.HalfSpace(d), -0.5 * size[-1]),
        (whole, -size[-1]),
        (glued, -size[-1]),
        (block, -0.5 * size[-1] - 0.15),
        (block, 0.5 * size[-1] + 0.15),
    ):
        # aside: off the seams; the same for both
        places = [0 * up, (away - 1e-5 * np.sign(away)) * up + aside]
        known, found = (
            contacts_of((shape, places[0]), (other, places[1]), turn=turn)
            for shape in (whole, glued)
        )
        assert len(known) == 2 ** (d - 1)
        np.testing.assert_allclose(rows(found, turn), rows(known, turn), **NEAR)


@pytest.mark.parametrize("off", [0.0, 1e-15, 1e-12, 1e-10, 1e-7, 1e-4, 0.02])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("ball", [rl.Sphere(0.4), rl.Sphere(1e-3), rl.Sphere(400.0)])
def test_a_ball_over_a_seam_has_one_contact(off, side, ball):
    """Closed form: a ball on a plate near a seam touches the plate below its centre, with the
    plate's normal, and nothing else, wherever it is; also below four quarters."""
    wide = rl.Box((1.2, 1, 0.2))
    overlapping = rl.Compound([(wide, (-0.4, 0, 0)), (wide, (0.4, 0, 0))])
    plates = (cut(PLATE, (0.0,)), cut(PLATE, (0.0,), (0.0,)), overlapping)
    for plate in plates:
        at = (side * off, -0.3 * off, 0.1 + ball.radius)
        found = contacts_of((plate, (0, 0, 0)), (ball, at), reach=0.05)
        # as far as the whole plate has it: rounding of the height of the largest ball
        assert len(found) == 1
        np.testing.assert_allclose(found.normal, [[0, 0, 1]], **NEAR)
        np.testing.assert_allclose(found.point, [[*at[:2], 0.1]], rtol=0, atol=1e-9)


def halves_of(solid, rng):
    """A convex solid cut in two by a plane at random, as one body with the same frame."""
    dim, v = solid.dim, solid.vertices
    n = rng.normal(size=dim)
    n /= np.linalg.norm(n)
    s = v @ n - 0.1 * rng.normal() * solid.bounding_radius
    i, j = np.nonzero((s[:, None] < 0) & (s > 0))
    on = v[i] + (v[j] - v[i]) * (s[i] / (s[i] - s[j]))[:, None]
    parts = [type(solid)(np.concatenate([v[side], on])) for side in (s <= 0, s >= 0)]
    return rl.Compound(parts, centre=np.zeros(dim), inertia_per_mass=1.0 if dim == 2 else (1, 1, 1))


@pytest.mark.parametrize("dim", [2, 3])
def test_solids_cut_anywhere_touch_as_whole_ones(dim):
    """Reference twin, at random: polygons and polyhedra cut by any plane have the closed contacts
    of the whole ones with balls, capsules, and with boxes by a corner, an edge or flat on a face;
    with round bodies all contacts within reach."""
    rng, hull = np.random.default_rng(dim), rl.Polygon if dim == 2 else rl.ConvexPolyhedron
    compared = 0
    for trial in range(90):
        whole = hull(rng.normal(size=(rng.integers(4, 9), dim)))
        glued = halves_of(whole, rng)
        size = rng.uniform(0.2, 1, 3)
        kind, way = trial % 3, rng.normal(size=dim)
        if kind == 0:
            other = rl.Disk(size[0]) if dim == 2 else rl.Sphere(size[0])
        elif kind == 1 and dim == 3:
            other = rl.Capsule(*size[:2])
        else:
            other = rl.rectangle(*size[:2]) if dim == 2 else rl.Box(size)
        turn = rotations.normalized(
            rng.normal(size=4) * ([1, 1, 1, 1] if dim == 3 else [1, 0, 0, 1])
        )
        aside = np.zeros(dim)
        if kind == 2 and trial % 2:  # flat on a face
            way = whole.normals[rng.integers(len(whole.normals))]
            turn = rotations.aligning_z(np.pad(-way, (0, 3 - dim)))
            if dim == 2:
                turn = rotations.about_z(np.arctan2(way[1], way[0]) + np.pi / 2)
            aside = 0.2 * rng.normal(size=dim)
            aside -= aside @ way * way
        way = way / np.linalg.norm(way)

        def pair(shape, far, reach=0.02, other=other, turn=turn, aside=aside, way=way, dim=dim):
            scene = rl.Scene(dim=dim)
            scene.add(shape, position=np.zeros(dim))
            scene.add_many(other, [aside + far * way], quaternions=[turn])
            return find_contacts(scene.bodies, scene.state, reach)

        def apart(far, whole=whole, pair=pair):
            return pair(whole, far, 20.0).gap.min()

        high = brentq(apart, 0.0, 10.0, xtol=1e-14) + 1e-13  # where they touch
        for more in (0.0, 0.015):
            known, found = pair(whole, high + more), pair(glued, high + more)
            if kind == 2 or (dim == 2 and kind == 1):
                # beyond them the halves tell of more places that are open, each of its own
                known, found = (c.select(c.gap < c.gap.min() + 1e-8) for c in (known, found))
            assert len(known) > 0
            # corners of cut hulls are rounded at 1e-15, which flat angles amplify
            np.testing.assert_allclose(rows(found), rows(known), rtol=0, atol=1e-6)
            compared += 1
    assert compared == 180


def test_a_tilted_block_over_strips_keeps_its_corners():
    """Reference twin, at random: a block a little tilted lands on a floor of strips. Its corners
    have the contacts they have over a floor of one piece, with the same places and gaps, though the
    search sees but the edge of a strip; and no normal leans more than the block."""
    rng, box, exact = np.random.default_rng(0), rl.Box((0.9, 0.5, 0.3)), 0
    for trial in range(80):
        x = np.sort(rng.uniform(-0.6, 0.6, rng.integers(1, 5)))
        tilt = rng.normal(size=3) * [0.02, 0.02, 0]
        turn = rotations.about_z(np.float64(rng.uniform(0, 3) if trial % 2 else 0.0))
        turn = rotations.multiply(from_rotation_vector(tilt), turn)
        lowest = (box.polytope.vertices @ rotations.matrix(turn).T)[:, 2].min()
        found = []
        for floor in (rl.Box((6, 3, 0.5)), cut((6, 3, 0.5), x)):
            scene = rl.Scene()
            scene.add(floor, position=(0, 0, -0.25), fixed=True)
            scene.add(box, position=(0.1, 0.05, 1e-4 - lowest), orientation=turn)
            found.append(find_contacts(scene.bodies, scene.state, 0.03))
        known, found = found
        assert len(known) == 4
        lean = np.linalg.norm(tilt)
        assert (found.normal[:, 2] > np.cos(1.001 * lean)).all()
        places = [np.column_stack([c.point, c.gap]) for c in (known, found)]
        away = np.abs(places[0][:, None] - places[1][None]).max(axis=2).min(axis=1)
        # measured along another normal, a place differs by lean times the largest gap
        assert away.max() <= lean * known.gap.max()
        exact += away.max() < 1e-12
    assert exact >= 75


def test_other_round_parts_over_a_seam():
    """Reference twin: capsules, cylinders and ellipsoids over a seam touch as over one plate."""
    for shape, high in (
        (rl.Capsule(0.1, 0.6), 0.4),
        (rl.Cylinder(0.1, 0.6), 0.3),
        (rl.Ellipsoid((0.3, 0.2, 0.1)), 0.1),
    ):
        for off in (0.0, 1e-10, 1e-3, 0.05):
            at = (off, 0.0, 0.1 + high)
            known, found = (
                contacts_of((plate, (0, 0, 0)), (shape, at), reach=0.02)
                for plate in (rl.Box(PLATE), cut(PLATE, (0.0,)))
            )
            # the search for round pairs ends at 1e-9 of their size
            np.testing.assert_allclose(rows(found), rows(known), rtol=0, atol=1e-8)


def test_rods_of_pieces():
    """Reference twin: a cylinder of two pieces end to end lies on a plane on its two ends."""
    half = rl.Cylinder(0.1, 0.5)
    rod = rl.Compound([(half, (0, 0, -0.25)), (half, (0, 0, 0.25))])
    turn = (1, 0, 1, 0)
    for shape in (rod, rl.Cylinder(0.1, 1.0)):
        scene = rl.Scene()
        scene.add(rl.HalfSpace(), position=(0, 0, 0))
        scene.add(shape, position=(0, 0, 0.1), orientation=turn)
        found = find_contacts(scene.bodies, scene.state, np.array([0.0, 1e-3]))
        np.testing.assert_allclose(np.sort(found.point[:, 0]), [-0.5, 0.5], **NEAR)


def test_inner_corners_keep_their_contacts():
    """Closed form: a box in the corner of an L, on the foot and a little off the wall, has four
    contacts in 2D, also at the corner; so has a corner that points into it, one with each."""
    for wall, at in ((rl.rectangle(1, 3), (-0.5, 1.5)), (rl.rectangle(1, 2), (-0.5, 2.0))):
        # wall from the floor, or standing on a foot that reaches below it
        foot = (rl.rectangle(2, 1), (1, 0.5)) if wall.bounding_radius > 1.5 else (
            rl.rectangle(3, 1), (0.5, 0.5)
        )  # fmt: skip
        corner = rl.Compound([(wall, at), foot])
        block = rl.rectangle(0.6, 0.8)
        for gap in (0.0, 1e-9, 1e-5):
            found = contacts_of((corner, corner.centre), (block, (0.3 + gap, 1.4)))
            known = [[0.5 * gap, 1, 1, 0, gap], [0.5 * gap, 1.8, 1, 0, gap]]
            known += [[gap, 1, 0, 1, 0], [0.6 + gap, 1, 0, 1, 0]]
            table = np.column_stack([found.point[:, :2], found.normal[:, :2], found.gap])
            order = np.lexsort(table.round(6).T[[1, 0, 3]])
            np.testing.assert_allclose(table[order], known, **NEAR)
            tip = rl.Polygon([[0, 0], [1, 0.9], [0.9, 1]])
            found = contacts_of((corner, corner.centre), (tip, tip.centre + [gap, 1 + gap]))
            assert sorted(map(tuple, found.normal[:, :2].round(6))) == [(0, 1), (1, 0)]


def test_ridges():
    """Closed form: over the ridge of a roof of two wedges a ball has one contact, along the line
    to its centre; over a slope the slope's."""
    roof = rl.Compound(
        [rl.Polygon([[-1, 0], [0, 0], [0, 1]]), rl.Polygon([[0, 0], [1, 0], [0, 1]])]
    )
    ball = rl.Disk(0.5)
    for angle in np.radians([0.0, 20.0, 44.0, 46.0, -30.0, -60.0]):
        leans = np.clip(angle, -np.pi / 4, np.pi / 4)
        foot = np.array([0, 1.0]) + (0.0 if angle == leans else 0.01) * np.array(
            [np.sign(angle), -1]
        )
        n = np.array([np.sin(leans), np.cos(leans)])
        found = contacts_of((roof, roof.centre), (ball, foot + 0.5 * n), reach=0.02)
        assert len(found) == 1
        np.testing.assert_allclose(found.normal[:, :2], [n], **NEAR)


def test_what_lies_lower_keeps_its_contact():
    """Closed form: a part below the plane of another one's contact, but with a place of its own,
    keeps its contact: a disk over a large and a smaller one beside it."""
    small = np.array([0.6, 0.68])
    clump = rl.Compound(
        [(rl.Disk(1.0), (0, 0)), (rl.Disk(0.3), small)], centre=(0, 0), inertia_per_mass=1.0
    )
    found = contacts_of((clump, (0, 0)), (rl.Disk(1.0), (0, 2)), reach=0.1)
    away = np.linalg.norm([0, 2] - small)
    np.testing.assert_allclose(np.sort(found.gap), [0, away - 1.3], **NEAR)


def test_one_number_for_each_contact_and_the_same_next_time():
    """Property: the features of two bodies differ, name the parts, and stay when bodies move."""
    feet = rl.Compound([(rl.Box((0.2, 0.2, 0.4)), (x, y, 0)) for x in (0, 1) for y in (0, 1)])
    floor = cut((4.0, 4.0, 0.4), (0.7,), (0.2,))
    here = contacts_of((floor, (0, 0, 0)), (feet, (0, 0, 0.4)))
    there = contacts_of((floor, (0, 0, 0)), (feet, (0.01, -0.01, 0.4 - 1e-6)))
    assert len(here) == 16 and len(np.unique(here.key)) == 16 and (np.diff(here.key) > 0).all()
    np.testing.assert_array_equal(here.key, there.key)
    values = np.arange(16.0)
    np.testing.assert_array_equal(there.carry_over(here, values), values)
    # also from contacts whose numbers are small, as those of a checkpoint with fewer contacts
    few = replace(here.select(here.feature < 65536))
    assert 0 < len(few) < 16
    carried = there.carry_over(few, np.ones(len(few)), missing=-1.0)
    np.testing.assert_array_equal(carried == 1.0, np.isin(here.key, few._key(here._features)))


def test_single_shapes_beside_a_compound_are_found_as_without():
    """Reference twin: to the last bit, numbers and all."""
    scene = rl.scenes.load("container")
    alone = find_contacts(scene.bodies, scene.state, 0.2 * (~scene.bodies.are(rl.HalfSpace)))
    n = len(scene)
    scene.add(cut(PLATE, (0.0,)), position=(0, 0, 50))
    found = find_contacts(scene.bodies, scene.state, 0.2 * (~scene.bodies.are(rl.HalfSpace)))
    found = found.select(found.body.max(axis=1) < n)
    assert len(alone) > 100
    for name in ("body", "feature", "point", "normal", "gap", "curvature"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))


def test_parts_do_not_touch_each_other_and_errors_name_them():
    """Property: parts of a body have no contact, even with one centre; two bodies' parts with one
    centre are an error that names both."""
    ball = rl.Sphere(0.5)
    pair = rl.Compound([(ball, (0, 0, 0)), (ball, (0, 0, 0)), (ball, (0.9, 0, 0))])
    with pytest.warns(rl.errors.SceneWarning):
        assert len(contacts_of((pair, (0, 0, 0)), (ball, (9, 0, 0)))) == 0
    two = rl.Compound([(ball, (-1, 0, 0)), (ball, (1, 0, 0))])
    with pytest.raises(ContactError, match=r"'0 \(part 1\)' and '1' have the same centre"):
        contacts_of((two, (0, 0, 0)), (ball, (1, 0, 0)))


def test_many_parts_on_many_parts():
    """Contract: a plate of 256 tiles on a floor of as many has four contacts, found at a cost that
    grows like their pairs; looking for corners took 4 s among a thousand contacts, now 20 ms."""
    n = 16
    tiles = [(rl.Box((1, 1, 0.2)), (i, j, 0)) for i in range(n) for j in range(n)]
    scene = rl.Scene()
    scene.add(rl.Compound(tiles), position=(0, 0, 0), fixed=True)
    scene.add(rl.Compound(tiles), position=(0.3, 0.4, 0.2))
    find_contacts(scene.bodies, scene.state, 1e-3)
    before = time.process_time()
    found = find_contacts(scene.bodies, scene.state, 1e-3)
    assert time.process_time() - before < 1.0  # fifty times what it takes, a quarter of before
    assert len(found) == 4
