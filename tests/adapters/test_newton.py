"""Peer: Newton's contacts, mended, against closed forms. Its kernels compile for most of a minute
on their first run on a machine, then come from Warp's cache."""

import numpy as np
import pytest

from rigidlimit.adapters import from_newton
from rigidlimit.errors import InputError
from tests.adapters.problems import (
    BEAM,
    ORDERS,
    TOLERANCE,
    WEIGHT,
    beam_shares,
    beam_stiffness,
    box_shares,
    box_stiffness,
)
from tests.adapters.test_rough_scenes import check_table

wp = pytest.importorskip("warp", reason="needs the extra rigidlimit[newton]")
newton = pytest.importorskip("newton", reason="needs the extra rigidlimit[newton]")
wp.config.quiet = True
Base = newton.solvers.SolverBase
# forces are single precision numbers: three or four roundings of 6e-8, relative to their sum
SINGLE = 5e-6


def xpbd(points, *, radius=0.1, mu=0.0, steps=20, speed=0.0, at=(0.0, 0.0), turn=0.0, apart=None):
    """A body of weight 10 on balls at ``points`` of its frame, after some steps; apart: distance
    of a second one like it, fixed to it by a joint that closes a loop."""
    builder = newton.ModelBuilder(gravity=(0, 0, -WEIGHT))
    shape = newton.ModelBuilder.ShapeConfig(density=0, mu=mu)
    builder.add_ground_plane(cfg=shape)
    turned = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), turn)
    for aside in (0.0,) if apart is None else (0.0, apart):
        body = builder.add_body(
            xform=wp.transform((at[0] + aside, at[1], radius - 1e-4), turned),
            mass=1.0,
            inertia=wp.mat33(0.01, 0, 0, 0, 0.1, 0, 0, 0, 0.1),
        )
        for point in points:
            place = wp.transform(point, wp.quat_identity())
            builder.add_shape_sphere(body, xform=place, radius=radius, cfg=shape)
    if apart is not None:
        place = wp.transform((apart, 0, 0), wp.quat_identity())
        builder.add_joint_fixed(body - 1, body, parent_xform=place)
    model = builder.finalize(device="cpu")
    solver = newton.solvers.SolverXPBD(model)
    state, other = model.state(), model.state()
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    twist = np.array([[speed, 0, 0, 0, 0, 0]], np.float32)
    state.body_qd.assign(twist)
    seen = solver.observables([Base.ObservableKind.CONTACT_F], contacts=contacts)
    for _ in range(steps):
        state.clear_forces()
        pipeline.collide(state, contacts)
        solver.step(state, other, None, contacts, 1 / 240, observables=seen)
        state, other = other, state
    return model, state, contacts, seen.contact_f


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_beam(order):
    """Closed form: 10/3 and 2, 6, 2 where XPBD has 1.8, 6.4, 1.8 in every order."""
    system = xpbd([(BEAM[i], 0, 0) for i in order])
    for kind in ("equal", "middle"):
        mended = from_newton(*system, load="rest")
        x = mended.places.point[:, 0, 0]
        mended = from_newton(*system, load="rest", stiffness=beam_stiffness(x, kind))
        np.testing.assert_allclose(mended.force, beam_shares(x, kind), atol=TOLERANCE)
        own = from_newton(*system, stiffness=beam_stiffness(x, kind))
        np.testing.assert_allclose(own.force, beam_shares(x, kind), atol=10 * SINGLE)
        assert own.total_error < SINGLE
    assert np.abs(own.engine_force - np.array(beam_shares(x, "equal"))).max() > 1


def test_joint_that_closes_a_loop():
    """Closed form: two bodies, each on four feet, that a further joint fixes to one another rest as
    if it were not there; the second one's contacts were said to push on nothing that can move."""
    feet = [(x, y, 0) for x in (0.3, -0.3) for y in (0.3, -0.3)]
    system = xpbd(feet, apart=1.5)
    mended = from_newton(*system)
    assert mended.converged and len(mended.row) == 8 and len(mended.total) == 2
    assert mended.total_error < SINGLE
    # by symmetry alike; after 20 steps XPBD's own forces hold 0.97 of the weight
    np.testing.assert_allclose(mended.force, mended.engine_force.mean(), rtol=1e-3)
    np.testing.assert_allclose(mended.force, WEIGHT / 4, rtol=0.05)
    assert "1 constraint kept as Newton has them" in mended.message
    with pytest.raises(InputError, match="without what 1 constraint of Newton may carry"):
        from_newton(*system, load="rest")


@pytest.mark.parametrize("load", ["rest", "engine"])
def test_beam_far_from_the_origin(load):
    """Closed form: 10/3 each, 1.5 km away, where single precision places points to 0.1 mm; these
    held the engine's own forces fast, or 0, 10, 0, called converged."""
    system = xpbd([(x, 0, 0) for x in BEAM], at=(1234.56, 789.1), turn=0.3)
    mended = from_newton(*system, load=load)
    assert mended.converged
    # arms along the beam are rounded to 1e-4 of it as well
    np.testing.assert_allclose(mended.force, WEIGHT / 3, atol=2e-3)


def test_box_on_a_plane():
    """Closed form: a body on four feet, equal and three times as stiff along one diagonal."""
    system = xpbd([(x, y, 0) for x in (0.5, -0.5) for y in (0.25, -0.25)])
    equal = from_newton(*system, load="rest")
    np.testing.assert_allclose(equal.force, WEIGHT / 4, atol=TOLERANCE)
    x, y = equal.places.point[:, 0, :2].T
    stiff = from_newton(*system, load="rest", stiffness=box_stiffness(x, y))
    np.testing.assert_allclose(stiff.force, box_shares(x, y), atol=TOLERANCE)


def test_gradient_of_an_articulation():
    """Property: Newton's joint velocities give Newton's body velocities, for a free base with a
    hinge and a slide."""
    from rigidlimit.adapters.engines.newton import structure, twists

    builder = newton.ModelBuilder()
    options = dict(mass=1.0, inertia=wp.mat33(0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1), com=(0.1, 0, 0.05))
    base, arm, foot = (builder.add_link(**options) for _ in range(3))
    joints = [
        builder.add_joint_free(base),
        builder.add_joint_revolute(
            base, arm, axis=(0, 1, 0), child_xform=wp.transform((0, 0, 0.3), wp.quat_identity())
        ),
        builder.add_joint_prismatic(arm, foot, axis=(0, 0, 1)),
    ]
    builder.add_articulation(joints)
    model = builder.finalize(device="cpu")
    state = model.state()
    rng = np.random.default_rng(0)
    velocity = rng.normal(size=8)
    q = np.array([0.1, 0.2, 1.0, 0.5, 0.5, 0.5, 0.5, 0.4, 0.2], np.float32)
    state.joint_q.assign(q)
    state.joint_qd.assign(velocity.astype(np.float32))
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    centre, arm = rng.normal(size=(2, 3, 3))
    body = np.stack([np.full(3, -1), np.arange(3)], axis=1)
    point = np.repeat((centre + arm)[:, None], 2, axis=1)
    axes = np.broadcast_to(np.eye(3), (3, 3, 3))
    made = structure(newton, model)
    twist = twists(newton, model, state, made, centre)
    first, others = twist.rows(body, point, axes)
    found = np.column_stack([first @ velocity, (others @ velocity).reshape(3, 2)])
    known = state.body_qd.numpy()
    np.testing.assert_allclose(found, known[:, :3] + np.cross(known[:, 3:], arm), atol=5 * SINGLE)
    between = twist.rows(body[:1] + [[3, 0]], point[:1], axes[:1])
    apart = point[0, 0] - centre
    speed = known[:, :3] + np.cross(known[:, 3:], apart)
    assert between[0] @ velocity == pytest.approx(speed[0, 0] - speed[2, 0], abs=10 * SINGLE)
    assert made.system.tolist() == [0, 0, 0, -1] and made.joint.tolist() == [0] * 6 + [1, 2]
    assert made.turns.tolist() == [False] * 3 + [True] * 4 + [False]


def test_friction_and_bad_input():
    """Friction is kept where asked for; one clear error each."""
    system = xpbd([(x, 0, 0) for x in BEAM], mu=0.3, steps=10, speed=1.0)
    assert from_newton(*system, on_friction="keep").tangential.any()
    with pytest.raises(InputError, match="engine or rest"):
        from_newton(*system, load="step")
    with pytest.raises(InputError, match="'knee'"):
        from_newton(*system, held=["knee"])


def test_normal_and_friction_forces_together():
    """Closed form: sliding one way, every contact is at its bound."""
    system = xpbd([(x, 0, 0) for x in BEAM], mu=0.3, steps=10, speed=1.0)
    mended = from_newton(*system, stiffness=[1, 1, 5])
    assert mended.converged and mended.total_error < SINGLE and np.abs(mended.change).max() > 1
    size = np.linalg.norm(mended.tangential, axis=1)
    np.testing.assert_allclose(size, 0.3 * mended.force, rtol=SINGLE)


def test_moments_of_torsional_friction_are_told():
    """Newton tells moments about another point by each solver, so that they are not read; that is
    said where shapes have such friction, as they have by default."""
    system = xpbd([(x, 0, 0) for x in BEAM], steps=2)
    assert "torsional and rolling friction of 3 contacts: Newton" in from_newton(*system).message


def test_table_with_friction():
    """Property: as for all engines, see ``test_rough_scenes``."""
    check_table("newton")


def test_forces_of_another_model():
    """One clear error each: as many bodies, shapes and rows as the model has."""
    model, state, contacts, force = xpbd([(0, 0, 0)], steps=2)
    builder = newton.ModelBuilder()
    unit = dict(mass=1.0, inertia=wp.mat33(1, 0, 0, 0, 1, 0, 0, 0, 1))
    builder.add_body(**unit)
    builder.add_body(**unit)
    with pytest.raises(InputError, match="state has 2 bodies and model 1"):
        from_newton(model, builder.finalize(device="cpu").state(), contacts, force)
    with pytest.raises(InputError, match="contacts name shape"):
        other = newton.ModelBuilder()
        other.add_body(**unit)
        other = other.finalize(device="cpu")
        from_newton(other, other.state(), contacts, force)
    with pytest.raises(InputError, match=r"expected \(1 or more, 6\)"):
        from_newton(model, state, contacts, wp.zeros(3, dtype=float))


def test_arguments_that_are_no_newton():
    """One clear error."""
    with pytest.raises(InputError, match="model is None; expected a Model"):
        from_newton(None, None, None, None)


def test_forces_that_lack_part_of_the_weight_are_told():
    """Property: XPBD's forces bear another part of the weight while a body sinks; the part told is
    the sum of its own contact forces over the weight."""
    points = [(x, y, 0) for x in (0.5, -0.5) for y in (0.25, -0.25)]
    said = 0
    for steps in (1, 2, 3, 200):
        mended = from_newton(*xpbd(points, steps=steps))
        part = mended.engine_force.sum() / WEIGHT
        lines = [line for line in mended.message.splitlines() if "of the weight of" in line]
        assert len(lines) == (abs(part - 1.0) > 0.01)
        for line in lines:
            assert f"carry {100 * part:.3g} % of the weight" in line
        said += len(lines)
    assert said >= 1
    assert "of the weight" not in from_newton(*xpbd(points, steps=1), load="rest").message
