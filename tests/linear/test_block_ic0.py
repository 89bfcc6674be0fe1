"""Incomplete factorization of pair networks and conjugate gradients with it."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from rigidlimit.linear import Network
from rigidlimit.linear.block_ic0 import SETTINGS
from rigidlimit.linear.eisenstat import PairSolver
from rigidlimit.linear.pair_network import PairNetwork
from rigidlimit.linear.preconditioned import solve
from tests.problems import pyramid_gradient, random_springs


def body_network(bodies=30, contacts=80, sizes=(3, 6), seed=0, repeated=True):
    """Random contacts between two bodies, or one, of 3 or 6 degrees of freedom; some pairs meet in
    several contacts. Returns B, block starts."""
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.choice(sizes, bodies))])
    rows, cols, values = [], [], []
    pairs = [rng.choice(bodies, 2, replace=False) for _ in range(contacts)]
    if repeated:
        pairs += pairs[: contacts // 3] * 2
    for i, (a, b) in enumerate(pairs):
        for body in (a, b) if rng.random() < 0.8 else (a,):
            dofs = np.arange(starts[body], starts[body + 1])
            rows += [i] * len(dofs)
            cols += list(dofs)
            values += list(rng.normal(size=len(dofs)))
    B = sp.csr_array(sp.coo_array((values, (rows, cols)), shape=(len(pairs), int(starts[-1]))))
    return B, starts


def block_mass(starts, seed=1):
    rng = np.random.default_rng(seed)
    blocks = []
    for size in np.diff(starts):
        A = rng.normal(size=(size, size))
        blocks.append(A @ A.T + np.eye(size))
    return sp.csr_array(sp.block_diag(blocks))


def partly_active(sizes, inertial):
    """(network, B, M, which contacts are active, generator of what else is random)."""
    B, starts = body_network(sizes=sizes)
    M = block_mass(starts) if inertial else sp.csr_array((B.shape[1], B.shape[1]))
    rng = np.random.default_rng(2)
    return PairNetwork(B, starts, M), B, M, rng.random(B.shape[0]) < 0.7, rng


@pytest.mark.parametrize("sizes", [(3,), (6,), (3, 6)])
@pytest.mark.parametrize("inertial", [False, True])
def test_solution_against_dense(sizes, inertial):
    """Reference twin: a dense solve, with mixed body sizes, repeated pairs, inactive contacts."""
    network, B, M, active, rng = partly_active(sizes, inertial)
    D = np.where(active, rng.uniform(0.1, 10, B.shape[0]), 0.0)
    assert network.serves
    check_against_dense(PairSolver(network, D, 1e-2), B, M, D, rng)


def check_against_dense(solver, B, M, D, rng):
    """That ``solver``, of shift 1e-2, solves with a random right side as a dense one does."""
    K = (B.T @ sp.diags_array(D) @ B + M + 1e-2 * sp.eye_array(B.shape[1])).toarray()
    rhs = rng.normal(size=B.shape[1])
    x, steps, worst = solver.solve(rhs, target=1e-11, max_steps=2000)
    assert 0 < steps < 2000 and worst <= 1e-11
    # the reported residual is the true one up to the rounding of K x
    assert np.abs(K @ x - rhs).max() <= 1e-11 + 1e-14 * np.abs(K).max() * np.abs(x).max() * 100
    exact = np.linalg.solve(K, rhs)
    # ten times the residual asked for: the running residual drifts from the true one
    np.testing.assert_allclose(x, exact, atol=1e-10 * np.linalg.norm(np.linalg.inv(K), np.inf))


@pytest.mark.parametrize(("bodies", "contacts"), [(25, 120), (4, 60)])
def test_factor_exists_and_matches_the_diagonal(bodies, contacts):
    """Property, from the header: diag blocks of (E+L) E^-1 (E+L^T) are those of K, lifted, and E is
    at least the stiffness of the contacts to later bodies; with few and many contacts a pair."""
    B, starts = body_network(sizes=(6,), bodies=bodies, contacts=contacts, seed=3)
    network = PairNetwork(B, starts, sp.csr_array((B.shape[1], B.shape[1])))
    D = np.random.default_rng(4).uniform(0.5, 2, B.shape[0])
    shift = 1e-3
    solver = PairSolver(network, D, shift)
    root = np.linalg.inv(solver.inverse)
    E, inverse = root @ root.transpose(0, 2, 1), solver.inverse.transpose(0, 2, 1) @ solver.inverse
    n, d = network.bodies, network.d
    order = np.argsort(network.dof)
    K = (B.T @ sp.diags_array(D) @ B).toarray()[np.ix_(order, order)] + shift * np.eye(n * d)
    blocks = K.reshape(n, d, n, d).transpose(0, 2, 1, 3)
    lower = np.zeros((n, n, d, d))
    for i in range(n):
        lower[i, :i] = blocks[i, :i]
    for i in range(n):
        diagonal = E[i] + sum(lower[i, j] @ inverse[j] @ lower[i, j].T for j in range(i))
        lifted = blocks[i, i] + SETTINGS.lift * blocks[i, i].diagonal().max() * np.eye(d)
        np.testing.assert_allclose(diagonal, lifted, atol=1e-9)  # sums of order 10
    scaled = B.multiply(np.sqrt(D)[:, None]).tocsr()[:, order].toarray().reshape(-1, n, d)
    touches = np.abs(scaled).sum(axis=2) > 0
    for i in range(n):
        later = [c[i] for c, t in zip(scaled, touches, strict=True) if t[i] and t[i + 1 :].any()]
        U = sum((np.outer(c, c) for c in later), np.zeros((d, d)))
        assert np.linalg.eigvalsh(E[i] - U).min() > -1e-9


def test_far_fewer_steps_than_block_jacobi():
    """Peer: the same system by conjugate gradients with the bodies' diagonal blocks."""
    B = pyramid_gradient(12)
    n = B.shape[1]
    network = Network(B, blocks=np.arange(0, n + 1, 3))
    system = network.system(np.ones(B.shape[0]), 1e-9)
    rhs = np.tile([0.0, 0.0, -1.0], n // 3)
    _, steps, _ = system._incomplete.solve(rhs, target=1e-10, max_steps=1000)
    options = dict(enough=1e-10, most=1000, near=False)
    peer = solve(system.apply, system._by_blocks, rhs, **options).steps
    assert steps < 0.7 * peer


@pytest.mark.parametrize("contacts", [2.0, 2.5, 2.8, 2.95])
def test_soft_networks_do_not_break_it_down(contacts):
    """Property: with fewer contacts than degrees of freedom, and next to nothing else that holds
    the bodies, the factorization stays positive and conjugate gradients arrive. Without the lift
    rounding grows from body to body until there are no numbers left."""
    B = random_springs(500, contacts)
    n = B.shape[1]
    network = PairNetwork(B, np.arange(0, n + 1, 3), sp.csr_array((n, n)))
    solver = PairSolver(network, np.ones(B.shape[0]), 1e-16)
    rhs = B.T @ np.random.default_rng(1).uniform(0, 1, B.shape[0])
    # three decades: soft motions, which take the others, are not what is looked at here
    x, steps, worst = solver.solve(rhs, target=1e-3, max_steps=2000)
    assert steps > 0 and worst <= 1e-3
    # the running residual is the true one, to rounding of a sum of some hundred steps
    assert np.abs(B.T @ (B @ x) + 1e-16 * x - rhs).max() == pytest.approx(worst, rel=1e-3)


def test_does_not_serve_what_is_no_network_of_pairs():
    """A contact of three bodies, and an inertia that couples two bodies, are refused."""
    B = sp.csr_array(np.ones((1, 9)))
    empty = sp.csr_array((9, 9))
    assert not PairNetwork(B, np.array([0, 3, 6, 9]), empty).serves
    B = sp.csr_array(np.array([[1.0, 0, 0, 1, 0, 0, 0, 0, 0]]))
    assert PairNetwork(B, np.array([0, 3, 6, 9]), empty).serves
    coupled = sp.lil_array((9, 9))
    coupled.setdiag(1.0)
    coupled[0, 5] = coupled[5, 0] = 0.5
    assert not PairNetwork(B, np.array([0, 3, 6, 9]), sp.csr_array(coupled)).serves
    # and the caller takes another road to the same answer
    network = Network(B, mass=sp.csr_array(coupled), blocks=np.array([0, 3, 6, 9]))
    assert not network.pairs.serves


def test_bodies_without_contacts_stay_where_they_are():
    """Edge: no contacts at all; bodies that nothing touches; zero right-hand side."""
    B = sp.csr_array((0, 6))
    network = PairNetwork(B, np.array([0, 3, 6]), sp.csr_array((6, 6)))
    x, _, worst = PairSolver(network, np.zeros(0), 1.0).solve(
        np.arange(6.0), target=1e-12, max_steps=50
    )
    np.testing.assert_allclose(x, np.arange(6.0), atol=1e-12)
    assert worst <= 1e-12
    x, steps, _ = PairSolver(network, np.zeros(0), 1.0).solve(np.zeros(6), target=0.0, max_steps=50)
    assert steps == 0 and not x.any()


def test_work_grows_as_the_contacts_of_a_pair():
    """Scaling: 4,000 contacts of one pair took 0.3 s, since each met each other; ten times as many
    may take some ten times as long, not a hundred."""

    def seconds(contacts):
        B = sp.csr_array(np.random.default_rng(0).normal(size=(contacts, 12)))
        network = PairNetwork(B, np.array([0, 6, 12]), sp.csr_array((12, 12)))
        best = np.inf
        for _ in range(5):
            start = time.process_time()
            PairSolver(network, np.ones(contacts), 1e-6)
            best = min(best, time.process_time() - start)
        return best

    seconds(10)  # compile
    # the clock and a busy machine leave a factor of three
    assert seconds(40_000) < 30 * max(seconds(4_000), 1e-4)


def test_right_sides_that_are_no_numbers_are_not_solved():
    """Contract: a right side with NaN leaves a residual of NaN, which meets no tolerance."""
    B, starts = body_network()
    network = PairNetwork(B, starts, block_mass(starts))
    solver = PairSolver(network, np.ones(B.shape[0]), 1e-6)
    for place in (0, B.shape[1] // 2, B.shape[1] - 1):
        rhs = np.zeros(B.shape[1])
        rhs[place] = np.nan
        _, _, worst = solver.solve(rhs, target=1e-8, max_steps=100)
        assert not worst <= 1e-8
