"""Sparse factorization in a nested dissection order."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.network.direct import Factor, body_graph, elimination_order
from tests.problems import pyramid_gradient


def test_order_is_a_permutation_that_saves_fill():
    """Peer: SuperLU's own minimum degree on the same matrix."""
    pytest.importorskip("pymetis")
    B = pyramid_gradient(14)
    n = B.shape[1]
    starts = np.arange(0, n + 1, 3)
    none = sp.csr_array((n, n))
    order = elimination_order(B, none, starts)
    assert sorted(order) == list(range(n))
    K = sp.csr_array(B.T @ B + 1e-6 * sp.eye_array(n))
    mine, theirs = Factor(K, order), Factor(K, None)
    assert mine.lu.L.nnz < theirs.lu.L.nnz
    rhs = np.random.default_rng(0).normal(size=n)
    for factor in (mine, theirs):
        # backward error of a factorization without pivoting, condition 1e7
        assert np.abs(K @ factor.solve(rhs) - rhs).max() < 1e-8


def test_pattern_from_contacts_and_inertia():
    """Property: bodies are neighbours through a contact or a coupled inertia, whatever values."""
    B = sp.csr_array(np.array([[1.0, 0, -1, 0, 0, 0], [0, 0, 0, 1, 0, 0]]))
    starts = np.array([0, 2, 4, 6])
    graph = body_graph(B, sp.csr_array((6, 6)), starts).toarray() > 0
    np.testing.assert_array_equal(graph, [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    M = sp.lil_array((6, 6))
    M.setdiag(1.0)
    M[2, 4] = M[4, 2] = 0.1
    graph = body_graph(B, sp.csr_array(M), starts).toarray() > 0
    np.testing.assert_array_equal(graph, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_without_metis_or_with_a_singular_matrix(monkeypatch):
    """Fallbacks: SuperLU's own order; pivots lifted by rounding."""
    monkeypatch.setitem(sys.modules, "pymetis", None)
    B = pyramid_gradient(4)
    n = B.shape[1]
    assert elimination_order(B, sp.csr_array((n, n)), np.arange(0, n + 1, 3)) is None
    K = sp.csr_array(np.diag([1.0, 2.0, 0.0]))
    x = Factor(K, None).solve(np.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(x[:2], 1.0, rtol=1e-12)
