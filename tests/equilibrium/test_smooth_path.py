"""The central path and what it is for: stiffnesses of very unlike size."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit import compatible_forces
from rigidlimit.equilibrium import smooth_newton
from rigidlimit.equilibrium.smooth_law import SmoothNetwork
from rigidlimit.equilibrium.smooth_path import follow
from rigidlimit.linear import LinearStats, Network
from tests.problems import reference_forces, static_pyramid


def unlike(m, ratio, seed=0):
    return np.where(np.random.default_rng(seed).random(m) < 0.5, 1.0, 1.0 / ratio)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.5])
def test_path_ends_where_newton_converges_at_once(exponent):
    """Property: from the end of the path Newton needs a few steps, whatever the stiffness; exact
    linear solves end the path earlier, inexact ones overshoot its end, at no fewer steps in all."""
    B, load = static_pyramid(8)
    k = unlike(B.shape[0], 1000.0 if exponent >= 2 else 1.0)
    network = Network(B, blocks=np.arange(0, B.shape[1] + 1, 3))
    problem = SmoothNetwork(network, k, exponent, load)
    point = follow(problem, stats=LinearStats())
    assert point.imbalance <= 1e-6 and point.gap <= 1e-6 and point.iterations < 40
    assert (point.force > 0).all() and (point.slack > 0).all()
    answer = smooth_newton.solve(problem, start=point.u, tolerance=1e-11)
    assert answer.residual <= 1e-11 and answer.iterations <= 5
    # 14 + 4 by factorizations, 20 + 1 by conjugate gradients in the costliest case
    assert point.iterations + answer.iterations <= 22


def test_unlike_springs_against_clarabel():
    """Peer: Clarabel on eq. 36 with stiffness ratios of 1 : 1000."""
    B, load = static_pyramid(6)
    k = unlike(B.shape[0], 1000.0)
    answer = compatible_forces(B, load, stiffness=k)
    assert answer.converged
    reference = reference_forces(B, load, k)
    # Clarabel stops at 1e-10 of objectives of order 1000
    np.testing.assert_allclose(answer.force, reference, atol=1e-6 * answer.force.max())


def test_offset_is_respected():
    """Closed form: two springs share a load; one starts closed by s."""
    network = Network(sp.csr_array(np.ones((2, 1))))
    offset = np.array([0.2, 0.0])
    point = follow(
        SmoothNetwork(network, np.ones(2), 2.0, np.array([1.0]), offset),
        tolerance=1e-9,
        stats=LinearStats(),
    )
    # f1 = 0.2 - u, f2 = -u, f1 + f2 = 1
    np.testing.assert_allclose(point.force, [0.6, 0.4], atol=1e-8)
