"""A factorized matrix whose active contacts change: against one factorized anew."""

import numpy as np

from rigidlimit.linear import LinearStats, Network
from rigidlimit.linear.low_rank_update import ChangingSystem
from tests.problems import pyramid_gradient


def test_contacts_that_come_and_go():
    """Reference twin: after each of thirty rounds of changes, some of them taken back, the system
    solves like one factorized with the contacts that then bear; one factorization in all."""
    rng = np.random.default_rng(0)
    B = pyramid_gradient(6)
    m, n = B.shape
    network, stats = Network(B, blocks=np.arange(0, n + 1, 3)), LinearStats()
    D = rng.uniform(1.0, 10.0, m)
    shift = 1e-2  # condition below 1e5, so that both are good to 1e-11
    system = ChangingSystem(network, D, rng.uniform(size=m) < 0.7, shift, stats)
    rhs = rng.normal(size=n)
    for _ in range(30):
        flipped = rng.choice(m, rng.integers(0, 30), replace=False)
        back = rng.permutation(system.changed)[: rng.integers(0, 20)]
        contacts = np.union1d(flipped, back)
        after = np.setxor1d(system.changed, contacts)
        assert system.would_serve(contacts) == (len(after) <= system.most)
        if not system.would_serve(contacts):
            continue
        system.toggle(contacts)
        assert set(system.changed) == set(after)
        fresh = network.system(np.where(system.working, D, 0.0), shift)
        expected = fresh.solve_directly(rhs, LinearStats())
        np.testing.assert_allclose(system.solve(rhs), expected, atol=1e-9 * abs(expected).max())
    assert stats.factorizations == 1
