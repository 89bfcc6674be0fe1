"""What a factorization is thought to cost, in steps of conjugate gradients."""

import gc
import weakref

import numpy as np
import scipy.sparse as sp

from rigidlimit._support import memory
from rigidlimit.linear import Network
from rigidlimit.linear.cost import SETTINGS, affordable, factorization_cost, guessed_cost
from tests.problems import pyramid_gradient, random_springs


def layer(side):
    """B of a square grid of springs in a plane, three degrees of freedom a body."""
    body = np.arange(side * side).reshape(side, side)
    ends = np.concatenate(
        [
            np.stack(p, -1).reshape(-1, 2)
            for p in ((body[:, :-1], body[:, 1:]), (body[:-1], body[1:]))
        ]
    )
    m = len(ends)
    rows = np.repeat(np.arange(m), 6)
    dofs = 3 * np.repeat(ends, 3, axis=1) + np.tile(np.arange(3), 2)
    values = np.random.default_rng(0).normal(size=6 * m)
    return sp.csr_array((values, (rows, dofs.ravel())), shape=(m, 3 * side * side))


def test_structure_tells_once_it_is_worth_a_look():
    """Property: first a guess from the number of degrees of freedom; after ``look`` steps the
    factor's structure, which makes layers far cheaper than bodies in space."""
    ratio = {}
    for name, B in (("layer", layer(150)), ("solid", pyramid_gradient(30))):
        n = B.shape[1]
        network = Network(B, blocks=np.arange(0, n + 1, 3))
        assert factorization_cost(network, 0) == guessed_cost(n) and affordable(network, 0)
        ratio[name] = factorization_cost(network, SETTINGS.look) / guessed_cost(n)
    # a fifth, and two thirds
    assert ratio["layer"] < 0.4 < ratio["solid"] < 1.5


def test_not_affordable_without_memory(monkeypatch):
    """Property: neither as guessed nor as known, where memory is short; small ones always are."""
    B = random_springs(6000, 2.9)
    n = B.shape[1]
    network = Network(B, blocks=np.arange(0, n + 1, 3))
    assert affordable(network, 0)
    monkeypatch.setattr(memory, "_of_machine", lambda: 1e6)
    monkeypatch.setattr(memory, "LITTLE", 0)
    assert not affordable(network, 0)
    assert not affordable(network, SETTINGS.look)


def test_a_network_goes_with_its_last_user():
    """Property: nothing that a network holds holds the network, also once it was looked at: it is
    gone at once, not when Python looks for circles, which in large scenes is hundreds of MB later.
    """
    B = random_springs(600, 2.9)
    gc.disable()
    try:
        network = Network(B, blocks=np.arange(0, B.shape[1] + 1, 3))
        assert factorization_cost(network, SETTINGS.look) > 0 and network.pairs.serves
        seen = weakref.ref(network)
        del network
        assert seen() is None
    finally:
        gc.enable()
