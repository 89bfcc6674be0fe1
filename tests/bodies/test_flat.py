"""Polyhedra whose coordinates are rounded have the faces that they were drawn with."""

from itertools import product

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.bodies import rotations

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
