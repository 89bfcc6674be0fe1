"""Accelerated projected gradient descent: velocities, the general minimizer and its prox."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq

from rigidlimit.dynamics import apgd, gradient_kernels, pgs
from rigidlimit.status import Status

from ..problems import beam, contact_problem, pyramid, random_problem, reference_velocity


def test_beam_is_shared_evenly():
    """Analytic (the paper's figure 2): from zero forces the descent keeps the symmetry and stays
    in the range of B, where even shares are the only solution."""
    answer = apgd.solve(beam())
    # residual 1e-10 in units of the largest single-contact force, 10
    np.testing.assert_allclose(answer.force, 10 / 3, rtol=1e-8)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("state", ["rest", "impact", "random"])
def test_pyramid_velocity_is_the_reference(state, scaled):
    """Reference twin: least distance programming by nonnegative least squares."""
    problem = pyramid(5, state=state)
    answer = apgd.solve(problem, scaled=scaled)
    assert answer.converged, answer.message
    assert answer.residual == pytest.approx(problem.residual(answer.force), rel=1e-2, abs=1e-13)
    # as for Gauss-Seidel: 1e-10 times the conditioning of the pyramid
    speed = np.abs(problem.free_velocity).max()
    np.testing.assert_allclose(
        answer.velocity, reference_velocity(problem), atol=1e-8 * speed, rtol=0
    )


@pytest.mark.parametrize("state", ["rest", "random"])
def test_agrees_with_gauss_seidel_on_base_ten(state):
    """Cross-solver: 1,620 contacts, other forces, the same velocity to 1e-8 of the speed."""
    problem = pyramid(10, state=state)
    descent, sweeps = apgd.solve(problem), pgs.solve(problem)
    assert descent.converged and sweeps.converged
    assert descent.iterations < 2000  # a few hundred; plain gradient descent takes many thousand
    speed = np.abs(problem.free_velocity).max()
    np.testing.assert_allclose(descent.velocity, sweeps.velocity, atol=1e-8 * speed, rtol=0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scaled", [False, True])
def test_random_problems(seed, scaled):
    """Reference twin on unstructured networks with more contacts than degrees of freedom."""
    problem = random_problem(seed)
    answer = apgd.solve(problem, scaled=scaled)
    assert answer.converged, answer.message
    # masses over two decades and nearly parallel contacts: conditioning up to 1e4 on 1e-10
    np.testing.assert_allclose(answer.velocity, reference_velocity(problem), atol=2e-6)


def test_rounding_does_not_grow_over_many_steps():
    """Property: the residual, once small, stays small (the running products N f are renewed)."""
    problem = pyramid(6)
    answer = apgd.solve(problem, tolerance=1e-30, max_iterations=3000)
    assert answer.status in (Status.STALLED, Status.MAX_ITERATIONS)
    # 1e-12 is a thousand roundings of the largest force, some ten single-contact forces
    assert answer.history[-50:].max() < 1e-12
    # accelerated descent is not monotone: the answer is not the last point but the best
    assert answer.residual == answer.history.min() < answer.history[-1]
    assert problem.residual(answer.force) < answer.history[-1]


def test_keeps_the_best_iterate_and_stops_honestly():
    """Property: accelerated descent is not monotone; the answer is its best measured point."""
    problem = pyramid(8)
    answer = apgd.solve(problem, max_iterations=70)
    assert answer.status is Status.MAX_ITERATIONS and answer.iterations == 70
    assert answer.residual == answer.history.min()
    # renewed once in a stride, so equal up to rounding
    assert problem.residual(answer.force) == pytest.approx(answer.residual, rel=1e-6)


def test_warm_start():
    """Property: starting from the answer takes no step."""
    problem = pyramid(5, state="random")
    first = apgd.solve(problem)
    assert apgd.solve(problem, warm_start=first.force).iterations == 0


def test_duplicate_contacts_share_and_rattlers_fly():
    """Analytic: equal contacts stay equal; a ball away from its contact keeps its velocity."""
    B = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    problem = contact_problem(B, [2.0, 1.0], [0.0, 0.0, 5.0, 1.0], [-1.0, -1.0], 0.5)
    answer = apgd.solve(problem)
    assert answer.converged, answer.message
    np.testing.assert_allclose(answer.force, [2.0, 2.0, 0.0, 0.0], atol=1e-8)
    np.testing.assert_allclose(answer.velocity, [0.0, -1.0], atol=1e-9)


def test_no_contacts_and_no_approach():
    """Analytic: nothing to do."""
    empty = contact_problem(np.zeros((0, 3)), np.ones(3), [], [1.0, 2.0, 3.0], 0.1)
    answer = apgd.solve(empty)
    assert answer.converged
    np.testing.assert_array_equal(answer.velocity, [1.0, 2.0, 3.0])
    opening = contact_problem(np.eye(2), np.ones(2), [0.0, 0.0], [1.0, 0.0], 0.1)
    answer = apgd.solve(opening)
    assert answer.converged
    np.testing.assert_array_equal(answer.force, 0.0)


def test_wedged_body_ends_without_an_answer():
    """Property: no solution exists; the descent stops, finite and not converged, although forces
    so large that they swallow the gaps are reached."""
    problem = contact_problem(np.array([[1.0], [-1.0]]), [1.0], [-1.0, -1.0], [0.0], 0.1)
    answer = apgd.solve(problem, max_iterations=5000)
    assert not answer.converged
    assert np.isfinite(answer.force).all()


@pytest.mark.parametrize("e", [0.2, 2 / 3, 1.0, 1.5, 4.0])
@pytest.mark.parametrize("b", [1e-6, 1.0, 1e6])
def test_prox_solves_its_equation(e, b):
    """Reference twin: bisection (Brent) on b x^e + x = z."""
    for z in (1e-8, 0.3, 1.0, 7e5):
        expected = brentq(lambda x: b * x**e + x - z, 0.0, z, xtol=1e-300, rtol=1e-14, maxiter=5000)  # noqa: B023
        # both at rounding; s**(1/e) with 1/e = 5 loses less than a digit
        assert gradient_kernels._prox(z, 2.0 * b, e, 2.0) == pytest.approx(expected, rel=1e-12)
    assert gradient_kernels._prox(-1.0, b, e, 1.0) == 0.0


def test_minimizer_with_power_terms_has_zero_gradient():
    """Property: at f > 0 the gradient N f + c + a f^e vanishes, elsewhere it is >= 0."""
    rng = np.random.default_rng(0)
    B = sp.csr_array(rng.normal(size=(12, 8)))
    c, a, e = rng.normal(size=12), rng.uniform(0.5, 2.0, 12), 2 / 3

    def gradient(f, Nf):
        return Nf + c + a * f**e

    objective = apgd.Objective(
        B,
        B,
        c,
        measure=lambda f, Nf: np.abs(f - np.maximum(f - gradient(f, Nf), 0)).max(),
        compliance=a,
        exponent=e,
    )
    found = apgd.minimize(objective, tolerance=1e-11, max_iterations=5000)
    assert found.status is Status.CONVERGED
    g = gradient(found.force, B @ (B.T @ found.force))
    loaded = found.force > 0
    assert loaded.any() and not loaded.all()
    # the measure's own tolerance: |min(f, g)| <= 1e-11, and every loaded f is far above it
    np.testing.assert_allclose(g[loaded], 0.0, atol=1e-10)
    assert (g[~loaded] >= -1e-10).all()
