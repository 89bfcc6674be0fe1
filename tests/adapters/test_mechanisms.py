"""Weak motions of mechanisms, changes of motions, and sets that hang together."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit._support.matrices import blockwise
from rigidlimit.adapters.engines.balance import Balance
from rigidlimit.adapters.engines.matrices import components


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
def test_singular_motions(form):
    """Reference twin: numpy's singular motions of each mechanism's own rows and free columns;
    labels may have gaps, columns may be held, and entries of a sparse matrix may come in parts."""
    dense, n = some(4, part=0.6), 9
    mechanism = np.array([4, 4, 1, 4, 3, 3, 1, 3, 0])
    held = np.arange(n) == 4
    reach = np.random.default_rng(5).uniform(0.5, 2.0, n)
    dense[:, 5] = 1e-8 * dense[:, 7]  # which only two of the mechanisms' motions tell of
    dense[:, 0] = dense[:, 1] - 1e-9 * dense[:, 3]
    force = np.ones(len(dense))
    balance = Balance(
        form(dense), dense.T @ force, held, mechanism, reach, np.full(n, 1e-6), force
    )  # fmt: skip
    found = balance.without_weak_motions()
    B = found.B.toarray() if sp.issparse(found.B) else found.B
    turned = np.isin(mechanism, (3, 4)) & ~held
    np.testing.assert_array_equal(B[:, ~turned], dense[:, ~turned])
    np.testing.assert_array_equal(found.reach, np.where(turned, 1.0, reach))
    for label in (3, 4):
        own = (mechanism == label) & turned
        _, S, V = np.linalg.svd((dense / reach)[:, own])
        kept = (1e-6 * S[0] < S)[:, None] * V / reach[own]
        assert not kept[-1].any()
        # rounding of numbers of order one, and of loads of some ten
        np.testing.assert_allclose(B[:, own], dense[:, own] @ kept.T, atol=1e-13)
        np.testing.assert_allclose(found.load[own], kept @ balance.load[own], atol=1e-12)
    x = np.random.default_rng(1).normal(size=n)
    np.testing.assert_allclose(B @ x, dense @ found.velocities(x), atol=1e-6)  # less what is left
    np.testing.assert_allclose(found.matrix() @ x, found.velocities(x), atol=1e-13)
    strong = form(some(6))
    assert replace(balance, B=strong, mechanism=np.arange(n)).without_weak_motions().B is strong


def test_blockwise():
    """Closed form: the blocks where they are, and the degrees of freedom elsewhere."""
    rng = np.random.default_rng(1)
    pair, three = rng.normal(size=(2, 2)), rng.normal(size=(3, 3))
    blocks = (np.array([[5, 4]]), pair[None]), (np.array([[1, 7, 8]]), three[None])
    M = blockwise(9, blocks).toarray()
    np.testing.assert_array_equal(M[np.ix_([5, 4], [5, 4])], pair)
    np.testing.assert_array_equal(M[np.ix_([1, 7, 8], [1, 7, 8])], three)
    np.testing.assert_array_equal(M[[0, 2, 3, 6]], np.eye(9)[[0, 2, 3, 6]])


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
