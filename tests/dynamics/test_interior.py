"""Contact dynamics by the central path: where multipliers drain slowly, and masses are unlike."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.dynamics import active_set, contact_dynamics, interior, newton
from rigidlimit.linear import LinearStats, Network
from rigidlimit.status import Status
from tests.hard_problems import boxed_lattice, hexagonal_wall, only_one_velocity, squeezed_row
from tests.problems import contact_problem, pyramid, random_problem, reference_velocity

GRAVITY, DT = 9.81, 1e-3


def by_the_path(problem, *, tolerance=1e-10):
    """(forces, factorizations) of the path from nothing, with the last digits."""
    network, options = Network(problem.B, mass=problem.mass), dict(tolerance=tolerance)
    options["stats"] = LinearStats()
    best, decided, _ = interior.follow(problem, network, **options)
    for force in (best, decided):
        force, residual, *_ = active_set.finish(problem, network, force, **options)
        if residual <= tolerance:
            break
    return force, options["stats"].factorizations


@pytest.mark.parametrize("decades", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_random_problems(seed, decades):
    """Reference twin: least distance programming, masses over two and six decades."""
    problem = random_problem(seed)
    mass = 10.0 ** np.random.default_rng(seed).uniform(-decades, decades, problem.B.shape[1])
    problem = contact_problem(problem.B, mass, problem.bias, problem.free_velocity, problem.dt)
    force, factorizations = by_the_path(problem)
    # thirty steps and the last digits
    assert problem.residual(force) <= 1e-10 and factorizations <= 40
    # residual 1e-10: 1e-8 of the speeds, of order one, times a condition of some 100
    np.testing.assert_allclose(problem.velocity(force), reference_velocity(problem), atol=2e-6)


@pytest.mark.parametrize("state", ["rest", "impact", "random"])
def test_redundant_contacts(state):
    """Cross-solver: the velocity of gradient steps, with forces that are not unique."""
    problem = pyramid(8, state=state)
    force, factorizations = by_the_path(problem)
    assert problem.residual(force) <= 1e-10 and factorizations <= 40
    other = newton.solve(problem)
    # both to 1e-10 of speeds of order one, times the condition of the contacts
    np.testing.assert_allclose(problem.velocity(force), other.velocity, atol=1e-8)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("noise", [1e-5, 1e-7])
@pytest.mark.parametrize("kind", ["bcc", "hcp"])
def test_forces_that_hold_one_another(kind, noise, seed):
    """Property: lattices between walls reach the tolerance. Multiplier steps alone stalled at 1e-6
    to 4e-10 on each of these: forces between the walls drain by their springs' yield."""
    problem = boxed_lattice(kind, 5, noise, seed=seed)
    answer = newton.solve(problem)
    assert answer.converged and problem.residual(answer.force) <= 1e-10


def test_heavy_on_light():
    """Reference twin: least distance programming, for a wall whose rows weigh 1 : 2e5 from bottom
    to top. Multiplier steps alone took 5000 factorizations."""
    problem = hexagonal_wall(10, 12, 3.0)
    answer = newton.solve(problem)
    assert answer.converged and answer.factorizations <= 120
    # residual 1e-10: 1e-8 of the speed 0.01, times a condition of some 100
    np.testing.assert_allclose(answer.velocity, reference_velocity(problem), atol=1e-8)


def test_path_answers_to_max_iterations():
    """Property: one system a step, and none beyond those allowed."""
    problem = boxed_lattice("hcp", 4, 1e-3)
    network, stats = Network(problem.B, mass=problem.mass), LinearStats()
    *_, steps = interior.follow(problem, network, tolerance=1e-10, max_iterations=3, stats=stats)
    assert steps == 3 and stats.factorizations == 4  # and one to begin with


def test_path_beside_a_contact_that_is_far_open():
    """Closed form: a floor that closes slowly, and a ceiling whose spring would pull all open."""
    problem = contact_problem([[1.0], [-1.0]], [1.0], [-0.1, 10.0], [0.0], DT)
    network = Network(problem.B, mass=problem.mass)
    force, *_ = interior.follow(problem, network, tolerance=1e-10, stats=LinearStats())
    np.testing.assert_allclose(force, [0.1 / DT, 0.0], rtol=1e-9)  # solved to 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_one_velocity_alone_undoes_overlaps(seed):
    """Property: forces have no bounds there, and the path ends amid all of them; they must not
    become where multiplier steps go on (500 and more factorizations for each of these)."""
    problem, velocity = only_one_velocity([0, 45, 46, 62, 92, 107][seed])
    answer = newton.solve(problem)
    assert answer.converged and answer.factorizations <= 100
    np.testing.assert_allclose(answer.velocity, velocity, atol=2e-8)  # slacks of 1e-8, twice


def test_path_is_left_where_there_is_no_answer():
    """Property: held walls that overlap a ball from both sides, beside balls that could be parted;
    forces grow without end, and steps get shorter."""
    B = sp.block_diag([np.array([[1.0], [-1.0]]), np.eye(3)])
    problem = contact_problem(B, np.ones(4), [-1.0, -1.0, -1, -1, 0], np.zeros(4), DT)
    network, stats = Network(problem.B, mass=problem.mass), LinearStats()
    best, _, steps = interior.follow(problem, network, tolerance=1e-10, stats=stats)
    assert steps < interior.Settings().steps and np.isfinite(best).all()
    assert not newton.solve(problem).converged


@pytest.mark.parametrize("overlap", [1e-3, 1e-6, 1e-9])
def test_small_jams_are_known(overlap):
    """Closed form: walls too near by any length leave no velocity that undoes it. The stall is
    known for a jam by the forces themselves, and those that are given carry the weight alone."""
    problem = squeezed_row(6, overlap)
    assert newton.solve(problem).status is Status.JAMMED
    answer = contact_dynamics(
        np.ones(12), problem.B, DT * problem.bias, np.zeros(12), np.tile([0.0, -GRAVITY], 6), DT
    )
    assert answer.status is Status.JAMMED
    # the tolerance, of forces of a weight
    np.testing.assert_allclose(answer.force, [0.0] * 7 + [GRAVITY] * 6, atol=1e-8)


@pytest.mark.parametrize("push", [1e-6, 1e-3])
def test_speeds_that_are_needed(push):
    """Property: the bound never exceeds the speed of a motion that undoes the overlaps."""
    problem = random_problem(2)
    network = Network(problem.B, mass=problem.mass)
    rng = np.random.default_rng(0)
    motion = rng.normal(size=problem.B.shape[1])
    undone = contact_problem(
        problem.B,
        problem.mass.diagonal(),
        -(problem.B @ motion) + push - problem.B @ problem.free_velocity,
        problem.free_velocity,
        problem.dt,
    )
    for _ in range(50):
        force = rng.uniform(size=len(undone.bias)) ** 4
        assert interior.speed_needed(undone, network, force) <= np.abs(motion).max() + 1e-12
