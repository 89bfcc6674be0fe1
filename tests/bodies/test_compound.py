"""Mass properties and bad input of bodies of several parts."""

import warnings

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.errors import SceneError, SceneWarning

ROUNDING = dict(rtol=1e-13, atol=1e-14)  # a few sums of numbers of order 1
BALL, BOX, SQUARE = rl.Sphere(0.5), rl.Box((1, 2, 3)), rl.rectangle(1, 1)


def same_mass(a, b):
    """Two shapes with the same measure, inertia and radius."""
    assert a.measure == pytest.approx(b.measure, rel=1e-13)
    told = slice(2 if a.dim == 2 else 0, 3)  # in 2D bodies turn about z only
    for shape in (a, b):
        assert shape.inertia_per_mass.shape == (3, 3)
    np.testing.assert_allclose(
        a.inertia_per_mass[told, told], b.inertia_per_mass[told, told], **ROUNDING
    )
    assert a.bounding_radius == pytest.approx(b.bounding_radius, rel=1e-13)


@pytest.mark.parametrize(
    "shape",
    [
        BALL,
        BOX,
        rl.Capsule(0.3, 1.0),
        rl.Cylinder(0.3, 1.0),
        rl.Ellipsoid((1, 2, 3)),
        rl.ConvexPolyhedron(np.random.default_rng(0).normal(size=(9, 3))),
        rl.Disk(0.4),
        rl.Polygon([[0, 0], [2, 0], [1, 1]]),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_one_part_is_the_part(shape):
    """Property: a compound of one part, wherever and however it lies, is that part, turned."""
    at = np.array([0.4, -0.7, 1.9])[: shape.dim]
    turn = 0.8 if shape.dim == 2 else (0.3, -0.5, 0.1, 0.9)
    same_mass(rl.Compound([(shape, at)]), shape)
    turned = rl.Compound([(shape, at, turn)])
    np.testing.assert_allclose(turned.centre, at, **ROUNDING)
    q = rotations.about_z(turn) if shape.dim == 2 else rotations.normalized(np.array(turn))
    axes = rotations.matrix(q)
    known = axes @ shape.inertia_per_mass @ axes.T
    told = slice(2 if shape.dim == 2 else 0, 3)
    np.testing.assert_allclose(turned.inertia_per_mass[told, told], known[told, told], **ROUNDING)
    assert turned.bounding_radius == pytest.approx(shape.bounding_radius, rel=1e-13)


def test_glued_parts_are_the_whole():
    """Closed form: cut bodies have the mass properties of the whole ones, in 2D and 3D."""
    halves = rl.Compound([(rl.Box((1, 2, 0.5)), (0, 0, 7.0)), (rl.Box((1, 2, 2.5)), (0, 0, 8.5))])
    same_mass(halves, BOX)
    np.testing.assert_allclose(halves.centre, (0, 0, 8.25), **ROUNDING)
    same_mass(
        rl.Compound([rl.Polygon([[0, 0], [1, 0], [0, 1]]), rl.Polygon([[1, 0], [1, 1], [0, 1]])]),
        rl.rectangle(1, 1),
    )
    turned = rl.Compound([(rl.Cylinder(0.5, 1), (0, 0, 0)), (rl.Cylinder(0.5, 2), (0, 0, 1.5))])
    same_mass(turned, rl.Cylinder(0.5, 3))


def test_densities_and_given_inertia():
    """Closed form: a dumbbell of densities 1 and 3; mass properties that are given are taken."""
    balls = [(BALL, (0, 0, 0)), (BALL, (4, 0, 0))]
    heavy = rl.Compound(balls, densities=(1, 3))
    assert heavy.measure == pytest.approx(4 * BALL.measure)
    np.testing.assert_allclose(heavy.centre, (3, 0, 0), **ROUNDING)
    across = 0.4 * 0.25 + (9 + 3 * 1) / 4
    np.testing.assert_allclose(heavy.inertia_per_mass, np.diag([0.1, across, across]), **ROUNDING)
    given = rl.Compound(balls, centre=(1, 0, 0), inertia_per_mass=(1, 2, 3))
    np.testing.assert_array_equal(given.inertia_per_mass, np.diag([1, 2, 3]))
    np.testing.assert_array_equal(given.offsets, [[-1, 0, 0], [3, 0, 0]])
    assert given.bounding_radius == 3.5
    turn = rotations.matrix(np.array([[0.5, 0.1, -0.7, 0.5]]))[0]  # leaves it symmetric to rounding
    tensor = turn @ np.diag([0.1, 0.2, 0.25]) @ turn.T
    assert (tensor != tensor.T).any()
    given = rl.Compound(balls, inertia_per_mass=tensor).inertia_per_mass
    np.testing.assert_array_equal(given, given.T)
    np.testing.assert_allclose(given, tensor, **ROUNDING)
    # flat bodies and rods, to the digits that are given, and tensors that were turned
    for moments in ((1, 2, 3), (0.333333, 0.666667, 1.0), (1e-9, 1, 1), (1, 1, 1e-9)):
        rl.Compound(balls, inertia_per_mass=moments)
        q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
        rl.Compound(balls, inertia_per_mass=q @ np.diag(moments) @ q.T)
    flat = rl.Compound([(SQUARE, (0, 0))], inertia_per_mass=0.7)
    assert flat.inertia_per_mass[2, 2] == 0.7


@pytest.mark.parametrize(
    ("parts", "options", "fragment"),
    [
        ([], {}, "no parts"),
        (BALL, {}, "expected a list of"),
        (3, {}, "expected a list of"),
        ([(BALL, (0, 0, 0)), 3], {}, "part 1 is 3"),
        ([(BALL, (0, 0, 0), None, 1)], {}, r"expected \(shape, position\) or"),
        ([(rl.HalfSpace(), (0, 0, 0))], {}, "part 0 is a half-space"),
        ([(rl.Compound([BALL]), (0, 0, 0))], {}, "part 0 is a compound; .* its parts"),
        ([(BALL, (0, 0, 0)), (SQUARE, (0, 0))], {}, "part 1 is in 2D, those before in 3D"),
        ([(BALL, (0, 0))], {}, r"part 0: position is \(0, 0\); expected 3"),
        ([(BALL, (0, 0, np.nan))], {}, "expected 3 finite numbers"),
        ([(BALL, (0, 0, 0), 0.3)], {}, "orientation is 0.3; expected a quaternion"),
        ([(BALL, (0, 0, 0), (0, 0, 0, 0))], {}, "expected a quaternion"),
        ([(SQUARE, (0, 0), (1, 0, 0, 0))], {}, "expected an angle"),
        ([BALL], {"densities": 2}, "densities is 2; expected 1 positive number"),
        ([BALL], {"densities": (1, 2)}, "one per part"),
        ([BALL], {"densities": (-1,)}, "one per part"),
        ([BALL], {"centre": 1}, "centre is 1; expected 3"),
        ([BALL], {"inertia_per_mass": 1}, "expected 3 positive numbers"),
        ([BALL], {"inertia_per_mass": (1, 1, -1)}, "expected 3 positive numbers"),
        ([SQUARE], {"inertia_per_mass": "a"}, "expected a positive number"),
        ([BALL], {"inertia_per_mass": (1, 1, 30)}, "moments 1, 1, 30 m.2, which no body has"),
        ([BALL], {"inertia_per_mass": [[2, 1.9, 0], [1.9, 2, 0], [0, 0, 2]]}, "0.1, 2, 3.9 m.2"),
    ],
)
def test_bad_input_is_one_clear_error(parts, options, fragment):
    """Bad input: what was found, what was expected."""
    with pytest.raises(SceneError, match=fragment):
        rl.Compound(parts, **options)


def test_overlapping_parts_are_told():
    """Bad input: a clump whose mass counts twice is told of once, unless mass and inertia are
    given; parts that touch are not."""
    clump = [(BALL, (0, 0, 0)), (BALL, (0.6, 0, 0))]
    scene = rl.Scene()
    with pytest.warns(SceneWarning, match="0 and 1 overlap by 0.4 m, .* in mass and inertia"):
        scene.add(rl.Compound(clump), position=(0, 0, 0))
    with pytest.warns(SceneWarning, match="twice in inertia; give the compound's inertia_per"):
        scene.add(rl.Compound(clump), position=(5, 0, 0), mass=1)
    with pytest.warns(SceneWarning, match="same centre"):
        scene.add(rl.Compound([BALL, BALL]), position=(5, 0, 0), mass=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.add_many(scene.bodies.shapes[0], [(0, 0, 9), (0, 0, 12)])
        scene.add(rl.Compound(clump, inertia_per_mass=(1, 1, 1)), position=(0, 0, 5), mass=1)
        scene.add(rl.Compound([(BALL, (0, 0, 0)), (BALL, (1, 0, 0))]), position=(0, 9, 0))
