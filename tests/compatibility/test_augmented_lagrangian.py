"""The paper's augmented Lagrangian for compatible forces (eq. 36)."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.compatibility import augmented_lagrangian
from rigidlimit.status import Status

from ..problems import beam, reference_forces, static_pyramid

WEIGHT = np.array([10.0, 0.0])
# twice the solver's tolerance 1e-8 on balance, for the error spread over three contacts
CLOSE = 2e-8


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.5, 4.0])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e9])
def test_beam(exponent, size):
    """Analytic: equal stiffness 10/3 each; 1:3:1 gives 2, 6, 2 for every power law, because the
    beam does not turn; and only stiffness ratios matter."""
    B = beam().B
    for ratio, expected in (((1, 1, 1), [10 / 3] * 3), ((1, 3, 1), [2, 6, 2])):
        k = size * np.array(ratio, float)
        answer = augmented_lagrangian.solve(B, WEIGHT, k, exponent)
        assert answer.converged
        np.testing.assert_allclose(answer.force, expected, rtol=CLOSE)
        # the beam sinks: u_y < 0, by (f/k)^(1/(p-1)); its error is that of f over p - 1
        sink = -((expected[0] / k[0]) ** (1 / (exponent - 1)))
        np.testing.assert_allclose(answer.u, [sink, 0.0], rtol=1e-7, atol=1e-7 * abs(sink))


def test_support_that_lifts_off():
    """Analytic: weight right of the middle by more than L/3 unloads the left support; moments
    about the others give their forces."""
    a = 0.4  # arm of the weight, of [0, 1/2]; two supports at 0 and 1/2 share 0.2 : 0.8
    load = np.array([10.0, 10.0 * a])
    answer = augmented_lagrangian.solve(beam().B, load, np.ones(3), 2.0)
    np.testing.assert_allclose(answer.force, [0.0, 2.0, 8.0], atol=1e-6)


@pytest.mark.parametrize("materials", [1, 2])
def test_pyramid_against_an_interior_point(materials):
    """Reference twin: Clarabel on eq. 36, base 5, 160 contacts, Hooke."""
    B, load = static_pyramid(5)
    k = np.ones(B.shape[0])
    if materials == 2:
        k = np.random.default_rng(0).choice([1 / 5, 1 / 3, 1.0], B.shape[0])
    answer = augmented_lagrangian.solve(B, load, k, 2.0)
    assert answer.converged
    reference = reference_forces(B, load, k)
    # Clarabel's own error where forces vanish without strict complementarity: about 1e-6
    np.testing.assert_allclose(answer.force, reference, atol=5e-6 * reference.max())
    # every solution of B^T f = F has at least the energy of the compatible one
    assert (answer.force**2 / k).sum() <= (reference**2 / k).sum() * (1 + 1e-7)


@pytest.mark.parametrize("exponent", [1.5, 2.5, 5.0])
def test_power_laws_satisfy_balance_and_compatibility(exponent):
    """Property: recomputed here from f and u alone, with two materials."""
    B, load = static_pyramid(5)
    k = 3e7 * np.random.default_rng(1).choice([1 / 5, 1 / 3, 1.0], B.shape[0])
    answer = augmented_lagrangian.solve(B, load, k, exponent)
    assert answer.converged
    f, u = answer.force, answer.u
    assert (f >= 0).all()
    # 1e-8 is the tolerance; u is scaled to and fro
    assert np.abs(B.T @ f - load).max() <= 1.01e-8 * np.abs(load).max()
    law = k * np.maximum(0.0, -(B @ u)) ** (exponent - 1)
    assert np.abs(f - law).max() <= 1.1e-8 * f.max()


def test_tighter_tolerance_is_reached():
    """Property: 1e-11 for Hertz, whose tangent vanishes at zero force."""
    B, load = static_pyramid(4)
    answer = augmented_lagrangian.solve(B, load, np.ones(B.shape[0]), 2.5, tolerance=1e-11)
    assert answer.converged and answer.residual <= 1e-11 and answer.compatibility <= 1e-11


def test_warm_start_from_u():
    """Property: the multiplier alone restores the answer in fewer steps."""
    B, load = static_pyramid(5)
    k = np.full(B.shape[0], 3e7)
    cold = augmented_lagrangian.solve(B, load, k, 2.5)
    warm = augmented_lagrangian.solve(B, load, k, 2.5, warm_start=cold.u)
    assert warm.converged and 3 * warm.iterations < cold.iterations


@pytest.mark.parametrize(
    "load", [[-10.0, 0.0], [10.0, 8.0], [0.0, 1.0]], ids=["lifted", "tips over", "turned"]
)
def test_load_that_contacts_cannot_carry(load):
    """Analytic: contacts only push; the beam is lifted, or loaded beyond its end."""
    answer = augmented_lagrangian.solve(beam().B, np.array(load), np.ones(3), 2.0)
    assert answer.status is Status.LOAD_NOT_CARRIED
    assert answer.residual > 0.1  # nowhere near balance


def test_weight_of_a_body_without_contacts_is_not_carried():
    """Analytic: one column of B is zero but loaded."""
    B = sp.csr_array(np.array([[1.0, 0.0]]))
    answer = augmented_lagrangian.solve(B, np.array([1.0, 1.0]), np.ones(1), 2.0)
    assert answer.status is Status.LOAD_NOT_CARRIED


def test_load_at_the_last_support_is_carried():
    """Analytic: the edge of the admissible loads, the outer support alone."""
    answer = augmented_lagrangian.solve(beam().B, np.array([10.0, 5.0]), np.ones(3), 2.0)
    assert answer.converged
    # at the edge the other forces vanish only as fast as the balance error
    np.testing.assert_allclose(answer.force, [0.0, 0.0, 10.0], atol=1e-5)


def test_no_load_and_no_contacts():
    """Analytic: no forces; a load without contacts is not carried."""
    idle = augmented_lagrangian.solve(beam().B, np.zeros(2), np.ones(3), 2.5)
    assert idle.converged and not idle.force.any()
    none = augmented_lagrangian.solve(sp.csr_array((0, 2)), WEIGHT, np.zeros(0), 2.0)
    assert none.status is Status.LOAD_NOT_CARRIED and len(none.force) == 0


def test_iteration_limit_is_reported():
    """Property: honest status and residuals when cut short."""
    B, load = static_pyramid(5)
    answer = augmented_lagrangian.solve(B, load, np.ones(B.shape[0]), 2.0, max_iterations=60)
    assert answer.status is Status.MAX_ITERATIONS
    assert answer.residual > 1e-8 or answer.compatibility > 1e-8
    assert answer.residual == pytest.approx(np.abs(B.T @ answer.force - load).max())
