"""Shapes, mass and motion of rigid bodies."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import hulls, rotations
from rigidlimit.bodies.bodies import State
from rigidlimit.bodies.mass import (
    block_matrix,
    inverse_blocks,
    mass_blocks,
    mass_matrix,
    world_inertia,
)
from rigidlimit.bodies.motion import move
from rigidlimit.errors import SceneError
from rigidlimit.output.surfaces import surface
from tests.problems import from_rotation_vector

SOLIDS = [
    rl.Sphere(0.7),
    rl.Box((1.0, 2.0, 0.5)),
    rl.Capsule(0.3, 1.2),
    rl.Cylinder(0.5, 0.8),
    rl.Ellipsoid((0.5, 0.8, 0.3)),
]


@pytest.mark.parametrize("shape", SOLIDS, ids=lambda s: type(s).__name__)
def test_moments_against_a_fine_mesh(shape):
    """Reference twin: volume and inertia of the hull of many surface points, which lie inside
    the solid by a few percent at 162 points."""
    points, _ = surface(shape)
    twin = rl.ConvexPolyhedron(points)
    tolerance = 1e-12 if isinstance(shape, rl.Box) else 0.06
    assert twin.measure == pytest.approx(shape.measure, rel=tolerance)
    np.testing.assert_allclose(
        twin.inertia_per_mass, shape.inertia_per_mass, atol=tolerance * shape.bounding_radius**2
    )
    assert np.linalg.norm(points, axis=1).max() == pytest.approx(shape.bounding_radius, rel=0.02)


def test_capsule_limits():
    """Closed form: a very short capsule is a ball."""
    ball, capsule = rl.Sphere(0.5), rl.Capsule(0.5, 1e-9)
    assert capsule.measure == pytest.approx(ball.measure, rel=1e-8)
    np.testing.assert_allclose(capsule.inertia_per_mass, ball.inertia_per_mass, atol=1e-8)


def test_polyhedron_is_moved_to_its_centre():
    """Property: the same solid given elsewhere has the same vertices and remembers where it was."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 3))
    a, b = rl.ConvexPolyhedron(points), rl.ConvexPolyhedron(points + [5, -3, 2])
    np.testing.assert_allclose(a.vertices, b.vertices, atol=1e-12)
    np.testing.assert_allclose(b.centre - a.centre, [5, -3, 2], atol=1e-12)
    for face, normal in zip(a.faces, a.normals, strict=True):
        loop = a.vertices[face]
        area = np.cross(loop[1] - loop[0], loop[2] - loop[0]) @ normal
        assert area > 0  # counter-clockwise from outside
        assert ((a.vertices - loop[0]) @ normal <= 1e-12).all()


def test_normals_of_faces_with_nearly_straight_corners():
    """Closed form: a prism in any orientation, its coordinates rounded to 13 digits, stands on a
    face four corners of which are in line to 1e-4 of its size; that face's normal is the prism's
    axis. (It was that of any one of its triangles, of a sliver 1e-9 off, and pushed apart bodies
    that share the face.)"""
    rng = np.random.default_rng(2)
    ring = np.array([[-1, 0], [0, -1], [1, 0], [0.6, 0.4], [0.4, 0.6], [0, 1]], float)
    ring[3:5] += 1e-4
    prism = np.vstack([np.column_stack([ring, np.full(len(ring), z)]) for z in (0.0, 0.7)])
    for _ in range(100):
        turn = rotations.matrix(rotations.normalized(rng.normal(size=4)))
        shape = rl.ConvexPolyhedron((prism @ turn.T).round(13))
        along = shape.normals @ turn[:, 2]
        for end in (along.argmin(), along.argmax()):
            # corners are off by 1e-13 at most, over a face of size 1
            assert np.linalg.norm(np.cross(shape.normals[end], turn[:, 2])) < 5e-13


def test_polygon_moments():
    """Closed form: a rectangle, and a right triangle with J = m (a^2 + b^2)/18."""
    box = rl.rectangle(2.0, 1.0)
    assert box.inertia_per_mass[2, 2] == pytest.approx(5 / 12)
    triangle = rl.Polygon(np.array([[0, 0], [3, 0], [0, 4]], float))
    assert triangle.measure == pytest.approx(6)
    assert triangle.inertia_per_mass[2, 2] == pytest.approx(25 / 18)
    np.testing.assert_allclose(triangle.centre, [1, 4 / 3])


@pytest.mark.parametrize(
    "make",
    [
        lambda: rl.Sphere(-1),
        lambda: rl.Box((1, 1)),
        lambda: rl.Capsule(1, 0),
        lambda: rl.Ellipsoid((1, 2, np.nan)),
        lambda: rl.ConvexPolyhedron(np.eye(3)),
        lambda: rl.ConvexPolyhedron(np.zeros((8, 3))),
        lambda: rl.Polygon(np.array([[0, 0], [1, 1], [2, 2]], float)),
        lambda: rl.Material(young=0),
        lambda: rl.Material(poisson=0.7),
    ],
)
def test_degenerate_shapes(make):
    """A degenerate shape or material is an error, never NaN later on."""
    with pytest.raises(SceneError, match="expected"):
        make()


def test_rotations():
    """Closed forms: composition, matrices, exponential and Cayley maps."""
    rng = np.random.default_rng(1)
    a, b = rotations.normalized(rng.normal(size=(2, 5, 4)))
    np.testing.assert_allclose(
        rotations.matrix(rotations.multiply(a, b)),
        rotations.matrix(a) @ rotations.matrix(b),
        atol=1e-14,
    )
    theta = np.array([[0.0, 0.0, np.pi / 2], [0.0, 0.0, 0.0]])
    R = rotations.matrix(from_rotation_vector(theta))
    np.testing.assert_allclose(R[0] @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(R[1], np.eye(3))
    np.testing.assert_allclose(rotations.angle_about_z(rotations.about_z(np.array([1.2]))), [1.2])
    cayley = rotations.from_cayley(np.array([[0, 0, 0.5]]))
    np.testing.assert_allclose(rotations.angle_about_z(cayley), [2 * np.arctan(0.25)])
    for n in rotations.normalized(rng.normal(size=(20, 3))):
        np.testing.assert_allclose(
            rotations.matrix(rotations.aligning_z(n)) @ [0, 0, 1], n, atol=1e-14
        )


def one_body(shape, spin, **options):
    scene = rl.Scene(gravity=(0, 0, 0))
    scene.add(shape, position=(0, 0, 0), angular_velocity=spin, velocity=(1, 2, 3), **options)
    return scene.bodies, scene.state


def test_free_flight_keeps_momentum_and_energy():
    """Property: 2,000 large steps of a tumbling box (implicit midpoint keeps both quadratic
    invariants; the tolerance is rounding over the steps)."""
    bodies, state = one_body(rl.Box((1, 2, 3)), (3.0, 0.1, 0.2))
    J = world_inertia(bodies, state)[0]
    L0, E0 = J @ state.velocity[0, 3:], state.velocity[0, 3:] @ J @ state.velocity[0, 3:]
    for _ in range(2000):
        state = move(bodies, state, state.velocity, 0.05)
    J = world_inertia(bodies, state)[0]
    w = state.velocity[0, 3:]
    np.testing.assert_allclose(J @ w, L0, atol=1e-10 * np.linalg.norm(L0))
    assert w @ J @ w == pytest.approx(E0, rel=1e-10)
    np.testing.assert_allclose(state.velocity[0, :3], [1, 2, 3])


def test_tumbling_converges():
    """Convergence slope: the attitude at t = 1 has an error of second order in dt."""
    errors = []
    bodies, start = one_body(rl.Box((1, 2, 3)), (3.0, 0.5, 0.2))
    answers = []
    for steps in (50, 100, 200, 3200):
        state = start
        for _ in range(steps):
            state = move(bodies, state, state.velocity, 1 / steps)
        answers.append(state.quaternion[0])
    errors = [np.linalg.norm(q - answers[-1]) for q in answers[:-1]]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (slopes > 1.9).all() and (slopes < 2.1).all()


def test_held_degrees_of_freedom():
    """Property: Gamma_D carries no mass and does not move."""
    bodies, state = one_body(rl.Box((1, 2, 3)), (0, 0, 1.0), fixed=["x", "rx", "ry"])
    blocks = mass_blocks(bodies, state)
    inverse = inverse_blocks(bodies, blocks)
    held = ~bodies.free[0]
    assert not blocks[0][held].any() and not inverse[0][:, held].any()
    product = blocks[0] @ inverse[0]
    np.testing.assert_allclose(product, np.diag(bodies.free[0].astype(float)), atol=1e-14)
    moved = move(bodies, state, np.ones((1, 6)), 0.1)
    assert moved.position[0, 0] == pytest.approx(0.1 * state.velocity[0, 0])  # keeps its own speed
    assert isinstance(moved, State)


def test_mass_of_balls_is_made_once():
    """Reference twin: the mass matrix from its blocks, for balls (kept) and a turned box (anew)."""
    for shape, kept in ((rl.Sphere(0.5), True), (rl.Box((1, 2, 3)), False)):
        bodies, state = one_body(shape, (0, 0, 1.0))
        turned = move(bodies, state, state.velocity, 0.3)
        M = mass_matrix(bodies, turned)
        np.testing.assert_allclose(
            M.toarray(), block_matrix(mass_blocks(bodies, turned)).toarray(), atol=1e-12
        )
        assert (mass_matrix(bodies, state) is M) == kept


def test_half_space_of_a_normal():
    """A user's mistake: the normal in place of the dimension; it is told where that belongs."""
    with pytest.raises(rl.errors.SceneError, match=r"dim is \(0, 1\); expected 2 or 3 .*normal="):
        rl.HalfSpace((0, 1))


def test_tables_are_made_once():
    """Property: what follows from the constant data is computed once and cannot be written to."""
    scene = rl.Scene()
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    for radius in (0.1, 0.2, 0.4):
        scene.add(rl.Sphere(radius), position=(radius, 0, 1))
    bodies = scene.bodies
    np.testing.assert_array_equal(bodies.bounding_radius, [np.inf, 0.1, 0.2, 0.4])
    assert bodies.length == 0.2
    np.testing.assert_array_equal(bodies.are(rl.Sphere, rl.Disk), [False, True, True, True])
    made = []
    for _ in range(2):
        assert bodies.derived(made.append) is None  # one list method: the same table's name
    for table in (bodies.bounding_radius, bodies.are(rl.Sphere, rl.Disk)):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 1
    assert len(made) == 1
    assert bodies.bounding_radius is bodies.bounding_radius


def test_dents_are_not_lost_without_a_word():
    """An L-shaped outline is no convex polygon: its hull is taken, and that is said. Midpoints of
    edges, and points a little inside, are no dents."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    with pytest.warns(rl.errors.SceneWarning, match="1 of 6 points, first 3"):
        assert rl.Polygon(outline).measure == pytest.approx(3.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.Polygon([(0, 0), (1, 0), (2, 0), (2, 2), (0, 2), (0.001, 1)])


def test_triangular_faces_at_once_are_those_one_by_one(monkeypatch):
    """Reference twin: stones, whose faces are triangles and are made together, are to the last
    digit those whose faces are made one by one; also mixed with faces of more corners, of a prism
    and of a block with corners cut off."""
    rng = np.random.default_rng(5)
    clouds = [rng.normal(size=(k, 3)) * rng.uniform(0.1, 3, 3) for k in (4, 5, 8, 12, 40) * 6]
    ring = np.array([(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 8)[:-1]])
    clouds.append(np.concatenate([np.column_stack([ring, np.full(7, z)]) for z in (0.0, 0.3)]))
    box = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
    cut = [c * (1 - 0.3 * np.eye(3)[axis]) for c in box[:3] for axis in range(3)]
    clouds.append(np.concatenate([cut, box[3:]]))
    for points in clouds:
        together = rl.ConvexPolyhedron(points)
        with monkeypatch.context() as patch:
            patch.setattr(hulls, "SETTINGS", replace(hulls.SETTINGS, paired=0))
            one_by_one = rl.ConvexPolyhedron(points)
        np.testing.assert_array_equal(together.normals, one_by_one.normals)
        assert len(together.faces) == len(one_by_one.faces)
        for a, b in zip(together.faces, one_by_one.faces, strict=True):
            np.testing.assert_array_equal(a, b)
