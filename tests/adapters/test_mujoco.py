"""Peer: MuJoCo's contacts, mended, against closed forms and MuJoCo's own totals."""

import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest

import rigidlimit as rl
from rigidlimit.adapters import from_mujoco, mend_forces
from rigidlimit.errors import InputError
from tests.adapters.problems import (
    BEAM,
    ORDERS,
    TOLERANCE,
    TOTAL,
    UNEQUAL,
    WEIGHT,
    beam_shares,
    beam_stiffness,
    box_shares,
    box_stiffness,
)

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")


def beam(order=(0, 1, 2), *, springs=None, condim=1, steps=300, **option):
    """Three balls under one rigid body of weight 10, made in ``order``, after some steps."""
    option = {"solver": "Newton", "iterations": 100, **option}
    attributes = " ".join(f'{key}="{value}"' for key, value in option.items())
    balls = ""
    for i in order:
        solref = ""
        if springs is not None:
            k = springs[BEAM[i]]
            # constant impedance: the force at rest is linear in the overlap
            solref = f'solref="{-k} {-2 * k**0.5}" solimp=".9 .9 .001"'
        balls += (
            f'<geom name="support{i}" type="sphere" size=".1" pos="{BEAM[i]} 0 0" mass="0" '
            f'priority="1" condim="{condim}" {solref}/>'
        )
    return advanced(
        f"""<mujoco><option gravity="0 0 -10" {attributes}/><worldbody>
        <geom name="floor" type="plane" size="5 5 .1"/>
        <body name="beam" pos="0 0 0.0999"><freejoint/>
          <inertial pos="0 0 0" mass="1" diaginertia=".01 .1 .1"/>{balls}</body>
        </worldbody></mujoco>""",
        steps,
    )


def advanced(xml, steps):
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return model, data


@pytest.mark.parametrize("kind", ["equal", "middle"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_beam(order, kind):
    """Closed form, whatever MuJoCo's forces were: Gauss-Seidel stopped after five sweeps."""
    model, data = beam(order, solver="PGS", iterations=5)
    x = data.contact.pos[:, 0]
    k = beam_stiffness(x, kind)
    rest = from_mujoco(model, data, stiffness=k, load="rest")
    np.testing.assert_allclose(rest.force, beam_shares(x, kind), atol=TOLERANCE)
    own = from_mujoco(model, data, stiffness=k)
    assert own.converged and own.total_error < TOTAL
    # moment about the middle that five sweeps left over makes up for the rest of the difference
    lean = 2 * (own.engine_force @ x)
    assert np.abs(own.force - beam_shares(x, kind)).max() < 0.2 + abs(lean)


@pytest.mark.skipif(
    int(mujoco.__version__.split(".")[0]) < 4, reason="older Gauss-Seidel starts from the answer"
)
def test_mujoco_itself_depends_on_the_order():
    """Peer: five sweeps give other forces in other orders, and far from 10/3."""
    found = []
    for order in ORDERS:
        _, data = beam(order, solver="PGS", iterations=5)
        by_support = np.empty(3)
        by_support[list(order)] = data.efc_force[np.argsort(data.contact.geom[:, 1])]
        found.append(by_support)
    found = np.array(found)
    np.testing.assert_allclose(found.sum(axis=1), WEIGHT, atol=0.1)
    assert np.ptp(found[:, 1]) > 3  # seen: 2.2, 3.3, 5.6 and 7.1 in the middle
    assert np.abs(found - WEIGHT / 3).max() > 3


@pytest.mark.parametrize("kind", ["equal", "middle"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_springs_of_the_model(order, kind):
    """Peer and closed form: at rest MuJoCo's Newton solver has the forces of its direct springs,
    and so has this module from solref alone."""
    springs = {x: 1e4 * (UNEQUAL[x] if kind == "middle" else 1.0) for x in BEAM}
    model, data = beam(order, springs=springs, steps=1500)
    mended = from_mujoco(model, data)
    x = data.contact.pos[:, 0]
    np.testing.assert_allclose(mended.force, beam_shares(x, kind), atol=TOLERANCE)
    np.testing.assert_allclose(mended.engine_force, mended.force, atol=TOLERANCE)
    assert "MuJoCo's springs" in mended.message
    np.testing.assert_allclose(
        mended.stiffness / mended.stiffness.min(), beam_stiffness(x, kind), rtol=1e-12
    )


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_cones_and_jacobians(cone, condim, jacobian):
    """Reference twin: forces as ``mj_contactForce`` decodes them; B and friction forces explain
    all of qfrc_constraint; springs are MuJoCo's own whatever the cone."""
    model, data = beam(
        springs={x: 1e4 * k for x, k in UNEQUAL.items()},
        cone=cone,
        condim=condim,
        jacobian=jacobian,
        steps=1500,
    )
    # springs: MuJoCo's force at rest is k times the overlap
    still = from_mujoco(model, data)
    spring = still.stiffness * -data.contact.dist
    np.testing.assert_allclose(spring, still.engine_force, atol=TOLERANCE)
    data.qfrc_applied[0] = 0.7  # sideways: friction at work
    mujoco.mj_forward(model, data)
    mended = from_mujoco(model, data)
    theirs = np.zeros((data.ncon, 6))
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, theirs[i])
    # the same sums in another order
    np.testing.assert_allclose(mended.engine_force, theirs[:, 0], atol=1e-12)
    np.testing.assert_allclose(mended.engine_tangential, theirs[:, 1:], atol=1e-12)
    # friction on the supports tips the beam: the moment comes from the ends alone
    x = data.contact.pos[:, 0]
    tipped = np.array(beam_shares(x, "middle")) + 2 * x * (mended.engine_force @ x)
    np.testing.assert_allclose(mended.force, tipped, atol=1e-3)
    assert mended.total_error < TOTAL
    # friction forces act at the contacts: along x they are the rest of the constraint forces, and
    # upwards there is no rest
    along = data.contact.frame.reshape(-1, 3, 3)[:, 1:, 0]
    rest = data.qfrc_constraint - mended.contacts.B.T @ mended.engine_force
    assert rest[0] == pytest.approx((along * mended.engine_tangential[:, :2]).sum(), abs=1e-9)
    assert rest[2] == pytest.approx(0, abs=1e-9)
    if condim > 1:
        assert abs(rest[0]) > 0.1 and "found together" in mended.message
    assert ("torsional and rolling friction" in mended.message) == (condim > 3)


def test_box_on_a_plane():
    """Closed form: four corners, equal and three times as stiff along one diagonal."""
    model, data = advanced(
        """<mujoco><option gravity="0 0 -10" solver="PGS" iterations="5"/><worldbody>
        <geom type="plane" size="5 5 .1" condim="1"/>
        <body pos="0 0 .0999"><freejoint/><geom type="box" size=".5 .3 .1" mass="1" condim="1"/>
        </body></worldbody></mujoco>""",
        0,
    )
    mujoco.mj_forward(model, data)
    x, y = data.contact.pos[:, 0], data.contact.pos[:, 1]
    assert data.ncon == 4
    equal = from_mujoco(model, data, load="rest")
    np.testing.assert_allclose(equal.force, WEIGHT / 4, atol=TOLERANCE)
    assert np.abs(equal.change).max() > 1e-3  # five sweeps were not enough for MuJoCo
    stiff = from_mujoco(model, data, load="rest", stiffness=box_stiffness(x, y))
    np.testing.assert_allclose(stiff.force, box_shares(x, y), atol=TOLERANCE)
    assert from_mujoco(model, data).total_error < TOTAL


def test_stack_of_boxes():
    """Property: every box of a stack keeps the force and moment that MuJoCo gave it."""
    boxes = "".join(
        f'<body pos="0 0 {0.0999 + 0.2 * i}"><freejoint/>'
        '<geom type="box" size=".2 .2 .1" mass="1" condim="1"/></body>'
        for i in range(4)
    )
    model, data = advanced(
        f"""<mujoco><option gravity="0 0 -10" solver="PGS" iterations="5"/><worldbody>
        <geom type="plane" size="2 2 .1" condim="1"/>{boxes}</worldbody></mujoco>""",
        500,
    )
    mended = from_mujoco(model, data)
    assert data.ncon == 16 and len(mended.total) == 4
    assert mended.converged and mended.total_error < TOTAL
    assert np.abs(mended.change).max() > 0.1
    # alike under every shuffle of MuJoCo's rows, to the solver's tolerance
    order = np.random.default_rng(0).permutation(16)
    again = mend_forces(mended.B[order], mended.engine_force[order])
    np.testing.assert_allclose(again.force, mended.force[order], atol=1e-8)


QUADRUPED = """<mujoco><option gravity="0 0 -9.81" timestep="0.002"/>
  <default><geom condim="{condim}" friction="1 .005 .0001"/>
    <joint type="hinge" axis="0 1 0" damping="5" armature=".05"/><position kp="400"/></default>
  <worldbody><geom name="floor" type="plane" size="5 5 .1"/>
    <body name="torso" pos="0 0 .42"><freejoint name="root"/>
      <geom type="box" size=".3 .15 .05" mass="8"/>
      <geom name="payload" type="box" size=".05 .05 .03" pos=".12 .05 .08" mass="3"/>
      {legs}
    </body></worldbody><actuator>{motors}</actuator></mujoco>"""


def quadruped(condim, steps=3000):
    """A torso with a payload off its middle on four two-joint legs, held by servos; one knee is
    told to stretch a little more than the others."""
    legs = motors = ""
    for x, y in itertools.product((0.25, -0.25), (0.15, -0.15)):
        name = f"{'F' if x > 0 else 'H'}{'L' if y > 0 else 'R'}"
        legs += (
            f'<body pos="{x} {y} -.05"><joint name="hip{name}"/>'
            f'<geom type="capsule" size=".02" fromto="0 0 0 0 0 -.2" mass=".4"/>'
            f'<body pos="0 0 -.2"><joint name="knee{name}"/>'
            f'<geom type="capsule" size=".015" fromto="0 0 0 0 0 -.18" mass=".2"/>'
            f'<geom name="foot{name}" type="sphere" size=".02" pos="0 0 -.18" mass=".05"/>'
            "</body></body>"
        )
        bend = 0.5 if name != "FL" else 0.499
        motors += f'<position joint="hip{name}" ctrlrange="-2 2"/>'
        motors += f'<position joint="knee{name}" ctrlrange="-2 2"/>'
        _TARGETS[f"hip{name}"], _TARGETS[f"knee{name}"] = bend, -2 * bend
    model = mujoco.MjModel.from_xml_string(
        QUADRUPED.format(condim=condim, legs=legs, motors=motors)
    )
    data = mujoco.MjData(model)
    for a in range(model.nu):
        joint = model.joint(model.actuator_trnid[a, 0])
        data.ctrl[a] = data.qpos[joint.qposadr[0]] = _TARGETS[joint.name]
    for _ in range(steps):
        mujoco.mj_step(model, data)
    return model, data


_TARGETS = {}


@pytest.mark.parametrize("condim", [1, 3])
def test_standing_quadruped(condim):
    """Closed form: at rest the floor carries the weight. With servos as given loads the joints'
    balance determines the feet; with the joints held it is a table on four legs, whose stiff legs
    carry f = a + b x + c y."""
    model, data = quadruped(condim)
    weight = 9.81 * model.body_mass.sum()
    assert data.ncon == 4 and np.abs(data.qvel).max() < 1e-6
    own = from_mujoco(model, data, on_friction="keep")
    # what is left of MuJoCo's motion, far below a thousandth of a newton
    assert own.force.sum() == pytest.approx(weight, rel=1e-6)
    assert own.total_error < TOTAL and len(own.total) == 1
    np.testing.assert_allclose(own.force, own.engine_force, atol=1e-6)
    assert rl.determinacy(own.B, own.load).degree == 0

    legs = list(_TARGETS)
    table = from_mujoco(model, data, held=legs, on_friction="keep")
    assert table.total_error < TOTAL
    assert rl.determinacy(table.B, table.load, fixed=table.held).degree == 1
    assert np.abs(table.change).max() > 1  # N; the servos had made others of them
    x, y = data.contact.pos[:, 0], data.contact.pos[:, 1]
    A = np.column_stack([np.ones(4), x, y])
    f = table.engine_force
    plane = np.linalg.solve(A.T @ A, [f.sum(), f @ x, f @ y])
    # feet are level to micrometres only, so that B is not quite the table's
    np.testing.assert_allclose(table.force, A @ plane, rtol=1e-4)
    turned = table.held_change[6:]
    assert np.abs(turned).max() > 1e-3 and not table.held_change[:6].any()


def test_friction_that_slides():
    """Closed form: dragged with more than mu W the beam slides. Friction that is kept does not go
    with changed normal forces, which is flagged; found together, all are at their bounds."""
    model, data = beam(condim=3, solver="PGS", iterations=5, steps=0)
    data.qvel[0] = 1.0
    mujoco.mj_forward(model, data)
    kept = from_mujoco(model, data, stiffness=1.0, on_friction="keep")
    assert (kept.slid | kept.outside_cone).any() and "broken" in kept.message
    mended = from_mujoco(model, data, stiffness=1.0)
    assert mended.converged and not mended.outside_cone.any()
    mu = mended.contacts.friction[0, 0]
    # MuJoCo's pyramid lets go a little of its own bound
    np.testing.assert_allclose(np.abs(mended.tangential[:, 1]), mu * mended.force, rtol=1e-3)


def car(turn):
    """A car of 16 kg on six wheels, driven at one, settled; then turned by ``turn``
    (3, 3) with its plane and gravity."""
    wheels = "".join(
        f'<body pos="{x} {y} 0"><joint axis="0 1 0"/><geom type="cylinder" size=".12 .03" mass="1" '
        'euler="90 0 0"/></body>'
        for x in (0.3, -0.3, 0)
        for y in (0.25, -0.25)
    ).replace("<joint ", '<joint name="driven" ', 1)
    model, data = advanced(
        f"""<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .15"><freejoint/>
        <geom type="box" size=".4 .2 .05" mass="10"/>{wheels}</body></worldbody>
        <actuator><motor joint="driven" ctrllimited="false"/></actuator></mujoco>""",
        300,
    )
    data.ctrl[0] = 0.5
    for _ in range(200):
        mujoco.mj_step(model, data)
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(turn).ravel())

    def turned(q):
        result = np.zeros(4)
        mujoco.mju_mulQuat(result, quat, np.array(q))
        return result

    model.opt.gravity[:] = turn @ model.opt.gravity
    model.geom_quat[0] = turned(model.geom_quat[0])
    model.geom_sameframe[0] = 0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)  # its boxes are not turned
    data.qpos[:3] = turn @ data.qpos[:3]
    data.qpos[3:7] = turned(data.qpos[3:7])
    data.qvel[:3] = turn @ data.qvel[:3]
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("turn", [0.0, 0.7, 2.1])
def test_driven_car(turn):
    """Closed form: a car of six wheels that drives off, in a world turned at will. The ends of each
    line of contact share alike, and the middle is the mean, to the tilts that friction takes
    (1e-4). Motions felt by 1e-14 were taken for equations: 20 percent off at 2.1 radians."""
    s, c = np.sin(turn), np.cos(turn)
    roll, yaw = [[1, 0, 0], [0, c, -s], [0, s, c]], [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    model, data = car(np.array(roll) @ yaw)
    mended = from_mujoco(model, data)
    assert mended.converged and data.ncon == 12
    wheel = np.array(model.geom_bodyid)[data.contact.geom[:, 1]]
    share = np.array([mended.force[wheel == w] for w in np.unique(wheel)])
    np.testing.assert_allclose(np.ptp(share, axis=1) / share.max(), 0, atol=1e-4)
    front, back, middle = share.sum(axis=1).reshape(3, 2).mean(axis=1)
    np.testing.assert_allclose(front + back, 2 * middle, rtol=1e-4)


def test_listed_but_not_solved():
    """Property: a contact within margin and outside gap is listed by MuJoCo and gets zero."""
    # before MuJoCo 4 the gap is counted inwards from the margin
    margin = 'margin=".2"' if int(mujoco.__version__.split(".")[0]) < 4 else ""
    model, data = advanced(
        f"""<mujoco><option gravity="0 0 -10"/><worldbody>
        <geom type="plane" size="5 5 .1" condim="1" gap=".2" {margin}/>
        <body pos="0 0 .15"><freejoint/><geom size=".1" mass="1"/></body>
        <body pos="1 0 .0999"><freejoint/><geom size=".1" mass="1"/></body>
        </worldbody></mujoco>""",
        0,
    )
    mujoco.mj_forward(model, data)
    mended = from_mujoco(model, data)
    assert len(mended.force) == data.ncon == 2 and len(mended.row) == 1
    assert sorted(mended.force > 0) == [False, True] and "not solved" in mended.message


def test_time_constants_are_no_stiffness():
    """What is done without direct springs is said; springs and Hertz together are refused."""
    model, data = beam(steps=5)
    assert "stiffness: equal" in from_mujoco(model, data, exponent=2.5).message
    model, data = beam(springs=dict.fromkeys(BEAM, 1e4), steps=5)
    with pytest.raises(InputError, match="linear"):
        from_mujoco(model, data, exponent=2.5)
    with pytest.raises(InputError, match="'nose'"):
        from_mujoco(model, data, held=["nose"])
    with pytest.raises(InputError, match="engine or rest"):
        from_mujoco(model, data, load="weight")


def test_other_constraints_stay():
    """Closed form: a beam whose end is welded to the world through an equality keeps its share
    where equalities are given loads."""
    model, data = advanced(
        """<mujoco><option gravity="0 0 -10"/><worldbody>
        <geom type="plane" size="5 5 .1" condim="1"/>
        <body name="b" pos="0 0 .0999"><freejoint/><inertial pos="0 0 0" mass="1"
          diaginertia=".1 .1 .1"/><geom size=".1" pos="-.5 0 0" condim="1"/>
          <geom size=".1" pos="0 0 0" condim="1"/><geom size=".1" pos=".5 0 0" condim="1"/></body>
        </worldbody><equality><weld body1="b"/></equality></mujoco>""",
        50,
    )
    mended = from_mujoco(model, data, equalities="given")
    assert "6 constraint rows" in mended.message
    total = data.qfrc_constraint[2]
    assert 0 < mended.force.sum() < total  # the weld carries the rest
    rest = from_mujoco(model, data, load="rest", equalities="given")
    np.testing.assert_allclose(rest.load[2], 10 - (total - mended.force.sum()), atol=1e-9)


def test_example(capsys):
    """Example: runs as written, and asserts 2, 6, 2 itself."""
    path = Path(__file__).parents[2] / "examples" / "mujoco_beam.py"
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.count("2.000   6.000   2.000") == 6


def tables(distance, size, count=2):
    """Tables on four legs with a load off the middle, made small and set far apart."""
    legs = "".join(
        f'<geom size="{0.1 * size}" pos="{x * size} {y * size} 0" mass="0" condim="1"/>'
        for x in (-1, 1)
        for y in (-1, 1)
    )
    tables = "".join(
        f'<body pos="{distance * i} 0 {0.0999 * size}"><freejoint/>{legs}<inertial mass="1" '
        f'pos="{0.3 * size} {0.1 * size} 0" diaginertia="{size**2} {size**2} {size**2}"/></body>'
        for i in range(count)
    )
    return advanced(
        f"""<mujoco><option gravity="0 0 -10"/><worldbody>
        <geom type="plane" size="0 0 1" condim="1"/>{tables}</worldbody></mujoco>""",
        0,
    )


@pytest.mark.parametrize("distance", [1.0, 1e4])
@pytest.mark.parametrize("size", [0.05, 0.001])
def test_what_is_far_away_changes_nothing(distance, size):
    """Closed form: f = 2.5 (1 + 0.3 x + 0.1 y) for four legs at x, y = -1, 1. Turns of a body of a
    millimetre were noise beside ten kilometres: 2.5 for every leg, called converged."""
    model, data = tables(distance, size)
    mujoco.mj_forward(model, data)
    mended = from_mujoco(model, data, load="rest")
    assert mended.converged
    x, y = np.array([(a, b) for _ in range(2) for a in (-1, 1) for b in (-1, 1)]).T
    # places are rounded to 1e-16 of the distance
    np.testing.assert_allclose(
        mended.force, 2.5 * (1 + 0.3 * x + 0.1 * y), rtol=1e-15 * distance / size + 1e-9
    )
    assert mended.places.sizes == pytest.approx(2**0.5 * size, rel=1e-3)


def test_sleeping_bodies():
    """Closed form: a box that sleeps has no contacts in MuJoCo's list, and its weight is no load;
    a box that is awake carries its own."""
    model, data = advanced(
        """<mujoco><option gravity="0 0 -10"><flag sleep="enable"/></option><worldbody>
        <geom type="plane" size="5 5 .1"/>
        <body pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
        <body pos="2 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
        </worldbody></mujoco>""",
        301,
    )
    if not hasattr(data, "tree_asleep"):
        pytest.skip("this MuJoCo has no sleeping bodies")
    assert (np.array(data.tree_asleep) >= 0).tolist() == [True, False]
    rest = from_mujoco(model, data, load="rest")
    assert rest.converged and "asleep" in rest.message
    np.testing.assert_allclose(rest.force, [5.0] * 4, rtol=1e-3)  # it turns a little
    for _ in range(3000):
        mujoco.mj_step(model, data)
    # all asleep: an empty answer says why
    assert data.ncon == 0 and "asleep" in from_mujoco(model, data).message


def test_a_squeeze_by_mocap_bodies_is_said_to_be_lost():
    """Property: what a driven body presses beyond the weight is no load of any free body."""
    model, data = advanced(
        """<mujoco><option gravity="0 0 -10"/><worldbody><geom type="plane" size="5 5 .1"/>
        <body pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
        <body mocap="true" pos="0 0 .2995"><geom type="box" size=".1 .1 .1"/></body>
        </worldbody></mujoco>""",
        100,
    )
    mended = from_mujoco(model, data)
    assert mended.engine_force.sum() > 40 and mended.force.sum() == pytest.approx(10, rel=1e-3)
    assert "mocap bodies" in mended.message and "not kept" in mended.message


def test_an_engine_that_is_not_at_rest_is_said():
    """Property: load='rest' of a falling body is not carried, and the message says why."""
    model, data = beam(steps=0)
    data.qfrc_applied[0] = 1.0  # nothing holds it sideways
    mujoco.mj_forward(model, data)
    mended = from_mujoco(model, data, load="rest")
    assert not mended.converged and "come to rest" in mended.message
    assert "come to rest" not in from_mujoco(model, data).message


def test_data_of_another_model():
    """One clear error."""
    model, _ = beam(steps=1)
    _, data = tables(1.0, 0.05)
    with pytest.raises(InputError, match="expected the MjData of this model"):
        from_mujoco(model, data)
    model, data = tables(1.0, 0.05)
    for held in (3, [3]):
        with pytest.raises(InputError, match="expected names of joints"):
            from_mujoco(model, data, held=held)
    with pytest.raises(InputError, match="held has shape"):
        from_mujoco(model, data, held=np.array([True]))


@pytest.mark.parametrize(("cone", "other"), [("pyramidal", "elliptic"), ("elliptic", "pyramidal")])
def test_data_of_another_cone(cone, other):
    """Property: one clear error where rows are of another cone than the model says, in place of a
    quarter of the force (a pyramid's first edge) or an IndexError; mj_forward mends it."""
    model, data = beam(condim=3, cone=cone)
    model.opt.cone = getattr(mujoco.mjtCone, f"mjCONE_{other.upper()}")
    with pytest.raises(InputError, match=f"contact 0 .* {cone} cone, model.opt.cone is {other}"):
        from_mujoco(model, data)
    mujoco.mj_forward(model, data)
    # MuJoCo's own force: the beam hardly moves any more, or by 1 percent of the weight
    assert from_mujoco(model, data).force.sum() == pytest.approx(WEIGHT, rel=1e-2)


def test_state_that_has_become_unstable():
    """One clear error that names the array; a model without contacts is none."""
    for name in ("qpos", "qvel", "qacc"):
        model, data = beam((0, 1, 2), steps=3)
        getattr(data, name)[1] = np.nan
        with pytest.raises(InputError, match=rf"data\.{name}\[1\] is nan; .*unstable"):
            from_mujoco(model, data)
    alone = mujoco.MjModel.from_xml_string("<mujoco/>")
    mended = from_mujoco(alone, mujoco.MjData(alone))
    assert mended.message.startswith("MuJoCo: no contacts") and mended.total.shape == (0, 6)


def test_arguments_that_are_no_mujoco():
    """One clear error that names the argument, and a swap."""
    model, data = beam(steps=1)
    with pytest.raises(InputError, match="model is None; expected a MjModel"):
        from_mujoco(None, data)
    with pytest.raises(InputError, match="are model and data swapped"):
        from_mujoco(data, model)


def test_messages_lead_with_what_counts():
    """One finding a line; held joints by name; states in the air are no state before a step."""
    model, data = advanced(
        """<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
        <body pos="0 0 .09"><joint name="lift" type="slide" axis="0 0 1"/>
          <geom type="box" size=".1 .1 .1" mass="2"/></body>
        </worldbody></mujoco>""",
        1,
    )
    lines = from_mujoco(model, data, held="lift", load="rest").message.splitlines()
    assert lines[0].startswith("MuJoCo") and "load" in lines[1]
    assert sum("joint 'lift' the most" in line for line in lines) == 1
    data.qpos[0] += 1.0
    mujoco.mj_forward(model, data)
    assert "nothing touches" in from_mujoco(model, data).message
    with pytest.raises(InputError, match="expected one of"):
        from_mujoco(model, data, held="life time")
