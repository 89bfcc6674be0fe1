"""Loads that friction cannot carry: the motion that they drive, the nearest load that is carried.

Evidence: closed forms; invariance under duplicates; the ladder is a regression (it ended as
"stalled").
"""

import numpy as np
import pytest

import rigidlimit
from rigidlimit import Status
from rigidlimit.compatibility.rough_nearest import NEAREST

LADDER = dict(  # its foot on a floor, its top at a wall, 60 degrees: columns x, y, turn
    B=np.array([[0, 1, -1.0], [-1, 0, np.sqrt(3)]]),
    tangential=np.array([[-1, 0, -np.sqrt(3)], [0, -1, -1.0]]),
)
LOAD = np.array([0, 900.0, 350.0])


def test_a_ladder_that_slips_is_told_with_its_motion():
    """The foot slips outward and the top down; forces, at their bounds, do no work along it."""
    found = rigidlimit.compatible_forces(load=LOAD, friction=[0.2, 0.12], **LADDER)
    assert found.status is Status.LOAD_NOT_CARRIED and found.nearest_status is Status.CONVERGED
    w_n = LADDER["B"] @ found.mechanism
    w_t = LADDER["tangential"] @ found.mechanism
    # the associated law's: open by mu times the slip, to the steps of ``NEAREST``
    np.testing.assert_allclose(w_n, [0.2, 0.12] * np.abs(w_t), atol=1e-4)
    assert LOAD @ found.mechanism < 0.0
    assert found.sliding.all()
    twice = rigidlimit.compatible_forces(
        np.repeat(LADDER["B"], 2, axis=0),
        LOAD,
        tangential=np.repeat(LADDER["tangential"], 2, axis=0),
        friction=np.repeat([0.2, 0.12], 2),
    )
    sums = twice.force.reshape(2, 2).sum(axis=1)
    np.testing.assert_allclose(sums, found.force, rtol=10 * NEAREST.settled)


def test_nearest_load_in_closed_form():
    """A block on one contact under (0.5, 1) with mu = 0.3: the projection on the edge of the cone,
    f_n = (1 + 0.3 * 0.5) / (1 + 0.3^2)."""
    found = rigidlimit.compatible_forces(
        [[0.0, 1.0]], [0.5, 1.0], tangential=[[1.0, 0.0]], friction=0.3
    )
    assert found.status is Status.LOAD_NOT_CARRIED and "nearest load" in found.message
    assert found.force[0] == pytest.approx(1.15 / 1.09, rel=NEAREST.settled)
    assert found.tangential_force[0, 0] == pytest.approx(0.3 * found.force[0], rel=1e-9)


@pytest.mark.parametrize("contacts", [0, 2])
def test_loads_on_what_no_contact_moves(contacts):
    """A body beside that nothing touches falls; forces on the others stay those of balance."""
    B, T = np.zeros((contacts, 3)), np.zeros((contacts, 3))
    B[:, 0], T[:, 1] = 1.0, 1.0
    found = rigidlimit.compatible_forces(B, [contacts, 0, 2.0], tangential=T, friction=0.5)
    assert found.status is Status.LOAD_NOT_CARRIED
    np.testing.assert_array_equal(found.mechanism, [0, 0, -1])
    np.testing.assert_allclose(found.force, np.ones(contacts), rtol=1e-10)
    nothing = rigidlimit.compatible_forces(B, np.zeros(3), tangential=T, friction=0.5)
    assert nothing.converged and nothing.mechanism is None


@pytest.mark.parametrize("increments", [1, 3, 8])
def test_increments_end_at_the_load_asked_for(increments):
    """Closed form: the way leaves the friction cone at three fifths; forces are those of its end,
    (1 + 0.3 * 0.5) / (1 + 0.3^2), as in one increment."""
    keys = dict(B=[[0.0, 1.0]], tangential=[[1.0, 0.0]], friction=0.3)
    before = rigidlimit.compatible_forces(load=[0.0, 1.0], **keys)
    found = rigidlimit.compatible_forces(
        load=[0.5, 1.0], history=before.history, increments=increments, **keys
    )
    assert found.status is Status.LOAD_NOT_CARRIED
    assert found.force[0] == pytest.approx(1.15 / 1.09, rel=NEAREST.settled)
    # the increments at 2/3 and at 5/8 of the way are the first ones beyond the cone
    assert found.merged == {1: 0, 3: 1, 8: 3}[increments]
    assert ("taken as one" in found.message) == (found.merged > 0)


def tripod(turns):
    """A plate on three contacts around its middle, whose frames are turned by ``turns`` [rad] about
    their normals, that point up and inward."""
    B, T = [], []
    for k, turn in enumerate(turns):
        around = 2 * np.pi * k / 3 + 0.4
        arm = np.array([np.cos(around), np.sin(around), 0.0])
        n = np.array([-0.5 * arm[0], -0.5 * arm[1], 1.0]) / np.sqrt(1.25)
        t1 = np.array([-arm[1], arm[0], 0.0])
        frame = n, *(np.cos(a) * t1 + np.sin(a) * np.cross(n, t1) for a in (turn, turn + np.pi / 2))
        rows = [np.concatenate([e, np.cross(arm, e)]) for e in frame]
        B.append(rows[0])
        T.extend(rows[1:])
    return np.array(B), np.array(T)


def test_nearest_load_does_not_depend_on_where_tangents_point():
    """Property: the load carried is the same however frames are turned (to the digits with which
    the nearest load is found)."""
    carried = []
    for turns in ([0.0, 0.0, 0.0], [0.3, 1.0, 2.2]):
        B, T = tripod(turns)
        found = rigidlimit.compatible_forces(
            B, [0.9, 0.3, 1.0, 0.1, 0.2, 0.3], tangential=T, friction=0.1
        )
        assert found.status is Status.LOAD_NOT_CARRIED
        carried.append(B.T @ found.force + T.T @ found.tangential_force.ravel())
    np.testing.assert_allclose(carried[1], carried[0], atol=NEAREST.settled)
