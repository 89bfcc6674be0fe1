"""Products with the transpose of a sparse matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit._support.products import absolute_product, transposed_product


@pytest.mark.parametrize("seed", range(5))
def test_against_scipy(seed):
    """Reference twin: scipy's product with its own transpose, which adds in the same order: equal
    to the last digit. Strided and integer vectors, and rows and columns without entries occur."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 30, 2)
    A = sp.random_array((m, n), density=0.2, format="csr", rng=rng)
    for x in (rng.normal(size=m), rng.normal(size=2 * m)[::2], np.arange(m)):
        found = transposed_product(A, x)
        assert found.shape == (n,)
        np.testing.assert_array_equal(found, A.T @ x)


def test_absolute_product():
    """Reference twin: the matrix of absolute values times the vector's, in scipy's order."""
    rng = np.random.default_rng(0)
    A = sp.random_array((20, 30), density=0.2, format="csr", rng=rng)
    A.data -= 0.5
    x = rng.normal(size=60)[::2]
    np.testing.assert_array_equal(absolute_product(A, x), abs(A) @ np.abs(x))
