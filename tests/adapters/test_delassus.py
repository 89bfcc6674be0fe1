"""Factors of Delassus matrices stored with errors."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.adapters.delassus import factorized, islands
from rigidlimit.errors import InputError


def coupled_islands(seed=0):
    """Three islands of rank 4 of 4, 2 of 5 and 1 of 1, contacts in random order."""
    rng = np.random.default_rng(seed)
    blocks = [A @ A.T for A in (rng.normal(size=(4, 4)), rng.normal(size=(5, 2)), np.ones((1, 1)))]
    order = rng.permutation(10)
    return sp.csr_array(sp.block_diag(blocks).toarray()[np.ix_(order, order)])


@pytest.mark.parametrize("seed", range(5))
def test_factor_of_islands(seed):
    """Property: W = B B^T + left out, B has the rank of W, and islands stay apart in it."""
    W = coupled_islands(seed)
    factor = factorized(W)
    whole = (factor.B @ factor.B.T + factor.left_out).toarray()
    np.testing.assert_allclose(whole, W.toarray(), atol=1e-13)  # entries of 10 at most
    assert factor.B.shape == (10, 7) and sorted(map(len, islands(W))) == [1, 4, 5]
    assert factor.B.nnz <= 4 * 5 // 2 + 5 * 2 + 1
    assert abs(factor.left_out).max() < 1e-13 and factor.noise < 1e-14


def test_noise_is_told_from_what_is_stored():
    """Closed form: asymmetry, digits and a negative eigenvalue each set the threshold."""
    W = sp.csr_array(np.array([[2.0, 1.0], [1.0 + 2e-5, 2.0]]))
    assert factorized(W).noise == pytest.approx(1e-5 / 3, rel=1e-4)  # |E|_2 = 1e-5, largest 3
    symmetric = sp.csr_array(np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert factorized(symmetric, rounding=5e-6).noise == pytest.approx(5e-6)
    negative = sp.csr_array(np.diag([1.0, 0.5, -1e-8]))
    factor = factorized(negative)
    assert factor.noise == pytest.approx(1e-8) and factor.B.shape == (3, 2)
    assert factorized(symmetric, cut=0.5).B.shape == (2, 1)
    with pytest.raises(InputError, match="eigenvalue"):
        factorized(sp.csr_array(np.diag([1.0, -0.1])))


def test_matrices_without_entries():
    """No contacts, and contacts that nothing moves."""
    assert factorized(sp.csr_array((0, 0))).B.shape == (0, 0)
    assert factorized(sp.csr_array((3, 3))).B.shape == (3, 0)


def test_errors_of_the_factor_are_told():
    """Property: eigenvectors leave errors of the size of the largest entries' digits in small
    entries as well; they are within those told. Weak sides of blocks were certified without."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 12)) * np.logspace(0, -4, 40)[:, None]
    W = sp.csr_array(A @ A.T)
    factor = factorized(W)
    left = (factor.B @ factor.B.T + factor.left_out - W).toarray()[20:, 20:]
    told = factor.error.toarray()[20:, 20:]
    # a standard deviation of 400 entries, of which half of the rows has the smaller half
    assert np.sqrt(np.mean(left**2)) <= np.sqrt(np.mean(told**2))
    assert np.sqrt(np.mean(left**2)) > 10 * np.finfo(float).eps * abs(W).toarray()[20:, 20:].mean()
