"""Balancing forces by steps in forces."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.compatibility.rebalance import rebalanced
from rigidlimit.linear import Network


def springs(seed):
    """A network of 12 springs on 8 degrees of freedom, D, positive forces and their load."""
    rng = np.random.default_rng(seed)
    network = Network(sp.csr_array(rng.normal(size=(12, 8))))
    force = rng.uniform(1.0, 2.0, 12)
    return network, rng.uniform(0.5, 2.0, 12), force, network.load_of(force)


@pytest.mark.parametrize("seed", range(4))
def test_one_step_balances(seed):
    """Closed form: without a force that turns zero the step D B d is exact; u follows by -d."""
    network, D, force, load = springs(seed)
    K = (network.B.T @ sp.diags_array(D) @ network.B).toarray()
    start = force * (1 + 1e-3 * np.random.default_rng(9).normal(size=12))
    found, motion, imbalance = rebalanced(
        network, start, load, D, lambda r: np.linalg.solve(K, r), tolerance=1e-13
    )
    # rounding of loads of order ten
    assert imbalance == np.abs(load - network.load_of(found)).max() < 1e-13
    np.testing.assert_allclose(found, start - D * (network.B @ motion), atol=1e-13)


def test_the_best_is_kept():
    """Fault injection: a solve that makes matters worse leaves the forces that were given, unless
    a step is asked for; then the best of the steps."""
    network, D, force, load = springs(0)
    rng = np.random.default_rng(1)

    def astray(missing):
        return rng.normal(size=len(missing))

    near = force + 1e-6
    found, motion, _ = rebalanced(network, near, load, D, astray, tolerance=1e-9)
    assert found is near and not motion.any()
    found, motion, imbalance = rebalanced(
        network, near, load, D, astray, tolerance=1e-9, at_least=1
    )
    assert found is not near and motion.any()
    assert imbalance == np.abs(load - network.load_of(found)).max()
