"""User sensors of MuJoCo that read mended forces, filled by its callback."""

import threading

import numpy as np
import pytest

from rigidlimit.adapters import MendedSensors, Mender
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

WORLD = """<mujoco><option gravity="2 0 -9.5"/><default><geom friction=".8"/></default><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="low" pos="0 0 .1"><freejoint/><geom name="low" type="box" size=".2 .2 .1" mass="2"/>
    <site name="tilted" pos=".1 0 .1" euler="0 25 0"/></body>
  <body name="high" pos=".05 0 .3"><freejoint/>
    <geom name="high" type="box" size=".1 .1 .1" mass="1" pos="0 0 0"/></body>
</worldbody><sensor>{}</sensor></mujoco>"""


def user(name, dim, kind="", of="", stage="acc"):
    attached = f'objtype="{kind}" objname="{of}"' if kind else ""
    return f'<user name="{name}" dim="{dim}" needstage="{stage}" {attached}/>'


NAMED = "".join(
    [
        user("high_mended_force", 3, "geom", "high"),
        user("high_mended_torque", 3, "body", "high"),
        user("mended_normal_force", 1, "xbody", "low"),
        user("high mended_friction_margin", 1, "geom", "high"),
        user("high/mended_centre_of_pressure", 3, "geom", "high"),
        user("at_site_mended_wrench", 6, "site", "tilted"),
        user("at_site_mended_centre_of_pressure", 3, "site", "tilted"),
        user("mended_converged", 1),
        user("recommended_force", 2),  # of somebody else
    ]
)


def world(sensors=NAMED, steps=200):
    model = mujoco.MjModel.from_xml_string(WORLD.format(sensors))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, steps)
    return model, data


@pytest.fixture(autouse=True)
def nothing_stays():
    yield
    assert mujoco.get_mjcb_sensor() is None
    mujoco.set_mjcb_sensor(None)


def test_named_sensors_read_what_mended_forces_have():
    """Reference twin: the net forces of the same state, in the frame that each sensor has."""
    model, data = world()
    with MendedSensors(model) as sensors:
        assert "8 sensors, installed" in repr(sensors)
        mujoco.mj_forward(model, data)
    mended = Mender(model).mend(data)
    high = mended.on("high", about=data.body("high").xipos)
    # the same sums of the same forces
    same = dict(rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(data.sensor("high_mended_force").data, high.force, **same)
    np.testing.assert_allclose(data.sensor("high_mended_torque").data, high.torque, **same)
    normal = data.sensor("mended_normal_force").data[0]
    assert normal == pytest.approx(mended.on("low").normal_force, abs=1e-12)
    margin = data.sensor("high mended_friction_margin").data[0]
    assert 0.0 < margin < 1.0 and margin == pytest.approx(high.friction_margin, abs=1e-12)
    centre = data.sensor("high/mended_centre_of_pressure").data
    np.testing.assert_allclose(centre, high.centre_of_pressure, **same)
    site, low = data.site("tilted"), mended.on("low")
    turn = site.xmat.reshape(3, 3)
    wrench = data.sensor("at_site_mended_wrench").data
    np.testing.assert_allclose(wrench, low.wrench(about=site.xpos, axes=turn), atol=1e-11)
    near = data.sensor("at_site_mended_centre_of_pressure").data
    np.testing.assert_allclose(site.xpos + turn @ near, low.centre_of_pressure, **same)
    assert data.sensor("mended_converged").data[0] == 1.0
    assert not data.sensor("recommended_force").data.any()


def test_sensors_by_a_mapping():
    """Closed form: what the upper box weighs is what it gives the lower one; forces by partner add
    up to that of all contacts."""
    plain = user("a", 3) + user("b", 3) + user("c", 3, "site", "tilted") + user("ok", 1)
    model, data = world(plain)
    given = {
        "a": ("low", "force"),
        "b": ("low", "force", "high"),
        "c": ("low", "force", "floor"),
        "ok": (None, "converged"),
    }
    with MendedSensors(model, given):
        mujoco.mj_step(model, data, 400)
    whole, above, below = (data.sensor(name).data for name in "abc")
    # what is left of motion after a second
    np.testing.assert_allclose(above, [2.0, 0.0, -9.5], atol=1e-2)
    turn = data.site("tilted").xmat.reshape(3, 3)
    np.testing.assert_allclose(above + turn @ below, whole, atol=1e-10)
    assert data.sensor("ok").data[0] == 1.0


def test_a_flight_has_no_force_and_no_margin():
    model, data = world(steps=0)
    data.qpos[[2, 9]] += 1.0, 2.0
    with MendedSensors(model):
        mujoco.mj_step(model, data)
    assert not data.sensor("high_mended_force").data.any()
    assert np.isnan(data.sensor("high mended_friction_margin").data[0])


def test_callbacks_of_others_stay():
    """One that was there is called too, and is back afterwards; other models are left alone; one
    that is set later keeps what it replaced, which then does nothing more."""
    model, data = world()
    other, state = world(steps=0)
    calls = []

    def first(model, data, stage):
        calls.append(stage)

    mujoco.set_mjcb_sensor(first)
    sensors = MendedSensors(model).install()
    with pytest.raises(InputError, match="installed already"):
        sensors.install()
    mujoco.mj_step(other, state)
    assert not state.sensordata.any() and len(calls) == 1
    mujoco.mj_step(model, data)
    assert data.sensordata.any() and len(calls) == 2
    sensors.remove()
    sensors.remove()
    assert mujoco.get_mjcb_sensor() is first
    sensors.install()
    mine = mujoco.get_mjcb_sensor()

    def later(model, data, stage):
        mine(model, data, stage)

    mujoco.set_mjcb_sensor(later)
    sensors.remove()
    assert mujoco.get_mjcb_sensor() is later
    data.sensordata[:] = 0.0
    mujoco.mj_step(model, data)
    assert not data.sensordata.any() and len(calls) == 3
    mujoco.set_mjcb_sensor(None)


def test_errors_reach_the_caller():
    """An error in the callback is raised by mj_step, also of Python's threads; where a thread is
    not Python's, it is raised at the end, and values are nan."""
    from mujoco import rollout

    model, data = world()
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((4, mujoco.mj_stateSize(model, full)))
    for row in start:
        mujoco.mj_getState(model, data, row, full)
    time = data.time
    with MendedSensors(model, friction={"hihg": 1.0}):
        with pytest.raises(InputError, match=r"time 0\.4: .*no geom or body is called 'hihg'"):
            mujoco.mj_step(model, data)
        assert data.time == time and np.isnan(data.sensor("high_mended_force").data).all()
        assert not data.sensor("recommended_force").data.any()
        raised = []

        def step():
            try:
                mujoco.mj_step(model, data)
            except InputError as wrong:
                raised.append(wrong)

        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
        assert len(raised) == 1
    states = [mujoco.MjData(model) for _ in range(2)]
    with pytest.raises(InputError, match="hihg"), MendedSensors(model, friction={"hihg": 1.0}):
        _, read = rollout.rollout(model, states, start, nstep=2)
    assert np.isnan(read).any(axis=2).all()
    with MendedSensors(model) as sensors:
        _, read = rollout.rollout(model, states, start, nstep=2)
    assert sensors.error is None and np.isfinite(read).all() and read.any(axis=2).all()


def test_contacts_remember():
    """Property: with a memory forces are those of ``along``, also of a step computed twice, and
    after a reset; the upper box is pushed beyond its friction and let go, which leaves it others
    than contacts without a memory have."""
    model, data = world()

    def pushed(again=False):
        mujoco.mj_resetData(model, data)
        for push in np.repeat([0.0, 9.0, 0.0], 40):
            data.body("high").xfrc_applied[0] = push
            if again:
                mujoco.mj_forward(model, data)
            mujoco.mj_step(model, data)
            yield data

    def read(**options):
        with MendedSensors(model, remember=True):
            for _ in pushed(**options):
                pass
        return data.sensor("high mended_friction_margin").data[0]

    *_, known = Mender(model).along(pushed())
    first = read()
    assert first == pytest.approx(known.on("high").friction_margin, abs=1e-9)
    assert read() == first
    assert read(again=True) == pytest.approx(first, abs=1e-9)
    MendedSensors(model).read(data)
    fresh = data.sensor("high mended_friction_margin").data[0]
    assert abs(fresh - first) > 0.01


@pytest.mark.parametrize(
    ("sensor", "given", "words"),
    [
        ("", None, "none of 0 user sensors"),
        (user("x_mended_forse", 3, "geom", "low"), None, "reads 'forse'; did you mean 'force'"),
        (user("mended_force", 2, "geom", "low"), None, "has dim 2; expected 3"),
        (user("mended_force", 3, "geom", "low", "pos"), None, 'expected needstage="acc"'),
        (user("mended_force", 3), None, "attached to nothing"),
        (user("a", 3), {"b": ("low", "force")}, "no user sensor is called 'b'"),
        (user("a", 3), {"a": ("law", "force")}, "no geom or body is called 'law'"),
        (user("a", 3), {"a": "force"}, r"expected \(part, quantity\)"),
        (user("a", 3), {"a": ("low", "push")}, "reads 'push'"),
        (user("a", 3), {}, "expected a dict"),
    ],
)
def test_bad_input_is_one_clear_error(sensor, given, words):
    model, _ = world(sensor, steps=0)
    with pytest.raises(InputError, match=words):
        MendedSensors(model, given)


def test_wrong_options_are_told_at_once():
    model, data = world(steps=0)
    with pytest.raises(InputError, match="stifness"):
        MendedSensors(model, stifness=1.0)
    with pytest.raises(InputError, match="model"):
        MendedSensors(data)
