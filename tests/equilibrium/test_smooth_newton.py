"""Newton's method for smooth contacts, and the linear systems that it solves."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from rigidlimit.equilibrium import smooth_newton
from rigidlimit.equilibrium.smooth_law import SmoothNetwork, forces_of, tangents
from rigidlimit.linear import LinearStats, Network
from rigidlimit.linear.library_factors import DenseFactor
from tests.problems import pyramid_gradient, static_pyramid


@pytest.mark.parametrize("p", [1.5, 2.0, 2.5])
def test_tangent_is_the_derivative(p):
    """Central differences of the force, error h^2."""
    c = np.array([-1.0, 0.3, 1.0, 2.0])
    k = np.array([1.0, 2.0, 0.5, 1.5])
    h = 1e-6
    slope = (forces_of(c + h, k, p) - forces_of(c - h, k, p)) / (2 * h)
    tangent = tangents(c, k, p, 0.0)
    np.testing.assert_allclose(tangent, slope, rtol=1e-8)


@pytest.mark.parametrize("inertial", [False, True])
def test_linear_solver_against_dense(inertial):
    """Reference twin: conjugate gradients and the factorization against a dense solve."""
    B = pyramid_gradient(8)
    m, n = B.shape
    rng = np.random.default_rng(1)
    M = sp.diags_array(rng.uniform(0.5, 2, n)).tocsr() if inertial else None
    D = np.where(rng.random(m) < 0.8, rng.uniform(0.1, 10, m), 0.0)
    network = Network(B, mass=M)
    system = network.system(D, 1e-3)
    K = (
        B.T @ sp.diags_array(D) @ B
        + 1e-3 * sp.eye_array(n)
        + (M if inertial else 0 * sp.eye_array(n))
    )
    rhs = rng.normal(size=n)
    exact = np.linalg.solve(K.toarray(), rhs)
    stats = LinearStats()
    x = system.solve(rhs, target=1e-13 * np.abs(rhs).max(), stats=stats)
    assert stats.products > 0 and stats.factorizations == 0
    # condition of K about 1e4 times the residual asked for
    np.testing.assert_allclose(x, exact, atol=1e-8 * np.abs(exact).max())
    direct = system.solve_directly(rhs, stats)
    np.testing.assert_allclose(direct, exact, atol=1e-10 * np.abs(exact).max())


def test_energy_minimum_against_a_general_minimizer():
    """Reference twin: scipy's BFGS on E(x) with offsets and a power law."""
    rng = np.random.default_rng(2)
    B = rng.normal(size=(12, 5))
    s, F, k, p = rng.normal(size=12), rng.normal(size=5), rng.uniform(0.5, 2, 12), 2.5
    F = B.T @ np.abs(F @ B.T)  # carried

    def energy(x):
        c = np.maximum(0, s - B @ x)
        return (k / p * c**p).sum() + F @ x

    problem = SmoothNetwork(Network(sp.csr_array(B)), k, p, F, s)
    answer = smooth_newton.solve(problem, tolerance=1e-12)
    twin = minimize(energy, np.zeros(5), method="BFGS", options={"gtol": 1e-10})
    # BFGS with numerical gradients finds x to about 1e-6
    np.testing.assert_allclose(answer.x, twin.x, atol=1e-5)
    assert energy(answer.x) <= twin.fun + 1e-12


def test_newton_converges_superlinearly():
    """Convergence slope: the last steps on a pyramid gain digits faster than a fixed factor."""
    B, load = static_pyramid(8)
    problem = SmoothNetwork(Network(B), np.ones(B.shape[0]), 2.5, load)
    history = smooth_newton.solve(problem, tolerance=1e-9).history
    digits = -np.log10(history[-3:])
    assert digits[2] > 1.5 * digits[1]
    assert len(history) <= 12


@pytest.mark.parametrize("inertial", [False, True])
def test_full_matrices_are_factorized_densely(inertial):
    """Reference twin: numpy's solve, of a B in which every contact moves everything, as a factor of
    a Delassus matrix; with some contacts open."""
    rng = np.random.default_rng(2)
    B = rng.normal(size=(260, 240))
    M = sp.diags_array(rng.uniform(0.5, 2, 240)).tocsr() if inertial else None
    D = np.where(rng.random(260) < 0.8, rng.uniform(0.1, 10, 260), 0.0)
    system, stats = Network(sp.csr_array(B), mass=M).system(D, 1e-3), LinearStats()
    rhs = rng.normal(size=240)
    x = system.solve_directly(rhs, stats)
    K = B.T @ (D[:, None] * B) + 1e-3 * np.eye(240) + (M.toarray() if inertial else 0.0)
    # condition of K about 1e6 times rounding
    np.testing.assert_allclose(x, np.linalg.solve(K, rhs), atol=1e-9 * np.abs(x).max())
    assert stats.routes == ["dense"]


def test_pattern_does_not_depend_on_values():
    """Property: stiffnesses that cancel entries of B^T D B in a lattice change nothing but values.

    The factorization takes its pattern anew for every D, so there is no stale one to trip over."""
    B = pyramid_gradient(5)
    n = B.shape[1]
    rhs = np.ones(n)
    for D in (np.ones(B.shape[0]), np.random.default_rng(3).uniform(1, 2, B.shape[0])):
        system = Network(B).system(D, 1e-6)
        x = system.solve_directly(rhs, LinearStats())
        assert np.abs(system.apply(x) - rhs).max() < 1e-9  # condition 1e6 times rounding


def test_small_systems_are_factorized_densely():
    """Reference twin: numpy's solve; a pivot lost to rounding is lifted, a negative one told."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 20))
    K, rhs = A @ A.T, rng.normal(size=12)
    np.testing.assert_allclose(DenseFactor(K).solve(rhs), np.linalg.solve(K, rhs), rtol=1e-10)
    singular = np.ones((3, 3))
    x = DenseFactor(singular).solve(np.ones(3))
    np.testing.assert_allclose(singular @ x, 1.0, rtol=1e-9)  # lifted by 1e-13 of the diagonal
    with pytest.raises(np.linalg.LinAlgError):
        DenseFactor(-K)
