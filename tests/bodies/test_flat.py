"""Polyhedra whose coordinates are rounded have the faces that they were drawn with."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.spatial import Voronoi

import rigidlimit as rl
from rigidlimit.bodies import rotations
from rigidlimit.errors import SceneError, SceneWarning
from rigidlimit.scenes.toml import read_scene, write_scene

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")

SIGNS = np.array(list(product((-1, 1), repeat=3)), float)
PHI = (1 + np.sqrt(5)) / 2
CYCLES = [np.roll(np.eye(3), k, axis=1) for k in range(3)]
SOLIDS = {
    "cube": (SIGNS, 6),
    "cube with points on its faces": (np.array(list(product((-1.0, 0.0, 1.0), repeat=3))), 6),
    "dodecahedron": (
        np.vstack([SIGNS] + [SIGNS * [0, 1 / PHI, PHI] @ turn for turn in CYCLES]),
        12,
    ),
    # four planes in a corner, where three faces meet elsewhere
    "rhombic dodecahedron": (np.vstack([SIGNS, 2 * np.eye(3), -2 * np.eye(3)]), 12),
    "cuboctahedron": (np.vstack([SIGNS * [1, 1, 0] @ turn for turn in CYCLES]), 14),
}


def floats(x):
    return x.astype(np.float32).astype(float)


def digits(x):
    return x.round(6)


def turned(points, seed):
    turn = rotations.normalized(np.random.default_rng(seed).normal(size=4))
    return points @ rotations.matrix(turn).T, turn


@pytest.mark.parametrize("name", SOLIDS)
@pytest.mark.parametrize("rounded", [floats, digits])
def test_rounded_solids_have_their_faces(name, rounded):
    """Closed form: solids in any orientation, rounded as in mesh files and texts, have the faces of
    the exact solid, flat, and corners where they were given."""
    points, faces = SOLIDS[name]
    for seed in range(10):
        given = rounded(turned(points, seed)[0])
        shape = rl.ConvexPolyhedron(given)
        assert len(shape.faces) == faces
        for face, normal in zip(shape.faces, shape.normals, strict=True):
            # four planes of a corner meet to what the turns of moving and fitting leave
            assert np.ptp(shape.vertices[face] @ normal) < 1e-11
        near = np.linalg.norm(shape.vertices[:, None] + shape.centre - given, axis=2).min(axis=1)
        # six digits are off by 5e-7 in each coordinate, and corners move as far
        assert near.max() < 3e-6


@pytest.mark.parametrize("seed", range(4))
def test_blocks_of_a_mesh_file_stand_on_one_another(seed):
    """Closed form: cubes of 4-byte coordinates, stacked with an offset, rest on four corners each.
    (They stood on one triangle of the face below, and tipped, each step converged.)"""
    points, turn = turned(0.5 * SIGNS, seed)
    cube = rl.ConvexPolyhedron(floats(points))
    upright = turn * [1, -1, -1, -1]
    scene = rl.Scene(gravity=(0, 0, -10))
    scene.add(rl.HalfSpace(), position=(0, 0, -0.5), name="floor")
    for k in range(3):
        scene.add(cube, position=(0.1 * k, 0, k), orientation=upright, mass=1.0, name=f"cube {k}")
    simulation = rl.Simulation(scene)
    for _ in range(30):
        result = simulation.step()
    joints = rl.pair_forces(result)
    assert joints["contacts"].tolist() == [4, 4, 4]
    # overlaps by 6e-8 are undone at first, and a step's residual is 1e-10
    np.testing.assert_allclose(joints["force"], [30, 20, 10], rtol=1e-4)
    np.testing.assert_allclose(joints["x"], [0.1, 0.15, 0.2], atol=1e-4)


def rounded_aside(points, decimals):
    """Rounded away from the origin: about it, rounding is as symmetric as the solid."""
    return (points + [0.1234567, 0.2345678, 0.3456789]).round(decimals)


def advised(shape):
    """The distance that the doubt of a shape advises."""
    return float(shape.doubt.split("flat=")[1].split(")")[0])


@pytest.mark.parametrize("name", [name for name in SOLIDS if "points" not in name])
@pytest.mark.parametrize("decimals", [3, 4, 5])
def test_faces_in_pieces_are_told_and_put_together(name, decimals):
    """Closed form: of few digits the faces fall into pieces, which is told, and what is advised
    gives the faces of the exact solid back."""
    points, faces = SOLIDS[name]
    told = 0
    for seed in range(10):
        given = rounded_aside(turned(points, seed)[0], decimals)
        shape = rl.ConvexPolyhedron(given)
        if len(shape.faces) == faces:
            continue  # by chance
        told += 1
        assert f" of {len(shape.faces)} faces" in shape.doubt
        flat = advised(shape)
        # twice what corners are off their faces' triangles, which extrapolate the rounding
        assert 10**-decimals / 4 < flat < 50 * 10**-decimals
        mended = rl.ConvexPolyhedron(given, flat=flat)
        assert len(mended.faces) == faces and not mended.doubt
        assert not rl.ConvexPolyhedron(given, flat=0).doubt
    assert told > 7


def test_other_solids_are_not_doubted():
    """Property: exact solids, round ones of many facets, thin ones, hulls of clouds and cells of a
    Voronoi diagram are as they are meant."""
    rng = np.random.default_rng(0)
    ring = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    circle = np.column_stack([np.cos(ring), np.sin(ring)])
    ball = rng.normal(size=(200, 3))
    shapes = [points for points, _ in SOLIDS.values()]
    shapes += [points * [1, 0.7, 0.05] for points, _ in SOLIDS.values()]
    shapes += [np.vstack([np.column_stack([circle, z * np.ones(90)]) for z in (0, 0.3)])]
    shapes += [ball / np.linalg.norm(ball, axis=1)[:, None]]
    shapes += [rng.normal(size=(k, 3)) for k in range(4, 40)]
    cells = Voronoi(rng.uniform(size=(200, 3)))
    for region in (cells.regions[r] for r in cells.point_region):
        corners = cells.vertices[region]
        if -1 not in region and np.abs(corners - 0.5).max() < 0.5:
            shapes.append(corners)
    assert len(shapes) > 80
    assert not any(rl.ConvexPolyhedron(points).doubt for points in shapes)


@pytest.mark.parametrize("seed", range(3))
def test_blocks_of_four_digits_are_told_of_and_stand_once_flat(seed):
    """Closed form: as above, of coordinates with four digits: the scene warns, with the body's
    name; with the advised distance every cube stands on four corners."""
    points, turn = turned(0.5 * SIGNS, seed)
    rough = rl.ConvexPolyhedron(rounded_aside(points, 4))
    scene = rl.Scene(gravity=(0, 0, -10))
    with pytest.warns(SceneWarning, match=r"'block 7': \d+ of \d+ faces lie within .*flat="):
        scene.add(rough, position=(0, 0, 0), name="block 7")
    with pytest.warns(SceneWarning, match="'pair', part 1: "):
        scene.add(
            rl.Compound([(rl.Box((1, 1, 1)), (9, 0, 0)), (rough, (0, 0, 9))]),
            position=(0, 9, 0),
            name="pair",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.add(rough, position=(9, 0, 0))  # told already
        cube = rl.ConvexPolyhedron(rounded_aside(points, 4), flat=advised(rough))
        scene = rl.Scene(gravity=(0, 0, -10))
        scene.add(rl.HalfSpace(), position=(0, 0, -0.5), name="floor")
        for k in range(3):
            scene.add(cube, position=(0.1 * k, 0, k), orientation=turn * [1, -1, -1, -1], mass=1.0)
    simulation = rl.Simulation(scene)
    for _ in range(30):
        result = simulation.step()
    joints = rl.pair_forces(result)
    assert joints["contacts"].tolist() == [4, 4, 4]
    # faces lean by 1e-4, and forces by as much; overlaps of 1e-4 are undone at first
    np.testing.assert_allclose(joints["force"], [30, 20, 10], rtol=0.02)


def test_flat_in_files_and_mistaken(tmp_path):
    """Contract: a scene file may say it, what is written reads back without a warning, and a
    distance that is none, or one of another shape, is refused."""
    given = rounded_aside(turned(SIGNS, 0)[0], 3)
    body = '[[bodies]]\nshape = "polyhedron"\npoints = ' + str(given.tolist()) + "\n"
    path, again = tmp_path / "scene.toml", tmp_path / "again.toml"
    path.write_text(body)
    with pytest.warns(SceneWarning, match="faces lie within"):
        assert len(read_scene(path).bodies.shape(0).faces) > 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for flat, faces in ((0.02, 6), (0.0, 12)):
            path.write_text(body + f"flat = {flat}\n")
            scene = read_scene(path)
            write_scene(scene, again)
            for read in (scene, read_scene(again)):
                assert len(read.bodies.shape(0).faces) == faces
    with pytest.raises(SceneError, match="is it in metres"):
        rl.ConvexPolyhedron(given, flat=2)
    with pytest.raises(SceneError, match="flat is -1; expected a distance"):
        rl.ConvexPolyhedron(given, flat=-1)
    path.write_text('[[bodies]]\nshape = "sphere"\nradius = 1.0\nposition = [0, 0, 0]\nflat = 1.0')
    with pytest.raises(SceneError, match="flat: only for shape 'polyhedron'"):
        read_scene(path)


def test_facets_among_exact_faces_stay():
    """Property: a cube given exactly, one corner of which is cut off by 1e-7, has seven faces: what
    is not rounded is meant."""
    cut = np.array([[1 - 1e-7, 1, 1], [1, 1 - 1e-7, 1], [1, 1, 1 - 1e-7]])
    shape = rl.ConvexPolyhedron(np.vstack([SIGNS[:-1], cut]))
    assert len(shape.faces) == 7
    assert np.abs(shape.vertices).min() > 1 - 2e-7


@pytest.mark.parametrize("decimals", [6, 8, 10, 12])
def test_blocks_stand_on_edges_with_rounded_points_on_them(decimals):
    """Closed form: squares with a point in the middle of each edge, turned and rounded, have four
    corners, and rest on one another on two. (A point that stood out by 1e-12 cut the edge in two
    and the block above stood on one of them, or on the point.)"""
    square = np.array([point for point in product((-0.5, 0, 0.5), repeat=2) if any(point)])
    for angle in 0.3 + 0.8 * np.arange(7):
        c, s = np.cos(angle), np.sin(angle)
        shape = rl.Polygon((square @ [[c, s], [-s, c]]).round(decimals))
        assert len(shape.vertices) == 4
        scene = rl.Scene(dim=2, gravity=(0, -10))
        scene.add(rl.HalfSpace(2), position=(0, -0.5), name="floor")
        for k in range(3):
            scene.add(shape, position=(0.1 * k, k), orientation=-angle, mass=1.0, name=f"block {k}")
        joints = rl.pair_forces(rl.Simulation(scene).step())
        assert joints["contacts"].tolist() == [2, 2, 2]
        # leaning by 1e-6 of the size, blocks fall by as much in the step of 1e-3 s
        np.testing.assert_allclose(joints["x"], [0.1, 0.15, 0.2], atol=2e-2)


def test_round_outlines_keep_their_corners():
    """Property: a polygon of 300 corners, each of which stands out by 5e-5, keeps all of them."""
    angle = 2 * np.pi * np.arange(300) / 300
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    assert len(rl.Polygon(ring).vertices) == 300
