"""Initial gaps of rough contacts, and overlaps: of arrays, and of poses from other programs."""

import numpy as np
import pytest

import rigidlimit as rl
from benchmarks import lammps_peer as lammps
from rigidlimit.collision.search import find_contacts
from rigidlimit.errors import InputError, MissingExtra
from rigidlimit.kinematics import framed, gap_gradient, in_frame, in_world, tangential_gradient
from rigidlimit.penalty import PenaltySimulation

# a block that does not turn, on two supports side by side: columns along, up
B, T = np.array([[0.0, 1.0]] * 2), np.array([[1.0, 0.0]] * 2)
DEPTH, GAP = 3e-5, 1e-5
KEYS = dict(tangential=T, tangential_stiffness=2e5, stiffness=1e6)


def shares(p):
    """Normal forces of the supports, the second of which is lower by the gap."""
    return 1e6 * np.array([DEPTH, DEPTH - GAP]) ** (p - 1)


@pytest.mark.parametrize("p", [2.0, 2.5])
@pytest.mark.parametrize("mu", [0.9, 0.2])
def test_two_supports(p, mu):
    """Closed form: depths DEPTH and DEPTH - GAP bear the weight; the push is shared as the springs
    k_t c^(p-2), but for what the lighter support cannot rub."""
    normal = shares(p)
    push = 0.3 * normal.sum()
    spring = np.array([DEPTH, DEPTH - GAP]) ** (p - 2)
    lighter = min(push * spring[1] / spring.sum(), mu * normal[1])
    keys = dict(KEYS, exponent=p, friction=[1.0, mu])
    found = rl.compatible_forces(B, [push, normal.sum()], gap_error=[0, GAP], **keys)
    assert found.converged and found.state == "unloaded"
    # solved to 1e-10 of the load
    np.testing.assert_allclose(found.force, normal, rtol=1e-9)
    np.testing.assert_allclose(found.tangential_force[:, 0], [push - lighter, lighter], rtol=1e-9)
    np.testing.assert_array_equal(found.sliding, [False, mu < 0.3])


def test_gaps_that_close_later():
    """Closed form: the supports become level under the push. Both bear half of the weight then, and
    rub as before, as the block does not shift along; what stays the same moves nothing."""
    normal = shares(2.0)
    load, keys = [0.3 * normal.sum(), normal.sum()], dict(KEYS, friction=[1.0, 0.2])
    before = rl.compatible_forces(B, load, gap_error=[0, GAP], **keys)
    for same in (dict(gap_error=[0, GAP]), {}):
        again = rl.compatible_forces(B, load, history=before.history, **same, **keys)
        np.testing.assert_allclose(again.force, normal, rtol=1e-9)  # solved to 1e-10
    for increments in (1, 3):
        level = rl.compatible_forces(
            B, load, gap_error=[0, 0], history=before.history, increments=increments, **keys
        )
        assert level.converged and level.state == "history"
        np.testing.assert_allclose(level.force, normal.sum() / 2, rtol=1e-9)
        np.testing.assert_allclose(level.tangential_force, before.tangential_force, rtol=1e-9)


def test_gaps_are_kept_where_nothing_presses():
    """An increment without load, overlaps or kept forces moves nothing: loads on from there are
    those from the unloaded state with the same gaps (closed form of ``shares``)."""
    normal = shares(2.0)
    keys, load = dict(KEYS, friction=[1.0, 0.2]), [0.0, normal.sum()]
    open_yet = rl.compatible_forces(B, [0.0, 0.0], gap_error=[0, GAP], **keys)
    assert open_yet.converged and not open_yet.force.any()
    again = rl.compatible_forces(B, load, history=open_yet.history, **keys)
    np.testing.assert_allclose(again.force, normal, rtol=1e-9)  # solved to 1e-10


def test_overlaps_alone_press():
    """Closed form: a block between two walls that are too near by GAP, half of it each; without a
    load, and under one far below what they press with."""
    walls = np.array([[0.0, 1.0], [0.0, -1.0]])
    for push in (0.0, 1e-3):
        found = rl.compatible_forces(
            walls, [push, 0.0], gap_error=[-GAP, 0.0], friction=0.5, **KEYS
        )
        assert found.converged
        np.testing.assert_allclose(found.force, 5.0, rtol=1e-9)  # solved to 1e-10 of it
        np.testing.assert_allclose(found.tangential_force, push / 2, atol=1e-9)


def test_bad_gaps_are_one_clear_error():
    with pytest.raises(InputError, match="gap_error"):
        rl.compatible_forces(B, [0.0, 1.0], gap_error=[1.0, 2.0, 3.0], **KEYS)


def test_forces_of_a_rough_pose_from_lammps():
    """Peer: a ball in a rough groove at rest in LAMMPS after gravity grew and tilted: its overlaps
    as initial gaps and its tangential springs give its forces."""
    try:
        lammps.library()
    except MissingExtra as error:
        pytest.skip(str(error))
    scene = rl.Scene(gravity=(0.05, 0, -1))
    rough = rl.Material(young=2e5, friction=0.9, tangential_stiffness=2 / 7)
    for x, z, held in ((0, 0, True), (1.5, 0, True), (0.75, (1 - 0.75**2) ** 0.5, False)):
        scene.add(rl.Sphere(0.5), position=(x, 0, z), material=rough, mass=1.0, fixed=held)
    dem = PenaltySimulation(scene, restitution=0.3, dt=4e-4)
    path = [((0, 0, -1), 25_000), ((0.05, 0, -1), 25_000)]
    theirs = lammps.march_spheres(dem, 25_000, path=path)
    contacts = framed(find_contacts(scene.bodies, theirs.state, 0.0), 3)
    at = theirs.contacts.places_in(contacts)
    known = (theirs.force[:, None] * theirs.contacts.normal + theirs.tangential)[at]
    springs = in_frame(contacts, theirs.tangential[at])
    k = (theirs.force / -theirs.contacts.gap)[at]
    keys = dict(
        tangential=tangential_gradient(scene.bodies, theirs.state, contacts),
        stiffness=k, tangential_stiffness=2 / 7 * k, friction=0.9, fixed=~scene.bodies.free.ravel(),
    )  # fmt: skip
    found = rl.compatible_forces(
        gap_gradient(scene.bodies, theirs.state, contacts), -scene.external_force(),
        gap_error=contacts.gap, history=rl.ContactHistory(np.zeros(2), springs), **keys,
    )  # fmt: skip
    mine = found.force[:, None] * contacts.normal + in_world(contacts, found.tangential_force)
    # the balance is asked for at the places of overlapping balls, whose arms end 1e-5 short
    np.testing.assert_allclose(mine, known, atol=3e-5 * theirs.force.max())
    assert found.converged
