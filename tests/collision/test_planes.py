"""Half-spaces against every shape: the compiled support features against a slow twin."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.collision.planes import RIM_POINTS
from rigidlimit.collision.search import find_contacts

SHAPES = {
    "sphere": rl.Sphere(0.3),
    "box": rl.Box((0.4, 0.6, 0.8)),
    "capsule": rl.Capsule(0.2, 0.7),
    "cylinder": rl.Cylinder(0.3, 0.5),
    "ellipsoid": rl.Ellipsoid((0.5, 0.3, 0.2)),
    "polyhedron": rl.ConvexPolyhedron([[0, 0, 0], [1, 0, 0], [0, 0.8, 0], [0, 0, 0.6]]),
}


def twin(shape, turn, centre, normal, height):
    """{feature: (gap, surface point, curvature)} of one body over the plane n . x = height."""
    local = turn.T @ normal
    if isinstance(shape, rl.Sphere | rl.Disk):
        points = {0: (-shape.radius * local, 1 / shape.radius)}
    elif isinstance(shape, rl.Capsule):
        points = {
            k: (np.array([0, 0, z]) - shape.radius * local, 1 / shape.radius)
            for k, z in enumerate((-shape.length / 2, shape.length / 2))
        }
    elif isinstance(shape, rl.Ellipsoid):
        A = np.diag(1 / np.array(shape.semi_axes) ** 2)
        x = -np.linalg.solve(A, local) / np.sqrt(local @ np.linalg.solve(A, local))
        # mean curvature of x^T A x = 1 is half the divergence of its unit normal A x / |A x|
        size = np.linalg.norm(A @ x)
        points = {0: (x, 0.5 * (np.trace(A) / size - (A @ x) @ A @ (A @ x) / size**3))}
    elif isinstance(shape, rl.Cylinder):
        R, h = shape.radius, shape.length / 2
        across = np.array([local[0], local[1], 0])
        if np.linalg.norm(across) < 1e-3:
            angle = 2 * np.pi / RIM_POINTS * np.arange(RIM_POINTS)
            rim = R * np.column_stack([np.cos(angle), np.sin(angle)])
            points = {
                2 + RIM_POINTS * end + k: (np.array([*rim[k], z]), 0.0)
                for end, z in enumerate((-h, h))
                for k in range(RIM_POINTS)
            }
        else:
            low = -R * across / np.linalg.norm(across)
            points = {0: (low - [0, 0, h], 0.0), 1: (low + [0, 0, h], 0.0)}
    else:
        corners = shape.polytope.vertices if isinstance(shape, rl.Box) else shape.vertices
        if corners.shape[1] == 2:
            corners = np.column_stack([corners, np.zeros(len(corners))])
        points = {k: (corner, 0.0) for k, corner in enumerate(corners)}
    world = {k: (centre + turn @ x, curvature) for k, (x, curvature) in points.items()}
    return {k: (normal @ x - height, x, curvature) for k, (x, curvature) in world.items()}


def compare(scene, reach):
    """Contacts of the scene with its planes, one by one; returns their number."""
    bodies, state = scene.bodies, scene.state
    found = find_contacts(bodies, state, reach)
    planes = np.flatnonzero(bodies.are(rl.HalfSpace))
    turns = rotations.matrix(state.quaternion)
    expected = []
    for i in range(len(bodies)):
        for p in planes:
            if i in planes:
                continue
            normal = turns[p] @ bodies.shape(p).local_normal
            points = twin(
                bodies.shape(i), turns[i], state.position[i], normal, normal @ state.position[p]
            )
            for k, (gap, point, curvature) in points.items():
                if gap <= 2 * reach:
                    first = (min(i, p), max(i, p), k)
                    side = normal if p < i else -normal
                    middle = point - 0.5 * gap * normal
                    expected.append((first, (*side, *middle, gap, curvature)))
    expected.sort(key=lambda contact: contact[0])
    mine = np.isin(found.body, planes).any(axis=1)
    keys = np.column_stack([found.body, found.feature])[mine]
    values = np.column_stack([found.normal, found.point, found.gap, found.curvature])[mine]
    assert keys.tolist() == [list(key) for key, _ in expected]
    # the same sums in another order, of terms of order one to ten
    np.testing.assert_allclose(values, [v for _, v in expected], rtol=1e-12, atol=1e-13)
    return len(keys)


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_against_its_twin(name):
    """Reference twin: bodies of one shape and many sizes of poses against three planes, one of
    them after the bodies, some overlapping; order, features, points, gaps and curvatures."""
    rng = np.random.default_rng(7)
    scene = rl.Scene(name="planes", dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, -0.1))
    scene.add(rl.HalfSpace(), position=(-0.2, 0, 0), orientation=(1, 0.1, 0.8, 0.2))
    for k in range(40):
        upright = (1, 0, 0, 0) if k % 4 == 0 else (0, 1, 0, 0) if k % 4 == 1 else None
        scene.add(
            SHAPES[name],
            # far enough apart to search for planes alone
            position=(4 * k, rng.normal(), rng.uniform(-0.3, 1.2)),
            orientation=rng.normal(size=4) if upright is None else upright,
        )
    scene.add(rl.HalfSpace(), position=(0, 0.4, 0), orientation=(1, -0.9, 0.1, 0))
    assert compare(scene, 0.2) > 20


def test_many_shapes_at_once():
    """Reference twin: shapes of all kinds and sizes, none twice, in one scene."""
    rng = np.random.default_rng(3)
    scene = rl.Scene(name="planes", dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    for k in range(60):
        a, b, c = rng.uniform(0.2, 0.8, 3)
        shape = [
            rl.Sphere(a), rl.Box((a, b, c)), rl.Capsule(a, b), rl.Cylinder(a, b),
            rl.Ellipsoid((a, b, c)), rl.ConvexPolyhedron(rng.uniform(-1, 1, (12, 3))),
        ][k % 6]  # fmt: skip
        scene.add(shape, position=(6 * k, 0, rng.uniform(0, 0.8)), orientation=rng.normal(size=4))
    assert compare(scene, 0.1) > 60


def test_plane_scene():
    """Reference twin: disks and polygons over a tilted line."""
    rng = np.random.default_rng(5)
    scene = rl.Scene(name="line", dt=1e-3, dim=2)
    scene.add(rl.HalfSpace(2), position=(0, 0), orientation=0.2)
    for k in range(20):
        shape = rl.Disk(0.4) if k % 2 else rl.Polygon([[0, 0], [1, 0], [1.2, 0.7], [0.3, 0.9]])
        x = 3 * k
        scene.add(shape, position=(x, x * np.tan(0.2) + 0.4), orientation=rng.uniform(-3, 3))
    assert compare(scene, 0.15) > 15


def test_touching_without_reach():
    """Closed form: a gap of exactly zero is a contact when nothing more is searched."""
    scene = rl.Scene(name="touch", dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    scene.add(rl.Sphere(0.5), position=(0, 0, 0.5))
    scene.add(rl.Box((1, 1, 1)), position=(3, 0, 0.5))
    scene.add(rl.Sphere(0.5), position=(6, 0, 0.5 + 1e-9))
    found = find_contacts(scene.bodies, scene.state, 0.0)
    assert found.body[:, 1].tolist() == [1, 2, 2, 2, 2]
    assert (found.gap == 0).all()
