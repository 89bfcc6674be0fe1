"""``EngineScene`` in five engines.

``WORLDS[engine](scene)`` makes it and one step of it, and returns (step, mend): the engine's own
step, and the mended forces of what it left, ``mend(load=...)``. With load="rest" these hold all
without acceleration under gravity and the forces of the sliders.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.engine_scenes import EngineScene
from rigidlimit.adapters import from_drake, from_mujoco, from_newton, from_pinocchio, from_pybullet

MODULES = {
    "mujoco": "mujoco",
    "pybullet": "pybullet",
    "drake": "pydrake",
    "pinocchio": "pinocchio",
    "newton": "newton",
}
"""What has to be installed for each."""

OVERLAPS = {"mujoco": 1e-5, "pybullet": 1e-5, "drake": 1e-9, "pinocchio": 0.0, "newton": 1e-5}
"""By how much parts that touch overlap [m]: what each engine needs to find contacts."""


def _text(values):
    return " ".join(f"{x:.17g}" for x in np.ravel(values))


def _quaternion(shape):
    """(w, x, y, z) of its turn about y."""
    half = np.deg2rad(shape.tilt) / 2
    return np.array([np.cos(half), 0.0, np.sin(half), 0.0])


def mujoco_model(scene: EngineScene, *, cone="elliptic", solver="Newton", iterations=200):
    """(MjModel, MjData after mj_forward)."""
    import mujoco

    kinds = {"ball": "sphere", "box": "box", "floor": "plane"}
    world, motors = [], []
    for body in scene.bodies:
        geoms = "".join(
            f'<geom name="{s.name}" type="{kinds[s.kind]}" '
            f'size="{"5 5 .1" if s.kind == "floor" else _text(s.size)}" pos="{_text(s.at)}" '
            f'quat="{_text(_quaternion(s))}" mass="{s.mass}" '
            f'contype="{int(s.touches)}" conaffinity="{int(s.touches)}"/>'
            for s in body.shapes
        )
        joint = "" if body.fixed else "<freejoint/>"
        if body.slides is not None:
            slide = f"{body.name} slide"
            joint = f'<joint name="{slide}" type="slide" axis="{_text(body.slides)}"/>'
            motors.append(f'<motor joint="{slide}"/>')
        world.append(f'<body name="{body.name}" pos="{_text(body.at)}">{joint}{geoms}</body>')
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="{_text(scene.gravity)}" timestep="0.001" cone="{cone}" '
        f'solver="{solver}" tolerance="1e-14" iterations="{iterations}"/>'
        f'<default><geom condim="3" friction="{scene.friction}" solref="0.005 1"/></default>'
        f"<worldbody>{''.join(world)}</worldbody><actuator>{''.join(motors)}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    data.ctrl[:] = [body.force for body in scene.bodies if body.slides is not None]
    mujoco.mj_forward(model, data)
    return model, data


def mujoco_world(scene, **settings):
    """In ``mj_forward``, which moves nothing."""
    import mujoco

    model, data = mujoco_model(scene, **settings)
    return (
        lambda: mujoco.mj_forward(model, data),
        lambda **given: from_mujoco(model, data, **given),
    )


def pybullet_world(scene):
    """Bullet's sequential impulses. Its shares move the bodies: in a short step, hardly."""
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    here = {"physicsClientId": client}
    pybullet.setGravity(*scene.gravity, **here)
    pybullet.setTimeStep(1e-5, **here)
    pybullet.setPhysicsEngineParameter(erp=0, contactERP=0, frictionERP=0, **here)
    for body in scene.bodies:
        number = _pybullet_body(pybullet, here, body)
        for link in range(-1, pybullet.getNumJoints(number, **here)):
            pybullet.changeDynamics(number, link, lateralFriction=scene.friction**0.5, **here)
    pybullet.stepSimulation(**here)
    return (lambda: pybullet.stepSimulation(**here), lambda **given: from_pybullet(client, **given))


def _pybullet_body(pybullet, here, body):
    shapes = [s for s in body.shapes if s.touches]
    if shapes[0].kind == "floor":
        floor = pybullet.createCollisionShape(pybullet.GEOM_PLANE, **here)
        return pybullet.createMultiBody(0, floor, **here)
    collision = pybullet.createCollisionShapeArray(
        shapeTypes=[
            pybullet.GEOM_SPHERE if s.kind == "ball" else pybullet.GEOM_BOX for s in shapes
        ],
        radii=[s.size[0] for s in shapes],
        halfExtents=[s.size if s.kind == "box" else (0, 0, 0) for s in shapes],
        collisionFramePositions=[s.at for s in shapes],
        collisionFrameOrientations=[_quaternion(s)[[1, 2, 3, 0]] for s in shapes],
        **here,
    )
    if body.fixed:
        return pybullet.createMultiBody(0, collision, basePosition=body.at, **here)
    mass, centre, inertia = body.inertia
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 0] *= np.linalg.det(axes)
    turn = Rotation.from_matrix(axes).as_quat()
    if body.slides is None:
        number = pybullet.createMultiBody(
            mass, collision, basePosition=body.at, baseInertialFramePosition=centre,
            baseInertialFrameOrientation=turn, **here,
        )  # fmt: skip
        # the place given is that of the inertial frame
        pybullet.resetBasePositionAndOrientation(number, np.add(body.at, centre), turn, **here)
        pybullet.changeDynamics(number, -1, localInertiaDiagonal=moments, **here)
        return number
    number = pybullet.createMultiBody(
        0, basePosition=body.at, linkMasses=[mass], linkCollisionShapeIndices=[collision],
        linkVisualShapeIndices=[-1], linkPositions=[(0, 0, 0)], linkOrientations=[(0, 0, 0, 1)],
        linkInertialFramePositions=[centre], linkInertialFrameOrientations=[turn],
        linkParentIndices=[0], linkJointTypes=[pybullet.JOINT_PRISMATIC],
        linkJointAxis=[body.slides], **here,
    )  # fmt: skip
    pybullet.changeDynamics(number, 0, localInertiaDiagonal=moments, **here)
    # a motor at the end of its force; forces of torque control are not told
    pybullet.setJointMotorControl2(
        number, 0, pybullet.VELOCITY_CONTROL, targetVelocity=10.0, force=body.force, **here
    )
    return number


def drake_world(scene):
    """SAP, in one short step of discrete time."""
    import pydrake.all as drake

    dt = 1e-4
    builder = drake.DiagramBuilder()
    plant, _ = drake.AddMultibodyPlantSceneGraph(builder, dt)
    plant.set_contact_model(drake.ContactModel.kPoint)
    plant.set_discrete_contact_approximation(drake.DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
    friction = drake.CoulombFriction(scene.friction, scene.friction)
    forces = []
    for body in scene.bodies:
        owner = plant.world_body()
        place = drake.RigidTransform(body.at) if body.fixed else drake.RigidTransform()
        if not body.fixed:
            mass, centre, inertia = body.inertia
            about = drake.RotationalInertia(
                *np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]
            )
            owner = plant.AddRigidBody(
                body.name, drake.SpatialInertia.MakeFromCentralInertia(mass, centre, about)
            )
        for s in body.shapes:
            if not s.touches:
                continue
            shape = {
                "ball": lambda s=s: drake.Sphere(s.size[0]),
                "box": lambda s=s: drake.Box(*(2 * np.array(s.size))),
                # a box: half spaces warn about deformable contact
                "floor": lambda: drake.Box(18, 18, 2),
            }[s.kind]()
            properties = drake.ProximityProperties()
            drake.AddContactMaterial(friction=friction, properties=properties)
            at = np.array(s.at) - (np.array([0, 0, 1]) if s.kind == "floor" else 0)
            turned = drake.RigidTransform(drake.RotationMatrix(s.turn), at)
            plant.RegisterCollisionGeometry(owner, place @ turned, shape, s.name, properties)
        if body.slides is not None:
            frame = plant.AddFrame(
                drake.FixedOffsetFrame(f"{body.name} rail", plant.world_frame(),
                                       drake.RigidTransform(body.at))
            )  # fmt: skip
            joint = plant.AddJoint(
                drake.PrismaticJoint(
                    f"{body.name} slide", frame, owner.body_frame(), np.array(body.slides)
                )
            )
            plant.AddJointActuator(f"{body.name} motor", joint)
            forces.append(body.force)
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyContextFromRoot(root)
    if forces:
        plant.get_actuation_input_port().FixValue(context, forces)
    for body in scene.bodies:
        if not body.fixed and body.slides is None:
            place = drake.RigidTransform(body.at)
            plant.SetFreeBodyPose(context, plant.GetBodyByName(body.name), place)
    simulator = drake.Simulator(diagram, root)
    simulator.AdvanceTo(dt)

    def step(kept=(diagram, root)):
        simulator.AdvanceTo(context.get_time() + dt)

    return step, lambda **given: from_drake(plant, context, **given)


def pinocchio_world(scene):
    """Projected Gauss-Seidel, 200 sweeps, with contacts where balls touch."""
    import pinocchio as pin

    dt, model = 1e-2, pin.Model()
    model.gravity.linear = np.array(scene.gravity)
    joints, pushed = {}, []
    for body in scene.bodies:
        if body.fixed:
            joints[body.name] = 0
            continue
        kind = pin.JointModelFreeFlyer()
        if body.slides is not None:
            kind = pin.JointModelPrismaticUnaligned(np.array(body.slides))
        place = pin.SE3.Identity() if body.slides is None else pin.SE3(np.eye(3), np.array(body.at))
        joint = joints[body.name] = model.addJoint(0, kind, place, body.name)
        model.appendBodyToJoint(joint, pin.Inertia(*body.inertia), pin.SE3.Identity())
        pushed.append((joint, body))
    data, q, v = model.createData(), pin.neutral(model), np.zeros(model.nv)
    force = np.zeros(model.nv)
    for joint, body in pushed:
        if body.slides is None:
            q[model.idx_qs[joint] : model.idx_qs[joint] + 3] = body.at
        else:
            force[model.idx_vs[joint]] = body.force
    pin.computeJointJacobians(model, data, q)
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for first, second, point, normal in touching(scene):
        frame = _frame(normal)
        contact = pin.PointContactConstraintModel(
            model, joints[first], data.oMi[joints[first]].actInv(pin.SE3(frame, point)),
            joints[second], data.oMi[joints[second]].actInv(pin.SE3(frame, point)),
        )  # fmt: skip
        contact.setFriction(scene.friction)
        models.append(pin.ConstraintModel(contact))
        datas.append(models[len(models) - 1].createData())
        models[len(models) - 1].calc(model, data, datas[len(datas) - 1])
    still = force - pin.nonLinearEffects(model, data, q, v)

    def solved():
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        J = pin.getConstraintsJacobian(model, data, models, datas)
        g = J @ (v + dt * np.linalg.solve(M, still))
        settings, result = pin.PGSSolverSettings(), pin.PGSSolverResult()
        settings.max_iterations = 200
        pin.PGSConstraintSolver(len(g)).solve(
            pin.DelassusOperatorDense(J @ np.linalg.solve(M, J.T)),
            g, models, datas, settings, result,
        )  # fmt: skip
        return np.array(result.retrieveConstraintImpulses())

    impulses = solved()

    def mend(load="engine", **given):
        load = -still if isinstance(load, str) and load == "rest" else load
        return from_pinocchio(model, data, models, datas, impulses, dt=dt, load=load, **given)

    return solved, mend


def touching(scene):
    """(body, other body, point, normal from the first to the second) where balls touch what is no
    ball."""
    for body in scene.bodies:
        for ball in (s for s in body.shapes if s.kind == "ball" and s.touches):
            middle = np.add(body.at, ball.at)
            for other in scene.bodies:
                for s in other.shapes if other is not body else ():
                    if s.kind == "ball" or not s.touches:
                        continue
                    near = np.array([middle[0], middle[1], 0.0])
                    if s.kind == "box":
                        origin = np.add(other.at, s.at)
                        size = np.array(s.size)
                        near = origin + s.turn @ np.clip((middle - origin) @ s.turn, -size, size)
                    away = np.linalg.norm(middle - near)
                    if away < ball.size[0] + 1e-4:
                        yield other.name, body.name, near, (middle - near) / away


def _frame(normal):
    """Rotation whose third axis is the normal."""
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first), normal], axis=1)


def newton_world(scene):
    """XPBD, in single precision."""
    import newton
    import warp as wp

    wp.config.quiet = True
    builder = newton.ModelBuilder(gravity=scene.gravity)
    config = newton.ModelBuilder.ShapeConfig(density=0, mu=scene.friction)
    forces = []
    for body in scene.bodies:
        owner, offset = -1, np.array(body.at)
        if not body.fixed:
            mass, centre, inertia = body.inertia
            settings = dict(
                mass=mass, com=wp.vec3(*centre), inertia=wp.mat33(*inertia.ravel()),
                label=body.name, xform=wp.transform(body.at, wp.quat_identity()),
            )  # fmt: skip
            offset = np.zeros(3)
            if body.slides is None:
                owner = builder.add_body(**settings)
                forces += [0.0] * 6
            else:
                owner = builder.add_link(**settings)
                joint = builder.add_joint_prismatic(
                    -1, owner, axis=body.slides, label=f"{body.name} slide",
                    parent_xform=wp.transform(body.at, wp.quat_identity()),
                )  # fmt: skip
                builder.add_articulation([joint], label=body.name)
                forces.append(body.force)
        for s in body.shapes:
            if not s.touches:
                continue
            w, *axis = _quaternion(s)
            place = wp.transform(tuple(offset + s.at), wp.quat(*axis, w))
            named = dict(cfg=config, label=s.name)
            if s.kind == "floor":
                builder.add_ground_plane(**named)
            elif s.kind == "ball":
                builder.add_shape_sphere(owner, xform=place, radius=s.size[0], **named)
            else:
                hx, hy, hz = s.size
                builder.add_shape_box(owner, xform=place, hx=hx, hy=hy, hz=hz, **named)
    model = builder.finalize(device="cpu")
    solver = newton.solvers.SolverXPBD(model)
    control, states = model.control(), [model.state(), model.state()]
    control.joint_f.assign(np.array(forces, np.float32))
    pipeline = newton.CollisionPipeline(model)
    contacts = pipeline.contacts()
    kind = newton.solvers.SolverBase.ObservableKind.CONTACT_F
    seen = solver.observables([kind], contacts=contacts)

    def step():
        states[0].clear_forces()
        pipeline.collide(states[0], contacts)
        solver.step(*states, control, contacts, 1e-3, observables=seen)
        states.reverse()

    step()

    def mend(load="engine", **given):
        mended = from_newton(model, states[0], contacts, seen.contact_f, load=load, **given)
        if isinstance(load, str) and load == "rest" and np.any(forces):
            # of rest Newton's joints take no part: all of it is given
            friction = mended.contacts.wrench() - mended.contacts.B.T @ mended.engine_force
            load = mended.contacts.load + friction - forces
            mended = from_newton(model, states[0], contacts, seen.contact_f, load=load, **given)
        return mended

    return step, mend


WORLDS = {
    "mujoco": mujoco_world,
    "pybullet": pybullet_world,
    "drake": drake_world,
    "pinocchio": pinocchio_world,
    "newton": newton_world,
}
