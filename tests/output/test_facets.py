"""Triangles that the viewer draws."""

import numpy as np
import pytest

from rigidlimit.bodies import Box, Capsule, Cylinder, Ellipsoid, Polygon
from rigidlimit.output.view_bodies import facets, plane_patch

UP = np.array([0.0, 0.0, 1.0])


def area(corner):
    a, b, c = corner.reshape(-1, 3, 3).transpose(1, 0, 2)
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


@pytest.mark.parametrize(
    "shape", [Box((1, 2, 3)), Cylinder(1, 2), Capsule(1, 2), Ellipsoid((1, 2, 3))]
)
def test_normals_point_outward(shape):
    """Property of convex bodies about the origin: normal . position > 0; unit length."""
    f = facets(shape)
    assert (np.einsum("ij,ij->i", f.corner, f.normal) > 0).all()
    # unit up to rounding
    np.testing.assert_allclose(np.linalg.norm(f.normal, axis=1), 1, atol=1e-12)


def test_normals_of_a_box_and_an_ellipsoid():
    """Closed form: a box has its six normals; a round body that of its surface, up to facets."""
    assert len(np.unique(facets(Box((1, 2, 3))).normal.round(9), axis=0)) == 6
    axes = np.array([1.0, 1.2, 1.1])
    f = facets(Ellipsoid(tuple(axes)))
    exact = f.corner / axes**2
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    # facets of 162 points are about 0.2 wide: normals off by less than that angle
    assert (np.einsum("ij,ij->i", f.normal, exact) > np.cos(0.2)).all()


def test_edges_of_a_box():
    """Closed form: at a corner of a box the four distances are 0, 0 and two side lengths; the
    diagonals across its faces are no edges."""
    f = facets(Box((1, 2, 3)))
    assert len(f) == 36
    for corner, normal, edge in zip(f.corner, f.normal, f.edge, strict=True):
        sides = np.delete(2 * np.abs(corner), np.argmax(np.abs(normal)))
        np.testing.assert_allclose(np.sort(edge), [0, 0, *np.sort(sides)], atol=1e-12)


def test_round_parts_have_no_edges():
    """Property: none on an ellipsoid or a capsule; a cylinder's are its two rims."""
    for shape in (Ellipsoid((1, 1, 1)), Capsule(1, 2)):
        assert np.isinf(facets(shape).edge).all()
    f = facets(Cylinder(1, 2))
    mantle = np.abs(f.normal[:, 2]) < 0.5
    assert np.isfinite(f.edge[~mantle]).all()
    # on the mantle a corner is 0 from its rim and 2 from the other, which its triangle touches
    np.testing.assert_allclose(np.sort(f.edge[mantle])[:, 0], 0, atol=1e-12)


def test_polygon_lies_in_its_plane():
    """Closed form: area, and normals towards the eye."""
    f = facets(Polygon(np.array([[0, 0], [2, 0], [2, 1], [0, 1]])))
    assert area(f.corner) == pytest.approx(2)
    assert (f.normal == UP).all() and (f.corner[:, 2] == 0).all()


def test_patches_of_planes():
    """Closed form: a floor in a box is its base; a wall hides what is behind it; a line in 2D is a
    strip below it; a plane off the box is beside it."""
    low, high = np.array([-1.0, -2, -0.5]), np.array([1.0, 2, 3])
    floor = plane_patch(UP, np.zeros(3), low, high)
    assert area(floor.corner) == pytest.approx(8) and (floor.normal == UP).all()
    wall = (np.array([1.0, 0, 0]), np.array([-0.5, 0, 0]))
    cut = plane_patch(UP, np.zeros(3), low, high, [wall])
    assert area(cut.corner) == pytest.approx(6) and cut.corner[:, 0].min() == pytest.approx(-0.5)
    below = plane_patch(UP, np.array([0, 0, -9.0]), low, high)
    assert area(below.corner) == pytest.approx(8)
    np.testing.assert_allclose(below.corner[:, 2], -9, atol=1e-12)
    a, b, c = cut.corner.reshape(-1, 3, 3).transpose(1, 0, 2)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all(), "seen from the side of its normal"
    line = plane_patch(
        np.array([0.0, 1, 0]), np.zeros(3), np.array([-3.0, 0, 0]), np.array([3.0, 4, 0]), dim=2
    )
    size = np.hypot(6, 4)
    assert area(line.corner) == pytest.approx(6 * size / 50)
    assert line.corner[:, 1].max() == 0 and (line.normal == UP).all()
