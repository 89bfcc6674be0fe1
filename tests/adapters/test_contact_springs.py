"""Contacts that remember: mended forces from state to state."""

import numpy as np
import pytest

import rigidlimit as rl
from benchmarks.engine_scenes import SCENES
from rigidlimit.adapters import MendedBatch, Mender, Places, from_mujoco, mend_forces
from rigidlimit.adapters.engines.matching import matched
from rigidlimit.adapters.engines.prepared.forces import PreparedForces
from rigidlimit.compatibility.rough_result import ContactHistory
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

WEIGHT, SLIPPERY, PUSH = 40.0, 0.1, 6.0
"""Of the table [N], friction of its front feet, the push [N]."""

TABLE = f"""<mujoco><option gravity="0 0 -10" cone="elliptic"/><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="table" pos="0 0 .02"><freejoint/>
    <inertial pos="0 0 -.020005" mass="{WEIGHT / 10}" diaginertia="1 1 1"/>
    <geom name="a" type="sphere" size=".02001" pos=".4 .3 0" friction="{SLIPPERY}" priority="1"/>
    <geom name="b" type="sphere" size=".02001" pos=".4 -.3 0" friction="{SLIPPERY}" priority="1"/>
    <geom name="c" type="sphere" size=".02001" pos="-.4 .3 0" friction="1" priority="1"/>
    <geom name="d" type="sphere" size=".02001" pos="-.4 -.3 0" friction="1" priority="1"/>
  </body>
</worldbody></mujoco>"""


def pushed(pushes):
    """A table at rest under one push [N] along x after another; its centre of mass is where its
    feet touch the floor, so that pushes tip nothing."""
    model = mujoco.MjModel.from_xml_string(TABLE)
    data = mujoco.MjData(model)

    def states():
        for push in pushes:
            data.xfrc_applied[1, 0] = push
            mujoco.mj_forward(model, data)
            yield data

    return model, states()


def test_feet_that_slipped_keep_friction_forces_when_the_push_is_gone():
    """Closed form: all feet carry W/4 and alike shares of the push until the front ones slip, at
    mu W/4. The others have the rest. Let go, each foot gives back Q/4, and what is left adds up to
    zero: forces on the table along x of mu W/4 - Q/4 in front. Loaded from nothing there are
    none."""
    model, states = pushed([0.0, PUSH, 0.0])
    rest, loaded, let_go = Mender(model, load="rest").along(states)
    slip, share = SLIPPERY * WEIGHT / 4, PUSH / 4
    assert share / 2 < slip < share  # they slip on the way there, and not on the way back
    for mended, front, back in (
        (rest, 0.0, 0.0),
        (loaded, slip, PUSH / 2 - slip),
        (let_go, slip - share, share - slip),
    ):
        assert mended.converged
        along = -mended.vectors[:, 0]
        # the balance holds to 1e-10 of 40 N
        np.testing.assert_allclose(along, [front, front, back, back], rtol=0.0, atol=1e-7)
        np.testing.assert_allclose(mended.force, WEIGHT / 4, rtol=0.0, atol=1e-7)
    assert let_go.state.tolist() == ["history"] * 4 and "state 'history'" in let_go.message
    model, states = pushed([0.0])
    alone = Mender(model, load="rest").mend(next(states))
    np.testing.assert_allclose(alone.vectors[:, 0], 0.0, atol=1e-7)


def grasp():
    return SCENES["grasp of two fingers"]().made()


def squeezed(model, data, forces, steps=5):
    """A grasp that is twisted, whose fingers press with one force [N] after another."""
    cube = model.body("cube").id
    for force in forces:
        data.ctrl[:] = force
        data.xfrc_applied[cube, 3:] = 0.0, 0.015 * force, 0.01 * force
        for _ in range(steps):
            mujoco.mj_step(model, data)
        yield data


@pytest.mark.parametrize("forces", [(10.0, 30.0, 12.0), (30.0, 10.0, 30.0, 11.0)])
def test_a_grasp_that_is_squeezed_and_let_go(forces):
    """Reference twin: ``compatible_forces`` of the problems solved, from the history of the one
    before, contact by contact."""
    model, data = grasp()
    history, order, apart = None, None, 0.0
    options = dict(friction=0.5, load="rest")
    for mended in Mender(model, **options).along(squeezed(model, data, forces)):
        assert mended.converged
        parts, point = mended.places.parts.geom, np.round(mended.places.point, 3)
        key = np.lexsort((*point.T[1:], parts[:, 1], parts[:, 0]))
        if history is not None:
            back = np.argsort(key)
            history = ContactHistory(history.normal[order][back], history.tangential[order][back])
        problem = dict(
            fixed=mended.held, stiffness=mended.stiffness, tangential=mended.T,
            tangential_stiffness=mended.stiffness, friction=mended.friction,
        )  # fmt: skip
        known = rl.compatible_forces(mended.B, mended.load, history=history, **problem)
        largest, rubs = known.force.max(), mended.tangential[mended.row, :2]
        # both balance to 1e-10; between states contact frames turn by some 1e-7
        np.testing.assert_allclose(mended.force[mended.row], known.force, atol=1e-6 * largest)
        np.testing.assert_allclose(rubs, known.tangential_force, atol=1e-6 * largest)
        unloaded = rl.compatible_forces(mended.B, mended.load, **problem)
        apart = np.abs(rubs - unloaded.tangential_force).max() / largest
        history, order = known.history, key
    assert apart > 0.01  # the way matters


@pytest.mark.parametrize("name", SCENES)
def test_along_is_from_mujoco_with_the_springs_of_the_state_before(name):
    """Reference twin: the loop by hand, from arrays to forces in compiled code, in a motion whose
    contacts stick and slide; and its arrays."""
    model, data = SCENES[name]().made()
    mender = Mender(model, stiffness={"floor": 3.0} if name == "quadruped" else None)
    rng, springs, known = np.random.default_rng(0), None, []

    def states():
        nonlocal springs
        for _ in range(12):
            data.qvel[:] += 3e-3 * rng.normal(size=model.nv)
            mujoco.mj_step(model, data)
            mended = from_mujoco(model, data, stiffness=mender.stiffness, springs=springs)
            springs = mended.springs
            known.append(mended)
            yield data

    batch, prepared = MendedBatch.of(mender.along(states())), 0
    assert len(batch) == 12 and batch[0].state[0] == "unloaded"
    for mended, one, force in zip(batch, known, batch.force, strict=True):
        prepared += isinstance(mended, PreparedForces)
        assert mended.status is one.status and mended.state.tolist() == one.state.tolist()
        np.testing.assert_array_equal(mended.force, force[: len(mended.force)])
        largest = one.force.max()
        # every state is solved to 1e-10 from the one before
        np.testing.assert_allclose(mended.force, one.force, atol=1e-8 * largest)
        np.testing.assert_allclose(mended.tangential, one.tangential, atol=1e-8 * largest)
        pairs = [
            (getattr(mended.springs, name), getattr(one.springs, name))
            for name in ("part", "point", "normal", "tangential")
        ]
        # where contacts are open nothing resists, and says how far to more digits
        pairs.append([np.maximum(m.springs.normal_force, 0.0) for m in (mended, one)])
        for found, wanted in pairs:
            np.testing.assert_allclose(found, wanted, atol=1e-8 * largest)
    assert prepared >= 6
    assert "state 'history'" in batch[11].message
    goes_on = next(mender.along([data], springs=springs))
    assert set(goes_on.state) == {"history"}


def test_contacts_are_matched_by_parts_and_nearest_point():
    """Closed form: the nearer of two that come from one; none across other parts."""
    part = np.array([[0, 1], [0, 1], [0, 2]])
    point = np.array([[0.0, 0, 0], [1.0, 0, 0], [5.0, 0, 0]])
    new_part = np.array([[0, 2], [0, 1], [0, 1], [0, 3]])
    new = np.array([[9.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.0, 0, 0]])
    assert matched(part, point, new_part, new).tolist() == [2, 0, -1, -1]
    assert matched(part[:0], point[:0], new_part, new).tolist() == [-1, -1, -1, -1]


def test_friction_forces_turn_with_the_plane_of_their_contact():
    """Closed form: a contact that rolls by a right angle about y keeps the size of its friction
    force and its part along y."""
    rows = np.eye(3)[[2, 0, 1]]  # a point that presses along z: normal row, then x and y

    def places(normal, tangents):
        return Places(
            np.zeros((1, 3)), np.array([normal]), [("a", "b")], np.full((1, 2), -1),
            tangents=np.array([tangents]),
        )  # fmt: skip

    law = dict(tangential=np.zeros((1, 2)), friction=[1.0], sliding=rows[[1, 2]])
    flat = places([0, 0, 1.0], [[1.0, 0, 0], [0, 1.0, 0]])
    mended = mend_forces(rows[:1], load=[3.0, 4.0, 20.0], places=flat, **law)
    np.testing.assert_allclose(mended.tangential, [[3.0, 4.0]], atol=1e-8)
    normal, along = mended.springs.at(places([1.0, 0, 0], [[0, 1.0, 0], [0, 0, 1.0]]))
    np.testing.assert_allclose(normal, [20.0], atol=1e-8)
    # z turns into x, x into -z
    np.testing.assert_allclose(along, [[4.0, -3.0]], atol=1e-8)


def test_bad_springs_are_one_clear_error():
    model, data = grasp()
    with pytest.raises(InputError, match=r"springs is 3\.0; expected MendedForces.springs"):
        from_mujoco(model, data, springs=3.0)
    with pytest.raises(InputError, match=r"state 0: .*MjData"):
        list(Mender(model).along([None]))
    springs = from_mujoco(model, data).springs
    with pytest.raises(InputError, match="expected places="):
        mend_forces(
            np.eye(1, 3), [1.0], tangential=[[0.0, 0.0]], friction=[0.5],
            sliding=np.eye(3)[1:], springs=springs,
        )  # fmt: skip
    assert from_mujoco(model, data, on_friction="keep").springs is None
    assert "springs" in Mender(model, springs=springs).general
