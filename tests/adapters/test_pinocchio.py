"""Peer: Pinocchio's contacts and solvers, mended, against closed forms."""

import numpy as np
import pytest

from rigidlimit.adapters import from_pinocchio
from rigidlimit.errors import InputError
from tests.adapters.problems import (
    BEAM,
    ORDERS,
    TOLERANCE,
    TOTAL,
    WEIGHT,
    beam_shares,
    beam_stiffness,
    box_shares,
    box_stiffness,
)

pin = pytest.importorskip("pinocchio", reason="needs the extra rigidlimit[pinocchio]")
DT = 0.01


def free_body(inertia=(0.01, 0.1, 0.1)):
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -WEIGHT])
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(
        joint, pin.Inertia(1.0, np.zeros(3), np.diag(inertia)), pin.SE3.Identity()
    )
    return model, joint


def step(model, points, *, solver="PGS", turn=None, mu=0.0, velocity=None, q=None):
    """One step from q: contacts between the world and the last joint at world ``points``."""
    q = pin.neutral(model) if q is None else q
    v = np.zeros(model.nv) if velocity is None else velocity
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    joint = model.njoints - 1
    turn = np.eye(3) if turn is None else turn
    made = []
    for point in points:
        place = pin.SE3(turn, np.array(point, float))
        contact = pin.PointContactConstraintModel(
            model, 0, place, joint, data.oMi[joint].actInv(place)
        )
        contact.setFriction(mu)
        made.append(contact)
    return solved(model, data, q, v, made, solver=solver, iterations=1000)


def solved(model, data, q, v, made, *, solver, iterations):
    """(what ``from_pinocchio`` takes, g): the step from q and v with the constraints ``made``."""
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for constraint in made:
        models.append(pin.ConstraintModel(constraint))
        datas.append(models[len(models) - 1].createData())
        models[len(models) - 1].calc(model, data, datas[len(datas) - 1])
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    J = pin.getConstraintsJacobian(model, data, models, datas)
    free = v - DT * np.linalg.solve(M, pin.nonLinearEffects(model, data, q, v))
    G, g = J @ np.linalg.solve(M, J.T), J @ free
    settings = getattr(pin, f"{solver}SolverSettings")()
    settings.max_iterations = iterations
    result = getattr(pin, f"{solver}SolverResult")()
    getattr(pin, f"{solver}ConstraintSolver")(len(g)).solve(
        pin.DelassusOperatorDense(G), g, models, datas, settings, result
    )
    return (model, data, models, datas, np.array(result.retrieveConstraintImpulses())), g


def supports(order):
    return [(BEAM[i], 0, 0) for i in order]


@pytest.mark.parametrize("solver", ["PGS", "ADMM"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_beam(order, solver):
    """Closed form, whatever Pinocchio's solver gives; with its own resultant totals are kept."""
    state, g = step(free_body()[0], supports(order), solver=solver)
    x = [BEAM[i] for i in order]
    for kind in ("equal", "middle"):
        k = beam_stiffness(x, kind)
        mended = from_pinocchio(*state, dt=DT, stiffness=k, load="step", g=g)
        np.testing.assert_allclose(mended.force, beam_shares(x, kind), atol=TOLERANCE)
        own = from_pinocchio(*state, dt=DT, stiffness=k)
        assert own.total_error < TOTAL
    if solver == "ADMM":
        # its own stopping test, about 1e-6 of an impulse
        np.testing.assert_allclose(own.force, beam_shares(x, "middle"), atol=1e-3)


def test_pinocchio_itself_depends_on_the_order():
    """Peer: Gauss-Seidel gives 10, 0, 0 in one order and others in others, and not even the
    weight: sums of 10 and 12."""
    found = {}
    for order in ORDERS:
        state, _ = step(free_body()[0], supports(order))
        force = from_pinocchio(*state, dt=DT).engine_force
        found[order] = dict(zip(order, force, strict=True))
    middle = [f[1] for f in found.values()]
    assert max(middle) - min(middle) > 3
    assert max(sum(f.values()) for f in found.values()) > 11


@pytest.mark.parametrize("solver", ["PGS", "ADMM"])
def test_box_on_a_plane(solver):
    """Closed form: four corners, equal and three times as stiff along one diagonal."""
    corners = [(0.5, 0.3, -0.1), (-0.5, 0.3, -0.1), (-0.5, -0.3, -0.1), (0.5, -0.3, -0.1)]
    state, g = step(free_body((0.03, 0.08, 0.1))[0], corners, solver=solver)
    x, y = np.array(corners).T[:2]
    equal = from_pinocchio(*state, dt=DT, load="step", g=g)
    np.testing.assert_allclose(equal.force, WEIGHT / 4, atol=TOLERANCE)
    stiff = from_pinocchio(*state, dt=DT, load="step", g=g, stiffness=box_stiffness(x, y))
    np.testing.assert_allclose(stiff.force, box_shares(x, y), atol=TOLERANCE)
    assert from_pinocchio(*state, dt=DT).total_error < TOTAL


def test_slanted_contacts_of_a_turned_body():
    """Property: B of Pinocchio's frames and totals from points and normals agree in any pose."""
    model, _ = free_body()
    q = pin.randomConfiguration(model, -np.ones(7), np.ones(7))
    turn = pin.exp3(np.array([0.3, -0.2, 0.1]))
    points = np.random.default_rng(0).normal(size=(5, 3))
    state, _ = step(model, points, turn=turn, q=q, solver="ADMM")
    impulses = np.zeros(15)
    impulses[2::3] = DT * np.array([1.0, 2, 3, 4, 5])
    mended = from_pinocchio(*state[:4], impulses, dt=DT)
    assert np.abs(mended.change).max() > 0.01
    assert mended.total_error < TOTAL and mended.total[0, :3] @ turn[:, 2] == pytest.approx(15)


def test_friction():
    """Closed form: sliding, every contact is at its bound."""
    velocity = np.array([1.0, 0, 0, 0, 0, 0])
    state, _ = step(free_body()[0], supports((1, 0, 2)), mu=0.3, velocity=velocity)
    kept = from_pinocchio(*state, dt=DT, on_friction="keep")
    assert np.abs(kept.tangential).max() > 0.1 and kept.total_error < TOTAL
    joint = from_pinocchio(*state, dt=DT)
    assert joint.converged and joint.total_error < TOTAL
    np.testing.assert_allclose(joint.force, WEIGHT / 3, atol=TOLERANCE)
    # at the bound, up to what Pinocchio's own impulses are off
    np.testing.assert_allclose(np.linalg.norm(joint.tangential, axis=1), WEIGHT / 10, rtol=1e-6)
    # the sum of all, in world axes
    np.testing.assert_allclose(joint.on("body").force, [-3, 0, 10], atol=1e-5)


def test_held_joint():
    """Closed form: the beam on a vertical slide and a held hinge shares alike, whatever moment."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -WEIGHT])
    slide = model.addJoint(0, pin.JointModelPZ(), pin.SE3.Identity(), "slide")
    hinge = model.addJoint(slide, pin.JointModelRY(), pin.SE3.Identity(), "hinge")
    model.appendBodyToJoint(hinge, pin.Inertia(1.0, np.zeros(3), 0.1 * np.eye(3)), pin.SE3(1))
    state, _ = step(model, supports((0, 1, 2)), solver="ADMM")
    impulses = np.zeros(9)
    impulses[2::3] = DT * np.array([8.0, 1, 1])
    mended = from_pinocchio(*state[:4], impulses, dt=DT, held=["hinge"])
    np.testing.assert_allclose(mended.force, 10 / 3, atol=TOLERANCE)
    assert mended.total.size == 0  # carried by the world: no free system
    with pytest.raises(InputError, match="'elbow'"):
        from_pinocchio(*state, held=["elbow"])
    state, _ = step(free_body()[0], supports((0, 1, 2)), solver="ADMM")
    assert from_pinocchio(*state, dt=DT).total.shape == (1, 6)
    # a base that is held gets what it needs from the world
    assert from_pinocchio(*state, dt=DT, held=["body"]).total.size == 0


def test_bad_input():
    """One clear error each."""
    state, _ = step(free_body()[0], supports((0, 1, 2)))
    with pytest.raises(InputError, match="g is not given"):
        from_pinocchio(*state, load="step")
    with pytest.raises(InputError, match="engine or step"):
        from_pinocchio(*state, load="rest")
    with pytest.raises(InputError, match="one per row of all constraints"):
        from_pinocchio(*state[:4], [1.0])


def test_constraints_that_do_not_fit():
    """One clear error each; data missing ended the program."""
    (model, data, models, datas, impulses), _ = step(free_body()[0], supports((0, 1, 2)))
    with pytest.raises(InputError, match="3 constraint_models and 0 constraint_datas"):
        from_pinocchio(model, data, models, pin.StdVec_ConstraintData(), impulses)
    with pytest.raises(InputError, match="has a PointContactConstraintModel; expected each as"):
        from_pinocchio(model, data, [models[0].extract()], datas, impulses)
    with pytest.raises(InputError, match="expected the data of this model"):
        from_pinocchio(pin.buildSampleModelHumanoid(), data, models, datas, impulses)


def test_arguments_that_are_no_model():
    """One clear error that names the argument, and a swap."""
    model = pin.Model()
    with pytest.raises(InputError, match="are model and data swapped"):
        from_pinocchio(model.createData(), model, [], [], [])


def plank(parts, kind=None, solver="PGS", order=range(8)):
    """A step of a plank on eight points, of ``parts`` (mass, x of its middle), two of them joined
    by anchors; the axes of the second are turned about the upright."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -WEIGHT])
    joints = []
    for i, (mass, _) in enumerate(parts):
        joints.append(model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"part{i}"))
        inertia = pin.Inertia(mass, np.zeros(3), np.diag([0.02, 0.1, 0.1]))
        model.appendBodyToJoint(joints[-1], inertia, pin.SE3.Identity())
    q = pin.neutral(model)
    for i, (joint, (_, x)) in enumerate(zip(joints, parts, strict=True)):
        first = model.idx_qs[joint]
        q[first] = x
        q[first + 5 : first + 7] = np.sin(0.3 * i), np.cos(0.3 * i)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    made = []

    def add(kind, a, b, point):
        place = pin.SE3(np.eye(3), np.array(point, float))
        sides = [x for j in (a, b) for x in (j, data.oMi[j].actInv(place))]
        made.append(getattr(pin, f"{kind}ConstraintModel")(model, *sides))

    if kind == "FrameAnchor":
        add(kind, *joints, (0.1, 0, 0.2))
    elif kind == "PointAnchor":
        for point in ((0, -0.1, 0), (0, 0.1, 0), (0, 0, 0.1)):
            add(kind, *joints, point)
    points = np.array([(x, y, 0) for x in (-0.45, -0.05, 0.05, 0.45) for y in (-0.1, 0.1)])
    for point in points[list(order)]:
        add("PointContact", 0, joints[-1 if point[0] > 0 else 0], point)
        made[-1].setFriction(0.0)
    return solved(model, data, q, np.zeros(model.nv), made, solver=solver, iterations=2000)


@pytest.mark.parametrize("solver", ["PGS", "ADMM"])
@pytest.mark.parametrize("kind", [None, "FrameAnchor", "PointAnchor"])
def test_anchors_are_rigid_links(kind, solver):
    """Closed form: a plank on eight points carries f = a + b x; two halves joined by a frame
    anchor, or by three point anchors, carry the same. Gauss-Seidel stops short of the plank's own
    moment without them, so the step is solved anew there."""
    x = np.repeat([-0.45, -0.05, 0.05, 0.45], 2)
    known = 3 * WEIGHT / 8 * (1 + x * 4 / 30 / np.mean(x**2))
    state, g = plank([(3, 4 / 30)] if kind is None else [(1, -0.25), (2, 0.325)], kind, solver)
    step = from_pinocchio(*state, dt=DT, load="step", g=g)
    np.testing.assert_allclose(step.force, known, rtol=1e-4)
    mended = from_pinocchio(*state, dt=DT)
    assert mended.converged and mended.total_error < TOTAL and len(mended.total) == 1
    if kind is not None:
        # the solvers' own totals are good to 1e-5
        np.testing.assert_allclose(mended.force, known, rtol=1e-4)
        assert "rigid links" in mended.message and "other constraints" not in mended.message
        given = from_pinocchio(*state, dt=DT, equalities="given")
        assert np.abs(given.force - known).max() > 0.05 and len(given.total) == 2
        assert "other constraints" in given.message


def test_impulses_of_a_solver_that_did_not_converge_are_told():
    """Property: Gauss-Seidel stops with another sum of forces than the weight; with g that is
    found and said, where it converges nothing is. Diverged impulses have no answer: refused (they
    were "converged")."""
    state, g = step(free_body()[0], supports((0, 1, 2)))
    mended = from_pinocchio(*state, dt=DT, g=g)
    assert mended.contacts.engine_residual > 0.1 and "solver stopped 20 %" in mended.message
    assert "not checked" in from_pinocchio(*state, dt=DT).message
    state, g = step(free_body()[0], supports((0, 1, 2)), solver="ADMM")
    mended = from_pinocchio(*state, dt=DT, g=g)
    assert mended.contacts.engine_residual < 1e-3 and "stopped" not in mended.message
    *rest, impulses = state
    for size in (1e156, 1e20):
        with pytest.raises(InputError, match="the solver diverged"):
            from_pinocchio(*rest, size * impulses, dt=DT)
