"""One table in five engines: four round feet with friction, gravity a little aslant.

``TABLES[engine](order)`` makes it with its feet in that order, and returns (step, mend): the
engine's own step, and the mended forces of what it left, ``mend(load=...)``.
"""

import numpy as np

from rigidlimit.adapters import (
    from_drake,
    from_mujoco,
    from_newton,
    from_pinocchio,
    from_pybullet,
)

FEET = ((0.5, 0.3), (0.5, -0.3), (-0.5, 0.3), (-0.5, -0.3))
RADIUS, OVERLAP, MU = 0.1, 1e-4, 0.5
GRAVITY = (1.0, 0.0, -10.0)
DT = 0.01
INERTIA = (0.1, 0.2, 0.3)
ORDERS = ((0, 1, 2, 3), (3, 1, 0, 2), (2, 0, 3, 1))


def mujoco_table(order):
    """Two sweeps of Gauss-Seidel."""
    import mujoco

    geoms = "".join(
        f'<geom name="foot{i}" type="sphere" size="{RADIUS}" pos="{FEET[i][0]} {FEET[i][1]} 0" '
        f'friction="{MU}"/>'
        for i in order
    )
    gravity, inertia = (" ".join(map(str, v)) for v in (GRAVITY, INERTIA))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option gravity="{gravity}" cone="elliptic" solver="PGS" iterations="2"/>
        <worldbody><geom type="plane" size="5 5 .1" friction="{MU}"/>
        <body name="table" pos="0 0 {RADIUS - OVERLAP}"><freejoint/>
        <inertial pos="0 0 0" mass="1" diaginertia="{inertia}"/>{geoms}</body></worldbody>
        </mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    return lambda: mujoco.mj_step(model, data), lambda **given: from_mujoco(model, data, **given)


def pybullet_table(order):
    """Bullet's sequential impulses. Its shares move the table: in a short step, hardly."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    here = {"physicsClientId": client}
    pybullet.setGravity(*GRAVITY, **here)
    pybullet.setTimeStep(1e-5, **here)
    pybullet.setPhysicsEngineParameter(erp=0, contactERP=0, frictionERP=0, **here)
    floor = pybullet.createCollisionShape(pybullet.GEOM_PLANE, **here)
    ground = pybullet.createMultiBody(0, floor, **here)
    feet = pybullet.createCollisionShapeArray(
        shapeTypes=[pybullet.GEOM_SPHERE] * 4,
        radii=[RADIUS] * 4,
        collisionFramePositions=[[*FEET[i], 0] for i in order],
        **here,
    )
    height = RADIUS - OVERLAP
    table = pybullet.createMultiBody(1, feet, basePosition=[0, 0, height], **here)
    pybullet.changeDynamics(table, -1, localInertiaDiagonal=INERTIA, **here)
    for body in (ground, table):
        pybullet.changeDynamics(body, -1, lateralFriction=MU**0.5, **here)
    pybullet.stepSimulation(**here)
    return (
        lambda: pybullet.stepSimulation(**here),
        lambda **given: from_pybullet(client, **given),
    )


def drake_table(order):
    """SAP, in discrete time."""
    import pydrake.all as drake

    builder = drake.DiagramBuilder()
    plant, _ = drake.AddMultibodyPlantSceneGraph(builder, DT)
    plant.set_contact_model(drake.ContactModel.kPoint)
    plant.set_discrete_contact_approximation(drake.DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    inertia = drake.SpatialInertia(1.0, np.zeros(3), drake.UnitInertia(*INERTIA))
    body = plant.AddRigidBody("table", inertia)

    def add(owner, shape, place, name):
        properties = drake.ProximityProperties()
        drake.AddContactMaterial(friction=drake.CoulombFriction(MU, MU), properties=properties)
        plant.RegisterCollisionGeometry(owner, drake.RigidTransform(place), shape, name, properties)

    # a box: half spaces warn about deformable contact
    add(plant.world_body(), drake.Box(9, 9, 2), (0, 0, -1), "floor")
    for i in order:
        add(body, drake.Sphere(RADIUS), (*FEET[i], 0), f"foot{i}")
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyContextFromRoot(root)
    plant.SetFreeBodyPose(context, body, drake.RigidTransform([0, 0, RADIUS - OVERLAP]))
    simulator = drake.Simulator(diagram, root)
    simulator.AdvanceTo(10 * DT)

    def step(kept=(diagram, root)):
        simulator.AdvanceTo(context.get_time() + DT)

    return step, lambda **given: from_drake(plant, context, **given)


def pinocchio_table(order):
    """Projected Gauss-Seidel, 100 sweeps."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(GRAVITY)
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "table")
    body = pin.Inertia(1.0, np.zeros(3), np.diag(INERTIA))
    model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    data = model.createData()
    q, v = pin.neutral(model), np.zeros(model.nv)
    pin.computeJointJacobians(model, data, q)
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for i in order:
        place = pin.SE3(np.eye(3), np.array([*FEET[i], -RADIUS]))
        contact = pin.PointContactConstraintModel(model, 0, place, joint, place)
        contact.setFriction(MU)
        models.append(pin.ConstraintModel(contact))
        datas.append(models[len(models) - 1].createData())
        models[len(models) - 1].calc(model, data, datas[len(datas) - 1])

    def solved():
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        J = pin.getConstraintsJacobian(model, data, models, datas)
        g = J @ (v - DT * np.linalg.solve(M, pin.nonLinearEffects(model, data, q, v)))
        settings, result = pin.PGSSolverSettings(), pin.PGSSolverResult()
        settings.max_iterations = 100
        pin.PGSConstraintSolver(len(g)).solve(
            pin.DelassusOperatorDense(J @ np.linalg.solve(M, J.T)),
            g, models, datas, settings, result,
        )  # fmt: skip
        return np.array(result.retrieveConstraintImpulses())

    impulses = solved()

    def mend(load="engine", **given):
        # Pinocchio knows no state of rest
        if load == "rest":
            load = np.r_[-np.array(GRAVITY), np.zeros(3)]
        return from_pinocchio(model, data, models, datas, impulses, dt=DT, load=load, **given)

    return solved, mend


def newton_table(order):
    """XPBD, in single precision."""
    import newton
    import warp as wp

    builder = newton.ModelBuilder(gravity=GRAVITY)
    shape = newton.ModelBuilder.ShapeConfig(density=0, mu=MU)
    builder.add_ground_plane(cfg=shape)
    place = wp.transform((0, 0, RADIUS - OVERLAP), wp.quat_identity())
    inertia = wp.mat33(*np.diag(INERTIA).ravel())
    body = builder.add_body(xform=place, mass=1.0, inertia=inertia, label="table")
    for i in order:
        foot = wp.transform((*FEET[i], 0), wp.quat_identity())
        builder.add_shape_sphere(body, xform=foot, radius=RADIUS, cfg=shape)
    model = builder.finalize(device="cpu")
    solver = newton.solvers.SolverXPBD(model)
    states = [model.state(), model.state()]
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    kind = newton.solvers.SolverBase.ObservableKind.CONTACT_F
    seen = solver.observables([kind], contacts=contacts)

    def step():
        states[0].clear_forces()
        pipeline.collide(states[0], contacts)
        solver.step(*states, None, contacts, 1 / 240, observables=seen)
        states.reverse()

    for _ in range(20):
        step()
    return step, lambda **given: from_newton(model, states[0], contacts, seen.contact_f, **given)


TABLES = {
    "mujoco": mujoco_table,
    "pybullet": pybullet_table,
    "drake": drake_table,
    "pinocchio": pinocchio_table,
    "newton": newton_table,
}
MODULES = {name: name for name in TABLES} | {"drake": "pydrake"}
"""What has to be installed for each."""
