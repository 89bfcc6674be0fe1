"""Closed forms and peer: contacts that adhere pull with up to their adhesion, and forces are net of
it, as ``mj_contactForce`` has them.

Springs hold in tension as in pressure until they part: f = k o >= -d of the overlap o.
"""

import numpy as np
import pytest

from rigidlimit.adapters import from_mujoco, mend_forces
from rigidlimit.errors import InputError
from tests.adapters.problems import TOTAL, advanced

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
of_contacts = pytest.mark.skipif(
    not hasattr(mujoco.MjModel, "geom_adhesion"), reason="adhesion of geoms came with MuJoCo 3.11"
)

WEIGHT = 3 * 9.81
LEGS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])


def own_forces(model, data):
    """Normal forces (ncon,) by ``mj_contactForce``."""
    out = np.zeros((data.ncon, 6))
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, out[i])
    return out[:, 0]


def box(z, condim, adhesion="20"):
    return (
        f'<body name="box" pos=".01 0 {z}"><freejoint/><geom type="box" size=".1 .1 .1" mass="3" '
        f'adhesion="{adhesion}" gap=".002" condim="{condim}"/></body>'
    )


def table(adhesion, centre=(0.0, 0.0), condim=1):
    """A body of 3 kg on four balls at ``LEGS``, each with its own adhesion; centre: of its mass."""
    balls = "".join(
        f'<geom type="sphere" size=".1" pos="{x} {y} 0" mass="0" condim="{condim}" gap=".02" '
        f'priority="1" adhesion="{d}"/>'
        for (x, y), d in zip(LEGS, adhesion, strict=True)
    )
    return advanced(
        '<geom name="floor" type="plane" size="9 9 .1"/><body name="table" pos="0 0 .0999">'
        f'<freejoint/><inertial pos="{centre[0]} {centre[1]} 0" mass="3" diaginertia="1 1 1"/>'
        f"{balls}</body>",
        steps=1500,
    )


@of_contacts
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [1, 3])
@pytest.mark.parametrize("load", ["engine", "rest"])
def test_box_on_a_sticky_floor(condim, cone, load):
    """Peer: what the floor pushes is the weight, however much it sticks."""
    floor = '<geom name="floor" type="plane" size="5 5 .1"/>'
    model, data = advanced(floor + box(0.1, condim), option=f'cone="{cone}"')
    mended = from_mujoco(model, data, load=load)
    assert mended.converged and "adhesion at 4 contacts, up to 20 N" in mended.message
    # forces of 27 N solved to 1e-10, and what is left of the motion
    np.testing.assert_allclose(mended.engine_force, own_forces(model, data), atol=1e-12)
    np.testing.assert_allclose(mended.force, WEIGHT / 4, rtol=1e-6)
    on = mended.on("box")
    np.testing.assert_allclose(on.force, [0, 0, WEIGHT], atol=1e-5)
    np.testing.assert_allclose(on.engine_force, [0, 0, WEIGHT], atol=1e-5)
    np.testing.assert_allclose(on.point[:2], [0.01, 0.0], atol=1e-6)
    assert on.normal_force == pytest.approx(WEIGHT, rel=1e-6)


@of_contacts
@pytest.mark.parametrize("condim", [1, 3])
def test_box_under_a_magnet(condim):
    """It hangs: contacts pull, and what they do on the box is upwards."""
    ceiling = '<geom name="ceiling" type="box" size=".5 .5 .05" pos="0 0 .25"/>'
    model, data = advanced(ceiling + box(0.1, condim))
    mended = from_mujoco(model, data)
    own = own_forces(model, data)
    assert mended.converged and len(own) == 4 and (own < -1.0).all()
    np.testing.assert_allclose(mended.engine_force, own, atol=1e-12)
    np.testing.assert_allclose(mended.force, -WEIGHT / 4, rtol=1e-4)  # it still swings a little
    np.testing.assert_allclose(mended.on("box").force, [0, 0, WEIGHT], atol=1e-3)
    np.testing.assert_allclose(mended.on("box").point[:2], [0.01, 0.0], atol=1e-3)
    assert mended.total_error < TOTAL


@of_contacts
@pytest.mark.parametrize("condim", [1, 3])
@pytest.mark.parametrize("adhesion", [(20, 20, 20, 20), (20, 0, 0, 0), (5, 0, 40, 0)], ids=str)
def test_glue_that_nothing_pulls_changes_nothing(adhesion, condim):
    """Closed form: a quarter of the weight on each leg, whichever of them stick."""
    mended = from_mujoco(*table(adhesion, condim=condim), load="rest")
    np.testing.assert_allclose(mended.force, WEIGHT / 4, rtol=1e-5)


@of_contacts
@pytest.mark.parametrize("condim", [1, 3])
def test_glue_holds_in_tension(condim):
    """Closed form: springs at the corners of a square share W (1 + x_i x + y_i y)/4, also where
    that is a pull."""
    centre = np.array([1.3, 0.4])
    model, data = table((20, 20, 20, 20), centre, condim=condim)
    mended = from_mujoco(model, data, load="rest")
    at = LEGS[np.argmin(np.abs(data.contact.pos[:, None, :2] - LEGS).sum(axis=2), axis=1)]
    shares = WEIGHT / 4 * (1 + at @ centre)
    assert shares.min() < 0
    np.testing.assert_allclose(mended.force, shares, atol=2e-3 * WEIGHT)  # the table leans


@of_contacts
def test_adhesion_of_pairs_and_friction():
    """A box on a steep slope, held by mu (f + d): f alone would let it slide."""
    pair = 'geom1="slope" geom2="box" friction="1 1" adhesion="15" gap=".01"'
    model, data = advanced(
        '<geom name="slope" type="box" size="1 1 .1" euler="0 70 0"/><body name="box" '
        'pos=".1875 0 .0682" euler="0 70 0"><freejoint/><geom name="box" type="box" '
        'size=".1 .1 .1" mass="1"/></body>',
        extra=f"<contact><pair {pair}/></contact>",
        option='cone="elliptic" impratio="100"',
    )
    mended = from_mujoco(model, data)
    np.testing.assert_allclose(mended.engine_force, own_forces(model, data), atol=1e-12)
    rubs = np.linalg.norm(mended.tangential[:, :2], axis=1)
    assert mended.converged and rubs.sum() > 1.0 * np.abs(mended.force.sum())
    assert (rubs <= mended.pressing + 1e-9).all()  # mu is one
    assert mended.total_error < TOTAL
    kept = from_mujoco(model, data, on_friction="keep")
    assert not kept.outside_cone.any()


@of_contacts
def test_attraction_at_a_distance():
    """Held apart within the gap, contacts pull with all of their adhesion."""
    model, data = advanced(
        '<geom name="floor" type="plane" size="5 5 .1"/><body name="box" pos="0 0 .11"><joint '
        'type="slide" axis="0 0 1" stiffness="1e5" damping="1e3"/><geom type="box" '
        'size=".1 .1 .1" mass="3" adhesion="2" gap=".02"/></body>'
    )
    mended = from_mujoco(model, data)
    np.testing.assert_allclose(own_forces(model, data), -2.0, atol=1e-9)
    np.testing.assert_allclose(mended.force, -2.0, atol=1e-9)
    assert mended.open.all() and "4 open contacts: pulling by the adhesion" in mended.message


@pytest.mark.parametrize("exponent", [2.0, 2.5])
def test_arrays(exponent):
    """Closed form: of a beam on three supports, loaded beyond the last, the first pulls as much as
    it can and the others balance that."""
    at = np.array([-1.0, 0.0, 1.0])
    beam = np.column_stack([np.ones(3), at])
    load = np.array([10.0, 11.0])
    mended = mend_forces(
        beam, [0.0, 9.0, 1.0], adhesion=[1.0, 1.0, 0.0], load=load, exponent=exponent
    )
    np.testing.assert_allclose(mended.force, [-1.0, 1.0, 10.0], atol=1e-9)
    np.testing.assert_allclose(beam.T @ mended.force, load, atol=1e-9)
    glued = mend_forces(beam, adhesion=[9.0, 9.0, 9.0], load=load)
    np.testing.assert_allclose(glued.force, 10 / 3 + 5.5 * at, atol=1e-9)
    np.testing.assert_allclose(glued.pressing, glued.force + 9.0, atol=1e-12)


def test_forces_that_pull_harder_than_they_can():
    beam = np.array([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])
    mend_forces(beam, [-1.0, 8.0, 3.0], adhesion=[1.0, 0.0, 0.0])
    with pytest.raises(InputError, match=r"contact 0 is -1, a pull .*here 0.5"):
        mend_forces(beam, [-1.0, 8.0, 3.0], adhesion=[0.5, 0.0, 0.0])
    with pytest.raises(InputError, match="adhesion is -1; expected"):
        mend_forces(beam, [1.0, 8.0, 3.0], adhesion=-1.0)
