"""Normal and friction forces of engines mended together, from the total wrench."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg as la

import rigidlimit as rl
from rigidlimit._support import matrices
from rigidlimit.adapters import Mender, from_mujoco, mend_forces
from rigidlimit.adapters.engines import joint
from rigidlimit.adapters.engines.mend import mend
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

PADS = [(y, z) for y in (-0.02, 0.02) for z in (-0.02, 0.02)]
ORDERS = [((0, 1, 2, 3), (0, 1)), ((3, 1, 0, 2), (1, 0))]
MU = 0.6
CLOSE = dict(rtol=0, atol=1e-8)


def cube(condim, halves):
    """A cube of 0.8 kg, or two halves of it welded together; and the weld."""
    attributes = f'type="box" condim="{condim}" friction="{MU}"'
    if not halves:
        return (
            f'<body name="cube"><freejoint/><geom {attributes} size=".05 .05 .05" mass=".8"/>'
            "</body>",
            "",
        )
    bodies = "".join(
        f'<body name="half{i}" pos="0 {y} 0"><freejoint/><geom {attributes} size=".05 .025 .05" '
        f'mass=".4" contype="2" conaffinity="1"/></body>'
        for i, y in enumerate((-0.025, 0.025))
    )
    return bodies, '<equality><weld body1="half0" body2="half1"/></equality>'


def grasp(
    order=ORDERS[0], *, steps=1, condim=3, halves=False, cone="elliptic", solver="PGS", iterations=2
):
    """Two fingers on sliders with four pads each, pressed by 12 N, hold a cube; pads and fingers
    are made in ``order``."""
    pads, fingers = order
    bodies = ""
    for s in fingers:
        geoms = "".join(
            f'<geom name="pad{s}{i}" type="sphere" size=".005" pos="0 {PADS[i][0]} {PADS[i][1]}" '
            f'condim="{condim}" friction="{MU}" contype="1" conaffinity="2"/>'
            for i in pads
        )
        x = (-1, 1)[s] * (0.05 + 0.005 - 1e-5)
        bodies += (
            f'<body pos="{x} 0 0"><inertial pos="0 0 0" mass=".2" diaginertia="1e-4 1e-4 1e-4"/>'
            f'<joint name="slide{s}" type="slide" axis="{(1, -1)[s]} 0 0"/>{geoms}</body>'
        )
    held, weld = cube(condim, halves)
    held = held.replace('condim="', 'contype="2" conaffinity="1" condim="') if not halves else held
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 -9.81" timestep=".001" cone="{cone}" tolerance="0"
        solver="{solver}" iterations="{iterations}"/><worldbody>{bodies}{held}</worldbody>{weld}
        <actuator><motor joint="slide0"/><motor joint="slide1"/></actuator></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.ctrl[:] = 12
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return model, data


def sizes(mended):
    return np.linalg.norm(mended.tangential[:, :2], axis=1)


def wrench_error(mended):
    """What the forces lack of the engine's total wrench, over the largest normal force."""
    contacts = mended.contacts
    change = np.zeros((len(contacts.row), contacts.directions))
    moved = (mended.tangential - mended.engine_tangential)[contacts.row]
    change[:, : moved.shape[1]] = moved[:, : contacts.directions]
    off = contacts.B.T @ mended.change[contacts.row] + contacts.sliding.T @ change.ravel()
    return np.abs(off / contacts.reach).max() / mended.engine_force.max()


def within_cones(mended, mu):
    return (sizes(mended) <= mu * mended.force + 1e-10 * mended.force.max()).all()


@pytest.mark.parametrize("halves", [False, True], ids=["cube", "welded"])
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_symmetric_grasp(order, cone, halves):
    """Closed form: 12 N on four pads, and 0.8 kg on eight, whatever the engine has after two sweeps
    and in whatever order; two halves that a weld joins are one body."""
    model, data = grasp(order, cone=cone, halves=halves)
    mended = from_mujoco(model, data, load="rest")
    assert mended.converged and set(mended.state) == {"unloaded"}
    np.testing.assert_allclose(mended.force, 3.0, **CLOSE)
    np.testing.assert_allclose(sizes(mended), 0.981, **CLOSE)
    assert "the state 'unloaded'" in mended.message
    assert "short of its own solution; the mended forces do not go by it" in mended.message


TABLE = """<mujoco><option gravity="0 0 -10" timestep=".001" cone="elliptic" solver="PGS"
iterations="3"/><default><geom condim="{condim}" friction=".6 .05 .05"/></default><worldbody>
<geom name="floor" type="plane" size="5 5 .1"/><body pos="0 0 .4"><freejoint/>
<geom type="box" size=".5 .4 .02" mass="8" contype="0" conaffinity="0"/>
<geom type="box" size=".05 .05 .05" pos=".2 .1 .07" mass="4" contype="0" conaffinity="0"/>
{feet}</body></worldbody></mujoco>"""
FEET = "".join(
    f'<geom type="sphere" size=".05" pos="{x} {y} -.35" mass=".001"/>'
    for x in (0.4, -0.4)
    for y in (0.3, -0.3)
)


@pytest.mark.parametrize(("condim", "on_friction"), [(3, "joint"), (6, "joint"), (6, "keep")])
def test_what_an_early_stop_leaves_in_the_load_of_rest(condim, on_friction):
    """Closed form (Euler's plane) of a table on four balls: 12 kg, 4 of them aside. Rolling moments
    stay the engine's: after three sweeps forces are 6 % off with them, and the message says that
    they go by these; ``Mender`` too."""
    model = mujoco.MjModel.from_xml_string(TABLE.format(condim=condim, feet=FEET))
    data = mujoco.MjData(model)
    for _ in range(3):
        mujoco.mj_step(model, data)
    mended = from_mujoco(model, data, load="rest", on_friction=on_friction)
    # 120 N / 4, and moments of 40 N at (.2, .1) over arms of 4 (.4) and 4 (.3)
    known = 30.0 + 8.0 / 1.6 * np.array([1, 1, -1, -1]) + 4.0 / 1.2 * np.array([1, -1, 1, -1])
    off = np.abs(mended.force - known).max() / known.max()
    parts = ["friction forces"] * (on_friction == "keep") + ["torsional and rolling moments"]
    if condim == 3:
        assert off < 1e-3  # the feet's own 0.04 N
        assert "short of its own solution; the mended forces do not go by it" in mended.message
    else:
        assert off > 0.03
        through = " and ".join(f"the {part}" for part in parts)
        said = f"the mended forces go by it only through {through}, which are MuJoCo's"
        assert said in mended.message
    twin = Mender(model, load="rest", on_friction=on_friction).mend(data)
    stopped = [line for line in mended.message.splitlines() if "solver stopped" in line]
    assert stopped and stopped[0] in twin.message


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("condim", [3, 4, 6])
def test_total_wrench_is_kept(order, condim):
    """Property: force and moment on every body are the engine's, spin and rolling moments too, and
    cones hold, where the engine has moved for a while and stopped far from its solution."""
    model, data = grasp(order, steps=50, condim=condim)
    mended = from_mujoco(model, data)
    assert mended.converged and mended.friction_changed.any()
    assert np.abs(mended.change).max() > 1e-6
    assert wrench_error(mended) < 1e-9 and mended.total_error < 1e-9
    assert within_cones(mended, MU)
    np.testing.assert_array_equal(mended.tangential[:, 2:], mended.engine_tangential[:, 2:])


@pytest.mark.parametrize("load", ["engine", "rest"])
def test_the_same_from_any_share_of_the_engine(load):
    """Property: forces of the engine of the same total wrench, as in another order of its contacts,
    give the same forces."""
    model, data = grasp(steps=20)
    mended = from_mujoco(model, data, load=load)
    contacts = mended.contacts
    rows = np.vstack([contacts.B, contacts.sliding])
    m = len(contacts.row)
    some = la.null_space(rows.T, rcond=1e-12)
    shift = some @ np.random.default_rng(0).normal(size=some.shape[1])
    shift /= np.abs(shift).max()
    tangential = contacts.tangential.copy()
    tangential[:, :2] += shift[m:].reshape(m, -1)[:, :2]
    other = replace(
        contacts,
        engine_force=contacts.engine_force + shift[:m],
        tangential=tangential,
        load=None if load == "engine" else contacts.load - contacts.sliding.T @ shift[m:],
    )
    again = mend(other, mended.options)
    assert np.abs(again.engine_force - mended.engine_force).max() > 0.1
    np.testing.assert_allclose(again.contact_force, mended.contact_force, **CLOSE)


def block(push, *, steps=1, mu=0.8):
    """A cube of 1 kg on a floor under a horizontal force at its middle."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="0 0 -10" cone="elliptic"/><worldbody>
        <geom type="plane" size="5 5 .1" friction="{mu}"/>
        <body pos="0 0 0.099999"><freejoint/>
        <geom type="box" size=".1 .1 .1" mass="1" friction="{mu}"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.xfrc_applied[1, 0] = push
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return model, data


@pytest.mark.parametrize(("push", "back", "front"), [(3.0, 0.75, 0.75), (5.0, 1.0, 1.5)])
def test_pushed_block(push, back, front):
    """Closed form: normal forces 2.5 -+ push/4 by moments; all corners move along the floor alike,
    so that friction is the same at all, or at its bound 0.8 f_n at the back."""
    model, data = block(push)
    mended = from_mujoco(model, data, load="rest")
    ahead = mended.places.point[:, 0] > 0
    np.testing.assert_allclose(mended.force, np.where(ahead, 2.5 + push / 4, 2.5 - push / 4),
                               atol=2e-5)  # fmt: skip  # floor and corners are 1e-6 of 0.1 m off
    np.testing.assert_allclose(sizes(mended), np.where(ahead, front, back), atol=2e-5)
    assert mended.answer.sliding.tolist() == (~ahead & (back > 0.9)).tolist()
    assert within_cones(mended, 0.8)


def test_sliding_block():
    """Closed form: all corners at their bounds along the push, the total wrench the engine's."""
    model, data = block(12.0, steps=40, mu=0.4)
    mended = from_mujoco(model, data)
    assert data.qvel[0] > 0.1 and mended.converged
    np.testing.assert_allclose(sizes(mended), 0.4 * mended.force, rtol=1e-6)
    assert wrench_error(mended) < 1e-9 and within_cones(mended, 0.4)


B = np.array([[1.0, -0.5, 0], [1.0, 0.5, 0]])
ALONG = np.kron(np.ones((2, 1)), [[0, 0, 1.0], [0, 0, 0]])


def test_no_admissible_forces():
    """Closed form: friction of 5 N above the bound 0.5 * 4: the engine's forces stay, and that is
    told."""
    mended = mend_forces(
        B, [2.0, 2], tangential=[[5.0, 0], [0, 0]], friction=0.5 * np.ones(2), sliding=ALONG,
    )  # fmt: skip
    assert not mended.converged and mended.kept.all()
    np.testing.assert_array_equal(mended.force, [2, 2])
    np.testing.assert_array_equal(mended.tangential, mended.engine_tangential)
    assert "no admissible normal and friction forces" in mended.message


def test_what_the_engine_shows_to_be_admissible_is_not_denied(monkeypatch):
    """Property: where the engine's own forces are within their cones and carry the load, no answer
    says that none are; where they are at the bound of friction, that is told."""
    found = joint.rough_forces

    def denied(*args, **options):
        status = rl.Status.LOAD_NOT_CARRIED
        return replace(found(*args, **options), status=status)

    monkeypatch.setattr(joint, "rough_forces", denied)
    given = dict(friction=0.5 * np.ones(2), sliding=ALONG)
    bound = mend_forces(B, [2.0, 2], tangential=[[1.0, 0], [0.5, 0]], **given)
    assert bound.answer.status is rl.Status.STALLED and bound.kept.all()
    assert "1 contact of them at the bound of friction" in bound.message
    outside = mend_forces(B, [2.0, 2], tangential=[[5.0, 0], [0, 0]], **given)
    assert outside.answer.status is rl.Status.LOAD_NOT_CARRIED


def test_least_energy():
    """Closed form: a weight of 2 between two upright walls slips through, loaded from nothing: no
    normal force arises. Of all that hold it, normal forces of 1 / 0.5 have the least energy, and
    are named so, whatever the engine's squeeze."""
    walls, upward = [[1.0, 0], [-1, 0]], np.kron(np.ones((2, 1)), [[0, 1.0], [0, 0]])
    mended = mend_forces(
        walls, [5.0, 5], tangential=[[1.0, 0], [1, 0]], friction=[0.5, 0.5], sliding=upward
    )
    np.testing.assert_allclose(mended.contact_force, [[2, 1, 0]] * 2, **CLOSE)
    assert mended.answer.state == "least energy" and not mended.kept.any()
    assert "the state 'least energy'" in mended.message and not mended.converged


def test_two_coefficients():
    """Closed form: an elliptic cone with no friction along the second direction carries 1 along the
    first in equal parts; tangential stiffness does not matter by symmetry."""
    for ratio in (0.1, 1.0):
        mended = mend_forces(
            B, [3.0, 3], tangential=[[1.0, 0], [0, 0]], friction=[[0.5, 0.0]] * 2, sliding=ALONG,
            tangential_stiffness=ratio,
        )  # fmt: skip
        np.testing.assert_allclose(mended.contact_force, [[3, 0.5, 0]] * 2, atol=1e-9)


def test_rows_of_both_forms():
    """Closed form: each body of its own contact carries its own load, also where the normal rows
    are few enough for a plain array and the tangential ones are not."""
    count = 100
    B, T = (np.kron(np.eye(count), rows) for rows in ([[1.0, 0, 0]], [[0, 1.0, 0], [0, 0, 1.0]]))
    assert B.size <= matrices.DENSE < T.size
    force = np.linspace(1.0, 2.0, count)
    rubs = np.column_stack([0.3 * force, -0.1 * force])
    mended = mend_forces(B, force, sliding=T, tangential=rubs, friction=np.full(count, 0.5))
    np.testing.assert_allclose(mended.contact_force, np.column_stack([force, rubs]), **CLOSE)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"friction": 0.5}, "needs sliding="),
        ({"tangential": np.ones((2, 2))}, "needs sliding="),
        ({"sliding": ALONG, "tangential": np.ones((2, 1))}, "needs tangential="),
        ({"sliding": ALONG, "tangential": np.ones((2, 2))}, r"needs friction=.*contact 0.*'keep'"),
    ],
)
def test_what_is_missing_is_named(given, words):
    with pytest.raises(InputError, match=words):
        mend_forces(B, [1.0, 1], **given)
