"""Dense blocks of mechanisms, and their decompositions."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.adapters.mechanisms import blocks, decomposed, free_columns


def test_decompositions_of_many_matrices():
    """Reference twin: numpy's of each matrix on its own, rows of all numbers, none among them."""
    rng = np.random.default_rng(2)
    shapes = [(1, 6), (3, 6), (9, 6), (12, 6), (5, 6), (0, 6), (4, 11), (7, 1), (3, 0)]
    matrices = [rng.normal(size=shape) for shape in shapes]
    for A, (U, S, V) in zip(matrices, decomposed(matrices), strict=True):
        rows, c = A.shape
        assert U.shape == (rows, c) and S.shape == (c,) and V.shape == (c, c)
        # rounding of numbers of order one
        np.testing.assert_allclose(U * S @ V, A, atol=1e-13)
        np.testing.assert_allclose(V @ V.T, np.eye(c), atol=1e-13)
        if rows and c:
            known = np.linalg.svd(A, compute_uv=False)
            np.testing.assert_allclose(S[: len(known)], known, atol=1e-13)
            np.testing.assert_allclose(S[len(known) :], 0.0, atol=1e-13)
    assert decomposed([]) == []


@pytest.mark.parametrize("twice", [False, True])
def test_blocks(twice):
    """Reference twin: rows and columns picked from the dense matrix; labels may be any numbers,
    columns may be held, and entries of a sparse matrix may come in parts."""
    rng = np.random.default_rng(4)
    dense = rng.normal(size=(12, 9)) * (rng.random((12, 9)) < 0.3)
    mechanism = np.array([7, 7, -1, 7, 3, 3, -1, 3, 0])
    held = np.arange(9) == 4
    reach = rng.uniform(0.5, 2.0, 9)
    A = sp.coo_array(dense)
    if twice:
        entries = np.r_[A.data / 2, A.data / 2], (np.r_[A.row, A.row], np.r_[A.col, A.col])
        ends = np.cumsum(np.r_[0, 2 * np.count_nonzero(dense, axis=1)])
        order = np.argsort(entries[1][0], kind="stable")
        A = sp.csr_array((entries[0][order], entries[1][1][order], ends), shape=dense.shape)
    members = free_columns(mechanism, held)
    found = blocks(A, mechanism, members, reach)
    assert len(found) == len([c for c in members.values() if dense[:, c].any()])
    for label, (rows, block) in found.items():
        columns = members[label]
        np.testing.assert_array_equal(rows, np.flatnonzero(dense[:, columns].any(axis=1)))
        np.testing.assert_allclose(block, (dense / reach)[rows][:, columns], rtol=1e-15)
    empty = blocks(sp.csr_array((3, 9)), mechanism, members, reach)
    assert empty == {}
