"""Answers that mended forces give: margins of friction, wrenches, moments, what is determined."""

import numpy as np
import pytest

from rigidlimit.adapters import Mender, from_mujoco
from rigidlimit.errors import InputError

mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")

MU, TILT = 0.8, 0.3
WORLD = f"""<mujoco>
<option cone="elliptic" gravity="{10 * np.sin(TILT)} 0 {-10 * np.cos(TILT)}"/>
<default><geom friction="{MU}"/></default><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="box" pos=".2 .1 .099"><freejoint/>
    <geom name="box" type="box" size=".1 .2 .1" mass="2"/>
  </body>
</worldbody></mujoco>"""


def box():
    """A box of 2 kg on a floor that leans by ``TILT`` toward +x, held by friction."""
    model = mujoco.MjModel.from_xml_string(WORLD)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.fixture(params=["general", "prepared"])
def mended(request):
    model, data = box()
    if request.param == "general":
        return from_mujoco(model, data, load="rest")
    return Mender(model, load="rest").mend(data)


def test_margins_of_friction(mended):
    """Closed form: a box on a slope is 1 - tan(a)/mu from slipping as a whole; its corners share
    normal forces by their moments, and friction so that none is beyond its cone."""
    assert mended.converged
    pushed = mended.on("box")
    whole = 1.0 - np.linalg.norm(pushed.force[:2]) / (MU * pushed.normal_force)
    # the tolerance of the balance, 1e-10, of forces of some 20 N over 4
    assert whole == pytest.approx(1.0 - np.tan(TILT) / MU, abs=1e-8)
    margin = mended.friction_margin
    assert pushed.friction_margin == margin.min() <= whole + 1e-8
    assert (margin >= -1e-9).all() and (margin <= 1.0).all()
    known = np.linalg.norm(mended.tangential[:, :2], axis=1) / (MU * mended.force)
    np.testing.assert_allclose(margin, 1.0 - known, atol=1e-12)  # rounding


def test_smooth_contacts_have_no_margin():
    mended = from_mujoco(*box(), friction=0.0)
    assert np.isnan(mended.friction_margin).all()
    assert np.isnan(mended.on("box").friction_margin)


def test_points_and_wrenches(mended):
    """Closed form: the weight at the height 0.1 over the floor, leaning by the angle, meets the
    floor 0.1 tan(a) down the slope from below the centre, which is where no moment is left; in the
    axes of a frame force and torque turn with it, and change with the point as moments do."""
    pushed = mended.on("box")
    foot = np.array([0.2 + 0.1 * np.tan(TILT), 0.1])
    # contacts are a thousandth above the floor, half of the overlap
    np.testing.assert_allclose(pushed.zero_moment_point()[:2], foot, atol=1e-3)
    np.testing.assert_allclose(pushed.centre_of_pressure, pushed.zero_moment_point(), atol=1e-8)
    about = mended.on("box", about=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(pushed.wrench(about=[1, 2, 3])[3:], about.torque, atol=1e-12)
    np.testing.assert_allclose(about.centre_of_pressure, pushed.centre_of_pressure, atol=1e-12)
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # its x along the world's y
    turned = pushed.wrench(axes=turn)
    np.testing.assert_allclose(turned[:3], turn.T @ pushed.force, atol=1e-12)
    for wrong in (np.eye(2), 2 * np.eye(3)):
        with pytest.raises(InputError, match="rotation matrix"):
            pushed.wrench(axes=wrong)
    with pytest.raises(InputError, match="about"):
        pushed.wrench(about=[1, 2])
    assert np.isnan(pushed.zero_moment_point(normal=(0, 1, 0))).all()


def test_what_is_determined(mended):
    """Closed form: twelve forces of four corners of a body with six motions leave six open; a
    single corner of no three is determined."""
    found = mended.determinacy()
    assert found.degree == 6 and not found.determined.any()


def test_derivatives_are_those_of_forces():
    """Reference twin: forces mended with other stiffness, load and friction; central differences of
    1e-4 leave 1e-8 of curvature, and 1e-6 of the tolerance of 1e-10."""
    model, data = box()

    def forces(stiffness=1.0):
        mended = from_mujoco(model, data, load="rest", stiffness=stiffness)
        return np.column_stack([mended.force, mended.tangential[:, :2]])

    h, first = 1e-4, np.array([1.0, 0.0, 0.0, 0.0])
    difference = (forces(np.exp(h * first)) - forces(np.exp(-h * first))) / (2 * h)
    change = from_mujoco(model, data, load="rest").sensitivity()
    # k_t follows k_n where stiffness is given
    known = change.forward(log_stiffness=first, log_tangential_stiffness=first)
    np.testing.assert_allclose(known, difference, atol=1e-6 * np.abs(forces()).max())
