"""Factorizations by libraries where there is no order for fronts."""

import sys

import numpy as np
import scipy.sparse as sp

from rigidlimit.linear.cost import guessed_cost, guessed_to_fit
from rigidlimit.linear.dissection import elimination_order
from rigidlimit.linear.library_factors import LUFactor
from tests.problems import pyramid_gradient


def test_without_metis_or_with_a_singular_matrix(monkeypatch):
    """Fallbacks: SuperLU's own order; pivots lifted by rounding."""
    monkeypatch.setitem(sys.modules, "pymetis", None)
    B = pyramid_gradient(4)
    n = B.shape[1]
    assert elimination_order(B, sp.csr_array((n, n)), np.arange(0, n + 1, 3)) is None
    K = sp.csr_array(np.diag([1.0, 2.0, 0.0]))
    x = LUFactor(K, None).solve(np.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(x[:2], 1.0, rtol=1e-12)


def test_without_metis_factorizations_are_thought_costlier(monkeypatch):
    """Property: where only SuperLU's own order is there, conjugate gradients go on for longer."""
    with_metis = guessed_cost(10_000), guessed_to_fit(100_000)
    monkeypatch.setattr("rigidlimit.linear.cost.has_metis", lambda: False)
    assert guessed_cost(10_000) > with_metis[0] and with_metis[1] and not guessed_to_fit(100_000)
