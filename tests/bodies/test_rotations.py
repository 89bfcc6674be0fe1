"""Rotations as quaternions."""

import numpy as np
import pytest

from rigidlimit.bodies import rotations


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 1.0, 20.0])
def test_turned(size):
    """Reference twin: the product with the quaternion of the turn, brought to length one."""
    rng = np.random.default_rng(0)
    q = rotations.normalized(rng.normal(size=(20, 4)))
    theta = size * rng.normal(size=(20, 3))
    expected = rotations.normalized(rotations.multiply(rotations.from_rotation_vector(theta), q))
    # a dozen operations on numbers of order one
    np.testing.assert_allclose(rotations.turned(q, theta), expected, atol=1e-15)
