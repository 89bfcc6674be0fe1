"""Blocks of contacts, sweeps over them, and momentum."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.equilibrium.contact_blocks import contact_blocks, sweep
from rigidlimit.equilibrium.dense import Dense
from rigidlimit.equilibrium.multipliers import residuals
from rigidlimit.equilibrium.sweeps import RoughContacts, accelerated


def contacts(d, m=12, n=9, seed=0):
    """(B (m d, n) with rows in few columns, R = B M^-1 for a full M, friction, offset)."""
    rng = np.random.default_rng(seed)
    B = np.zeros((m * d, n))
    for i in range(m):
        B[d * i : d * i + d, rng.choice(n, 4, replace=False)] = rng.normal(size=(d, 4))
    A = rng.normal(size=(n, n))
    R = B @ np.linalg.inv(A @ A.T + n * np.eye(n))
    return B, R, rng.uniform(0.1, 0.8, m), rng.normal(size=(m, d))


def in_turn(W, q, mu, f, d):
    """One sweep by the dense Delassus matrix (reference twin of ``sweep``)."""
    f = f.copy()
    for i in range(len(f)):
        own = slice(d * i, d * i + d)
        u = (W[own] @ f.ravel()) + q[own]
        f[i, 0] = max(0.0, f[i, 0] - u[0] / W[d * i, d * i])
        u = (W[own] @ f.ravel()) + q[own]
        t = f[i, 1:] - u[1:] / np.linalg.eigvalsh(W[own, own][1:, 1:])[-1]
        size, bound = np.linalg.norm(t), mu[i] * f[i, 0]
        f[i, 1:] = t if size <= bound else t * bound / size
    return f


@pytest.mark.parametrize("d", [2, 3])
def test_sweep_is_that_of_the_delassus_matrix(d):
    """Reference twin, two sweeps from random forces in the cones; 1e-12: rounding of sums of order
    ten."""
    B, R, mu, offset = contacts(d)
    blocks = contact_blocks(sp.csr_array(B), sp.csr_array(R), d)
    W, q = B @ R.T, offset.ravel()
    for i in range(len(mu)):
        own = slice(d * i, d * i + d)
        np.testing.assert_allclose(blocks.W[i], W[own, own], rtol=0.0, atol=1e-12)
    rng = np.random.default_rng(1)
    f = np.column_stack([rng.uniform(size=len(mu)), np.zeros((len(mu), d - 1))])
    expected, v = f.copy(), R.T @ f.ravel()
    for _ in range(2):
        before = expected
        expected = in_turn(W, q, mu, expected, d)
        change = sweep(np.arange(len(mu)), blocks, mu, offset, f, v)
    np.testing.assert_allclose(f, expected, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(v, R.T @ f.ravel(), rtol=0.0, atol=1e-12)
    assert change == pytest.approx(np.abs(expected - before).max(), abs=1e-12)


def test_rounding_does_not_stop_friction():
    """Regression: off the diagonal of the tangential part of a ball's W_ii there is only rounding,
    of any sign. The product of its two entries was negative under a root, and contacts with no
    stiffness to tell slid freely. The eigenvalue is exact: 1e-15."""
    R = np.eye(3)
    R[1, 2], R[2, 1] = 1e-16, -1e-16
    blocks = contact_blocks(sp.csr_array(np.eye(3)), sp.csr_array(R), 3)
    np.testing.assert_allclose(blocks.tangential, 1.0, rtol=0.0, atol=1e-15)
    f, v = np.zeros((1, 3)), np.array([-1.0, 0.25, 0.0])
    sweep(np.arange(1), blocks, np.array([0.5]), np.zeros((1, 3)), f, v)
    np.testing.assert_allclose(f, [[1.0, -0.25, 0.0]], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("d", [2, 3])
def test_momentum_ends_in_coulombs_law(d):
    """Property: where sweeps with momentum end, the residual of exact Coulomb friction is below
    what ended them, times the number of contacts that go before one in a sweep."""
    B, R, mu, offset = contacts(d, m=8, n=30)
    offset[:, 0] -= 1.0  # contacts close; fewer rows than columns, so that some motion opens all
    mechanics = Dense(R, np.zeros(30), d, rows=B, offset=offset)
    W = B @ R.T
    rho = d / W.diagonal().reshape(-1, d).sum(axis=1)
    rough = RoughContacts(mechanics.blocks(), mu, offset, rho)
    force = np.zeros((8, d))
    found = accelerated(rough, force, mechanics.start(force), 20_000, enough=1e-12)
    u = (W @ found.ravel()).reshape(-1, d) + offset
    assert residuals(found, u, mu, rho).max() <= 8 * 1e-12
    sizes = np.linalg.norm(found[:, 1:], axis=1)
    assert (found[:, 0] >= 0.0).all() and (sizes <= mu * found[:, 0] * (1.0 + 1e-14)).all()
    assert 0 < (found[:, 0] > 0.0).sum() <= 8
