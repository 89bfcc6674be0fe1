"""Walls: blocks that touch side by side, where rounding of the load is all that the sides carry."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.compatibility import newton
from rigidlimit.status import Status
from tests.hard_problems import held_feet, many_feet, rounding_on_the_sides, wall


@pytest.fixture(scope="module")
def steps():
    simulation = rl.Simulation(wall(40, 40))
    return [simulation.step() for _ in range(3)]


def test_walls_converge(steps):
    """Closed form: each course carries the weight above it, to the tolerance of step 1; every step
    converges, with hardly more work than a wall whose blocks do not touch (it took a hundred Newton
    steps and stalled at 5e-10)."""
    for result in steps:
        found = result.compatible
        assert found.converged and found.iterations < 60
        force = np.zeros(len(result.contacts))
        force[result.closed] = found.force
        up = np.abs(result.contacts.normal[:, 2]) > 0.5
        level = np.round(result.contacts.point[:, 2] / 0.1).astype(int)
        total = 9.81 * result.bodies.mass[1:].sum()
        for course in (0, 13, 39):
            carried = force[up & (level == course)].sum()
            # the top course weighs a fortieth; v+ and so F~ are known to 1e-10 of a block
            assert carried == pytest.approx((1 - course / 40) * total, rel=1e-9)
        assert force[~up].max() < 1e-9 * force.max()


def test_steps_at_rest_cost_nothing(steps):
    """Property: sides that need not bear get no force at all in step 1, so that nothing changes
    from step to step at rest. It was 1e-10 of the largest force, other sides every step, and step 2
    took 870 to 2,300 conjugate gradient steps to carry it."""
    for result in steps:
        up = np.abs(result.contacts.normal[:, 2]) > 0.5
        assert not result.classic.force[~up].any()
    for result in steps[1:]:
        assert result.classic.iterations == 0
        assert result.compatible.linear_iterations <= 50


def test_end_of_the_path_agrees_with_newton(monkeypatch):
    """Cross-solver: a load of which the sides of blocks carry some 1e-9, too much to be set aside.
    Newton that is given up after two steps leaves it to the path's end, which finds the same."""
    B, load, free, force = rounding_on_the_sides()
    plain = rl.compatible_forces(B, load, fixed=~free)
    monkeypatch.setitem(newton.solve.__kwdefaults__, "settings", newton.Settings(patience=2))
    ended = rl.compatible_forces(B, load, fixed=~free)
    assert plain.converged and ended.converged and "end of the path" in ended.routes
    # as far as the answer itself says that it is open
    assert (
        np.abs(ended.force - plain.force).max()
        <= ended.force_error * force.max()
        < 1e-4 * force.max()
    )


@pytest.mark.parametrize("held", [1e4, 1e6, 1e9])
def test_forces_that_hold_one_another_hide_nothing(held):
    """Closed form: a rod on three feet with a lid, equal stiffness, carries 10/3 a foot. The given
    forces press it between feet and lid as hard as they like: beside that, real forces look like
    rounding."""
    B, given = held_feet(held)
    found = rl.compatible_forces(B, [10.0, 0.0], admissible=given, blocks=[0, 2])
    assert found.converged and found.duality_gap < 1e-9
    np.testing.assert_allclose(found.force, [10 / 3, 10 / 3, 10 / 3, 0], atol=1e-8)


def test_many_small_forces_add_up():
    """Closed form: a plate on 10,000 feet, of which the given forces load four and leave rounding
    on the others, rests evenly on all of them."""
    B, given = many_feet()
    load = B.T @ given
    found = rl.compatible_forces(B, load, admissible=given)
    assert found.converged
    np.testing.assert_allclose(found.force, load[0] / len(B), rtol=1e-8)


def test_nothing_that_moves():
    """Edge: forces on contacts that touch no degree of freedom."""
    found = rl.compatible_forces(np.zeros((2, 6)), [1, 0, 0, 0, 0, 0], admissible=[1, 1e-12])
    assert found.status is Status.LOAD_NOT_CARRIED
