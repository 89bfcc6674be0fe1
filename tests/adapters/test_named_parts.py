"""Net forces on parts by name, as sensors have them; stiffness and friction by name."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from rigidlimit.adapters import Places, from_mujoco, mend_forces
from rigidlimit.adapters.engines.parts import NamedParts
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

ROLLING = """<mujoco><option cone="{cone}"/><default><geom condim="6" friction=".7 .02 .01"/>
</default><worldbody><geom name="floor" type="plane" size="5 5 .1" euler="0 4 0"/>
<body name="ball" pos="0 0 .1"><freejoint/><geom name="ball" type="sphere" size=".1" mass="1"/>
</body><body name="pair" pos="1 0 .03"><freejoint/>
<geom name="left" type="sphere" size=".1" pos="0 .2 0" mass="1"/>
<geom name="right" type="sphere" size=".1" pos="0 -.2 0" mass="2"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_net_forces_are_mujocos_own(cone):
    """Peer: force and torque of the engine's contacts on each body are MuJoCo's (cfrc_ext), with
    spin and rolling moments; the mended ones have the same sums where a body's total is kept."""
    model = mujoco.MjModel.from_xml_string(ROLLING.format(cone=cone))
    data = mujoco.MjData(model)
    data.qvel[3:6] = 1.0, 2.0, 3.0
    for _ in range(60):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    mended = from_mujoco(model, data)
    assert np.abs(mended.engine_tangential[:, 2:]).max() > 1e-3
    assert "torsional and rolling friction of 3 contacts" in mended.message
    for name in ("ball", "pair"):
        number = model.body(name).id
        net = mended.on(name, about=data.subtree_com[number])
        # the same sums in another order, of forces of 20 N
        np.testing.assert_allclose(net.engine_force, data.cfrc_ext[number, 3:], atol=1e-11)
        np.testing.assert_allclose(net.engine_torque, data.cfrc_ext[number, :3], atol=1e-11)
        np.testing.assert_allclose(net.force, net.engine_force, atol=1e-8)
        np.testing.assert_allclose(net.torque, net.engine_torque, atol=1e-8)
    geoms = mended.by_geom
    assert list(geoms) == ["floor", "ball", "left", "right"]
    assert list(mended.by_body) == ["world", "ball", "pair"]
    np.testing.assert_allclose(sum(net.force for net in geoms.values()), 0.0, atol=1e-12)
    assert geoms["floor"].contacts.tolist() == [0, 1, 2]
    assert geoms["floor"].normal_force == pytest.approx(mended.force.sum())


def test_forces_by_partner():
    """Property: forces by partner are opposite on the two parts and sum to that by all; closed
    form: what the floor gives each ball at rest is its weight."""
    model = mujoco.MjModel.from_xml_string(
        ROLLING.format(cone="elliptic").replace(' euler="0 4 0"', "")
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 2000)
    mujoco.mj_forward(model, data)
    mended = from_mujoco(model, data)
    names, point = ("ball", "left", "right"), np.zeros(3)
    each = [mended.on("floor", by=name, about=point) for name in names]
    whole = mended.on("floor", about=point)
    # the same sums in another order, of forces of 20 N
    np.testing.assert_allclose(sum(net.force for net in each), whole.force, atol=1e-11)
    np.testing.assert_allclose(sum(net.torque for net in each), whole.torque, atol=1e-11)
    for name, net, mass in zip(names, each, (1.0, 1.0, 2.0), strict=True):
        back = mended.on(name, by="floor", about=point)
        np.testing.assert_allclose(back.force, -net.force, atol=1e-11)
        # what is left of motion after 4 s
        assert back.force[2] == pytest.approx(9.81 * mass, rel=1e-3)
    assert mended.on("ball", by="left").contacts.size == 0
    with pytest.raises(InputError, match="no geom or body is called 'roof'"):
        mended.on("floor", by="roof")


def test_parts_without_contacts_and_names_that_are_wrong():
    """One clear error each; a part that touches nothing has no force."""
    mended = from_mujoco(*SCENES["grasp of two fingers"]().made())
    assert mended.on("world").contacts.size == 0 and not mended.on("world").force.any()
    with pytest.raises(InputError, match="no geom or body is called 'pad'; did you mean 'pad"):
        mended.on("pad")
    with pytest.raises(InputError, match="expected a point"):
        mended.on("cube", about=[1.0])
    places = Places(
        point=np.zeros((2, 3)),
        normal=np.tile([0.0, 0, 1], (2, 1)),
        names=(("ground", "robot/left/foot"), ("ground", "robot/right/foot")),
        system=np.array([[-1, 0]] * 2),
    )
    mended = mend_forces([[1.0], [1.0]], [3.0, 1.0], places=places)
    # closed form: two alike, the end of a name where it is one part's
    assert mended.on("left/foot").force.tolist() == [0, 0, 2]
    np.testing.assert_allclose(mended.on("ground").force, [0, 0, -4])
    with pytest.raises(InputError, match="2 parts are called 'foot': robot/left"):
        mended.on("foot")
    alike = NamedParts(np.array([[0, 1], [0, 2]]), np.full((2, 2), -1), ["floor", "a", "a"], ())
    mended = mend_forces([[1.0], [1.0]], [3.0, 1.0], places=replace(places, parts=alike))
    with pytest.raises(InputError, match="2 parts are called 'a'"):
        mended.on("a")
    assert list(mended.by_geom) == ["floor", "a (1)", "a (2)"]


def test_stiffness_and_friction_by_name():
    """Closed form: twelve newtons on four pads of one finger, shared as their stiffness: that of a
    pair as it is, of both sides in series; friction of a name bounds what is shared."""
    model, data = SCENES["grasp of two fingers"]().made()
    pads = ["pad00", "pad01", "pad02", "pad03"]

    def on_pads(**given):
        mended = from_mujoco(model, data, load="rest", **given)
        assert mended.converged
        return mended, np.array([mended.on(pad).normal_force for pad in pads])

    # three times as stiff along one diagonal; the other finger's pads are numbered from its side
    stiff = ("pad00", "pad03", "pad11", "pad12")
    for given, ratio in (
        (dict.fromkeys(stiff, 3.0), 3.0),
        ({(pad, "cube"): 3.0 for pad in stiff} | {("cube", "pad00"): 3.0}, 3.0),
        ({"finger0": 1.5, "finger1": 1.5, "cube": 6.0} | dict.fromkeys(stiff, 6.0), 3.0 / 1.2),
        (lambda a, b: 3.0 if {a, b} & set(stiff) else 1.0, 3.0),
    ):
        found = on_pads(stiffness=given)[1]
        share = 6.0 / (1 + ratio)
        np.testing.assert_allclose(found, [6 - share, share, share, 6 - share], atol=1e-8)
    assert (
        "stiffness: by name, 1 at 4 contacts"
        in on_pads(stiffness=dict.fromkeys(stiff, 3.0))[0].message
    )
    loose, _ = on_pads(friction={"pad00": 0.1, "pad10": 0.1})
    size = np.linalg.norm(loose.on("pad00").force[1:])
    assert size == pytest.approx(0.1 * loose.on("pad00").normal_force, rel=1e-9)
    for wrong, words in (
        ({"stiffness": {"pad": 1.0}}, "no geom or body is called 'pad'"),
        ({"stiffness": {"pad00": "soft"}}, "stiffness of 'pad00' is 'soft'; expected a number"),
        ({"stiffness": {"pad00": 0.0}}, "expected positive"),
        ({"friction": {"cube": -1.0}}, "expected coefficients >= 0"),
        ({"friction": {("cube",): 1.0}}, "expected a name, or a pair"),
        ({"stiffness": lambda a, b: None}, "stiffness is no number for"),
        ({"stiffness": lambda pair: 1.0}, r"with the names of both parts, as stiffness\('pad"),
        ({"friction": lambda a, b, c: 1.0}, "friction is a function that does not take two"),
    ):
        with pytest.raises(InputError, match=words):
            on_pads(**wrong)
    with pytest.raises(TypeError, match="unsupported operand"):  # the function's own mistake
        on_pads(stiffness=lambda a, b: a - b)


def test_what_was_compatible_already_is_said():
    """Property: forces mended once are not changed again, and that is said; others are not."""
    beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])
    first = mend_forces(beam, [1.0, 8.0, 1.0])
    assert first.largest_change == pytest.approx((8 - 10 / 3) / 8) and not first.already_compatible
    again = mend_forces(beam, first.force)
    assert again.already_compatible and "compatible already" in again.message


def test_islands_do_not_decide_about_each_other():
    """Closed form: a weight of 2 between two walls has forces of least energy only, one pulled by
    more than its friction none; a beam beside them keeps its own state."""
    walls, upward = [[1.0, 0], [-1, 0]], np.kron(np.ones((2, 1)), [[0, 1.0], [0, 0]])
    B, T, zero = np.zeros((6, 6)), np.zeros((12, 6)), [[0.0, 0.0]] * 2
    for i in range(3):
        B[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = walls if i < 2 else np.diag([1.0, 1.0])
        T[4 * i : 4 * i + 4, 2 * i : 2 * i + 2] = upward if i < 2 else 0.0
    mended = mend_forces(
        B, [5.0, 5, 5, 5, 2, 3], tangential=[[1.0, 0], [1, 0], [9, 0], [9, 0], *zero],
        friction=0.5 * np.array([1.0, 1, 0, 0, 1, 1]), sliding=T, mechanism=np.arange(6) // 2,
    )  # fmt: skip
    assert mended.state.tolist() == ["least energy"] * 2 + ["engine"] * 2 + ["unloaded"] * 2
    np.testing.assert_allclose(mended.force, [2, 2, 5, 5, 2, 3], atol=1e-8)
    assert mended.kept.tolist() == [False] * 2 + [True] * 2 + [False] * 2
    assert not mended.converged and "first contact 2: the engine's are kept" in mended.message
