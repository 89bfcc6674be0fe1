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


def test_more_changes_than_a_factor_serves():
    """Reference twin: changes beyond what a factorization is worth are made by a new one; answers
    to loads of several columns are those of each alone."""
    rng = np.random.default_rng(1)
    B = pyramid_gradient(6)
    m, n = B.shape
    network, stats = Network(B, blocks=np.arange(0, n + 1, 3)), LinearStats()
    D, shift = rng.uniform(1.0, 10.0, m), 1e-2
    system = ChangingSystem(network, D, np.ones(m, bool), shift, stats)
    push, load = rng.normal(size=(m, 2)), rng.normal(size=(n, 2))
    system.load_with(push, load)
    for contacts in (rng.permutation(m)[: system.most + 5], [0, 1], [2]):
        system.toggle(contacts)
        fresh = network.system(np.where(system.working, D, 0.0), shift)
        rhs = B.T @ np.where(system.working[:, None], push, 0.0) - load
        expected = fresh.solve_directly(rhs, LinearStats())
        found = system.displacement()  # condition below 1e5
        np.testing.assert_allclose(found, expected, atol=1e-9 * abs(expected).max())
    assert stats.factorizations == 2
    system.renew()
    assert stats.factorizations == 3 and not len(system.changed)
