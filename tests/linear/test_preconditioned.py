"""Conjugate gradients by a factor of nearly the same matrix, and factors in single precision."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.linear import LinearStats, Network, fronts
from rigidlimit.linear import network as network_module
from rigidlimit.linear.dissection import elimination_order
from rigidlimit.linear.low_rank_update import ChangingSystem
from rigidlimit.linear.multifrontal import MultifrontalFactor
from rigidlimit.linear.preconditioned import solve
from tests.compatibility.test_active_set import nearly_determinate
from tests.problems import pyramid_gradient


def positive(rng, n, condition):
    """A symmetric matrix of that condition, (n, n)."""
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return (Q * np.geomspace(1.0, condition, n)) @ Q.T


@pytest.mark.parametrize("accuracy", [1e-4, 1e-7, 1e-10])
def test_error_is_told(accuracy):
    """Reference twin: the error in |x|_K is below what was asked, and not far from what is told."""
    rng = np.random.default_rng(0)
    n = 60
    K = positive(rng, n, 1e4)
    near = positive(rng, n, 3.0)  # P K has condition 3 or so: a quarter of the error stays
    L = np.linalg.cholesky(K)
    P = np.linalg.inv(L).T @ near @ np.linalg.inv(L)
    exact = rng.normal(size=n)
    rhs = K @ exact

    def energy(x):
        return np.sqrt(x @ K @ x)

    found = solve(K.__matmul__, P.__matmul__, rhs, accuracy=accuracy, most=100)
    error = energy(found.x - exact) / energy(exact)
    # the part that stays is guessed from the last two steps
    assert error < 3 * accuracy and 0.3 * error < found.error <= accuracy
    close = 1e-8 * np.abs(rhs).max()
    found = solve(K.__matmul__, P.__matmul__, rhs, enough=close, most=100)
    assert 1 < found.steps < 40 and np.abs(K @ found.x - rhs).max() < 1.01 * close


def test_what_cannot_be_solved_is_told():
    """Property: K or P that is not positive, and one that is not finite, are told by the error."""
    I, rhs = np.eye(5), np.ones(5)
    odd = np.diag([1.0, 1.0, 1.0, 1.0, -9.0])
    for K, P in ((odd, I), (I, odd)):
        found = solve(K.__matmul__, P.__matmul__, rhs, accuracy=1e-9, most=9)
        assert np.isnan(found.error) and np.isfinite(found.x).all()
    found = solve(I.__matmul__, (np.nan * I).__matmul__, rhs, accuracy=1e-9, most=9)
    assert np.isnan(found.error) and np.isnan(found.x).all()
    nothing = solve(I.__matmul__, I.__matmul__, 0 * rhs, accuracy=1e-9, most=9)
    assert not nothing.x.any() and nothing.error == 0.0


def system_of(base, shift, monkeypatch):
    monkeypatch.setattr(fronts, "SETTINGS", replace(fronts.SETTINGS, large=0))
    B = pyramid_gradient(base)
    network = Network(B, blocks=np.arange(0, B.shape[1] + 1, 3))
    return network, network.system(np.ones(B.shape[0]), shift)


def test_factor_in_single_precision(monkeypatch):
    """Reference twin: the factor in double precision. Half the memory; one solve with it is off by
    single precision times the condition of L, not of K."""
    network, _ = system_of(10, 0.0, monkeypatch)
    m, n = network.B.shape
    D = np.geomspace(1.0, 1e8, m)
    system = network.system(D, 1e-7)
    place = elimination_order(network.B, network.mass, network.starts)
    given = system.matrix, network.starts, place
    double, single = (MultifrontalFactor(*given, single_precision=kept) for kept in (False, True))
    assert single.values.nbytes == double.values.nbytes // 2
    np.testing.assert_array_equal(single.values, double.values.astype(np.float32))
    rhs = np.random.default_rng(0).normal(size=n)
    K = sp.csr_array(network.B.T @ sp.diags_array(D) @ network.B + 1e-7 * sp.eye_array(n))

    def energy(x):
        return np.sqrt(x @ (K @ x))

    x = double.solve(rhs)
    error = energy(single.solve(rhs) - x) / energy(x)
    condition = np.sqrt(np.linalg.cond(K.toarray()))
    assert condition > 1e3
    assert 1e-8 < error < 6e-8 * condition


def test_solves_as_well_as_in_double_precision(monkeypatch):
    """Reference twin: dense solve, for one and for many right sides, in three steps each."""
    network, system = system_of(8, 1e-6, monkeypatch)
    n = network.B.shape[1]
    stats = LinearStats()
    rhs = np.random.default_rng(0).normal(size=(n, 4))
    K = (network.B.T @ network.B).toarray() + 1e-6 * np.eye(n)
    expected = np.linalg.solve(K, rhs)
    x = system.solve_directly(rhs, stats)
    assert system.factorize(stats).single_precision and stats.factorizations == 1
    # condition 1e7, times rounding
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    assert stats.products <= 3 * 4
    rough = system.solve_directly(rhs[:, 0], stats, refined=False)
    np.testing.assert_allclose(rough, expected[:, 0], rtol=0, atol=1e-6 * np.abs(expected).max())


def test_double_precision_where_single_does_not_serve(monkeypatch):
    """Reference twin: rows of 1 and 3e7, condition 4e15: single precision loses the soft motions.
    That is noticed, and factors of this solve are kept in double precision from then on."""
    network, _ = system_of(8, 0.0, monkeypatch)
    m, n = network.B.shape
    rng = np.random.default_rng(0)
    D = np.where(rng.uniform(size=m) < 0.5, 1e15, 1.0)
    mass = sp.csr_array(sp.eye_array(n))
    network = Network(network.B, mass=mass, blocks=network.starts)
    system, stats = network.system(D, 0.0), LinearStats()
    rhs = rng.normal(size=n)
    x = system.solve_directly(rhs, stats)
    assert not system.factorize(stats).single_precision and stats.imprecise
    assert stats.factorizations == 2
    other = network.system(2.0 * D, 0.0)
    assert not other.factorize(stats).single_precision
    residual = np.abs(system.apply(x) - rhs).max()
    # rounding of 1e15 x with |x| of 1
    assert residual < 1.0


@pytest.mark.parametrize("serves", [True, False])
def test_contacts_that_come_and_go(serves, monkeypatch):
    """Reference twin: factorized anew, in double precision. Changes are taken in with a factor in
    single precision, and where that stops to serve one in double precision goes on."""
    network, _ = system_of(7, 0.0, monkeypatch)
    m, n = network.B.shape
    rng = np.random.default_rng(0)
    D, push, load = rng.uniform(1.0, 10.0, m), rng.uniform(size=m), rng.normal(size=n)
    stats, twin = LinearStats(), Network(network.B, blocks=network.starts)
    twin.single_precision = False
    system = ChangingSystem(network, D, rng.uniform(size=m) < 0.7, 1e-3, stats)
    system.load_with(push, load)
    for turn in range(8):
        if turn == 4 and not serves:
            system.system._factor.values[:] = 1.0  # no factor of anything
        system.toggle(rng.choice(m, 3, replace=False))
        fresh = twin.system(np.where(system.working, D, 0.0), 1e-3)
        rhs = rng.normal(size=n)
        for mine, of in (
            (system.solve(rhs), rhs),
            (system.displacement(), network.load_of(np.where(system.working, push, 0.0)) - load),
        ):
            expected = fresh.solve_directly(of, LinearStats())
            # condition 1e5, times rounding
            np.testing.assert_allclose(mine, expected, atol=1e-9 * np.abs(expected).max())
    assert stats.imprecise == (not serves)
    assert stats.factorizations == (1 if serves else 2)


def test_working_sets_that_hold_nothing(monkeypatch):
    """Property: K that has become singular gives NaN, as in double precision, and no other
    factorization."""
    network, _ = system_of(7, 0.0, monkeypatch)
    m, stats = network.B.shape[0], LinearStats()
    system = ChangingSystem(network, np.ones(m), np.ones(m, bool), 0.0, stats)
    of_one = np.unique(network.B.T[:3].tocsr().indices)
    system.toggle(of_one)
    x = system.solve(np.ones(network.B.shape[1]))
    assert not np.isfinite(x).all() or np.abs(x).max() > 1e6
    assert stats.factorizations <= 2


def test_packing_in_either_precision(monkeypatch):
    """Cross-solver: a step of a packing that settles, with factors in single and in double
    precision, begun from the same state."""
    simulation = rl.Simulation(rl.scenes.packing(150))
    for _ in range(60):
        simulation.step()
    saved, found = simulation.checkpoint(), []
    for large in (0, np.inf):
        monkeypatch.setattr(fronts, "SETTINGS", replace(fronts.SETTINGS, large=large))
        simulation.restore(saved)
        found.append(simulation.step(compatible=True))
        assert found[-1].converged
    one, other = (result.force for result in found)
    assert (one != other).any()  # a factor was made
    # each balances to 1e-10, in a packing of condition 1e4
    np.testing.assert_allclose(one, other, atol=1e-6 * other.max())


def test_networks_that_only_the_shift_holds(monkeypatch):
    """Property: with fewer contacts in the working set than degrees of freedom, motions of next to
    no energy decide which contact enters; single precision is given up for them at once, and the
    search among forces ends (it went on for 401 steps, to no end)."""
    monkeypatch.setattr(fronts, "SETTINGS", replace(fronts.SETTINGS, large=0))
    monkeypatch.setattr(network_module, "FULL", 1.0)  # this B is full, and would go another way
    B, load, corner, _ = nearly_determinate(3, n=320, redundant=-40, idle=60)
    found = rl.compatible_forces(B, load, admissible=corner)
    assert found.converged and found.factorizations == 2 and found.iterations < 100
