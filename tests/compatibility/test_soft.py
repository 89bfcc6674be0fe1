"""Compatible forces where motions are all but free, and how they are judged."""

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.compatibility import active_set
from rigidlimit.compatibility.energy import complementary_energy, duality_gap, strain_energy
from rigidlimit.equilibrium.smooth_law import SmoothNetwork
from rigidlimit.linear import Network
from tests.hard_problems import floating_cluster
from tests.problems import soft_motions, static_pyramid


@pytest.mark.parametrize(("exponent", "slopes"), [(2.0, [1e-8, 3e-8, 1e-7]), (2.5, 5 * [1e-8])])
def test_compatible_forces_with_soft_motions(exponent, slopes):
    """Manufactured: motions that contacts feel by 1e-8 to 1e-7, as in piles of blocks; Newton on
    displacements alone stalled here after 200 factorizations, whatever the start."""
    B, force = soft_motions(slopes, exponent=exponent)
    answer = rl.compatible_forces(B, B.T @ force, exponent=exponent)
    assert answer.converged and answer.duality_gap <= 1e-9
    assert answer.factorizations < 60
    # the load is rounded by 1e-16; the gap bounds the square of what is wrong
    np.testing.assert_allclose(answer.force, force, atol=1e-4)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.5])
def test_gap_is_that_of_the_energies(exponent):
    """Reference twin: of any forces and displacements, eq. 36 plus eq. 32 over eq. 36."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(30, 12))
    force, u = rng.uniform(size=30), rng.normal(size=12)
    k, offset = rng.uniform(1, 3, 30), 0.1 * rng.normal(size=30)
    load = B.T @ force + 0.1 * rng.normal(size=12)
    primal = complementary_energy(force, k, exponent)
    dual = strain_energy(offset - B @ u, k, exponent) + load @ u - offset @ force
    network = SmoothNetwork(Network(sp.csr_array(B)), k, exponent, load, offset)
    found = duality_gap(network, u, force)
    assert found == pytest.approx(abs(primal + dual) / primal, rel=1e-12)


def test_gap_tells_wrong_forces_from_rounding():
    """Manufactured: displacements of 1e8 round the energies by 1e-8, which is no gap; balanced
    forces that are wrong by 1e-3 have the energy of that, above the least."""
    B, force = soft_motions(np.full(5, 1e-8))
    load, k = (B.T[:, ::-1] @ force[::-1]).copy(), np.ones(15)  # rounded in another order
    u = np.linalg.lstsq(B[force > 0], -force[force > 0], rcond=1e-12)[0]
    assert np.abs(u).max() > 1e7
    network = SmoothNetwork(Network(sp.csr_array(B)), k, 2.0, load)
    assert duality_gap(network, u, force) < 1e-12
    energies = complementary_energy(force, k, 2.0) + strain_energy(-B @ u, k, 2.0) + load @ u
    assert abs(energies) > 1e-9
    *_, null = np.linalg.svd(B.T)
    wrong = force + 1e-3 * null[-1] * (force > 0)
    extra = 0.5 * ((wrong - force) ** 2).sum() / complementary_energy(wrong, k, 2.0)
    assert duality_gap(network, u, wrong) > 0.1 * extra


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_rounding_of_a_start_that_has_drifted_is_left_out(exponent):
    """Property: a floating cluster, and all of it moved far away; overlaps known to 1e-6 would be
    forces known to as much."""
    B, load, way = floating_cluster()
    cold = rl.compatible_forces(B, load, exponent=exponent)
    size = np.abs(cold.displacement).max()
    for far in (1e6, 1e10, 1e13):
        start = cold.displacement + far * size * way
        warm = rl.compatible_forces(B, load, exponent=exponent, warm_start=start)
        assert warm.converged
        # 1e-8 is what may be brought along
        np.testing.assert_allclose(warm.force, cold.force, atol=1e-7 * cold.force.max())


def test_renewals_that_come_too_slowly_are_given_up():
    """Closed form: 30 renewals in all; changes that halve gain 2^27 from the third on."""
    assert not active_set._too_slow(0.5, 1e8, 27)
    assert active_set._too_slow(0.5, 1e9, 27)
    assert active_set._too_slow(1.1, 2.0, 27)


def test_ordinary_networks_take_the_same_steps():
    """Property: where no motion is soft, one factor for each set of contacts that bear."""
    B, load = static_pyramid(3)
    answer = rl.compatible_forces(B, load)
    assert answer.converged and answer.factorizations <= answer.iterations


def test_motions_that_nothing_but_rounding_feels_pin_no_force():
    """Closed form: three supports of stiffness 3, 1, 1 in a row share a load as 6, 2, 2; a motion
    that one of them feels by 4e-13, and the load by 1e-12, as other programs write them."""
    rng, side, arm = np.random.default_rng(0), np.sqrt(0.5), 0.995
    for _ in range(200):
        felt = 10.0 ** rng.uniform(-13.5, -12.3) * rng.choice([-1, 1])
        B = np.array([[0, 1.0, felt], [side, 1.0, -arm], [-side, 1.0, arm]])
        load = np.array([-1e-12 * rng.normal(), 10.0, 1e-12 * rng.normal()])
        found = rl.compatible_forces(B, load, stiffness=[3, 1, 1])
        assert found.converged
        # a balance to 1e-10 of the load, by motions of order one
        np.testing.assert_allclose(found.force, [6, 2, 2], rtol=1e-6)
