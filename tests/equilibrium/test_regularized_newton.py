"""Equilibrium of networks with motions that contacts hardly feel."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.equilibrium import regularized_newton
from rigidlimit.equilibrium.smooth_law import SmoothNetwork
from rigidlimit.linear import LinearStats, Network
from rigidlimit.status import Status
from tests.problems import soft_motions


def solved(B, load, exponent, **options):
    stats = LinearStats()
    network = Network(sp.csr_array(B))
    problem = SmoothNetwork(network, np.ones(B.shape[0]), exponent, load)
    answer = regularized_newton.solve(problem, tolerance=1e-12, stats=stats, **options)
    return answer, stats


@pytest.mark.parametrize("exponent", [2.0, 2.5])
@pytest.mark.parametrize("slope", [1e-4, 1e-6, 1e-8])
def test_forces_along_soft_motions(exponent, slope):
    """Manufactured: displacements of 1 / slope overlaps, along ten motions that contacts feel by
    ``slope`` only, tell the forces and with B^T f the load; some contacts open by overlaps."""
    B, force = soft_motions(np.full(10, slope), exponent=exponent)
    answer, stats = solved(B, B.T @ force, exponent)
    assert answer.status is Status.CONVERGED
    # each of 20 loads balanced to 1e-12, which along a soft motion is 1e-12 / slope of a force
    np.testing.assert_allclose(answer.force, force, atol=max(1e-10, 1e-11 / slope))
    assert stats.factorizations < 40
    # c changed along with x is s - B x but for the rounding of x
    rounding = 1e-15 * np.abs(answer.x).max() * np.abs(B).sum(axis=1).max()
    np.testing.assert_allclose(answer.displacement, B @ answer.x, atol=rounding)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_soft_motions_of_unlike_stiffness(seed):
    """Manufactured: five motions felt by 1e-9 to 1e-6, so that their stiffnesses differ by up to a
    million; steps that are not conjugate go to and fro among them and stall at 1e-9."""
    slopes = 10.0 ** np.random.default_rng(seed).uniform(-9, -6, 5)
    B, force = soft_motions(slopes, seed=seed)
    answer, _ = solved(B, B.T @ force, 2.0)
    assert answer.residual <= 1e-10
    # balanced to 1e-12, felt by 1e-9 along the softest
    np.testing.assert_allclose(answer.force, force, atol=1e-3)


def test_start_farther_than_none_is_left():
    """Property: a start that is worse than no displacement does not change the answer."""
    B, force = soft_motions(np.full(4, 1e-6))
    load = B.T @ force
    cold, _ = solved(B, load, 2.0)
    lost, _ = solved(B, load, 2.0, start=1e9 * np.ones(B.shape[1]))
    np.testing.assert_array_equal(cold.force, lost.force)


def test_load_that_is_not_carried():
    """Closed form: pulling away from all contacts lowers the energy without end."""
    answer, _ = solved(np.array([[1.0, -0.5], [1.0, 0.5]]), np.array([-1.0, 0.0]), 2.0)
    assert answer.status is Status.LOAD_NOT_CARRIED


def test_no_way_without_end_along_motions_that_only_open():
    """Reference twin: a pile of 40 bodies of all shapes, Hertz, as it stands and with the scene
    turned, from which only rounding can differ. Down the last digits of the load, a body was moved
    by 2e8 m away from contacts without force: rounding of that made overlaps that belong to no
    displacement, and forces 0.12 of 17 N off were called converged."""
    pile = np.load(Path(__file__).with_name("turned_pile.npz"))
    n = len(pile["load"])
    B = sp.csr_array(
        (pile["data"], pile["indices"], pile["indptr"]), shape=(len(pile["stiffness"]), n)
    )
    stiffness = pile["stiffness"]
    blocks, admissible = np.arange(0, n + 1, 6), pile["admissible"]
    answer = rl.compatible_forces(
        B, pile["load"], stiffness=stiffness, exponent=2.5, admissible=admissible, blocks=blocks
    )
    assert answer.converged
    # both are solved to 1e-10 of loads of some 20 N
    np.testing.assert_allclose(answer.force, pile["unturned"], atol=1e-7)
    law = stiffness * np.maximum(-(B @ answer.displacement), 0.0) ** 1.5
    np.testing.assert_allclose(law, answer.force, atol=1e-7)
