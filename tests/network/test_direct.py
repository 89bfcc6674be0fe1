"""Factorizations by libraries where there is no order for fronts."""

import sys

import numpy as np
import scipy.sparse as sp

from rigidlimit.network.direct import Factor
from rigidlimit.network.dissection import elimination_order
from tests.problems import pyramid_gradient


def test_without_metis_or_with_a_singular_matrix(monkeypatch):
    """Fallbacks: SuperLU's own order; pivots lifted by rounding."""
    monkeypatch.setitem(sys.modules, "pymetis", None)
    B = pyramid_gradient(4)
    n = B.shape[1]
    assert elimination_order(B, sp.csr_array((n, n)), np.arange(0, n + 1, 3)) is None
    K = sp.csr_array(np.diag([1.0, 2.0, 0.0]))
    x = Factor(K, None).solve(np.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(x[:2], 1.0, rtol=1e-12)
