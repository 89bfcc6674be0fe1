"""Derivatives of forces with respect to load, stiffness and friction: finite differences."""

import numpy as np
import pytest

from benchmarks.engine_scenes import SCENES
from rigidlimit.adapters import ForceMap, Mender, from_mujoco, mend_forces
from rigidlimit.errors import InputError

STEP = 1e-6
"""Of central differences: they are off by its square, and by the balance of 1e-12 over it."""

CLOSE = 1e-6
"""Of the largest derivative."""

FEET = np.array([[0.4, 0.3, -0.5], [-0.4, 0.3, -0.5], [0.4, -0.3, -0.5], [-0.45, -0.3, -0.5]])
AXES = np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])


def table(**options):
    """Four feet of a body, with rows of its six velocities."""
    rows = np.concatenate([np.broadcast_to(AXES, (4, 3, 3)), np.cross(FEET[:, None], AXES)], axis=2)
    return ForceMap(rows[:, 0], rows[:, 1:], **options)


STUCK = [3.0, 2.0, 40.0, 0.4, 1.0, 0.3], [1.0, 2.0, 1.5, 1.0], [0.8] * 4
SLIDING = [3.0, 2.0, 40.0, 0.4, 1.0, 0.3], [1.0, 2.0, 1.5, 1.0], [0.08, 0.5, 0.5, 0.5]


def differences(forces, at, place):
    """(m, d, k) by central differences of the place-th argument, of each entry over its size."""
    out = []
    for i in range(len(at[place])):
        sides = []
        for sign in (1.0, -1.0):
            moved = [np.array(value, float) for value in at]
            step = STEP * max(1.0, abs(moved[place][i]))
            moved[place][i] += sign * step
            sides.append(forces(*moved).force / (2 * step))
        out.append(sides[0] - sides[1])
    return np.moveaxis(np.array(out), 0, -1)


@pytest.mark.parametrize("exponent", [2.0, 2.5])
@pytest.mark.parametrize("at", [STUCK, SLIDING], ids=["stuck", "sliding"])
def test_derivatives_are_limits_of_differences(at, exponent):
    forces = table(exponent=exponent, tangential_stiffness=0.8)
    found = forces(*at)
    slides = np.linalg.norm(found.force[:, 1:], axis=1) / (at[2] * found.force[:, 0])
    assert found.smooth and (slides > 1.0 - 1e-9).any() == (at is SLIDING)
    for place, by in enumerate(("load", "stiffness", "friction")):
        known = differences(forces, at, place)
        scale = np.abs(known).max(initial=1e-9)
        np.testing.assert_allclose(found.matrix(by), known, rtol=0.0, atol=CLOSE * scale)
    assert np.abs(found.matrix("friction")).max() > 0.1 or at is STUCK


def test_without_friction():
    """Closed form: a beam on three springs, symmetric: the middle one takes k2/(k1 + k2 + k3)."""
    beam = ForceMap([[1.0, -0.5], [1.0, 0.0], [1.0, 0.5]])
    at = [10.0, 0.3], [1.0, 3.0, 1.0]
    found = beam(*at)
    # rounding: the balance holds to 1e-12
    np.testing.assert_allclose(found.force[:, 0], [2.0 - 0.3, 6.0, 2.0 + 0.3], atol=1e-10)
    np.testing.assert_allclose(found.matrix("stiffness")[1, 0, 1], 10 * 2 / 25, atol=1e-9)
    for place, by in enumerate(("load", "stiffness")):
        np.testing.assert_allclose(found.matrix(by), differences(beam, at, place), atol=CLOSE * 3)
    assert not found.matrix("friction").any()


@pytest.mark.parametrize("scene", ["quadruped", "tray", "bricks with overhang"])
def test_of_mended_forces(scene):
    """By load in the engine's own velocities and by stiffness of its list, with motions that
    geometry does not resolve left out; each along one direction."""
    pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    model, data = SCENES[scene]().made()
    contacts = from_mujoco(model, data).contacts
    rng = np.random.default_rng(0)
    rows = np.arange(len(contacts.row))
    stiffness = rng.uniform(1.0, 2.0, len(rows))
    sliding = contacts.tangential_rows(rows, 2)

    def mended(load, stiffness):
        return mend_forces(
            contacts.B, load=load, stiffness=stiffness, sliding=sliding,
            tangential=contacts.tangential[:, :2], friction=contacts.friction[:, :2],
            held=contacts.held, mechanism=contacts.mechanism, reach=contacts.reach,
            places=contacts.places, tolerance=1e-13,
        )  # fmt: skip

    load = from_mujoco(model, data).contacts.wrench()
    found = mended(load, stiffness).gradients()
    if not found.smooth:
        pytest.skip("a contact of this scene is at the edge of its law")
    weight = rng.normal(size=found.force.shape)
    by_load, by_stiffness, _ = found.reverse(weight)
    # loads that contacts carry, so that nothing of them is left out
    for way, grad in ((found.matrix("load")[0, 0], by_load), (None, by_stiffness)):
        step = 1e-5
        if way is None:
            way = rng.normal(size=len(rows))
            ends = [mended(load, stiffness + sign * step * way) for sign in (1.0, -1.0)]
        else:
            way = contacts.B.T @ rng.uniform(size=len(rows))
            ends = [mended(load + sign * step * way, stiffness) for sign in (1.0, -1.0)]
        values = [
            (weight * np.column_stack([end.force, end.tangential[:, :2]])).sum() for end in ends
        ]
        known = (values[0] - values[1]) / (2 * step)
        assert grad @ way == pytest.approx(known, abs=1e-6 * max(1.0, np.abs(grad).max()))


WELDED = """<mujoco><option cone="elliptic"/><worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="low" pos="0 0 .0999"><freejoint/>
    <geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body name="high" pos=".05 .03 .5"><freejoint/>
    <geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody><equality><weld body1="low" body2="high"/></equality></mujoco>"""


def test_of_bodies_that_links_join():
    """What a load at the upper of two welded boxes changes below, in the engine's velocities."""
    mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    model = mujoco.MjModel.from_xml_string(WELDED)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    load = np.zeros(12)
    load[[2, 8]] = 9.81  # the weight of each
    first = from_mujoco(model, data, load=load, tolerance=1e-13)
    assert first.converged and first.balance.motions
    found = first.gradients()
    weight = np.random.default_rng(0).normal(size=found.force.shape)
    grad = found.reverse(weight)[0]
    for j in (0, 2, 6, 7, 8):
        values = []
        for sign in (1.0, -1.0):
            moved = load.copy()
            moved[j] += sign * 1e-3
            end = from_mujoco(model, data, load=moved, tolerance=1e-13)
            values.append((weight * np.column_stack([end.force, end.tangential[:, :2]])).sum())
        # forces of stuck contacts are linear in the load
        assert grad[j] == pytest.approx((values[0] - values[1]) / 2e-3, abs=CLOSE)


def test_a_map_of_mended_forces_has_their_forces():
    """Property: at their load, stiffness and friction."""
    pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    model, data = SCENES["quadruped"]().made()
    mended = Mender(model).mend(data)
    found = ForceMap.of(mended)(mended.load, mended.stiffness, mended.friction)
    rows = mended.row
    known = np.column_stack([mended.force[rows], mended.tangential[rows, :2]])
    # both balance to 1e-10
    np.testing.assert_allclose(found.force, known, atol=1e-8 * known.max())


def test_bad_input_is_one_clear_error():
    with pytest.raises(InputError, match=r"sliding has shape \(3, 6\); expected \(8, 6\)"):
        ForceMap(np.ones((4, 6)), np.ones((3, 6)))
    forces = table()
    with pytest.raises(InputError, match="no forces to differentiate"):
        forces([0.0, 0.0, -40.0, 0, 0, 0])
    with pytest.raises(InputError, match=r"weight has shape \(4,\); expected \(4, 3\)"):
        forces(*STUCK).reverse(np.ones(4))
    with pytest.raises(InputError, match="expected one of load, stiffness, friction"):
        forces(*STUCK).matrix("mass")


def test_what_has_no_gradient_says_so():
    mujoco = pytest.importorskip("mujoco", reason="needs the extra rigidlimit[mujoco]")
    model, data = SCENES["quadruped"]().made()
    mended = from_mujoco(model, data, springs=from_mujoco(model, data).springs)
    for derivatives in (mended.gradients, mended.sensitivity):
        with pytest.raises(InputError, match="springs= of an earlier state"):
            derivatives()
    data.qfrc_applied[2] = 1e3
    mujoco.mj_forward(model, data)
    lifted = from_mujoco(model, data, load="rest")
    with pytest.raises(InputError, match="no forces to differentiate"):
        lifted.gradients()


def objective(force, weight):
    """A function of forces that is not linear."""
    return (weight * force**2).sum()


def numeric(forces, at, weight):
    """Its gradients by the rule of the chain."""
    found = forces(*at)
    return found.reverse(2 * weight * found.force)


@pytest.mark.parametrize("at", [STUCK, SLIDING], ids=["stuck", "sliding"])
def test_in_torch(at):
    """Finite differences by torch's own check, and the gradients of a program around them."""
    torch = pytest.importorskip("torch", reason="needs the extra rigidlimit[torch]")
    forces, weight = table(), np.random.default_rng(0).normal(size=(4, 3))
    solved = forces.torch()
    inputs = [torch.tensor(value, dtype=torch.double, requires_grad=True) for value in at]
    assert torch.autograd.gradcheck(solved, inputs, eps=STEP, atol=1e-4, rtol=CLOSE)
    objective(solved(*inputs), torch.tensor(weight)).backward()
    for tensor, known in zip(inputs, numeric(forces, at, weight), strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), known, rtol=1e-12, atol=1e-12)
    number = torch.tensor(0.8, dtype=torch.double, requires_grad=True)
    solved(torch.tensor(at[0], dtype=torch.double), friction=number)[0, 1].backward()
    assert number.grad.shape == () and torch.isfinite(number.grad)


@pytest.mark.parametrize("at", [STUCK, SLIDING], ids=["stuck", "sliding"])
def test_in_jax(at):
    """Gradients of a program around them, compiled and over a batch."""
    jax = pytest.importorskip("jax", reason="needs the extra rigidlimit[jax]")
    jax.config.update("jax_enable_x64", True)
    forces, weight = table(), np.random.default_rng(0).normal(size=(4, 3))
    solved = forces.jax()
    at = [jax.numpy.asarray(value) for value in at]

    def aim(*at):
        return objective(solved(*at), weight)

    known = numeric(forces, at, weight)
    for how in (jax.grad(aim, (0, 1, 2)), jax.jit(jax.grad(aim, (0, 1, 2)))):
        for found, wanted in zip(how(*at), known, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    loads = jax.numpy.stack([at[0], 1.1 * at[0]])
    batch = jax.vmap(jax.grad(lambda load: aim(load, *at[1:])))(loads)
    for load, found in zip(loads, batch, strict=True):
        wanted = numeric(forces, [load, *at[1:]], weight)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_what_is_missing_is_named(name, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(ImportError, match=rf"rigidlimit\[{name}\]"):
        getattr(table(), name)()
