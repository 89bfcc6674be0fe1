"""The active set method for nearly determinate packings."""

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit._support import memory
from rigidlimit.compatibility import active_set
from rigidlimit.errors import OutOfMemory
from rigidlimit.status import Status
from tests.problems import nearly_determinate, random_springs


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.5])
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_newton_on_displacements(seed, exponent):
    """Cross-solver: the unique forces do not depend on the way there."""
    B, load, corner, k = nearly_determinate(seed)
    assert active_set.applies(corner, B.shape[1])
    found = rl.compatible_forces(B, load, stiffness=k, exponent=exponent, admissible=corner)
    expected = rl.compatible_forces(B, load, stiffness=k, exponent=exponent)
    assert found.converged and expected.converged
    # both balance to 1e-10; B has a condition number of some 100
    np.testing.assert_allclose(found.force, expected.force, atol=1e-8 * expected.force.max())
    assert found.duality_gap < 1e-8
    assert np.abs(found.force - corner).max() > 1e-3 * corner.max()  # there was something to do


def test_takes_few_factorizations():
    """Property: for p = 2 one factorization serves every change of the working set."""
    B, load, corner, k = nearly_determinate(1)
    found = rl.compatible_forces(B, load, stiffness=k, admissible=corner)
    assert found.converged and found.factorizations == 1 and found.linear_iterations == 0


@pytest.mark.parametrize("seed", [2, 4, 7])
def test_many_contacts_change_at_once(seed):
    """Property: contacts that let go and those that close are exchanged together, in less rounds
    than there are of them; 63, 87 and 24 rounds one by one."""
    B, load, corner, k = nearly_determinate(seed, n=320)
    found = rl.compatible_forces(B, load, stiffness=k, admissible=corner)
    changed = np.count_nonzero((corner > 0) != (found.force > 0))
    assert found.converged and found.iterations < changed


def test_without_memory_for_a_factorization(monkeypatch):
    """Property: the forces given are handed back as what they are, at once, with nothing begun."""
    B = random_springs(500, 2.5)
    force = np.random.default_rng(0).uniform(0.1, 1, B.shape[0])
    monkeypatch.setattr(memory, "_of_machine", lambda: 1e5)
    monkeypatch.setattr(memory, "LITTLE", 0)
    found = rl.compatible_forces(B, B.T @ force, admissible=force)
    assert found.status is Status.OUT_OF_MEMORY and "memory" in found.message
    assert found.factorizations == found.linear_iterations == 0
    np.testing.assert_allclose(found.force, force, rtol=1e-15)  # scaled and back
    assert found.duality_gap > 0.1  # they are not known to be the answer
    monkeypatch.undo()
    assert rl.compatible_forces(B, B.T @ force, admissible=force).converged


def test_without_memory_what_newton_found_stays(monkeypatch):
    """Property: where none are given, the search among forces comes last; without room for it
    forces and displacements are those that obey the law, as before it began."""

    def without_room(*_, **__):
        raise OutOfMemory("no room")

    B, load, _, k = nearly_determinate(2, n=320, redundant=-10)
    monkeypatch.setattr(active_set, "solve", without_room)
    found = rl.compatible_forces(B, load, stiffness=k)
    assert found.converged and "active set" in found.routes
    law = k * np.maximum(-(B @ found.displacement), 0.0)
    # the balance is to 1e-10 of the load; B has a condition number of some 100
    np.testing.assert_allclose(found.force, law, atol=1e-8 * found.force.max())
    assert found.duality_gap < 1e-8


def test_determinate_forces_are_kept_to_rounding():
    """Closed form: independent contacts leave one answer, the admissible forces, whatever k, p."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(30, 40))
    force = rng.uniform(1e-3, 1.0, 30)
    for exponent in (1.5, 2.0, 2.5, 3.5):
        k = 10.0 ** rng.uniform(-3, 3, 30)
        found = rl.compatible_forces(
            B, B.T @ force, stiffness=k, exponent=exponent, admissible=force
        )
        assert found.converged and found.factorizations <= 2
        np.testing.assert_allclose(found.force, force, atol=1e-12)  # rounding times condition


@pytest.mark.parametrize("seed", range(6))
def test_found_without_admissible_forces(seed):
    """Cross-solver: where there are hardly more contacts than the load determines, Newton and the
    path lead to the answer of the active set method; what rounding leaves at idle contacts is no
    force."""
    B, load, corner, _ = nearly_determinate(seed, n=320, redundant=-40, idle=60)
    given = rl.compatible_forces(B, load, admissible=corner)
    found = rl.compatible_forces(B, load)
    assert found.converged
    # both balance to 1e-10; B has a condition number of some 100
    np.testing.assert_allclose(found.force, given.force, atol=1e-8 * given.force.max())


def test_wrong_admissible_forces_do_no_harm():
    """Property: forces that balance another load lead to the same answer or are left aside."""
    B, load, corner, k = nearly_determinate(2)
    wrong = np.where(corner > 0, corner[::-1] + 1.0, 0.0)
    found = rl.compatible_forces(B, load, stiffness=k, admissible=wrong)
    expected = rl.compatible_forces(B, load, stiffness=k)
    assert found.converged
    np.testing.assert_allclose(found.force, expected.force, atol=1e-8 * expected.force.max())


def test_packing_keeps_its_determined_forces():
    """Closed form: unequal balls at rest bear by fewer contacts than degrees of freedom, all
    forces are determined, and compatible forces are the classic ones, by one factorization."""
    simulation = rl.Simulation(rl.scenes.packing(count=60, seed=3))
    few = 0
    for _ in range(60):
        result = simulation.step()
        found = result.compatible
        assert found.converged
        B = result.B[np.flatnonzero(result.closed)]
        fixed = ~simulation.bodies.free.ravel()
        if result.closed.sum() < 60 or rl.determinacy(B, result.load, fixed=fixed).degree:
            continue
        few += 1
        assert found.factorizations <= 1
        np.testing.assert_allclose(
            result.force, result.classic.force, atol=1e-9 * result.force.max()
        )
    assert few > 20


@pytest.mark.parametrize("seed", range(10))
def test_an_active_set_that_fails_leaves_newton_its_iterations(seed):
    """Property: forces that balance nothing, some of them negative, cost no convergence."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(10, 8)) * (rng.random((10, 8)) < 0.4)
    load = B.T @ np.maximum(rng.normal(size=10), 0.0)
    wrong = rng.normal(size=10)
    found = rl.compatible_forces(B, load, admissible=wrong)
    expected = rl.compatible_forces(B, load)
    assert found.converged and expected.converged
    # both balance to 1e-10; condition up to some 100
    np.testing.assert_allclose(found.force, expected.force, atol=1e-8 * expected.force.max())


@pytest.mark.parametrize("tilt", [1e-6, 1e-8, 1e-9])
@pytest.mark.parametrize("seed", range(3))
def test_weak_motions_are_taken_out(seed, tilt):
    """Cross-form: a motion w that contacts feel by next to nothing, B w = tilt q, holds the forces
    as one does that they feel by q. The shift bore what contacts should: forces were off by 20 % of
    the largest, converged."""
    B, _, corner, k = nearly_determinate(seed, n=320)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=B.shape[1])
    w /= np.linalg.norm(w)
    q = rng.normal(size=B.shape[0]) / np.sqrt(B.shape[0])
    stiff = B - np.outer(B @ w, w)
    weak, strong = stiff + tilt * np.outer(q, w), stiff + np.outer(q, w)
    found = rl.compatible_forces(weak, weak.T @ corner, stiffness=k, admissible=corner)
    expected = rl.compatible_forces(strong, strong.T @ corner, stiffness=k)
    assert found.converged and not any("newton" in route for route in found.routes)
    # what is felt of w is known to 1e-16 / tilt, times a condition number of some 100
    np.testing.assert_allclose(found.force, expected.force, atol=1e-4 * expected.force.max())


@pytest.mark.parametrize("seed", range(3))
def test_weak_motions_are_told_from_motions_that_nothing_resists(seed):
    """Cross-form: as above, each column twice, in parts, among 320 motions that are rounding. What
    contacts feel of these was taken for a part of the weak one: forces were off by 6 to 54 % of the
    largest, converged."""
    tilt = 1e-10
    B, _, corner, k = nearly_determinate(seed, n=320)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=B.shape[1])
    w /= np.linalg.norm(w)
    q = rng.normal(size=B.shape[0]) / np.sqrt(B.shape[0])
    stiff = B - np.outer(B @ w, w)
    weak, strong = stiff + tilt * np.outer(q, w), stiff + np.outer(q, w)
    angle = rng.uniform(0.0, 2.0 * np.pi, B.shape[1])
    wide = np.hstack([weak * np.cos(angle), weak * np.sin(angle)])
    found = rl.compatible_forces(wide, wide.T @ corner, stiffness=k, admissible=corner)
    expected = rl.compatible_forces(strong, strong.T @ corner, stiffness=k)
    assert found.converged and not any("newton" in route for route in found.routes)
    # what is felt of w is known to 1e-16 / tilt, times a condition number of some 100 to 1,000
    off = np.abs(found.force - expected.force).max() / expected.force.max()
    assert off < 2e-3
    assert found.force_error > 0.1 * off  # and this is told
