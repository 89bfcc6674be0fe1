"""Dense blocks of mechanisms, changes of motions, and sets that hang together."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.adapters.engines.matrices import components
from rigidlimit.adapters.engines.mechanisms import BlockMotions, partition, stacks


def some(seed, shape=(12, 9), part=0.3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * (rng.random(shape) < part)


def in_parts(dense):
    """The matrix as compressed rows with every entry in two halves."""
    A = sp.coo_array(dense)
    value, row, column = np.r_[A.data / 2, A.data / 2], np.r_[A.row, A.row], np.r_[A.col, A.col]
    ends = np.cumsum(np.r_[0, 2 * np.count_nonzero(dense, axis=1)])
    order = np.argsort(row, kind="stable")
    return sp.csr_array((value[order], column[order], ends), shape=dense.shape)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, in_parts])
def test_stacks(form):
    """Reference twin: rows and columns picked from the dense matrix; labels may have gaps,
    columns may be held, and entries of a sparse matrix may come in parts."""
    dense = some(4)
    mechanism = np.array([7, 7, 1, 7, 3, 3, 1, 3, 0])
    use = np.arange(9) != 4
    reach = np.random.default_rng(5).uniform(0.5, 2.0, 9)
    found = {}
    for stack in stacks(form(dense), partition(mechanism, use), reach):
        assert stack.dense.shape[1] >= stack.dense.shape[2]
        for columns, rows, block in zip(stack.columns, stack.rows, stack.dense, strict=True):
            real = rows >= 0
            assert not block[~real].any()
            found[mechanism[columns[0]]] = columns, rows[real], block[real]
    touched = {label for label in mechanism if dense[:, (mechanism == label) & use].any()}
    assert set(found) == touched
    for label, (columns, rows, block) in found.items():
        np.testing.assert_array_equal(columns, np.flatnonzero((mechanism == label) & use))
        np.testing.assert_array_equal(rows, np.flatnonzero(dense[:, columns].any(axis=1)))
        np.testing.assert_allclose(block, (dense / reach)[rows][:, columns], rtol=1e-15)
    assert not list(stacks(form(np.zeros((3, 9))), partition(mechanism, use), reach))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_block_motions(form):
    """Reference twin: the matrix of the motions."""
    rng = np.random.default_rng(1)
    blocks = (
        (np.array([[0, 3], [5, 4]]), rng.normal(size=(2, 2, 2))),
        (np.array([[1, 7, 8]]), rng.normal(size=(1, 3, 3))),
    )
    motions = BlockMotions(9, blocks)
    M = motions.matrix().toarray()
    np.testing.assert_allclose(M[np.ix_([5, 4], [5, 4])], blocks[0][1][1])
    np.testing.assert_allclose(M[[2, 6], [2, 6]], 1.0)
    A, x = some(2), rng.normal(size=9)
    found = motions.of(form(A))
    found = found.toarray() if sp.issparse(found) else found
    # rounding of numbers of order one
    np.testing.assert_allclose(found, A @ M, atol=1e-13)
    np.testing.assert_allclose(motions.load(x), M.T @ x, atol=1e-13)
    np.testing.assert_allclose(motions.velocities(x), M @ x, atol=1e-13)


@pytest.mark.parametrize("each", [1, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_components(form, each):
    """Reference twin: scipy's connected components of rows and columns, of three rows at a time."""
    dense = some(3, (30, 25), 0.05)
    use = np.arange(25) % 4 != 1
    columns, rows = components(form(dense), use, each=each)
    kept = np.where(use, dense, 0.0)
    if each > 1:
        first = kept.reshape(-1, each, 25).any(axis=1)
        kept = np.repeat(first, each, axis=0)
        rows = np.repeat(rows, each)
    graph = np.block([[np.zeros((25, 25)), kept.T], [kept, np.zeros((30, 30))]])
    known = sp.csgraph.connected_components(sp.csr_array(graph), directed=False)[1]
    found = np.r_[columns, rows]
    assert ((found[:, None] == found) == (known[:, None] == known)).all()
