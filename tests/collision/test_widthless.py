"""Bodies that touch over no width have no contact; all others keep theirs."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.collision.search import find_contacts
from tests.problems import from_rotation_vector

WEIGHT = 10 * 9.81


def grid(counts, size, seed):
    """Blocks of 10 kg in straight columns side by side, on the ground, in random order."""
    dim = len(counts)
    size = np.array(size)
    cells = np.argwhere(np.ones(counts))
    np.random.default_rng(seed).shuffle(cells)
    scene = rl.Scene(dim=dim)
    scene.add(rl.HalfSpace(dim), position=(0,) * dim)
    for cell in cells:
        at = size * cell
        at[-1] += 0.5 * size[-1]
        scene.add(rl.Box(size) if dim == 3 else rl.rectangle(*size), position=at, mass=10)
    return scene


@pytest.mark.parametrize(
    ("counts", "size"),
    [
        ((5, 5, 5), (0.3, 0.3, 0.3)),
        ((5, 5, 5), (0.25, 0.25, 0.25)),
        ((4, 3, 4), (0.4, 0.1, 0.2)),
        ((5, 5), (0.3, 0.3)),
        ((6, 5), (0.4, 0.2)),
        ((5, 6), (0.1, 0.1)),
    ],
)
def test_columns_side_by_side_bear_their_own_weight(counts, size):
    """Closed form: each corner of a joint carries its share of the blocks above it, whatever the
    order of the bodies; nothing passes between columns."""
    corners = 2 ** (len(counts) - 1)
    for seed in range(3):
        result = rl.Simulation(grid(counts, size, seed)).step()
        assert result.converged
        level = result.contacts.point[:, len(counts) - 1] / size[-1]
        upright = np.abs(result.contacts.normal[:, len(counts) - 1]) > 0.5
        known = np.where(upright, (counts[-1] - np.rint(level)) * WEIGHT / corners, 0.0)
        assert upright.sum() == np.prod(counts) * corners
        # the tolerance of compatible forces, 1e-8 of the largest
        largest = counts[-1] * WEIGHT / corners
        np.testing.assert_allclose(result.force, known, rtol=0, atol=1e-8 * largest)


def pair(shape_a, shape_b, at, turn=None, *, start=(0.0, 0.0, 0.0), swap=False, reach=1e-3):
    """Contacts of two bodies, the second at ``at`` from the first, which stands at ``start``."""
    dim = shape_a.dim
    scene = rl.Scene(dim=dim)
    none = (1, 0, 0, 0) if dim == 3 else 0.0
    start = np.array(start[:dim])
    both = [(shape_a, start, none), (shape_b, start + at, none if turn is None else turn)]
    for shape, position, orientation in both[::-1] if swap else both:
        scene.add(shape, position=position, orientation=orientation)
    return find_contacts(scene.bodies, scene.state, reach)


CUBE, SQUARE = rl.Box((1, 1, 1)), rl.rectangle(1, 1)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.1, 0.7, 1e3)])
@pytest.mark.parametrize(
    ("shape", "at"),
    [
        (CUBE, (1, 0, 1)),
        (CUBE, (1, 0.3, -1)),
        (CUBE, (0.2, 1, 1)),
        (CUBE, (1, -1, 1)),
        (CUBE, (1 + 5e-11, 0, 1 - 5e-11)),
        (SQUARE, (1, 1)),
        (SQUARE, (-1, 1 + 5e-11)),
    ],
)
def test_no_contact_along_an_edge(shape, at, start, swap):
    """Property: none, whichever body is first and wherever they are."""
    assert len(pair(shape, shape, np.array(at), start=start, swap=swap)) == 0


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("shape", "at", "normal", "number"),
    [
        (CUBE, (0, 0, 1), (0, 0, 1), 4),
        (CUBE, (0.5, 0, 1), (0, 0, 1), 4),
        (CUBE, (1, 0, 0.5), (1, 0, 0), 4),
        (CUBE, (0.5, 0.5, 1), (0, 0, 1), 4),
        (CUBE, (1 - 1e-6, 0, 1), (0, 0, 1), None),
        (CUBE, (1, 0, 1 - 1e-6), (1, 0, 0), None),
        (SQUARE, (0, 1), (0, 1), 2),
        (SQUARE, (0.5, 1), (0, 1), 2),
        (SQUARE, (1, 0.5), (1, 0), 2),
        (SQUARE, (1, 1 - 1e-6), (1, 0), None),
    ],
)
def test_contacts_of_some_width_stay(shape, at, normal, number, swap):
    """Closed form: normal along the axis of least overlap, corners of the common part."""
    found = pair(shape, shape, np.array(at), swap=swap)
    assert len(found) == number if number else len(found) > 0
    sign = -1.0 if swap else 1.0
    # exact but for a turn of the axes
    np.testing.assert_allclose(found.normal[:, : shape.dim], sign * np.array([normal] * len(found)))


@pytest.mark.parametrize("shape", [CUBE, SQUARE])
@pytest.mark.parametrize("off", [5e-9, 1e-5, -5e-9, -1e-5])
def test_apart_or_overlapping_diagonals_keep_their_contact(shape, off):
    """Closed form: the gap across the diagonal; overlaps count the least way out."""
    at = np.zeros(shape.dim)
    at[0] = at[-1] = 1 + off
    found = pair(shape, shape, at)
    assert len(found) > 0
    # positions of size 1 round at 1e-16
    np.testing.assert_allclose(found.gap, np.sqrt(2) * off if off > 0 else off, atol=2e-15)


def test_edges_on_faces_and_across_edges_keep_their_contact():
    """Closed form: a box on its edge on a face; two ridges crossed, and along each other."""
    eighth = from_rotation_vector(np.array([[0, np.pi / 4, 0]]))[0]
    on_edge = pair(CUBE, rl.Box((1, 0.8, 1)), np.array([0, 0, 0.5 + np.sqrt(0.5)]), eighth)
    assert len(on_edge) == 2
    roof = rl.ConvexPolyhedron(
        np.array([[x, y, -1.0] for x in (-1, 1) for y in (-1, 1)] + [[0, -1, 0], [0, 1, 0]])
    )
    valley = rl.ConvexPolyhedron(roof.vertices * [1, 1, -1])
    quarter = from_rotation_vector(np.array([[0, 0, np.pi / 2]]))[0]
    at = np.array([0, 0, 2 * roof.vertices[:, 2].max()])
    crossed = pair(roof, valley, at, quarter)
    assert len(crossed) == 1
    # a right angle's sine and cosine round
    np.testing.assert_allclose(np.abs(crossed.normal[0]), [0, 0, 1], atol=1e-12)
    # the same ridges along each other touch over no width
    assert len(pair(roof, valley, at)) == 0


@pytest.mark.parametrize("sides", [8, 24])
def test_corners_of_fine_meshes_keep_their_contact(sides):
    """Property: faces at 45 degrees and less agree on the direction of the force."""
    t = 2 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(t), np.sin(t)])
    prism = rl.ConvexPolyhedron(np.array([(x, y, z) for x, y in ring for z in (-0.5, 0.5)]))
    assert len(pair(prism, prism, np.array([2.0, 0, 0]))) > 0
    assert len(pair(rl.Polygon(ring), rl.Polygon(ring), np.array([2.0, 0]))) > 0
