"""Products with the transpose of a sparse matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.products import transposed_product


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
