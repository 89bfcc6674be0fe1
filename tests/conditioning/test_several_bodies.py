"""Evidence for what is left out of all bodies together (``conditioning.several_bodies``)."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import null_space
from scipy.optimize import linprog

import rigidlimit as rl
from rigidlimit.compatibility import compatible_forces
from rigidlimit.conditioning import several_bodies
from rigidlimit.conditioning.one_body import without_weak_motions
from rigidlimit.conditioning.screening import Columns
from rigidlimit.conditioning.several_bodies import (
    HELD,
    TAKEN,
    never_bearing_together,
    without_motions_together,
)
from rigidlimit.conditioning.tolerances import TOLERANCES
from rigidlimit.status import Status
from tests.hard_problems import stack
from tests.problems import assert_asks_the_same

pytestmark = pytest.mark.filterwarnings("ignore:bodies .* overlap:rigidlimit.errors.SceneWarning")


def balls(number):
    scene = rl.Scene(gravity=(0, 0, 0))
    for i in range(number):
        scene.add(rl.Sphere(1.0), position=(3 * i, 0, 0))
    return scene.bodies


@pytest.mark.parametrize("soft", [1e-12, 1e-9, 1e-7])
def test_motions_taken_out(soft):
    """Reference twin: the dense decomposition; what is left feels all other motions as before, and
    a balance of it is one of the whole to the limit."""
    B, force, load = stack(0, soft)
    felt, pushed = without_motions_together(balls(2), B, load, force, TAKEN)
    U, S, VT = np.linalg.svd(B.toarray(), full_matrices=False)
    left = TOLERANCES.weak < S
    assert left.sum() == 11
    assert_asks_the_same(felt.toarray(), U[:, left] * S[left] @ VT[left])
    np.testing.assert_allclose(pushed, felt.T @ force)
    other = compatible_forces(felt, pushed).force
    assert np.abs(B.T @ other - load).max() <= 4 * TOLERANCES.weak * force.sum()


@pytest.mark.parametrize("soft", [1e-12, 1e-9, 1e-7])
def test_motions_held(soft):
    """Reference twin: the dense decomposition. One degree of freedom is held, the others are as
    they were, no motion of what is left is felt slightly, and a balance of it is one of the whole
    to the limit."""
    bodies = balls(2)
    B, force, load = stack(0, soft)
    assert without_weak_motions(B, load, force, Columns.of(bodies))[0] is B
    felt, pushed = without_motions_together(bodies, B, load, force, HELD)
    held = np.flatnonzero(~felt.toarray().any(axis=0))
    assert len(held) == 1
    others = np.delete(np.arange(12), held)
    assert (felt.toarray()[:, others] == B.toarray()[:, others]).all()
    # the slightest of the other motions is felt by 0.3; what is held is a third of the soft one
    assert np.linalg.svd(felt.toarray()[:, others], compute_uv=False).min() > 0.05
    np.testing.assert_allclose(pushed, felt.T @ force)
    other = compatible_forces(felt, pushed).force
    assert np.abs(B.T @ other - load).max() <= 4 * TOLERANCES.weak * force.sum()


@pytest.mark.parametrize("how", [TAKEN, HELD])
def test_motions_together_stay_where_they_are_felt_or_loaded(how, monkeypatch):
    """Property: nothing is left out above the limit, against a load of its own, or of large B."""
    bodies = balls(2)
    B, force, load = stack(0, 1e-6)
    assert without_motions_together(bodies, B, load, force, how)[0] is B
    B, force, load = stack(0, 1e-9)
    VT = np.linalg.svd(B.toarray(), full_matrices=False)[2]
    held = load + 1e-3 * np.abs(load).max() * VT[-1]
    assert without_motions_together(bodies, B, held, force, how)[0] is B
    less = TOLERANCES._replace(most_entries=16 * 12 - 1)
    monkeypatch.setattr(several_bodies, "TOLERANCES", less)
    assert without_motions_together(bodies, B, load, force, how)[0] is B


def test_parts_are_taken_one_by_one(monkeypatch):
    """Reference twin: two parts that do not hang together, each small enough, become what each
    becomes alone; together they were too large, and nothing was said."""
    one, other = stack(0, 1e-9), stack(1, 1e-8)
    alone = [without_motions_together(balls(2), *x[:1], x[2], x[1], TAKEN)[0] for x in (one, other)]
    less = TOLERANCES._replace(most_entries=16 * 12)
    monkeypatch.setattr(several_bodies, "TOLERANCES", less)
    B = sp.csr_array(sp.block_diag([one[0], other[0]]))
    force, load = (np.concatenate([one[i], other[i]]) for i in (1, 2))
    felt = without_motions_together(balls(4), B, load, force, TAKEN)[0]
    np.testing.assert_array_equal(felt.toarray(), sp.block_diag(alone).toarray())


def pinched(seed, tilt):
    """B (20, 12), forces of which contacts 0, 1, 2 have none, and could only have some if one of
    them pulled, but for ``tilt``."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(20, 8))
    Z[2] = -(Z[0] + 2.0 * Z[1]) + tilt * rng.normal(size=8)
    force = rng.uniform(0.5, 1.5, 20)
    force[:3] = 0.0
    return sp.csr_array(null_space(Z.T)), force


@pytest.mark.parametrize("seed", range(4))
def test_contacts_that_cannot_bear(seed):
    """Cross-solver: the largest force of each contact by linear programs (HiGHS)."""
    B, force = pinched(seed, 0.0)
    never = never_bearing_together(balls(2), B, force)
    most = np.zeros(20)
    for i in range(20):
        cost = -np.eye(20)[i]
        most[i] = -linprog(cost, A_eq=B.T.toarray(), b_eq=B.T @ force, bounds=(0, 1e3)).fun
    # HiGHS is feasible to 1e-7; what can bear bears a twentieth at least here
    np.testing.assert_array_equal(never, most < 1e-6)
    assert never.sum() == 3 and most[3:].min() > 0.05


def test_contacts_that_can_bear_are_kept():
    """Property: tilts above the limit count, and contacts with a force do."""
    bodies = balls(2)
    B, force = pinched(0, 1e-8)
    assert never_bearing_together(bodies, B, force)[:3].all()
    B, force = pinched(0, 1e-4)
    assert not never_bearing_together(bodies, B, force).any()
    B, force = pinched(0, 0.0)
    force[0] = 1e-3
    assert not never_bearing_together(bodies, B, force)[0]
    assert not never_bearing_together(bodies, B, np.zeros(20)).any()


def test_many_contacts_of_few_bodies():
    """Property: of two bodies with 2,000 contacts no square matrix of these is made (32 MB; of the
    30,000 that B may have, 7 GB), and a motion is taken out or held as of few contacts."""
    B, force, _ = stack(0, 1e-9)
    B, force = sp.csr_array(sp.vstack([B] * 125)), np.tile(force, 125) / 125
    bodies, load = balls(2), B.T @ force
    tracemalloc.start()
    for how in (TAKEN, HELD):
        felt = without_motions_together(bodies, B / np.sqrt(125), load, force, how)[0]
        assert np.count_nonzero(~felt.toarray().any(axis=0)) == 1
    resting = force * (np.arange(len(force)) % 16 > 3)
    assert not never_bearing_together(bodies, B, resting).any()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * B.shape[0] * B.shape[1] * 8  # some copies of B; 10 MB


def leaning_wall(tilt, rows=4, columns=4, seed=0):
    """Bricks in running bond without gaps, each turned by up to ``tilt`` about a random axis, on a
    table that leans by 5 degrees towards a wall."""
    length, _, height = size = np.array([0.2, 0.1, 0.065])
    rng, lean = np.random.default_rng(seed), np.radians(5.0)
    scene = rl.Scene(gravity=(-9.81 * np.sin(lean), 0, -9.81 * np.cos(lean)), dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(0, 0, 1))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(1, 0, 0))
    for row in range(rows):
        odd = row % 2 == 1
        parts = [0.5, *[1.0] * (columns - 1), 0.5] if odd else [1.0] * columns
        x = 0.0
        for part in parts:
            axis = rng.normal(size=3)
            turn = 0.5 * tilt * rng.uniform(-1, 1) * axis / np.linalg.norm(axis)
            scene.add(
                rl.Box(size * (part, 1, 1)),
                position=(x + 0.5 * part * length, 0, (row + 0.5) * height),
                orientation=(np.sqrt(1 - turn @ turn), *turn),
            )
            x += part * length
    return scene


@pytest.mark.parametrize("tilt", [1e-4, 1e-3])
def test_walls_of_leaning_bricks(tilt):
    """Property: every step converges (half of them had not), forces balance what step 1 asked for
    to the limit, are never negative, and it is told where motions were left out."""
    sim, left_out = rl.Simulation(leaning_wall(tilt)), 0
    for _ in range(8):
        result = sim.step()
        assert result.converged, result.message
        assert result.force.min() >= 0.0
        free, arm = sim.bodies.free.ravel(), sim.bodies.turning_arm.ravel()
        whole = result.B.T @ np.where(result.left_out, result.classic.force, result.force)
        missing = np.abs(np.where(free, whole - result.load, 0.0) / np.where(arm > 0, arm, 1.0))
        # each motion by weak of all forces at most
        assert missing.max() <= 2 * TOLERANCES.weak * result.force.sum()
        assert (result.several_bodies == HELD) == ("were excluded" in result.doubt)
        left_out += result.several_bodies == HELD
        # found anew from what is stored
        B, load = result.balance
        force = result.compatible.force
        assert np.abs(B.T @ force - load).max() <= 1e-9 * force.max()
    assert left_out > 0


@pytest.mark.parametrize("turn", [1e-4, 1e-3, 5e-3])
def test_a_brick_between_walls_as_far_apart_as_it_is_long(turn):
    """Property: turned a little it turns back, though to first order it would have to shorten for
    that; every step was jammed, and it stayed as it was."""
    scene = rl.Scene(dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(0, 0, 1))
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(1, 0, 0))
    scene.add(rl.HalfSpace(), position=(0.2, 0, 0), normal=(-1, 0, 0))
    orientation = (np.cos(turn / 2), 0, 0, np.sin(turn / 2))
    scene.add(rl.Box((0.2, 0.1, 0.065)), position=(0.1, 0, 0.0325), orientation=orientation)
    sim = rl.Simulation(scene)
    first = sim.step()
    assert first.converged and first.contacts.gap.min() < -0.04 * turn
    for _ in range(3):
        result = sim.step()
        assert result.converged
    # what may stay: 1e-6 of the scene's length
    assert result.contacts.gap.min() > -2e-6 * sim.bodies.length
    assert 2 * np.abs(sim.state.quaternion[3, 1:]).max() < 1e-3 * turn + 1e-5


def test_held_bodies_that_overlap_still_jam():
    """Property: what no motion undoes, deep as it is, is told as before."""
    scene = rl.Scene(dt=1e-3)
    scene.add(rl.HalfSpace(), position=(0, 0, 0), normal=(1, 0, 0))
    scene.add(rl.HalfSpace(), position=(0.199, 0, 0), normal=(-1, 0, 0))
    scene.add(rl.Box((0.2, 0.1, 0.065)), position=(0.0995, 0, 0.0))
    assert rl.Simulation(scene).step().classic.status is Status.JAMMED
