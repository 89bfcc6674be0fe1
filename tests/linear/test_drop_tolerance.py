"""Incomplete factorization by size of blocks, for contacts of very unlike stiffness."""

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit import compatible_forces
from rigidlimit.linear import drop_tolerance
from rigidlimit.linear.block_ic0 import PairNetwork, unlike
from rigidlimit.linear.drop_tolerance import ThresholdSolver
from tests.problems import pyramid_gradient, random_springs

from .test_block_ic0 import body_network, check_against_dense, partly_active


def two_sorts(m, seed=0, ratio=1000.0):
    return np.where(np.random.default_rng(seed).random(m) < 0.3, 1.0, 1.0 / ratio)


@pytest.mark.parametrize("sizes", [(3,), (6,), (3, 6)])
@pytest.mark.parametrize("inertial", [False, True])
def test_solution_against_dense(sizes, inertial):
    """Reference twin: a dense solve, with mixed body sizes, repeated pairs, inactive contacts."""
    network, B, M, active, rng = partly_active(sizes, inertial)
    D = np.where(active, 10 * two_sorts(B.shape[0]), 0.0)
    solver = network.solver(D, 1e-2, two_sorts=True)
    assert isinstance(solver, ThresholdSolver)
    check_against_dense(solver, B, M, D, rng)


@pytest.mark.parametrize("sizes", [(3,), (6,)])
def test_nothing_dropped_is_the_whole_factorization(sizes, monkeypatch):
    """Closed form: with all blocks kept P is K but for the lifts, and one step or two suffice."""
    monkeypatch.setattr(drop_tolerance, "DROPPED", 0.0)
    B, starts = body_network(sizes=sizes, contacts=120)
    n = B.shape[1]
    network = PairNetwork(B, starts, sp.csr_array((n, n)))
    solver = network.solver(two_sorts(B.shape[0]), 1e-4, two_sorts=True)
    rhs = np.random.default_rng(5).normal(size=n)
    _, steps, worst = solver.solve(rhs, target=1e-7, max_steps=10)
    # lifts of 1e-8 beside a shift of 1e-4: four digits a step
    assert worst <= 1e-7 and steps <= 3


@pytest.mark.parametrize("dropped", [0.02, 0.3])
def test_whole_compensation_leaves_out_what_is_semidefinite(dropped, monkeypatch):
    """Property, from the header: with the whole compensation P - K' has no negative eigenvalue, so
    that E is positive; a dense P from its parts tells."""
    monkeypatch.setattr(drop_tolerance, "DROPPED", dropped)
    monkeypatch.setattr(drop_tolerance, "COMPENSATED", 1.0)
    B, starts = body_network(sizes=(3,), bodies=25, contacts=120, seed=3, repeated=False)
    network = PairNetwork(B, starts, sp.csr_array((B.shape[1], B.shape[1])))
    D = two_sorts(B.shape[0])
    solver = network.solver(D, 1e-6, two_sorts=True)
    start, row, U, inverse = solver.factor
    n, d = network.bodies, network.d
    lower, E = np.eye(n * d), np.zeros((n * d, n * d))
    for j in range(n):
        E[j * d : (j + 1) * d, j * d : (j + 1) * d] = np.linalg.inv(inverse[j])
        for b in range(start[j], start[j + 1]):
            lower[row[b] * d : (row[b] + 1) * d, j * d : (j + 1) * d] = U[b]
    P = lower @ E @ lower.T
    order = np.argsort(network.dof)
    K = ((B.T @ sp.diags_array(D) @ B).toarray() + 1e-6 * np.eye(n * d))[np.ix_(order, order)]
    white = sp.block_diag(list(solver.inverse)).toarray()
    left = P - white @ K @ white.T
    assert len(row) < np.count_nonzero(np.diff(np.sort(network.hi))) + B.shape[0]
    # rounding of numbers of order one
    assert np.linalg.eigvalsh(left).min() > -1e-9
    assert np.linalg.eigvalsh(left).max() > 1e-3  # something was dropped


def test_made_anew_where_a_part_is_too_little(monkeypatch):
    """Edge: without any compensation E loses its sign in some network; the solver still arrives."""
    monkeypatch.setattr(drop_tolerance, "COMPENSATED", 0.0)
    B = random_springs(500, 3.6)
    n = B.shape[1]
    network = PairNetwork(B, np.arange(0, n + 1, 3), sp.csr_array((n, n)))
    D = two_sorts(B.shape[0])
    made, real = [], drop_tolerance.factor

    def counted(*args):
        made.append(args[-2])
        return real(*args)

    monkeypatch.setattr(drop_tolerance, "factor", counted)
    solver = network.solver(D, 1e-8, two_sorts=True)
    assert made == [0.0, 1.0]
    rhs = B.T @ (D * np.random.default_rng(1).normal(size=B.shape[0]))
    goal = 1e-8 * np.abs(rhs).max()
    _, _, worst = solver.solve(rhs, target=goal, max_steps=5000)
    assert worst <= goal


def test_chosen_by_the_springs():
    """Property: only where a good part of the contacts is far stiffer than another good part."""
    rng = np.random.default_rng(0)
    assert unlike(two_sorts(1000))
    assert not unlike(np.where(rng.random(1000) < 0.5, 1.0, 0.2))
    assert not unlike(np.zeros(10)) and not unlike(np.ones(3))
    few = np.ones(1000)
    few[:10] = 1e-6  # contacts about to open, as by Hertz
    assert not unlike(few)
    inactive = np.where(rng.random(1000) < 0.5, 1.0, 0.0)
    assert not unlike(inactive)


def test_a_third_of_the_steps_in_a_pyramid_of_two_materials():
    """Peer: the factorization of ``pairs.py`` for the same system (measured: 2 to 4 times)."""
    B = pyramid_gradient(12)
    n = B.shape[1]
    rng = np.random.default_rng(1)
    D = np.where(rng.random(B.shape[0]) < 0.7, two_sorts(B.shape[0]), 0.0)
    network = PairNetwork(B, np.arange(0, n + 1, 3), sp.csr_array((n, n)))
    rhs = np.tile([0.0, 0.0, -1.0], n // 3)
    steps = [
        network.solver(D, 1e-6, two_sorts=sorts).solve(rhs, target=1e-8, max_steps=5000)[1]
        for sorts in (False, True)
    ]
    assert steps[1] < 0.6 * steps[0]


def test_compatible_forces_of_two_materials_in_few_steps():
    """Regression: base 12, 1 : 1000 at random. The path from forces of equal springs and the blocks
    by size take 345 conjugate gradient steps where two-sided springs and ``pairs.py`` took 700."""
    B = pyramid_gradient(12)
    n = B.shape[1]
    load = np.tile([0.0, 0.0, 1.0], n // 3)
    stiff = two_sorts(B.shape[0], seed=7)
    answer = compatible_forces(B, load, stiffness=stiff, blocks=np.arange(0, n + 1, 3))
    assert answer.converged and answer.duality_gap < 1e-9
    assert answer.linear_iterations + 100 * answer.factorizations < 500


@pytest.mark.parametrize("seed", [11, 23, 27, 35, 48])
def test_networks_that_next_to_nothing_holds(seed):
    """Property: fewer contacts than degrees of freedom, held by a shift of 1e-10 only; rounding of
    pivots grew from block to block until the factor was not finite, and no step was made."""
    rng = np.random.default_rng(seed)
    bodies, m, d = 40, rng.integers(30, 50), 3
    B = np.zeros((m, bodies * d))
    for i in range(m):
        a, b = rng.integers(0, bodies, 2)
        for body in {a, b}:
            B[i, d * body : d * body + d] = rng.normal(size=d)
    B = sp.csr_array(B)
    starts = np.arange(0, bodies * d + 1, d)
    D = np.where(np.arange(m) % 2, 1e6, 1.0)
    network = PairNetwork(B, starts, sp.csr_array((bodies * d, bodies * d)))
    shift = 1e-10 * D.max()
    K = B.T @ sp.diags_array(D) @ B + shift * sp.eye_array(bodies * d)
    rhs = K @ rng.normal(size=bodies * d)
    solver = network.solver(D, shift, two_sorts=True)
    assert isinstance(solver, ThresholdSolver)
    assert all(np.isfinite(part).all() for part in solver.factor)
    target = 1e-9 * np.abs(rhs).max()  # far above rounding of K x, 1e-16 of its terms
    _, steps, worst = solver.solve(rhs, target=target, max_steps=1000)
    assert 0 < steps < 1000 and worst <= target
