"""Chosen rows and columns of sparse matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit._support.submatrix import submatrix


@pytest.mark.parametrize("seed", range(8))
def test_against_scipy(seed):
    """Reference twin: scipy's slices and product with a diagonal, entry by entry; the same sorted
    columns. Rows and columns without entries occur, and choices of none."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 12, 2)
    A = sp.random_array((m, n), density=0.3, format="csr", rng=rng)
    A.sum_duplicates()
    rows = np.flatnonzero(rng.random(m) < 0.5)
    columns = np.flatnonzero(rng.random(n) < 0.6)
    scale = rng.uniform(1, 2, len(columns))
    for r in (None, rows):
        for c in (None, columns):
            for s in (None, scale if c is not None else rng.uniform(1, 2, n)):
                found = submatrix(A, rows=r, columns=c, scale=s)
                expected = A.toarray()[slice(None) if r is None else r]
                expected = expected[:, slice(None) if c is None else c]
                expected = expected * (1.0 if s is None else s)
                # one product per entry: equal to the last digit
                np.testing.assert_array_equal(found.toarray(), expected)
                assert found.shape == expected.shape
                found.check_format()
                assert found.has_canonical_format


def test_all_of_it_is_the_matrix_itself():
    """Property: nothing to leave out or to scale, nothing is copied."""
    A = sp.csr_array(np.eye(3))
    assert submatrix(A, rows=np.arange(3), columns=np.arange(3)) is A
