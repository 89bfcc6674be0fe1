"""A budget of time for mending: the best answer there is, and its status."""

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from rigidlimit._support import deadline
from rigidlimit.adapters import Mender, from_mujoco, mend_forces
from rigidlimit.errors import InputError
from rigidlimit.status import Status

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")


@pytest.fixture(scope="module")
def slides():
    """Bricks that are thrown apart: their sliding contacts have no equilibrium of Coulomb's law."""
    model, data = SCENES["bricks with overhang"]().made()
    rng = np.random.default_rng(1)
    for _ in range(60):
        data.qvel[:] += 0.05 * rng.normal(size=model.nv)
        mujoco.mj_step(model, data)
        if from_mujoco(model, data).status is Status.NO_EQUILIBRIUM:
            return model, data
    raise AssertionError("no such state")


def clock(monkeypatch, part):
    """Time stands still once this part of the budget is spent."""
    ticks = iter([0.0])
    monkeypatch.setattr(deadline.time, "perf_counter", lambda: next(ticks, part))


def test_time_for_least_energy_alone(slides, monkeypatch):
    """Reference twin: forces of least energy are those that the whole search ends with."""
    known = from_mujoco(*slides)
    clock(monkeypatch, 0.6)
    mended = from_mujoco(*slides, budget=1.0)
    assert mended.status is Status.APPROXIMATE and not mended.converged
    assert set(mended.state[mended.row]) == {"least energy"} and not mended.kept.any()
    # least energy is solved to 1e-10, in contacts of condition 100
    np.testing.assert_allclose(mended.force, known.force, atol=1e-8 * known.force.max())
    assert "approximate" in mended.message.splitlines()[0]
    assert "budget of time was spent" in mended.message
    assert mended.answer.iterations < known.answer.iterations


def test_no_time_at_all(slides, monkeypatch):
    """What balances are the engine's own forces, and the result says so."""
    clock(monkeypatch, 2.0)
    mended = from_mujoco(*slides, budget=1.0)
    assert mended.status is Status.APPROXIMATE
    assert mended.kept[mended.row].all()
    np.testing.assert_array_equal(mended.force[mended.row], mended.engine_force[mended.row])
    np.testing.assert_array_equal(mended.tangential, mended.engine_tangential)
    assert "engine's are kept" in mended.message


def test_time_enough_changes_nothing(slides):
    known, mended = from_mujoco(*slides), from_mujoco(*slides, budget=600.0)
    assert mended.status is known.status
    np.testing.assert_array_equal(mended.contact_force, known.contact_force)


@pytest.mark.parametrize("name", ["tray", "quadruped"])
def test_what_settles_at_once_needs_no_time(name):
    model, data = SCENES[name]().made()
    for mended in (Mender(model, budget=1e-9).mend(data), from_mujoco(model, data, budget=1e-9)):
        assert mended.converged
        np.testing.assert_allclose(
            mended.force, from_mujoco(model, data).force, rtol=0.0, atol=1e-10 * mended.force.max()
        )  # both solve to 1e-10


def test_a_mender_has_the_budget_in_every_state(slides, monkeypatch):
    model, data = slides
    mender = Mender(model, budget=1e-9)
    batch = mender.mend_many([data, data])
    assert batch.status.tolist() == [Status.APPROXIMATE] * 2
    assert "2 not converged" in batch.message


def test_no_deadline_is_left_behind():
    """Property: blocks within blocks have their own budget, and none after them."""
    assert not deadline.late()
    with deadline.within(600.0):
        with deadline.within(1e-12):
            assert deadline.late() and deadline.cut()
        assert not deadline.late() and not deadline.cut()
    with deadline.within(None):
        assert not deadline.late()


@pytest.mark.parametrize("budget", [0.0, -1.0, "soon", np.nan])
def test_bad_budgets_are_one_clear_error(budget):
    with pytest.raises(InputError, match=r"budget is .*; expected a positive number"):
        mend_forces(np.ones((1, 1)), [1.0], budget=budget)


def test_a_limit_within_another_does_not_extend_it():
    """Property: of two limits the one that ends first holds, whichever is outside."""
    for outer, inner in ((0.0, 600.0), (600.0, 0.0), (None, 0.0), (0.0, None)):
        with deadline.within(outer), deadline.within(inner):
            assert deadline.late() and deadline.left() == 0.0
    assert deadline.left() == float("inf")
