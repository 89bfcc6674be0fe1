"""Columns of B of unlike units, translations and rotations, and the unit of length."""

import numpy as np
import pytest
import scipy.sparse as sp

import rigidlimit as rl
from rigidlimit.linear import column_arms

SCALES = (1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9)
BEAM = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])  # columns: rise, turn


def _stack(length=1.0, mass=1.0, time=1.0):
    """Overhanging planks and a ball on a floor, in units of length, mass and time."""
    stone = rl.Material(density=1000 * mass / length**3)
    scene = rl.Scene(dt=1e-3 * time, gravity=(0, 0, -9.81 * length / time**2))
    scene.add(rl.HalfSpace(), position=(0, 0, 0))
    for k in range(3):
        size = np.array([0.1, 0.06, 0.02]) * length
        position = np.array([0.01 * k, 0, 0.01 + 0.02 * k]) * length
        scene.add(rl.Box(size), position=position, material=stone)
    scene.add(rl.Sphere(0.01 * length), position=(0.02 * length, 0, 0.07 * length), material=stone)
    return rl.Simulation(scene).step()


def _degree(result):
    closed = np.flatnonzero(result.closed)
    fixed = ~result.bodies.free.ravel()
    known = rl.determinacy(result.B[closed], result.load, fixed=fixed, intervals="none")
    return known.degree, known.unmoved


@pytest.mark.parametrize("length", SCALES)
def test_forces_and_degree_do_not_depend_on_the_unit_of_length(length):
    """Property: in other units of length, mass and time the forces are the same, converted, and
    degree of indeterminacy and unmoved columns are the same."""
    mass, time = length**0.5, length**0.25
    here, there = _stack(), _stack(length, mass, time)
    assert here.converged and there.converged
    # 1e-8: both solves end at residuals of 1e-10, and positions of another unit round differently
    np.testing.assert_allclose(
        there.force * time**2 / (mass * length), here.force, rtol=1e-8, atol=1e-8 * here.force.max()
    )
    assert _degree(there)[0] == _degree(here)[0] == 3
    np.testing.assert_array_equal(_degree(there)[1], _degree(here)[1])


@pytest.mark.parametrize("length", [1e-11, *SCALES, 1e12])
def test_raw_gradient_in_any_unit_of_length(length):
    """Closed form: the beam on three supports in any unit of length carries 2, 6, 2, and a
    self-stress is open; neither its rise nor its turn is taken for rounding."""
    B = BEAM * [1.0, length]
    answer = rl.compatible_forces(B, [10.0, 0.0], stiffness=[1, 3, 1])
    # 1e-9: the residual asked for is 1e-10
    np.testing.assert_allclose(answer.force, [2, 6, 2], rtol=1e-9)
    assert rl.determinacy(B, [10.0, 0.0], intervals="none").degree == 1
    assert rl.certify(B, [10.0, 0.0], [2.0, 6.0, 2.0], stiffness=[1, 3, 1]).compatible
    change = rl.sensitivity(B, [10.0, 0.0]).forward(load=np.array([3.0, 0.0]))
    # 1e-9: refined to 1e-13, times the condition of a 2 x 2 system
    np.testing.assert_allclose(change, 1.0, rtol=1e-9)


def test_rounding_is_not_felt():
    """Closed form: arms of 1e-16, as other programs write them for smooth balls, and a column
    without entries are not felt and measure 1; parts of normals and arms are."""
    B = np.array([[1.0, 1e-16, 0.0, -1e-9], [0.5, -1e-16, 0.0, 2e-9]])
    arm, felt = column_arms(sp.csr_array(B))
    np.testing.assert_array_equal(felt, [True, False, False, True])
    np.testing.assert_array_equal(arm, [1.0, 1.0, 1.0, 2e-9])


@pytest.mark.parametrize("solver", ["newton", "pgs", "apgd"])
@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
def test_driven_walls_that_meet_leave_the_rest_alone(solver, length):
    """Closed form: a ball at rest on the ground weighs 10 whatever two driven walls do, in any unit
    of length; the contact between the walls gets no force and keeps its gap rate."""
    B = np.array([[1.0, 0, 0], [0, -1, 1.0]])
    answer = rl.contact_dynamics(
        np.ones(3),
        B,
        np.zeros(2),
        np.array([0, 0, -1.0]) * length,
        np.array([-10.0, 0, 0]) * length,
        1e-3,
        fixed=[False, True, True],
        solver=solver,
        **({"order": [1, 0]} if solver == "pgs" else {}),
    )
    assert answer.converged
    # 1e-9: the residual asked for is 1e-10
    np.testing.assert_allclose(answer.force / length, [10.0, 0.0], rtol=1e-9)
    np.testing.assert_allclose(answer.slack / length, [0.0, -1.0], atol=1e-9)
