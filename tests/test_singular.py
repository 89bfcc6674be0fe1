"""Singular values where LAPACK's divide and conquer gives up."""

import numpy as np
import pytest

from rigidlimit._support.singular import svd


@pytest.mark.parametrize("full", [False, True])
def test_another_way_where_one_gives_up(monkeypatch, full):
    """Fault injection: U S V^T is the matrix all the same; a packing of 200 shapes ended in
    "SVD did not converge"."""
    A = np.random.default_rng(0).normal(size=(5, 8))
    shapes = [x.shape for x in svd(A, full_matrices=full)]

    def gives_up(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", gives_up)
    U, S, VT = svd(A, full_matrices=full)
    assert [x.shape for x in (U, S, VT)] == shapes
    # rounding
    np.testing.assert_allclose((U[:, :5] * S) @ VT[:5], A, atol=1e-13)
