"""The end of contact dynamics: Newton steps on the active set."""

import numpy as np
import pytest

from rigidlimit.dynamics import active_set, apgd, newton
from rigidlimit.linear import LinearStats, Network
from tests.problems import contact_problem, pyramid, random_problem, reference_velocity


def finished(problem, force, tolerance=1e-10):
    network = Network(problem.B, mass=problem.mass)
    stats = LinearStats()
    return active_set.finish(problem, network, force, tolerance=tolerance, stats=stats)[:3]


@pytest.mark.parametrize("seed", range(5))
def test_a_few_digits_become_all(seed):
    """Cross-solver: from gradient steps stopped at 1e-3, the velocity of a quadratic program."""
    problem = random_problem(seed)
    rough = apgd.solve(problem, tolerance=1e-3, scaled=True)
    force, residual, rounds = finished(problem, rough.force)
    assert residual <= 1e-10 and residual == problem.residual(force) and 0 < rounds <= 10
    # residual 1e-10 of speeds of order one, times the condition of the contacts
    np.testing.assert_allclose(problem.velocity(force), reference_velocity(problem), atol=1e-8)


def test_redundant_contacts():
    """Property: where forces are not unique, springs share them and the residual still vanishes."""
    problem = pyramid(6, state="impact")
    rough = apgd.solve(problem, tolerance=1e-3, scaled=True)
    assert finished(problem, rough.force)[1] <= 1e-10


@pytest.mark.parametrize("state", ["rest", "impact"])
def test_from_no_forces_at_all(state):
    """Cross-solver: from afar the steps end at the velocity of gradient steps."""
    problem = pyramid(10, state=state)
    force, residual, _ = finished(problem, np.zeros(problem.B.shape[0]))
    assert residual <= 1e-10
    expected = apgd.solve(problem, tolerance=1e-11, scaled=True)
    assert expected.converged
    # both to 1e-10 of the speed, times the condition of the contacts
    atol = 1e-8 * problem.speed
    np.testing.assert_allclose(problem.velocity(force), expected.velocity, rtol=0, atol=atol)


def test_wrong_forces_come_back_no_worse():
    """Property: far from the answer the best forces seen are returned with their own residual."""
    problem = random_problem(1)
    start = np.random.default_rng(0).uniform(0, 10, problem.B.shape[0])
    force, residual, _ = finished(problem, start)
    assert residual == problem.residual(force) <= problem.residual(start)


def test_taken_only_where_it_is_cheaper(monkeypatch):
    """Property: the Newton solver with and without it gives the same velocity."""
    problem = random_problem(3)
    monkeypatch.setattr(active_set, "pays", lambda *_: True)
    with_it = newton.solve(problem)
    monkeypatch.setattr(active_set, "pays", lambda *_: False)
    without = newton.solve(problem)
    assert with_it.converged and without.converged and with_it.factorizations == 1
    assert with_it.iterations <= without.iterations
    np.testing.assert_allclose(with_it.velocity, without.velocity, atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_masses_eight_decades_apart(seed):
    """Property: tiny systems of very unlike masses reach the tolerance (three of ten stalled)."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    mass = 10.0 ** rng.uniform(-4, 4, problem.B.shape[1])
    problem = contact_problem(problem.B, mass, problem.bias, problem.free_velocity, problem.dt)
    answer = newton.solve(problem)
    assert answer.converged and problem.residual(answer.force) <= 1e-10
